/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-pool.c - the rules about objects that can never serve again, though each wait for them ends by a time-out. For each premise
 * there is a scene that breaks only that one.
 */
#include "objects-scene.h"

enum { FIRST = 100 }; /* the first coroutine of those that take a permit each */

struct pool {
	enum ctp_waits_for what;
	uint64_t marks;         /* of the pool, when it is made */
	uint64_t permits, dead; /* the first coroutines end at ended_ms, and the others keep theirs */
	uint64_t ended_ms, hold_ms, close_ms; /* hold_ms: when the last that lives gives its permit back, and takes it again; 0: never */
	uint64_t wants_to_ms, reason; /* reason: the marks of each wait for it */
	bool runs, timer; /* runs: those that live do not wait; timer: each wait has its time-out as a reason of its own */
};

static const struct pool drained = {.what = CTP_WAITS_PERMITS, .marks = CTP_OBJECT_OWNED, .permits = 4, .dead = 3, .ended_ms = 400,
                                    .wants_to_ms = 2900, .reason = CTP_REASON_TIMED};

/* Coroutine 1 waits for 200 ms in each 300 ms, in vain. */
static void wants(struct pool p)
{
	bool held = false, closed = false;
	for (uint64_t ms = 500; ms < p.wants_to_ms; ms += 300) {
		if (p.hold_ms && !held && ms > p.hold_ms) {
			gets(&h, p.hold_ms * MS, FIRST + p.permits - 1, A, -1);
			gets(&h, p.hold_ms * MS + 1, FIRST + p.permits - 1, A, 1);
			held = true;
		}
		if (p.close_ms && !closed && ms > p.close_ms) {
			has_so(&h, p.close_ms * MS, A, 0, 0, CTP_OBJECT_CLOSED);
			closed = true;
		}
		runs(ms * MS, 1);
		waits_so(&h, ms * MS + 1, 1, p.what, A, 1, p.reason);
		if (p.timer)
			waits_for(&h, ms * MS + 2, 1, CTP_WAITS_TIMER, (ms + 200) * MS);
		stops(ms * MS + 3, 1);
		runs((ms + 200) * MS, 1);
		waits_so(&h, (ms + 200) * MS + 1, 1, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		suspends(&h, (ms + 200) * MS + 2, 1, 5, 77);
	}
}

static const char *pool(struct pool p, uint64_t end_ms)
{
	scene();
	has_so(&h, 10, A, p.what, p.permits, CTP_OBJECT_MADE | p.marks);
	for (uint64_t i = 0; i < p.permits; i++) {
		uint64_t ts = 100 * MS + i * MS, co = FIRST + i;
		is_born(&h, ts, co, MAKER);
		resumes(&h, ts + 1, co, 10 + i);
		gets(&h, ts + 2, co, A, 1);
	}
	has(&h, 200 * MS, A, p.what, 0);
	for (uint64_t i = p.dead; i < p.permits && !p.runs; i++)
		suspends(&h, 300 * MS + i, FIRST + i, 10 + i, 88);
	for (uint64_t i = 0; i < p.dead; i++)
		dies(&h, p.ended_ms * MS + i, FIRST + i);
	wants(p);
	return over_at(end_ms);
}

static bool is_found(struct pool p) { return strstr(pool(p, END), "held-by-dead likely"); }

static void exhausted(void)
{
	struct pool p = drained;
	is(pool(p, END), "held-by-dead likely 1", "a pool whose holders have ended is found, though each wait has a short time-out");
	is(title, "the pool at 0x1000 has been exhausted for 2.90 s: 3 of 4 permits are held by coroutines that have ended",
	   "the title says how many permits are lost");
	ok(strstr(why, "coroutine #100 took 1 permit 100 ms after the start, and ended 400 ms after the start\n"),
	   "the evidence names a holder that has ended: %s", why);
	ok(strstr(why, "1 coroutine wanted a permit in the last second, at site 31\n"), "it says where the permits are wanted: %s", why);
	p.timer = true, p.reason = 0;
	ok(is_found(p), "the same is found if the time-out is a reason of its own: %s", found);
	p = drained, p.permits = p.dead = 20;
	ok(is_found(p), "a pool of 20 permits whose holders have all ended is found: %s", found);
	ok(strstr(title, "20 of 20 permits are held"), "all of its holders are counted: %s", title);

	p = drained, p.dead = 1;
	ok(!is_found(p), "it is not found if coroutines that live hold more than those that have ended: %s", found);
	p = drained, p.runs = true;
	ok(!is_found(p), "it is not found if a holder runs: %s", found);
	p = drained, p.marks = 0;
	ok(!is_found(p), "it is not found if others may give the permits back: %s", found);
	p = drained, p.ended_ms = 2300, p.wants_to_ms = 2200;
	ok(!is_found(p), "it is not found if the holders ended less than a second ago: %s", found);
	p = drained, p.hold_ms = 2300;
	ok(!is_found(p), "it is not found if a permit was given back in the last second: %s", found);
	p = drained, p.close_ms = 2000;
	ok(!is_found(p), "it is not found if the pool was closed: %s", found);
	p = drained, p.wants_to_ms = 1500;
	ok(!is_found(p), "it is not found if nobody wanted a permit in the last second: %s", found);
	p = drained, p.reason = CTP_REASON_RESTS;
	ok(!is_found(p), "it is not found if who waits may rest there: %s", found);
}

static void locked(void)
{
	struct pool p = {.what = CTP_WAITS_LOCK, .permits = 1, .dead = 1, .ended_ms = 400, .wants_to_ms = 2900, .reason = CTP_REASON_TIMED};
	is(pool(p, END), "held-by-dead likely 1", "a lock whose holder has ended is found, though each wait has a short time-out");
	is(title, "the lock at 0x1000 has been locked for 2.90 s by a coroutine that has ended", "the title is about the lock");
	p.dead = 0;
	ok(!is_found(p), "it is not found if the holder lives: %s", found);
}

/* --- queues --------------------------------------------------------------------------------------------------------------- */

struct queue {
	uint64_t takers, takes, gives, ended_ms;
	uint64_t reason, end_ms;
	uint64_t one_wait_ms; /* the giver's last wait goes on from then to the end; 0: its waits have short time-outs */
	bool lives, room, timer; /* lives: the last taker does not end; room: there is some */
};

static const struct queue abandoned = {.takers = 3, .takes = 60, .gives = 30, .ended_ms = 700, .reason = CTP_REASON_TIMED, .end_ms = END};

static void gives_in_vain(struct queue q)
{
	for (uint64_t ms = 800; ms < 2900 && !(q.one_wait_ms && ms > q.one_wait_ms); ms += 300) {
		runs(ms * MS, 1);
		waits_so(&h, ms * MS + 1, 1, CTP_WAITS_ROOM, A, 1, q.reason);
		if (q.timer)
			waits_for(&h, ms * MS + 2, 1, CTP_WAITS_TIMER, (ms + 5000) * MS);
		suspends(&h, ms * MS + 3, 1, 5, 40);
		if (q.one_wait_ms)
			return;
		runs((ms + 200) * MS, 1);
		waits_so(&h, (ms + 200) * MS + 1, 1, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		suspends(&h, (ms + 200) * MS + 2, 1, 5, 41);
	}
}

static const char *queue(struct queue q)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_ROOM, 4, CTP_OBJECT_MADE);
	for (uint64_t i = 0; i < q.takers; i++)
		is_born(&h, 11 + i, FIRST + i, MAKER);
	for (uint64_t i = 0; i < q.takes; i++) {
		uint64_t ts = 10 * MS + i * 5 * MS, co = FIRST + i % q.takers;
		runs(ts, co);
		waits_for(&h, ts + 1, co, CTP_WAITS_ITEM, A);
		suspends(&h, ts + 2, co, 5, 50);
		if (i >= q.gives)
			continue;
		runs(ts + 10, 1);
		waits_for(&h, ts + 11, 1, CTP_WAITS_ROOM, A);
		suspends(&h, ts + 12, 1, 5, 40);
	}
	has(&h, 600 * MS, A, CTP_WAITS_ROOM, q.room);
	for (uint64_t i = 0; i + q.lives < q.takers; i++)
		dies(&h, q.ended_ms * MS + i, FIRST + i);
	gives_in_vain(q);
	return over_at(q.end_ms);
}

