/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-rules: records made by hand, and what the report finds in them. Planted defects are found; where an event that was
 * lost, late or after the end could change the verdict, nothing is proved.
 */
#include "judged.h"

enum { SIBLING = 3 };

/* --- waits ---------------------------------------------------------------------------------------------------------------- */

static void never_woken(void)
{
	begin();
	healthy();
	dies(&h, 300 * MS, WAKER);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "a healthy program has no findings");

	begin();
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "a coroutine that waits until the program ends is found");

	begin();
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "never-woken likely 1", "a coroutine that waits while the program runs on is found");

	begin();
	with_victim();
	waker_goes_on();
	is(end_so(false, false), "never-woken likely 1", "it is found in a truncated trace");

	begin();
	with_victim();
	are_missed(&h, 300 * MS, 301 * MS, 5);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "suspended likely 1", "if wakes are missing, the rule is suspended instead of never-woken");

	begin();
	with_victim();
	are_lost(&h, 300 * MS, 301 * MS, VICTIM, 2);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken unknown 1", "if its own events are lost, the finding is unknown");

	begin();
	with_victim();
	are_lost(&h, 300 * MS, 301 * MS, 0, 2);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken unknown 1", "if events of unknown coroutines are lost, the finding is unknown");

	begin();
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end_so(false, true), "suspended unknown 1", "if packets are missing, the finding is unknown");

	begin();
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	h.late = true;
	is_woken(&h, 1000 * MS, VICTIM, 6, WAKER);
	resumes(&h, 1001 * MS, VICTIM, 5);
	dies(&h, 1002 * MS, VICTIM);
	is(end(), "", "a late record counts");
}

static void until(void)
{
	static const struct ctp_analysis_options options = {.until_ns = 1000 * MS};
	begin_with(&options, one_process);
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "with --until, records after that time prove nothing");

	begin_with(&options, one_process);
	with_victim();
	waker_goes_on();
	are_lost(&h, 900 * MS, 1910 * MS, VICTIM, 2);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken unknown 1", "a loss that began before that time makes the finding unknown");
}

/* Workers that wake one another at one place, and sometimes get work from outside: they are idle, which is no defect. */
static void idle_workers(enum ctp_outcome outcome, const char *name)
{
	begin();
	for (uint64_t co = 1; co <= 4; co++) {
		is_born(&h, co, co, MAKER);
		resumes(&h, co + 4, co, co);
		suspends(&h, co + 8, co, co, WAITS);
	}
	for (uint64_t n = 1; n < 400; n++) {
		uint64_t co = 1 + n % 4, by = 1 + (n + 3) % 4, ts = n * MS;
		is_woken(&h, ts, co, by, n % 10 ? by : 0);
		resumes(&h, ts + 1000, co, co);
		suspends(&h, ts + 2000, co, co, WAITS);
	}
	is_over(&h, 1300 * MS, outcome);
	is(end(), "", name);
}

static void not_resumed(void)
{
	begin();
	with_victim();
	is_woken(&h, 220 * MS, VICTIM, 6, WAKER);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "woken-not-resumed likely 1", "a coroutine that was woken and never resumed is found");

	begin();
	with_victim();
	is_woken(&h, 220 * MS, VICTIM, 6, WAKER);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "woken-not-resumed likely 1", "it is found while the program runs on");

	begin();
	with_victim();
	is_woken(&h, 220 * MS, VICTIM, 6, WAKER);
	waker_goes_on();
	is_born(&h, 1940 * MS, SIBLING, MAKER);
	resumes(&h, 1945 * MS, SIBLING, 5);
	suspends(&h, 1950 * MS, SIBLING, 5, WAITS);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	end();
	is(still, "1 in findings 1 for 1790, 1 in findings 0 for 50",
	   "waiters at the same place that are in no finding are a separate group");

	begin();
	with_victim();
	is_woken(&h, 220 * MS, VICTIM, 6, WAKER);
	is_over(&h, 319 * MS, CTP_OUTCOME_KILLED);
	is(end(), "", "a wake without a resume is no finding if the program ends within 100 ms");

	begin();
	healthy();
	is_woken(&h, 220 * MS, 3000, 6, WAKER);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "a wake of an unknown coroutine is no finding");

	begin();
	with_victim();
	h.late = true;
	is_woken(&h, 202 * MS + 1, VICTIM, 6, WAKER);
	h.late = false;
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "a late wake for an earlier wait does not end this one");

	begin();
	with_victim();
	is_born(&h, 215 * MS, 3, 0);
	resumes(&h, 216 * MS, 3, 5);
	is_woken(&h, 220 * MS, VICTIM, 6, WAKER);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "stalled-thread likely 1", "a coroutine whose thread is held by another is part of that finding");
}

