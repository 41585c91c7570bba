/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-signs: what goes on although something is wrong, and beside each the healthy twin that nothing is said of: coroutines of a
 * spawn site that never ran, time-outs that mask lost wakes, locks in both orders, loops that only look again, ping-pong.
 */
#include "judged.h"

enum { LAZY = 70, OTHERS = 80, QUEUE = 0x40, LOCK = 0x50, INNER = 0x60, GATE = 0x70, STAGE = 30, AWAY = 31 };

/* What an analysis found: rules with an excuse, or without. */
static const char *says(void)
{
	static char text[512];
	struct ctp_analysis *kept = analysis;
	text[0] = '\0';
	ctp_analysis_end(kept, &(struct ctp_section_end){.complete = true});
	const struct ctp_report_section *s = kept->report.sections;
	const struct ctp_finding *f;
	for (uint32_t i = 0; (f = ctp_report_finding(s, i)); i++)
		if (f->rule != CTP_RULE_NONE)
			sprintf(text + strlen(text), "%s%s %s %ju", *text ? ", " : "", ctp_rule_name(f->rule), ctp_certainty_name(f->certainty),
			        (uintmax_t)f->members);
	ctp_analysis_free(kept);
	ctp_section_fini(&sec);
	byhand_fini(&h);
	return text;
}

/* A coroutine is woken every 5 ms until 3 s. */
static void lives(uint64_t co)
{
	is_born(&h, 1, co, MAKER + 1);
	resumes(&h, 2, co, 5);
	for (uint64_t ts = 5 * MS; ts < 3 * S; ts += 5 * MS) {
		suspends(&h, ts - 4 * MS, co, 5, WAITS + 1);
		is_woken(&h, ts, co, 6, 0);
		resumes(&h, ts + MS / 100, co, 5);
	}
	dies(&h, 3 * S, co);
}

static void is_over_now(void) { is_over(&h, 3 * S + MS, CTP_OUTCOME_KILLED); }

static void test_never_ran(void)
{
	begin();
	is_born(&h, 1, LAZY, MAKER);
	is_born(&h, 1, LAZY + 1, MAKER);
	lives(OTHERS);
	is_over_now();
	is(says(), "never-ran possible 2", "coroutines of a spawn site of which none ever ran are named");
	begin();
	is_born(&h, 1, LAZY, MAKER);
	is_born(&h, 1, LAZY + 1, MAKER);
	resumes(&h, 1, LAZY, 5);
	dies(&h, 1, LAZY);
	lives(OTHERS);
	is_over_now();
	is(says(), "", "if one of them ran, the others may be kept for later");
	begin();
	lives(OTHERS);
	is_born(&h, 29 * S / 10, LAZY, MAKER);
	is_over_now();
	is(says(), "", "a coroutine that was just spawned has time");
}

/* Waits of 300 ms for an item, each ended by a time-out. The item comes `after` ms after the wait began. */
static const char *times_out(uint64_t after, uint64_t times)
{
	begin();
	has_so(&h, 1, QUEUE, CTP_WAITS_ITEM, 0, CTP_OBJECT_MADE);
	is_born(&h, 2, LAZY, MAKER);
	resumes(&h, 3, LAZY, 5);
	for (uint64_t i = 0; i < times; i++) {
		uint64_t ts = (i + 1) * 400 * MS;
		waits_so(&h, ts, LAZY, CTP_WAITS_ITEM, QUEUE, 1, CTP_REASON_TIMED);
		suspends(&h, ts + 1, LAZY, 5, WAITS);
		has(&h, ts + after * MS, QUEUE, CTP_WAITS_ITEM, 1);
		is_woken(&h, ts + 300 * MS, LAZY, 6, 0);
		resumes(&h, ts + 300 * MS + 1, LAZY, 5);
		has(&h, ts + 300 * MS + 2, QUEUE, CTP_WAITS_ITEM, 0);
	}
	dies(&h, 299 * S / 100, LAZY);
	is_over_now();
	return says();
}

static void test_masked(void)
{
	is(times_out(10, 6), "masked-by-time-out likely 1", "a wait that times out while its item is there, again and again");
	is(times_out(250, 6), "", "an item may come just before the time-out");
	is(times_out(10, 2), "", "twice may be chance");
}

/*
 * Two rest at one site and wait at another. A coroutine wakes those at work every 10 ms; one of them, from the beginning on, is woken
 * there by something else, or by that coroutine like the others.
 */
static const char *woken_by_timer(bool masked)
{
	begin();
	is_born(&h, 1, OTHERS, MAKER + 1);
	resumes(&h, 2, OTHERS, 6);
	for (uint64_t co = LAZY; co < LAZY + 4; co++) {
		is_born(&h, 3, co, MAKER);
		resumes(&h, 4, co, 5);
		suspends(&h, 5, co, 5, AWAY);
	}
	for (uint64_t i = 1; i < 40; i++)
		for (uint64_t co = LAZY; co < LAZY + 4; co++) {
			uint64_t ts = i * 20 * MS + (co - LAZY) * MS;
			is_woken(&h, ts, co, 6, 0);
			resumes(&h, ts + 1, co, 5);
			suspends(&h, ts + 2, co, 5, STAGE);
			is_woken(&h, ts + 8 * MS, co, 6, masked && co == LAZY ? 0 : OTHERS);
			resumes(&h, ts + 8 * MS + 1, co, 5);
			suspends(&h, ts + 8 * MS + 2, co, 5, AWAY);
		}
	is_over(&h, 830 * MS, CTP_OUTCOME_KILLED);
	return says();
}

