/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * harvest.c - one look at rings and stations together, and the mark.
 *
 * The mark promises that no record before it is still to come. For the stations without rings it may not be later than the
 * oldest look at any that lives: the start of the last complete scan for the hot ones, for the cold ones the start of the last
 * pass over the bucket that the sweep comes to next, which has waited longest. That holds marks back by about one round of the
 * sweep, 2 ms, and keeps in order what a coroutine does that wakes after a long rest. For the rings it is the end of the last
 * slice, as long as no event is in doubt. A probe reads the clock before it publishes, so looks count as INFLIGHT_NS earlier
 * than they were; what comes later than that is late.
 */
#include "collect/harvest.h"

#include <assert.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/capped.h"
#include "base/clock.h"
#include "base/compare.h"
#include "collect/coros.h"
#include "collect/thread-runs.h"
#include "collect/v1-scan.h"

#define INFLIGHT_NS UINT64_C(1000000)
#define LAST_NS UINT64_C(2000000000) /* CPU time of the last look, and for each entry and each station there is */
#define LAST_ENTRY_NS UINT64_C(1000)
#define LAST_STATION_NS UINT64_C(10000)

enum {
	SLICES = 8,    /* of the rings in one look, so that the caller can see to other things */
	SETTLE = 2048, /* rows that are written when a slice is over, or records that are so far: then a mark is made */
	LAST_LOOKS = 3, /* at the end: after two more rounds nothing is in doubt */
};

struct ctp_harvest {
	struct ctp_harvest_conf conf;
	struct ctp_rows rows;
	struct ctp_v1_scan scan;
	struct ctp_rings rings;
	struct ctp_coros coros;
	bool annexed;           /* there are rings */
	bool snapshot;          /* what happened before we attached is to be written */
	uint64_t sliced_ns;     /* end of the last slice */
	uint64_t whole_ns;      /* when the last look began that came to all stations */
};

/* After a complete look at the hot stations that began at now_ns, and at the rings. One that had to end promises nothing. */
static void promise(struct ctp_harvest *h)
{
	if (h->rows.limit.over)
		return;
	uint64_t oldest = ctp_v1_scan_oldest_ns(&h->scan);
	if (h->annexed)
		oldest = ctp_least(oldest, ctp_least(h->sliced_ns, h->coros.doubt_ns));
	oldest = oldest > INFLIGHT_NS ? oldest - INFLIGHT_NS : 0;
	h->rows.promise_ns = ctp_most(h->rows.promise_ns, oldest);
	assert(h->rows.marked_ns <= h->rows.promise_ns); /* marks are never taken back */
}

/* Returns how many entries were taken. */
static uint64_t take_slices(struct ctp_harvest *h, unsigned most)
{
	assert(h->annexed);
	struct ctp_ring_entry entries[CTP_RINGS_CHUNK];
	struct ctp_ring *ring;
	uint64_t taken = 0;
	unsigned n;
	bool more = true;
	for (; most && !ctp_look_limit_over(&h->rows.limit) && (more = ctp_rings_slice(&h->rings)); most--) {
		ctp_ring_gaps_rest(&h->coros.gaps);
		while ((n = ctp_rings_take(&h->rings, &ring, entries))) {
			ctp_coros_take(&h->coros, ring, entries, n);
			taken += n;
		}
		ctp_coros_release_dead(&h->coros);
		h->sliced_ns = h->rings.horizon_ns;
		if (ctp_rows_unsettled(&h->rows) >= SETTLE) {
			promise(h);
			ctp_rows_settle(&h->rows);
		}
	}
	if (!more)
		h->sliced_ns = h->rings.now_ns;
	ctp_rings_finish(&h->rings);
	ctp_coros_settle(&h->coros, false);
	return taken;
}

/* One loss of nobody in particular. */
static void lose(struct ctp_harvest *h, uint64_t count)
{
	struct ctp_loss loss = {.count = count, .ts_ns = ctp_clock_ns()};
	if (!count)
		return;
	ctp_rows_lost(&h->rows, &loss);
	ctp_add_capped(&h->rows.stats.lost, count);
}

