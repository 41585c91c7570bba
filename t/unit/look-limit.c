/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * look-limit.c - a look at the memory that is interrupted: the next look continues it and no mark is written meanwhile; what the
 * last look did not reach is counted as lost.
 */
#include "rawprobe.h"
#include "ringworld.h"
#include "tap.h"

enum { STATIONS = 600, ENTRIES = 9000 }; /* some buckets of the sweep, some slices of a ring */

static unsigned asks; /* questions whether to stop that are answered by no */
static uint64_t last_calm_ns;
static bool has_to_end(void) { return !asks || !--asks; }

/* --- stations ------------------------------------------------------------------------------------------------------------- */

static void open_stations(struct memstream *m)
{
	struct ctp_harvest_conf conf = {.max_stations = STATIONS, .bytes = 1024 * (1 + (size_t)STATIONS), .has_to_end = has_to_end,
	                                .last_calm_ns = last_calm_ns};
	conf.shm = mmap(NULL, conf.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memstream_start(m, &conf);
}

static void write_all(struct memstream *m, uint64_t index)
{
	memstream_allocate(m, STATIONS);
	for (uint32_t i = 0; i < STATIONS; i++) {
		put(memstream_station(m, i), i + 1); /* its birth has no time: bounds are what is known */
		write_event(ORDERED, memstream_station(m, i), index);
		put(memstream_station(m, i) + 0x40 + index % 8 * 64, ctp_clock_ns());
	}
}

struct seen {
	uint64_t events, births, lost, unplaced, untraced, after_ns;
};

static void note_record(void *arg, const char *cls, const uint64_t *val)
{
	struct seen *s = arg;
	s->events += !strcmp(cls, "transition");
	if (!strcmp(cls, "birth")) {
		s->births++;
		s->after_ns = val[CTP_BIRTH_AFTER] > s->after_ns ? val[CTP_BIRTH_AFTER] : s->after_ns;
	} else if (!strcmp(cls, "lost")) {
		s->lost += val[CTP_LOST_COUNT];
		s->unplaced += val[CTP_LOST_CORO] ? 0 : val[CTP_LOST_COUNT];
	} else if (!strcmp(cls, "untraced")) {
		s->untraced = val[CTP_UNTRACED_COUNT];
	}
}

static void test_goes_on(bool sweep)
{
	struct memstream m;
	struct seen s = {0};
	uint64_t found = 0;
	open_stations(&m);
	uint64_t floor_ns = ctp_harvest_floor_ns(m.harvest), before_ns = ctp_clock_ns();
	write_all(&m, 0);
	for (asks = 1; found < STATIONS && asks < 100;) { /* each look gets a little further */
		unsigned allowed = asks;
		found += (sweep ? ctp_harvest_sweep : ctp_harvest_scan)(m.harvest, NULL);
		ctp_harvest_settle(m.harvest);
		if (!asks && ctp_harvest_floor_ns(m.harvest) != floor_ns)
			break;
		asks = allowed + 1;
	}
	ok(found == STATIONS, "interrupted looks reach all stations in the end, and write no mark before");
	asks = 1000;
	ctp_harvest_last(m.harvest, true);
	const struct ctp_harvest_stats stats = *ctp_harvest_stats(m.harvest);
	ok(memstream_close(&m, note_record, &s) && s.events == STATIONS && s.births == STATIONS && !s.lost && !stats.unread,
	   "  nothing is lost");
	ok(s.after_ns < before_ns, "  every birth may have been before them, also one that they did not reach");
}

static void test_last_stations(unsigned allowed, bool known, uint64_t events, uint64_t lost, const char *name)
{
	struct memstream m;
	struct seen s = {0};
	open_stations(&m);
	write_all(&m, 0);
	asks = 1000;
	if (known)
		ctp_harvest_scan(m.harvest, NULL);
	write_all(&m, 1);
	asks = allowed;
	ctp_harvest_last(m.harvest, true);
	const struct ctp_harvest_stats stats = *ctp_harvest_stats(m.harvest);
	ok(memstream_close(&m, note_record, &s) && s.events == stats.events && s.lost == stats.lost,
	   "%s: the stream is complete", name);
	is_u64(s.events, events, "  it has the events that the look reached");
	is_u64(s.unplaced, lost, "  events that it did not reach are a loss of unknown coroutines");
	is_u64(stats.unread, lost, "  they are counted as unread");
	is_u64(s.untraced, known ? 0 : STATIONS, "  coroutines that were never seen are untraced");
}

/* --- rings ---------------------------------------------------------------------------------------------------------------- */

static void open_rings(struct world *w, bool attach)
{
	struct ctp_harvest_conf conf = {.shm = w->mem.base, .bytes = w->mem.bytes, .max_stations = w->mem.stations, .attach = attach,
	                                .has_to_end = has_to_end};
	memstream_start(&w->m, &conf);
}

static void test_rings(bool gone)
{
	struct world w;
	struct rawcoro a;
	world_map(&w, 8, 14);
	asks = 1000;
	open_rings(&w, false);
	raw_claim(&w.ring[0], &w.mem, 0, 100, 101);
	raw_birth(&w.ring[0], &a, 1, 0);
	for (unsigned i = 0; i < ENTRIES; i++)
		event(&w.ring[0], &a, 1, 0, true);
	asks = 2; /* one for the stations, and one slice */
	scan(&w, 1);
	uint64_t first = stats(&w)->events;
	ok(first < ENTRIES / 2, "a look at a ring can be interrupted between slices");
	asks = 0;
	ctp_harvest_last(w.m.harvest, gone);
	uint64_t left = ENTRIES + 2 - raw64(w.ring[0].ring + 0x40);
	is_u64(stats(&w)->events, first, "  so can the last look");
	ok(stats(&w)->events + stats(&w)->lost >= ENTRIES && stats(&w)->lost == left, "  all events are read or lost");
	is_u64(stats(&w)->unread, left, "  the lost ones are counted as unread");
	ok(memstream_close(&w.m, see, w.r) && !w.r->wrong && w.r->events == first, "  the stream is right");
	ok(w.r->unplaced == left && w.r->missed == left && w.r->ring_lost == left,
	   "  and has losses of unknown coroutines, of events and of other records");
	is_u64(w.r->gap[CTP_MISSED_TID], 101, "  they name the thread");
	free(w.r);
}

/* A memory with the last states of as many coroutines. */
static void open_recorded(struct world *w)
{
	struct rawcoro c;
	world_map(w, STATIONS, 12);
	raw_claim(&w->ring[0], &w->mem, 0, 100, 101);
	for (unsigned i = 0; i < STATIONS; i++) {
		raw_birth(&w->ring[0], &c, i + 1, 0);
		event(&w->ring[0], &c, i + 1, 0, true);
	}
	put64(w->ring[0].ring + 0x40, raw64(w->ring[0].ring)); /* as ctp_arena_open does */
	asks = 1000;
	open_rings(w, true);
}

/* Ten times it is asked while stations are found, once before the snapshot, ten times while that is gathered. */
static void test_snapshot(unsigned allowed, uint64_t untraced, const char *name)
{
	struct world w;
	open_recorded(&w);
	asks = allowed;
	scan(&w, 1);
	uint64_t told = stats(&w)->births + stats(&w)->events, lost = stats(&w)->lost;
	ok(told < 2 * STATIONS && stats(&w)->untraced == untraced,
	   "%s: fewer of the last states are written, and the rest is counted", name);
	is_u64(told + lost + 2 * stats(&w)->untraced, 2 * STATIONS, "  each birth and event is written or counted");
	ok(memstream_close(&w.m, see, w.r) && !w.r->wrong, "  the stream is right");
	free(w.r);
}

static void test_no_snapshot(void)
{
	struct world w;
	open_recorded(&w);
	asks = 3;
	scan(&w, 1);
	is_u64(stats(&w)->births + stats(&w)->untraced + stats(&w)->lost, 0,
	       "a look that is interrupted before the snapshot leaves it to the next");
	asks = 1000;
	scan(&w, 1);
	ok(stats(&w)->births == STATIONS && stats(&w)->events == STATIONS, "  the next look writes it completely");
	ok(memstream_close(&w.m, see, w.r) && !w.r->wrong, "  the stream is right");
	free(w.r);
	open_recorded(&w);
	asks = 3;
	ctp_harvest_last(w.m.harvest, false);
	ok(stats(&w)->untraced == STATIONS && stats(&w)->lost == 1, "the last look counts the coroutines that it knows of");
	ok(memstream_close(&w.m, see, w.r) && !w.r->wrong, "  the stream is right");
	free(w.r);
}

int main(void)
{
	test_goes_on(false);
	test_goes_on(true);
	test_last_stations(1000, true, 2 * STATIONS, 0, "a last look that is not interrupted");
	test_last_stations(0, true, STATIONS, STATIONS, "a last look that is interrupted at once");
	test_last_stations(0, false, 0, 1, "a last look that is interrupted before it saw a station");
	last_calm_ns = UINT64_C(60000000000);
	test_last_stations(0, true, 2 * STATIONS, 0, "a last look that is not interrupted because it has hardly begun");
	last_calm_ns = 0;
	test_rings(false);
	test_rings(true);
	test_snapshot(24, 0, "a snapshot that is interrupted while it is written");
	test_snapshot(13, STATIONS - 64, "a snapshot that is interrupted while it is gathered");
	test_no_snapshot();
	return done_testing();
}
