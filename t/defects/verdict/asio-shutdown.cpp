/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// asio-shutdown - how programs on Asio come to an end, or do not: cancellation, drains, contexts that are stopped or destroyed
// with coroutines in them, children, supervisors.
#include "verdict-asio.hpp"
#include <csignal>
#include <stdexcept>

// cancel_misses_child: a subscription has three feeds, and ends by cancelling them and waiting until they are gone. A feed of a
// new kind is spawned without the cancellation slot, so it is not told.
struct subscription {
	int feeds = 3;
	asio::cancellation_signal stop[3];
	event gone;

	explicit subscription(io_context &io) : gone(io) {}
};

static awaitable<void> feed(std::shared_ptr<subscription> s)
{
	error_code ec;
	steady_timer news(co_await asio::this_coro::executor, steady_timer::time_point::max());
	co_await at(news.async_wait(redirect_error(use_awaitable, ec))); // HERE cancel_misses_child
	if (!--s->feeds)
		s->gone.notify_all();
}

static awaitable<void> subscriptions(io_context &io)
{
	while (!over()) {
		auto s = std::make_shared<subscription>(io);
		for (int i = 0; i < 3; i++) {
			if (i == 1 && due() && faulty)
				co_spawn(io, feed(s), detached);
			else
				co_spawn(io, feed(s), asio::bind_cancellation_slot(s->stop[i].slot(), detached));
		}
		if (due())
			bitten();
		co_await nap(3);
		for (auto &stop : s->stop)
			stop.emit(asio::cancellation_type::all);
		while (s->feeds)
			co_await at(s->gone.wait());
	}
}

static void cancel_misses_child()
{
	io_context io;
	co_spawn(io, subscriptions(io), detached);
	io.run();
}

// untold_session: a server that is told to end waits until all its sessions are gone. Those that serve a request leave after it;
// the one that waits for the next request of a silent client is not told, and the client has no reason to hang up.
struct closing_server {
	bool is_closing = false;
	int sessions = 0;
	event empty;
	std::deque<stream_socket> sockets;

	explicit closing_server(io_context &io) : empty(io) {}
};

static awaitable<void> closing_session(closing_server &server, stream_socket &socket)
{
	server.sessions++;
	for (error_code ec; !ec && !server.is_closing;) {
		char c;
		co_await at(asio::async_read(socket, asio::buffer(&c, 1), redirect_error(use_awaitable, ec))); // HERE untold_session
		if (!ec)
			co_await at(asio::async_write(socket, asio::buffer(&c, 1), redirect_error(use_awaitable, ec)));
	}
	if (!--server.sessions)
		server.empty.notify_all();
}

static awaitable<void> closing_client(stream_socket &socket, bool is_silent)
{
	for (error_code ec; !ec && !(is_silent && after(300ms));) {
		char c = 'r';
		co_await at(asio::async_write(socket, asio::buffer(&c, 1), redirect_error(use_awaitable, ec)));
		co_await at(asio::async_read(socket, asio::buffer(&c, 1), redirect_error(use_awaitable, ec)));
		co_await nap(4);
	}
}

static awaitable<void> closing_main(closing_server &server)
{
	while (!(faulty ? due() : over()))
		co_await nap(20);
	server.is_closing = true;
	bitten();
	if (!faulty)
		for (size_t i = 0; i < server.sockets.size(); i += 2)
			server.sockets[i].shutdown(stream_socket::shutdown_both);
	while (server.sessions)
		co_await at(server.empty.wait());
}

static void untold_session()
{
	io_context io;
	closing_server server(io);
	for (int i = 0; i < 6; i++) {
		stream_socket &ours = server.sockets.emplace_back(io);
		stream_socket &theirs = server.sockets.emplace_back(io);
		asio::local::connect_pair(ours, theirs);
		co_spawn(io, closing_session(server, ours), detached);
		co_spawn(io, closing_client(theirs, i == 4), detached);
	}
	co_spawn(io, closing_main(server), detached);
	io.run();
}

