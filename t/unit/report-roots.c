/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-roots: findings made by hand that are because of one another, or are not; and which of them is the root. */
#include "objects-scene.h"

enum { CALL = 60, ROUNDS = 30, JOB = 70, CLIENT = 71, NEVER = 500 };

/* --- objects -------------------------------------------------------------------------------------------------------------- */

/* Coroutine 1 takes a lock and ends. 2 and 3 wait for the lock at two places; 4 for a timer, or for an item that 3 used to give. */
static const char *left_locked(bool timer)
{
	scene();
	has(&h, 5, A, CTP_WAITS_LOCK, 1);
	runs(100 * MS, 1);
	gets(&h, 100 * MS + 1, 1, A, 1);
	has(&h, 100 * MS + 2, A, CTP_WAITS_LOCK, 0);
	dies(&h, 100 * MS + 3, 1);
	waits_alone(2, CTP_WAITS_LOCK, A, 1, 0);
	waits_alone(3, CTP_WAITS_LOCK, A, 1, 0);
	if (timer)
		waits_alone(4, CTP_WAITS_TIMER, 400 * MS, 1, 0);
	over();
	return roots;
}

static void test_objects(void)
{
	is(left_locked(false), "held-by-dead 1, held-by-dead 1 because of 1", "two places that wait for the same lock are one incident");
	is(left_locked(true), "held-by-dead 1, held-by-dead 1 because of 1, timer-overdue 1", "another finding is a root of its own");
}

/* --- coroutines that end waits -------------------------------------------------------------------------------------------- */

/* It runs, suspends once, and runs again. */
static void goes_once(uint64_t ts, uint64_t co)
{
	resumes(&h, ts, co, 6);
	suspends(&h, ts + 1, co, 6, 9);
	is_woken(&h, ts + 2, co, 5, 0);
	resumes(&h, ts + 3, co, 6);
}

/*
 * Clients wait for jobs that they spawn, a new one each time: the last jobs never start. A habit keeps fewer wakers than there were, so
 * the spawn site tells.
 */
static const char *jobs(void)
{
	uint64_t job = 1000;
	begin();
	for (uint64_t co = 1; co <= 3; co++) {
		is_born(&h, 1, co, CLIENT);
		resumes(&h, 2, co, 5);
	}
	for (uint64_t i = 0; i < ROUNDS; i++)
		for (uint64_t co = 1; co <= 3; co++) {
			uint64_t ts = (1 + 3 * i + co) * MS;
			is_born(&h, ts, ++job, JOB);
			suspends(&h, ts + 1, co, 5, 8);
			goes_once(ts + 2, job);
			is_woken(&h, ts + 13, co, 6, job);
			dies(&h, ts + 14, job);
			resumes(&h, ts + 15, co, 5);
		}
	for (uint64_t co = 1; co <= 3; co++) {
		is_born(&h, 200 * MS, ++job, JOB);
		suspends(&h, 200 * MS + co, co, 5, 8);
	}
	over();
	return roots;
}

static void test_spawn_sites(void)
{
	is(jobs(), "never-started 3, possible 3 because of 1", "of wakers that are too many, the spawn site tells the root");
}

/* Two sorts of coroutines wake each other in turn, at two places, until one of them forgets the other. */
static const char *in_turn(void)
{
	begin();
	for (uint64_t co = 1; co <= 6; co++) {
		is_born(&h, 1, co, co % 2 ? CLIENT : JOB);
		resumes(&h, 2, co, 5);
		suspends(&h, 3, co, 5, co % 2 ? 8 : 9);
	}
	for (uint64_t i = 0; i < 2 * ROUNDS; i++)
		for (uint64_t co = 1 + i % 2; co <= 6; co += 2) {
			uint64_t ts = (1 + i) * MS + 10 * co, other = co % 2 ? co + 1 : co - 1;
			is_woken(&h, ts, co, 5, i ? other : 0);
			resumes(&h, ts + 1, co, 5);
			if (i + 1 < 2 * ROUNDS)
				is_woken(&h, ts + 2, other, 5, co);
			suspends(&h, ts + 3, co, 5, co % 2 ? 8 : 9);
		}
	over();
	return roots;
}

