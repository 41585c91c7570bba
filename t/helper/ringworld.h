/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ringworld.h - a memory with rings, its writers, its harvest, and what a reader finds in the stream: by the ids of the
 * probes, which are unique for each coroutine.
 */
#ifndef CTP_T_RINGWORLD_H
#define CTP_T_RINGWORLD_H

#include <stdio.h>

#include "base/clock.h"
#include "memstream.h"
#include "rawring.h"

enum { COROS = 60000 };

/* What a reader finds, by probe_id, which is unique here. */
struct reading {
	struct {
		uint64_t coro, next, parent;
		uint32_t events, lost, wakes;
		bool born, dead;
		char name[16];
	} of[COROS];
	uint64_t events, lost, births, deaths, wakes, missed, ring_lost, sites, wrong, unplaced, backwards;
	uint64_t last_tid, last_site, last_ts, first_lost_ts;
	uint64_t first_gap[CTP_MISSED_FIELDS], gap[CTP_MISSED_FIELDS]; /* the first and the last of class missed */
};

static inline uint64_t addr_of(uint64_t probe_id, uint64_t index)
{
	return (probe_id * 1000003 + index) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline void see_transition(struct reading *r, const uint64_t *val)
{
	uint64_t p = val[CTP_TRANSITION_PROBE], index = val[CTP_TRANSITION_INDEX];
	if (p >= COROS) {
		r->wrong++;
		return;
	}
	r->wrong += !r->of[p].born || r->of[p].dead || r->of[p].coro != val[CTP_TRANSITION_CORO] ||
	            val[CTP_TRANSITION_ADDR] != addr_of(p, index) || val[CTP_TRANSITION_ACTIVE] != index % 2 ||
	            val[CTP_TRANSITION_SEQ] != index + 1;
	r->backwards += index < r->of[p].next;
	r->of[p].next = index + 1;
	r->of[p].events++;
	r->last_tid = val[CTP_TRANSITION_TID];
	r->last_ts = val[CTP_TRANSITION_TS];
	r->last_site = val[CTP_TRANSITION_SITE];
	r->events++;
}

static inline void see_lost(struct reading *r, const uint64_t *val)
{
	uint64_t p = val[CTP_LOST_PROBE];
	r->lost += val[CTP_LOST_COUNT];
	if (!val[CTP_LOST_CORO]) {
		r->unplaced += val[CTP_LOST_COUNT];
		return;
	}
	r->wrong +=
		p >= COROS || r->of[p].coro != val[CTP_LOST_CORO] || r->of[p].dead || val[CTP_LOST_AFTER] > val[CTP_LOST_TS];
	if (p < COROS)
		r->of[p].lost += (uint32_t)val[CTP_LOST_COUNT];
}

static inline void see(void *arg, const char *cls, const uint64_t *val)
{
	struct reading *r = arg;
	if (!strcmp(cls, "transition")) {
		see_transition(r, val);
	} else if (!strcmp(cls, "lost")) {
		see_lost(r, val);
	} else if (!strcmp(cls, "birth")) {
		uint64_t p = val[CTP_BIRTH_PROBE];
		r->births++;
		if (p < COROS) {
			r->wrong += r->of[p].born;
			r->of[p].born = true;
			r->of[p].coro = val[CTP_BIRTH_CORO];
			r->of[p].parent = val[CTP_BIRTH_PARENT];
		}
	} else if (!strcmp(cls, "death")) {
		uint64_t p = val[CTP_DEATH_PROBE];
		r->wrong += p >= COROS || !r->of[p].born || r->of[p].dead || r->of[p].coro != val[CTP_DEATH_CORO];
		r->of[p % COROS].dead = true;
		r->deaths++;
	} else if (!strcmp(cls, "wake")) {
		r->of[val[CTP_WAKE_PROBE] % COROS].wakes++;
		r->wakes++;
	} else if (!strcmp(cls, "name")) {
		snprintf(r->of[val[CTP_NAME_PROBE] % COROS].name, 16, "%s", ctp_str_val(val[CTP_NAME_TEXT])->data);
	} else if (!strcmp(cls, "site")) {
		r->sites++;
	} else if (!strcmp(cls, "missed")) {
		r->missed += val[CTP_MISSED_COUNT];
		r->ring_lost += val[CTP_MISSED_TRANSITIONS];
		r->wrong += val[CTP_MISSED_AFTER] > val[CTP_MISSED_TS];
		if (!r->first_gap[CTP_MISSED_TS])
			memcpy(r->first_gap, val, sizeof(r->first_gap));
		memcpy(r->gap, val, sizeof(r->gap));
	}
}

/* --- a memory, its harvest, and writers ----------------------------------------------------------------------------------- */

struct world {
	struct rawmem mem;
	struct memstream m;
	struct rawring ring[4];
	struct reading *r;
};

static inline void world_map(struct world *w, uint32_t stations, uint32_t bits)
{
	*w = (struct world){.r = calloc(1, sizeof(*w->r))};
	rawmem_plan(&w->mem, stations, 4, bits);
	void *base = mmap(NULL, w->mem.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED || !w->r)
		exit(1);
	rawmem_make(&w->mem, base, 3);
	for (unsigned i = 0; i < 4; i++)
		w->ring[i].clock = ctp_clock_ns;
}

static inline void world_harvest(struct world *w, bool attach)
{
	struct ctp_harvest_conf conf = {
		.shm = w->mem.base, .bytes = w->mem.bytes, .max_stations = w->mem.stations, .attach = attach};
	memstream_start(&w->m, &conf);
}

static inline void world_open(struct world *w, uint32_t stations, uint32_t bits)
{
	world_map(w, stations, bits);
	world_harvest(w, false);
}

static inline void scan(struct world *w, unsigned times)
{
	while (times--)
		ctp_harvest_scan(w->m.harvest, NULL);
}

static inline const struct ctp_harvest_stats *stats(struct world *w) { return ctp_harvest_stats(w->m.harvest); }

static inline bool world_close(struct world *w)
{
	ctp_harvest_last(w->m.harvest, true);
	return memstream_close(&w->m, see, w->r);
}

/* The next event of a coroutine, with what a reader expects of it. first: what the station had counted before it. */
static inline bool event(struct rawring *r, struct rawcoro *co, uint64_t probe_id, uint64_t first, bool slots)
{
	uint64_t index = co->events - first;
	return raw_event(r, co, index % 2, addr_of(probe_id, index), 0, slots);
}

#endif