static void test_masked_by_habit(void)
{
	is(woken_by_timer(true), "masked-by-time-out possible 1", "one that only a timer wakes where its siblings are woken");
	is(woken_by_timer(false), "", "all are woken by others");
}

/* Each of two coroutines takes two locks; with a third one around, or not; in one order, or both. */
static const char *takes(bool both, bool gate, uint64_t second)
{
	begin();
	has_so(&h, 1, LOCK, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	has_so(&h, 2, INNER, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	has_so(&h, 3, GATE, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t co = i ? second : LAZY, ts = (i + 1) * 10 * MS;
		uint64_t a = both && i ? INNER : LOCK, b = both && i ? LOCK : INNER;
		if (!i || second != LAZY)
			is_born(&h, ts, co, MAKER);
		resumes(&h, ts + 1, co, 5);
		if (gate)
			gets(&h, ts + 2, co, GATE, 1);
		gets(&h, ts + 3, co, a, 1);
		gets(&h, ts + 4, co, b, 1);
		gets(&h, ts + 5, co, b, -1);
		gets(&h, ts + 6, co, a, -1);
		if (gate)
			gets(&h, ts + 7, co, GATE, -1);
		suspends(&h, ts + 8, co, 5, WAITS);
		if (i || second != LAZY)
			dies(&h, ts + 9, co);
	}
	is_over(&h, 100 * MS, CTP_OUTCOME_EXITED);
	return says();
}

static void test_order(void)
{
	is(takes(true, false, LAZY + 1), "lock-order possible 2", "two locks are taken in both orders");
	is(takes(false, false, LAZY + 1), "", "in one order they are in order");
	is(takes(true, true, LAZY + 1), "", "a third lock keeps the two orders apart");
	is(takes(true, false, LAZY), "", "so does it that one coroutine does both");
}

/* Yields every millisecond at one site, after runs of that length; another coroutine runs in between. */
static const char *yields(uint64_t run, uint64_t times)
{
	begin();
	is_born(&h, 1, LAZY, MAKER);
	is_born(&h, 1, OTHERS, MAKER + 1);
	for (uint64_t i = 1; i <= times; i++) {
		resumes(&h, i * MS, LAZY, 5);
		is_woken_so(&h, i * MS + run, LAZY, 5, LAZY, CTP_WAKE_YIELD);
		suspends(&h, i * MS + run + 1, LAZY, 5, WAITS);
		resumes(&h, i * MS + run + 2, OTHERS, 5);
		suspends(&h, i * MS + run + 3, OTHERS, 5, WAITS + 1);
		is_woken(&h, i * MS + run + 4, OTHERS, 6, 0);
	}
	is_over(&h, (times + 1) * MS, CTP_OUTCOME_KILLED);
	return says();
}

static void test_polls(void)
{
	is(yields(1000, 2000), "polls possible 1", "a loop that only looks again, and lets others run");
	is(yields(100000, 2000), "", "one that works and yields in between");
	is(yields(1000, 500), "", "one that looks now and then");
}

/* Both return from AWAY at first; then each wakes the other, or both are also woken by something else now and then. */
static const char *plays(bool alone, bool before)
{
	begin();
	uint64_t ts = 0;
	for (uint64_t co = LAZY; co < LAZY + 2; co++) {
		is_born(&h, ++ts, co, MAKER);
		resumes(&h, ++ts, co, 5);
		for (uint64_t i = 0; before && i < 25; i++) {
			suspends(&h, ts += MS, co, 5, AWAY);
			is_woken(&h, ts += MS, co, 6, 0);
			resumes(&h, ++ts, co, 5);
		}
	}
	suspends(&h, ++ts, LAZY, 5, STAGE);
	for (uint64_t i = 0; i < 11000; i++) {
		is_woken(&h, ts += 100000, LAZY, 5, !alone && i % 1000 == 999 ? 0 : LAZY + 1);
		suspends(&h, ++ts, LAZY + 1, 5, STAGE);
		resumes(&h, ++ts, LAZY, 5);
		is_woken(&h, ++ts, LAZY + 1, 5, LAZY);
		suspends(&h, ++ts, LAZY, 5, STAGE);
		resumes(&h, ts += 1000, LAZY + 1, 5);
		suspends(&h, ts += 1000, LAZY + 1, 5, STAGE);
		is_woken(&h, ++ts, LAZY + 1, 5, LAZY);
		resumes(&h, ++ts, LAZY + 1, 5);
	}
	is_over(&h, ts + MS, CTP_OUTCOME_KILLED);
	return says();
}

static void test_ping_pong(void)
{
	is(plays(true, true), "ping-pong possible 2", "two that only wake each other");
	is(plays(false, true), "", "something else wakes them now and then");
	is(plays(true, false), "", "two that never did anything else");
}

int main(void)
{
	test_never_ran();
	test_masked();
	test_masked_by_habit();
	test_order();
	test_polls();
	test_ping_pong();
	return done_testing();
}
