/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-held: the rules about coroutines that hold a thread, wake themselves, are not resumed, grow in number, or ran at a crash.
 * Records are made by hand: for each rule one program that it finds, and programs that lack one premise each. Waits are in
 * report-verdict.
 */
#include <signal.h>

#include "judged.h"

enum { HOG = 3, READY = 4, PEER = 8, HUB = 9, FIRST = 100 };

/* --- who holds a thread --------------------------------------------------------------------------------------------------- */

enum { BUSY, ASLEEP, KEPT_OUT };

/* Two samples of the thread, 500 ms apart. */
static void sampled(uint64_t ts, int what)
{
	static const enum ctp_sample_state states[] = {CTP_SAMPLE_RUNNING, CTP_SAMPLE_SLEEPING, CTP_SAMPLE_RUNNING};
	uint64_t ns = 500 * MS;
	is_sampled(&h, ts, THREAD, 7 * MS, 3 * MS, states[what]);
	is_sampled(&h, ts + ns, THREAD, 7 * MS + (what == BUSY ? ns - 10 * MS : 0), 3 * MS + (what == KEPT_OUT ? ns - 10 * MS : 0), states[what]);
}

/* One coroutine holds the thread from 300 ms on, and another one that ran there is woken. */
static void held(bool by_hand, bool ready)
{
	begin();
	healthy();
	dies(&h, 205 * MS, WAKER);
	is_born(&h, 206 * MS, READY, 0);
	resumes(&h, 207 * MS, READY, THREAD);
	suspends(&h, 208 * MS, READY, THREAD, 50);
	is_made(&h, 290 * MS, HOG, 0, 0, by_hand);
	resumes(&h, 300 * MS, HOG, THREAD);
	if (ready)
		is_woken(&h, 310 * MS, READY, OTHER, 0);
}

static const char *still_held(void)
{
	is_over(&h, 1100 * MS, CTP_OUTCOME_KILLED);
	return end();
}

/* At 1 s it suspends, and the other one runs. */
static const char *held_until(void)
{
	suspends(&h, S, HOG, THREAD, 51);
	resumes(&h, S + MS, READY, THREAD);
	dies(&h, S + 2 * MS, READY);
	resumes(&h, S + 3 * MS, HOG, THREAD);
	dies(&h, S + 4 * MS, HOG);
	is_over(&h, S + 5 * MS, CTP_OUTCOME_EXITED);
	return end();
}

