/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cxx-locks.cpp - locks, conditions, semaphores and barriers, in C++20.
 */
#include "cxx.hpp"

using namespace cx;

/*
 * lost-signal: a job server's worker looked whether there was a job before it took the lock, and then waited. While the log was
 * rotated in between, the job came: its signal found nobody waiting.
 */
namespace lost_signal {
struct box {
	mutex m;
	condition c;
	std::deque<int> jobs;
	semaphore done{0};
};
static task<> worker(box &b)
{
	for (;;) {
		bool idle = b.jobs.empty();
		if (!normal()) /* the log is rotated */
			co_await delay(30ms);
		co_await b.m.lock();
		while (asked.faulty ? idle : b.jobs.empty()) {
			co_await b.c.wait(b.m); /* HERE lost-signal */
			idle = b.jobs.empty();
		}
		b.jobs.pop_front();
		b.m.unlock();
		b.done.release();
	}
}
static task<> story(box &b)
{
	spawn(worker(b), "worker");
	spawn(ticking(20ms), "statistics");
	while (going()) {
		co_await delay(normal() ? 3ms : 15ms); /* shorter than the rotation */
		if (!normal())
			bite();
		co_await b.m.lock();
		b.jobs.push_back(1);
		b.c.notify_one();
		b.m.unlock();
		co_await b.done.acquire();
	}
}
static void start()
{
	box b;
	run(1, story(b));
}
} // namespace lost_signal

/*
 * notify-one: a feature-flag service whose clients wait for the next version of the configuration. Somebody "optimised" the
 * publisher to notify_one(), which was right as long as there was one client.
 */
namespace notify_one {
struct config {
	mutex m;
	condition changed;
	int version = 0;
	bool ended = false;
};
static task<> client(config &c)
{
	for (int seen = 0;; seen = c.version) {
		auto held = co_await c.m.scoped();
		while (c.version == seen && !c.ended)
			co_await c.changed.wait(c.m); /* HERE notify-one */
		if (c.ended)
			co_return;
	}
}
static task<> story(config &c)
{
	std::vector<job> clients;
	clients.push_back(spawn(client(c), "client 0"));
	for (bool grown = false; going(2.2);) {
		co_await delay(4ms);
		if (!normal() && !grown) {
			for (int i = 1; i < 4; i++)
				clients.push_back(spawn(client(c), "client " + std::to_string(i)));
			grown = true;
			co_await delay(20ms);
			if (asked.faulty)
				break;
		}
		auto held = co_await c.m.scoped();
		c.version++;
		c.changed.notify_all();
	}
	bite();
	{
		auto held = co_await c.m.scoped();
		c.ended = true;
		if (asked.faulty)
			c.changed.notify_one();
		else
			c.changed.notify_all();
	}
	for (auto &j : clients)
		co_await j.end();
}
static void start()
{
	config c;
	run(1, story(c));
}
} // namespace notify_one

/*
 * error-unlock: an order book with lock() and unlock() by hand. A validation that was added later leaves by co_return while the
 * lock is held; the first order that does not pass it stops all others.
 */
namespace error_unlock {
struct book {
	mutex m;
	long sum = 0;
};
static task<bool> order(book &b, int amount)
{
	co_await b.m.lock(); /* HERE error-unlock */
	if (amount < 0) {
		bite();
		if (!asked.faulty)
			b.m.unlock();
		co_return false;
	}
	co_await delay(1ms); /* the journal */
	b.sum += amount;
	b.m.unlock();
	co_return true;
}
static task<> trader(book &b, int id)
{
	for (int i = 0; going(); i++) {
		co_await order(b, id == 2 && !normal() && i % 5 == 0 ? -1 : 10);
		co_await delay(2ms);
	}
}
static task<> story(book &b)
{
	std::vector<task<>> all;
	for (int i = 0; i < 4; i++)
		all.push_back(trader(b, i));
	co_await when_all(std::move(all), "trader");
}
static void start()
{
	book b;
	run(2, story(b));
}
} // namespace error_unlock

/*
 * two-orders: transfers between accounts, each with a lock. A transfer locks first the account it takes from, then the other;
 * two transfers in opposite directions meet.
 */
