/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
// asio-events - signals between coroutines of one thread: timers used as events, time-outs, callbacks turned into operations.
#include "verdict-asio.hpp"

// event_lost: a metrics agent. The uploader takes what is in the queue, uploads it, and waits for the event without another
// look at the queue. That was right as long as the sampler waited for the upload; since the release that overlaps both, a batch
// is put while the uploader is busy, and its signal meets nobody.
struct agent {
	std::deque<int> batches;
	int put = 0, sent = 0;
	event filled, begun, done;

	explicit agent(io_context &io) : filled(io), begun(io), done(io) {}
	void add()
	{
		batches.push_back(++put);
		filled.notify_all();
	}
};

static awaitable<void> uploader(agent &a)
{
	for (;;) {
		if (faulty || a.batches.empty())
			co_await at(a.filled.wait()); // HERE event_lost
		std::deque<int> now;
		now.swap(a.batches);
		a.begun.notify_all();
		co_await nap(2);
		a.sent += (int)now.size();
		a.done.notify_all();
	}
}

static awaitable<void> sampler(agent &a)
{
	while (!over()) {
		a.add();
		if (due()) {
			co_await at(a.begun.wait());
			a.add();
			bitten();
		}
		while (a.sent < a.put)
			co_await at(a.done.wait());
	}
}

static void event_lost()
{
	io_context io;
	agent a(io);
	ending end(io);
	co_spawn(io, uploader(a), detached);
	co_spawn(io, sampler(a), detached);
	io.run();
}

// notify_one_of_all: a proxy. Its workers wait for a new configuration, and who loads one waits until all have taken it over.
// The signal was changed from all to one, to stop what looked like a stampede.
struct config {
	int taken = 0;
	event changed, complete;

	explicit config(io_context &io) : changed(io), complete(io) {}
};

static awaitable<void> config_user(config &c)
{
	for (;;) {
		co_await at(c.changed.wait()); // HERE notify_one_of_all
		if (++c.taken == 4)
			c.complete.notify_all();
	}
}

static awaitable<void> config_loader(config &c)
{
	while (!over()) {
		co_await nap(3);
		c.taken = 0;
		if (due() && faulty) {
			c.changed.notify_one();
			bitten();
		} else {
			c.changed.notify_all();
		}
		co_await at(c.complete.wait());
	}
}

static void notify_one_of_all()
{
	io_context io;
	config c(io);
	ending end(io);
	for (int i = 0; i < 4; i++)
		co_spawn(io, config_user(c), detached);
	co_spawn(io, config_loader(c), detached);
	io.run();
}

// wrong_waiter: a client for a pipelined protocol. All callers wait on one timer, and an answer signals the one that has waited
// longest. When the server first answered out of order, the wrong caller was woken and went to the end of the queue.
struct rpc {
	std::deque<int> requests;
	std::vector<bool> answered;
	event requested, replied;

	explicit rpc(io_context &io) : requested(io), replied(io) {}
};

static awaitable<void> rpc_caller(rpc &r)
{
	for (;;) {
		int id = (int)r.answered.size();
		r.answered.push_back(false);
		r.requests.push_back(id);
		r.requested.notify_all();
		while (!r.answered[id])
			co_await at(r.replied.wait()); // HERE wrong_waiter
		co_await nap(1);
	}
}

static awaitable<void> rpc_server(rpc &r)
{
	for (;;) {
		while (r.requests.size() < 3)
			co_await at(r.requested.wait());
		std::deque<int> batch;
		batch.swap(r.requests);
		bool is_swapped = due();
		if (is_swapped)
			std::swap(batch.front(), batch.back());
		for (int id : batch) {
			r.answered[id] = true;
			if (faulty)
				r.replied.notify_one();
			else
				r.replied.notify_all();
			co_await nap(2);
		}
		if (is_swapped)
			bitten();
	}
}

static void wrong_waiter()
{
	io_context io;
	rpc r(io);
	ending end(io);
	co_spawn(io, rpc_server(r), detached);
	for (int i = 0; i < 3; i++)
		co_spawn(io, rpc_caller(r), detached);
	io.run();
}

// callback_forgotten: a name service with callbacks, wrapped as an operation. For a name that does not exist the service logs
// a line and returns, and the completion handler stays in its table for ever.
struct names {
	asio::io_context &io;
	std::vector<std::function<void(int)>> table;

