/*
 * report-verdict: waits, made by hand, and what is proved or likely of them. Of each rule one program that it is for, and beside it
 * programs that lack one premise each: there it has to be silent. Those who run are in report-held.
 */
#include "judged.h"

enum { HOG = 3, READY = 4, PEER = 8, LOCK = 21, HOME = 30, INNER = 31, HUB_RESTS = 32, DISK = 33, HUB = 9, FIRST = 100, MANY = 20 };

/* The victim waits from 210 ms on, and nobody is left. */
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
	is(end(), "never-woken likely 1", "one that waits for long, and nobody is left");

	left_alone();
	becomes(&h, 220 * MS, 230 * MS, CTP_PROCESS_STOPPED);
	becomes(&h, 1900 * MS, 1950 * MS, CTP_PROCESS_EXECUTING);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "", "a program that was stopped did not wait");

	left_alone();
	becomes(&h, 220 * MS, 230 * MS, CTP_PROCESS_STOPPED);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "", "also if it never went on");

	left_alone();
	becomes(&h, 220 * MS, 230 * MS, CTP_PROCESS_STOPPED);
	is_born(&h, 240 * MS, HOG, 0); /* it went on before that was seen */
	dies(&h, 241 * MS, HOG);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "it goes on with the next that it does");

	left_alone();
	BYHAND(&h, CTP_PROCESS, [CTP_PROCESS_TS] = 230 * MS, [CTP_PROCESS_PID] = BYHAND_PID + 1, [CTP_PROCESS_AFTER] = 220 * MS,
	       [CTP_PROCESS_STATE] = CTP_PROCESS_STOPPED);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	is(end(), "never-woken likely 1", "and another process may be stopped");

	left_alone();
	is_over_since(&h, 260 * MS, 2 * S, CTP_OUTCOME_EXITED, 0);
	is(end(), "", "nor did it wait while it was torn down");
	is(still, "1 in findings 0 for 50", "which is no part of its time");

	left_alone();
	is_sampled(&h, 1900 * MS, OTHER, 1, 0, CTP_SAMPLE_RUNNING);
	is(end(), "", "of a trace that was cut short, it waited up to the last event");
	left_alone();
	is_sampled(&h, 1900 * MS, OTHER, 1, 0, CTP_SAMPLE_RUNNING);
	is_sampled(&h, 1950 * MS, OTHER, 2, 0, CTP_SAMPLE_RUNNING);
	is(end(), "never-woken likely 1", "or to the last look but one, behind which all was told");
	is(still, "1 in findings 1 for 1690", "and no longer");

	left_alone();
	is_over_since(&h, 1900 * MS, 2 * S, CTP_OUTCOME_EXITED, 0);
	is(end(), "never-woken likely 1", "but up to when it was last seen executing");
}

/* --- who waits for whom --------------------------------------------------------------------------------------------------- */

/* Three in a circle since 300 ms, of whom those before the limit join the next. */
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
	is(end(), "wait-cycle proved 3", "three that join one another never go on");

	circle(63);
	is_over(&h, 301 * MS, CTP_OUTCOME_RUNNING);
	is(end(), "wait-cycle proved 3", "from the moment on at which the circle is closed");

	circle(62);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle likely 3", "one that only awaits may have a time-out, or a lock that was handed on");

	circle(63);
	are_missed(&h, 400 * MS, 401 * MS, THREAD);
	is_over(&h, 2 * S, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle unknown 3", "a wake is missing");

	circle(63);
	is(end_so(false, false), "wait-cycle likely 3", "the trace was cut short");

	circle(63);
	is_woken(&h, 400 * MS, 61, OTHER, 0);
	is_over(&h, 410 * MS, CTP_OUTCOME_KILLED);
	end();
	ok(!strstr(found, "cycle"), "one of them was woken all the same: %s", found);
}

/* A chain of those who await the next, the last of them the one that is stuck. */
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
	is(end(), "never-woken likely 1", "who awaits one that is stuck is no finding of its own");
	ok(strstr(tree, "60 awaits 61") && strstr(tree, "61 awaits 62") && strstr(tree, "62 awaits 1"), "but in its tree: %s", tree);
}

/* --- waits that ended at last --------------------------------------------------------------------------------------------- */

