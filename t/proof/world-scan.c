/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-scan.c - the writers of the field against the whole reader of their stations: lib/collect/v1-scan.c and v1-doubt.c, with the
 * thread of lib/shm/barrier.c that calls membarrier. Each row is one event, whole; and each event is a row or told lost, once.
 *
 * In the world `mixed` one of the writers is a probe with rings, which takes stations of the same memory. Of these no row may
 * come: the rings have it all.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/v1-scan.h"
#include "real-field.h"
#include "real-probe.h"
#include "small-arena.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

enum { FIELD, ORDERED_WRITER, PLAIN_WRITER, MIXED };
enum { STATIONS = 2, BEFORE = 24, EVENTS = 10, LOOKS = 9, WITH_RINGS = 3, RING_BITS = 3 };

static struct ctp_shm_header *const header = (void *)small_arena;
static struct ctp_shm_station *const stations = (void *)(small_arena + sizeof(struct ctp_shm_header));
static struct ctp_rows rows;
static struct ctp_v1_scan scan;
static enum real_field kind;
static struct {
	uint64_t station; /* index + 1; 0: none yet */
	uint64_t written, next;
	bool born, dead;
} of[STATIONS];
static unsigned thread_of[STATIONS];
static uint64_t judged;
static unsigned writers, births;
static enum { ANY, FULL, EMPTY } events; /* full: each writer adds one to the eight that there are; empty: none has any */

/* Half of the writers take their station now. */
static void write_events(void *arg)
{
	unsigned i = (unsigned)(uintptr_t)arg;
	if (!of[i].station) {
		uint32_t index = real_field_take(header);
		of[i].station = index + 1;
		real_field_birth(kind, &stations[index], i + 1, 1);
	}
	uint64_t index = of[i].station - 1;
	for (uint64_t n = events == ANY ? view_random(EVENTS) : events == FULL; n; n--)
		real_field_write(kind, &stations[index], of[i].written++);
	real_field_die(kind, &stations[index]);
}

static void write_rings(void *unused)
{
	(void)unused;
	for (unsigned co = 0; co < WITH_RINGS; co++) {
		if (!real_new(co, STATIONS + 1 + co))
			return;
		for (uint64_t n = view_random(EVENTS), k = 0; k < n; k++)
			real_event(co, k % 2);
		real_death(co);
	}
}

static bool all_ended(void *unused)
{
	(void)unused;
	return view_ended(thread_of[0]) && view_ended(thread_of[1]);
}

static void see_life(bool birth, uint64_t id)
{
	if (birth && ++births > writers)
		view_fail("%u coroutines are born, and there are %u", births, writers);
	if (!id && kind != REAL_ORDERED)
		return; /* the header is plain stores: where there is no event, a death may be seen before it */
	if (!id || id > STATIONS || (birth ? of[id - 1].born : !of[id - 1].born || of[id - 1].dead))
		view_fail("coroutine %llu is born twice, dies twice, or does not exist", (unsigned long long)id);
	*(birth ? &of[id - 1].born : &of[id - 1].dead) = true;
}

static void see(unsigned event, const uint64_t *val)
{
	uint64_t id = event == CTP_LOST ? val[CTP_LOST_PROBE] : val[CTP_TRANSITION_PROBE], k;
	if (event == CTP_BIRTH || event == CTP_DEATH) {
		see_life(event == CTP_BIRTH, event == CTP_BIRTH ? val[CTP_BIRTH_PROBE] : val[CTP_DEATH_PROBE]);
		return;
	}
	if (event == CTP_CONFLICT)
		view_fail("one writer was taken for two");
	if (event != CTP_TRANSITION && event != CTP_LOST)
		return;
	judged++;
	if (!id || id > STATIONS)
		view_fail("a row of nobody");
	k = event == CTP_LOST ? val[CTP_LOST_INDEX] : val[CTP_TRANSITION_INDEX];
	if (of[id - 1].dead || !of[id - 1].born)
		view_fail("coroutine %llu has event %llu before its birth, or after its death", (unsigned long long)id, (unsigned long long)k);
	if (k != of[id - 1].next)
		view_fail("event %llu of station %llu came, and %llu was due", (unsigned long long)k, (unsigned long long)id,
		          (unsigned long long)of[id - 1].next);
	of[id - 1].next += event == CTP_LOST ? val[CTP_LOST_COUNT] : 1;
	if (event == CTP_LOST)
		return;
	if (val[CTP_TRANSITION_TS] != real_field_word(k, 0) || val[CTP_TRANSITION_TID] != real_field_word(k, 1) ||
	    val[CTP_TRANSITION_ADDR] != real_field_word(k, 2) || val[CTP_TRANSITION_ACTIVE] != real_field_word(k, 3) >> 63)
		view_fail("event %llu was accepted and is torn", (unsigned long long)k);
}

