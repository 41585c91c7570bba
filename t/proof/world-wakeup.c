/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-wakeup.c - the probe's look at tracer_sleeping against lib/collect/collect-loop.c: a collector that sleeps for ever has seen
 * all that was published.
 *
 * The collector's loop runs as it is. A look goes through the rings (rings.c) and the station of a writer of the field
 * (v1-station.c). How long it rests is drawn: not at all; a moment, which ends by itself, after a look that need not have been at
 * everything; or until a byte comes. When all writers have ended and the collector still waits for a byte, nothing may be left.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "collect/collect-loop.h"
#include "collect/v1-station.h"
#include "real-field.h"
#include "real-probe.h"
#include "shm/rings.h"
#include "small-arena.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

/* registered: without a fence; fenced: membarrier does not reach it; alone: there is none; field: without rings. */
enum { REGISTERED, FENCED, ALONE, FIELD, MIXED };
enum { WRITERS = 2, EVENTS = 5, STATION = SMALL_STATIONS - 1 };
#define MOMENT_NS UINT64_C(10000000)

static struct ctp_collect_loop loop;
static struct ctp_collect_conf conf;
static struct ctp_collect_result result;
static struct ctp_harvest_stats stats;
static struct ctp_arena arena;
static struct ctp_rings rings;
static struct ctp_v1_station st;
static struct ctp_v1_station_seen seen;
static enum real_field field;
static uint64_t field_events, sleeps;
static unsigned bytes;
static bool for_ever, asleep;

/* --- the collector's surroundings ----------------------------------------------------------------------------------------- */

static size_t look_at_rings(void)
{
	struct ctp_ring_entry entries[CTP_RINGS_CHUNK];
	struct ctp_ring *ring;
	size_t all = 0;
	ctp_rings_look(&rings, false);
	for (uint32_t i = 0; i < rings.used; i++)
		all += rings.rings[i].head - rings.rings[i].tail;
	while (ctp_rings_slice(&rings))
		while (ctp_rings_take(&rings, &ring, entries))
			;
	ctp_rings_finish(&rings);
	return all;
}

static size_t look(struct ctp_look *look)
{
	struct ctp_row rows[CTP_STATION_ROWS];
	uint64_t gap = st.gap;
	*look = (struct ctp_look){.found = look_at_rings()};
	look->found += ctp_v1_station_visit(&st, &arena.stations[STATION], &seen, CTP_PROOF_NOW, rows) + st.gap - gap;
	return look->found;
}

size_t ctp_harvest_scan(struct ctp_harvest *h, struct ctp_look *l) { return (void)h, look(l); }
size_t ctp_harvest_sweep(struct ctp_harvest *h, struct ctp_look *l) { return (void)h, look(l); }
const struct ctp_harvest_stats *ctp_harvest_stats(const struct ctp_harvest *h) { return (void)h, &stats; }
void ctp_pace_found(struct ctp_pace *p, const struct ctp_look *l, uint64_t now_ns) { (void)p, (void)l, (void)now_ns; }
void ctp_pace_woken(struct ctp_pace *p, uint64_t now_ns) { (void)p, (void)now_ns; }

struct ctp_rest ctp_pace_next(struct ctp_pace *p, bool wakeable, uint64_t now_ns)
{
	(void)p, (void)wakeable, (void)now_ns;
	for_ever = view_random(3);
	return (struct ctp_rest){.ns = for_ever ? UINT64_MAX / 4 : MOMENT_NS, .sleep = for_ever || view_chance(2), .sweep = for_ever};
}

static bool has_byte(void *unused)
{
	(void)unused;
	return bytes;
}

void ctp_event_loop_wait(struct ctp_event_loop *l, int64_t timeout_ns)
{
	if (timeout_ns > (int64_t)MOMENT_NS) {
		sleeps++;
		asleep = true;
		view_wait(has_byte, NULL);
		asleep = false;
	} else {
		view_wait(view_always, NULL);
	}
	l->woken |= bytes > 0;
	bytes = 0;
}