static void holds(void)
{
	static const struct {
		int what;
		const char *still, *until, *name;
	} runs[] = {
		{BUSY, "long-run proved 1", "long-run proved 1",
		 "a busy run is proved: CPU time is measured, another one was ready"},
		{ASLEEP, "blocking-call likely 1", "blocking-call likely 1", "a run that sleeps is a call that blocks"},
		{KEPT_OUT, "", "", "a thread that got no processor is no finding"},
	};
	for (int i = 0; i < 3; i++) {
		held(false, true);
		sampled(400 * MS, runs[i].what);
		is(still_held(), runs[i].still, runs[i].name);
		held(false, true);
		sampled(400 * MS, runs[i].what);
		is(held_until(), runs[i].until, "the same is found if it suspends later");
	}
	held(false, true);
	is(still_held(), "stalled-thread likely 1", "without samples it is unknown what the run does");
	held(false, true);
	is(held_until(), "", "without samples it is unknown what the run did, and whether it had a processor");
	held(false, true);
	is_sampled(&h, 900 * MS, THREAD, 600 * MS, 0, CTP_SAMPLE_RUNNING);
	is(still_held(), "stalled-thread likely 1", "one sample counts as none");
	held(false, true);
	is_sampled(&h, 900 * MS, THREAD, 600 * MS, 0, CTP_SAMPLE_RUNNING);
	is(held_until(), "long-run likely 1", "one sample counts as none for a run that ended");
	held(false, true);
	is_sampled(&h, 900 * MS, THREAD, 600 * MS, 0, CTP_SAMPLE_RUNNING);
	is_sampled(&h, 910 * MS, THREAD, 610 * MS, 0, CTP_SAMPLE_RUNNING);
	is(held_until(), "long-run likely 1", "two samples at nearly the same time count as one");

	held(false, true);
	sampled(400 * MS, ASLEEP);
	suspends(&h, S, HOG, THREAD, 51);
	is_over(&h, S + 5 * MS, CTP_OUTCOME_EXITED);
	is(end(), "blocking-call likely 1", "a coroutine that cannot run because its thread is blocked is no further finding");
	is(suspected, "", "it is no suspect");

	held(false, false);
	sampled(400 * MS, BUSY);
	is(still_held(), "", "a long run is no finding if no coroutine waits for its thread");
	held(true, true);
	sampled(400 * MS, BUSY);
	is(still_held(), "", "a coroutine that is traced by hand may have ended");

	held(false, true);
	sampled(400 * MS, BUSY);
	are_lost(&h, 500 * MS, 501 * MS, HOG, 2);
	is(still_held(), "woken-not-resumed unknown 1", "with a gap in its events the run may have ended");

	held(false, true);
	becomes(&h, 320 * MS, 330 * MS, CTP_PROCESS_STOPPED);
	becomes(&h, 950 * MS, 960 * MS, CTP_PROCESS_EXECUTING);
	is(held_until(), "", "a run during which a debugger stopped the program is no finding");

	held(false, true);
	is_sampled(&h, 900 * MS, THREAD, 600 * MS, 0, CTP_SAMPLE_RUNNING);
	suspends(&h, S, HOG, THREAD, 51);
	is_sampled(&h, S + 40 * MS, THREAD, 740 * MS, 0, CTP_SAMPLE_RUNNING);
	resumes(&h, S + 50 * MS, READY, THREAD);
	dies(&h, S + 51 * MS, READY);
	is_over(&h, S + 60 * MS, CTP_OUTCOME_KILLED);
	is(end(), "long-run likely 1", "a sample after the run does not count");

	for (int late = 0; late < 2; late++) { /* the same, and the thread was ready and not on a processor between the samples */
		held(false, true);
		is_sampled(&h, 301 * MS, THREAD, 100 * MS, 10 * MS, CTP_SAMPLE_RUNNING);
		suspends(&h, S, HOG, THREAD, 51);
		is_sampled(&h, S + 40 * MS, THREAD, 740 * MS, late ? 510 * MS : 200 * MS, CTP_SAMPLE_RUNNING);
		resumes(&h, S + 50 * MS, READY, THREAD);
		dies(&h, S + 51 * MS, READY);
		is_over(&h, S + 60 * MS, CTP_OUTCOME_KILLED);
		is(end(), late ? "" : "long-run likely 1", late ? "a run without a processor for half of the time is no finding" :
		                                                  "a run without a processor for less is a finding");
	}
}

/* The run of held_until with a sample of its thread at some time, and one after it. 0 ms: without that sample. */
static const char *sampled_at(uint64_t ms, uint64_t cpu_ms, enum ctp_sample_state state, uint64_t after_cpu_ms, uint64_t after_delay_ms)
{
	held(false, true);
	if (ms)
		is_sampled(&h, ms * MS, THREAD, cpu_ms * MS, 0, state);
	suspends(&h, S, HOG, THREAD, 51);
	if (after_cpu_ms)
		is_sampled(&h, S + MS / 2, THREAD, after_cpu_ms * MS, after_delay_ms * MS, CTP_SAMPLE_RUNNING);
	resumes(&h, S + MS, READY, THREAD);
	dies(&h, S + 2 * MS, READY);
	is_over(&h, S + 5 * MS, CTP_OUTCOME_EXITED);
	return end();
}

