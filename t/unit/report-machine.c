/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-machine: what the machine took is no part of the longest wait. A coroutine waited for 190 ms because the thread of its
 * waker was ready, and had no processor; a lost wake is found beside that wait, as if it had been short.
 */
#include "judged.h"

enum { LATE = 60, HELD = 61, CLOCKED = 7 };

/* LATE waits from 210 to 400 ms. The run of HELD that wakes it began on thread CLOCKED at 212 ms. */
static void waits_for_held(void)
{
	is_born(&h, 200 * MS, LATE, MAKER);
	is_born(&h, 200 * MS, HELD, MAKER);
	resumes(&h, 201 * MS, LATE, 5);
	suspends(&h, 210 * MS, LATE, 5, WAITS);
	resumes(&h, 212 * MS, HELD, CLOCKED);
}

static void wakes_late(uint64_t ts)
{
	is_woken(&h, ts, LATE, CLOCKED, HELD);
	dies(&h, ts + 1, HELD);
	resumes(&h, ts + MS, LATE, 5);
	dies(&h, ts + 2 * MS, LATE);
}

static void victim_waits(uint64_t from)
{
	is_born(&h, from - 9 * MS, VICTIM, MAKER);
	resumes(&h, from - 8 * MS, VICTIM, 5);
	goes_round(from - 7 * MS, VICTIM, WAKER);
	suspends(&h, from, VICTIM, 5, WAITS);
	dies(&h, from + MS, WAKER);
}

/* A sample of CLOCKED every 20 ms: each finds it ready. cpu: how much it ran in between. */
static void sampled_ready(uint64_t from, uint64_t to, uint64_t cpu)
{
	for (uint64_t ts = from; ts <= to; ts += 20 * MS)
		is_sampled(&h, ts, CLOCKED, 5 * MS + (ts - from) / (20 * MS) * cpu, 0, CTP_SAMPLE_RUNNING);
}

static const char *story(uint64_t cpu, uint64_t delay)
{
	begin();
	healthy();
	waits_for_held();
	sampled_ready(235 * MS, 375 * MS, cpu);
	wakes_late(400 * MS);
	is_sampled(&h, 420 * MS, CLOCKED, 8 * MS + 7 * cpu, delay, CTP_SAMPLE_SLEEPING);
	victim_waits(500 * MS);
	is_over(&h, 2100 * MS, CTP_OUTCOME_KILLED);
	return end();
}

static void test_stall_of_waker(void)
{
	is(story(0, 187 * MS), "never-woken likely 1", "a wait that a stall of the waker's thread made long hides no lost wake");
	ok(strstr(why, "the longest took 190 ms") && strstr(why, "without the time in which a thread was ready"),
	   "the report has the longest wait with the stall, and without it");
	is(story(20 * MS, 0), "", "a wait for a computation of the waker counts as it is");
	is(story(0, 0), "never-woken likely 1", "the samples alone show most of the stall, whatever the kernel counts");
}

/* The waker is ready, and not resumed: all threads are in runs, and without a processor. */
static const char *pause_of_all(bool stalled)
{
	begin();
	healthy();
	is_born(&h, 200 * MS, LATE, MAKER);
	is_born(&h, 200 * MS, HELD, MAKER);
	resumes(&h, 201 * MS, LATE, 5);
	suspends(&h, 210 * MS, LATE, 5, WAITS);
	is_born(&h, 211 * MS, CHILDREN + 50, MAKER);
	resumes(&h, 211 * MS, CHILDREN + 50, CLOCKED);
	for (uint64_t ts = 235 * MS; ts <= 375 * MS; ts += 20 * MS)
		is_sampled(&h, ts, CLOCKED, 5 * MS, 0, stalled ? CTP_SAMPLE_RUNNING : CTP_SAMPLE_SLEEPING);
	dies(&h, 390 * MS, CHILDREN + 50);
	is_sampled(&h, 391 * MS, CLOCKED, 6 * MS, stalled ? 178 * MS : 0, CTP_SAMPLE_SLEEPING);
	resumes(&h, 392 * MS, HELD, 5);
	is_woken(&h, 393 * MS, LATE, 5, HELD);
	dies(&h, 393 * MS + 1, HELD);
	resumes(&h, 394 * MS, LATE, 5);
	dies(&h, 395 * MS, LATE);
	victim_waits(500 * MS);
	is_over(&h, 2100 * MS, CTP_OUTCOME_KILLED);
	return end();
}