/* Once, where the memory was in use before us, and its stations are known: all of them, or the next look does it. */
static void take_snapshot(struct ctp_harvest *h)
{
	if (!h->snapshot || ctp_look_limit_over(&h->rows.limit))
		return;
	lose(h, ctp_coros_snapshot(&h->coros, h->scan.used));
	h->snapshot = false;
}

/* Adds to what a look has found. */
static void look_at_rings(struct ctp_harvest *h, struct ctp_look *look)
{
	if (!h->annexed)
		return;
	take_snapshot(h);
	ctp_rings_look(&h->rings, false);
	look->found += take_slices(h, SLICES) + h->rings.left; /* some may be newer than this look, but they are there */
	look->fill = h->rings.fill;
	look->more = h->rings.left >= CTP_RINGS_SLICE;
	unsigned dead = (unsigned)(h->coros.ndead * UINT64_C(512) / h->rings.arena.geo.max_stations);
	look->fill = dead > look->fill ? dead : look->fill; /* they have stations that births need */
	h->rows.stats.rings = h->rings.used;
}

/*
 * Asks for the code of some frames, in each look. A coroutine that did not outlive the reading, by as long as a store may take
 * to be seen, has no answer: see ctp_frame_lives.
 */
static void find_functions(struct ctp_harvest *h)
{
	struct ctp_frame_queue *f = &h->rows.frames;
	const struct ctp_frame *frames;
	uint64_t code[CTP_FRAME_QUEUE_AT_ONCE], any = 0;
	size_t n = ctp_frame_queue_next(f, &frames);
	if (!n)
		return;
	uint64_t ts_ns = ctp_clock_ns();
	size_t asked = n;
	n = h->conf.find_code(h->conf.arg, frames, asked, code);
	assert(n && n <= asked); /* or it would be asked for ever */
	for (size_t k = 0; k < n; k++)
		any |= code[k];
	for (uint64_t read_ns = ctp_clock_ns(); any && ctp_clock_ns() - read_ns < CTP_STATION_DRAIN_NS;)
		;
	for (size_t k = 0; k < n; k++)
		if (code[k] && ctp_frame_lives(&frames[k]))
			ctp_rows_function(&h->rows, &frames[k], code[k], ts_ns);
	f->tail += n;
	assert(f->tail <= f->head);
}

static size_t look_at_all(struct ctp_harvest *h, bool sweep, struct ctp_look *look)
{
	struct ctp_look here = {0};
	ctp_rows_look(&h->rows, ctp_clock_ns());
	ctp_look_limit_begin(&h->rows.limit);
	here.found = (sweep ? ctp_v1_scan_all : ctp_v1_scan_some)(&h->scan, h->whole_ns, &here.busiest);
	if (!h->rows.limit.over)
		h->whole_ns = h->rows.now_ns;
	look_at_rings(h, &here);
	find_functions(h);
	uint64_t left = h->rows.frames.head - h->rows.frames.tail;
	here.found += left; /* they are a reason to look again */
	here.more |= left >= CTP_FRAME_QUEUE_AT_ONCE;
	here.doubt = h->scan.ndoubted;
	promise(h);
	if (look)
		*look = here;
	return here.found;
}

size_t ctp_harvest_scan(struct ctp_harvest *h, struct ctp_look *look)
{
	size_t found = look_at_all(h, false, look);
	ctp_rows_settle_due(&h->rows);
	return found;
}

size_t ctp_harvest_sweep(struct ctp_harvest *h, struct ctp_look *look) { return look_at_all(h, true, look); }

void ctp_harvest_lives(struct ctp_harvest *h)
{
	ctp_look_limit_begin(&h->rows.limit);
	ctp_v1_scan_lives(&h->scan);
	if (h->annexed && ctp_coros_audit_due(&h->coros))
		ctp_coros_audit(&h->coros, h->scan.used, false, false);
}

/*
 * The last look had to end. Of an entry that is still in a ring nobody knows what it is: it may be of any coroutine, and a transition or
 * not. So its thread has missed one of either sort. unseen: stations whose slots may have something.
 */
