/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// asio-sigterm - servers on Asio that end by SIGTERM: they stop their context and destroy whatever is in it, so that no coroutine
// is left at the end, stuck or not.
#include "verdict-asio.hpp"
#include <csignal>

// SIGTERM comes after 2.5 s, or 3 s after the fault has bitten.
static void terminate_after(std::chrono::milliseconds time)
{
	std::thread([time] {
		std::this_thread::sleep_for(time);
		kill(getpid(), SIGTERM);
	}).detach();
}

static void has_bitten()
{
	static bool before;
	if (faulty && !stay && !before)
		terminate_after(3000ms);
	before = true;
}

static void serve(io_context &io)
{
	asio::signal_set term(io, SIGTERM);
	term.async_wait([&io](error_code ec, int) {
		if (!ec)
			io.stop();
	});
	if (!faulty && !stay)
		terminate_after(2500ms);
	io.run();
}

// Runs a server, whose context is destroyed with all its coroutines when it has ended.
template <class Start> static void server(Start start)
{
	{
		io_context io;
		start(io);
		serve(io);
	}
	if (!stay)
		exit(0);
}

// either_lost: a request waits for its result or for its cancellation. The worker has a path on which it signals neither.
struct job {
	event done, cancelled;

	explicit job(io_context &io) : done(io), cancelled(io) {}
};

static awaitable<void> work(std::shared_ptr<job> j, int number)
{
	co_await nap(1);
	if (number % 10 == 9 && due() && faulty) {
		has_bitten();
		co_return;
	}
	if (number % 10 == 9)
		j->cancelled.notify_all();
	else
		j->done.notify_all();
}

static awaitable<void> request(io_context &io, int number)
{
	auto j = std::make_shared<job>(io);
	co_spawn(io, work(j, number), detached);
	co_await (at(j->done.wait()) || at(j->cancelled.wait())); // HERE either_lost
}

static awaitable<void> accept_requests(io_context &io)
{
	for (int number = 0;; number++) {
		co_spawn(io, request(io, number), detached);
		co_await nap(2);
	}
}

static void either_lost()
{
	server([](io_context &io) { co_spawn(io, accept_requests(io), detached); });
}

// both_lost: a request asks two backends at the same time and needs both answers. One backend drops a question now and then.
struct question {
	event answered;
	bool is_answered = false;

	explicit question(io_context &io) : answered(io) {}
};

static awaitable<void> answer(std::shared_ptr<question> q, bool drops)
{
	co_await nap(2);
	if (drops) {
		has_bitten();
		co_return;
	}
	q->is_answered = true;
	q->answered.notify_all();
}

static awaitable<void> ask(io_context &io, bool drops)
{
	auto q = std::make_shared<question>(io);
	co_spawn(io, answer(q, drops), detached);
	while (!q->is_answered)
		co_await at(q->answered.wait()); // HERE both_lost
}

static awaitable<void> ask_both(io_context &io, int number)
{
	co_await (ask(io, false) && ask(io, number % 12 == 7 && due() && faulty)); // HERE both_lost
}

static awaitable<void> accept_both(io_context &io)
{
	for (int number = 0;; number++) {
		co_spawn(io, ask_both(io, number), detached);
		co_await nap(2);
	}
}

static void both_lost()
{
	server([](io_context &io) { co_spawn(io, accept_both(io), detached); });
}

// channel_abandoned: each connection has a reader that sends messages through a small channel to a writer. A writer that meets a
// bad message ends, and does not close the channel, so that the reader waits for room for ever.
static awaitable<void> write_messages(std::shared_ptr<channel<int>> c, bool meets_bad)
{
	for (error_code ec;;) {
		int message = co_await at(c->async_receive(redirect_error(use_awaitable, ec)));
		if (ec || message < 0)
			co_return;
		if (meets_bad && message == 5) {
			if (faulty)
				has_bitten();
			else
				c->close();
			co_return;
		}
		co_await nap(1);
	}
}

static awaitable<void> read_messages(std::shared_ptr<channel<int>> c)
{
	error_code ec;
	for (int message = 0; !ec && message < 20; message++)
		co_await at(c->async_send(error_code(), message, redirect_error(use_awaitable, ec))); // HERE channel_abandoned
	if (!ec)
		co_await at(c->async_send(error_code(), -1, redirect_error(use_awaitable, ec)));
}

static awaitable<void> accept_channels(io_context &io)
{
	for (int number = 0;; number++) {
		auto c = std::make_shared<channel<int>>(io, 2);
		co_spawn(io, read_messages(c), detached);
		co_spawn(io, write_messages(c, number % 8 == 3 && due()), detached);
		co_await nap(5);
	}
}

static void channel_abandoned()
{
	server([](io_context &io) { co_spawn(io, accept_channels(io), detached); });
}

// idle_sessions: connections that are open and have nothing to say when the signal comes; each waits for a request or for a time
// that it may be idle, which is long.
struct connection {
	event request;

	explicit connection(io_context &io) : request(io) {}
};

static awaitable<void> session(std::shared_ptr<connection> c)
{
	for (;;)
		co_await (at(c->request.wait()) || nap(60000));
}

static awaitable<void> clients(std::vector<std::shared_ptr<connection>> all)
{
	for (size_t n = 0; !after(1200ms); n++) {
		all[n * 7 % all.size()]->request.notify_all();
		co_await nap(1);
	}
	for (;;) {
		all[0]->request.notify_all();
		co_await nap(5);
	}
}

static void idle_sessions()
{
	server([](io_context &io) {
		std::vector<std::shared_ptr<connection>> all;
		for (int i = 0; i < 40; i++) {
			all.push_back(std::make_shared<connection>(io));
			co_spawn(io, session(all.back()), detached);
		}
		co_spawn(io, clients(all), detached);
	});
}

// standbys: eight that wait for their leaders to give up. The leaders run every 3 ms and do not.
static awaitable<void> lead()
{
	while (!over())
		co_await nap(3);
}

static awaitable<void> stand_by()
{
	co_await at(lead());
}

static void standbys()
{
	server([](io_context &io) {
		for (int i = 0; i < 8; i++)
			co_spawn(io, stand_by(), detached);
		for (int i = 0; i < 3; i++)
			co_spawn(io, ticking(), detached);
	});
}

static const scenario all[] = {
	{"either_lost", "defect", either_lost},
	{"both_lost", "defect", both_lost},
	{"channel_abandoned", "defect", channel_abandoned},
	{"idle_sessions", "healthy", idle_sessions},
	{"standbys", "healthy", standbys},
};

int main(int argc, char **argv)
{
	return corpus_main(all, argc, argv);
}
