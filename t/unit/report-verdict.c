/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-verdict: waits, made by hand, and the findings they give. For each rule there is one program that it finds, and there are
 * programs that lack one premise each, in which it finds nothing. Rules about running coroutines are in report-held.
 */
#include "judged.h"

enum { HOG = 3, READY = 4, PEER = 8, LOCK = 21, HOME = 30, INNER = 31, HUB_RESTS = 32, DISK = 33, HUB = 9, FIRST = 100, MANY = 20, HELPER = 1000 };

/* The victim waits from 210 ms on, and no other coroutine is left. */
static void left_alone(void)
{
	begin();
	with_victim();
	dies(&h, 215 * MS, WAKER);
}

/* --- when the program could do something ---------------------------------------------------------------------------------- */

static void stops(void)
{
	left_alone();
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "a coroutine that waits for long, with no other left, is found");
	ok(strstr(why, "41 coroutines were spawned at site 7; 40 have ended\n"), "the finding says how many have ended: %s", why);

	begin();
	healthy();
	is_born(&h, 200 * MS, VICTIM, MAKER);
	resumes(&h, 201 * MS, VICTIM, 5);
	goes_round(202 * MS, VICTIM, WAKER);
	suspends(&h, 204 * MS, VICTIM, 5, 77);
	is_woken(&h, 205 * MS, VICTIM, 5, WAKER);
	resumes(&h, 206 * MS, VICTIM, 5);
	suspends(&h, 210 * MS, VICTIM, 5, WAITS);
	dies(&h, 215 * MS, WAKER);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "it is found after a wait elsewhere");
	ok(strstr(why, "its previous wait, at site 77, was ended by coroutine #2, which has ended"), "the finding has that place: %s", why);

	left_alone();
	becomes(&h, 220 * MS, 230 * MS, CTP_PROCESS_STOPPED);
	becomes(&h, 1900 * MS, 1950 * MS, CTP_PROCESS_EXECUTING);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "time in which the program was stopped is no waiting time");

	left_alone();
	becomes(&h, 220 * MS, 230 * MS, CTP_PROCESS_STOPPED);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "", "the same holds if the program was never continued");

	left_alone();
	becomes(&h, 220 * MS, 230 * MS, CTP_PROCESS_STOPPED);
	is_born(&h, 240 * MS, HOG, 0); /* it continued before that was seen */
	dies(&h, 241 * MS, HOG);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "an event ends the time in which it was stopped");

	left_alone();
	BYHAND(&h, CTP_PROCESS, [CTP_PROCESS_TS] = 230 * MS, [CTP_PROCESS_PID] = BYHAND_PID + 1, [CTP_PROCESS_AFTER] = 220 * MS,
	       [CTP_PROCESS_STATE] = CTP_PROCESS_STOPPED);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "another process that is stopped does not matter");

	left_alone();
	is_over_since(&h, 260 * MS, 2 * S, CTP_OUTCOME_EXITED, 0);
	is(end(), "", "time in which the program was shut down is no waiting time");
	is(still, "1 in findings 0 for 50", "the listed wait excludes that time");

	left_alone();
	is_sampled(&h, 1900 * MS, OTHER, 1, 0, CTP_SAMPLE_RUNNING);
	is(end(), "", "in a truncated trace, a wait lasts up to the last event");
	left_alone();
	is_sampled(&h, 1900 * MS, OTHER, 1, 0, CTP_SAMPLE_RUNNING);
	is_sampled(&h, 1950 * MS, OTHER, 2, 0, CTP_SAMPLE_RUNNING);
	is(end(), "never-woken likely 1", "or up to the last look but one, before which all events were recorded");
	is(still, "1 in findings 1 for 1690", "the listed wait ends there");

	left_alone();
	is_over_since(&h, 1900 * MS, 2 * S, CTP_OUTCOME_EXITED, 0);
	is(end(), "never-woken likely 1", "a wait lasts up to when the process was last seen executing");
}

/* --- who waits for whom --------------------------------------------------------------------------------------------------- */

/* Three coroutines in a circle since 300 ms; those before the limit join the next, the others await it. */
/* A coroutine that was spawned like the victim is destroyed while it waits. */
static void with_a_destroyed_one(void)
{
	begin();
	with_victim();
	is_born(&h, 211 * MS, 3, MAKER);
	resumes(&h, 212 * MS, 3, 5);
	suspends(&h, 213 * MS, 3, 5, WAITS);
	dies(&h, 214 * MS, 3);
	dies(&h, 215 * MS, WAKER);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "never-woken likely 1", "a coroutine is found after a sibling was destroyed");
	ok(strstr(why, "42 coroutines were spawned at site 7; 40 have ended, and 1 was destroyed while it was suspended\n"),
	   "the finding counts the destroyed one: %s", why);
}