namespace two_orders {
struct account {
	mutex m;
	long sum = 1000;
};
static task<> transfer(account &from, account &to, milliseconds audit)
{
	bool turned = !asked.faulty && &to < &from;
	co_await (turned ? to : from).m.lock(); /* HERE two-orders */
	co_await delay(audit);
	co_await (turned ? from : to).m.lock(); /* HERE two-orders */
	from.sum--, to.sum++;
	(turned ? from : to).m.unlock();
	(turned ? to : from).m.unlock();
}
static task<> teller(account *a, int id)
{
	while (normal())
		co_await transfer(a[0], a[1], 1ms);
	co_await delay(20ms);
	bite();
	co_await transfer(a[id], a[1 - id], 20ms);
	while (going())
		co_await transfer(a[id], a[1 - id], 2ms);
}
static task<> story(account *a)
{
	std::vector<task<>> both;
	both.push_back(teller(a, 0));
	both.push_back(teller(a, 1));
	spawn(ticking(10ms), "interest");
	co_await when_all(std::move(both), "teller");
}
static void start()
{
	account a[2];
	run(2, story(a));
}
} // namespace two_orders

/*
 * permit-leak: a crawler lets four fetches run at once. A fetch that throws leaves without giving its permit back; after four
 * bad hosts nothing is fetched any more.
 */
namespace permit_leak {
struct crawler {
	semaphore slots{4};
	int fetched = 0;
};
static task<> fetch(crawler &c, bool bad)
{
	co_await c.slots.acquire(); /* HERE permit-leak */
	try {
		co_await delay(2ms);
		if (bad)
			throw std::runtime_error("no such host");
		c.fetched++;
		c.slots.release();
	} catch (const std::exception &) {
		if (!asked.faulty)
			c.slots.release();
	}
}
static task<> frontier(crawler &c)
{
	int bad = 0;
	while (going()) {
		std::vector<task<>> page;
		for (int i = 0; i < 6; i++)
			page.push_back(fetch(c, !normal() && i == 0 && bad++ < 4));
		if (bad >= 4)
			bite();
		co_await when_all(std::move(page), "fetch");
	}
}
static void start()
{
	crawler c;
	run(2, frontier(c));
}
} // namespace permit_leak

/*
 * upgrade: a document store with a reader-writer lock. A reader that finds a stale index asks for the write lock without giving
 * up its read lock: the writer it has become waits for all readers, itself among them.
 */
namespace upgrade {
struct shared_lock {
	mutex m;
	condition c;
	int readers = 0;
	bool writing = false;
};
static task<> read_lock(shared_lock &l)
{
	auto held = co_await l.m.scoped();
	while (l.writing)
		co_await l.c.wait(l.m);
	l.readers++;
}
static task<> read_unlock(shared_lock &l)
{
	auto held = co_await l.m.scoped();
	l.readers--;
	l.c.notify_all();
}
static task<> write_lock(shared_lock &l)
{
	auto held = co_await l.m.scoped();
	while (l.writing)
		co_await l.c.wait(l.m);
	l.writing = true;
	while (l.readers)
		co_await l.c.wait(l.m); /* HERE upgrade */
}
static task<> write_unlock(shared_lock &l)
{
	auto held = co_await l.m.scoped();
	l.writing = false;
	l.c.notify_all();
}
static task<> reader(shared_lock &l, bool refreshes)
{
	while (going()) {
		co_await read_lock(l);
		co_await delay(2ms);
		bool stale = refreshes && !normal();
		if (!stale || !asked.faulty)
			co_await read_unlock(l);
		if (stale) {
			bite();
			co_await write_lock(l);
			co_await delay(1ms);
			co_await write_unlock(l);
			if (asked.faulty)
				co_await read_unlock(l);
		}
		co_await delay(2ms);
	}
}
static task<> story(shared_lock &l)
{
	std::vector<task<>> all;
	for (int i = 0; i < 3; i++)
		all.push_back(reader(l, i == 0));
	co_await when_all(std::move(all), "reader");
}
static void start()
{
	shared_lock l;
	run(1, story(l));
}
} // namespace upgrade

/*
 * abandoned-cursor: a table scan is a generator that holds the table's latch between rows. A report takes the first rows and
 * keeps the cursor in its session "in case the user scrolls"; the nightly compaction then waits for the latch.
 */
