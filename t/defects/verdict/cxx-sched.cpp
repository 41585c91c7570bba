/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cxx-sched.cpp - schedulers, and what coroutines do to them: blocking, spinning, starving, queues that lose, in C++20.
 */
#include "cxx.hpp"

#include <future>
#include <unistd.h>

using namespace cx;

/*
 * dropped-ready: an embedded executor's ready queue is a ring of 32. Putting one more in overwrites nothing and says nothing: the
 * coroutine is just not in it. It takes a broadcast to forty waiters.
 */
namespace dropped_ready {
struct ring : executor {
	void put(node &n) override
	{
		if (asked.faulty && ready.size() >= 32)
			bite();
		else
			executor::put(n);
	}
};
static task<> listener(event &e, int &heard)
{
	for (;;) {
		co_await e.wait(); /* HERE dropped-ready */
		heard++;
		co_await delay(1ms); /* HERE dropped-ready */
	}
}
static task<> story(event &e, int &heard)
{
	for (int i = 0; i < 10; i++)
		spawn(listener(e, heard), "listener");
	for (bool grown = false; going();) {
		co_await delay(normal() ? 5ms : 50ms); /* HERE dropped-ready */
		if (!normal() && !grown) {
			grown = true;
			for (int i = 0; i < 30; i++) {
				spawn(listener(e, heard), "listener");
				co_await yield();
			}
			co_await delay(5ms);
		}
		e.pulse();
	}
}
static void start()
{
	event e;
	int heard = 0;
	run(1, story(e, heard), *new ring);
}
} // namespace dropped_ready

/*
 * wrong-queue: a pipeline moves between an executor for the network and one for files. After a reload there is a new file
 * executor, and the old one's thread is ended at once; a request that was under way goes to the old one.
 */
namespace wrong_queue {
struct files {
	executor *now;
	std::vector<executor *> all;
	std::vector<std::thread> threads;
	void open()
	{
		now = new executor;
		all.push_back(now);
		threads.emplace_back([e = now] { e->run(); });
	}
};
static task<> request(executor &network, files &f, bool slow)
{
	executor *mine = f.now;
	co_await delay(slow ? 40ms : 1ms);
	if (slow)
		bite();
	co_await on(*mine); /* HERE wrong-queue */
	usleep(200); /* a read */
	co_await on(network);
}
static task<> story(files &f)
{
	executor &network = *here().on;
	f.open();
	for (bool reloaded = false; going();) {
		bool reload = !normal() && !reloaded;
		std::vector<task<>> some;
		for (int i = 0; i < 4; i++)
			some.push_back(request(network, f, reload && i == 2));
		task<> all = when_all(std::move(some), "request");
		job j = spawn(std::move(all), "batch");
		executor *old = f.now;
		if (reload) {
			reloaded = true;
			co_await delay(20ms);
			f.open();
			if (asked.faulty)
				old->stop();
		}
		co_await j.end();
		if (reload)
			old->stop();
	}
	f.now->stop();
}
static void start()
{
	files f;
	run(1, story(f));
	for (auto &t : f.threads)
		t.join();
}
} // namespace wrong_queue

/*
 * blocking-read: a configuration reader calls read() on a pipe inside a coroutine. As long as the writer was quick nobody saw it;
 * now the writer hangs, and with it the only thread.
 */
namespace blocking_read {
struct source {
	int in, out;
};
static task<> reader(source &s, int &reads)
{
	while (going()) {
		char c = 0;
		co_await delay(5ms); /* HERE blocking-read */
		if (!normal() && asked.faulty)
			bite();
		else if (write(s.out, "x", 1) != 1) /* the quick writer */
			co_return;
		if (read(s.in, &c, 1) == 1)
			reads++;
	}
}
static task<> story(source &s, int &reads)
{
	for (int i = 0; i < 3; i++)
		spawn(ticking(7ms), "client");
	co_await reader(s, reads);
}
static void start()
{
	int fds[2], reads = 0;
	if (pipe(fds))
		abort();
	source s{fds[0], fds[1]};
	run(1, story(s, reads));
	close(fds[0]);
	close(fds[1]);
}
} // namespace blocking_read

/*
 * spin: a coroutine waits for a flag by looking at it all the time, on the thread on which the one runs that would set it. It came
 * from a program with two threads.
 */
namespace spin {
static task<> setter(std::atomic<bool> &flag)
{
	co_await delay(2ms);
	flag = true;
}
static task<> story(std::atomic<bool> &flag)
{
	spawn(ticking(5ms), "display");
	while (going()) {
		flag = false;
		spawn(setter(flag), "setter");
		co_await delay(normal() ? 6ms : 1ms); /* HERE spin */
		bool spins = !normal() && asked.faulty;
		if (spins)
			bite();
		while (!flag) {
			if (!spins)
				co_await yield();
		}
	}
}
static void start()
{
	std::atomic<bool> flag = false;
	run(1, story(flag));
}
} // namespace spin