static void circle(uint64_t limit)
{
	begin();
	for (uint64_t co = 60; co < 63; co++)
		is_born(&h, 1, co, 0);
	for (uint64_t co = 60; co < 63; co++) {
		uint64_t ts = 300 * MS + co * 10, target = co == 62 ? 60 : co + 1;
		resumes(&h, ts, co, THREAD);
		(co < limit ? joins : awaits)(&h, ts + 1, co, target);
		suspends(&h, ts + 2, co, THREAD, 9);
	}
}

static void circles(void)
{
	circle(63);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle proved 3", "three coroutines that join one another are a proved deadlock");

	circle(63);
	is_over(&h, 301 * MS, CTP_OUTCOME_RUNNING);
	is(end(), "wait-cycle proved 3", "it is proved from the moment at which the circle is closed");

	circle(62);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 3", "with an await it is likely: an await may have a time-out");

	circle(63);
	are_missed(&h, 400 * MS, 401 * MS, THREAD);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle unknown 3", "if a wake is missing it is unknown");

	circle(63);
	is(end_so(false, false), "wait-cycle likely 3", "in a truncated trace it is likely");

	circle(63);
	is_woken(&h, 400 * MS, 61, OTHER, 0);
	is_over(&h, 410 * MS, CTP_OUTCOME_KILLED);
	end();
	ok(!strstr(found, "cycle"), "it is not found if one of them was woken: %s", found);
}

/* A chain of coroutines that await the next; the last one awaits the stuck one. */
static void trees(void)
{
	begin();
	with_victim();
	for (uint64_t co = 60; co < 63; co++)
		is_born(&h, 211 * MS, co, 0);
	for (uint64_t co = 60; co < 63; co++) {
		resumes(&h, 212 * MS + 10 * co, co, THREAD);
		awaits(&h, 212 * MS + 10 * co + 1, co, co == 62 ? VICTIM : co + 1);
		suspends(&h, 212 * MS + 10 * co + 2, co, THREAD, 9);
	}
	dies(&h, 215 * MS, WAKER);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "a coroutine that awaits a stuck one is no finding of its own");
	ok(strstr(tree, "60 awaits 61") && strstr(tree, "61 awaits 62") && strstr(tree, "62 awaits 1"),
	   "it is in the tree of the finding: %s", tree);
}

/* --- waits that ended at last --------------------------------------------------------------------------------------------- */

/* `others` wait there later, and are resumed. */
static const char *ends_late(uint64_t by, uint64_t others)
{
	begin();
	with_victim();
	is_born(&h, 200 * MS, PEER, MAKER); /* a second coroutine does the same, before any is resumed */
	resumes(&h, 201 * MS, PEER, THREAD);
	suspends(&h, 202 * MS, PEER, THREAD, WAITS);
	is_woken(&h, 330 * MS, PEER, OTHER, by);
	resumes(&h, 331 * MS, PEER, THREAD);
	dies(&h, 332 * MS, PEER);
	for (uint64_t co = 200; co < 200 + others; co++) {
		uint64_t ts = (co - 170) * 10 * MS;
		is_born(&h, ts, co, MAKER);
		resumes(&h, ts + 1, co, THREAD);
		goes_round(ts + 2, co, WAKER);
		dies(&h, ts + 2 * MS, co);
	}
	is_woken(&h, 1500 * MS, VICTIM, OTHER, by);
	resumes(&h, 1501 * MS, VICTIM, THREAD);
	dies(&h, 1502 * MS, VICTIM);
	dies(&h, 1503 * MS, WAKER);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	return end();
}

static void late(void)
{
	is(ends_late(0, 40), "woken-late likely 2", "a wait that a time-out ended, though coroutines usually end it, is found");
	is(ends_late(WAKER, 40), "", "a long wait that a coroutine ended is no finding");
	is(ends_late(0, 0), "", "it is no finding if no other one was resumed meanwhile");

	/* All waits there are ended from outside. */
	begin();
	is_born(&h, 1, PEER, MAKER);
	for (uint64_t ts = MS; ts < 400 * MS; ts += 4 * MS) {
		if (ts > MS)
			is_woken(&h, ts - 1, PEER, OTHER, 0);
		resumes(&h, ts, PEER, THREAD);
		suspends(&h, ts + 1, PEER, THREAD, HOME);
	}
	is_woken(&h, 1500 * MS, PEER, OTHER, 0);
	resumes(&h, 1501 * MS, PEER, THREAD);
	is_over(&h, 1502 * MS, CTP_OUTCOME_KILLED);
	is(end(), "", "a long wait for a client is no finding");
}

