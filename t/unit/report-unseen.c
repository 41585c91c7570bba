/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-unseen.c - circles of holders of which one wait may be ended by somebody who is not in the trace: a
 * thread, or a coroutine without a station. Such a circle is likely, never proved. For each premise of the proof
 * there is a scene that breaks only that one.
 */
#include "objects-scene.h"

/*
 * Coroutine 1 holds the lock B, and waits for some of A. Coroutine 2 holds some of A, and waits for B. What is
 * neither held by them nor available is held by somebody who is not in the trace.
 */
struct circle {
	enum ctp_waits_for what, wants_what; /* wants_what 0: the same */
	uint64_t all;      /* how much of A there is; 0: there is no record of the making of A */
	uint64_t marks;    /* of A */
	int64_t holds;     /* coroutine 2, in one record or two */
	int64_t own;       /* coroutine 1, before it waits */
	int64_t given;     /* and during its wait */
	uint64_t wants;
	uint64_t left;     /* the last record of what is available says so; UNSAID: there is none */
	uint64_t had;      /* available at some time before; 0: as many as there are */
	uint64_t added;    /* available while coroutine 2 holds what it holds; 0: nothing is */
	bool closed;       /* A is, before the waits */
	bool twice;        /* coroutine 2 takes what it holds in two steps */
	bool third;        /* coroutine 3 holds one more, and waits for B, too */
	bool third_lost;   /* events of coroutine 3 are missing at the end */
	uint64_t wait_marks;
};
enum { UNSAID = 99 };

static const struct circle good = {.what = CTP_WAITS_PERMITS, .all = 2, .marks = CTP_OBJECT_OWNED,
                                   .holds = 2, .wants = 1};

static void takes(uint64_t ts, uint64_t co, uint64_t object, int64_t count)
{
	runs(ts, co);
	if (count)
		gets(&h, ts + 1, co, object, count);
	stops(ts + 2, co);
}

static void waits_on(uint64_t ts, uint64_t co, enum ctp_waits_for what, uint64_t object, uint64_t n,
                     uint64_t marks)
{
	runs(ts, co);
	waits_so(&h, ts + 1, co, what, object, n, marks);
	stops(ts + 2, co);
}

static const char *circle(const struct circle *c)
{
	scene();
	if (c->all)
		has_so(&h, 10, A, c->what, c->all, CTP_OBJECT_MADE | c->marks);
	else
		has_so(&h, 10, A, 0, 0, c->marks);
	has_so(&h, 11, B, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	if (c->had)
		has(&h, 12, A, c->what, c->had);
	takes(100 * MS, 1, B, 1);
	takes(101 * MS, 1, A, c->own);
	if (c->twice)
		takes(102 * MS, 2, A, 1);
	takes(103 * MS, 2, A, c->twice ? c->holds - 1 : c->holds);
	takes(104 * MS, 3, A, c->third);
	if (c->added)
		has(&h, 104 * MS + 10, A, c->what, c->added);
	if (c->closed)
		has_so(&h, 104 * MS + 20, A, 0, 0, CTP_OBJECT_CLOSED);
	if (c->left != UNSAID)
		has(&h, 105 * MS, A, c->what, c->left);
	waits_on(AT, 1, c->wants_what ? c->wants_what : c->what, A, c->wants, c->wait_marks);
	waits_on(AT + MS, 2, CTP_WAITS_LOCK, B, 1, 0);
	if (c->third)
		waits_on(AT + 2 * MS, 3, CTP_WAITS_LOCK, B, 1, 0);
	if (c->given)
		gets(&h, AT + 3 * MS, 1, A, c->given);
	if (c->third_lost)
		are_lost(&h, AT + 3 * MS, AT + 4 * MS, 3, 1);
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_KILLED);
	return end();
}