namespace abandoned_cursor {
struct table {
	semaphore latch{1};
	std::vector<generator<int>> sessions;
};
struct latched {
	table &t;
	~latched() { t.latch.release(); }
};
static generator<int> scan(table &t)
{
	latched l{t};
	for (int row = 0; row < 50; row++)
		co_yield row;
}
static task<> compaction(table &t)
{
	while (going()) {
		co_await delay(10ms);
		co_await t.latch.acquire(); /* HERE abandoned-cursor */
		co_await delay(1ms);
		t.latch.release();
	}
}
static task<> reports(table &t)
{
	while (going()) {
		co_await delay(5ms);
		co_await t.latch.acquire(); /* HERE abandoned-cursor */
		auto cursor = scan(t);
		for (int i = 0; i < (normal() ? 60 : 10); i++)
			cursor.next();
		if (!normal() && asked.faulty) {
			t.sessions.push_back(std::move(cursor));
			bite();
		}
	}
}
static task<> story(table &t)
{
	std::vector<task<>> both;
	both.push_back(compaction(t));
	both.push_back(reports(t));
	co_await when_all(std::move(both));
}
static void start()
{
	table t;
	run(1, story(t));
}
} // namespace abandoned_cursor

/*
 * missing-party: a simulation in phases; its barrier counts four parties. One party finds its domain empty and leaves without
 * telling the barrier, and the other three wait for a fourth.
 */
namespace missing_party {
struct phases {
	barrier b{4};
	bool ended = false;
};
static task<> domain(phases &p, int id)
{
	for (;;) {
		co_await delay(milliseconds(1 + id));
		if (id == 3 && !normal() && asked.faulty) {
			bite();
			co_return; /* empty */
		}
		if (id == 0 && !going())
			p.ended = true;
		co_await p.b.arrive(); /* HERE missing-party */
		if (p.ended)
			co_return;
	}
}
static task<> story(phases &p)
{
	std::vector<task<>> all;
	for (int i = 0; i < 4; i++)
		all.push_back(domain(p, i));
	co_await when_all(std::move(all), "domain");
}
static void start()
{
	phases p;
	run(3, story(p));
}
} // namespace missing_party

/*
 * convoy (healthy): fifty clients queue for one lock, held for two milliseconds each time. Each waits for most of its life, and
 * the last of each round for fifty turns; but it is handed on all the time.
 */
namespace convoy {
static task<> client(mutex &m)
{
	while (going(2.1)) {
		auto held = co_await m.scoped();
		co_await delay(2ms);
	}
}
static task<> story(mutex &m)
{
	std::vector<task<>> all;
	for (int i = 0; i < 50; i++)
		all.push_back(client(m));
	co_await when_all(std::move(all), "client");
}
static void start()
{
	mutex m;
	run(2, story(m));
}
} // namespace convoy

/*
 * late-gate (healthy): the workers of a game server wait at a gate, a semaphore without permits, until the lobby is full. It is
 * full after two seconds, in which only the lobby's timer ticks.
 */
namespace late_gate {
static task<> player(semaphore &gate)
{
	co_await gate.acquire();
	for (int i = 0; i < 20; i++)
		co_await delay(5ms);
}
static task<> story(semaphore &gate)
{
	std::vector<job> all;
	for (int i = 0; i < 16; i++)
		all.push_back(spawn(player(gate), "player " + std::to_string(i)));
	while (asked.stay || elapsed() < 2)
		co_await delay(100ms);
	gate.release(16);
	for (auto &j : all)
		co_await j.end();
}
static void start()
{
	semaphore gate(0);
	run(2, story(gate));
}
} // namespace late_gate

/*
 * slow-party (healthy): phases of four parties. In one phase one of the parties has two seconds of work, and the three others
 * wait at the barrier meanwhile, as they should.
 */
namespace slow_party {
static task<> party(barrier &b, int id)
{
	for (int phase = 0; phase < 60; phase++) {
		co_await delay(id == 2 && phase == 40 ? 1800ms : 3ms);
		co_await b.arrive();
	}
}
static task<> story(barrier &b)
{
	std::vector<task<>> all;
	for (int i = 0; i < 4; i++)
		all.push_back(party(b, i));
	co_await when_all(std::move(all), "party");
}
static void start()
{
	barrier b(4);
	run(2, story(b));
}
} // namespace slow_party

/*
 * patient-writer (healthy): a writer waits for a slow reader of a backup, 1.3 seconds, while new readers queue behind it. A
 * fair reader-writer lock does so.
 */