static void collect(void *unused)
{
	struct ctp_err err;
	(void)unused;
	if (ctp_rings_init(&rings, small_arena, sizeof small_arena, &err))
		view_fail("no rings were found");
	loop = (struct ctp_collect_loop){.conf = &conf, .result = &result, .arena = arena, .watch.connections = 1};
	ctp_collect_loop_run(&loop);
}

/* --- the writers ---------------------------------------------------------------------------------------------------------- */

static long kernel(long number, const long *arg)
{
	if (number == SYS_fstat) {
		struct stat *file = (struct stat *)arg[1];
		memset(file, 0, sizeof *file);
		file->st_ino = REAL_SOCK_INODE;
		file->st_dev = REAL_SOCK_DEVICE;
		return 0;
	}
	if (number != SYS_sendto)
		return -ENOSYS;
	bytes++;
	return 1;
}

static void write_events(void *arg)
{
	unsigned co = (unsigned)(uintptr_t)arg;
	uint64_t n = 1 + view_random(EVENTS);
	real_new(co, 0);
	for (uint64_t k = 0; k < n; k++)
		real_event(co, k + 1);
}

static void write_field(void *unused)
{
	(void)unused;
	for (uint64_t n = 1 + view_random(EVENTS); field_events < n;) {
		real_field_write(field, &arena.stations[STATION], field_events);
		field_events++;
		real_field_tell(arena.header);
	}
}

/* --- runs ----------------------------------------------------------------------------------------------------------------- */

static void after(void)
{
	if (!asleep)
		view_fail("the collector stopped, and does not sleep");
	uint32_t used = (uint32_t)view_last(&arena.header->rings_used, sizeof arena.header->rings_used);
	for (uint32_t i = 0; i < used && i < arena.geo.max_rings; i++)
		if (i >= rings.used || view_last(&arena.rings[i].head, 8) != rings.rings[i].head)
			view_fail("the collector sleeps for ever, and has not seen all of ring %u", i);
	if (st.next != field_events)
		view_fail("the collector sleeps for ever, and has seen %llu of %llu events", (unsigned long long)st.next,
		          (unsigned long long)field_events);
}

static void init(void) { small_arena_share(); }

static void begin(unsigned dialect)
{
	bool fenced = dialect == FENCED || dialect == ALONE;
	ctp_rings_fini(&rings); /* of the run before */
	view_has_membarrier = dialect != ALONE;
	view_syscall = kernel;
	small_arena_open(&arena, SMALL_STATIONS, SMALL_RINGS, SMALL_RING_BITS,
	                 CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_BARE | CTP_MODE_MEMBARRIER);
	real_probe_attach(arena.header, SMALL_RING_BITS, fenced, !fenced && arena.clock == CTP_CLOCK_RAW);
	memset(&st, 0, sizeof st);
	memset(&seen, 0, sizeof seen);
	st.dialect = CTP_DIALECT_AUTO;
	field = view_random(2) ? REAL_FIELD : REAL_PLAIN;
	stats.stations = 1;
	field_events = 0;
	bytes = 0;
	asleep = false;
	real_field_birth(field, &arena.stations[STATION], 1, 1);
	view_spawn("collector", collect, NULL, VIEW_UNREGISTERED);
	if (dialect != FIELD)
		for (unsigned i = 0; i < WRITERS - (dialect == MIXED); i++)
			view_spawn(i ? "writer 1" : "writer 0", write_events, (void *)(uintptr_t)i,
			           fenced ? VIEW_UNREGISTERED : VIEW_REGISTERED);
	if (dialect == FIELD || dialect == MIXED)
		view_spawn("field", write_field, NULL, VIEW_UNREGISTERED);
}

static uint64_t found(void) { return sleeps; }

static const char *const dialects[] = {"registered", "fenced", "alone", "field", "mixed", NULL};
const struct world world_wakeup = {"wakeup", dialects, init, begin, after, found};
