/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-stopped.c - the rule that most of the coroutines that worked have stopped, and what keeps it from a server whose load has
 * ended. For each premise there is a scene that breaks only that one.
 */
#include "judged.h"

enum { TURN = 20, TIMER = 21, FIRST = 100, BOSS = 50, POOL = 0xa0, LOCK = 0xb0 };

/*
 * Tasks wait for a turn and then for a timer. In the end, some wait for a turn and get none; the others wait for timers until the end,
 * and ask for no turn.
 */
struct tasks {
	uint64_t n, stopped, rounds;
	enum { BY_EQUALS, BY_BOSS, BY_NONE } by; /* who gives a turn to the next: the last that had one, another coroutine, nobody known */
	bool one_from_outside, slow, dead_holder, boss_ends;
	uint64_t end_ms, what, marks;
};

static const struct tasks good = {.n = 12, .stopped = 10, .rounds = 96, .end_ms = 3000};

static void waits_at(uint64_t ts, uint64_t co, uint64_t site, struct tasks t)
{
	if (t.what && site == TURN)
		waits_so(&h, ts - 1, co, t.what, t.what == CTP_WAITS_TIMER ? 9 * S : POOL, 1, t.marks);
	suspends(&h, ts, co, 5, site);
}

/* The task has a turn, and waits for its timer. */
static void has_turn(uint64_t ts, uint64_t co, uint64_t by)
{
	is_woken(&h, ts, co, 6, by);
	resumes(&h, ts + 1, co, 5);
	suspends(&h, ts + 2, co, 5, TIMER);
}

static void timer_ends(uint64_t ts, uint64_t co)
{
	is_woken(&h, ts, co, 6, 0);
	resumes(&h, ts + 1, co, 5);
}

