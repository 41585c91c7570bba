/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rings.c - from rings to a stream that is read again: every event once, as a row or as lost, and each with its own coroutine,
 * although stations, rings and threads change hands. See arena.c for what this rests on.
 */
#include <pthread.h>
#include <sched.h>

#include "ringworld.h"
#include "tap.h"

/* --- step by step --------------------------------------------------------------------------------------------------------- */

static void test_lives(void)
{
	struct world w;
	struct rawcoro a, b, c;
	world_open(&w, 8, 8);
	raw_site(&w.mem, 3, "a.c", 17, "f");
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	raw_birth(&w.ring[0], &b, 2, a.ref);
	raw_name(&w.ring[0], &b, "second");
	event(&w.ring[0], &b, 2, 0, true);
	raw_wake(&w.ring[0], b.ref, a.ref);
	raw_event(&w.ring[0], &b, 1, addr_of(2, 1), 3, true);
	raw_event(&w.ring[0], &b, 0, addr_of(2, 2), 60000, true); /* no such site */
	raw_event(&w.ring[0], &b, 1, addr_of(2, 3), 3, true);
	raw_death(&w.ring[0], &a);
	scan(&w, 1);
	ok(stats(&w)->events == 4 && stats(&w)->births == 2 && stats(&w)->deaths == 1 && stats(&w)->wakes == 1,
	   "all of it is seen");
	is_u64(raw32(w.mem.base + 0xc0), a.index + 1, "a station is free when all is known of the dead");
	raw_birth(&w.ring[0], &c, 3, b.ref);
	is_u64(c.index, a.index, "then another has it");
	raw_wake(&w.ring[0], a.ref, c.ref); /* of one who is dead */
	event(&w.ring[0], &c, 3, c.events, true);
	ok(world_close(&w), "the stream is whole");
	ok(w.r->wrong == 0 && w.r->events == 5 && w.r->births == 3 && w.r->lost == 0, "and says the same");
	ok(w.r->of[2].parent == w.r->of[1].coro && w.r->of[3].parent == w.r->of[2].coro && !w.r->of[1].parent, "parents");
	ok(w.r->of[2].wakes == 1 && w.r->wakes == 2 && w.r->sites == 1 && w.r->last_site == 0,
	   "wakes and sites, each where it belongs");
	is(w.r->of[2].name, "second", "a name");
	free(w.r);
}

/* A reader must not wait for the mark beyond an event until there is another one. */
static void test_mark(void)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 4, 6);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	event(&w.ring[0], &a, 1, 0, true);
	uint64_t ts = ctp_clock_ns();
	scan(&w, 1);
	while (ctp_clock_ns() <= ts + 2000000) /* an allowance is made for probes in flight */
		;
	scan(&w, 1);
	ctp_harvest_settle(w.m.harvest);
	ctp_harvest_free(w.m.harvest); /* so that the end makes no other */
	w.m.harvest = NULL;
	ok(memstream_close(&w.m, see, w.r) && w.m.mark_ns > ts, "a mark beyond the last event comes without another one");
	free(w.r);
}

static void events_at_site(struct world *w, struct rawcoro *co, unsigned n)
{
	for (; n; n--)
		raw_event(&w->ring[0], co, co->events % 2, addr_of(1, co->events), 3, true);
}

/* What is usual of the only busy ring waits for nothing to be sorted; but a mark is due for it as for any. */
static void test_straight(void)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 4, 6);
	raw_site(&w.mem, 3, "a.c", 17, "f");
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	events_at_site(&w, &a, 2);
	scan(&w, 1);
	ctp_harvest_settle(w.m.harvest);
	size_t pending = ctp_writer_pending(w.m.writer);
	events_at_site(&w, &a, 20);
	uint64_t ts = ctp_clock_ns();
	ctp_harvest_sweep(w.m.harvest, NULL); /* which settles nothing */
	ok(ctp_writer_pending(w.m.writer) >= pending + 20, "they are written at once");
	is_u64(ctp_harvest_unsettled(w.m.harvest), 20, "and a mark is due for them");
	while (ctp_clock_ns() <= ts + 2000000)
		;
	scan(&w, 1);
	is_u64(ctp_harvest_unsettled(w.m.harvest), 0, "which comes when it is time");
	is_u64(w.m.threads, 1, "their thread is known once");
	ctp_harvest_free(w.m.harvest);
	w.m.harvest = NULL;
	ok(memstream_close(&w.m, see, w.r) && w.m.mark_ns > ts && w.r->events == 22 && !w.r->wrong, "the stream has it all");
	free(w.r);
}