static void lose_rest(struct ctp_harvest *h, uint64_t unseen)
{
	uint64_t now_ns = ctp_clock_ns(), left = unseen;
	for (uint32_t i = 0; h->annexed && i < h->rings.used; i++) {
		const struct ctp_ring *ring = &h->rings.rings[i];
		uint64_t n = ctp_ring_count(ring);
		ctp_coros_missed(&h->coros, &(struct ctp_missed){.tid = (uint32_t)ring->owner, .notes = n, .transitions = n,
		                                                 .after_ns = ring->last_ns, .ts_ns = now_ns});
		left += n;
	}
	if (h->snapshot)
		ctp_add_capped(&h->rows.stats.untraced, h->scan.used);
	left = left ? left : 1;
	lose(h, left);
	h->rows.stats.unread = left;
}

/* All rings. The audit finds what no entry has, so it is for rings that were read to their ends. */
static void look_at_rings_last(struct ctp_harvest *h, bool gone)
{
	take_snapshot(h);
	h->coros.left = !gone;
	for (unsigned looks = 0; looks < LAST_LOOKS; looks++) {
		h->rows.limit.cpu_ns += ctp_rings_look(&h->rings, true) * LAST_ENTRY_NS;
		take_slices(h, UINT32_MAX);
	}
	ctp_coros_audit(&h->coros, h->rows.limit.over ? 0 : h->scan.used, true, gone);
	ctp_coros_settle(&h->coros, true);
}

void ctp_harvest_last(struct ctp_harvest *h, bool gone)
{
	ctp_rows_look(&h->rows, ctp_clock_ns());
	ctp_look_limit_last(&h->rows.limit, LAST_NS + h->scan.count * LAST_STATION_NS);
	uint32_t unseen = ctp_v1_scan_last(&h->scan, gone);
	if (h->annexed)
		look_at_rings_last(h, gone);
	while (!gone && h->rows.frames.head != h->rows.frames.tail && !ctp_look_limit_over(&h->rows.limit))
		find_functions(h);
	if (h->rows.limit.over)
		lose_rest(h, unseen);
	ctp_rows_settle(&h->rows);
}

void ctp_harvest_release(struct ctp_harvest *h)
{
	if (h->annexed)
		ctp_coros_release(&h->coros, h->scan.used);
}

void ctp_harvest_abandon(struct ctp_harvest *h)
{
	ctp_rows_look(&h->rows, ctp_clock_ns());
	lose(h, h->annexed && h->rings.left ? h->rings.left : 1);
	ctp_rows_settle(&h->rows);
}

void ctp_harvest_settle(struct ctp_harvest *h) { ctp_rows_settle(&h->rows); }

void ctp_harvest_mark(struct ctp_harvest *h)
{
	ctp_rows_settle(&h->rows);
	ctp_rows_mark(&h->rows);
}

size_t ctp_harvest_unsettled(const struct ctp_harvest *h) { return ctp_rows_unsettled(&h->rows); }
const struct ctp_harvest_stats *ctp_harvest_stats(const struct ctp_harvest *h) { return &h->rows.stats; }

void ctp_harvest_put(struct ctp_harvest *h, enum ctp_event event, uint64_t ts_ns, const uint64_t *values, size_t n)
{
	ctp_rows_put_values(&h->rows, event, ts_ns, values, n);
}

void ctp_harvest_newest(const struct ctp_harvest *h, pid_t pid, uint64_t *own_ns, uint64_t *all_ns)
{
	bool own_rings = false, other_rings = false;
	*own_ns = 0;
	*all_ns = h->rows.event_ns;
	for (uint32_t i = 0; h->annexed && i < h->rings.used; i++) {
		const struct ctp_ring *ring = &h->rings.rings[i];
		bool own = ring->owner >> 32 == (uint64_t)pid;
		*(own ? &own_rings : &other_rings) |= ring->owner;
		if (own && ring->last_ns > *own_ns)
			*own_ns = ring->last_ns;
		*all_ns = ctp_most(*all_ns, ring->last_ns);
	}
	if (!own_rings || !other_rings) /* then what slots alone have kept is of this process, too */
		*own_ns = *all_ns;
}