/* So many others go to wait there later, and come back. */
static const char *ends_late(uint64_t by, uint64_t others)
{
	begin();
	with_victim();
	is_born(&h, 200 * MS, PEER, MAKER); /* the same, of another, before anybody came back */
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
	is(ends_late(0, 40), "woken-late likely 2", "a time-out ended a wait that coroutines end otherwise, far too late");
	is(ends_late(WAKER, 40), "", "one that a coroutine ended was slow");
	is(ends_late(0, 0), "", "nobody came back meanwhile: there may have been nothing to do");

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
	is(end(), "", "a client that thought for long");
}

/* --- where they rest ------------------------------------------------------------------------------------------------------ */

/* A session: it rests at home until a client comes, and asks the hub, which reads from its disk and answers. */
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
		is_woken(&h, ts + 8000, co, OTHER, HUB);
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
	is(end(), "", "sessions that rest are idle, however many");

	sessions();
	for (uint64_t n = 0; n < MANY; n++)
		session(200 * MS + n * MS, FIRST + n, false);
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	is(end(), "never-woken likely 20", "all of them wait for an answer: a fault, however many");
	ok(strstr(why, "they are not idle"), "for they rest elsewhere");

	/* The hub waits for its disk since before. */
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
	is(end(), "", "they wait for one that is in the middle of something");
}

/* --- those that were made ------------------------------------------------------------------------------------------------- */

/* Each round it makes one, waits for that at a place, and is woken by it. */
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
	is(end(), "", "one whose children wake it");
	parent_waits(40, false, true);
	is(end(), "never-woken likely 1", "one that has none any more, and none has woken it");
	ok(strstr(why, "children of the waiting coroutine ended such waits before"), "for that reason");
	parent_waits(40, false, false);
	end();
	ok(!strstr(found, "woken"), "one that is alive may do so yet: %s", found);
}

/*
 * Each round it makes one that waits for its word, sleeps, gives the word and waits for the end, of which it is told when that one is
 * dead, on the thread where it was. In the last round there is no word.
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
	is(found, "never-woken likely 1", "one that is told of the end of those it has made");
	ok(strstr(why, "its parent waits for it"), "the one to look at is the child: %s", why);
	is(tree, "8 needs 139", "and below it who waits for it");
	parent_joins(0, OTHER);
	ok(!strstr(why, "who made it"), "others than its children may have ended there by chance: %s", found);
	parent_joins(PEER, 9);
	ok(!strstr(why, "who made it"), "and something else may have woken it, elsewhere: %s", found);
}

/* --- closed circles ------------------------------------------------------------------------------------------------------- */

/* Two that wake one another, and then both wait. Some rounds may be begun from outside. */
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
	is(end(), "never-woken likely 1", "two that only one another could wake are one finding");
	ok(strstr(why, "every living coroutine that has ended such a wait before") && tree[0], "one leads, and the other needs it: %s", tree);
	ping_pong(5);
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	is(end(), "", "unless something from outside does so once in a while");
	ping_pong(0);
	sampled_twice(1500 * MS, 2 * S + 800 * MS, 0, CTP_SAMPLE_SLEEPING);
	is_over(&h, 3 * S, CTP_OUTCOME_KILLED);
	is(end(), "never-woken likely 1", "and that all threads sleep besides is no other");
}

/* --- where nobody ever was ------------------------------------------------------------------------------------------------ */

/* One of the two goes to wait where nobody ever has, at once or later, and the other one waits for it, or is gone. */
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
	is(fresh(true, 0), "suspended likely 1", "one that is where nobody ever was, and that another one needs, leads");
	is(tree, "4 needs 3", "the other one waits because of it");
	ok(strstr(why, "hardly a coroutine from the same spawn site has ever returned from there"), "and why is said");
	is(fresh(false, 0), "", "one that nobody needs may have retired");
	fresh(true, 500 * MS);
	ok(!strstr(why, "hardly any"), "one that could have woken the other for long is not why that waits: %s", found);
}

/* --- who is forgotten ----------------------------------------------------------------------------------------------------- */

/* So many of the children go to wait where nobody ever has. */
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
	is(forgotten(3), "leaked likely 3", "three that nobody comes back for");
	is(forgotten(2), "", "one or two may wait there for good reason");
}

enum { SESSION = 900, SESSIONS = 4, MADE_AT = 90, RESTS = 91, WRITES = 92, SENDER = 899, SENDS = 93 };

/*
 * Sessions wait for a message from another coroutine, and then for a socket, which takes so long. From 400 ms on the first one gets
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
	is(writers(4 * MS), "never-woken likely 1", "one that is idle elsewhere, and is overtaken here");
	is(writers(10000), "", "unless it only passes the other place: then it may be idle here");
}

int main(void)
{
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
