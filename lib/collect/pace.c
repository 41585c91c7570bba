/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pace.c - the levels of pace.h.
 */
#include "collect/pace.h"

enum {
	US = 1000,
	MS = 1000 * US,
	NAP_MAX_NS = 700 * US,
	NAP_MIN_NS = 20 * US, /* less is none: the system takes longer to wake us than we would rest */
	NAP_STEP_NS = 5 * US,
	BUSY_NS = 2 * MS,      /* so long without an event is still busy */
	RING_BUSY_NS = 5 * MS, /* the same where there are rings */
	WAKE_NS = 1000 * MS / 150, /* a wake byte's share of a second */
	WAKES_SAVED = 15,      /* wakes that may come at once after a pause */
};

static const uint64_t rests_ns[] = {10 * MS, 10 * MS, 100 * MS, 1000 * MS};
static const uint64_t blind_ns = 20 * MS;

/* Rarer looks are cheaper, as long as the fullest ring leaves room for what may come meanwhile. */
static uint64_t ring_nap(const struct ctp_look *look)
{
	if (look->more || look->fill >= 128)
		return 0;
	return look->fill >= 64 ? 250 * US : look->fill >= 8 ? 1 * MS : 2 * MS;
}

void ctp_pace_found(struct ctp_pace *p, const struct ctp_look *look, uint64_t now_ns)
{
	if (look->found) {
		if (p->rests)
			p->nap_ns = 0; /* what begins after a rest is often a burst */
		p->rests = 0;
		*(look->busiest ? &p->station_ns : &p->ring_ns) = now_ns;
	}
	p->ring_nap_ns = ring_nap(look);
	p->doubt = look->doubt;
	/* The busiest station is to be at most half full and leave room for a delay of ours. */
	if (look->busiest <= 2)
		p->nap_ns += p->nap_ns / 8 + NAP_STEP_NS;
	else if (look->busiest > 6)
		p->nap_ns /= 2;
	else if (look->busiest > 4)
		p->nap_ns -= p->nap_ns / 4;
	if (p->nap_ns > NAP_MAX_NS)
		p->nap_ns = NAP_MAX_NS;
}

void ctp_pace_woken(struct ctp_pace *p, uint64_t now_ns)
{
	uint64_t saved_ns = now_ns - WAKES_SAVED * (uint64_t)WAKE_NS;
	p->spent_ns = (p->spent_ns > saved_ns ? p->spent_ns : saved_ns) + WAKE_NS;
}

struct ctp_rest ctp_pace_next(struct ctp_pace *p, bool wakeable, uint64_t now_ns)
{
	bool stations = now_ns - p->station_ns < BUSY_NS, rings = now_ns - p->ring_ns < RING_BUSY_NS;
	if (stations || rings) {
		uint64_t nap_ns = stations && p->nap_ns < p->ring_nap_ns ? p->nap_ns : p->ring_nap_ns;
		return (struct ctp_rest){.ns = nap_ns < NAP_MIN_NS ? 0 : nap_ns};
	}
	if (p->ring_ns > p->station_ns && p->spent_ns > now_ns)
		return (struct ctp_rest){.ns = RING_BUSY_NS};
	const unsigned last = p->doubt ? 1 : sizeof rests_ns / sizeof rests_ns[0] - 1;
	unsigned at = p->rests < last ? p->rests++ : last;
	struct ctp_rest rest = {.ns = rests_ns[at], .sleep = true, .sweep = at > 0};
	if (!wakeable && rest.ns > blind_ns)
		rest.ns = blind_ns;
	return rest;
}