static bool is_left(struct queue q) { return strstr(queue(q), "peer-ended likely"); }

static void queues(void)
{
	struct queue q = abandoned;
	is(queue(q), "peer-ended likely 1", "a full queue whose takers have all ended is found, though each wait has a short time-out");
	is(title, "all coroutines that ever took from the queue at 0x1000 have ended, and 1 coroutine wants room in it", "the title says so");
	ok(strstr(why, "1 coroutine wanted room in it in the last second, at site 40\n"), "it says where room is wanted: %s", why);
	ok(strstr(why, "coroutine #100 has taken from it 20 times, and has ended\n"), "the evidence names a taker: %s", why);
	q.takers = 12;
	ok(is_left(q), "the same is found with twelve takers: %s", found);
	q = abandoned, q.one_wait_ms = 800;
	ok(is_left(q), "one long wait with a time-out that is a mark is found, too: %s", found);
	q.timer = true, q.reason = 0;
	ok(is_left(q), "one long wait with a time-out that is a reason is found, too: %s", found);

	q = abandoned, q.lives = true;
	ok(!is_left(q), "it is not found if a taker lives: %s", found);
	q = abandoned, q.ended_ms = 2300;
	ok(!is_left(q), "it is not found if the takers ended less than a second ago: %s", found);
	q = abandoned, q.room = true;
	ok(!is_left(q), "it is not found if there is room: %s", found);
	q = abandoned, q.gives = 60, q.takes = 40;
	ok(!is_left(q), "it is not found if others must have taken without waiting: %s", found);
	q = abandoned, q.reason = CTP_REASON_RESTS;
	ok(!is_left(q), "it is not found if who waits may rest there: %s", found);
}

int main(void)
{
	exhausted();
	locked();
	queues();
	return done_testing();
}
