/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cxx-timers.cpp - timers, time limits, rates, retries and leases, in C++20.
 */
#include "cxx.hpp"

using namespace cx;

/*
 * cancelled-wake: an editor saves when nothing was typed for a while: each key sets the timer anew. A key that comes when the timer
 * has expired already takes the saver out of the ready queue too, and has no timer to set anew: it is in no queue at all.
 */
namespace cancelled_wake {
struct debounce {
	node *sleeper = nullptr;
	void again(milliseconds time)
	{
		locked l(world);
		if (!sleeper || (!asked.faulty && !sleeper->timed))
			return;
		bool was_set = sleeper->timed;
		if (!was_set)
			bite();
		sleeper->leave();
		if (was_set)
			sleeper->alarm = sleeper->home->timers.emplace(clock::now() + time, sleeper), sleeper->timed = true;
	}
};
struct quiet {
	debounce &d;
	node n{};
	explicit quiet(debounce &of) : d(of) {}
	bool await_ready() { return false; }
	template <class P> void await_suspend(std::coroutine_handle<P> me)
	{
		locked l(world);
		n.park(me, nullptr, 8ms);
		d.sleeper = &n;
	}
	void await_resume() { d.sleeper = nullptr; }
};
static task<> saver(debounce &d, int &saved)
{
	while (going()) {
		co_await quiet(d); /* HERE cancelled-wake */
		saved++;
	}
}
static task<> keys(debounce &d)
{
	while (going()) {
		for (int i = 0; i < 5; i++) {
			co_await delay(2ms);
			d.again(8ms);
		}
		co_await delay(6ms);
		if (!normal())
			compute(20ms); /* a big repaint: afterwards both timers have expired, this one first */
		co_await delay(1ms);
		if (!normal()) {
			compute(20ms);
			co_await yield();
		}
		d.again(8ms);
		co_await delay(12ms);
	}
}
static task<> story(debounce &d, int &saved)
{
	std::vector<task<>> both;
	both.push_back(keys(d));
	both.push_back(saver(d, saved));
	co_await when_all(std::move(both));
}
static void start()
{
	debounce d;
	int saved = 0;
	run(1, story(d, saved));
}
} // namespace cancelled_wake

/*
 * no-refill: a rate limiter adds elapsed_ms * rate / 1000 tokens every 10 ms, in integers. The rate is lowered to 50 per second:
 * 10 * 50 / 1000 is zero, each time.
 */
namespace no_refill {
struct limiter {
	semaphore tokens{0};
	int rate = 2000;
	bool ended = false;
};
static task<> refill(limiter &l)
{
	for (int rest = 0; !l.ended;) {
		co_await delay(10ms);
		int parts = 10 * l.rate + (asked.faulty ? 0 : rest);
		rest = parts % 1000;
		if (l.tokens.permits < 20)
			l.tokens.release(parts / 1000);
	}
}
static task<> client(limiter &l)
{
	while (going()) {
		co_await l.tokens.acquire(); /* HERE no-refill */
		co_await delay(1ms);
	}
}
static task<> operations(limiter &l)
{
	while (normal())
		co_await delay(10ms);
	l.rate = 50;
	co_await delay(100ms);
	bite();
}
static task<> story(limiter &l)
{
	job r = spawn(refill(l), "refill");
	std::vector<task<>> all;
	for (int i = 0; i < 4; i++)
		all.push_back(client(l));
	all.push_back(operations(l));
	co_await when_all(std::move(all));
	l.ended = true;
	co_await r.end();
}
static void start()
{
	limiter l;
	run(1, story(l));
}
} // namespace no_refill

/*
 * broken-connections: a pool of five connections. A connection that is broken is closed by its user instead of being given back,
 * and nobody opens another. When the database was restarted all five broke.
 */
namespace broken_connections {
struct pool {
	semaphore idle{5};
	int broken = 0;
};
static task<> query(pool &p)
{
	co_await p.idle.acquire(); /* HERE broken-connections */
	co_await delay(2ms);
	bool breaks = !normal() && p.broken < 5 && p.broken++ < 5;
	if (breaks && p.broken == 5)
		bite();
	if (breaks && !asked.faulty)
		co_await delay(5ms); /* open another */
	if (!breaks || !asked.faulty)
		p.idle.release();
}
static task<> client(pool &p)
{
	while (going()) {
		co_await query(p);
		co_await delay(1ms);
	}
}
static task<> story(pool &p)
{
	std::vector<task<>> all;
	for (int i = 0; i < 8; i++)
		all.push_back(client(p));
	spawn(ticking(15ms), "health check");
	co_await when_all(std::move(all), "client");
}
static void start()
{
	pool p;
	run(1, story(p));
}
} // namespace broken_connections

/*
 * late-repair: a client sends its request and then puts itself into the table of those that wait. While its log was slow the reply
 * came in between and was thrown away. The client has a time limit of 1.2 s and asks again: "it works", but takes that long.
 */