/* --- whom they await ------------------------------------------------------------------------------------------------------ */

static void awaiting(uint64_t ts, uint64_t co, uint64_t target)
{
	resumes(&h, ts, co, 5);
	awaits(&h, ts + 1, co, target);
	suspends(&h, ts + 2, co, 5, 9);
}

static void circle(void)
{
	for (uint64_t co = 60; co < 63; co++)
		is_born(&h, 1, co, 0);
	for (uint64_t co = 60; co < 63; co++)
		awaiting(300 * MS + co * 10, co, co == 62 ? 60 : co + 1);
}

static void cycles(void)
{
	begin();
	circle();
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 3", "three coroutines that await one another are found");

	begin();
	circle();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "wait-cycle likely 3", "they are likely while the program runs");

	begin();
	circle();
	is_over(&h, 310 * MS, CTP_OUTCOME_RUNNING);
	is(end(), "", "a circle that is very new is not found");

	begin();
	circle();
	are_missed(&h, 400 * MS, 401 * MS, 5);
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "wait-cycle unknown 3", "if a wake is missing, a circle is unknown");

	begin();
	circle();
	are_lost(&h, 400 * MS, 401 * MS, 61, 1);
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "wait-cycle unknown 3", "if an event of one of them is lost, a circle is unknown");

	begin();
	is_born(&h, 1, 70, 0);
	for (uint64_t co = 60; co < 63; co++)
		resumes(&h, 2, co, 5);
	for (uint64_t co = 60; co < 63; co++)
		awaiting(300 * MS + co * 10, co, co == 62 ? 60 : co + 1);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle unknown 3", "if they have no births where others do, a circle is unknown");

	begin();
	circle();
	is_born(&h, 2 * S, 63, 0);
	is(end_so(false, false), "wait-cycle likely 3", "in a truncated trace a circle is likely");
}

/* n coroutines from 1000 on: each awaits the next, and the last one awaits the given one. */
static void chain(uint64_t n, uint64_t last)
{
	for (uint64_t co = 1000; co < 1000 + n; co++)
		is_born(&h, 1, co, 0);
	for (uint64_t co = 1000; co < 1000 + n; co++)
		awaiting(300 * MS, co, co == 999 + n ? last : co + 1);
}

/* Chains are followed in linear time: quadratic, these would take minutes. */
static void long_ways(void)
{
	begin();
	chain(100000, 1000);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 100000", "a circle of a hundred thousand is found");

	begin();
	circle();
	chain(100000, 60);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 3", "a chain that leads into a circle is not part of it");

	begin();
	chain(2, 1000);
	circle();
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 3, wait-cycle likely 2", "two circles are two findings");

	begin();
	healthy();
	is_born(&h, 200 * MS, 4, 0);
	chain(100000, 4);
	dies(&h, 310 * MS, 4);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "awaits-dead likely 1", "of a chain to an ended coroutine only the last one is found");

	begin();
	with_victim();
	chain(100, VICTIM);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "of a chain to a stuck coroutine only that one is found");
	ok(strstr(why, "\n100 others wait because of it\n"), "the finding counts the chain");
}

/* The same for a target that ended long ago and is forgotten, because many ended since. */
static void many_deaths(uint64_t ts)
{
	for (uint64_t i = 0; i < 20000; i++) {
		BYHAND(&h, CTP_BIRTH, [CTP_BIRTH_TS] = ts, [CTP_BIRTH_CORO] = 10000 + i, [CTP_BIRTH_AFTER] = ts);
		BYHAND(&h, CTP_DEATH, [CTP_DEATH_TS] = ts, [CTP_DEATH_CORO] = 10000 + i, [CTP_DEATH_AFTER] = ts);
	}
}

