/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-holders.c - the rules about coroutines that hold what others wait for, and circles of them. For each premise there is a scene
 * that breaks only that one.
 */
#include "objects-scene.h"

static void held_by_dead(uint64_t marks, bool dies_there, bool other)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 2, CTP_OBJECT_MADE | marks);
	runs(100 * MS, 2);
	gets(&h, 100 * MS + 1, 2, A, other ? 1 : 2);
	has(&h, 100 * MS + 2, A, CTP_WAITS_PERMITS, other ? 1 : 0);
	if (other) {
		runs(101 * MS, 3);
		gets(&h, 101 * MS + 1, 3, A, 1);
		has(&h, 101 * MS + 2, A, CTP_WAITS_PERMITS, 0);
	}
	if (dies_there)
		dies(&h, 110 * MS, 2);
	else
		stops(110 * MS, 2);
	waits_alone(1, CTP_WAITS_PERMITS, A, 1, 0);
	over();
}

/* Coroutine 2 holds a permit, or shares a lock, and waits for something else; coroutine 3 has done so and ended. */
static void held_by_two(bool lock)
{
	enum ctp_waits_for what = lock ? CTP_WAITS_LOCK : CTP_WAITS_PERMITS;
	scene();
	has_so(&h, 10, A, what, lock ? 1 : 2, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
	for (uint64_t co = 2; co <= 3; co++) {
		runs(100 * MS * (co - 1), co);
		gets(&h, 100 * MS * (co - 1) + 1, co, A, 1);
	}
	has(&h, 201 * MS, A, what, 0);
	stops(202 * MS, 2);
	dies(&h, 203 * MS, 3);
	waits_alone(1, what, A, 1, 0);
	over();
}

/* Coroutine 1 gets one of two permits again and again; from 300 ms on it waits for one, and may hold one. */
static void waits_for_own(bool own, enum ctp_waits_for what, uint64_t end_ms)
{
	scene();
	has_so(&h, 10, A, what, 2, CTP_OBJECT_MADE);
	for (uint64_t i = 0; i < 30; i++) {
		uint64_t ts = 10 * MS + i * 5 * MS;
		runs(ts, 1);
		waits_for(&h, ts + 1, 1, what, A);
		stops(ts + 2, 1);
		is_woken(&h, ts + 3, 1, 6, 2);
		resumes(&h, ts + 4, 1, 5);
		gets(&h, ts + 5, 1, A, 1);
		gets(&h, ts + 6, 1, A, -1);
		waits_so(&h, ts + 7, 1, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		suspends(&h, ts + 8, 1, 5, 40);
	}
	runs(250 * MS, 2);
	gets(&h, 250 * MS + 1, 2, A, 1);
	gets(&h, 250 * MS + 2, own ? 1 : 3, A, 1);
	has(&h, 250 * MS + 3, A, what, 0);
	waits_so(&h, 250 * MS + 4, 2, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
	stops(250 * MS + 5, 2);
	runs(AT - 10, 1);
	waits_for(&h, AT - 5, 1, what, A);
	stops(AT, 1);
	over_at(end_ms);
}

static void own_permits(void)
{
	waits_for_own(true, CTP_WAITS_PERMITS, END);
	is(found, "waits-for-own likely 1", "a coroutine that waits for a permit which it holds is found");
	waits_for_own(false, CTP_WAITS_PERMITS, END);
	ok(!strstr(found, "waits-for-own"), "it is not found if others hold the permits: %s", found);
	waits_for_own(true, CTP_WAITS_PERMITS, 1200);
	ok(!strstr(found, "waits-for-own"), "it is not found within a second: %s", found);
}

static void dead_holders(void)
{
	held_by_dead(CTP_OBJECT_OWNED, true, false);
	is(found, "held-by-dead likely 1", "a permit held by an ended coroutine is found");
	ok(strstr(why, "waits for 1 of 2 permits of the pool at 0x1000 (0 free), 2 of them held by coroutine #2, which has ended, for 2.90 s\n"),
	   "the finding names the ended holder: %s", why);
	held_by_two(false);
	is(found, "held-by-dead likely 1", "one of two permits that is held by an ended coroutine is found");
	ok(strstr(why, "(0 free), 1 of them held by coroutine #3, which has ended, for 2.80 s, and 1 by others\n"),
	   "the finding names the holder that has ended, and not the one that took its permit first: %s", why);
	held_by_two(true);
	ok(strstr(why, "waits for the lock at 0x1000, held by coroutine #3, which has ended, for 2.80 s, and by 1 more\n"),
	   "the finding counts the others that share a lock: %s", why);
	held_by_dead(0, true, false);
	is(found, "", "it is not found if others may give the permit back");
	held_by_dead(CTP_OBJECT_OWNED, false, false);
	ok(!strstr(found, "held-by-dead"), "it is not found if the holder lives: %s", found);
	held_by_dead(CTP_OBJECT_OWNED, true, true);
	ok(!strstr(found, "held-by-dead"), "it is not found if another holder runs: %s", found);
}

/*
 * Of two permits, one is held by a coroutine that has ended, and one by another that waits. Coroutine 1 waits for a permit. The object is
 * destroyed at gone_ms, and the living holder gives its permit back after that, or the address has another object.
 */
static void destroyed(uint64_t gone_ms, bool again)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 2, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
	for (uint64_t co = 2; co <= 3; co++) {
		runs(100 * MS + co, co);
		gets(&h, 101 * MS + co, co, A, 1);
	}
	has(&h, 102 * MS, A, CTP_WAITS_PERMITS, 0);
	dies(&h, 110 * MS, 2);
	stops(110 * MS, 3);
	waits_alone(1, CTP_WAITS_PERMITS, A, 1, 0);
	has_so(&h, gone_ms * MS, A, 0, 0, CTP_OBJECT_GONE);
	if (again)
		has_so(&h, gone_ms * MS + 1, A, CTP_WAITS_PERMITS, 2, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
	else
		gets(&h, gone_ms * MS + 1, 3, A, -1);
	over();
}

/* A suspended coroutine holds a lock for which another waits. The lock is destroyed, and given back this much earlier. */
static void destroyed_lock(uint64_t earlier_ns)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	runs(100 * MS, 2);
	gets(&h, 101 * MS, 2, A, 1);
	stops(110 * MS, 2);
	waits_alone(1, CTP_WAITS_LOCK, A, 1, 0);
	gets(&h, 2000 * MS - earlier_ns, 2, A, -1);
	has_so(&h, 2000 * MS, A, 0, 0, CTP_OBJECT_GONE);
	over();
}

/* Waits are counted also where the rules about objects are not applied. */
static void counted(void)
{
	static const char *const filtered[] = {"pid", "100", "filtered", "--coro 1", NULL};
	static const char *const ordinal[] = {"pid", "100", "clock", "ordinal", NULL};
	for (int i = 0; i < 2; i++) {
		scene_with(i ? ordinal : filtered);
		has_so(&h, 10, A, CTP_WAITS_PERMITS, 2, CTP_OBJECT_MADE);
		has(&h, 20, A, CTP_WAITS_PERMITS, 0);
		waits_alone(1, CTP_WAITS_PERMITS, A, 1, 0);
		over();
		is(found, "", "a section without a clock, or a filtered one, has no finding about an object");
		is(listed, "4096 for 1, held by 0", "its waits for the object are counted");
	}
}

static void destroyed_objects(void)
{
	destroyed_lock(1);
	is(listed, "4096 for 1, held by 1, destroyed at 2000", "a lock that is given back when it is destroyed keeps its holder");
	destroyed_lock(600 * MS);
	is(listed, "4096 for 1, held by 0, destroyed at 2000", "it has none if it was given back long before");
	destroyed(2000, false);
	is(found, "held-by-dead likely 1", "a permit of an object that was destroyed since is found");
	ok(strstr(why, "waits for 1 of 2 permits of the pool at 0x1000 (0 free), 1 of them held by coroutine #2, which has ended, for 2.90 s, and 1 by others\n"),
	   "the finding names the holders that it had: %s", why);
	ok(strstr(why, "the pool at 0x1000 was destroyed 2.00 s after the start, while 1 coroutine waited for it"),
	   "the finding says that it was destroyed: %s", why);
	is(listed, "4096 for 1, held by 2, destroyed at 2000", "the report lists the object as it was");
	destroyed(AT / MS + 400, false);
	is(found, "", "it is not found if it was destroyed before the wait was too long");
	destroyed(2000, true);
	is(found, "", "it is not found if another object has the address");
	is(listed, "4096 for 0, held by 0", "which is listed without the wait");
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 2, CTP_OBJECT_MADE);
	has_so(&h, 20, A, 0, 0, CTP_OBJECT_GONE);
	over();
	is(listed, "", "a destroyed object that no coroutine waits for is not listed");
}

/* What a scene of held_by_none has that is different: each takes one premise away. */
struct forgotten {
	uint64_t marks;            /* of the object */
	bool unrecorded;           /* no hold was ever recorded */
	bool held;                 /* the second permit has a holder */
	bool free;                 /* one permit is available */
	bool changes;              /* a hold is recorded shortly before the end */
	bool comes;                /* a coroutine that waited for it was woken, and has not suspended since */
	uint64_t end_ms;           /* 0: END */
};

/* Coroutines 2 and 3 take both permits and give them back, without a record that they are available; coroutine 1 waits for one. */
static const char *held_by_none(const struct forgotten *f)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 2, CTP_OBJECT_MADE | f->marks);
	for (uint64_t co = 2; co <= 3; co++) {
		runs(100 * MS * co, co);
		if (!f->unrecorded)
			gets(&h, 100 * MS * co + 1, co, A, 1);
		if (co == 3)
			has(&h, 100 * MS * co + 2, A, CTP_WAITS_PERMITS, 0);
		if (!f->unrecorded && !(f->held && co == 3))
			gets(&h, 100 * MS * co + 3, co, A, -1);
		stops(100 * MS * co + 4, co);
	}
	if (f->free)
		has(&h, 301 * MS, A, CTP_WAITS_PERMITS, 1);
	if (f->comes) {
		runs(302 * MS, 4);
		waits_for(&h, 302 * MS + 1, 4, CTP_WAITS_PERMITS, A);
		stops(302 * MS + 2, 4);
		is_woken(&h, 303 * MS, 4, 6, 0);
	}
	runs(AT + 10 * MS, 1);
	waits_for(&h, AT + 10 * MS + 1, 1, CTP_WAITS_PERMITS, A);
	stops(AT + 10 * MS + 2, 1);
	uint64_t end_ms = f->end_ms ? f->end_ms : END;
	if (f->changes) {
		gets(&h, (end_ms - 1) * MS, 2, A, 1);
		gets(&h, (end_ms - 1) * MS + 1, 2, A, -1);
	}
	return over_at(end_ms);
}