/* Thousands of coroutines in four stations, one after another. */
static void test_generations(void)
{
	struct world w;
	unsigned born = 0, most = 3000;
	world_open(&w, 4, 6);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	for (unsigned tries = 0; born < most && tries < 10 * most; tries++) {
		struct rawcoro co;
		scan(&w, 1);
		if (!raw_birth(&w.ring[0], &co, born + 1, 0))
			continue;
		born++;
		uint64_t first = co.events;
		for (unsigned e = 0; e < born % 11; e++)
			event(&w.ring[0], &co, born, first, true);
		raw_death(&w.ring[0], &co);
	}
	is_u64(born, most, "thousands of coroutines in four stations");
	ok(world_close(&w) && !w.r->wrong && w.r->births == most && w.r->deaths == most && !w.r->lost, "each of them itself");
	unsigned bad = 0;
	for (unsigned id = 1; id <= most; id++)
		bad += w.r->of[id].events != id % 11 || w.r->of[id].coro != id;
	is_u64(bad, 0, "with its own number, and its own events");
	free(w.r);
}

/* Event 1 is in a ring before event 0 is seen in another. */
static void test_holes(void)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_claim(&w.ring[1], &w.mem, 1, 100, 102);
	raw_birth(&w.ring[0], &a, 1, 0);
	struct rawcoro later = a;
	later.events = 1;
	event(&w.ring[1], &later, 1, 0, false);
	scan(&w, 1);
	is_u64(stats(&w)->lost, 0, "a hole is not a loss");
	event(&w.ring[0], &a, 1, 0, false);
	scan(&w, 4);
	ok(stats(&w)->lost == 0 && stats(&w)->events == 2, "where the event comes from another ring");

	later.events = 5; /* 2 to 4 are nowhere */
	event(&w.ring[1], &later, 1, 0, true);
	scan(&w, 4);
	ok(stats(&w)->lost == 3 && stats(&w)->events == 3, "it is one when two more rounds are over");
	later.events = 3;
	event(&w.ring[1], &later, 1, 0, false); /* too late */
	scan(&w, 1);
	is_u64(stats(&w)->events, 3, "and what was counted as lost does not come again");

	for (later.events = 6; later.events < 9;) { /* only the slots have these */
		raw_slot(&later, ctp_clock_ns(), 102, addr_of(1, later.events), (uint64_t)(later.events % 2) << 56);
		later.events++;
	}
	event(&w.ring[1], &later, 1, 0, true);
	scan(&w, 4);
	ok(stats(&w)->events == 7 && stats(&w)->lost == 3, "what the slots have is not lost");
	raw_slot(&later, ctp_clock_ns(), 102, addr_of(1, later.events), 0);
	ok(world_close(&w) && w.r->wrong == 0 && w.r->events == 8 && w.r->lost == 3,
	   "not even the last of all, and the stream agrees");
	free(w.r);
}

/* Event 3 is in two rings, and 0 to 2 are in none. */
static void test_twice(void)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_claim(&w.ring[1], &w.mem, 1, 100, 102);
	raw_birth(&w.ring[0], &a, 1, 0);
	for (unsigned i = 0; i < 2; i++) {
		a.events = 3;
		event(&w.ring[i], &a, 1, 0, false);
		scan(&w, 1);
	}
	ok(world_close(&w) && w.r->wrong == 0 && w.r->events == 1 && w.r->lost == 3,
	   "an event that comes twice is one row, and no gap's");
	free(w.r);
}

