/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-suspects: waits, made by hand, that stand out although no rule finds them; for each condition a wait that lacks only
 * it, which is not reported; and programs that destroy their coroutines at the end, which are judged as before that.
 */
#include "judged.h"

enum { ROUNDS = 6, PEER = 3, BUSY = 4, REST = 20, FIRST = 100, WORKERS = 4, CALLER = 90, CALLS = 77 };

static const char *over(void)
{
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	end();
	return suspected;
}

/*
 * Workers that rest in one place are woken by one coroutine that never stops. One of them resumes this often, and waits from
 * 300 ms on; the others go on.
 */
static void workers(uint64_t rounds)
{
	is_born(&h, 1, WAKER, 0);
	resumes(&h, 2, WAKER, OTHER);
	for (uint64_t co = FIRST; co < FIRST + WORKERS; co++) {
		is_born(&h, 1, co, MAKER);
		resumes(&h, 2, co, THREAD);
	}
	is_born(&h, 1, VICTIM, MAKER);
	resumes(&h, 2, VICTIM, THREAD);
	for (uint64_t i = 0; i < 900; i++) {
		for (uint64_t co = FIRST; co < FIRST + WORKERS; co++)
			goes_round((1 + 2 * i) * MS + co, co, WAKER);
		if (i < rounds)
			goes_round((1 + 2 * i) * MS, VICTIM, WAKER);
		if (i == 150 && rounds)
			suspends(&h, 300 * MS, VICTIM, THREAD, WAITS);
	}
}

static const char *with_rounds(uint64_t rounds)
{
	begin();
	workers(rounds);
	return over();
}

static void test_inside(void)
{
	is(with_rounds(ROUNDS), "possible 1 and 0 of 3606 ended", "a wait that is far longer than all that ended there stands out");
	is(found, "", "which is no finding");
	is(excuse, "coroutine #2, which has ended such a wait before, still runs now and then", "because its waker may still come");
	is(with_rounds(4), "", "unless this coroutine has hardly ever returned from there");

	begin_with(&(struct ctp_analysis_options){.ignore = (const char *const[]){"possible"}, .nignore = 1}, one_process);
	workers(ROUNDS);
	is(over(), "", "a suspect can be ignored");
}

/*
 * Each request has a coroutine, which waits once, for another one or for something from outside, and ends: `ended` of them
 * do, after at most longest_ns. Three more wait from 200 ms on. One other coroutine keeps running.
 */
static const char *requests(uint64_t ended, uint64_t longest_ns, uint64_t by)
{
	begin();
	is_born(&h, 1, BUSY, 0);
	for (uint64_t n = 0; n < ended; n++) {
		uint64_t ts = (1 + 2 * n) * MS, ns = n ? MS : longest_ns;
		is_born(&h, ts, FIRST + n, MAKER);
		resumes(&h, ts + 1, FIRST + n, THREAD);
		suspends(&h, ts + 2, FIRST + n, THREAD, REST);
		is_woken(&h, ts + MS, FIRST + n, OTHER, by);
		resumes(&h, ts + MS + 1, FIRST + n, THREAD);
		dies(&h, ts + ns + 2, FIRST + n);
	}
	for (uint64_t co = 900; co < 903; co++) {
		is_born(&h, 200 * MS, co, MAKER);
		resumes(&h, 200 * MS + co, co, THREAD);
		suspends(&h, 200 * MS + co + 1, co, THREAD, REST);
	}
	for (uint64_t ts = 202 * MS; ts < 1990 * MS; ts += 5 * MS) {
		resumes(&h, ts, BUSY, OTHER);
		suspends(&h, ts + 1, BUSY, OTHER, 77);
		is_woken(&h, ts + MS, BUSY, OTHER, 0);
	}
	return over();
}

