/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-givers: a finding about coroutines that wait for something available names the coroutine that gave it back and woke nobody.
 * Records are made by hand: a pool with one permit, which coroutine 3 holds, and for which 1 and 2 wait.
 */
#include "objects-scene.h"

enum { GIVES = AT + 10 * MS };

static void pool(void)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 1, CTP_OBJECT_MADE);
	runs(AT - 20, 3);
	gets(&h, AT - 19, 3, A, 1);
	has(&h, AT - 18, A, CTP_WAITS_PERMITS, 0);
	stops(AT - 17, 3);
}

static void pool_with_waiters(void)
{
	pool();
	waits_alone(1, CTP_WAITS_PERMITS, A, 1, 0);
	waits_alone(2, CTP_WAITS_PERMITS, A, 1, 0);
}

/* The coroutine runs, and gives its permit back. */
static void gives(uint64_t ts, uint64_t co)
{
	runs(ts - MS, co);
	gets(&h, ts, co, A, -1);
	has(&h, ts + 1, A, CTP_WAITS_PERMITS, 1);
}

/* A coroutine that runs takes the permit. */
static void takes(uint64_t ts, uint64_t co)
{
	gets(&h, ts, co, A, 1);
	has(&h, ts + 1, A, CTP_WAITS_PERMITS, 0);
}

static bool starts_with(const char *text) { return !strncmp(why, text, strlen(text)); }
static bool names_giver(void) { return strstr(why, "woke nobody"); }

static void forgotten(void)
{
	pool_with_waiters();
	gives(GIVES, 3);
	stops(GIVES + 5, 3);
	is(over(), "available-not-woken likely 1, available-not-woken likely 1", "waiters that are not woken for a free permit are found");
	ok(starts_with("coroutine #3 gave 1 permit of the pool at 0x1000 back 310 ms after the start, while 2 waited, and woke nobody\n"),
	   "the first line says who gave it back and woke nobody: %s", why);
	pool_with_waiters();
	gives(GIVES, 3);
	dies(&h, GIVES + 5, 3);
	over();
	ok(starts_with("coroutine #3 gave 1 permit"), "so it does if that one has ended: %s", why);
	pool();
	gives(GIVES, 3);
	stops(GIVES + 5, 3);
	runs(GIVES + MS, 1);
	waits_for(&h, GIVES + MS + 1, 1, CTP_WAITS_PERMITS, A);
	stops(GIVES + MS + 2, 1);
	is(over(), "available-not-woken likely 1", "a wait that began when the permit was free is found");
	ok(!names_giver(), "but who gave the permit back before that is not named: %s", why);
}

static void woken(void)
{
	pool_with_waiters();
	gives(GIVES, 3);
	is_woken(&h, GIVES + 2, 1, 5, 3);
	stops(GIVES + 5, 3);
	resumes(&h, GIVES + MS, 1, 5);
	takes(GIVES + MS + 1, 1);
	gets(&h, GIVES + 2 * MS, 1, A, -1);
	has(&h, GIVES + 2 * MS, A, CTP_WAITS_PERMITS, 1);
	stops(GIVES + 3 * MS, 1);
	is(over(), "available-not-woken likely 1", "a waiter is found after another one was woken");
	ok(starts_with("coroutine #1 gave 1 permit of the pool at 0x1000 back 312 ms after the start, while 1 waited"),
	   "the one that woke nobody is named, not the one that woke somebody: %s", why);
}

static void on_its_way(void)
{
	pool_with_waiters();
	is_woken(&h, GIVES - 2 * MS, 1, 6, 0);
	gives(GIVES, 3);
	stops(GIVES + 5, 3);
	resumes(&h, GIVES + MS, 1, 5);
	dies(&h, GIVES + 2 * MS, 1);
	is(over(), "available-not-woken likely 1", "a waiter is found if the one that was woken before has ended");
	ok(!names_giver(), "whoever gave while that one was on its way is not named: %s", why);
}

static void taken(void)
{
	pool_with_waiters();
	gives(GIVES, 3);
	resumes(&h, GIVES + 2, 4, 6);
	takes(GIVES + 3, 4);
	stops(GIVES + 4, 4);
	stops(GIVES + 5, 3);
	gives(GIVES + 2 * MS, 4);
	stops(GIVES + 3 * MS, 4);
	over();
	ok(starts_with("coroutine #4 gave 1 permit"), "if another one took the permit at once, that one is named: %s", why);
}

static void taken_by_thread(void)
{
	pool_with_waiters();
	gives(GIVES, 3);
	stops(GIVES + 5, 3);
	has_on(&h, GIVES + 6, 9, A, CTP_WAITS_PERMITS, 0);
	has_on(&h, GIVES + MS, 9, A, CTP_WAITS_PERMITS, 1);
	over();
	ok(!names_giver(), "nor is it named if a plain thread took the permit after that: %s", why);
}