static void permits(void)
{
	struct circle c = good;
	is(circle(&c), "wait-cycle proved 2", "a circle is proved if its members hold all permits");
	c = good, c.twice = true;
	is(circle(&c), "wait-cycle proved 2", "so it is if they took them one by one");
	c = good, c.all = 3;
	is(circle(&c), "wait-cycle likely 2", "it is not proved if somebody unseen holds one permit");
	c = good, c.all = 3, c.wants = 2;
	is(circle(&c), "wait-cycle proved 2", "it is if the coroutine wants more than that one");
	c = good, c.all = 3, c.holds = 1, c.own = 1, c.wants = 1;
	is(circle(&c), "wait-cycle likely 2", "nor if both members hold one, and somebody unseen the third");
	c = good, c.holds = 1, c.own = 1;
	is(circle(&c), "wait-cycle proved 2", "permits of the waiting coroutine itself count");
	c = good, c.holds = 1, c.given = 1;
	is(circle(&c), "wait-cycle likely 2", "but not those that it was handed during the wait");
	c = good, c.all = 0;
	is(circle(&c), "wait-cycle likely 2", "it is not proved if it is not known how many there are");
	c = good, c.marks = 0;
	is(circle(&c), "wait-cycle likely 2", "it is not proved if anybody may give permits back");
	c = good, c.holds = 3;
	is(circle(&c), "wait-cycle likely 2", "it is not proved if more are held than there are");
	c = good, c.had = 3;
	is(circle(&c), "wait-cycle likely 2", "it is not proved if there were more at some time");
	c = good, c.added = 1;
	is(circle(&c), "wait-cycle likely 2", "nor if one was added while all were held");
	c = good, c.all = 3, c.added = 1;
	is(circle(&c), "wait-cycle likely 2", "one that is free and taken by somebody unseen was not added");
	c.wants = 2;
	is(circle(&c), "wait-cycle proved 2", "and does not bar the proof");
	c = good, c.closed = true;
	ok(!strstr(circle(&c), "wait-cycle"), "there is no circle if the pool was closed: %s", found);
	c = good, c.left = UNSAID;
	is(circle(&c), "wait-cycle likely 2", "it is not proved if only the holds say that none is free");
	c = good, c.left = UNSAID, c.all = 4, c.holds = 3, c.wants = 2;
	is(circle(&c), "wait-cycle proved 2", "a count that is not 0 need not be recorded");
	c = good, c.wants_what = CTP_WAITS_LOCK;
	is(circle(&c), "wait-cycle likely 2", "it is not proved if a wait for a lock is for a pool");
	c = good, c.wait_marks = CTP_REASON_TIMED;
	is(circle(&c), "wait-cycle likely 2", "it is not proved if the wait has a time-out");
}

static void locks(void)
{
	struct circle lock = good, c;
	lock.what = CTP_WAITS_LOCK;
	lock.all = lock.holds = 1;
	lock.marks = 0;
	is(circle(&lock), "wait-cycle proved 2", "a lock has one holder, so no one unseen holds it");
	c = lock, c.all = 0, c.left = UNSAID;
	is(circle(&c), "wait-cycle proved 2", "its holder is enough: a lock need have no other record");
	c = lock, c.holds = 2, c.twice = true;
	is(circle(&c), "wait-cycle proved 2", "a holder may lock it twice");
	c = lock, c.third = true;
	is(circle(&c), "wait-cycle likely 2", "a lock with two readers is not proved");
	c = lock, c.closed = true;
	ok(!strstr(circle(&c), "wait-cycle"), "there is no circle if the lock was closed: %s", found);
}

/* Three hold a permit each. The third is not in the circle, but must be known to wait. */
static void beside(void)
{
	struct circle c = good;
	c.third = true, c.all = 3;
	circle(&c);
	ok(!strncmp(found, "wait-cycle proved 2", 19), "another holder may wait for the circle: %s", found);
	c.third_lost = true;
	ok(!strstr(circle(&c), "proved"), "it is not proved if events of that one are missing: %s", found);
}

/* When coroutine 1, which waits for some of A, is recorded as its holder. */
enum when { BEFORE, AS_READER, IN_BETWEEN, DURING }; /* AS_READER: before, of a lock that had two holders */