/* A run of 700 ms, and how long its thread can have been on a processor in that time. */
static void is_bounded(void)
{
	is(sampled_at(0, 0, 0, 360, 0), "long-run likely 1", "a thread that was on a processor for half of the run is a finding");
	is(sampled_at(0, 0, 0, 340, 0), "", "a thread that was on a processor for less since its start is no finding");
	is(sampled_at(250, 500, CTP_SAMPLE_RUNNING, 840, 0), "", "nor one that was for less between samples around the run");
	is(sampled_at(250, 500, CTP_SAMPLE_RUNNING, 900, 0), "long-run likely 1", "one that was for longer between these is found");
	is(sampled_at(500, 90, CTP_SAMPLE_RUNNING, 0, 0), "", "nor one that was for less than half of the time up to a sample in the run");
	is(sampled_at(315, 1, CTP_SAMPLE_RUNNING, 0, 0), "long-run likely 1", "a sample at the start of the run shows nothing");
	is(sampled_at(400, 200, CTP_SAMPLE_RUNNING, 0, 0), "long-run likely 1", "a sample early in the run does not show that");
	is(sampled_at(400, 200, CTP_SAMPLE_RUNNING, 300, 0), "", "but together with one after the run it does");
	is(sampled_at(400, 200, CTP_SAMPLE_SLEEPING, 300, 0), "long-run likely 1", "a thread that was seen asleep was not kept out");
	is(sampled_at(0, 0, 0, 700, 360), "", "a thread that was ready for half as long since its start may have been kept out");

	held(false, true);
	is_sampled(&h, 310 * MS, THREAD, 10 * MS, 0, CTP_SAMPLE_RUNNING);
	is_sampled(&h, 340 * MS, THREAD, 40 * MS, 0, CTP_SAMPLE_RUNNING);
	is(held_until(), "long-run likely 1", "two busy samples early in a run prove nothing about the rest");
	held(false, true);
	is_sampled(&h, 310 * MS, THREAD, 10 * MS, 0, CTP_SAMPLE_RUNNING);
	is_sampled(&h, 340 * MS, THREAD, 40 * MS, 0, CTP_SAMPLE_RUNNING);
	suspends(&h, S, HOG, THREAD, 51);
	is_sampled(&h, S + MS / 2, THREAD, 60 * MS, 0, CTP_SAMPLE_RUNNING);
	resumes(&h, S + MS, READY, THREAD);
	dies(&h, S + 2 * MS, READY);
	is_over(&h, S + 5 * MS, CTP_OUTCOME_EXITED);
	is(end(), "", "a busy start of a run that got no processor later is no finding");
}

/* --- storms --------------------------------------------------------------------------------------------------------------- */

static uint64_t others_before; /* earlier runs of the other one; if there are any, the yields alternate between two threads */

/* 8000 yields, 20 us apart, after runs of run_ns; the other coroutine runs in between, this often. */
static const char *yields(enum ctp_wake_how how, uint64_t run_ns, uint64_t other_each)
{
	uint64_t tid = THREAD;
	begin();
	is_born(&h, 1, HOG, MAKER);
	is_born(&h, 1, READY, 0);
	for (uint64_t n = 0; n < others_before; n++) {
		resumes(&h, 2 + 4 * n, READY, THREAD);
		suspends(&h, 3 + 4 * n, READY, THREAD, 90);
		is_woken_so(&h, 4 + 4 * n, READY, THREAD, 0, CTP_WAKE_CALL);
	}
	if (others_before) {
		resumes(&h, MS - 2, READY, THREAD);
		dies(&h, MS - 1, READY);
	}
	for (uint64_t n = 0; n < 8000; n++) {
		uint64_t ts = MS + n * 20000;
		if (others_before)
			tid = n % 2 ? THREAD : OTHER;
		resumes(&h, ts, HOG, tid);
		is_woken_so(&h, ts + run_ns - 1, HOG, tid, HOG, how);
		suspends(&h, ts + run_ns, HOG, tid, WAITS);
		if (other_each && n % other_each == 0) {
			resumes(&h, ts + 16000, READY, THREAD);
			is_woken_so(&h, ts + 17000, READY, THREAD, 0, CTP_WAKE_CALL);
			suspends(&h, ts + 18000, READY, THREAD, 90);
		}
	}
	is_over(&h, 162 * MS, CTP_OUTCOME_EXITED);
	return end();
}