namespace late_repair {
struct server {
	channel<int> in{8};
	std::map<int, oneshot<int> *> waiting;
	int next = 0, retries = 0;
};
static task<> serve(server &s)
{
	for (;;) {
		auto id = co_await s.in.receive();
		if (!id)
			co_return;
		co_await delay(1ms);
		auto found = s.waiting.find(*id);
		if (found != s.waiting.end())
			found->second->set(1);
	}
}
static task<> client(server &s)
{
	for (int i = 0; going(); i++) {
		oneshot<int> reply;
		int id = s.next++;
		if (!asked.faulty)
			s.waiting[id] = &reply;
		co_await s.in.send(id);
		if (!normal() && i % 2 == 0) {
			bite();
			co_await delay(20ms); /* the log */
		}
		if (asked.faulty)
			s.waiting[id] = &reply;
		auto x = co_await reply.get_for(1200ms); /* HERE late-repair */
		if (!x)
			s.retries++;
		s.waiting.erase(id);
		co_await delay(2ms);
	}
}
static task<> story(server &s)
{
	job j = spawn(serve(s), "server");
	std::vector<task<>> all;
	for (int i = 0; i < 4; i++)
		all.push_back(client(s));
	co_await when_all(std::move(all), "client");
	s.in.close();
	co_await j.end();
}
static void start()
{
	server s;
	run(1, story(s));
}
} // namespace late_repair

/*
 * underflow: a frame pacer sleeps until its next frame is due, an unsigned difference of milliseconds. A frame that was drawn too
 * late makes it negative, and the pacer sleeps for 49 days.
 */
namespace underflow {
static task<> pacer(int &frames)
{
	auto now = [] { return static_cast<std::uint32_t>(elapsed() * 1000); };
	std::uint32_t due = now();
	for (bool late = false; going(); frames++) {
		due += 16;
		if (!normal() && !late) {
			late = true;
			compute(30ms); /* shaders are compiled */
			bite();
		}
		std::uint32_t left = due - now();
		if (!asked.faulty || normal())
			left = static_cast<std::int32_t>(left) < 0 ? 0 : left;
		co_await delay(milliseconds(left)); /* HERE underflow */
	}
}
static task<> story(int &frames)
{
	spawn(ticking(4ms), "audio");
	spawn(ticking(20ms), "network");
	co_await pacer(frames);
}
static void start()
{
	int frames = 0;
	run(1, story(frames));
}
} // namespace underflow

/*
 * heartbeat (healthy): a heartbeat each ten seconds and a certificate check each hour: in the life of this program neither timer
 * ever fires.
 */
namespace heartbeat {
static task<> every(milliseconds time)
{
	for (;;)
		co_await delay(time);
}
static task<> story()
{
	spawn(every(10s), "heartbeat");
	spawn(every(std::chrono::hours(1)), "certificates");
	while (going())
		co_await delay(3ms);
}
static void start()
{
	run(2, story());
}
} // namespace heartbeat

/*
 * cron (healthy): three tasks that run each 350, 600 and 800 ms for a few milliseconds; for most of the time nothing in the program
 * moves.
 */
namespace cron {
static task<> entry(milliseconds period)
{
	while (going(2.2)) {
		co_await delay(period);
		compute(2ms);
	}
}
static task<> story()
{
	std::vector<task<>> all;
	all.push_back(entry(350ms));
	all.push_back(entry(600ms));
	all.push_back(entry(800ms));
	co_await when_all(std::move(all), "cron");
}
static void start()
{
	run(1, story());
}
} // namespace cron

/*
 * back-off (healthy): a client tries again after 10, 20, 40 ... 640 ms while its server is down, and then goes on as before. It
 * waits longer each time, as it should.
 */
namespace back_off {
static task<bool> attempt(bool down)
{
	co_await delay(1ms);
	co_return !down;
}
static task<> story()
{
	while (going(2.2)) {
		for (milliseconds wait = 10ms;; wait *= 2) {
			bool answered = co_await attempt(elapsed() > 0.6 && elapsed() < 1.5);
			if (answered)
				break;
			co_await delay(wait);
		}
		co_await delay(3ms);
	}
}
static void start()
{
	run(1, story());
}
} // namespace back_off

/*
 * circuit-breaker (healthy): after five failures requests are turned away at once, for a second; then one is let through to try.
 * The backend's workers have nothing to do meanwhile.
 */
