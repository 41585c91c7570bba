/*
 * report-rules: records made by hand, and what the report finds in them. What is planted is found; and wherever an event that
 * is lost, late or behind the end could say otherwise, nothing is proved.
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
	is(end(), "", "where all is well there is nothing to say");

	begin();
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "one that waits until the program is over was never woken");

	begin();
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "never-woken likely 1", "one that waits while the program goes on may be woken yet");

	begin();
	with_victim();
	waker_goes_on();
	is(end_so(false, false), "never-woken likely 1", "and behind a cut it may have been");

	begin();
	with_victim();
	are_missed(&h, 300 * MS, 301 * MS, 5);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "suspended likely 1", "where wakes are missing, it is not known that nobody woke it");

	begin();
	with_victim();
	are_lost(&h, 300 * MS, 301 * MS, VICTIM, 2);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken unknown 1", "where its own events are lost, nothing is");

	begin();
	with_victim();
	are_lost(&h, 300 * MS, 301 * MS, 0, 2);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken unknown 1", "nor where they are anybody's");

	begin();
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end_so(false, true), "suspended unknown 1", "nor where packets are missing");

	begin();
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	h.late = true;
	is_woken(&h, 1000 * MS, VICTIM, 6, WAKER);
	resumes(&h, 1001 * MS, VICTIM, 5);
	dies(&h, 1002 * MS, VICTIM);
	is(end(), "", "what comes late counts");
}

static void until(void)
{
	static const struct ctp_analysis_options options = {.until_ns = 1000 * MS};
	begin_with(&options, one_process);
	with_victim();
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "up to a time, what comes behind it proves nothing");

	begin_with(&options, one_process);
	with_victim();
	waker_goes_on();
	are_lost(&h, 900 * MS, 1910 * MS, VICTIM, 2);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken unknown 1", "a loss that began before that time may have been before it");
}

/* Workers that wake one another at one place, and once in a while are given work from outside: idle, and nobody's fault. */
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
	is(end(), "woken-not-resumed likely 1", "one that was woken and never resumed");

	begin();
	with_victim();
	is_woken(&h, 220 * MS, VICTIM, 6, WAKER);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "woken-not-resumed likely 1", "may be resumed yet while the program goes on");

	begin();
	with_victim();
	is_woken(&h, 220 * MS, VICTIM, 6, WAKER);
	waker_goes_on();
	is_born(&h, 1940 * MS, SIBLING, MAKER);
	resumes(&h, 1945 * MS, SIBLING, 5);
	suspends(&h, 1950 * MS, SIBLING, 5, WAITS);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	end();
	is(still, "1 in findings 1 for 1790, 1 in findings 0 for 50", "who waits at the same place, and is in no finding, is apart");

	begin();
	with_victim();
	is_woken(&h, 220 * MS, VICTIM, 6, WAKER);
	is_over(&h, 319 * MS, CTP_OUTCOME_KILLED);
	is(end(), "", "the system may not have let it run, if that is all");

	begin();
	healthy();
	is_woken(&h, 220 * MS, 3000, 6, WAKER);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "a wake of one that nothing is known of was for one that is dead and forgotten");

	begin();
	with_victim();
	h.late = true;
	is_woken(&h, 202 * MS + 1, VICTIM, 6, WAKER);
	h.late = false;
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "a late wake for an earlier wait is none for this one");

	begin();
	with_victim();
	is_born(&h, 215 * MS, 3, 0);
	resumes(&h, 216 * MS, 3, 5);
	is_woken(&h, 220 * MS, VICTIM, 6, WAKER);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "stalled-thread likely 1", "one whose thread is busy with another all the time only suffers from that");
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
	is(end(), "wait-cycle likely 3", "three that await one another");

	begin();
	circle();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "wait-cycle likely 3", "as long as the program runs, a target may be an old one");

	begin();
	circle();
	is_over(&h, 310 * MS, CTP_OUTCOME_RUNNING);
	is(end(), "", "and one that has not waited for long is none");

	begin();
	circle();
	are_missed(&h, 400 * MS, 401 * MS, 5);
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "wait-cycle unknown 3", "unless a wake is missing");

	begin();
	circle();
	are_lost(&h, 400 * MS, 401 * MS, 61, 1);
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "wait-cycle unknown 3", "or an event of one of them");

	begin();
	is_born(&h, 1, 70, 0);
	for (uint64_t co = 60; co < 63; co++)
		resumes(&h, 2, co, 5);
	for (uint64_t co = 60; co < 63; co++)
		awaiting(300 * MS + co * 10, co, co == 62 ? 60 : co + 1);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle unknown 3", "or they have no births, where others do: they may be dead");

	begin();
	circle();
	is_born(&h, 2 * S, 63, 0);
	is(end_so(false, false), "wait-cycle likely 3", "or the trace was cut short");
}

/* So many, from 1000 on, of whom each awaits the next, and the last one that is told. */
static void chain(uint64_t n, uint64_t last)
{
	for (uint64_t co = 1000; co < 1000 + n; co++)
		is_born(&h, 1, co, 0);
	for (uint64_t co = 1000; co < 1000 + n; co++)
		awaiting(300 * MS, co, co == 999 + n ? last : co + 1);
}