/* The same in bursts of 6000 yields at this distance; between them it waits for something from outside. */
static const char *bursts(unsigned count, uint64_t apart_ns)
{
	begin();
	is_born(&h, 1, HOG, MAKER);
	for (uint64_t n = 0; n < count * 6000; n++) {
		uint64_t ts = MS + n * apart_ns;
		resumes(&h, ts, HOG, THREAD);
		is_woken(&h, ts + 100, HOG, THREAD, n % 6000 ? HOG : 0);
		suspends(&h, ts + 200, HOG, THREAD, WAITS);
	}
	is_over(&h, 2 * MS + count * 6000 * apart_ns, CTP_OUTCOME_EXITED);
	return end();
}

/*
 * A coroutine works for 50 us, and yields. After 20 yields it is done, and waits for something from outside; this is repeated
 * for this number of rounds. The last round never ends.
 */
static const char *polls(unsigned rounds)
{
	uint64_t ts = MS;
	begin();
	is_born(&h, 1, HOG, MAKER);
	resumes(&h, ts, HOG, THREAD);
	for (unsigned n = 0; n < rounds * 20 + 12000; n++) {
		bool done = n < rounds * 20 && n % 20 == 19;
		ts += 50000;
		if (!done)
			is_woken_so(&h, ts - 1, HOG, THREAD, HOG, CTP_WAKE_YIELD);
		suspends(&h, ts, HOG, THREAD, done ? 90 : WAITS);
		if (done)
			is_woken(&h, ts + 50000, HOG, THREAD, 0);
		ts += 60000;
		resumes(&h, ts, HOG, THREAD);
	}
	is_over(&h, ts + MS, CTP_OUTCOME_EXITED);
	return end();
}

static void storms(void)
{
	is(polls(25), "self-wake-storm likely 1", "a coroutine that polls a hundred times longer than usual is found");
	is(polls(10), "", "it is not found if it was rarely done before");
	is(bursts(8, 10000), "", "short bursts are not found, however many there are");
	is(bursts(2, 30000), "self-wake-storm likely 1", "a long burst is found");
	ok(strstr(why, "every 30.0 us"), "the finding says how often it yields: %s", why);
	is(yields(CTP_WAKE_YIELD, 1000, 0), "self-wake-storm likely 1",
	   "a coroutine that yields again and again with no other to run is found");
	is(yields(CTP_WAKE_CALL, 1000, 0), "self-wake-storm likely 1", "a coroutine that wakes itself again and again is found");
	others_before = 2250;
	is(yields(CTP_WAKE_YIELD, 1000, 0), "self-wake-storm likely 1, migration-storm likely 1",
	   "one that does so on alternating threads is found");
	others_before = 0;
	is(yields(CTP_WAKE_YIELD, 1000, 2), "", "one that lets others run is not found");
	is(yields(CTP_WAKE_YIELD, 15000, 0), "", "one that works between its yields is not found");
	is(yields(CTP_WAKE_STAYED, 1000, 0), "", "one that did not suspend is not found");
}

/* --- more and more -------------------------------------------------------------------------------------------------------- */

enum { CHILD = 10000, CHILD_MAKER = 9 };
static bool with_children;