static void several(void)
{
	pool_with_waiters();
	gives(GIVES, 3);
	stops(GIVES + 5, 3);
	runs(GIVES + MS, 4);
	takes(GIVES + MS + 1, 4);
	stops(GIVES + MS + 2, 4);
	gives(GIVES + 3 * MS, 4);
	stops(GIVES + 4 * MS, 4);
	over();
	ok(strstr(why, "while 2 waited, and woke nobody; so did 1 other\n"), "the others are counted: %s", why);
}

static void by_event_loop(bool by_timer)
{
	pool();
	runs(AT - 10, 1);
	waits_for(&h, AT - 5, 1, CTP_WAITS_PERMITS, A);
	if (by_timer)
		waits_so(&h, AT - 4, 1, CTP_WAITS_TIMER, GIVES + MS, 1, 0);
	stops(AT, 1);
	waits_alone(2, CTP_WAITS_PERMITS, A, 1, 0);
	gives(GIVES, 3);
	stops(GIVES + 5, 3);
	is_woken(&h, GIVES + 2 * MS, 1, 6, 0);
	resumes(&h, GIVES + 3 * MS, 1, 5);
	dies(&h, GIVES + 4 * MS, 1);
	over();
}

static void mended(void)
{
	by_event_loop(false);
	ok(!names_giver(), "a giver is not named if an event loop woke a waiter after it was suspended: %s", why);
	by_event_loop(true);
	ok(names_giver(), "it is named if that wake was a timer's: %s", why);
}

/* The program wakes all that wait before it ends. */
static void at_shutdown(void)
{
	pool_with_waiters();
	gives(GIVES, 3);
	stops(GIVES + 5, 3);
	for (uint64_t co = 1; co <= 2; co++)
		is_woken(&h, END * (uint64_t)MS - MS + co, co, 6, 0);
	for (uint64_t co = 1; co <= 4; co++)
		dies(&h, END * (uint64_t)MS - MS / 2 + co, co);
	over();
	ok(starts_with("coroutine #3 gave 1 permit"), "it is named if the waiters were woken only when the program ended: %s", why);
}

static void unsure(void)
{
	pool_with_waiters();
	gives(GIVES, 3);
	are_missed(&h, GIVES + 2, GIVES + 3, 6);
	stops(GIVES + 5, 3);
	has(&h, GIVES + 6, A, CTP_WAITS_PERMITS, 1);
	over();
	ok(!names_giver(), "nobody is named if wakes may be lost: %s", why);
	pool_with_waiters();
	gets(&h, GIVES, 3, A, -1);
	has(&h, GIVES + 1, A, CTP_WAITS_PERMITS, 1);
	over();
	ok(!names_giver(), "nor is a coroutine that does not run, whose permit something else gave back: %s", why);
}

/* The waker puts items into a queue and wakes nobody; another coroutine takes them, and one that waits is never woken. */
static void never_woken(uint64_t tid)
{
	enum { TAKER = 3 };
	begin();
	healthy();
	has_so(&h, 200 * MS, A, CTP_WAITS_ITEM, 0, CTP_OBJECT_MADE);
	is_born(&h, 200 * MS, TAKER, 0);
	is_born(&h, 200 * MS, VICTIM, MAKER);
	resumes(&h, 201 * MS, VICTIM, 5);
	goes_round(202 * MS, VICTIM, WAKER);
	waits_for(&h, 209 * MS, VICTIM, CTP_WAITS_ITEM, A);
	suspends(&h, 210 * MS, VICTIM, 5, WAITS);
	for (uint64_t ts = 220 * MS; ts < 1900 * MS; ts += 5 * MS) {
		has_on(&h, ts - 1, tid, A, CTP_WAITS_ITEM, 1);
		suspends(&h, ts, WAKER, 6, 9);
		resumes(&h, ts + 1, TAKER, 7);
		has_on(&h, ts + 2, 7, A, CTP_WAITS_ITEM, 0);
		suspends(&h, ts + 3, TAKER, 7, 10);
		is_woken(&h, ts + MS / 2, WAKER, 5, 0);
		resumes(&h, ts + MS, WAKER, 6);
	}
	is_over(&h, 1900 * MS, CTP_OUTCOME_RUNNING);
	end();
}

static void queues(void)
{
	never_woken(6);
	is(found, "never-woken likely 1", "a waiter that is never woken for an item is found");
	ok(starts_with("coroutine #2 put an item into the queue at 0x1000 220 ms after the start, while 1 waited, and woke nobody\n"),
	   "the first line says who put an item there and woke nobody: %s", why);
	never_woken(0);
	ok(!names_giver(), "nobody is named if the trace does not say which thread recorded it: %s", why);
	never_woken(8);
	ok(!names_giver(), "nor if no coroutine runs on that thread: %s", why);
}

int main(void)
{
	forgotten();
	woken();
	on_its_way();
	taken();
	taken_by_thread();
	several();
	mended();
	at_shutdown();
	unsure();
	queues();
	return done_testing();
}