static void test_circle(void)
{
	is(in_turn(), "possible 3, possible 3 because of 1", "of two that only each other can end, the graver one is the root");
}

/* The coroutine that ends the waits of the others hangs in a call, where no wait has ended; or goes on. */
static const char *hung_call(bool hangs, bool returned)
{
	begin();
	healthy();
	is_born(&h, 200 * MS, VICTIM, MAKER);
	resumes(&h, 201 * MS, VICTIM, 5);
	if (returned)
		goes_round(202 * MS, VICTIM, WAKER);
	suspends(&h, 210 * MS, VICTIM, 5, WAITS);
	if (hangs)
		suspends(&h, 211 * MS, WAKER, 6, CALL);
	else
		waker_goes_on();
	over();
	return roots;
}

static void test_call(void)
{
	is(hung_call(true, true), "suspended 1", "a waiter of a finding is no finding");
	is(hung_call(true, false), "never-woken 1, never-woken 1 because of 1",
	   "a wait that only stands out is likely, and the root, if a likely finding is because of it");
	is(title, "1 coroutine waits at site 60 for 2.79 s; no other wait there has ended", "the call");
	is(suspected, "", "it is in no other list");
	is(hung_call(false, false), "never-woken 1", "a coroutine that still moves is no root");
}

/* It waits at a place for one thing, and is woken and resumed within a few moments. */
static void passes(uint64_t ts, uint64_t co, enum ctp_waits_for what, uint64_t object, uint64_t site, uint64_t by)
{
	waits_for(&h, ts, co, what, object);
	suspends(&h, ts + 1, co, 5, site);
	is_woken_for(&h, ts + 2, co, 6, by, object);
	resumes(&h, ts + 3, co, 5);
}

/*
 * A feeder gives to two queues, whose takers have one spawn site. One of them then hangs in a call, or ends; and soon the feeder waits
 * for room in that queue.
 */
static const char *feeder(bool hangs)
{
	enum { FEEDER = 1, TAKER = 2, OTHER_TAKER = 3 };
	begin();
	for (uint64_t co = 1; co <= 3; co++) {
		is_born(&h, 1, co, co == FEEDER ? CLIENT : JOB);
		resumes(&h, 2, co, 5);
	}
	for (uint64_t i = 0; i < 4 * ROUNDS; i++) {
		uint64_t ts = (1 + i) * MS, taker = i % 2 ? TAKER : OTHER_TAKER, queue = i % 2 ? A : B;
		passes(ts, FEEDER, CTP_WAITS_ROOM, queue, 8, taker);
		passes(ts + 10, taker, CTP_WAITS_ITEM, queue, 9, FEEDER);
	}
	if (hangs)
		suspends(&h, 200 * MS, TAKER, 5, CALL);
	else
		dies(&h, 200 * MS, TAKER);
	waits_for(&h, 200 * MS, OTHER_TAKER, CTP_WAITS_ITEM, B);
	suspends(&h, 200 * MS + 1, OTHER_TAKER, 5, 9);
	has(&h, 210 * MS, A, CTP_WAITS_ROOM, 0);
	waits_for(&h, 210 * MS, FEEDER, CTP_WAITS_ROOM, A);
	suspends(&h, 210 * MS + 1, FEEDER, 5, 8);
	over();
	return roots;
}

static void test_feeder(void)
{
	ok(strstr(feeder(true), "because of 1"), "who uses the other end of a queue ends the waits there: %s", roots);
	ok(strstr(title, " at site 60 "), "and a call is the root: %s", title);
	is(feeder(false), "peer-ended 1, never-woken 1 because of 1", "whose taker has ended is the root itself");
}