/* 400 coroutines in 8 s; each lives for life_ns (0: until the end), and may still work at the end. */
static const char *more_and_more(uint64_t life_ns, bool work)
{
	begin();
	for (uint64_t n = 0; n < 400; n++) {
		uint64_t ts = MS + n * 20 * MS;
		is_born(&h, ts, FIRST + n, MAKER);
		resumes(&h, ts + 1, FIRST + n, THREAD);
		if (with_children) {
			is_made(&h, ts + 1, CHILD + n, CHILD_MAKER, FIRST + n, false);
			resumes(&h, ts + 1, CHILD + n, OTHER);
			suspends(&h, ts + 2, CHILD + n, OTHER, 51);
		}
		suspends(&h, ts + 2, FIRST + n, THREAD, 50);
		if (life_ns && n * 20 * MS >= life_ns)
			dies(&h, ts + 3, FIRST + n - life_ns / (20 * MS));
	}
	for (uint64_t n = 0; n < 400 && work; n++) {
		resumes(&h, 8 * S + 20 * MS + n, FIRST + n, THREAD);
		suspends(&h, 8 * S + 20 * MS + n + 1, FIRST + n, THREAD, 50);
	}
	is_over(&h, 8 * S + 100 * MS, CTP_OUTCOME_KILLED);
	return end();
}

/* Every second coroutine ends, and the others wait where it has waited; a parent may wait for each of these. */
static const char *more_are_stuck(bool parents)
{
	begin();
	healthy();
	for (uint64_t n = 0; n < 340; n++) {
		uint64_t ts = 210 * MS + n * 5 * MS;
		if (parents && n % 2) {
			is_born(&h, ts - 2, CHILD + n, CHILD_MAKER);
			resumes(&h, ts - 1, CHILD + n, 5);
		}
		is_made(&h, ts, FIRST + n, MAKER, parents && n % 2 ? CHILD + n : 0, false);
		if (parents && n % 2)
			suspends(&h, ts, CHILD + n, 5, 51);
		resumes(&h, ts + 1, FIRST + n, 5);
		if (n % 2) {
			suspends(&h, ts + 2, FIRST + n, 5, WAITS);
		} else {
			goes_round(ts + MS, FIRST + n, WAKER);
			dies(&h, ts + 3 * MS, FIRST + n);
		}
	}
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	return end();
}

static void growth(void)
{
	is(more_and_more(0, false), "growth likely 400", "coroutines that accumulate and do nothing are found");
	is(more_and_more(0, true), "", "coroutines that accumulate and work are growing load");
	is(more_and_more(3 * S, false), "", "coroutines that end as fast as they are spawned are not found");
	with_children = true;
	is(more_and_more(0, false), "growth likely 400", "their children are no other finding");
	ok(strstr(why, "400 of them wait at site 50"), "the finding says where they wait: %s", why);
	with_children = false;
	ok(!strncmp(more_are_stuck(false), "never-woken likely 1", 20) && !strstr(found, "growth"),
	   "coroutines of another finding do not count: %s", found);
	ok(!strncmp(more_are_stuck(true), "never-woken likely 1", 20) && !strstr(found, "growth"),
	   "parents that wait for those do not count: %s", found);
}

/* The first coroutines end after life_ns; later ones stay, and do something every 500 ms. */
static const char *left_over(uint64_t ended, uint64_t life_ns)
{
	begin();
	for (uint64_t n = 0; n < 400; n++) {
		uint64_t ts = MS + n * 10 * MS;
		is_born(&h, ts, FIRST + n, MAKER);
		resumes(&h, ts + 1, FIRST + n, THREAD);
		suspends(&h, ts + 2, FIRST + n, THREAD, 50);
		if (n < ended)
			dies(&h, ts + life_ns, FIRST + n);
		for (uint64_t old = n % 50; n >= ended && old < n; old += 50)
			if (old >= ended) {
				resumes(&h, ts + 1000 + old * 10, FIRST + old, THREAD);
				suspends(&h, ts + 1001 + old * 10, FIRST + old, THREAD, 50);
			}
	}
	is_over(&h, 4 * S + 10 * MS, CTP_OUTCOME_KILLED);
	return end();
}

static void old_ones(void)
{
	is(left_over(40, 2 * MS), "growth likely 360", "coroutines that stay where earlier ones ended soon are found");
	ok(strstr(why, "40 others made there have ended, after 2.00 ms at most"), "the finding says so: %s", why);
	is(left_over(10, 2 * MS), "", "they are not found if too few earlier ones have ended");
	is(left_over(40, 400 * MS), "", "they are not found if they are not much older than those became");
}