namespace circuit_breaker {
struct breaker {
	channel<oneshot<bool> *> backend{8};
	int failures = 0;
	double open_until = 0;
};
static task<> worker(breaker &b)
{
	for (;;) {
		auto r = co_await b.backend.receive();
		if (!r)
			co_return;
		co_await delay(1ms);
		(*r)->set(normal() || elapsed() > 1.2);
	}
}
static task<> client(breaker &b)
{
	while (going()) {
		if (elapsed() >= b.open_until) {
			oneshot<bool> reply;
			co_await b.backend.send(&reply);
			auto good = co_await reply.get();
			b.failures = *good ? 0 : b.failures + 1;
			if (b.failures >= 5)
				b.open_until = elapsed() + 1;
		}
		co_await delay(4ms);
	}
}
static task<> story(breaker &b)
{
	for (int i = 0; i < 3; i++)
		spawn(worker(b), "worker");
	std::vector<task<>> all;
	for (int i = 0; i < 3; i++)
		all.push_back(client(b));
	co_await when_all(std::move(all), "client");
	b.backend.close();
	co_await delay(5ms);
}
static void start()
{
	breaker b;
	run(1, story(b));
}
} // namespace circuit_breaker

/*
 * limits-unused (healthy): each request has a time limit of thirty seconds, and all are answered in a few milliseconds: thousands of
 * timers are set, none ever fires.
 */
namespace limits_unused {
static task<> answer(std::shared_ptr<oneshot<int>> reply)
{
	co_await delay(2ms);
	reply->set(1);
}
static task<> client(int &answered)
{
	while (going()) {
		auto reply = std::make_shared<oneshot<int>>();
		spawn(answer(reply), "answer");
		auto x = co_await reply->get_for(30s);
		answered += x.has_value();
	}
}
static task<> story(int &answered)
{
	std::vector<task<>> all;
	for (int i = 0; i < 4; i++)
		all.push_back(client(answered));
	co_await when_all(std::move(all), "client");
}
static void start()
{
	int answered = 0;
	run(1, story(answered));
}
} // namespace limits_unused

/*
 * lease (healthy): two followers wait for the leader's lease to end, with a time limit, again and again, and never lead: the leader
 * renews it in time.
 */
namespace lease {
static task<> follower(event &expired, int &waits)
{
	while (going()) {
		bool over = co_await expired.wait_for(250ms);
		if (over)
			co_return;
		waits++;
	}
}
static task<> leader(int &renewed)
{
	while (going()) {
		co_await delay(100ms);
		renewed++;
	}
}
static task<> story(event &expired, int &waits, int &renewed)
{
	std::vector<task<>> all;
	all.push_back(leader(renewed));
	all.push_back(follower(expired, waits));
	all.push_back(follower(expired, waits));
	co_await when_all(std::move(all));
}
static void start()
{
	event expired;
	int waits = 0, renewed = 0;
	run(2, story(expired, waits, renewed));
}
} // namespace lease

/*
 * watchdog (healthy): a coroutine sleeps 400 ms at a time and looks whether the others have made progress; they have. It is asleep
 * for all of its life.
 */
namespace watchdog {
static task<> watch(long &progress)
{
	for (long seen = -1; going();) {
		if (seen == progress)
			std::abort();
		seen = progress;
		co_await delay(400ms);
	}
}
static task<> worker(long &progress)
{
	while (going(2.8)) { /* longer than the watchdog */
		progress++;
		co_await delay(2ms);
	}
}
static task<> story(long &progress)
{
	std::vector<task<>> both;
	both.push_back(worker(progress));
	both.push_back(watch(progress));
	co_await when_all(std::move(both));
}
static void start()
{
	long progress = 0;
	run(1, story(progress));
}
} // namespace watchdog

/*
 * throttled (healthy): a client may send twice a second; sixteen uploads wait for their turn. Each waits for a timer that gives out
 * permits slowly but surely.
 */
namespace throttled {
static task<> upload(semaphore &turn)
{
	co_await turn.acquire();
	co_await delay(1ms);
}
static task<> story(semaphore &turn)
{
	std::vector<job> all;
	while (normal()) {
		co_await delay(2ms);
		turn.release();
		co_await upload(turn);
	}
	for (int i = 0; i < 16; i++)
		all.push_back(spawn(upload(turn), "upload"));
	for (int i = 0; i < 16 || asked.stay; i++) {
		turn.release(i % 4 ? 0 : 4);
		co_await delay(i % 4 ? 1ms : 450ms);
	}
	for (auto &j : all)
		co_await j.end();
}
static void start()
{
	semaphore turn(0);
	run(1, story(turn));
}
} // namespace throttled

int main(int argc, char **argv)
{
	return cx::main(argc, argv, {
		{"cancelled-wake", defect, cancelled_wake::start},
		{"no-refill", defect, no_refill::start},
		{"broken-connections", defect, broken_connections::start},
		{"late-repair", defect, late_repair::start},
		{"underflow", defect, underflow::start},
		{"heartbeat", healthy, heartbeat::start},
		{"cron", healthy, cron::start},
		{"back-off", healthy, back_off::start},
		{"circuit-breaker", healthy, circuit_breaker::start},
		{"limits-unused", healthy, limits_unused::start},
		{"lease", healthy, lease::start},
		{"watchdog", healthy, watchdog::start},
		{"throttled", healthy, throttled::start},
	});
}
