/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ring-gaps.h - events that were not where they should be: not lost yet, for another thread's ring may still have them.
 *
 * They wait in the order in which they were noticed, at most CTP_RING_GAPS_MAX of them; and those of one station are linked, so
 * that an event that comes late finds its place. A hole is named by how many there were before it. A name stays harmless when
 * the hole is gone, so it need not be forgotten. What they are for is proved in t/proof: accounting.
 */
#ifndef CTP_RING_GAPS_H
#define CTP_RING_GAPS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { CTP_RING_GAPS_MAX = 65536, CTP_RING_GAPS_FOUND = 256, CTP_RING_GAPS_STEPS = 1 << 24 };

struct ctp_ring_gap {
	uint64_t from, to;              /* numbers of the events that are missing; equal: none is any more */
	uint64_t first, probe_id, coro; /* whose: first is the number of its first event */
	uint64_t after_ns, ts_ns;       /* times of the events before and after it */
	uint64_t round;                 /* when it was noticed */
	uint32_t station, older, newer; /* the names of the gaps before and after it in the same station */
	bool unsure; /* they may be from before the collector came: those that do not come late are not lost */
};

struct ctp_ring_gaps {
	struct ctp_ring_gap *gaps;
	uint32_t oldest, next; /* names */
	uint32_t steps;        /* from gap to gap, that may still be made: a target can make each search as long as there are gaps */
	uint32_t found[CTP_RING_GAPS_FOUND]; /* names, by the station: where the last event that came late was missing from */
};

enum ctp_status ctp_ring_gaps_init(struct ctp_ring_gaps *gaps, struct ctp_err *err);
void ctp_ring_gaps_fini(struct ctp_ring_gaps *gaps);

static inline uint32_t ctp_ring_gaps_count(const struct ctp_ring_gaps *gaps) { return gaps->next - gaps->oldest; }

/* The n-th of those that wait, from the oldest on. */
static inline struct ctp_ring_gap *ctp_ring_gaps_nth(const struct ctp_ring_gaps *gaps, uint32_t n)
{
	return &gaps->gaps[(gaps->oldest + n) % CTP_RING_GAPS_MAX];
}

/* There must be room. newest: where the station keeps the name of its newest. */
void ctp_ring_gaps_add(struct ctp_ring_gaps *gaps, const struct ctp_ring_gap *hole, uint32_t *newest);

/* From here on CTP_RING_GAPS_STEPS more may be made. */
static inline void ctp_ring_gaps_rest(struct ctp_ring_gaps *gaps) { gaps->steps = CTP_RING_GAPS_STEPS; }

/*
 * Whether any of a station's is waiting; and the one that an event is missing from, or null. Null is also the answer when no step is
 * left: the event then stays missing.
 */
bool ctp_ring_gaps_any(const struct ctp_ring_gaps *gaps, uint32_t station, uint32_t newest);
struct ctp_ring_gap *ctp_ring_gaps_find(struct ctp_ring_gaps *gaps, uint32_t station, uint32_t newest, uint64_t number);

/* The event, of that time, is no longer missing. That can make two gaps of one: there must be room. */
void ctp_ring_gaps_fill(struct ctp_ring_gaps *gaps, struct ctp_ring_gap *hole, uint64_t number, uint64_t ts_ns, uint32_t *newest);

/* So many of the oldest wait no more. */
static inline void ctp_ring_gaps_drop(struct ctp_ring_gaps *gaps, uint32_t n)
{
	assert(n <= ctp_ring_gaps_count(gaps));
	gaps->oldest += n;
}

#endif