/* --- queues --------------------------------------------------------------------------------------------------------------- */

/* Woken at 220 ms. From then on the threads run other coroutines, for most of the time or hardly ever. */
static const char *not_resumed(uint64_t busy_ns, uint64_t end_ns)
{
	begin();
	with_victim();
	dies(&h, 215 * MS, WAKER);
	is_woken(&h, 220 * MS, VICTIM, OTHER, WAKER);
	is_born(&h, 220 * MS, PEER, 0);
	is_born(&h, 220 * MS, HUB, 0);
	for (uint64_t ts = 221 * MS; ts < end_ns - 5 * MS; ts += 5 * MS) {
		resumes(&h, ts, PEER, THREAD);
		resumes(&h, ts, HUB, OTHER);
		suspends(&h, ts + busy_ns, PEER, THREAD, 50);
		suspends(&h, ts + busy_ns, HUB, OTHER, 50);
	}
	is_over(&h, end_ns, CTP_OUTCOME_KILLED);
	return end();
}

static void queues(void)
{
	is(not_resumed(1 * MS, 2 * S), "woken-not-resumed likely 1",
	   "a coroutine that was woken and not resumed by idle threads is found");
	is(not_resumed(4900000, 900 * MS), "", "a coroutine of low priority, with busy threads, is not found");
	is(not_resumed(4900000, 2 * S), "woken-not-resumed likely 1",
	   "it is found after fifty times the longest time that another one was ready");
	ok(strstr(why, "and these always came first"), "the finding says so: %s", why);
}

/* --- the end -------------------------------------------------------------------------------------------------------------- */

static void crashes(void)
{
	static const struct {
		int signal;
		bool runs;
		const char *found, *name;
	} ends[] = {
		{SIGSEGV, true, "crash proved 1", "a fault while a coroutine runs is a crash of one coroutine"},
		{SIGABRT, false, "crash proved 0", "an abort while none runs is a crash"},
		{SIGTERM, true, "", "SIGTERM is no crash"},
		{SIGKILL, true, "", "SIGKILL is no crash"},
	};
	for (int i = 0; i < 4; i++) {
		begin();
		is_born(&h, 1, HOG, MAKER);
		resumes(&h, 2, HOG, THREAD);
		if (!ends[i].runs)
			suspends(&h, 3, HOG, THREAD, WAITS);
		is_over_since(&h, 4, 10 * MS, CTP_OUTCOME_KILLED, ends[i].signal);
		is(end(), ends[i].found, ends[i].name);
		ok(!strstr(why, "the last that had was") == (ends[i].signal != SIGABRT),
		   "the last coroutine that ran is named if none runs");
	}
	begin();
	is_born(&h, 1, HOG, MAKER);
	resumes(&h, 2, HOG, THREAD);
	are_lost(&h, 3, 4, HOG, 1);
	is_over_since(&h, 5, 10 * MS, CTP_OUTCOME_KILLED, SIGSEGV);
	is(end(), "crash proved 0", "a coroutine whose last events are lost is not counted as running");
	ok(strstr(why, "the trace may not have all that ran then") && !strstr(why, "the last that had was"),
	   "the finding says that such a coroutine may have run");
	begin();
	is_born(&h, 1, HOG, MAKER);
	resumes(&h, 2, HOG, THREAD);
	is_over_since(&h, 5, 10 * MS, CTP_OUTCOME_KILLED, SIGSEGV);
	is(end_so(false, true), "crash proved 0", "with missing packets no coroutine is counted as running");
	begin();
	with_victim();
	dies(&h, 215 * MS, WAKER);
	is_over_since(&h, 2 * S, 2 * S, CTP_OUTCOME_KILLED, SIGSEGV);
	is(end(), "crash proved 0, never-woken likely 1", "a crash is listed first");
}

int main(void)
{
	holds();
	is_bounded();
	storms();
	growth();
	old_ones();
	queues();
	crashes();
	return done_testing();
}