static void test_requests(void)
{
	is(requests(40, MS, 0), "possible 3 and 0 of 40 ended",
	   "coroutines that wait for the first time stand out, if all earlier ones ended soon");
	is(requests(10, MS, 0), "", "they do not if too few have ended");
	is(requests(40, 190 * MS, 0), "", "they do not if one of those took nearly as long");
	requests(40, MS, BUSY);
	is(found, "never-woken likely 3", "where a coroutine ends the waits, they are a finding");
}

/* Two coroutines wake the workers, by turns. One of them dies, and after that a worker does not return. */
static void test_dead_waker(void)
{
	for (int lives = 0; lives < 2; lives++) {
		begin();
		is_born(&h, 1, BUSY, 0);
		resumes(&h, 2, BUSY, OTHER);
		workers(0);
		for (uint64_t i = 0; i < ROUNDS; i++)
			goes_round((1802 + 2 * i) * MS, VICTIM, i % 2 ? WAKER : BUSY);
		if (!lives)
			dies(&h, 1830 * MS, BUSY);
		suspends(&h, 1831 * MS, VICTIM, THREAD, WAITS);
		is(over(), "possible 1 and 0 of 3606 ended", "a worker that two used to wake stands out");
		is(also, lives ? "" : "coroutine #4, one of 2 coroutines that have ended such waits, has died, at 1.83 s",
		   lives ? "nobody died" : "the report says that one of its wakers has ended");
	}
}

/* Many wait where something from outside wakes them, and keep doing so, and one is not resumed. slow: a wait there took 300 ms. */
static const char *outside(int rounds, uint64_t stuck, bool goes_on, bool slow)
{
	enum { MANY = 10 };
	begin();
	for (uint64_t co = FIRST; co < FIRST + MANY; co++) {
		is_born(&h, 1, co, MAKER);
		resumes(&h, 2, co, THREAD);
	}
	for (int i = 0; i < 30; i++)
		for (uint64_t co = FIRST; co < FIRST + MANY; co++)
			goes_round((1 + 2 * (uint64_t)i) * MS + co, co, 0);
	is_born(&h, 1, VICTIM, MAKER);
	resumes(&h, 2, VICTIM, THREAD);
	for (int i = 0; i < rounds; i++)
		goes_round((2 + 2 * (uint64_t)i) * MS, VICTIM, 0);
	suspends(&h, 100 * MS, VICTIM, THREAD, WAITS);
	for (uint64_t co = FIRST; co < FIRST + stuck; co++)
		suspends(&h, 101 * MS, co, THREAD, WAITS);
	if (slow) {
		suspends(&h, 102 * MS, FIRST + MANY - 1, THREAD, WAITS);
		is_woken(&h, 402 * MS, FIRST + MANY - 1, THREAD, 0);
		resumes(&h, 403 * MS, FIRST + MANY - 1, THREAD);
	}
	for (uint64_t ts = (slow ? 410 : 110) * MS; ts < (goes_on ? 1990 : 500) * MS; ts += 5 * MS)
		for (uint64_t co = FIRST + stuck; co < FIRST + MANY; co++)
			goes_round(ts + co, co, 0);
	for (uint64_t co = FIRST + stuck; co < FIRST + MANY; co++)
		suspends(&h, (goes_on ? 1996 : 506) * MS, co, THREAD, WAITS);
	return over();
}

static void test_outside(void)
{
	ok(!strncmp(outside(ROUNDS, 0, true, true), "possible 1 and 0 of", 19), "where something else ends waits, one that takes thirty times as long stands out");
	is(excuse, "it may have nothing to do: coroutines spawned at the same place suspend there first", "its excuse is a fact, and not that it rests");
	is(outside(0, 0, true, true), "", "it does not if the coroutine has never resumed there: it may be idle");
	is(outside(ROUNDS, 7, true, true), "", "it does not if most waiters there have waited as long");
	is(outside(ROUNDS, 0, false, true), "", "it does not if the whole program is quiet");
	ok(!strncmp(outside(ROUNDS, 7, true, false), "possible 8 and 0 of", 19), "most of them stand out if none ever took a tenth of the time");
	ok(!strncmp(outside(ROUNDS, 0, false, false), "possible 11 and 0 of", 20), "and so do all of a whole program that is quiet");
	is(outside(4, 0, false, true), "", "they do not if a coroutine has hardly ever resumed there");
}

