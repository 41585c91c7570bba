/* report-processes: what the report finds in several processes, and in a program that the collector attached to. */
#include "judged.h"

/* --- other processes ------------------------------------------------------------------------------------------------------ */

/* The thread of those who wait is there then, in a process of its own. */
static void child_is_seen(uint64_t ts)
{
	static const struct {
		uint32_t len;
		char data[2];
	} name = {1, "x"};
	BYHAND(&h, CTP_THREAD, [CTP_THREAD_TS] = ts, [CTP_THREAD_TID] = 5, [CTP_THREAD_PID] = BYHAND_PID + 1,
	       [CTP_THREAD_NAME] = ctp_val_str((const struct ctp_str *)&name));
}

/* The child was seen so at ts, and last otherwise at after. */
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

/* Nobody tells when a child ends, and those who wait in it are not alive any more. */
static void children(void)
{
	with_child();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "one that waits in a child, which has done nothing since, may have ended with it");

	with_child();
	for (uint64_t ts = 1900 * MS; ts < 1950 * MS; ts += 3 * MS)
		goes_round(ts, 3, WAKER);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "but not if the child goes on");

	with_child();
	child_is_seen(1500 * MS);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "or is seen, and then nobody knows what became of it");

	with_child();
	child_is_seen(215 * MS);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "but that counts up to then, and no further");

	with_child();
	child_is(1500 * MS, 1500 * MS, CTP_PROCESS_EXECUTING);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "its process may be seen alive, as of a program that another one has started");

	with_child();
	child_is(1500 * MS, 1900 * MS, CTP_PROCESS_EXITING);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "or exiting, and alive before");

	with_child();
	child_is(215 * MS, 1900 * MS, CTP_PROCESS_EXITING);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "but who waits in a process that ended soon does not wait on");

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
	is(end(), "wait-cycle likely 3", "a circle in a child that is seen");

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
	is(end(), "", "a child that waits for work from outside is idle");
}

/* --- what was before ------------------------------------------------------------------------------------------------------ */

static const char *const late_collector[] = {"pid", "100", "attached", "yes", "start_ns", "1000000000", "recorded", "no", NULL};

/* Of those who were there before, births are told and no more: they may have run long ago. */
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
	is(end(), "", "who was there before is neither never started, nor did they become more");

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
	is(end(), "suspended likely 1", "of one that suspended before, it is not known that nobody woke it");
}

int main(void)
{
	children();
	attached();
	return done_testing();
}