/* --- where they rest ------------------------------------------------------------------------------------------------------ */

/* A session rests at its usual place until a client comes, and asks the hub, which reads from its disk and answers. */
static uint64_t helpers; /* coroutines that answer in turn, in place of the hub */

static void session(uint64_t ts, uint64_t co, bool answered)
{
	is_woken(&h, ts, co, OTHER, 0);
	resumes(&h, ts + 1000, co, THREAD);
	is_woken(&h, ts + 2000, HUB, THREAD, co);
	suspends(&h, ts + 3000, co, THREAD, INNER);
	resumes(&h, ts + 4000, HUB, OTHER);
	suspends(&h, ts + 5000, HUB, OTHER, DISK);
	is_woken(&h, ts + 6000, HUB, OTHER, 0);
	resumes(&h, ts + 7000, HUB, OTHER);
	if (answered)
		is_woken(&h, ts + 8000, co, OTHER, helpers ? HELPER + ts / MS % helpers : HUB);
	suspends(&h, ts + 9000, HUB, OTHER, HUB_RESTS);
	if (!answered)
		return;
	resumes(&h, ts + 10000, co, THREAD);
	suspends(&h, ts + 11000, co, THREAD, HOME);
}

/* Twenty sessions, three times each. */
static void sessions(void)
{
	begin();
	is_born(&h, 1, HUB, 0);
	resumes(&h, 2, HUB, OTHER);
	suspends(&h, 3, HUB, OTHER, HUB_RESTS);
	for (uint64_t i = 0; i < helpers; i++) {
		is_born(&h, 4, HELPER + i, 0);
		resumes(&h, 5, HELPER + i, OTHER);
		suspends(&h, 6, HELPER + i, OTHER, HUB_RESTS);
	}
	for (uint64_t co = FIRST; co < FIRST + MANY; co++) {
		is_born(&h, 10 * co, co, MAKER);
		resumes(&h, 10 * co + 1, co, THREAD);
		suspends(&h, 10 * co + 2, co, THREAD, HOME);
	}
	for (uint64_t n = 0; n < 6 * MANY; n++)
		session(MS + n * MS, FIRST + n % MANY, true);
}

static void away(void)
{
	sessions();
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	is(end(), "", "resting sessions are no finding, however many there are");

	sessions();
	for (uint64_t n = 0; n < MANY; n++)
		session(200 * MS + n * MS, FIRST + n, false);
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	is(end(), "never-woken likely 20", "sessions that all wait for an answer are found");
	ok(strstr(why, "they are not idle"), "the finding says that they rest elsewhere");
	ok(strstr(why, "\nall 120 of these were ended by coroutine #9, which is suspended too"),
	   "the finding names the coroutine that ended all other waits there: %s", why);
	for (helpers = 3; helpers <= 12; helpers += 9) {
		sessions();
		for (uint64_t n = 0; n < MANY; n++)
			session(200 * MS + n * MS, FIRST + n, false);
		is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
		end();
		ok(strstr(why, helpers == 3 ? "\nall 120 of these were ended by coroutines: coroutine #1001, coroutine #1002, coroutine #1000\n" :
		          "coroutine #1003 and more than 5 others\n"), "of several coroutines, it names three: %s", why);
	}
	helpers = 0;

	/* The hub still waits for its disk. */
	sessions();
	is_woken(&h, 190 * MS, HUB, THREAD, FIRST);
	resumes(&h, 191 * MS, HUB, OTHER);
	suspends(&h, 192 * MS, HUB, OTHER, DISK);
	for (uint64_t co = FIRST; co < FIRST + MANY; co++) {
		uint64_t ts = 200 * MS + (co - FIRST) * MS;
		is_woken(&h, ts, co, OTHER, 0);
		resumes(&h, ts + 1000, co, THREAD);
		suspends(&h, ts + 3000, co, THREAD, INNER);
	}
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	is(end(), "", "sessions that wait for a busy hub are no finding");
}

/* --- those that were made ------------------------------------------------------------------------------------------------- */

