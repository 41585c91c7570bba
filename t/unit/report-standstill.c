/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-standstill: programs that stand still as a whole, and programs that only seem to. */
#include "judged.h"

enum { HOG = 3, READY = 4, HUB = 9, FIRST = 100, HOME = 30, REST = 20, LOCK = 21, PEER = 8 };

/* Two coroutines wake one another until 200 ms, and then wait for each other's lock, where none has waited before. */
static void two_locks(void)
{
	begin();
	is_born(&h, 1, HOG, MAKER);
	is_born(&h, 1, READY, MAKER);
	for (uint64_t ts = MS; ts < 200 * MS; ts += 4 * MS)
		for (uint64_t co = HOG; co <= READY; co++) {
			if (ts > MS)
				is_woken(&h, ts + co * 1000 - 500, co, THREAD, co == HOG ? READY : HOG);
			resumes(&h, ts + co * 1000, co, THREAD);
			suspends(&h, ts + co * 1000 + 100, co, THREAD, REST);
		}
	for (uint64_t co = HOG; co <= READY; co++) {
		is_woken(&h, 201 * MS + co - 1, co, THREAD, co == HOG ? READY : HOG);
		resumes(&h, 201 * MS + 10 * co, co, THREAD);
		suspends(&h, 201 * MS + 10 * co + 1, co, THREAD, LOCK + co);
	}
}

static const char *over(void)
{
	is_over(&h, 6 * S, CTP_OUTCOME_KILLED);
	return end();
}

static void standstill(void)
{
	two_locks();
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "standstill likely 2", "a standstill is found if two rounds of samples show all threads asleep");

	two_locks();
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_BLOCKED);
	is(over(), "standstill likely 2", "it is found if the threads are blocked");

	two_locks();
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(end(), "standstill likely 2", "it is found if the trace was truncated after that");

	two_locks();
	is_born(&h, 202 * MS, PEER, 0);
	resumes(&h, 203 * MS, PEER, THREAD);
	joins(&h, 204 * MS, PEER, HOG);
	suspends(&h, 204 * MS, PEER, THREAD, WAITS);
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "standstill likely 2", "a coroutine that awaits one of them is no finding of its own");
	is(tree, "8 awaits 3", "it is listed under that one");

	two_locks();
	is_born(&h, 202 * MS, PEER, 0);
	resumes(&h, 203 * MS, PEER, THREAD);
	waits_for(&h, 204 * MS, PEER, CTP_WAITS_ITEM, 0x1000);
	suspends(&h, 204 * MS, PEER, THREAD, WAITS);
	has_so(&h, 205 * MS, 0x1000, 0, 0, CTP_OBJECT_CLOSED);
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "closed-not-woken likely 1", "a closed queue with a waiter is the finding, without a standstill beside it");

	two_locks();
	dies(&h, 202 * MS, READY);
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "", "a single waiter at a new place is no standstill: it may wait for another program");
}

static void standstill_unseen(void)
{
	two_locks();
	is(over(), "", "without samples there is no standstill");

	two_locks();
	is_sampled(&h, 1500 * MS, THREAD, 1, 0, CTP_SAMPLE_SLEEPING);
	round_ends(&h, 1500 * MS, 1);
	is(over(), "", "with one round of samples there is none");

	two_locks();
	sampled_twice(1500 * MS, 2 * S + 400 * MS, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "", "with two rounds in too short a time there is none");

	two_locks();
	sampled_twice(1500 * MS, 3 * S, 1, CTP_SAMPLE_SLEEPING);
	is(over(), "", "if a thread used CPU time between the rounds there is none");

	two_locks();
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_RUNNING);
	is(over(), "", "if a thread runs there is none");

	two_locks();
	is_sampled(&h, 1500 * MS, THREAD, 1, 0, CTP_SAMPLE_SLEEPING);
	round_ends(&h, 1500 * MS, 1);
	sampled_twice(1500 * MS + 1, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "standstill likely 2", "a round with another number of threads is ignored");

	two_locks();
	is_sampled(&h, 1500 * MS, THREAD, 1, 0, CTP_SAMPLE_SLEEPING);
	round_ends(&h, 1500 * MS, 2);
	is_sampled(&h, 3 * S, THREAD, 1, 0, CTP_SAMPLE_SLEEPING);
	round_ends(&h, 3 * S, 2);
	is(over(), "", "a round that lacks a thread does not count");

	two_locks();
	sampled_twice(150 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "", "if there was an event after the first round there is none");

	two_locks();
	are_missed(&h, 300 * MS, 301 * MS, THREAD);
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "", "if a wake is missing there is none");

	two_locks();
	BYHAND(&h, CTP_UNTRACED, [CTP_UNTRACED_TS] = 300 * MS, [CTP_UNTRACED_COUNT] = 3);
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "untraced proved 3", "if a coroutine is not traced there is none: it may wait for a timer");

	two_locks();
	is_born(&h, 401 * MS, 60, 0);
	resumes(&h, 402 * MS, 60, THREAD);
	suspends(&h, 403 * MS, 60, THREAD, 50);
	is_woken(&h, 404 * MS, 60, THREAD, 0);
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	end();
	ok(!strstr(found, "standstill"), "if a coroutine is ready to run there is none: %s", found);
}

/* From 202 ms on: a pool whose work is done, and whose waker has ended. */
static void parked_pool(void)
{
	is_born(&h, 202 * MS, HUB, 0);
	resumes(&h, 202 * MS, HUB, OTHER);
	for (uint64_t co = FIRST; co < FIRST + 4; co++)
		is_born(&h, 203 * MS, co, 77);
	for (uint64_t ts = 204 * MS; ts < 600 * MS; ts += 4 * MS)
		for (uint64_t co = FIRST; co < FIRST + 4; co++) {
			if (ts > 204 * MS)
				is_woken(&h, ts + co - 1, co, OTHER, HUB);
			resumes(&h, ts + 2 * co, co, THREAD);
			suspends(&h, ts + 2 * co + 1, co, THREAD, 78);
		}
	dies(&h, 600 * MS, HUB);
}

/* A coroutine that waits where only a timer or a client wakes it. */
static void standstill_outside(void)
{
	begin();
	is_born(&h, 1, PEER, 0);
	for (uint64_t ts = MS; ts < 400 * MS; ts += 4 * MS) {
		if (ts > MS)
			is_woken(&h, ts - 1, PEER, OTHER, 0);
		resumes(&h, ts, PEER, THREAD);
		suspends(&h, ts + 1, PEER, THREAD, HOME);
	}
	is_born(&h, 400 * MS, HOG, MAKER);
	resumes(&h, 401 * MS, HOG, THREAD);
	suspends(&h, 402 * MS, HOG, THREAD, LOCK);
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "", "if a coroutine waits where something from outside wakes it there is none");

	begin();
	parked_pool();
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "", "a parked pool is no standstill");
	two_locks();
	parked_pool();
	sampled_twice(1500 * MS, 3 * S, 0, CTP_SAMPLE_SLEEPING);
	is(over(), "standstill likely 2", "a parked pool is no part of a standstill");
}

int main(void)
{
	standstill();
	standstill_unseen();
	standstill_outside();
	return done_testing();
}