// unbounded: a coroutine for each message that comes in, and nothing limits them. When the disk gets slower than the messages,
// they pile up behind its lock, a thousand more each second.
static awaitable<void> store_message(channel<int> &disk, int cost_ms, int &under_way) // HERE unbounded
{
	under_way++;
	int token = co_await at(disk.async_receive(use_awaitable)); // HERE unbounded
	if (cost_ms)
		co_await nap(cost_ms);
	co_await at(disk.async_send(error_code(), token, use_awaitable));
	under_way--;
}

static awaitable<void> message_source(io_context &io, channel<int> &disk, int &under_way)
{
	while (!over()) {
		if (due())
			bitten();
		for (int i = 0; i < 5; i++)
			if (faulty || under_way < 10)
				co_spawn(io, store_message(disk, due() ? 40 : 0, under_way), detached);
		co_await nap(5);
	}
}

static void unbounded()
{
	io_context io;
	channel<int> disk(io, 1);
	int under_way = 0;
	disk.try_send(error_code(), 1);
	co_spawn(io, message_source(io, disk, under_way), detached);
	io.run();
}

// stop_parked: the context is stopped in the middle of everything: some coroutines wait for timers, some for an event, one has
// just been spawned. Stopped is stopped; they are destroyed with the context.
static awaitable<void> parked(event &never)
{
	co_await nap(5);
	co_await at(never.wait());
}

static void stop_parked()
{
	io_context io;
	event never(io);
	for (int i = 0; i < 10; i++)
		co_spawn(io, parked(never), detached);
	for (int i = 0; i < 3; i++)
		co_spawn(io, ticking(), detached);
	ending end(io, [&] {
		co_spawn(io, parked(never), detached);
		io.stop();
	});
	io.run();
}

// graceful_drain: no new requests after 0.9 s, and those under way may finish; the longest takes 1.4 s more. One coroutine
// waits for all, and those that listened are cancelled.
struct draining {
	bool is_closing = false;
	int under_way = 0;
	event none, closing;

	explicit draining(io_context &io) : none(io), closing(io) {}
};

static awaitable<void> drained_request(draining &d, int ms)
{
	d.under_way++;
	co_await nap(ms);
	if (!--d.under_way)
		d.none.notify_all();
}

static awaitable<void> drained_listener(io_context &io, draining &d)
{
	for (int i = 0; !d.is_closing; i++) {
		co_spawn(io, drained_request(d, i % 50 == 49 ? 900 : 5), detached);
		co_await (nap(4) || at(d.closing.wait()));
	}
}

static awaitable<void> drain_main(io_context &io, draining &d)
{
	while (!after(900ms))
		co_await nap(10);
	co_spawn(io, drained_request(d, 1400), detached);
	co_await nap(10);
	d.is_closing = true;
	d.closing.notify_all();
	while (d.under_way)
		co_await at(d.none.wait());
}

static void graceful_drain()
{
	io_context io;
	draining d(io);
	co_spawn(io, drained_listener(io, d), detached);
	co_spawn(io, drain_main(io, d), detached);
	io.run();
}

// destroyed_context: the first context does the start and is destroyed with twenty coroutines parked in it; the second does the
// work, for most of the run.
static void destroyed_context()
{
	{
		io_context first;
		event never(first);
		for (int i = 0; i < 20; i++)
			co_spawn(first, parked(never), detached);
		first.run_for(600ms);
	}
	io_context second;
	for (int i = 0; i < 3; i++)
		co_spawn(second, ticking(), detached);
	second.run();
}

// supervised: a worker that throws now and then, and a supervisor that starts it again with a pause. Each death is sudden and
// none is a loss.
static awaitable<void> fragile(int lives)
{
	for (int i = 0; i < 20 + lives % 7; i++)
		co_await nap(1);
	throw std::runtime_error("connection reset");
}

static awaitable<void> supervisor()
{
	for (int lives = 0; !over(); lives++) {
		try {
			co_await fragile(lives);
		} catch (const std::runtime_error &) {
		}
		co_await nap(lives == 20 ? 900 : 10);
	}
}