	void lookup(int name, std::function<void(int)> callback)
	{
		table.push_back(callback);
		asio::post(io, [this, name, callback] {
			if (name % 16 == 15 && due() && faulty)
				return bitten();
			callback(name * 2);
			table.pop_back();
		});
	}
};

template <class Token> auto async_lookup(names &n, int name, Token &&token)
{
	return asio::async_initiate<Token, void(int)>(
		[&n, name](auto handler) {
			auto shared = std::make_shared<decltype(handler)>(std::move(handler));
			n.lookup(name, [shared](int address) { std::move (*shared)(address); });
		},
		token);
}

static awaitable<void> resolver(names &n)
{
	for (int name = 0; !over(); name++) {
		(void)co_await at(async_lookup(n, name, use_awaitable)); // HERE callback_forgotten
		co_await nap(2);
	}
}

static void callback_forgotten()
{
	io_context io;
	names n{io, {}};
	co_spawn(io, resolver(n), detached);
	io.run();
	remain();
}

// drain_unsignalled: an upload service at shutdown. It waits until no transfer is under way; a transfer that fails leaves by
// another path, which counts down and does not signal.
struct transfers {
	int under_way = 0;
	event none;

	explicit transfers(io_context &io) : none(io) {}
};

static awaitable<void> transfer(transfers &t, bool fails)
{
	t.under_way++;
	co_await nap(2);
	t.under_way--;
	if (fails && faulty)
		co_return;
	if (!t.under_way)
		t.none.notify_all();
}

static awaitable<void> transfer_rounds(transfers &t)
{
	while (!over()) {
		bool is_last = due();
		for (int i = 0; i < 5; i++)
			co_spawn(co_await asio::this_coro::executor, transfer(t, is_last), detached);
		if (is_last)
			bitten();
		co_await at(t.none.wait()); // HERE drain_unsignalled
	}
}

static void drain_unsignalled()
{
	io_context io;
	transfers t(io);
	co_spawn(io, transfer_rounds(t), detached);
	io.run();
}

// timer_shared: a scheduler of jobs with one timer for the pause of the loop and for the time-out of a job. Setting the time-out
// cancels the wait that is under way; the loop takes that for the end of the program and leaves, and jobs queue up unserved.
struct jobs {
	std::deque<int> queue;
	steady_timer timer;
	event finished;

	explicit jobs(io_context &io) : timer(io), finished(io) {}
};

static awaitable<void> job_loop(jobs &j)
{
	for (;;) {
		error_code ec;
		j.timer.expires_after(2ms);
		co_await at(j.timer.async_wait(redirect_error(use_awaitable, ec)));
		if (ec && faulty)
			co_return bitten();
		j.queue.clear();
		j.finished.notify_all();
	}
}

static awaitable<void> job_client(jobs &j)
{
	while (!over()) {
		j.queue.push_back(1);
		if (due())
			j.timer.expires_after(3ms);
		while (!j.queue.empty())
			co_await at(j.finished.wait()); // HERE timer_shared
	}
}

static void timer_shared()
{
	io_context io;
	jobs j(io);
	ending end(io);
	co_spawn(io, job_loop(j), detached);
	co_spawn(io, job_client(j), detached);
	io.run();
}

// heartbeat: a heartbeat each 10 s that comes once or never while the program runs, beside lively work. Looks like a coroutine
// that nobody wakes any more; the timer would.
static awaitable<void> heart()
{
	steady_timer timer(co_await asio::this_coro::executor);
	for (;;) {
		timer.expires_after(10s);
		co_await at(timer.async_wait(use_awaitable));
	}
}

static void heartbeat()
{
	io_context io;
	ending end(io);
	for (int i = 0; i < 3; i++)
		co_spawn(io, heart(), detached);
	co_spawn(io, ticking(), detached);
	io.run();
}

// reload_never: coroutines that wait for events which do not come in this run: a new configuration, a rotation of the log, an
// alarm. They had one each at the start, as the others have all the time.
static awaitable<void> rare(event &e)
{
	for (;;)
		co_await at(e.wait());
}

static awaitable<void> startup(event &e)
{
	co_await nap(10);
	e.notify_all();
	while (!over())
		co_await nap(4);
	e.notify_all();
}

static void reload_never()
{
	io_context io;
	event e(io);
	ending end(io);
	for (int i = 0; i < 3; i++)
		co_spawn(io, rare(e), detached);
	co_spawn(io, startup(e), detached);
	io.run();
}