static void collect(void *unused)
{
	unsigned busiest = 0;
	(void)unused;
	for (uint64_t n = view_random(LOOKS), before_ns = view_clock(); n; n--) {
		ctp_rows_look(&rows, view_clock());
		ctp_look_limit_begin(&rows.limit);
		(view_chance(2) ? ctp_v1_scan_some : ctp_v1_scan_all)(&scan, before_ns, &busiest);
		if (view_chance(3))
			ctp_v1_scan_lives(&scan);
		before_ns = rows.now_ns;
	}
	view_wait(all_ended, NULL);
	for (unsigned i = 0; i < STATIONS; i++)
		view_join_thread(thread_of[i]);
	ctp_rows_look(&rows, view_clock());
	ctp_look_limit_begin(&rows.limit);
	ctp_v1_scan_last(&scan, true);
	ctp_v1_scan_fini(&scan);
	for (uint32_t k = 0; k < rows.sort.count; k++)
		see(rows.sort.event[k], rows.sort.rows[k].val);
	for (unsigned i = 0; i < STATIONS; i++)
		if (of[i].next != of[i].written)
			view_fail("station %u has %llu events, and %llu were accounted for", i, (unsigned long long)of[i].written,
			          (unsigned long long)of[i].next);
}

static void init(void)
{
	struct ctp_err err;
	small_arena_share();
	if (ctp_rows_init(&rows, &err))
		abort();
}

static void begin(unsigned dialect)
{
	static const enum real_field kinds[] = {REAL_FIELD, REAL_ORDERED, REAL_PLAIN};
	struct ctp_harvest_conf conf = {.shm = small_arena, .bytes = SMALL_ARENA_BYTES, .max_stations = STATIONS};
	struct ctp_err err;
	bool mixed = dialect == MIXED, fenced = view_random(2);
	writers = mixed ? 1 : STATIONS;
	births = 0;
	events = view_random(3);
	kind = kinds[mixed ? view_random(3) : dialect];
	view_has_membarrier = true;
	view_syscall = NULL;
	memset(header, 0, sizeof *header);
	memset(stations, 0, SMALL_STATIONS * sizeof *stations);
	if (mixed) {
		struct ctp_arena arena;
		small_arena_open(&arena, SMALL_STATIONS, 1, RING_BITS, CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER);
		real_probe_attach(header, RING_BITS, fenced, !fenced && arena.clock == CTP_CLOCK_RAW);
		conf.max_stations = SMALL_STATIONS;
	}
	memset(of, 0, sizeof of);
	memset(&rows.stats, 0, sizeof rows.stats);
	rows.coros = rows.written = 0;
	rows.sort.count = 0;
	scan.barrier.started = false; /* of a run that failed */
	ctp_v1_scan_fini(&scan);
	if (ctp_v1_scan_init(&scan, &conf, &rows, &err))
		abort();
	scan.annexed = mixed;
	for (unsigned i = 0; i < STATIONS; i++) {
		if (mixed && i) {
			thread_of[i] = view_spawn("with rings", write_rings, NULL, fenced ? VIEW_UNREGISTERED : VIEW_REGISTERED);
			break;
		}
		if (i == header->allocated_count && (events == FULL || (events == ANY && view_chance(2)))) {
			of[i].station = real_field_take(header) + 1;
			real_field_birth(kind, &stations[i], i + 1, 1);
			for (uint64_t n = events == FULL ? CTP_SHM_SLOTS : view_random(BEFORE); n; n--)
				real_field_write(kind, &stations[i], of[i].written++);
		}
		thread_of[i] = view_spawn(i ? "writer 1" : "writer 0", write_events, (void *)(uintptr_t)i, VIEW_UNREGISTERED);
	}
	view_spawn("collector", collect, NULL, VIEW_UNREGISTERED);
}

static uint64_t found(void) { return judged; }

static const char *const dialects[] = {"field", "ordered", "plain", "mixed", NULL};
const struct world world_scan = {"scan", dialects, init, begin, NULL, found};