/* Hardly a wait ended there. Before, the coroutine has resumed at another place rounds times. */
static void few_so(int rounds, uint64_t from)
{
	begin();
	healthy();
	is_born(&h, 200 * MS, VICTIM, 0);
	resumes(&h, 201 * MS, VICTIM, THREAD);
	for (int i = 0; i < rounds; i++)
		goes_round((202 + 2 * (uint64_t)i) * MS, VICTIM, 0);
	suspends(&h, from, VICTIM, THREAD, REST);
}

static const char *few(int rounds, uint64_t from)
{
	few_so(rounds, from);
	return over();
}

/* The same; before that, it waits there once, and yields there this often. */
static const char *yields(int often)
{
	few_so(0, 202 * MS);
	is_woken(&h, 203 * MS, VICTIM, OTHER, 0);
	for (int i = 0; i < often; i++) {
		uint64_t ts = (204 + 2 * (uint64_t)i) * MS;
		resumes(&h, ts, VICTIM, THREAD);
		suspends(&h, ts + 1, VICTIM, THREAD, REST);
		is_woken_so(&h, ts + 2, VICTIM, THREAD, VICTIM, CTP_WAKE_YIELD);
	}
	resumes(&h, 300 * MS, VICTIM, THREAD);
	suspends(&h, 300 * MS + 1, VICTIM, THREAD, REST);
	return over();
}

static void test_yields(void)
{
	is(yields(25), "possible 1 and 0 of 1 ended", "yields are no waits that ended");
	ok(strstr(stands_out, "; 1 other wait there ended within 1.00 ms"), "so they do not count: %s", stands_out);
	is(excuse, "there is nothing to compare with: hardly a wait has ended there, and coroutines only yielded there 25 times",
	   "and the excuse says how many there were");
}

static void test_few(void)
{
	is(few(25, 300 * MS), "possible 1 and 0 of 0 ended", "with nothing to compare with, a wait of half the trace stands out");
	is(excuse, "there is nothing to compare with: no wait has ended there", "and that is its excuse");
	is(few(25, 1200 * MS), "", "a shorter wait does not");
	is(few(0, 300 * MS), "", "a coroutine that has hardly run does not: it may be an accept loop");
	few_so(25, 900 * MS);
	becomes(&h, S, S + MS, CTP_PROCESS_STOPPED);
	becomes(&h, 3 * S, 3 * S + MS, CTP_PROCESS_EXECUTING);
	is_over(&h, 4 * S, CTP_OUTCOME_EXITED);
	end();
	is(suspected, "possible 1 and 0 of 0 ended", "time in which the process was stopped is no part of the trace");
}

/* A coroutine wakes another one this often, and then sleeps from 300 ms on, at a place where no wait has ended. */
static const char *sleeper(int wakes)
{
	begin();
	workers(0);
	is_born(&h, 200 * MS, VICTIM, 0);
	is_born(&h, 200 * MS, PEER, 0);
	resumes(&h, 201 * MS, PEER, OTHER);
	resumes(&h, 201 * MS, VICTIM, THREAD);
	for (int i = 0; i < wakes; i++) {
		suspends(&h, (202 + 2 * (uint64_t)i) * MS, VICTIM, THREAD, CALLS);
		is_woken(&h, (203 + 2 * (uint64_t)i) * MS, VICTIM, OTHER, PEER);
		resumes(&h, (203 + 2 * (uint64_t)i) * MS + 1, VICTIM, THREAD);
	}
	suspends(&h, 299 * MS, VICTIM, THREAD, CALLS);
	suspends(&h, 300 * MS, PEER, OTHER, REST);
	return over();
}