/* A coroutine has a lock and ends; another one waits for the lock. */
static void with_dead_holder(void)
{
	has_so(&h, 20, LOCK, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	is_born(&h, 21, 60, 70);
	resumes(&h, 22, 60, 8);
	gets(&h, 23, 60, LOCK, 1);
	dies(&h, 24, 60);
	is_born(&h, 25, 61, 71);
	resumes(&h, 26, 61, 8);
	waits_for(&h, 27, 61, CTP_WAITS_LOCK, LOCK);
	suspends(&h, 28, 61, 8, 72);
}

static const char *tasks(struct tasks t)
{
	uint64_t by = FIRST + t.n - 1, ts = MS, step = 2 * MS;
	begin();
	is_born(&h, 1, BOSS, 0);
	resumes(&h, 2, BOSS, 7);
	suspends(&h, 3, BOSS, 7, 51);
	if (t.what == CTP_WAITS_PERMITS) {
		has_so(&h, 4, POOL, CTP_WAITS_PERMITS, 1, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
		has(&h, 5, POOL, CTP_WAITS_PERMITS, 0);
	}
	if (t.dead_holder)
		with_dead_holder();
	for (uint64_t i = 0; i < t.n; i++) {
		is_born(&h, 100 + 10 * i, FIRST + i, MAKER);
		resumes(&h, 101 + 10 * i, FIRST + i, 5);
		waits_at(103 + 10 * i, FIRST + i, TURN, t);
	}
	for (uint64_t i = 0; i < t.rounds; i++, ts += step) {
		uint64_t co = FIRST + i % t.n;
		if (t.slow && i == t.rounds / 2)
			ts += 600 * MS;
		bool outside = t.by == BY_NONE || (t.one_from_outside && i == 30);
		if (t.by == BY_BOSS) {
			is_woken(&h, ts - 2, BOSS, 6, 0);
			resumes(&h, ts - 1, BOSS, 7);
		}
		has_turn(ts, co, outside ? 0 : t.by == BY_BOSS ? BOSS : by);
		if (t.by == BY_BOSS)
			suspends(&h, ts + 3, BOSS, 7, 51);
		timer_ends(ts + MS, co);
		waits_at(ts + MS + 3, co, TURN, t);
		by = co;
	}
	if (t.boss_ends)
		dies(&h, ts - 2, BOSS);
	for (uint64_t i = t.stopped; i < t.n; i++) /* the others get a turn once more */
		has_turn(ts + i * 10, FIRST + i, t.by == BY_BOSS ? BOSS : t.by == BY_NONE ? 0 : by);
	for (ts += 20 * MS; ts < t.end_ms * MS - MS; ts += 20 * MS)
		for (uint64_t i = t.stopped; i < t.n; i++) {
			timer_ends(ts + i * 10, FIRST + i);
			suspends(&h, ts + i * 10 + 2, FIRST + i, 5, TIMER);
		}
	is_over(&h, t.end_ms * MS, CTP_OUTCOME_RUNNING);
	return end();
}

static bool is_found(struct tasks t) { return strstr(tasks(t), "work-stopped"); }

static void stopped(void)
{
	struct tasks t = good;
	is(tasks(t), "work-stopped likely 10", "ten of twelve tasks that wait among equals have stopped");
	is(title, "10 of 12 coroutines that worked have stopped, at site 20, for up to 2.83 s", "the title says how many");
	ok(strstr(why, "10 wait there, where only coroutines of the same spawn site have ever ended waits\n"),
	   "the evidence says where they wait: %s", why);
	ok(strstr(why, "the first that stopped is coroutine #100, at site 20, "), "and which one stopped first: %s", why);
	is(suspected, "", "no wait of theirs stands out besides");
	t.stopped = 6;
	ok(is_found(t), "six of twelve are enough: %s", found);

	t.stopped = 5;
	ok(!is_found(t), "it is not found if fewer than half have stopped: %s", found);
	t = good, t.n = 4, t.stopped = 2;
	ok(!is_found(t), "it is not found if two have stopped: %s", found);
	t = good, t.by = BY_BOSS;
	ok(!is_found(t), "it is not found if another sort of coroutine ends the waits: %s", found);
	t.what = CTP_WAITS_PERMITS;
	ok(!is_found(t), "nor is it if they wait for permits which another sort of coroutine gives back: %s", found);
	t = good, t.by = BY_NONE;
	ok(!is_found(t), "it is not found if something from outside ends the waits: %s", found);
	t = good, t.one_from_outside = true;
	ok(!is_found(t), "it is not found if something from outside has ended one of them: %s", found);
	t = good, t.rounds = 12;
	ok(!is_found(t), "it is not found after a few waits: %s", found);
	t = good, t.slow = true;
	ok(!is_found(t), "it is not found if other waits took a fifth of the time: %s", found);
	t = good, t.end_ms = 1100;
	ok(!is_found(t), "it is not found within a second: %s", found);
	t = good, t.what = CTP_WAITS_OTHER, t.marks = CTP_REASON_RESTS;
	ok(!is_found(t), "it is not found if the program says that they rest: %s", found);
	t = good, t.what = CTP_WAITS_TIMER;
	ok(!is_found(t), "it is not found if their timers are not due: %s", found);
	t = good, t.dead_holder = true;
	is(tasks(t), "held-by-dead likely 1", "it is not found if another finding says what has stopped");
}

/* --- the end of a load ---------------------------------------------------------------------------------------------------- */

enum { READS = 30, ASKS = 31, WORKS = 40, DB = 41, HANDLERS = 12, WORKERS = 4 };

/*
 * Handlers read requests, which something from outside ends, and ask a worker. Workers wait for what a handler asks, and for a
 * database. After a second, the load ends; or one handler goes on.
 */
static const char *load_ends(bool one_goes_on)
{
	begin();
	for (uint64_t i = 0; i < HANDLERS + WORKERS; i++) {
		is_born(&h, 10 + 10 * i, FIRST + i, i < HANDLERS ? MAKER : MAKER + 1);
		resumes(&h, 11 + 10 * i, FIRST + i, 5);
		suspends(&h, 12 + 10 * i, FIRST + i, 5, i < HANDLERS ? READS : WORKS);
	}
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t ts = MS + i * 3 * MS, one = FIRST + i % HANDLERS, worker = FIRST + HANDLERS + i % WORKERS;
		if (i >= 333 && one_goes_on)
			one = FIRST, worker = FIRST + HANDLERS;
		else if (i >= 333)
			break;
		timer_ends(ts, one);
		is_woken(&h, ts + 2, worker, 5, one);
		suspends(&h, ts + 3, one, 5, ASKS);
		resumes(&h, ts + 4, worker, 6);
		suspends(&h, ts + 5, worker, 6, DB);
		timer_ends(ts + MS, worker);
		is_woken(&h, ts + MS + 5, one, 6, worker);
		suspends(&h, ts + MS + 6, worker, 6, WORKS);
		resumes(&h, ts + MS + 7, one, 5);
		suspends(&h, ts + MS + 8, one, 5, READS);
	}
	is_over(&h, 4 * S, CTP_OUTCOME_RUNNING);
	return end();
}

/* --- what the program says outranks a resting place ----------------------------------------------------------------------- */

/* All tasks wait for a turn. The coroutine that has given all turns before has ended. */
static void told_rest(void)
{
	struct tasks t = {.n = 6, .stopped = 6, .rounds = 96, .end_ms = 3000, .by = BY_BOSS, .boss_ends = true};
	ok(!strstr(tasks(t), "never-woken"), "tasks that rest where they suspend first are in no finding: %s", found);
	t.what = CTP_WAITS_PERMITS;
	is(tasks(t), "never-woken likely 6", "they are if they wait for permits that coroutines hold: nobody rests there");
	t.marks = CTP_REASON_RESTS;
	ok(!strstr(tasks(t), "never-woken"), "unless the program says that they rest: %s", found);
	t.what = CTP_WAITS_ITEM, t.marks = 0;
	ok(!strstr(tasks(t), "never-woken"), "who waits for an item may have no work: %s", found);
}

int main(void)
{
	stopped();
	is(load_ends(false), "", "a server whose load has ended is healthy");
	is(load_ends(true), "", "it is healthy if one client goes on");
	told_rest();
	return done_testing();
}