uint32_t ctp_harvest_rings(const struct ctp_harvest *h) { return h->annexed ? h->rings.used : 0; }

bool ctp_harvest_wrote(const struct ctp_harvest *h, uint64_t tid)
{
	for (uint32_t i = 0; i < ctp_harvest_rings(h); i++)
		if (h->rings.rings[i].last_ns && (uint32_t)h->rings.rings[i].owner == tid)
			return true;
	return false;
}

bool ctp_harvest_run(const struct ctp_harvest *h, uint32_t ring, struct ctp_thread_run *run)
{
	return ctp_thread_runs_find(&h->rings, ring, run);
}

bool ctp_harvest_ready(const struct ctp_harvest *h) { return h->annexed && ctp_thread_runs_ready(&h->rings); }

bool ctp_harvest_ring_wrote(const struct ctp_harvest *h, uint32_t ring, struct ctp_thread_wrote *wrote)
{
	return ctp_thread_runs_wrote(&h->rings, ring, wrote);
}

struct ctp_waited_fds *ctp_harvest_fds(struct ctp_harvest *h) { return h->annexed ? &h->coros.fds : NULL; }

/* --- making and freeing --------------------------------------------------------------------------------------------------- */

/* Tables that are filled as the target names what they are about. */
static bool can_afford(struct ctp_harvest *h, struct ctp_err *err)
{
	const struct ctp_geometry *geo = &h->rings.arena.geo;
	uint64_t stations = sizeof(struct ctp_life) + sizeof(struct ctp_frame), rings = sizeof(struct ctp_ring);
	if (ctp_budget_take(h->conf.budget, geo->max_stations * stations + geo->max_rings * rings + geo->max_sites))
		return true;
	ctp_err_as(err, CTP_ERR_REFUSED, "%u stations, %u rings and %u sites: more than --memory allows: raise it",
	           geo->max_stations, geo->max_rings,
	            geo->max_sites);
	return false;
}

struct ctp_harvest *ctp_harvest_new(const struct ctp_harvest_conf *conf, struct ctp_err *err)
{
	struct ctp_harvest *h = ctp_err_calloc(err, sizeof *h);
	if (!h)
		return NULL;
	h->conf = *conf;
	if (ctp_rows_init(&h->rows, err))
		goto fail;
	h->rows.writer = conf->writer;
	h->rows.new_thread = conf->new_thread;
	h->rows.new_thread_arg = conf->arg;
	h->rows.limit.has_to_end = conf->has_to_end;
	h->rows.limit.calm_ns = conf->calm_ns;
	h->rows.limit.last_calm_ns = conf->last_calm_ns;
	if (conf->find_code && ctp_frame_queue_init(&h->rows.frames, conf->max_stations, err))
		goto fail;
	h->rows.begin_ns = h->whole_ns = ctp_clock_ns();
	ctp_rows_look(&h->rows, h->rows.begin_ns);
	if (ctp_v1_scan_init(&h->scan, conf, &h->rows, err))
		goto fail;
	enum ctp_status found = ctp_rings_init(&h->rings, conf->shm, conf->bytes, err);
	if (found == CTP_FAILED || (!found && (!can_afford(h, err) || ctp_coros_init(&h->coros, &h->rings, &h->rows, err))))
		goto fail;
	h->coros.budget = conf->budget;
	h->annexed = h->scan.annexed = !found;
	if (h->annexed && h->scan.max > h->rings.arena.geo.max_stations)
		h->scan.max = h->rings.arena.geo.max_stations;
	h->snapshot = conf->attach;
	return h;
fail:
	ctp_harvest_free(h);
	return NULL;
}

uint64_t ctp_harvest_floor_ns(const struct ctp_harvest *h)
{
	return h->rows.marked_ns > h->rows.begin_ns ? h->rows.marked_ns : h->rows.begin_ns;
}

void ctp_harvest_free(struct ctp_harvest *h)
{
	if (!h)
		return;
	ctp_coros_fini(&h->coros);
	ctp_rings_fini(&h->rings);
	ctp_v1_scan_fini(&h->scan);
	ctp_rows_fini(&h->rows);
	free(h);
}