/* Of the events before the fifth only the third comes, and comes late; and the last one of all does not. */
static void test_parted(void)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_claim(&w.ring[1], &w.mem, 1, 100, 102);
	raw_birth(&w.ring[0], &a, 1, 0);
	struct rawcoro late = a;
	a.events = 4;
	event(&w.ring[0], &a, 1, 0, false);
	scan(&w, 1);
	late.events = 2;
	event(&w.ring[1], &late, 1, 0, false);
	scan(&w, 4);
	ok(stats(&w)->events == 2 && stats(&w)->lost == 4 - 1, "an event in the midst of a gap leaves a gap on each side");
	a.events++;
	raw_death(&w.ring[0], &a);
	ok(world_close(&w) && !w.r->wrong && w.r->events == 2 && w.r->lost == 4, "a last event that is missing is lost");
	free(w.r);
}

/* A processor reads its counter early: who takes a coroutine over has an earlier time than who had it. */
static void test_early(unsigned giver, uint64_t by, const char *name)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_claim(&w.ring[1], &w.mem, 1, 100, 102);
	struct rawring *give = &w.ring[giver], *take = &w.ring[!giver];
	give->ts = ctp_clock_ns() + 100;
	raw_birth(give, &a, 1, 0);
	event(give, &a, 1, 0, false);
	event(give, &a, 1, 0, false);
	take->ts = give->ts - by;
	event(take, &a, 1, 0, false);
	event(take, &a, 1, 0, false);
	raw_death(take, &a);
	while (ctp_clock_ns() < give->ts)
		;
	ok(world_close(&w) && !w.r->wrong && !w.r->backwards && w.r->events == 4 && w.r->deaths == 1 && !w.r->lost, "%s", name);
	free(w.r);
}

/* More than a ring holds. */
static void test_gap(bool slots)
{
	struct world w;
	struct rawcoro a, b;
	world_open(&w, 8, 4);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	for (unsigned i = 0; i < 40; i++)
		event(&w.ring[0], &a, 1, 0, slots);
	raw_birth(&w.ring[0], &b, 2, 0); /* nobody hears of it */
	raw_death(&w.ring[0], &a);
	is_u64(w.ring[0].lost_events + w.ring[0].lost_notes, 26 + 2, "a ring of 16 has lost the rest");
	scan(&w, 1);
	ctp_harvest_lives(w.m.harvest);
	ok(stats(&w)->births == 2, "a birth that nobody told is found");
	scan(&w, 3);
	is_u64(stats(&w)->deaths, 1, "and a death");
	is_u64(stats(&w)->events + stats(&w)->lost, 40, "every event is counted");
	is_u64(stats(&w)->events, slots ? 22 : 14, slots ? "the last 8 are in the slots" : "without slots they are lost");
	event(&w.ring[0], &b, 2, 0, slots);
	ok(world_close(&w) && !w.r->wrong && w.r->lost == (slots ? 18 : 26) && w.r->missed == 2 &&
	           w.r->events + w.r->lost == 41,
	   "the stream agrees, and has the 2 that were missed");
	is_u64(w.r->ring_lost, 26, "and that 26 of the thread's are not in its ring");
	free(w.r);
}

/*
 * A thread's gap reaches from the first that its ring lost to the next that it has, wherever a look ends. at: entries in front of
 * the gap, of which a look takes 64 at a time; apart: the next comes with a later look.
 */