/* A coroutine sleeps in a call on one thread, and another one that was woken is not resumed by any. */
static const char *blocked(bool blocks)
{
	begin();
	healthy();
	is_born(&h, 200 * MS, VICTIM, MAKER);
	resumes(&h, 201 * MS, VICTIM, THREAD);
	suspends(&h, 202 * MS, VICTIM, THREAD, WAITS);
	suspends(&h, 202 * MS + 1, WAKER, OTHER, 9);
	is_born(&h, 202 * MS + 2, VICTIM + 2, MAKER);
	resumes(&h, 202 * MS + 3, VICTIM + 2, OTHER);
	suspends(&h, 202 * MS + 4, VICTIM + 2, OTHER, WAITS);
	is_woken(&h, 202 * MS + 5, WAKER, OTHER, 0);
	resumes(&h, 202 * MS + 6, WAKER, OTHER);
	is_woken(&h, 203 * MS, VICTIM, OTHER, WAKER);
	is_woken(&h, 203 * MS + 1, VICTIM + 2, OTHER, WAKER);
	if (!blocks)
		suspends(&h, 203 * MS + 2, WAKER, OTHER, 9);
	for (uint64_t ms = 300; ms <= 2900; ms += 100) {
		is_sampled(&h, ms * MS, THREAD, 100 * MS, 0, CTP_SAMPLE_SLEEPING);
		is_sampled(&h, ms * MS, OTHER, 10 * MS, 0, CTP_SAMPLE_SLEEPING);
		round_ends(&h, ms * MS, 2);
	}
	over();
	return roots;
}

static void test_blocked(void)
{
	is(blocked(true), "blocking-call 1, woken-not-resumed 1 because of 1", "a blocked thread resumes nothing");
	is(blocked(false), "woken-not-resumed 2", "a thread that is idle could");
}

/* --- circles -------------------------------------------------------------------------------------------------------------- */

/* Pairs of coroutines wait for one another to end. */
static const char *joined(uint64_t pairs)
{
	begin();
	for (uint64_t co = 1; co <= 2 * pairs; co++) {
		is_born(&h, 1, co, co % 2 ? CLIENT : JOB);
		resumes(&h, 2, co, 5);
	}
	for (uint64_t co = 1; co <= 2 * pairs; co++) {
		joins(&h, 3, co, co % 2 ? co + 1 : co - 1);
		suspends(&h, 4, co, 5, co % 2 ? 8 : 9);
	}
	over();
	return roots;
}

/* Two coroutines have a permit each, of two or three, and want another one. A third one may have the last. */
static void permits(bool third)
{
	scene();
	has_so(&h, 5, A, CTP_WAITS_PERMITS, 2 + third, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
	for (uint64_t co = 1; co <= (third ? 3 : 2); co++) {
		runs((100 + co) * MS, co);
		gets(&h, (100 + co) * MS + 1, co, A, 1);
		if (co < 3)
			waits_so(&h, (100 + co) * MS + 2, co, CTP_WAITS_PERMITS, A, 1, 0);
		else
			waits_so(&h, (100 + co) * MS + 2, co, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		stops((100 + co) * MS + 3, co);
	}
	has(&h, 110 * MS, A, CTP_WAITS_PERMITS, 0);
	over();
}

static void test_circles(void)
{
	is(joined(1), "wait-cycle 2", "two coroutines join one another");
	is(title, "2 coroutines wait for one another in a circle, at site 8 and site 9", "in one circle");
	is(next, "each waits for another one to end: let one of them go on without that, or cancel it", "there are no locks");
	is(joined(3), "wait-cycle 6", "circles that look alike are one finding");
	is(title, "6 coroutines wait for one another in 3 circles, at site 8 and site 9", "which counts them");
	ok(strstr(why, "coroutine #1 awaits coroutine #2 at site 8\ncoroutine #2 awaits coroutine #1 at site 9\nand so in 2 other circles\n"),
	   "and shows one of them: %s", why);
	permits(false);
	ok(strstr(why, "1 of them held by coroutine #2 for ") && strstr(why, "1 of them held by coroutine #1 for "),
	   "each waits for the permit of the other: %s", why);
	ok(strstr(why, ", and 1 by itself\n"), "and has one itself");
	is(next, "if these are locks, take them in one order everywhere; else one of the waits must go", "these can be taken in an order");
	permits(true);
	ok(strstr(why, ", 1 by itself, and 1 by others\n"), "another one has the last: %s", why);
}

int main(void)
{
	test_circles();
	test_blocked();
	test_feeder();
	test_objects();
	test_spawn_sites();
	test_circle();
	test_call();
	return done_testing();
}