static void test_sleeper(void)
{
	is(sleeper(4), "possible 1 and 0 of 0 ended",
	   "a coroutine that used to wake another one, and sleeps for half of the trace, stands out");
	is(sleeper(1), "", "it does not if it did so once");
}

/*
 * A coroutine ends the waits of another one, of which the first takes as long as that; then it sleeps for more than half of the trace,
 * where no wait has ended. A third one may have ended one of the waits.
 */
static const char *behind(bool third, uint64_t first_ms)
{
	begin();
	workers(0);
	for (uint64_t co = VICTIM; co <= VICTIM + 1; co++) {
		is_born(&h, 200 * MS, 700 + co, 0);
		resumes(&h, 201 * MS, 700 + co, THREAD);
	}
	const uint64_t waits = 700 + VICTIM, wakes = waits + 1;
	is_born(&h, 200 * MS, 600, 0);
	for (uint64_t i = 0; i < 25; i++) {
		uint64_t ts = i ? (first_ms + 210 + 2 * i) * MS : 202 * MS;
		suspends(&h, ts, waits, THREAD, CALLS);
		is_woken(&h, ts + (i ? 1 : first_ms) * MS, waits, OTHER, third && i == 7 ? 600 : wakes);
		resumes(&h, ts + (i ? 1 : first_ms) * MS + 1, waits, THREAD);
	}
	suspends(&h, 900 * MS, waits, THREAD, CALLS);
	suspends(&h, 901 * MS, wakes, OTHER, REST);
	return over();
}

static void test_behind(void)
{
	is(behind(false, 300), "possible 1 and 0 of 0 ended", "a coroutine stands out that used to wake one which does not");
	is(also, "1 more coroutine waits at site 77 for up to 1.10 s, where only this one has ended waits: 25, within 300 ms",
	   "the other one is mentioned");
	behind(true, 300);
	is(also, "", "it is not if a third one has ended such a wait");
	behind(false, 1);
	ok(!strstr(also, "where only"), "it is not if it stands out by itself, or is in a finding: %s; %s", also, suspected);
}

/* A worker that stands out awaits another coroutine, which goes on, or waits since then; and a third one awaits the worker. */
static const char *chain(bool moves)
{
	begin();
	is_born(&h, 1, CALLER, 0);
	workers(0);
	is_born(&h, 200 * MS, PEER, 0);
	resumes(&h, 201 * MS, PEER, OTHER);
	for (uint64_t i = 0; i < ROUNDS; i++)
		goes_round((202 + 2 * i) * MS, VICTIM, WAKER);
	resumes(&h, 250 * MS, CALLER, THREAD);
	awaits(&h, 251 * MS, CALLER, VICTIM);
	suspends(&h, 251 * MS, CALLER, THREAD, CALLS);
	awaits(&h, 300 * MS, VICTIM, PEER);
	suspends(&h, 300 * MS, VICTIM, THREAD, WAITS);
	suspends(&h, 301 * MS, PEER, OTHER, REST);
	for (uint64_t ts = 310 * MS; moves && ts < 1990 * MS; ts += 5 * MS) {
		is_woken(&h, ts, PEER, OTHER, 0);
		resumes(&h, ts + 1, PEER, OTHER);
		suspends(&h, ts + 2, PEER, OTHER, REST);
	}
	return over();
}

static void test_chain(void)
{
	is(chain(true), "", "a coroutine that awaits one which still moves is no suspect");
	is(chain(false), "possible 1 and 2 of 0 ended",
	   "if the awaited one does not move, it is the suspect, and the others wait for it");
	is(also, "2 more coroutines wait for it at site 8 and site 77", "the places of the others are given, the nearest first");
}

/*
 * One of many short-lived coroutines awaits a leader, which runs every 5 ms until then, at a place of its own. others: more of
 * the many are spawned and end meanwhile.
 */