static void test_thread_gap(unsigned at, bool apart)
{
	struct world w;
	struct rawcoro a;
	struct rawring *r = &w.ring[0];
	world_open(&w, 8, 8);
	raw_claim(r, &w.mem, 0, 100, 101);
	raw_birth(r, &a, 1, 0);
	for (unsigned i = 1; i < at; i++)
		event(r, &a, 1, 0, true);
	uint64_t from = ctp_clock_ns() - 7, to = from + 5;
	raw_store(r, from, 3, 0, (uint64_t)RAW_GAP << 56 | 1);
	if (apart)
		scan(&w, 1);
	a.events += 3;
	r->ts = to;
	event(r, &a, 1, 0, true);
	r->ts = 0;
	event(r, &a, 1, 0, true);
	put64(r->ring + 0x10, 3 + 2); /* lost, and two more of which no gap tells */
	uint64_t end = ctp_clock_ns();
	bool closed = world_close(&w);
	ok(closed && !w.r->wrong && w.r->ring_lost == 5 && w.r->missed == 1, "3 that a gap tells of, and 2 at the end");
	ok(w.r->gap[CTP_MISSED_TID] == 101 && w.r->gap[CTP_MISSED_TRANSITIONS] == 2 && w.r->gap[CTP_MISSED_AFTER] > to &&
	           w.r->gap[CTP_MISSED_AFTER] <= end && w.r->gap[CTP_MISSED_TS] >= end,
	   "the last from the last event on");
	ok(w.r->first_gap[CTP_MISSED_TID] == 101 && w.r->first_gap[CTP_MISSED_AFTER] == from &&
	           w.r->first_gap[CTP_MISSED_TS] == to && w.r->first_gap[CTP_MISSED_TRANSITIONS] == 3,
	   "the first from where it began to the event after it, %u entries further%s", at, apart ? ", in another look" : "");
	free(w.r);
}

/* What a thread could not tell before it ended, the next owner of its ring tells. */
static void test_left_gap(void)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	raw_store(&w.ring[0], ctp_clock_ns(), (uint64_t)100 << 32 | 102, 0, (uint64_t)RAW_THREAD << 56);
	raw_store(&w.ring[0], ctp_clock_ns(), 4, 0, (uint64_t)RAW_GAP << 56);
	event(&w.ring[0], &a, 1, 0, true);
	raw_store(&w.ring[0], ctp_clock_ns(), 5, 0, (uint64_t)RAW_GAP << 56);
	event(&w.ring[0], &a, 1, 0, true);
	ok(world_close(&w) && w.r->first_gap[CTP_MISSED_TID] == 101 && w.r->first_gap[CTP_MISSED_TRANSITIONS] == 4 &&
	           w.r->gap[CTP_MISSED_TID] == 102 && w.r->gap[CTP_MISSED_TRANSITIONS] == 5,
	   "a gap of a ring's former thread is not assigned to the next one");
	free(w.r);
}

/* Nothing follows a loss: only the counters tell, and without slots not whose it was. */
static void test_silence(void)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 8, 4);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	for (unsigned i = 0; i < 40; i++)
		event(&w.ring[0], &a, 1, 0, false);
	raw_name(&w.ring[0], &a, "late");
	ok(world_close(&w) && !w.r->wrong && w.r->events == 14 && w.r->lost == 26 && w.r->unplaced == 26 && w.r->missed == 1 &&
	           w.r->ring_lost == 26,
	   "what was lost at the very end is counted");
	is(w.r->of[1].name, "late", "and a name is found");
	free(w.r);
}

static void test_claim(void)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 8, 4);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	event(&w.ring[0], &a, 1, 0, true);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 202);
	event(&w.ring[0], &a, 1, 0, true);
	ok(world_close(&w) && w.r->last_tid == 202 && w.r->events == 2 && w.m.threads == 2, "a ring that changes hands");
	free(w.r);
}