static void forgotten_permits(void)
{
	static const char rule[] = "held-by-none";
	held_by_none(&(struct forgotten){.marks = CTP_OBJECT_OWNED});
	is(found, "held-by-none likely 1", "both permits are taken, and no coroutine holds one");
	ok(strstr(why, "waits for 1 of 2 permits of the pool at 0x1000 (0 free), which no coroutine holds"), "the evidence says so: %s", why);
	held_by_none(&(struct forgotten){.marks = 0});
	ok(!strstr(found, rule), "no finding if others than the holder may give it back: %s", found);
	held_by_none(&(struct forgotten){.marks = CTP_OBJECT_OWNED, .unrecorded = true});
	ok(!strstr(found, rule), "no finding if the program records no holds: %s", found);
	held_by_none(&(struct forgotten){.marks = CTP_OBJECT_OWNED, .held = true});
	ok(!strstr(found, rule), "no finding if a coroutine holds one: %s", found);
	held_by_none(&(struct forgotten){.marks = CTP_OBJECT_OWNED, .free = true});
	is(found, "available-not-woken likely 1", "another finding if one is available");
	held_by_none(&(struct forgotten){.marks = CTP_OBJECT_OWNED, .changes = true});
	ok(!strstr(found, rule), "no finding if a hold was recorded in the last second: %s", found);
	held_by_none(&(struct forgotten){.marks = CTP_OBJECT_OWNED, .comes = true});
	ok(!strstr(found, rule), "no finding if a coroutine was woken for it and has not run yet: %s", found);
	held_by_none(&(struct forgotten){.marks = CTP_OBJECT_OWNED, .end_ms = 1200});
	ok(!strstr(found, rule), "no finding before a second has passed: %s", found);
}