/*
 * yield-storm: a coroutine polls a flag with a yield between the looks, which is polite; but the one that would set the flag has
 * failed and gone, and the poller keeps a whole core busy for ever.
 */
namespace yield_storm {
struct state {
	bool ready = false;
};
static task<> worker(state &s, bool fails)
{
	co_await delay(2ms);
	if (!fails || !asked.faulty)
		s.ready = true;
}
static task<> story(state &s)
{
	spawn(ticking(5ms), "heartbeat");
	while (going()) {
		s.ready = false;
		bool fails = !normal();
		spawn(worker(s, fails), "worker");
		if (fails)
			bite();
		while (!s.ready) {
			compute(50us);
			co_await yield(); /* HERE yield-storm */
		}
		co_await delay(10ms);
	}
}
static void start()
{
	state s;
	run(1, story(s));
}
} // namespace yield_storm

/*
 * starved: an executor takes the urgent ones first, always. Since the last release urgent ones yield in a loop when there is
 * nothing to do, and what has a low priority, the checkpoint, does not run any more.
 */
namespace starved {
struct by_priority : executor {
	node *take() override
	{
		node *best = nullptr;
		for (node *n : ready)
			if (!best || n->priority > best->priority)
				best = n;
		if (best)
			best->leave();
		return best;
	}
};
static task<> urgent()
{
	while (going()) {
		if (normal() || !asked.faulty)
			co_await delay(2ms);
		else {
			bite();
			compute(50us);
			co_await yield();
		}
	}
}
static task<> checkpoint(int &written)
{
	while (going()) {
		co_await delay(10ms); /* HERE starved */
		written++;
	}
}
static task<> story(int &written)
{
	job low = spawn(checkpoint(written), "checkpoint", 0), high = spawn(urgent(), "urgent", 2);
	job other = spawn(ticking(4ms), "router", 2);
	co_await high.end();
	co_await low.end();
	co_await other.end();
}
static void start()
{
	int written = 0;
	run(1, story(written), *new by_priority);
}
} // namespace starved

/*
 * exhausted: two threads. Handlers call a blocking facade, which posts a coroutine to the same two threads and waits for its
 * std::future. Two handlers at once, and no thread is left for what they wait for.
 */
namespace exhausted {
static task<> query(std::promise<int> &p)
{
	co_await delay(1ms);
	p.set_value(1);
}
static int query_blocking()
{
	std::promise<int> p;
	auto f = p.get_future();
	spawn(query(p), "query");
	return f.get();
}
static task<> step()
{
	co_await delay(1ms);
}
static task<> handler(std::atomic<int> &inside)
{
	while (normal()) {
		co_await delay(4ms);
		co_await spawn(step(), "step").end();
	}
	co_await delay(20ms); /* HERE exhausted */
	if (asked.faulty) {
		inside++;
		for (auto until = clock::now() + 2s; inside < 2 && clock::now() < until;)
			usleep(500); /* both at once */
		bite();
		query_blocking();
	}
	while (going()) {
		std::promise<int> p;
		co_await query(p);
		co_await delay(3ms);
	}
}
static task<> story(std::atomic<int> &inside)
{
	std::vector<task<>> both;
	both.push_back(handler(inside));
	both.push_back(handler(inside));
	co_await when_all(std::move(both), "handler");
}
static void start()
{
	std::atomic<int> inside = 0;
	run(2, story(inside));
}
} // namespace exhausted

/*
 * held-over-await: a std::mutex is held over a co_await. On one thread another coroutine then locks it, and the thread sleeps in
 * lock(), while the holder is ready and waits for that thread.
 */
namespace held_over_await {
static task<> saver(std::mutex &m)
{
	while (going()) {
		co_await delay(8ms);
		m.lock();
		bool over = !normal();
		if (over && asked.faulty)
			co_await delay(5ms); /* HERE held-over-await */
		m.unlock();
		if (over && !asked.faulty)
			co_await delay(5ms);
	}
}
static task<> editor(std::mutex &m, int &edits)
{
	while (going()) {
		co_await delay(1ms); /* HERE held-over-await */
		if (!m.try_lock()) {
			bite();
			m.lock();
		}
		edits++;
		m.unlock();
	}
}
static task<> story(std::mutex &m, int &edits)
{
	std::vector<task<>> both;
	both.push_back(saver(m));
	both.push_back(editor(m, edits));
	co_await when_all(std::move(both));
}
static void start()
{
	std::mutex m;
	int edits = 0;
	run(1, story(m, edits));
}
} // namespace held_over_await