/* Each round it spawns a child, waits for it, and is woken by it. */
static void parent_waits(uint64_t rounds, bool last_wakes, bool last_ends)
{
	begin();
	is_born(&h, 1, PEER, MAKER);
	resumes(&h, 2, PEER, THREAD);
	for (uint64_t n = 0; n < rounds; n++) {
		uint64_t ts = MS + n * 4 * MS, child = FIRST + n;
		bool last = n + 1 == rounds;
		is_made(&h, ts, child, 71, PEER, false);
		suspends(&h, ts + 1000, PEER, THREAD, 70);
		resumes(&h, ts + 2000, child, OTHER);
		if (!last || last_wakes)
			is_woken(&h, ts + MS, PEER, OTHER, child);
		if (!last || last_ends)
			dies(&h, ts + MS + 1000, child);
		if (!last || last_wakes)
			resumes(&h, ts + MS + 2000, PEER, THREAD);
	}
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
}

static void children(void)
{
	parent_waits(40, true, true);
	is(end(), "", "a coroutine that its children wake is no finding");
	parent_waits(40, false, true);
	is(end(), "never-woken likely 1", "it is found if it has no children left and none has woken it");
	ok(strstr(why, "children of the waiting coroutine ended such waits before"), "the finding gives that reason");
	parent_waits(40, false, false);
	end();
	ok(!strstr(found, "woken"), "it is not found if a child is alive: %s", found);
}

/*
 * Each round it spawns a child that waits for its signal, sleeps, gives the signal and waits for the child's end. It is woken when
 * the child has ended, on the child's thread. In the last round there is no signal.
 */
static void parent_joins(uint64_t child_of, uint64_t told_on)
{
	enum { SLEEPS = 73, WORD = 72, JOINS = 70 };
	begin();
	is_born(&h, 1, PEER, MAKER);
	resumes(&h, 2, PEER, THREAD);
	for (uint64_t n = 0; n < 40; n++) {
		uint64_t ts = MS + n * 4 * MS, child = FIRST + n;
		is_made(&h, ts, child, 71, child_of, false);
		suspends(&h, ts + 1000, PEER, THREAD, SLEEPS);
		resumes(&h, ts + 2000, child, OTHER);
		suspends(&h, ts + 3000, child, OTHER, WORD);
		is_woken(&h, ts + MS, PEER, 9, 0);
		resumes(&h, ts + MS + 1000, PEER, THREAD);
		if (n < 39)
			is_woken(&h, ts + MS + 2000, child, THREAD, PEER);
		suspends(&h, ts + MS + 3000, PEER, THREAD, JOINS);
		if (n == 39)
			break;
		resumes(&h, ts + MS + 4000, child, OTHER);
		dies(&h, ts + MS + 5000, child);
		is_woken(&h, ts + MS + 6000, PEER, told_on, 0);
		resumes(&h, ts + MS + 7000, PEER, THREAD);
	}
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	end();
}

static void joined(void)
{
	parent_joins(PEER, OTHER);
	is(found, "never-woken likely 1", "a child that gets no signal, while its parent waits for its end, is found");
	ok(strstr(why, "its parent waits for it"), "the finding is about the child: %s", why);
	is(tree, "8 needs 139", "the parent is listed under the child");
	parent_joins(0, OTHER);
	ok(!strstr(why, "its parent waits for it"), "ends of coroutines that are not its children do not count: %s", found);
	parent_joins(PEER, 9);
	ok(!strstr(why, "its parent waits for it"), "a wake on another thread may have another cause: %s", found);
}

/* --- closed circles ------------------------------------------------------------------------------------------------------- */

/* Two coroutines wake one another, and then both wait. Some rounds may begin from outside. */
static void ping_pong(uint64_t outside)
{
	begin();
	is_born(&h, 1, HOG, MAKER);
	is_born(&h, 1, READY, 0);
	for (uint64_t n = 0; n < 100; n++)
		for (uint64_t co = HOG; co <= READY; co++) {
			uint64_t ts = MS + n * 4 * MS + co * 100000;
			if (n)
				is_woken(&h, ts, co, THREAD, outside && n % outside == 0 ? 0 : HOG + READY - co);
			resumes(&h, ts + 1000, co, THREAD);
			suspends(&h, ts + 2000, co, THREAD, 80 + co);
		}
}

static void closed(void)
{
	ping_pong(0);
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	is(end(), "never-woken likely 1", "two coroutines that only wake one another are one finding");
	ok(strstr(why, "every living coroutine that has ended such a wait before") && tree[0],
	   "the second is listed under the first: %s", tree);
	ping_pong(5);
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	is(end(), "", "they are no finding if something from outside wakes them sometimes");
	ping_pong(0);
	sampled_twice(1500 * MS, 2 * S + 800 * MS, 0, CTP_SAMPLE_SLEEPING);
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	is(end(), "never-woken likely 1", "sleeping threads do not make another finding");
}