/* Numbers that make no sense, one after another. */
static void test_liars(void)
{
	struct world w;
	struct rawcoro a, b;
	world_open(&w, 8, 4);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_claim(&w.ring[1], &w.mem, 1, 100, 102);
	raw_birth(&w.ring[1], &b, 2, 0);
	raw_birth(&w.ring[0], &a, 1, 0);
	scan(&w, 1);
	static const uint64_t heads[] = {0, 1000, UINT64_C(1) << 40, UINT64_MAX, 17, 3};
	for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		put64(w.ring[0].ring, heads[i]);
		event(&w.ring[1], &b, 2, 0, true);
		scan(&w, 1);
	}
	is_u64(stats(&w)->events, 6, "a ring whose head jumps does no harm to another");
	w.ring[0].head = raw64(w.ring[0].ring);
	static const uint64_t refs[] = {0, 1, UINT64_MAX, UINT64_C(7) << 32 | 1, UINT64_C(1) << 32 | 9, UINT64_C(1) << 32 | 5};
	for (unsigned i = 0; i < sizeof(refs) / sizeof(*refs); i++)
		for (unsigned kind = 0; kind < 12; kind++) {
			raw_entry(&w.ring[0], ctp_clock_ns(), refs[i], refs[i], (uint64_t)kind << 56 | 0xffffff00000007);
			scan(&w, 1);
		}
	is_u64(stats(&w)->events, 6, "nor do refs that are none");
	raw_entry(&w.ring[0], UINT64_MAX, 0, a.ref, (uint64_t)RAW_WAKE << 56);
	scan(&w, 1);
	raw_entry(&w.ring[0], 5, 0, a.ref, (uint64_t)RAW_WAKE << 56);
	scan(&w, 2);
	is_u64(stats(&w)->wakes, 2, "nor times from the future and the past");
	raw_entry(&w.ring[0], ctp_clock_ns(), UINT64_MAX, a.ref, (uint64_t)RAW_DEATH << 56);
	put32(raw_station(&w.mem, b.index) + 0x29c, UINT32_MAX);
	raw_entry(&w.ring[0], ctp_clock_ns(), 0, b.ref, (uint64_t)RAW_NAME << 56);
	put64(w.mem.base + 0xc0, UINT64_MAX);
	scan(&w, 4);
	ok(world_close(&w) && w.r->lost < 10, "nor counts that are none");
	free(w.r);
}

/* --- against threads ------------------------------------------------------------------------------------------------------ */

enum { THREADS = 3, ALIVE = 40 };

struct crowd {
	struct world w;
	pthread_mutex_t lock; /* on what follows: coroutines between two threads */
	struct {
		struct rawcoro co;
		uint64_t probe_id, first;
	} idle[ALIVE];
	unsigned nidle;
	uint64_t next_id;
	uint32_t count[COROS]; /* events of each */
	unsigned steps, running, stations;
	bool slots;
};

struct crew {
	struct crowd *c;
	unsigned n;
};