static const char *leader_of(uint64_t until_ns, uint64_t spawn, bool others)
{
	begin();
	healthy();
	if (!others)
		dies(&h, 200 * MS + 1, WAKER);
	is_born(&h, 200 * MS, VICTIM, MAKER);
	resumes(&h, 201 * MS, VICTIM, THREAD);
	goes_round(202 * MS, VICTIM, WAKER);
	is_born(&h, 200 * MS, PEER, spawn);
	resumes(&h, 201 * MS, PEER, OTHER);
	awaits(&h, 210 * MS, VICTIM, PEER);
	suspends(&h, 210 * MS, VICTIM, THREAD, WAITS);
	suspends(&h, 211 * MS, PEER, OTHER, REST);
	for (uint64_t ts = 220 * MS; ts < until_ns; ts += 5 * MS) {
		is_woken(&h, ts, PEER, OTHER, 0);
		resumes(&h, ts + 1, PEER, OTHER);
		suspends(&h, ts + 2, PEER, OTHER, REST);
		if (others) {
			uint64_t co = FIRST + ts / MS;
			is_born(&h, ts, co, MAKER);
			resumes(&h, ts, co, THREAD);
			goes_round(ts + MS, co, WAKER);
			dies(&h, ts + 3 * MS, co);
		}
	}
	over();
	return found;
}

static const char *leader(uint64_t until_ns) { return leader_of(until_ns, 0, false); }

static void test_leader(void)
{
	is(leader(1990 * MS), "", "a coroutine that awaits one which still runs is no finding");
	is(suspected, "", "it is no suspect");
	is(leader(220 * MS), "suspended likely 1", "the one at the end of the chain is a finding, if it does not run");
	is(tree, "1 awaits 3", "the other one is listed under it");
	is(leader_of(1990 * MS, 0, true), "", "it is no finding while other coroutines' waits end there");
	is(leader_of(1990 * MS, MAKER, true), "never-woken likely 1", "unless it is one of those that wait there: it may have handed on a lock");
}

/* One was woken at woken_ns, and not resumed, in a trace with few wakes, each of which was followed by a resume after late_ns. */
static const char *starves(uint64_t woken_ns, uint64_t late_ns)
{
	begin();
	is_born(&h, 1, VICTIM, MAKER);
	resumes(&h, 2, VICTIM, THREAD);
	suspends(&h, 3, VICTIM, THREAD, WAITS);
	is_woken(&h, woken_ns, VICTIM, OTHER, 0);
	is_born(&h, 1, BUSY, 0);
	resumes(&h, 4, BUSY, THREAD);
	for (uint64_t i = 1; i < 10; i++) {
		suspends(&h, i * 190 * MS, BUSY, THREAD, REST);
		is_woken(&h, i * 190 * MS + 1, BUSY, OTHER, 0);
		resumes(&h, i * 190 * MS + 1 + late_ns, BUSY, THREAD);
	}
	return over();
}

static void test_starves(void)
{
	is(starves(500 * MS, MS), "possible 1 and 0 of 9 ended",
	   "a coroutine that was woken, and not resumed for half of the trace, stands out");
	is(starves(1100 * MS, MS), "", "it does not after a shorter time");
	is(starves(500 * MS, 160 * MS), "", "it does not if the others took a tenth of that");
}

static void test_lost(void)
{
	begin();
	workers(ROUNDS);
	are_missed(&h, 400 * MS, 1991 * MS, OTHER);
	is(over(), "unknown 1 and 0 of 3606 ended", "if its wake may be lost, the suspicion is unknown");
	ok(strstr(excuse, "lost, and the one that ended the wait may be among them"), "the excuse says so: %s", excuse);

	for (uint64_t co = 0; co <= VICTIM; co += VICTIM) {
		begin();
		workers(ROUNDS);
		are_lost(&h, 310 * MS, 1991 * MS, co, 2);
		is(over(), "", "a coroutine whose last events may be lost does not stand out: it may have run on");
	}
	begin();
	workers(ROUNDS);
	are_lost(&h, 200 * MS, 290 * MS, 0, 2);
	is(over(), "possible 1 and 0 of 3606 ended", "it does if the losses were before its wait");
}