/* However long a way is, each is passed a few times: quadratic, these would take minutes. */
static void long_ways(void)
{
	begin();
	chain(100000, 1000);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 100000", "a hundred thousand that await one another");

	begin();
	circle();
	chain(100000, 60);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 3", "a long chain that leads into a circle is none of it");

	begin();
	chain(2, 1000);
	circle();
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 3, wait-cycle likely 2", "two circles are two");

	begin();
	healthy();
	is_born(&h, 200 * MS, 4, 0);
	chain(100000, 4);
	dies(&h, 310 * MS, 4);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "awaits-dead likely 1", "of a chain to a dead one, only the last has reason to complain");

	begin();
	with_victim();
	chain(100, VICTIM);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "nor has a chain to one that is stuck");
	ok(strstr(why, "\n100 others wait because of it\n"), "but it is counted");
}

/* The same for a target that died long ago: so many died since that it is forgotten. */
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
	is(end(), "awaits-dead likely 1", "one that awaits a dead one");

	begin();
	healthy();
	is_born(&h, 200 * MS, 3, 0);
	is_born(&h, 200 * MS, 4, 0);
	awaiting(201 * MS, 3, 4);
	dies(&h, 300 * MS, 4);
	many_deaths(400 * MS);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "awaits-dead likely 1", "or one that is dead and forgotten");

	begin();
	healthy();
	is_born(&h, 200 * MS, 3, 0);
	is_born(&h, 200 * MS, 4, 0);
	awaiting(201 * MS, 3, 4);
	waker_goes_on();
	dies(&h, 1999 * MS, 4);
	many_deaths(1999 * MS);
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "", "but not one that died just before the end, with all the others");

	begin();
	healthy();
	is_born(&h, 200 * MS, 3, 0);
	awaiting(201 * MS, 3, 999);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_RUNNING);
	is(end(), "", "one that awaits somebody who was never seen proves nothing");

	begin();
	is_born(&h, 1, 3, 0);
	is_born(&h, 1, 4, 0);
	awaiting(MS, 3, 4);
	dies(&h, 2 * MS, 4);
	is_over(&h, 500 * MS, CTP_OUTCOME_RUNNING);
	is(end(), "", "where wakes are not told of, it may be in a queue for a while");
}

/* --- who runs ------------------------------------------------------------------------------------------------------------- */

static void broken(void)
{
	begin();
	is_born(&h, 1, 3, 0);
	resumes(&h, 2, 3, 5);
	resumes(&h, 3, 3, 6);
	is_over(&h, 4, CTP_OUTCOME_EXITED);
	is(end(), "double-resume proved 1", "a resume while it runs");

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
	is(end(), "use-after-death proved 1", "a resume after death");

	begin();
	is_born(&h, 1, 3, 0);
	resumes(&h, 2, 3, 5);
	suspends(&h, 3, 3, 5, WAITS);
	dies(&h, 9, 3);
	h.late = true;
	resumes(&h, 5, 3, 5);
	is_over(&h, 10, CTP_OUTCOME_EXITED);
	is(end(), "", "a resume before death that is told behind it is none");
}

static void stalled(void)
{
	begin();
	with_victim();
	resumes(&h, 220 * MS, VICTIM, 5);
	waker_goes_on();
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "", "one that runs and runs, while others go on, may be at work");

	begin();
	with_victim();
	resumes(&h, 220 * MS, VICTIM, 5);
	waker_goes_on();
	is(end_so(false, false), "", "also where the end is not there");
}

/* --- a loop that is blocked ----------------------------------------------------------------------------------------------- */

/* One thread waits for timers and runs who they wake: five of them, and one that then keeps it for half a second and more. */
static void blocked_loop(uint64_t by, uint64_t ns)
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
	blocked_loop(0, 700 * MS);
	is(end(), "long-run likely 1", "one that keeps a loop from waking the others");
	blocked_loop(15, 700 * MS);
	is(end(), "", "but not if they waited for what it did");
	blocked_loop(0, 100 * MS);
	is(end(), "", "nor if the machine may have stood still for as long");
}

/* Many are made at one place and run at once, but for the last, which another joins. */
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
	is(end(), "never-started likely 1", "one that never ran");
	is(tree, "60 awaits 1", "and who joins it waits because of it");
}

/* One that is made like the others waits for so long and is destroyed, and so many before it, after 40 ms each. */
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
	is(found, "destroyed-waiting likely 1", "one that waited until it was destroyed");
	until_destroyed(5, 105 * MS);
	is(found, "", "but not where others were destroyed after a little less: their waits have a time-out");
	until_destroyed(4, 105 * MS);
	is(found, "destroyed-waiting likely 1", "which a few do not show");
	until_destroyed(5, 1000 * MS);
	is(found, "destroyed-waiting likely 1", "nor many, if they waited for less than a tenth");
}

int main(void)
{
	never_woken();
	until();
	idle_workers(CTP_OUTCOME_KILLED, "workers that wait for work when the program is killed are idle");
	idle_workers(CTP_OUTCOME_RUNNING, "or when it goes on");
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