static void test_pause(void)
{
	is(pause_of_all(true), "never-woken likely 1", "nor does one that a stall of the whole program made long");
	is(pause_of_all(false), "", "a pause in which threads slept is the program's own");
}

/* The trace ends in a stall of the machine, which a healthy wait has spent its time in. */
static const char *ends_in_stall(enum ctp_sample_state state)
{
	begin();
	healthy();
	is_born(&h, 200 * MS, HELD, MAKER);
	is_born(&h, 200 * MS, VICTIM, MAKER);
	resumes(&h, 201 * MS, VICTIM, 5);
	goes_round(202 * MS, VICTIM, WAKER);
	suspends(&h, 210 * MS, VICTIM, 5, WAITS);
	dies(&h, 211 * MS, WAKER);
	resumes(&h, 212 * MS, HELD, CLOCKED);
	for (uint64_t ts = 235 * MS; ts <= 815 * MS; ts += 20 * MS)
		is_sampled(&h, ts, CLOCKED, 5 * MS, 0, state);
	is_over(&h, 820 * MS, CTP_OUTCOME_KILLED);
	return end();
}

static void test_end(void)
{
	is(ends_in_stall(CTP_SAMPLE_RUNNING), "", "a wait that lasts because the machine stalls is not far too long");
	is(ends_in_stall(CTP_SAMPLE_SLEEPING), "never-woken likely 1, blocking-call likely 1", "with threads asleep it is");
}

/*
 * One was woken at 600 ms, and is ready until 1.5 s, where another was ready for 40 ms. Thread 5 runs coroutines for all of the
 * time, or none and then for used of it something else, which samples show. Thread once ran one coroutine in the beginning, or 0.
 */
static const char *ready(uint64_t once, bool busy, uint64_t used, uint64_t delayed)
{
	begin();
	if (once) {
		is_born(&h, 1, HELD, MAKER);
		resumes(&h, 2, HELD, once);
		dies(&h, 3, HELD);
	}
	healthy();
	is_born(&h, 200 * MS, LATE, MAKER);
	resumes(&h, 201 * MS, LATE, 5);
	suspends(&h, 202 * MS, LATE, 5, WAITS);
	is_woken(&h, 203 * MS, LATE, 6, WAKER);
	resumes(&h, 243 * MS, LATE, 5);
	is_born(&h, 244 * MS, VICTIM, MAKER);
	for (uint64_t ts = 250 * MS; ts < 1490 * MS; ts += 10 * MS) {
		suspends(&h, ts, LATE, 5, WAITS);
		is_woken(&h, ts + MS / 100, LATE, 6, WAKER);
		resumes(&h, ts + MS / 50 + (busy ? 0 : 5 * MS), LATE, 5);
		if (!busy)
			suspends(&h, ts + 6 * MS, LATE, 5, WAITS), is_woken(&h, ts + 6 * MS + 1, LATE, 6, WAKER), resumes(&h, ts + 9 * MS, LATE, 5);
		if (ts == 400 * MS)
			resumes(&h, ts + 1, VICTIM, 5), suspends(&h, ts + 2, VICTIM, 5, WAITS);
		if (ts == 600 * MS)
			is_woken(&h, ts + MS / 10, VICTIM, 6, WAKER);
		if (used && ts % (100 * MS) == 0)
			is_sampled(&h, ts + 9 * MS, 5, ts / 100 * used, ts / 100 * delayed, CTP_SAMPLE_RUNNING);
	}
	is_over(&h, 1500 * MS, CTP_OUTCOME_KILLED);
	return end();
}

static void test_ready(void)
{
	is(ready(0, false, 0, 0), "woken-not-resumed likely 1", "a coroutine is ready for long, and a thread is idle");
	is(ready(0, true, 0, 0), "", "if all threads run coroutines, it is only not its turn");
	is(ready(9, true, 0, 0), "", "a thread that ran one coroutine once is not one that is idle");
	is(ready(0, false, 95, 0), "", "nor is one that is on a processor");
	is(ready(0, false, 5, 90), "", "nor one that would be, and the machine gives it none");
	is(ready(0, false, 5, 5), "woken-not-resumed likely 1", "one that sleeps is");
}

int main(void)
{
	test_ready();
	test_stall_of_waker();
	test_pause();
	test_end();
	return done_testing();
}