static void dead_ends(void)
{
	begin();
	healthy();
	is_born(&h, 200 * MS, 3, 0);
	is_born(&h, 200 * MS, 4, 0);
	awaiting(201 * MS, 3, 4);
	dies(&h, 300 * MS, 4);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "awaits-dead likely 1", "a coroutine that awaits an ended one is found");

	begin();
	healthy();
	is_born(&h, 200 * MS, 3, 0);
	is_born(&h, 200 * MS, 4, 0);
	awaiting(201 * MS, 3, 4);
	dies(&h, 300 * MS, 4);
	many_deaths(400 * MS);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "awaits-dead likely 1", "a coroutine that awaits a forgotten one is found");

	begin();
	healthy();
	is_born(&h, 200 * MS, 3, 0);
	is_born(&h, 200 * MS, 4, 0);
	awaiting(201 * MS, 3, 4);
	waker_goes_on();
	dies(&h, 1999 * MS, 4);
	many_deaths(1999 * MS);
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "", "it is not found if the target ended just before the end, with all others");

	begin();
	healthy();
	is_born(&h, 200 * MS, 3, 0);
	awaiting(201 * MS, 3, 999);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "", "an await of a coroutine that was never seen is no finding");

	begin();
	is_born(&h, 1, 3, 0);
	is_born(&h, 1, 4, 0);
	awaiting(MS, 3, 4);
	dies(&h, 2 * MS, 4);
	is_over(&h, 500 * MS, CTP_OUTCOME_RUNNING);
	is(end(), "", "without wakes an await of an ended coroutine is no finding: it may be ready");
}

/* --- who runs ------------------------------------------------------------------------------------------------------------- */

static void broken(void)
{
	begin();
	is_born(&h, 1, 3, 0);
	resumes(&h, 2, 3, 5);
	resumes(&h, 3, 3, 6);
	is_over(&h, 4, CTP_OUTCOME_EXITED);
	is(end(), "double-resume proved 1", "a resume of a running coroutine is proved");

	begin();
	is_born(&h, 1, 3, 0);
	resumes(&h, 2, 3, 5);
	are_lost(&h, 2, 3, 3, 1);
	resumes(&h, 3, 3, 6);
	is_over(&h, 4, CTP_OUTCOME_EXITED);
	is(end(), "", "with an event lost in between there may have been a suspension");

	begin();
	is_born(&h, 1, 3, 0);
	resumes(&h, 2, 3, 5);
	dies(&h, 3, 3);
	resumes(&h, 4, 3, 5);
	is_over(&h, 5, CTP_OUTCOME_EXITED);
	is(end(), "use-after-death proved 1", "a resume after death is proved");

	begin();
	is_born(&h, 1, 3, 0);
	resumes(&h, 2, 3, 5);
	suspends(&h, 3, 3, 5, WAITS);
	dies(&h, 9, 3);
	h.late = true;
	resumes(&h, 5, 3, 5);
	is_over(&h, 10, CTP_OUTCOME_EXITED);
	is(end(), "", "a resume before the death that arrives after it is no finding");
}

static void stalled(void)
{
	begin();
	with_victim();
	resumes(&h, 220 * MS, VICTIM, 5);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "", "a coroutine that runs on while others proceed is no finding");

	begin();
	with_victim();
	resumes(&h, 220 * MS, VICTIM, 5);
	waker_goes_on();
	is(end_so(false, false), "", "it is no finding in a truncated trace");
}

/* --- a loop that is blocked ----------------------------------------------------------------------------------------------- */

