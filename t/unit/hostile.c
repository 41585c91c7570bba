/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * hostile.c - a process fills the shared memory with nonsense while the collector reads it: nothing crashes, hangs or
 * grows without limit.
 */
#include <pthread.h>

#include "memstream.h"
#include "rawring.h"
#include "tap.h"

enum { STATIONS = 512, WRITES = 3000000 };

static uint64_t random_next(uint64_t *x) { return *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17; }

/* Values that a reader might stumble over. */
static uint64_t nasty(uint64_t *x)
{
	uint64_t r = random_next(x);
	switch (r >> 8 & 7) {
	case 0: return r >> (r & 63);
	case 1: return 0;
	case 2: return UINT64_MAX - (r >> 60);
	case 3: return UINT64_C(1) << (r & 63);
	case 4: return 2 * (r >> 59);
	case 5: return r >> 60;
	default: return (r >> 56) % 64;
	}
}

struct vandal {
	unsigned char *shm;
	struct rawmem mem;
	unsigned mode;
	uint64_t writes;
	bool stop;
};

static void *vandal(void *arg)
{
	struct vandal *v = arg;
	uint64_t x = 88172645463325252;
	while (!__atomic_load_n(&v->stop, __ATOMIC_RELAXED)) {
		uint64_t at = random_next(&x), station = at % STATIONS;
		size_t word = v->mode == 0 ? at / STATIONS % 128 : 8 + at / STATIONS % 8 * 8 + 3; /* anywhere; the seqs */
		uint64_t *p = (uint64_t *)(void *)(v->shm + 1024 + station * 1024) + word;
		uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED);
		__atomic_store_n(p, v->mode < 2 ? nasty(&x) : old + at % 5 - 1, __ATOMIC_RELAXED);
		__atomic_store_n((uint32_t *)(void *)(v->shm + 0x10), (uint32_t)nasty(&x), __ATOMIC_RELAXED);
		__atomic_fetch_add(&v->writes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void count(void *arg, const char *cls, const uint64_t *val)
{
	(void)val;
	if (!strcmp(cls, "conflict"))
		++*(uint64_t *)arg;
}

static void test_vandal(unsigned mode, const char *name)
{
	struct memstream m;
	struct vandal v = {.mode = mode};
	pthread_t thread;
	uint64_t conflicts = 0, found = 0;
	memstream_open(&m, STATIONS);
	v.shm = m.shm;
	if (pthread_create(&thread, NULL, vandal, &v))
		exit(1);
	unsigned rounds = 0;
	for (; __atomic_load_n(&v.writes, __ATOMIC_RELAXED) < WRITES; rounds++) {
		found += ctp_harvest_scan(m.harvest, NULL);
		if (rounds % 16 == 0)
			ctp_harvest_lives(m.harvest);
		if (rounds % 32 == 0)
			ctp_harvest_sweep(m.harvest, NULL);
	}
	ctp_harvest_last(m.harvest, false);
	__atomic_store_n(&v.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	struct ctp_harvest_stats s = *ctp_harvest_stats(m.harvest);
	size_t len = m.len;
	ok(s.stations <= STATIONS && s.births <= STATIONS && s.deaths <= STATIONS && s.conflicts <= STATIONS,
	   "%s: stations, births, deaths and conflicts are within their limits", name);
	/* A visit gives at most 8 rows; a death, and the end twice, have at most 64 visits. */
	ok(s.events <= UINT64_C(8) * STATIONS * (rounds + rounds / 8 + 3 * 64), "  the number of events is bounded");
	ok(memstream_close(&m, count, &conflicts) && conflicts == s.conflicts, "  the stream is complete");
	note("%u looks: %" PRIu64 " found, %" PRIu64 " events, %" PRIu64 " conflicts, %zu bytes", rounds, found,
	     s.events, s.conflicts, len);
}

/* An absurd count of stations in use, in a memory where none is. */
static void test_count(void)
{
	struct memstream m;
	memstream_open(&m, STATIONS);
	memstream_allocate(&m, UINT32_MAX);
	ctp_harvest_scan(m.harvest, NULL);
	memstream_allocate(&m, 3);
	ctp_harvest_scan(m.harvest, NULL);
	ctp_harvest_last(m.harvest, true);
	struct ctp_harvest_stats s = *ctp_harvest_stats(m.harvest);
	ok(s.stations == STATIONS && !s.events && !s.lost && !s.births && s.untraced == UINT32_MAX - STATIONS,
	   "an absurd count is reported and does no harm");
	ok(memstream_close(&m, NULL, NULL), "  the stream is complete");
}

/* --- with rings ----------------------------------------------------------------------------------------------------------- */

/* Mostly the critical words: heads, entries of rings, stations; now and then any word. */
static void *ring_vandal(void *arg)
{
	struct vandal *v = arg;
	const struct rawmem *mem = &v->mem;
	uint64_t x = 88172645463325252;
	while (!__atomic_load_n(&v->stop, __ATOMIC_RELAXED)) {
		uint64_t r = random_next(&x), at = random_next(&x);
		uint32_t ring = (uint32_t)(r % mem->rings), station = (uint32_t)(at % 16);
		unsigned char *descriptor = mem->base + mem->rings_at + 128 * (uint64_t)ring;
		unsigned char *entry = mem->base + mem->entries_at + at % ((uint64_t)mem->rings << mem->bits) * 32;
		switch (v->mode ? r >> 60 : 15) {
		case 0: put64(descriptor, nasty(&x)); break;
		case 1: case 2: case 3: put64(descriptor, raw64(descriptor) + (r >> 8) % 8); break;
		case 4: case 5: case 6: case 7:
			put64(entry, nasty(&x));
			put64(entry + 8, at);
			put64(entry + 16, (r >> 8) % 4 << 32 | (station + 1));
			put64(entry + 24, (r >> 16) % 10 << 56 | (r >> 24 & 0xff) << 32 | nasty(&x) >> 32);
			break;
		case 8: put32(raw_station(mem, station) + 0x248, (uint32_t)(r >> 8) % 4); break;
		case 9: put64(raw_station(mem, station) + 0x240, UINT64_C(0x2b505443) | (r >> 8) % 16 << 32); break;
		case 10: put64(raw_station(mem, station) + 8 * (at / 16 % 128), nasty(&x)); break;
		case 11:
			__atomic_store_n(raw_station(mem, station) + 0x10, (unsigned char)(r >> 8) % 3, __ATOMIC_RELAXED);
			break;
		case 12: put64(mem->base + mem->sites_at + 8 * (at % (64 * 32)), nasty(&x)); break;
		default: put64(mem->base + at % (mem->bytes / 8) * 8, nasty(&x));
		}
		__atomic_fetch_add(&v->writes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void test_ring_vandal(unsigned mode, const char *name)
{
	struct memstream m;
	struct vandal v = {.mode = mode};
	pthread_t thread;
	rawmem_plan(&v.mem, STATIONS, 4, 6);
	struct ctp_harvest_conf conf = {.bytes = v.mem.bytes, .max_stations = STATIONS, .attach = mode == 2};
	conf.shm = mmap(NULL, conf.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (conf.shm == MAP_FAILED)
		exit(1);
	rawmem_make(&v.mem, conf.shm, 3);
	memstream_start(&m, &conf);
	put32(m.shm + 0xcc, 4);
	memstream_allocate(&m, STATIONS);
	if (pthread_create(&thread, NULL, ring_vandal, &v))
		exit(1);
	uint64_t rounds = 0;
	for (; __atomic_load_n(&v.writes, __ATOMIC_RELAXED) < WRITES / 2; rounds++) {
		ctp_harvest_scan(m.harvest, NULL);
		if (rounds % 16 == 0)
			ctp_harvest_lives(m.harvest);
		if (rounds % 32 == 0)
			ctp_harvest_sweep(m.harvest, NULL);
	}
	ctp_harvest_last(m.harvest, false);
	ctp_harvest_release(m.harvest);
	__atomic_store_n(&v.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	struct ctp_harvest_stats s = *ctp_harvest_stats(m.harvest);
	size_t len = m.len;
	ok(memstream_close(&m, NULL, NULL), "%s: the stream is complete", name);
	/* A look takes at most what four rings of 64 can hold; what slots hold is found where an entry was. */
	ok(s.events <= (rounds + rounds / 32 + 8) * (4 * 64 + STATIONS) * 8, "  the number of events is bounded");
	note("%" PRIu64 " looks: %" PRIu64 " events, %" PRIu64 " births, %" PRIu64 " lost, %zu bytes", rounds, s.events,
	     s.births, s.lost, len);
}

int main(void)
{
	test_vandal(0, "nonsense anywhere");
	test_vandal(1, "nonsense for seq");
	test_vandal(2, "seq forwards and backwards");
	test_count();
	test_ring_vandal(0, "nonsense anywhere in an arena");
	test_ring_vandal(1, "nonsense in rings");
	test_ring_vandal(2, "nonsense that was there before");
	return done_testing();
}
