/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-rings.c - the rings of the probe against lib/shm/rings.c: each entry comes once, whole and in the order of its ring, or is
 * counted. The entries themselves are plain stores, and the machine fails where one is a data race.
 *
 * Two threads begin when one of the first two has ended, or its code was unloaded, and take the ring. Each thread has a coroutine of its own, whose
 * events have consecutive numbers: those that are missing in a ring must have been told of there by then.
 *
 * In the world `again` the collector leaves, and another one comes, which begins each ring where its head is: nothing tells what is
 * missing then.
 */
#include <stdlib.h>
#include <string.h>

#include "real-probe.h"
#include "shm/rings.h"
#include "small-arena.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

enum { QUICK, FENCED, SKIPS, FENCED_SKIPS, AGAIN };
enum { WRITERS = 4, EVENTS = 40, LOOKS = 6 };

static struct ctp_arena arena;
static struct ctp_rings rings;
static uint64_t written[WRITERS], next[WRITERS], got, told[SMALL_RINGS], credit[SMALL_RINGS], judged;
static unsigned thread_of[WRITERS];
static uint32_t ring_bits, mode;
static bool left; /* one has */
static bool again;

static uint64_t addr_of(uint64_t co, uint64_t k) { return k % 3 ? world_word(k, (unsigned)co) : 0; }

static bool one_ended(void *unused)
{
	(void)unused;
	return left || view_ended(thread_of[0]) || view_ended(thread_of[1]);
}

static void write_events(void *arg)
{
	unsigned co = (unsigned)(uintptr_t)arg;
	if (co >= 2)
		view_wait(one_ended, NULL);
	uint64_t n = view_random(EVENTS);
	real_new(co, 0);
	for (uint64_t k = 0; k < n; k++)
		real_event(co, addr_of(co, k));
	written[co] = n;
	if (view_chance(2)) {
		real_withdraw();
		left = true;
	}
}

static void see(uint32_t i, const struct ctp_ring_entry *e)
{
	unsigned kind = CTP_ENTRY_KIND(e->what);
	uint64_t co = CTP_REF_INDEX(e->ref), k = CTP_ENTRY_NUMBER(e->what);
	judged++;
	if (kind == CTP_ENTRY_GAP) {
		credit[i] += e->value;
		told[i] += e->value;
		return;
	}
	if (kind == CTP_ENTRY_BIRTH)
		return;
	for (co = 0; co < WRITERS && real_ref((unsigned)co) != e->ref;)
		co++;
	if (co == WRITERS || kind != (addr_of(co, k) ? CTP_ENTRY_SUSPEND : CTP_ENTRY_RESUME) || e->value != addr_of(co, k))
		view_fail("ring %u has an entry that nobody wrote: kind %u, number %llu", i, kind, (unsigned long long)k);
	if (k < next[co])
		view_fail("event %llu of coroutine %u came twice, or late", (unsigned long long)k, (unsigned)co);
	if (k - next[co] > credit[i] && !again)
		view_fail("events %llu to %llu of coroutine %u are missing in ring %u, and were not told of", (unsigned long long)next[co],
		          (unsigned long long)k, (unsigned)co, i);
	credit[i] -= k - next[co];
	next[co] = k + 1;
	got++;
}

static void look(bool all)
{
	struct ctp_ring_entry entries[CTP_RINGS_CHUNK];
	struct ctp_ring *ring;
	ctp_rings_look(&rings, all);
	while (ctp_rings_slice(&rings))
		for (unsigned n; (n = ctp_rings_take(&rings, &ring, entries));)
			for (unsigned k = 0; k < n; k++)
				see((uint32_t)(ring - rings.rings), &entries[k]);
	ctp_rings_finish(&rings);
}

static bool all_ended(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < WRITERS; i++)
		if (!view_ended(thread_of[i]))
			return false;
	return true;
}

static void look_some(void)
{
	struct ctp_err err;
	if (ctp_rings_init(&rings, small_arena, sizeof small_arena, &err))
		view_fail("no rings were found");
	for (uint64_t n = view_random(LOOKS); n; n--)
		look(false);
}

static void collect(void *unused)
{
	(void)unused;
	look_some();
	if (again) {
		if (view_chance(2)) /* or it was killed */
			ctp_arena_close(&arena, CTP_MODE_RECORD | CTP_MODE_KEEP);
		ctp_rings_fini(&rings);
		ctp_arena_open(&arena, mode, 0, NULL);
		look_some();
	}
	view_wait(all_ended, NULL);
	for (unsigned i = 0; i < WRITERS; i++)
		view_join_thread(thread_of[i]);
	look(true);
	if (again)
		return;
	uint64_t lost = view_last(&arena.header->lost_events, 8), wrote = 0;
	for (uint32_t i = 0; i < rings.used; i++) {
		lost += rings.rings[i].lost_events;
		if (told[i] > rings.rings[i].lost_events)
			view_fail("ring %u told of more losses than it counted", i);
	}
	for (unsigned i = 0; i < WRITERS; i++)
		wrote += written[i];
	if (got + lost != wrote)
		view_fail("%llu events were written, %llu taken, %llu counted as lost", (unsigned long long)wrote, (unsigned long long)got,
		          (unsigned long long)lost);
}

static void init(void) { small_arena_share(); }

static void begin(unsigned dialect)
{
	again = dialect == AGAIN;
	bool fenced = dialect == FENCED || dialect == FENCED_SKIPS || (again && view_random(2));
	bool skips = dialect == SKIPS || dialect == FENCED_SKIPS || (again && view_random(2));
	mode = CTP_MODE_RECORD | CTP_MODE_RINGS | (fenced ? 0 : CTP_MODE_MEMBARRIER) | (skips ? CTP_MODE_SKIPS : 0) |
	       (view_random(3) ? CTP_MODE_BARE : 0);
	ring_bits = skips ? SMALL_RING_BITS : 1 + (uint32_t)view_random(SMALL_RING_BITS);
	view_has_membarrier = true;
	ctp_rings_fini(&rings); /* of a run that failed */
	small_arena_open(&arena, SMALL_STATIONS, 2 + (uint32_t)view_random(2), ring_bits, mode);
	real_probe_attach(arena.header, ring_bits, fenced, !fenced && arena.clock == CTP_CLOCK_RAW);
	memset(written, 0, sizeof written);
	memset(next, 0, sizeof next);
	memset(told, 0, sizeof told);
	memset(credit, 0, sizeof credit);
	got = 0;
	left = false;
	for (unsigned i = 0; i < WRITERS; i++)
		thread_of[i] = view_spawn((const char *[]){"writer 0", "writer 1", "writer 2", "writer 3"}[i], write_events, (void *)(uintptr_t)i,
		                          fenced ? VIEW_UNREGISTERED : VIEW_REGISTERED);
	view_spawn("collector", collect, NULL, VIEW_UNREGISTERED);
}

static uint64_t found(void) { return judged; }

static const char *const dialects[] = {"quick", "fenced", "skips", "fenced-skips", "again", NULL};
const struct world world_rings = {"rings", dialects, init, begin, NULL, found};
