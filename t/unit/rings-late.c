/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rings-late.c - collectors that come late, and leave: what the memory remembers of the living and of the dead, and that no station
 * is lost when they leave.
 */
#include "ringworld.h"
#include "tap.h"

static void test_attach(void)
{
	struct world w;
	struct rawcoro a, b, c, d;
	world_map(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	raw_birth(&w.ring[0], &b, 2, a.ref);
	raw_birth(&w.ring[0], &c, 3, 0);
	raw_death(&w.ring[0], &c);
	for (unsigned i = 0; i < 20; i++)
		event(&w.ring[0], &a, 1, 0, true);
	raw_name(&w.ring[0], &a, "older");
	put64(w.ring[0].ring + 0x40, raw64(w.ring[0].ring)); /* as ctp_arena_open does */
	event(&w.ring[0], &b, 2, 0, true);                    /* in the slots and in the ring */
	world_harvest(&w, true);
	scan(&w, 4);
	ok(stats(&w)->births == 3 && stats(&w)->events == 9 && !stats(&w)->lost && stats(&w)->deaths == 1,
	   "the last states of living and of ended coroutines are written");
	is_u64(raw32(w.mem.base + 0xc0), c.index + 1, "the ended coroutine's station is then freed");
	event(&w.ring[0], &a, 1, 0, true);
	event(&w.ring[0], &b, 2, 0, true);
	raw_death(&w.ring[0], &b);
	scan(&w, 1);
	ctp_harvest_last(w.m.harvest, false);
	raw_birth(&w.ring[0], &d, 4, 0);
	raw_death(&w.ring[0], &d); /* by a thread that has not heard that we go */
	ctp_harvest_release(w.m.harvest);
	unsigned freed = 0;
	for (struct rawcoro e; freed < 8 && raw_birth(&w.ring[0], &e, 5, 0); freed++)
		;
	is_u64(freed, 7, "all stations but the living one's are free at the end");
	ok(memstream_close(&w.m, see, w.r) && !w.r->wrong && w.r->events == 11 && w.r->deaths == 2 && w.r->of[3].dead,
	   "the stream is right");
	is(w.r->of[1].name, "older", "a coroutine has its name");
	is_u64(w.r->of[2].parent, w.r->of[1].coro, "a coroutine has its parent");
	free(w.r);
}

/* Between the first look at the rings and that at the stations: the rings know when it was. */
static void test_meanwhile(void)
{
	struct world w;
	struct rawcoro a, b;
	world_map(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	event(&w.ring[0], &a, 1, 0, true);
	put64(w.ring[0].ring + 0x40, raw64(w.ring[0].ring));
	world_harvest(&w, true);
	raw_birth(&w.ring[0], &b, 2, 0);
	raw_death(&w.ring[0], &b);
	w.ring[0].ts = ctp_clock_ns();
	uint64_t ts = w.ring[0].ts;
	event(&w.ring[0], &a, 1, 0, true);
	put32(a.station + 0x27c, 1); /* and the wake that its station remembers */
	put64(a.station + 0x280, w.ring[0].ts);
	raw_wake(&w.ring[0], a.ref, 0);
	raw_death(&w.ring[0], &a);
	while (ctp_clock_ns() <= w.ring[0].ts)
		;
	ok(world_close(&w) && !w.r->wrong && !w.r->backwards && w.r->events == 2 && w.r->births == 2 && w.r->deaths == 2,
	   "what happens while the stations are looked at is there");
	is_u64(w.r->last_ts, ts, "at its own time");
	is_u64(w.r->wakes, 1, "once");
	free(w.r);
}

/* As a probe does that nobody follows. */
static void free_station(struct rawmem *m, const struct rawcoro *co)
{
	uint64_t top = raw64(m->base + 0xc0);
	__atomic_store_n(co->station + 0x10, 2, __ATOMIC_RELAXED);
	put32(co->station + 0x24c, (uint32_t)top);
	release64(m->base + 0xc0, ((top >> 32) + 1) << 32 | (co->index + 1));
}

static void live_and_die(struct world *w, struct rawcoro *co, uint64_t probe_id, unsigned events, bool slots)
{
	raw_birth(&w->ring[0], co, probe_id, 0);
	uint64_t first = co->events;
	while (events--)
		event(&w->ring[0], co, probe_id, first, slots);
	raw_name(&w->ring[0], co, "dead");
	raw_death(&w->ring[0], co);
}

/* Ended coroutines are remembered until their stations are reused. */
static void test_remember(void)
{
	struct world w;
	struct rawcoro co[6];
	world_map(&w, 8, 12);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	for (unsigned i = 0; i < 6; i++)
		live_and_die(&w, &co[i], i + 1, i == 1 ? 20 : 5, i != 2);
	for (unsigned i = 0; i < 6; i++)
		free_station(&w.mem, &co[i]);
	live_and_die(&w, &co[5], 7, 2, true); /* in the station of 6 */
	free_station(&w.mem, &co[5]);
	for (unsigned i = 5; i >= 4; i--) /* two are taken, and one of them has said so */
		is_u64(raw_take_station(&w.mem), co[i].index, "the station that was freed last is reused first");
	put32(co[4].station + 0x248, 2);
	put64(w.ring[0].ring + 0x40, raw64(w.ring[0].ring));
	world_harvest(&w, true);
	scan(&w, 4);
	ok(world_close(&w) && !w.r->wrong && !w.r->backwards && !w.r->lost, "ended coroutines are remembered");
	ok(w.r->births == 3 && w.r->deaths == 3, "those whose stations are about to be reused are not");
	ok(w.r->of[1].dead && w.r->of[1].events == 5 && w.r->of[4].dead && w.r->of[4].events == 5, "with all that they did");
	ok(w.r->of[2].dead && w.r->of[2].events == 8, "or the last of it");
	ok(!w.r->of[3].born, "not if the slots do not have it");
	is(w.r->of[4].name, "dead", "an ended coroutine has its name");
	free(w.r);
}

/* The collector has gone, and reads what is left, but others have the stations. */
static void test_late(void)
{
	struct world w;
	struct rawcoro co;
	world_open(&w, 2, 12);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	for (unsigned i = 0; i < 20; i++) {
		live_and_die(&w, &co, i + 1, i, true);
		free_station(&w.mem, &co);
	}
	ctp_harvest_last(w.m.harvest, false);
	ok(memstream_close(&w.m, see, w.r) && !w.r->wrong && w.r->births == 20 && w.r->deaths == 20,
	   "who was born before the collector left, and has no station any more, is there");
	is_u64(w.r->events + w.r->lost, 19 * 20 / 2, "with all events");
	is_u64(w.r->events, 19 * 20 / 2, "and none is lost");
	free(w.r);
}

/* Links that lead in a circle, and out of the memory. */
static void test_remember_liars(uint32_t link)
{
	struct world w;
	struct rawcoro a;
	world_map(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	live_and_die(&w, &a, 1, 3, true);
	free_station(&w.mem, &a);
	put32(a.station + 0x24c, link);
	put64(w.ring[0].ring + 0x40, raw64(w.ring[0].ring));
	world_harvest(&w, true);
	scan(&w, 2);
	ok(world_close(&w) && w.r->births == 1 && w.r->deaths == 1, "a free station whose link is %u", link);
	free(w.r);
}

/* Between our last look and our leaving one dies, and finds no room to say so. */
static void test_release(void)
{
	struct world w;
	struct rawcoro a, b;
	world_open(&w, 4, 6);
	uint64_t top = raw64(w.mem.base + 0xc0);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	raw_birth(&w.ring[0], &b, 2, 0);
	ctp_harvest_last(w.m.harvest, false);
	__atomic_store_n(b.station + 0x10, 1, __ATOMIC_RELEASE);
	ctp_harvest_release(w.m.harvest);
	ok(b.station[0x10] == 2 && a.station[0x10] == 0, "who died since is marked as free, and nobody else");
	ok(raw32(w.mem.base + 0xc0) == b.index + 1 && !raw32(b.station + 0x24c), "and is the one on the stack");
	ok(raw64(w.mem.base + 0xc0) >> 32 != top >> 32, "whose tag is another, for a probe that has read the stack before");
	memstream_close(&w.m, see, w.r);
	free(w.r);
}

/* A coroutine ends while the stations are looked at, and a probe that has not heard of the collector frees its station. */
static void test_freed_meanwhile(void)
{
	struct world w;
	struct rawcoro a;
	world_map(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	event(&w.ring[0], &a, 1, 0, true);
	put64(w.ring[0].ring + 0x40, raw64(w.ring[0].ring));
	world_harvest(&w, true);
	put64(a.station + 0x258, a.events);
	put64(a.station + 0x260, ctp_clock_ns());
	free_station(&w.mem, &a);
	ok(world_close(&w) && !w.r->wrong && w.r->births == w.r->deaths, "a coroutine whose end no ring has is not said to live");
	free(w.r);
}

/* The end of a coroutine is lost, and a probe has freed its station: the next birth there says how many events there were. */
static void test_end_lost(void)
{
	struct world w;
	struct rawcoro a, b;
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	event(&w.ring[0], &a, 1, 0, false);
	scan(&w, 1);
	a.events += 2; /* of which the ring knows nothing */
	put64(a.station + 0x258, a.events);
	put64(a.station + 0x260, ctp_clock_ns());
	free_station(&w.mem, &a);
	raw_birth(&w.ring[0], &b, 2, 0);
	ok(b.index == a.index && world_close(&w) && w.r->births == 2 && w.r->of[1].dead,
	   "a coroutine whose station another has is dead");
	is_u64(w.r->of[1].lost, 2, "and its events that no ring has are lost");
	free(w.r);
}

/* A parent that died before the collector came, and whose last events no slot has. */
static void test_parent_forgotten(void)
{
	struct world w;
	struct rawcoro a, b;
	world_map(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	event(&w.ring[0], &a, 1, 0, false);
	raw_birth(&w.ring[0], &b, 2, a.ref);
	raw_death(&w.ring[0], &a);
	put64(w.ring[0].ring + 0x40, raw64(w.ring[0].ring));
	world_harvest(&w, true);
	scan(&w, 1);
	ok(stats(&w)->births == 1 && !stats(&w)->deaths, "a dead parent of which nothing is known is not in the stream");
	is_u64(raw32(w.mem.base + 0xc0), a.index + 1, "and its station is free");
	ok(world_close(&w) && !w.r->wrong && w.r->births == 1 && w.r->of[2].born && !w.r->of[2].parent, "its child has no parent");
	free(w.r);
}

/* A memory in which a station is on the stack of the free, although it does not say so. */
static void test_free_and_dead(void)
{
	struct world w;
	struct rawcoro a;
	world_map(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	live_and_die(&w, &a, 1, 3, true);
	free_station(&w.mem, &a);
	__atomic_store_n(a.station + 0x10, 1, __ATOMIC_RELAXED);
	put64(w.ring[0].ring + 0x40, raw64(w.ring[0].ring));
	world_harvest(&w, true);
	scan(&w, 2);
	ok(raw_take_station(&w.mem) == a.index && raw_take_station(&w.mem) != a.index, "a station that is free is not freed again");
	memstream_close(&w.m, see, w.r);
	free(w.r);
}

/* It was spawned before the collector came, at a time that is not known. */
static void birth_from_before(struct rawring *ring, struct rawcoro *co, uint64_t probe_id)
{
	uint32_t index = raw_take_station(ring->mem);
	unsigned char *st = raw_station(ring->mem, index);
	*co = (struct rawcoro){.station = st, .index = index, .ref = UINT64_C(1) << 32 | (index + 1)};
	put64(st + 0x248, UINT64_C(0xffffffff) << 32 | 1); /* it owns the station */
	put64(st, probe_id);
	release64(st + 0x240, UINT64_C(0x2b505443) | UINT64_C(3) << 32);
	raw_entry(ring, ctp_clock_ns(), probe_id, co->ref, (uint64_t)RAW_BIRTH << 56);
}

/* Of a coroutine whose first number is not known, the ring that is read first has what came last. */
static void test_crossed(bool dies)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_claim(&w.ring[1], &w.mem, 1, 100, 102);
	scan(&w, 2);
	birth_from_before(&w.ring[1], &a, 1);
	event(&w.ring[1], &a, 1, 0, true);
	event(&w.ring[1], &a, 1, 0, true);
	if (!dies)
		event(&w.ring[0], &a, 1, 0, true);
	else
		raw_death(&w.ring[0], &a);
	scan(&w, 4);
	is_u64(stats(&w)->events, dies ? 2 : 3, "an event that is read after a later one is not forgotten");
	ok(world_close(&w) && !w.r->wrong && !w.r->backwards && !w.r->lost && w.r->deaths == dies, "and in its place");
	free(w.r);
}

/* What it did before the collector came, is not lost. */
static void test_not_ours(void)
{
	struct world w;
	struct rawcoro a;
	world_open(&w, 8, 8);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	birth_from_before(&w.ring[0], &a, 1);
	a.events = 1000;
	event(&w.ring[0], &a, 1, 0, true);
	event(&w.ring[0], &a, 1, 0, true);
	raw_death(&w.ring[0], &a);
	scan(&w, 4);
	is_u64(raw32(w.mem.base + 0xc0), a.index + 1, "a coroutine from before leaves its station");
	ok(world_close(&w) && !w.r->wrong && w.r->events == 2 && !w.r->lost && w.r->deaths == 1, "what it did before is not lost");
	free(w.r);
}

int main(void)
{
	test_attach();
	test_meanwhile();
	test_remember();
	test_late();
	test_remember_liars(1);
	test_remember_liars(9);
	test_remember_liars(UINT32_MAX);
	test_release();
	test_freed_meanwhile();
	test_end_lost();
	test_parent_forgotten();
	test_free_and_dead();
	test_crossed(false);
	test_crossed(true);
	test_not_ours();
	return done_testing();
}