/* --- the end of a program ------------------------------------------------------------------------------------------------- */

/* `all` coroutines wait from 100 ms on; from 1 s on, `destroyed` of them are destroyed. */
static void ends(uint64_t all, uint64_t destroyed, bool then_resumes)
{
	begin();
	for (uint64_t co = FIRST; co < FIRST + all; co++) {
		is_born(&h, 1, co, MAKER);
		resumes(&h, 2, co, THREAD);
		suspends(&h, 100 * MS, co, THREAD, WAITS);
	}
	is_born(&h, 3, BUSY, 0);
	resumes(&h, 4, BUSY, OTHER);
	suspends(&h, 900 * MS, BUSY, OTHER, REST);
	resumes(&h, 901 * MS, BUSY, OTHER);
	for (uint64_t co = FIRST; co < FIRST + destroyed; co++)
		dies(&h, S + co, co);
	if (then_resumes) {
		suspends(&h, 1100 * MS, BUSY, OTHER, REST);
		resumes(&h, 1200 * MS, BUSY, OTHER);
	}
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	end();
}

static void test_shutdown(void)
{
	ends(5, 5, false);
	ok(judged_ns == S + FIRST - 1, "a program that destroys its coroutines at the end is judged as before that");
	is(still, "5 in findings 0 for 900", "the waits of that time are listed");
	ends(5, 2, false);
	ok(!judged_ns, "two destroyed coroutines are not the end of a program");
	ends(20, 6, false);
	ok(!judged_ns, "a small part of all coroutines is not");
	ends(20, 7, false);
	ok(judged_ns, "three in ten are the end of a program");
	ends(5, 5, true);
	ok(!judged_ns, "they are not if a coroutine is resumed after that");
	is(still, "", "then the destroyed coroutines are not listed");
}

/* Five wait from 100 ms on, are woken at woken_ns by a coroutine or by nobody, and destroyed from 1 s on. */
static void ends_after_wakes(uint64_t woken_ns, uint64_t by)
{
	begin();
	for (uint64_t co = FIRST; co < FIRST + 5; co++) {
		is_born(&h, 1, co, MAKER);
		resumes(&h, 2, co, THREAD);
		suspends(&h, 100 * MS, co, THREAD, WAITS);
	}
	is_born(&h, 3, BUSY, 0);
	resumes(&h, 4, BUSY, OTHER);
	suspends(&h, 800 * MS, BUSY, OTHER, REST);
	for (uint64_t co = FIRST; co < FIRST + 5; co++)
		is_woken(&h, woken_ns, co, THREAD, by);
	for (uint64_t co = FIRST; co < FIRST + 5; co++)
		dies(&h, S + co, co);
	is_over(&h, 2 * S, CTP_OUTCOME_EXITED);
	end();
}

static void test_wakes_at_shutdown(void)
{
	ends_after_wakes(950 * MS, 0);
	ok(judged_ns == 950 * MS - 1, "a program that wakes its coroutines when it destroys them is judged as before that");
	is(still, "5 in findings 0 for 850, 1 in findings 0 for 150", "the waits of that time are listed");
	ends_after_wakes(950 * MS, BUSY);
	ok(judged_ns == S + FIRST - 1, "a wake by a coroutine is not part of the end");
	ends_after_wakes(790 * MS, 0);
	ok(judged_ns == S + FIRST - 1, "a wake before another coroutine ran is not part of the end");
	ends_after_wakes(850 * MS, 0);
	ok(judged_ns == S + FIRST - 1, "a wake long before the destruction is not part of the end");
}

int main(void)
{
	test_inside();
	test_requests();
	test_dead_waker();
	test_outside();
	test_few();
	test_yields();
	test_sleeper();
	test_behind();
	test_chain();
	test_leader();
	test_starves();
	test_lost();
	test_shutdown();
	test_wakes_at_shutdown();
	return done_testing();
}