static void *crowd_thread(void *arg)
{
	struct crew *crew = arg;
	struct crowd *c = crew->c;
	struct rawring *r = &c->w.ring[crew->n];
	uint32_t random = crew->n;
	raw_claim(r, &c->w.mem, crew->n, 100, 101 + crew->n);
	for (unsigned k = 0; k < c->steps; k++) {
		random = random * 1664525 + 1013904223;
		if (k % 64 == 0)
			sched_yield();
		pthread_mutex_lock(&c->lock);
		struct rawcoro co;
		uint64_t id = 0, first = 0;
		if (c->nidle && (random >> 28) > 1) {
			unsigned at = (random >> 8) % c->nidle;
			co = c->idle[at].co, id = c->idle[at].probe_id, first = c->idle[at].first;
			c->idle[at] = c->idle[--c->nidle];
		} else if (c->nidle < ALIVE - THREADS && c->next_id < COROS - 1 && raw_birth(r, &co, c->next_id + 1, 0)) {
			id = ++c->next_id;
			first = co.events;
		}
		pthread_mutex_unlock(&c->lock);
		if (!id)
			continue;
		for (unsigned e = random >> 20 & 3; e; e--)
			event(r, &co, id, first, c->slots);
		c->count[id] = (uint32_t)(co.events - first);
		if ((random >> 24 & 15) == 0) {
			raw_death(r, &co);
			continue;
		}
		pthread_mutex_lock(&c->lock);
		c->idle[c->nidle].co = co, c->idle[c->nidle].probe_id = id, c->idle[c->nidle].first = first;
		c->nidle++;
		pthread_mutex_unlock(&c->lock);
	}
	__atomic_fetch_sub(&c->running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Returns how much is not as it should be. */
static uint64_t crowd_run(struct crowd *c, unsigned steps, uint32_t bits, bool slots)
{
	pthread_t thread[THREADS];
	struct crew crew[THREADS];
	memset(c, 0, sizeof(*c));
	pthread_mutex_init(&c->lock, NULL);
	c->steps = steps;
	c->slots = slots;
	c->running = THREADS;
	world_open(&c->w, 1024, bits);
	for (unsigned i = 0; i < THREADS; i++) {
		crew[i] = (struct crew){c, i};
		if (pthread_create(&thread[i], NULL, crowd_thread, &crew[i]))
			exit(1);
	}
	for (unsigned k = 0; __atomic_load_n(&c->running, __ATOMIC_ACQUIRE); k++) {
		ctp_harvest_scan(c->w.m.harvest, NULL);
		if (k % 64 == 0)
			ctp_harvest_lives(c->w.m.harvest);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	c->stations = raw32(c->w.mem.base + 0x10);
	uint64_t bad = !world_close(&c->w), full = 0;
	for (unsigned i = 0; i < THREADS; i++)
		full += c->w.ring[i].lost_events;
	bad += c->w.r->lost > full; /* more than did not find room */
	for (uint64_t id = 1; id <= c->next_id; id++)
		bad += c->w.r->of[id].events + c->w.r->of[id].lost != c->count[id];
	return bad + c->w.r->wrong;
}

static void test_crowd(const char *name, unsigned steps, uint32_t bits)
{
	static struct crowd c;
	uint64_t bad = crowd_run(&c, steps, bits, true);
	struct reading *r = c.w.r;
	is_u64(bad, 0, name);
	ok(r->births == c.next_id && r->deaths == c.next_id - c.nidle, "  as many births and deaths as there were");
	note("%" PRIu64 " coroutines in %u stations, %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64 " missed", c.next_id,
	     c.stations, r->events, r->lost, r->missed);
	free(r);
}

/*
 * The tests can fail: with a writer that has a bug, they do. Without slots, which would make good for much of it; or without
 * room, where it takes some.
 */
static void test_planted(unsigned bug, uint32_t bits, const char *name)
{
	static struct crowd c;
	uint64_t bad = crowd_run(&c, 5000, bits, bug == 2);
	unsigned tries = 0;
	free(c.w.r);
	is_u64(bad, 0, "a writer without a bug");
	raw_bug = bug;
	for (; tries < 50 && !bad; tries++) {
		bad = crowd_run(&c, 5000, bits, bug == 2);
		free(c.w.r);
	}
	raw_bug = 0;
	ok(bad, "%s is caught (%" PRIu64 " wrong, at try %u)", name, bad, tries);
}

int main(void)
{
	test_lives();
	test_mark();
	test_straight();
	test_generations();
	test_holes();
	test_twice();
	test_parted();
	test_early(0, 2, "an event that is earlier than the one before it is written after that");
	test_early(1, 2, "although its ring is looked at first");
	test_early(0, 100, "it also follows the birth");
	test_early(1, 100, "which is in the other ring");
	test_gap(true);
	test_gap(false);
	test_silence();
	test_thread_gap(10, false);
	test_thread_gap(64, false);
	test_thread_gap(63, false);
	test_thread_gap(10, true);
	test_left_gap();
	test_claim();
	test_liars();
	test_crowd("threads, rings with room for all", 30000, 18);
	test_crowd("threads, rings that overflow", 30000, 6);
	test_planted(1, 16, "a head that is stored before its entry");
	test_planted(2, 4, "a ring that is never full");
	return done_testing();
}