// late_gate: twenty requests wait for a cache that takes 1.8 s to warm up, all at one place, and none moves meanwhile. Then the
// gate opens and all of them go on.
static awaitable<void> behind_gate(event &gate, const bool &is_open, int &served)
{
	while (!is_open)
		co_await at(gate.wait());
	co_await nap(3);
	served++;
}

static awaitable<void> warm_up(event &gate, bool &is_open)
{
	while (!after(1800ms))
		co_await nap(20);
	is_open = true;
	gate.notify_all();
	while (!over())
		co_await nap(20);
}

static void late_gate()
{
	io_context io;
	event gate(io);
	bool is_open = false;
	int served = 0;
	for (int i = 0; i < 20; i++)
		co_spawn(io, behind_gate(gate, is_open, served), detached);
	co_spawn(io, warm_up(gate, is_open), detached);
	io.run();
}

// back_off: a client whose server is away. It tries again after 10, 20, 40, ... ms, up to 1.3 s, so that the last waits are
// longer than all before together; its callers see an open circuit and are turned away at once.
static awaitable<void> reconnect()
{
	asio::ip::tcp::acceptor closed(co_await asio::this_coro::executor, {asio::ip::address_v4::loopback(), 0});
	auto where = closed.local_endpoint();
	closed.close();
	for (int ms = 10; !over(); ms = ms < 1000 ? ms * 2 : ms) {
		error_code ec;
		asio::ip::tcp::socket socket(co_await asio::this_coro::executor);
		co_await at(socket.async_connect(where, redirect_error(use_awaitable, ec)));
		if (!ec)
			co_return;
		co_await nap(ms);
	}
}

static void back_off()
{
	io_context io;
	ending end(io);
	co_spawn(io, reconnect(), detached);
	co_spawn(io, ticking(), detached);
	io.run();
}

// debounced: a file watcher saves 300 ms after the last change, and each change sets the timer anew: the saver is woken a
// hundred times in vain, then waits for the one change that counts. Afterwards nothing changes any more.
static awaitable<void> saver(steady_timer &timer, int &saved)
{
	for (;;) {
		error_code ec;
		co_await at(timer.async_wait(redirect_error(use_awaitable, ec)));
		if (ec)
			continue;
		saved++;
		timer.expires_at(steady_timer::time_point::max());
	}
}

static awaitable<void> editor(steady_timer &timer)
{
	while (!after(1200ms)) {
		co_await nap(5);
		timer.expires_after(300ms);
	}
}

static void debounced()
{
	io_context io;
	steady_timer timer(io, 300ms);
	int saved = 0;
	ending end(io);
	co_spawn(io, saver(timer, saved), detached);
	co_spawn(io, editor(timer), detached);
	io.run();
}

// slow_party: five parties meet at a barrier, round after round. In one round the fifth computes a second longer, and four
// wait for it that long; then the rounds go on.
struct meeting {
	int arrived = 0, round = 0;
	event complete;

	explicit meeting(io_context &io) : complete(io) {}
};

static awaitable<void> party(meeting &m, int number)
{
	bool was_slow = false;
	for (bool is_last = false; !is_last;) {
		if (number == 4 && due() && !was_slow) {
			was_slow = true;
			co_await nap(1000);
		}
		co_await nap(2 + number);
		int round = m.round;
		if (++m.arrived == 5) {
			m.arrived = 0;
			m.round = over() ? -1 : m.round + 1;
			m.complete.notify_all();
		}
		while (m.round == round)
			co_await at(m.complete.wait());
		is_last = m.round < 0;
	}
}

static void slow_party()
{
	io_context io;
	meeting m(io);
	for (int i = 0; i < 5; i++)
		co_spawn(io, party(m, i), detached);
	io.run();
}

static const scenario all[] = {
	{"event_lost", "defect", event_lost},
	{"notify_one_of_all", "defect", notify_one_of_all},
	{"wrong_waiter", "defect", wrong_waiter},
	{"callback_forgotten", "defect", callback_forgotten},
	{"drain_unsignalled", "defect", drain_unsignalled},
	{"timer_shared", "defect", timer_shared},
	{"heartbeat", "healthy", heartbeat},
	{"reload_never", "healthy", reload_never},
	{"late_gate", "healthy", late_gate},
	{"back_off", "healthy", back_off},
	{"debounced", "healthy", debounced},
	{"slow_party", "healthy", slow_party},
};

int main(int argc, char **argv)
{
	return corpus_main(all, argc, argv);
}
