/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ring-gaps.c - the queue of ring-gaps.h.
 */
#include "collect/ring-gaps.h"

#include <assert.h>

#include "base/pages.h"

enum ctp_status ctp_ring_gaps_init(struct ctp_ring_gaps *gaps, struct ctp_err *err)
{
	*gaps = (struct ctp_ring_gaps){.gaps = ctp_pages_new(CTP_RING_GAPS_MAX * sizeof *gaps->gaps), .oldest = 1, .next = 1,
	                               .steps = CTP_RING_GAPS_STEPS};
	return gaps->gaps ? CTP_OK : ctp_err_memory(err);
}

void ctp_ring_gaps_fini(struct ctp_ring_gaps *gaps) { ctp_pages_free(gaps->gaps, CTP_RING_GAPS_MAX * sizeof *gaps->gaps); }

/* By its name, if it is still there and this station's. */
static struct ctp_ring_gap *named(const struct ctp_ring_gaps *gaps, uint32_t station, uint32_t name)
{
	struct ctp_ring_gap *hole = &gaps->gaps[name % CTP_RING_GAPS_MAX];
	return name - gaps->oldest < gaps->next - gaps->oldest && hole->station == station ? hole : NULL;
}

void ctp_ring_gaps_add(struct ctp_ring_gaps *gaps, const struct ctp_ring_gap *hole, uint32_t *newest)
{
	struct ctp_ring_gap *at = &gaps->gaps[gaps->next % CTP_RING_GAPS_MAX], *before = named(gaps, hole->station, *newest);
	assert(ctp_ring_gaps_count(gaps) < CTP_RING_GAPS_MAX);
	if (before)
		before->newer = gaps->next;
	*at = *hole;
	at->older = *newest;
	at->newer = gaps->next;
	*newest = gaps->next++;
}

bool ctp_ring_gaps_any(const struct ctp_ring_gaps *gaps, uint32_t station, uint32_t newest)
{
	return named(gaps, station, newest);
}

/*
 * The walk from a name on, to newer or to older ones, until the event is missing from one. A name of long ago may be in use again, for
 * another: the walk ends where a step would lead back.
 */
static bool walk(struct ctp_ring_gaps *gaps, uint32_t station, bool to_newer, uint64_t number, uint32_t *name)
{
	const struct ctp_ring_gap *hole = named(gaps, station, *name);
	while (hole && !(number >= hole->from && number < hole->to)) {
		uint32_t next = to_newer ? hole->newer : hole->older, by = to_newer ? next - *name : *name - next;
		if (!by || by >= CTP_RING_GAPS_MAX || !gaps->steps)
			return false;
		gaps->steps--;
		hole = named(gaps, station, *name = next);
	}
	return hole;
}

/* Events that come late come in the order of their numbers, mostly: so the one to look at is where the last was, or the next newer. */
struct ctp_ring_gap *ctp_ring_gaps_find(struct ctp_ring_gaps *gaps, uint32_t station, uint32_t newest, uint64_t number)
{
	uint32_t *found = &gaps->found[station % CTP_RING_GAPS_FOUND], name = *found;
	if (!walk(gaps, station, true, number, &name)) {
		name = newest;
		if (!walk(gaps, station, false, number, &name))
			return NULL;
	}
	*found = name;
	return named(gaps, station, name);
}

void ctp_ring_gaps_fill(struct ctp_ring_gaps *gaps, struct ctp_ring_gap *hole, uint64_t number, uint64_t ts_ns, uint32_t *newest)
{
	assert(number >= hole->from && number < hole->to);
	if (number == hole->from) {
		hole->from++;
		hole->after_ns = ts_ns;
	} else if (number == hole->to - 1) {
		hole->to--;
		hole->ts_ns = ts_ns;
	} else {
		struct ctp_ring_gap rest = *hole;
		rest.from = number + 1;
		rest.after_ns = ts_ns;
		hole->to = number;
		hole->ts_ns = ts_ns;
		ctp_ring_gaps_add(gaps, &rest, newest);
	}
}