/* Two locks in two orders: 1 has A and waits for B, 2 has B and waits for A. */
static void circle(uint64_t marks, uint64_t owned, enum ctp_waits_for what, bool missed)
{
	scene();
	has_so(&h, 10, A, what, 1, CTP_OBJECT_MADE | owned);
	has_so(&h, 11, B, what, 1, CTP_OBJECT_MADE | owned);
	runs(100 * MS, 1);
	gets(&h, 100 * MS + 1, 1, A, 1);
	has(&h, 100 * MS + 2, A, what, 0);
	stops(100 * MS + 3, 1);
	runs(101 * MS, 2);
	gets(&h, 101 * MS + 1, 2, B, 1);
	has(&h, 101 * MS + 2, B, what, 0);
	stops(101 * MS + 3, 2);
	if (missed)
		are_missed(&h, 110 * MS, 111 * MS, 6);
	waits_alone(1, what, B, 1, marks);
	runs(AT + MS, 2);
	waits_so(&h, AT + MS + 1, 2, what, A, 1, 0);
	stops(AT + 2 * MS, 2);
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_KILLED);
	end();
}

/* The circle above, in a program that shuts down: it destroys the guards, the locks, and then the coroutines. */
static void circle_destroyed(void)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	has_so(&h, 11, B, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	for (uint64_t co = 1; co <= 2; co++) {
		runs(99 * MS + co * MS, co);
		gets(&h, 99 * MS + co * MS + 1, co, co == 1 ? A : B, 1);
		stops(99 * MS + co * MS + 3, co);
	}
	waits_alone(1, CTP_WAITS_LOCK, B, 1, 0);
	runs(AT + MS, 2);
	waits_so(&h, AT + MS + 1, 2, CTP_WAITS_LOCK, A, 1, 0);
	stops(AT + 2 * MS, 2);
	gets(&h, END * (uint64_t)MS - 20, 1, A, -1);
	has(&h, END * (uint64_t)MS - 19, A, CTP_WAITS_LOCK, 1);
	has_so(&h, END * (uint64_t)MS - 18, A, 0, 0, CTP_OBJECT_GONE);
	dies(&h, END * (uint64_t)MS - 17, 1);
	gets(&h, END * (uint64_t)MS - 16, 2, B, -1);
	has_so(&h, END * (uint64_t)MS - 15, B, 0, 0, CTP_OBJECT_GONE);
	has_so(&h, END * (uint64_t)MS - 14, C, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	for (uint64_t co = 2; co <= 4; co++)
		dies(&h, END * (uint64_t)MS - 10 + co, co);
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_EXITED);
	end();
}

