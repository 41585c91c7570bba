/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-slots.c - ctp_slot_write_ of the probe against lib/shm/slots.c: what is copied as whole is one event.
 */
#include <string.h>

#include "real-probe.h"
#include "shm/slots.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

enum { FENCED, BARRIER, ALONE }; /* alone: the reader has no membarrier */
enum { BEFORE = 18, EVENTS = 11 };

static _Alignas(1024) struct ctp_shm_station station;
static uint64_t before, events, accepted;
static bool fenced;
static const struct ctp_rings rings = {.now_ns = UINT64_MAX};

static void write_events(void *unused)
{
	(void)unused;
	for (uint64_t k = before; k < before + events; k++)
		real_slot_write(&station, k, fenced);
}

static void judge(const struct ctp_pick *pick)
{
	uint64_t k = pick->number;
	if (!pick->whole)
		return;
	accepted++;
	if (pick->ts_ns != world_word(k, 0) || pick->tid != world_word(k, 1) || pick->addr != world_word(k, 2) ||
	    pick->what != world_word(k, 3))
		view_fail("event %llu was accepted and is torn", (unsigned long long)k);
}

static void read_slots(void *unused)
{
	(void)unused;
	for (uint64_t looks = view_random(2), until = looks + 1 + view_random(2); looks < until; looks++) {
		struct ctp_pick picks[CTP_SHM_SLOTS];
		uint64_t next = looks ? before + view_random(events + 1) : ctp_slots_next(&station);
		uint64_t from = next > CTP_SHM_SLOTS ? next - CTP_SHM_SLOTS : 0;
		unsigned n = 0;
		from += view_random(next - from);
		for (uint64_t k = from; k < next; k++)
			picks[n++] = (struct ctp_pick){.slot = &station.slots[k % CTP_SHM_SLOTS], .number = k,
			                               .flags = fenced ? CTP_ANNOUNCE_ORDERED : CTP_ANNOUNCE_BARRIER};
		ctp_slots_copy(&rings, picks, n);
		for (unsigned k = 0; k < n; k++)
			judge(&picks[k]);
	}
}

static void init(void) { view_share("station", &station, sizeof station); }

static void begin(unsigned dialect)
{
	fenced = dialect != BARRIER;
	view_has_membarrier = dialect != ALONE;
	before = view_random(BEFORE);
	events = 1 + view_random(EVENTS);
	memset(&station, 0, sizeof station);
	for (uint64_t k = before > CTP_SHM_SLOTS ? before - CTP_SHM_SLOTS : 0; k < before; k++)
		real_slot_write(&station, k, true);
	view_spawn("writer", write_events, NULL, fenced ? VIEW_UNREGISTERED : VIEW_REGISTERED);
	view_spawn("reader", read_slots, NULL, VIEW_UNREGISTERED);
}

static uint64_t found(void) { return accepted; }

static const char *const dialects[] = {"fenced", "barrier", "alone", NULL};
const struct world world_slots = {"slots", dialects, init, begin, NULL, found};
