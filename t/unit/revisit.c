/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * revisit.c - a collector visits a running program again: what the slots still have from the earlier visit is not written as if
 * nothing had happened since, and events that only the rings have are written.
 */
#include "onemap.h"
#include "stream/events.h"

#include "memstream.h"
#include "tap.h"

enum { STATIONS = 8 };

static uint64_t first, next, rows, wrong, wakes, deaths, lost;

static void see(void *arg, const char *cls, const uint64_t *val)
{
	(void)arg;
	wakes += !strcmp(cls, "wake");
	deaths += !strcmp(cls, "death");
	lost += strcmp(cls, "lost") ? 0 : val[CTP_LOST_COUNT];
	if (strcmp(cls, "transition"))
		return;
	uint64_t k = val[CTP_TRANSITION_INDEX];
	if (!rows++)
		first = k;
	else
		wrong += k != next;
	next = k + 1;
}

static void events(struct ctp_coro *co, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (co->events_ % 2)
			ctp_coro_resume(co);
		else
			ctp_coro_suspend(co, CTP_HERE);
	}
}

static void begin(struct memstream *m)
{
	first = next = rows = wrong = wakes = deaths = lost = 0;
	memstream_start(m, &(struct ctp_harvest_conf){
	                        .shm = onemap_base, .bytes = onemap_bytes, .max_stations = STATIONS, .attach = true});
	m->bytes = 0; /* so that it stays mapped */
}

static void look(struct memstream *m)
{
	ctp_harvest_scan(m->harvest, NULL);
	ctp_harvest_last(m->harvest, false);
	ctp_harvest_settle(m->harvest);
	ok(memstream_close(m, see, NULL), "a stream");
}

static uint32_t followed(uint32_t more)
{
	return CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_SKIPS | CTP_MODE_MEMBARRIER | more;
}

/* A program that records only for visitors. */
static void test_gap(void)
{
	struct memstream m;
	struct ctp_coro co;
	struct ctp_arena arena = onemap_open(STATIONS, followed(0));
	ctp_coro_new(&co, 1);
	events(&co, 10);
	ctp_coro_wake(&co);
	ctp_arena_close(&arena, 0);
	events(&co, 4); /* without a collector */
	ctp_arena_open(&arena, followed(0), 0, NULL);
	begin(&m);
	events(&co, 2); /* before its first look */
	look(&m);
	is_u64(first, 10, "events from before the time without a collector are left out");
	is_u64(next, 12, "all events after it are there");
	is_u64(wakes, 0, "there is no wake");
	is_u64(wrong + lost, 0, "no event is lost or wrong");
}

/* A program that records, and a collector for which it writes no slots. */
static void test_bare(void)
{
	struct memstream m;
	struct ctp_coro co;
	struct ctp_arena arena = onemap_open(STATIONS, CTP_MODE_RECORD | CTP_MODE_KEEP);
	ctp_coro_new(&co, 1);
	events(&co, 10);
	ctp_arena_open(&arena, followed(CTP_MODE_BARE | CTP_MODE_KEEP), 0, NULL);
	begin(&m);
	events(&co, 4);
	ctp_coro_death(&co);
	look(&m);
	is_u64(first, 2, "the slots have the last eight");
	is_u64(next, 14, "the ring has all events until its death, which came before the first look");
	is_u64(rows, 12, "each event is there once");
	is_u64(wrong + lost, 0, "no event is lost or out of order");
	is_u64(deaths, 1, "the death is there");
}

int main(void)
{
	if (!ctp_membarrier())
		skip_all("the kernel has no membarrier(2)");
	test_gap();
	test_bare();
	return done_testing();
}