static void circles(void)
{
	circle_destroyed();
	is(found, "wait-cycle proved 2", "locks are judged as they were before the program destroyed them");
	circle(0, 0, CTP_WAITS_LOCK, false);
	is(found, "wait-cycle proved 2", "two locks taken in two orders are a proved deadlock");
	ok(strstr(why, "coroutine #1 waits for the lock at 0x2000, held by coroutine #2 for 2.90 s, which has been suspended at"),
	   "the finding names locks and holders: %s", why);
	circle(0, CTP_OBJECT_OWNED, CTP_WAITS_PERMITS, false);
	is(found, "wait-cycle proved 2", "so are permits that only the holder gives back");
	circle(0, 0, CTP_WAITS_PERMITS, false);
	is(found, "wait-cycle likely 2", "a permit that any coroutine may give back proves nothing");
	circle(CTP_REASON_TIMED, 0, CTP_WAITS_LOCK, false);
	is(found, "wait-cycle likely 2", "a wait with a time-out proves nothing");
	circle(CTP_REASON_CANCELLABLE, 0, CTP_WAITS_LOCK, false);
	is(found, "wait-cycle likely 2", "a wait that may be cancelled proves nothing");
	circle(CTP_REASON_SHARED, 0, CTP_WAITS_LOCK, false);
	is(found, "wait-cycle likely 2", "a wait for a share proves nothing");
	circle(CTP_REASON_MORE, 0, CTP_WAITS_LOCK, false);
	ok(!strstr(found, "proved"), "a wait with other reasons proves nothing: %s", found);
	circle(0, 0, CTP_WAITS_LOCK, true);
	ok(!strstr(found, "proved"), "a wait after lost records proves nothing: %s", found);
}

