/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* objects-late.c - what a collector that comes late says of objects whose holders ended before. */
#include "onemap.h"
#include "stream/events.h"

#include "memstream.h"
#include "tap.h"

enum { STATIONS = 1 }; /* so that it is reused */

struct reading {
	uint64_t births, deaths, dead, holds, holder;
};

static void see(void *arg, const char *cls, const uint64_t *val)
{
	struct reading *r = arg;
	r->births += !strcmp(cls, "birth");
	r->deaths += !strcmp(cls, "death");
	if (!strcmp(cls, "death"))
		r->dead = val[CTP_DEATH_CORO];
	if (!strcmp(cls, "hold")) {
		r->holds++;
		r->holder = val[CTP_HOLD_CORO];
	}
}

/* A coroutine ends while it holds a lock, and as many as next says have its station after it. The last of them lives. */
static struct reading ended_holder(unsigned next)
{
	static char lock;
	struct ctp_coro holder, other;
	struct reading r = {0};
	struct memstream m;
	onemap_open(STATIONS, CTP_MODE_RECORD | CTP_MODE_KEEP);
	ctp_object_new(&lock, CTP_FOR_LOCK, 1, NULL, 0);
	ctp_coro_new(&holder, 1);
	ctp_coro_resume(&holder);
	ctp_coro_holds(&holder, &lock, 1);
	ctp_coro_death(&holder);
	for (unsigned i = 1; i <= next; i++) {
		ctp_coro_new(&other, 1 + i);
		ctp_coro_resume(&other);
		if (i < next)
			ctp_coro_death(&other);
	}
	memstream_start(&m, &(struct ctp_harvest_conf){
	                        .shm = onemap_base, .bytes = onemap_bytes, .max_stations = STATIONS, .attach = true});
	ctp_harvest_scan(m.harvest, NULL);
	ctp_harvest_last(m.harvest, true);
	ok(memstream_close(&m, see, &r), "the stream is whole");
	return r;
}

int main(void)
{
	for (unsigned next = 0; next < 3; next++) {
		struct reading r = ended_holder(next);
		ok(r.holds == 1 && r.holder && r.holder == r.dead, "a lock is held by one that ended, %u others after it", next);
		ok(r.deaths == 1 && r.births == 1 + (next > 0), "it has a birth and an end, and the one that lives has a birth");
	}
	return done_testing();
}