/* One thread waits for timers and runs five coroutines; one more then holds the thread for half a second or longer. */
static void blocked_loop(uint64_t by, uint64_t ns, bool sampled)
{
	uint64_t ts = MS;
	begin();
	for (uint64_t co = 10; co < 16; co++) {
		is_born(&h, ts, co, MAKER);
		resumes(&h, ts, co, 5);
		suspends(&h, ts + 10, co, 5, WAITS);
	}
	for (int round = 0; round < 20; round++, ts += 10 * MS)
		for (uint64_t co = 10; co < 16; co++) {
			is_woken(&h, ts + MS + co, co, 5, 0);
			resumes(&h, ts + 2 * MS + co, co, 5);
			if (round < 19 || co < 15)
				suspends(&h, ts + 2 * MS + co + 1, co, 5, WAITS);
		}
	uint64_t stop = ts + ns;
	if (sampled)
		is_sampled(&h, ts + ns / 2, 5, ns / 2, 0, CTP_SAMPLE_RUNNING);
	dies(&h, stop, 15);
	for (uint64_t co = 10; co < 15; co++)
		is_woken(&h, stop + co, co, 5, by);
	for (uint64_t co = 10; co < 15; co++) {
		resumes(&h, stop + 20 + 2 * co, co, 5);
		dies(&h, stop + 21 + 2 * co, co);
	}
	is_over(&h, stop + MS, CTP_OUTCOME_EXITED);
}

static void long_runs(void)
{
	blocked_loop(0, 700 * MS, true);
	is(end(), "long-run likely 1", "a coroutine that keeps its event loop from waking the others is found");
	blocked_loop(0, 700 * MS, false);
	is(end(), "", "without a sample of its thread it is not known whether that had a processor");
	blocked_loop(15, 700 * MS, true);
	is(end(), "", "it is not found if they waited for its result");
	blocked_loop(0, 100 * MS, true);
	is(end(), "", "it is not found if the machine may have stood still for as long");
}

/* Many coroutines are spawned at one place and run at once, except the last, which another one joins. */
static void joins_one_that_never_ran(void)
{
	begin();
	is_born(&h, 1, 60, 0);
	resumes(&h, 2, 60, 6);
	for (uint64_t co = 100; co < 130; co++) {
		is_born(&h, co * MS, co, MAKER);
		resumes(&h, co * MS + 1, co, 5);
		dies(&h, co * MS + 2, co);
	}
	is_born(&h, 200 * MS, VICTIM, MAKER);
	joins(&h, 201 * MS, 60, VICTIM);
	suspends(&h, 202 * MS, 60, 6, WAITS);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "never-started likely 1", "a coroutine that never ran is found");
	is(tree, "60 awaits 1", "the one that joins it is listed under it");
}

/* One coroutine waits for `ns` and is destroyed; before it, others from the same spawn site are destroyed after 40 ms each. */
static void until_destroyed(uint64_t before, uint64_t ns)
{
	begin();
	healthy();
	for (uint64_t co = 100; co < 100 + before; co++) {
		is_born(&h, 200 * MS + co, co, MAKER);
		resumes(&h, 201 * MS + co, co, 5);
		suspends(&h, 210 * MS + co, co, 5, WAITS);
	}
	for (uint64_t co = 100; co < 100 + before; co++)
		dies(&h, 250 * MS + co, co);
	is_born(&h, 300 * MS, VICTIM, MAKER);
	resumes(&h, 301 * MS, VICTIM, 5);
	suspends(&h, 310 * MS, VICTIM, 5, WAITS);
	dies(&h, 310 * MS + ns, VICTIM);
	suspends(&h, 1800 * MS, WAKER, 6, 9);
	is_woken(&h, 1801 * MS, WAKER, 5, 0);
	resumes(&h, 1802 * MS, WAKER, 6);
	dies(&h, 1900 * MS, WAKER);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	end();
}

static void destroyed(void)
{
	until_destroyed(0, 105 * MS);
	is(found, "destroyed-waiting likely 1", "a coroutine that waited until it was destroyed is found");
	until_destroyed(5, 105 * MS);
	is(found, "", "it is not found if others were destroyed after a little less: their waits have a time-out");
	until_destroyed(4, 105 * MS);
	is(found, "destroyed-waiting likely 1", "a few others do not prevent the finding");
	until_destroyed(5, 1000 * MS);
	is(found, "destroyed-waiting likely 1", "many others that waited for less than a tenth do not prevent the finding");
}

int main(void)
{
	never_woken();
	until();
	idle_workers(CTP_OUTCOME_KILLED, "workers that wait for work when the program is killed are idle");
	idle_workers(CTP_OUTCOME_RUNNING, "workers that wait for work when the program runs on are idle");
	not_resumed();
	cycles();
	long_ways();
	dead_ends();
	joins_one_that_never_ran();
	destroyed();
	broken();
	stalled();
	long_runs();
	return done_testing();
}