/* Two coroutines hold one permit each of A, and wait for a third one's lock B, which waits for A. Coroutine 4 may run. */
static void knot(bool closes)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 2, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
	has_so(&h, 11, B, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	for (uint64_t co = 1; co <= 2; co++) {
		runs(100 * MS * co, co);
		gets(&h, 100 * MS * co + 1, co, A, 1);
		stops(100 * MS * co + 2, co);
	}
	has(&h, 250 * MS, A, CTP_WAITS_PERMITS, 0);
	runs(251 * MS, 3);
	gets(&h, 251 * MS + 1, 3, B, 1);
	stops(251 * MS + 2, 3);
	waits_alone(1, CTP_WAITS_LOCK, B, 1, 0);
	runs(AT + MS, 3);
	waits_for(&h, AT + MS + 1, 3, CTP_WAITS_PERMITS, A);
	stops(AT + 2 * MS, 3);
	if (closes) {
		runs(AT + 3 * MS, 2);
		waits_for(&h, AT + 3 * MS + 1, 2, CTP_WAITS_LOCK, B);
		stops(AT + 4 * MS, 2);
	}
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_KILLED);
	end();
}

static void knots(void)
{
	knot(true);
	is(found, "wait-cycle proved 2", "if several hold permits, all of them are in the circle");
	ok(strstr(why, "1 other waits because of them"), "the other waiter is counted: %s", why);
	knot(false);
	ok(!strstr(found, "proved"), "a holder outside the circle may give its permit back: %s", found);
}

/* A circle of a lock and a join. */
static void mixed(void)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	runs(100 * MS, 1);
	gets(&h, 100 * MS + 1, 1, A, 1);
	has(&h, 100 * MS + 2, A, CTP_WAITS_LOCK, 0);
	joins(&h, 100 * MS + 3, 1, 2);
	stops(100 * MS + 4, 1);
	waits_alone(2, CTP_WAITS_LOCK, A, 1, 0);
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle proved 2", "a join can be part of a circle");
}

/*
 * Each permit is held by a coroutine that waits for a lock. Its holder waits for a permit. free: one more permit is held by a
 * coroutine that rests. destroyed: the program ends in order: all is given back, and then the coroutines are destroyed.
 */
static const char *many_hold(uint64_t permits, bool resting, bool destroyed)
{
	enum { FIRST = 100 };
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, permits, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
	has_so(&h, 11, B, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	runs(100 * MS, 1);
	gets(&h, 100 * MS + 1, 1, B, 1);
	has(&h, 100 * MS + 2, B, CTP_WAITS_LOCK, 0);
	for (uint64_t i = 0; i < permits; i++) {
		uint64_t ts = 101 * MS + i * 10, co = FIRST + i;
		is_born(&h, ts, co, MAKER);
		resumes(&h, ts + 1, co, 6);
		gets(&h, ts + 2, co, A, 1);
		if (resting && i == permits - 1)
			waits_so(&h, ts + 3, co, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		else
			waits_for(&h, ts + 3, co, CTP_WAITS_LOCK, B);
		suspends(&h, ts + 4, co, 6, 60);
	}
	has(&h, 200 * MS, A, CTP_WAITS_PERMITS, 0);
	waits_for(&h, 201 * MS, 1, CTP_WAITS_PERMITS, A);
	stops(202 * MS, 1);
	for (uint64_t i = 0; destroyed && i < permits; i++)
		gets(&h, 2 * S + 900 * MS + i, FIRST + i, A, -1);
	for (uint64_t i = 0; destroyed && i < permits; i++)
		dies(&h, 2 * S + 900 * MS + permits + i, FIRST + i);
	if (destroyed)
		for (uint64_t co = 1; co <= 4; co++)
			dies(&h, 2 * S + 910 * MS + co, co);
	return over();
}

static void many_holders(void)
{
	is(many_hold(16, false, false), "wait-cycle proved 2", "a circle through a pool of 16 holders is proved");
	is(many_hold(20, false, false), "wait-cycle proved 2", "one through a pool of 20 holders is proved, too");
	ok(strstr(why, "and 19 by others"), "the evidence counts all of them: %s", why);
	is(many_hold(500, false, false), "wait-cycle proved 2", "and one through a pool of 500");
	is(many_hold(20, true, false), "wait-cycle likely 2", "it is not proved if one of the 20 holders may give its permit back");
	is(many_hold(20, false, true), "wait-cycle proved 2", "it is proved if the program gives all back at its end");
	is(many_hold(2000, false, false), "", "with more holders than are kept, nothing is proved");
}

int main(void)
{
	many_holders();
	dead_holders();
	destroyed_objects();
	counted();
	forgotten_permits();
	own_permits();
	circles();
	knots();
	mixed();
	return done_testing();
}