static const char *own(enum ctp_waits_for what, int64_t holds, uint64_t all, enum when when)
{
	scene();
	has_so(&h, 10, A, what, all, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
	for (uint64_t i = 0; when == AS_READER && i < 4; i++)
		gets(&h, 20 + i, 2 + i % 2, A, i < 2 ? 1 : -1);
	takes(100 * MS, 1, A, when <= AS_READER ? holds : 0);
	has(&h, 101 * MS, A, what, 0);
	runs(AT, 1);
	waits_for(&h, AT + 1, 1, what, A);
	if (when == IN_BETWEEN)
		gets(&h, AT + 2, 1, A, holds);
	stops(AT + 3, 1);
	if (when == DURING)
		gets(&h, AT + 4, 1, A, holds);
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_KILLED);
	return end();
}

static void owns(void)
{
	is(own(CTP_WAITS_LOCK, 1, 1, BEFORE), "wait-cycle proved 1", "a wait for a lock that it holds itself is proved");
	is(own(CTP_WAITS_LOCK, 1, 1, AS_READER), "wait-cycle likely 1", "not so if a reader may wait to become writer");
	is(own(CTP_WAITS_LOCK, 1, 1, DURING), "", "a coroutine that was handed the lock meanwhile is no circle");
	is(own(CTP_WAITS_LOCK, 1, 1, IN_BETWEEN), "", "nor one that recorded its own hold when about to wait");
	is(own(CTP_WAITS_PERMITS, 2, 2, BEFORE), "wait-cycle proved 1", "the same is proved if it holds all permits");
	is(own(CTP_WAITS_PERMITS, 1, 2, BEFORE), "", "it does not wait for itself if it holds one of two");
	is(own(CTP_WAITS_PERMITS, 2, 2, DURING), "", "permits that it was handed meanwhile are no circle");
	is(own(CTP_WAITS_PERMITS, 2, 2, IN_BETWEEN), "", "nor are those that it recorded when about to wait");
}

/* Coroutine 1 gets a lock again and again. The last time it is handed the lock, and not woken. */
static const char *handed_on(void)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	for (uint64_t i = 0; i <= 30; i++) {
		uint64_t ts = 10 * MS + i * 5 * MS;
		gets(&h, ts - MS, 2, A, 1);
		runs(ts, 1);
		waits_for(&h, ts + 1, 1, CTP_WAITS_LOCK, A);
		stops(ts + 2, 1);
		gets(&h, ts + MS, 2, A, -1);
		gets(&h, ts + MS + 1, 1, A, 1);
		if (i == 30)
			break;
		is_woken(&h, ts + MS + 2, 1, 6, 2);
		resumes(&h, ts + MS + 3, 1, 5);
		gets(&h, ts + MS + 5, 1, A, -1);
		waits_so(&h, ts + MS + 6, 1, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		suspends(&h, ts + MS + 7, 1, 5, 40);
	}
	return over();
}

static void is_handed_on(void)
{
	is(handed_on(), "waits-for-own likely 1", "a coroutine that was handed a lock and not woken is found");
	ok(strstr(title, "for the lock at 0x1000, which it holds already"), "the finding says so: %s", title);
}

/*
 * Coroutine 1 waits for a lock that it holds itself, in a trace that began later. There the reason has the time of
 * the suspension, so only what was held before the last run is older than the reason.
 */
static const char *attached(uint64_t held_ns)
{
	static const char *const attrs[] = {"pid", "100", "attached", "yes", "start_ns", "1000000000",
	                                    "recorded", "yes", NULL};
	scene_with(attrs);
	has_so(&h, 10, A, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	if (held_ns < AT)
		gets(&h, held_ns, 1, A, 1);
	runs(AT, 1);
	if (held_ns > AT)
		gets(&h, held_ns, 1, A, 1);
	waits_for(&h, AT + 2, 1, CTP_WAITS_LOCK, A);
	stops(AT + 2, 1);
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_KILLED);
	return end();
}

static void attached_later(void)
{
	is(attached(100 * MS), "wait-cycle proved 1", "what it held before its last run counts in an attached program");
	attached(AT + 1);
	ok(!strstr(found, "proved"), "what it took in that run does not: that may be after the reason: %s", found);
}

int main(void)
{
	permits();
	locks();
	beside();
	owns();
	is_handed_on();
	attached_later();
	return done_testing();
}