/*
 * long-computation (healthy): a report is computed on the second thread for a second and a half, without an await. Nobody waits
 * for that thread: the others run on the first.
 */
namespace long_computation {
static task<> report(executor &back)
{
	executor &front = *here().on;
	co_await on(back);
	compute(1500ms);
	co_await on(front);
}
static task<> story(executor &back)
{
	for (int i = 0; i < 3; i++)
		spawn(ticking(5ms, 2.2), "client");
	while (normal())
		co_await delay(3ms);
	co_await report(back);
	while (asked.stay)
		co_await delay(100ms);
	back.stop();
}
static void start()
{
	executor &back = *new executor;
	std::thread t([&] { back.run(); });
	run(1, story(back));
	t.join();
}
} // namespace long_computation

/*
 * batch (healthy): a job of one coroutine computes and saves, twenty times 100 ms; it is alone on its thread and in the program.
 */
namespace batch {
static task<> story()
{
	for (int i = 0; (i < 20 && elapsed() < 2.4) || asked.stay; i++) {
		compute(100ms);
		co_await delay(1ms);
	}
}
static void start()
{
	run(1, story());
}
} // namespace batch

/*
 * polite-yields (healthy): three sorters on one thread yield every few hundred elements. They are resumed tens of thousands of
 * times, and each of them makes progress.
 */
namespace polite_yields {
static task<> sorter(long &steps)
{
	while (going(2.1)) {
		for (int i = 0; i < 20000; i++)
			asm volatile("");
		steps++;
		co_await yield();
	}
}
static task<> story(long *steps)
{
	std::vector<task<>> all;
	for (int i = 0; i < 3; i++)
		all.push_back(sorter(steps[i]));
	co_await when_all(std::move(all), "sorter");
}
static void start()
{
	long steps[3] = {};
	run(1, story(steps));
}
} // namespace polite_yields

/*
 * idle-priority (healthy): the scrubber has the lowest priority and gets the thread only when nothing else is ready: for a second
 * of load it waits, ready, and then it goes on.
 */
namespace idle_priority {
static task<> busy()
{
	for (double until = elapsed() + 1.2; elapsed() < until;) {
		compute(2ms);
		co_await yield();
	}
}
static task<> scrubber(int &passes)
{
	while (going()) {
		co_await yield();
		passes++;
		co_await delay(3ms);
	}
}
static task<> story(int &passes)
{
	job low = spawn(scrubber(passes), "scrubber", -1);
	while (normal())
		co_await delay(5ms);
	job a = spawn(busy(), "request", 1), b = spawn(busy(), "request", 1);
	co_await a.end();
	co_await b.end();
	co_await low.end();
}
static void start()
{
	int passes = 0;
	run(1, story(passes), *new starved::by_priority);
}
} // namespace idle_priority

/*
 * short-blocking (healthy): a log is written with a blocking call of 30 ms on each flush, on one thread of two. Not nice, but known,
 * and bounded.
 */
namespace short_blocking {
static task<> logger()
{
	while (going()) {
		co_await delay(60ms);
		usleep(30000);
	}
}
static task<> story()
{
	std::vector<task<>> all;
	all.push_back(logger());
	for (int i = 0; i < 4; i++)
		all.push_back(ticking(3ms));
	co_await when_all(std::move(all));
}
static void start()
{
	run(2, story());
}
} // namespace short_blocking

/*
 * spare-thread (healthy): three threads, work for one. Two threads sleep in the executor nearly always, and a warm spare task is
 * parked for the day the first one fails.
 */
namespace spare_thread {
static task<> spare(event &failed)
{
	bool needed = co_await failed.wait();
	if (needed)
		std::puts("the spare takes over");
}
static task<> story(event &failed)
{
	spawn(spare(failed), "spare");
	while (going()) {
		compute(1ms);
		co_await delay(2ms);
	}
}
static void start()
{
	event failed;
	run(3, story(failed));
}
} // namespace spare_thread

int main(int argc, char **argv)
{
	return cx::main(argc, argv, {
		{"dropped-ready", defect, dropped_ready::start},
		{"wrong-queue", defect, wrong_queue::start},
		{"blocking-read", "long-run", blocking_read::start},
		{"spin", "long-run", spin::start},
		{"yield-storm", defect, yield_storm::start},
		{"starved", defect, starved::start},
		{"exhausted", "long-run", exhausted::start},
		{"held-over-await", "long-run", held_over_await::start},
		{"long-computation", healthy, long_computation::start},
		{"batch", healthy, batch::start},
		{"polite-yields", healthy, polite_yields::start},
		{"idle-priority", healthy, idle_priority::start},
		{"short-blocking", healthy, short_blocking::start},
		{"spare-thread", healthy, spare_thread::start},
	});
}
