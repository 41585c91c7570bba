/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-processes: what the report finds in several processes, and in a program that the collector attached to. */
#include "judged.h"

/* --- other processes ------------------------------------------------------------------------------------------------------ */

/* Puts the thread of the waiters into a process of its own. */
static void child_is_seen(uint64_t ts)
{
	static const struct {
		uint32_t len;
		char data[2];
	} name = {1, "x"};
	BYHAND(&h, CTP_THREAD, [CTP_THREAD_TS] = ts, [CTP_THREAD_TID] = 5, [CTP_THREAD_PID] = BYHAND_PID + 1,
	       [CTP_THREAD_NAME] = ctp_val_str((const struct ctp_str *)&name));
}

/* The child was seen in this state at ts, and in another at after. */
static void child_is(uint64_t after, uint64_t ts, enum ctp_process_state state)
{
	BYHAND(&h, CTP_PROCESS, [CTP_PROCESS_TS] = ts, [CTP_PROCESS_PID] = BYHAND_PID + 1, [CTP_PROCESS_AFTER] = after,
	       [CTP_PROCESS_STATE] = state);
}

static void with_child(void)
{
	begin();
	child_is_seen(1);
	with_victim();
	waker_goes_on();
}

/* The trace does not say when a child ends; its coroutines end with it. */
static void children(void)
{
	with_child();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "a wait in a child without later events is no finding: the child may have ended");

	with_child();
	for (uint64_t ts = 1900 * MS; ts < 1950 * MS; ts += 3 * MS)
		goes_round(ts, 3, WAKER);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "it is a finding if the child has later events");

	with_child();
	child_is_seen(1500 * MS);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "it is a finding if the child was seen alive later");

	with_child();
	child_is_seen(215 * MS);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "the child counts as alive only until it was last seen");

	with_child();
	child_is(1500 * MS, 1500 * MS, CTP_PROCESS_EXECUTING);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "it is a finding if the child's process was seen executing later");

	with_child();
	child_is(1500 * MS, 1900 * MS, CTP_PROCESS_EXITING);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "a process that is exiting was alive before");

	with_child();
	child_is(215 * MS, 1900 * MS, CTP_PROCESS_EXITING);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "a wait in a process that ended soon is no finding");

	begin();
	child_is_seen(1);
	for (uint64_t co = 60; co < 63; co++)
		is_born(&h, 1, co, 0);
	for (uint64_t co = 60, ts = 300 * MS; co < 63; co++, ts += 10) {
		resumes(&h, ts, co, 5);
		awaits(&h, ts + 1, co, co == 62 ? 60 : co + 1);
		suspends(&h, ts + 2, co, 5, 9);
	}
	child_is_seen(1500 * MS);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 3", "a circle in a child that was seen alive is found");

	begin();
	child_is_seen(1);
	for (uint64_t n = 0; n < 100; n++)
		for (uint64_t co = 10; co < 14; co++) {
			if (!n)
				is_born(&h, MS, co, MAKER);
			is_woken(&h, (2 * n + 1) * MS, co, 6, 0);
			resumes(&h, (2 * n + 1) * MS + 1, co, 5);
			suspends(&h, (2 * n + 1) * MS + 2, co, 5, WAITS);
		}
	child_is_seen(1900 * MS);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "", "a child that waits for work from outside is no finding");
}

/* --- what was before ------------------------------------------------------------------------------------------------------ */

static const char *const late_collector[] = {"pid", "100", "attached", "yes", "start_ns", "1000000000", "recorded", "no", NULL};

/* Coroutines that existed before the trace have only births in it: they may have run long ago. */
static void attached(void)
{
	begin_with(NULL, late_collector);
	for (uint64_t co = 1000; co < 1499; co++)
		is_born(&h, (co - 999) * 2 * MS, co, MAKER);
	is_born(&h, S, WAKER, 0);
	resumes(&h, S, WAKER, 6);
	for (uint64_t co = 10; co < 10 + CHILDREN; co++) {
		is_born(&h, S + co * MS, co, MAKER);
		resumes(&h, S + co * MS, co, 5);
		dies(&h, S + co * MS + 10, co);
	}
	is_over(&h, S + 100 * MS, CTP_OUTCOME_EXITED);
	is(end(), "", "coroutines from before the trace are neither never-started nor growth");

	begin_with(NULL, late_collector);
	is_born(&h, 10 * MS, VICTIM, MAKER);
	h.next[VICTIM] = 12;
	suspends(&h, 20 * MS, VICTIM, 5, WAITS);
	for (uint64_t co = 10; co < 10 + CHILDREN; co++) {
		is_born(&h, S + co * 5 * MS, co, MAKER);
		resumes(&h, S + co * 5 * MS, co, 5);
		goes_round(S + co * 5 * MS + 1, co, VICTIM);
		dies(&h, S + co * 5 * MS + 2 * MS, co);
	}
	is_over(&h, 3 * S, CTP_OUTCOME_EXITED);
	is(end(), "suspended likely 1", "a coroutine that suspended before the trace may have been woken before it");
}

int main(void)
{
	children();
	attached();
	return done_testing();
}