/* --- where nobody ever was ------------------------------------------------------------------------------------------------ */

/* One of the two waits where none has waited before, at once or later, and the other one waits for it, or has ended. */
static const char *fresh(bool needed, uint64_t later_ns)
{
	ping_pong(0);
	is_woken(&h, 402 * MS, HOG, THREAD, READY);
	resumes(&h, 403 * MS, HOG, THREAD);
	suspends(&h, 404 * MS + later_ns, HOG, THREAD, LOCK);
	if (!needed)
		dies(&h, 405 * MS, READY);
	is_over(&h, 6 * S, CTP_OUTCOME_KILLED);
	return end();
}

static void unheard(void)
{
	is(fresh(true, 0), "suspended likely 1", "a coroutine at a new place that another one needs is found");
	is(tree, "4 needs 3", "the other one is listed under it");
	ok(strstr(why, "hardly a coroutine from the same spawn site has ever returned from there"), "the finding gives the reason");
	is(fresh(false, 0), "", "it is no finding if no other one needs it");
	fresh(true, 500 * MS);
	ok(!strstr(why, "hardly a coroutine"), "it is not the cause if it could have woken the other for long: %s", found);
}

/* --- who is forgotten ----------------------------------------------------------------------------------------------------- */

/* This number of the children wait where none has waited before. */
static const char *forgotten(uint64_t number)
{
	begin();
	healthy();
	dies(&h, 201 * MS, WAKER);
	for (uint64_t co = 300; co < 300 + number; co++) {
		is_born(&h, 202 * MS, co, MAKER);
		resumes(&h, 203 * MS + co, co, THREAD);
		suspends(&h, 204 * MS + co, co, THREAD, WAITS);
		is_woken(&h, 205 * MS + co, co, OTHER, 0);
		resumes(&h, 206 * MS + co, co, THREAD);
		suspends(&h, 207 * MS + co, co, THREAD, 95);
	}
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	return end();
}

static void leaks(void)
{
	is(forgotten(3), "leaked likely 3", "three forgotten coroutines are found");
	is(forgotten(2), "", "one or two are not found");
}

enum { SESSION = 900, SESSIONS = 4, MADE_AT = 90, RESTS = 91, WRITES = 92, SENDER = 899, SENDS = 93 };

/*
 * Sessions wait for a message from another coroutine, and then for a socket, for write_ns. From 400 ms on the first one gets
 * no message any more.
 */
static const char *writers(uint64_t write_ns)
{
	begin();
	is_born(&h, 1, SENDER, 0);
	resumes(&h, 2, SENDER, OTHER);
	for (uint64_t i = 0; i < SESSIONS; i++) {
		is_born(&h, 3, SESSION + i, MADE_AT);
		resumes(&h, 4, SESSION + i, THREAD);
	}
	for (uint64_t ts = MS; ts < 1900 * MS; ts += 10 * MS)
		for (uint64_t i = ts < 400 * MS ? 0 : 1; i < SESSIONS; i++) {
			uint64_t co = SESSION + i;
			suspends(&h, ts + i, co, THREAD, RESTS);
			is_woken(&h, ts + 5 * MS + i, co, OTHER, SENDER);
			resumes(&h, ts + 5 * MS + 10 + i, co, THREAD);
			suspends(&h, ts + 5 * MS + 20 + i, co, THREAD, WRITES);
			is_woken(&h, ts + 5 * MS + 20 + write_ns + i, co, THREAD, 0);
			resumes(&h, ts + 5 * MS + 21 + write_ns + i, co, THREAD);
		}
	suspends(&h, 1901 * MS, SENDER, OTHER, SENDS);
	for (uint64_t i = 0; i < SESSIONS; i++)
		suspends(&h, i ? 1902 * MS : 401 * MS, SESSION + i, THREAD, RESTS);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	return end();
}

static void test_home(void)
{
	is(writers(4 * MS), "never-woken likely 1", "a coroutine that rests elsewhere, and is overtaken here, is found");
	ok(strstr(why, "\nall 610 of these were ended by coroutine #899, which still runs now and then\n"),
	   "the finding names the coroutine that used to end such waits: %s", why);
	is(writers(10000), "", "it is not found if it only passes the other place: it may be idle here");
}

int main(void)
{
	with_a_destroyed_one();
	stops();
	circles();
	trees();
	late();
	away();
	children();
	joined();
	closed();
	unheard();
	leaks();
	test_home();
	return done_testing();
}