namespace patient_writer {
static task<> reader(upgrade::shared_lock &l, milliseconds time)
{
	do {
		co_await upgrade::read_lock(l);
		co_await delay(time);
		co_await upgrade::read_unlock(l);
		co_await delay(3ms);
	} while (going(2.2));
}
static task<> writer(upgrade::shared_lock &l)
{
	while (going(2.2)) {
		co_await delay(40ms);
		co_await upgrade::write_lock(l);
		co_await delay(1ms);
		co_await upgrade::write_unlock(l);
	}
}
static task<> backup(upgrade::shared_lock &l)
{
	co_await delay(700ms);
	co_await upgrade::read_lock(l);
	co_await delay(1300ms);
	co_await upgrade::read_unlock(l);
}
static task<> story(upgrade::shared_lock &l)
{
	std::vector<task<>> all;
	for (int i = 0; i < 3; i++)
		all.push_back(reader(l, 2ms));
	all.push_back(writer(l));
	all.push_back(backup(l));
	co_await when_all(std::move(all));
}
static void start()
{
	upgrade::shared_lock l;
	run(2, patient_writer::story(l));
}
} // namespace patient_writer

/*
 * surplus-workers (healthy): ten workers wait on a condition, and there is work for two. The others have waited since the start
 * when the program ends, and end with it.
 */
namespace surplus_workers {
struct pool {
	mutex m;
	condition c;
	std::deque<int> jobs;
};
static task<> worker(pool &p)
{
	for (;;) {
		{
			auto held = co_await p.m.scoped();
			while (p.jobs.empty())
				co_await p.c.wait(p.m);
			p.jobs.pop_front();
		}
		co_await delay(4ms);
	}
}
static task<> story(pool &p)
{
	for (int i = 0; i < 10; i++)
		spawn(worker(p), "worker " + std::to_string(i));
	while (going()) {
		co_await delay(3ms);
		auto held = co_await p.m.scoped();
		p.jobs.push_back(1);
		p.c.notify_one();
	}
}
static void start()
{
	pool p;
	run(2, story(p));
}
} // namespace surplus_workers

/*
 * timed-condition (healthy): a flusher waits on a condition for a full buffer, at most 200 ms. The buffer never is full: each
 * wait times out, and that is how it flushes.
 */
namespace timed_condition {
struct buffer {
	mutex m;
	condition full;
	int lines = 0, flushes = 0;
};
static task<> flusher(buffer &b)
{
	auto held = co_await b.m.scoped();
	while (going()) {
		co_await b.full.wait_for(b.m, 200ms);
		b.lines = 0, b.flushes++;
	}
}
static task<> logger(buffer &b)
{
	while (going()) {
		co_await delay(20ms);
		auto held = co_await b.m.scoped();
		if (++b.lines > 1000)
			b.full.notify_one();
	}
}
static task<> story(buffer &b)
{
	std::vector<task<>> both;
	both.push_back(flusher(b));
	both.push_back(logger(b));
	co_await when_all(std::move(both));
}
static void start()
{
	buffer b;
	run(1, story(b));
	tear_down();
}
} // namespace timed_condition

/*
 * long-holder (healthy): a migration holds a table's lock for a second and a half. One query waits for it all that time, and a
 * health check with a time limit gives up again and again.
 */
namespace long_holder {
struct table {
	semaphore lock{1};
	int gave_up = 0;
};
static task<> query(table &t)
{
	while (going()) {
		co_await t.lock.acquire();
		co_await delay(2ms);
		t.lock.release();
		co_await delay(5ms);
	}
}
static task<> health(table &t)
{
	while (going()) {
		bool got = co_await t.lock.acquire_for(50ms);
		if (got)
			t.lock.release();
		else
			t.gave_up++;
		co_await delay(50ms);
	}
}
static task<> migration(table &t)
{
	co_await delay(600ms);
	co_await t.lock.acquire();
	co_await delay(1500ms);
	t.lock.release();
}
static task<> story(table &t)
{
	std::vector<task<>> all;
	all.push_back(query(t));
	all.push_back(health(t));
	all.push_back(migration(t));
	co_await when_all(std::move(all));
}
static void start()
{
	table t;
	run(1, story(t));
}
} // namespace long_holder

int main(int argc, char **argv)
{
	return cx::main(argc, argv, {
		{"lost-signal", defect, lost_signal::start},
		{"notify-one", defect, notify_one::start},
		{"error-unlock", defect, error_unlock::start},
		{"two-orders", defect, two_orders::start},
		{"permit-leak", defect, permit_leak::start},
		{"upgrade", defect, upgrade::start},
		{"abandoned-cursor", defect, abandoned_cursor::start},
		{"missing-party", defect, missing_party::start},
		{"convoy", healthy, convoy::start},
		{"late-gate", healthy, late_gate::start},
		{"slow-party", healthy, slow_party::start},
		{"patient-writer", healthy, patient_writer::start},
		{"surplus-workers", healthy, surplus_workers::start},
		{"timed-condition", healthy, timed_condition::start},
		{"long-holder", healthy, long_holder::start},
	});
}