static void supervised()
{
	io_context io;
	for (int i = 0; i < 3; i++)
		co_spawn(io, supervisor(), detached);
	io.run();
}

// slow_teardown: all coroutines are done or destroyed after 1.6 s, and then the program needs 0.8 s to write its cache and to
// free it.
struct big_cache {
	std::vector<std::string> entries;

	~big_cache()
	{
		if (stay)
			return;
		for (; !entries.empty(); entries.pop_back())
			usleep(8000);
	}
};

static void slow_teardown()
{
	big_cache cache;
	io_context io;
	event never(io);
	steady_timer stop(io, 1600ms);
	if (!stay)
		stop.async_wait([&io](error_code) { io.stop(); });
	for (int i = 0; i < 100; i++)
		cache.entries.emplace_back(1000, 'c');
	for (int i = 0; i < 5; i++)
		co_spawn(io, parked(never), detached);
	co_spawn(io, ticking(), detached);
	io.run();
}

// exit_elsewhere: a thread that is not Asio's ends the process by exit while the context runs, as daemons do that get their
// orders from a console.
static void exit_elsewhere()
{
	static io_context *io = new io_context; // neither is ever destroyed
	static event &never = *new event(*io);
	for (int i = 0; i < 4; i++)
		co_spawn(*io, parked(never), detached);
	for (int i = 0; i < 4; i++)
		co_spawn(*io, ticking(), detached);
	auto guard = asio::make_work_guard(*io);
	std::thread([] {
		std::this_thread::sleep_until(corpus_start + 2400ms);
		if (!stay)
			exit(0);
	}).detach();
	io->run();
}

// cancelled_tasks: searches that are cancelled while they wait, as soon as the next letter is typed. They end where they wait,
// by an exception that nobody wants to see.
static awaitable<void> search_for(int &found)
{
	co_await nap(30);
	co_await nap(400);
	found++;
}

static awaitable<void> typist(io_context &io, int &found)
{
	while (!over()) {
		asio::cancellation_signal next_letter;
		co_spawn(io, search_for(found), asio::bind_cancellation_slot(next_letter.slot(), [](std::exception_ptr) {}));
		co_await nap(50);
		next_letter.emit(asio::cancellation_type::all);
		co_await nap(2);
	}
}

static void cancelled_tasks()
{
	io_context io;
	int found = 0;
	co_spawn(io, typist(io, found), detached);
	io.run();
}

// child_outlives: the program forks a child early, which does nothing with coroutines and lives for a second longer. What is
// parked in the child's copy of the memory is of no interest.
static void child_outlives()
{
	io_context io;
	event never(io);
	ending end(io);
	for (int i = 0; i < 4; i++)
		co_spawn(io, parked(never), detached);
	co_spawn(io, ticking(), detached);
	steady_timer soon(io, 600ms);
	soon.async_wait([&io](error_code) {
		signal(SIGCHLD, SIG_IGN);
		io.notify_fork(io_context::fork_prepare);
		if (!fork()) {
			for (int fd = 0; fd < 3; fd++)
				close(fd);
			usleep(2900000);
			_exit(0);
		}
		io.notify_fork(io_context::fork_parent);
	});
	io.run();
}

static const scenario all[] = {
	{"cancel_misses_child", "defect", cancel_misses_child},
	{"untold_session", "defect", untold_session},
	{"unbounded", "defect", unbounded},
	{"stop_parked", "healthy", stop_parked},
	{"graceful_drain", "healthy", graceful_drain},
	{"destroyed_context", "healthy", destroyed_context},
	{"supervised", "healthy", supervised},
	{"slow_teardown", "healthy", slow_teardown},
	{"exit_elsewhere", "healthy", exit_elsewhere},
	{"cancelled_tasks", "healthy", cancelled_tasks},
	{"child_outlives", "healthy", child_outlives},
};

int main(int argc, char **argv)
{
	return corpus_main(all, argc, argv);
}
