/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * arena.c - the parts that rings.c relies on: the geometry of an arena (valid or not), times from the CPU's counter, and gaps.
 */
#include <sys/mman.h>

#include "collect/ring-gaps.h"
#include "shm/arena.h"
#include "shm/rawclock.h"
#include "tap.h"

/* --- the arena ------------------------------------------------------------------------------------------------------------ */

static const struct ctp_geometry small = {.max_stations = 5, .max_sites = 3, .max_rings = 2, .ring_bits = 4};

static bool inside(const void *base, size_t bytes, const void *part, size_t len)
{
	size_t at = (size_t)((const char *)part - (const char *)base);
	return at <= bytes && len <= bytes - at;
}

static bool sound(const struct ctp_arena *a, const void *base, size_t bytes)
{
	return inside(base, bytes, a->stations, a->geo.max_stations * sizeof(*a->stations)) &&
	       inside(base, bytes, a->sites, a->geo.max_sites * sizeof(*a->sites)) &&
	       inside(base, bytes, a->rings, a->geo.max_rings * sizeof(*a->rings)) &&
	       inside(base, bytes, a->entries, ((size_t)a->geo.max_rings << a->geo.ring_bits) * sizeof(*a->entries));
}

static void test_geometry(void)
{
	struct ctp_arena a;
	struct ctp_err err;
	size_t bytes = ctp_arena_bytes(&small);
	char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ok(ctp_arena_find(&a, base, bytes, &err) != CTP_OK, "zeros are no arena");
	ctp_arena_make(base, &small);
	ok(ctp_arena_find(&a, base, bytes, &err) == CTP_OK && sound(&a, base, bytes),
	   "an arena that was created is found, and lies within its memory");
	ok(!memcmp(&a.geo, &small, sizeof(small)) && !a.owner, "its geometry is the one it was created with");
	ok(ctp_arena_find(&a, base, bytes - 1, &err) != CTP_OK, "an arena that lacks one byte is refused");
	is_u64(ctp_arena_bytes(&(struct ctp_geometry){0, 1, 1, 4, 0}) | ctp_arena_bytes(&(struct ctp_geometry){1, 1, 1, 40, 0}), 0,
	       "an impossible geometry has no size");

	static const uint64_t nasty[] = {0, 1, 2, 255, 65535, 65536, 131072, UINT64_C(1) << 31, UINT32_MAX, UINT64_C(1) << 40,
	                                 UINT64_MAX / 2, UINT64_MAX - 65535, UINT64_MAX};
	unsigned found = 0, bad = 0, n = sizeof(nasty) / sizeof(*nasty);
	for (size_t at = 0; at < 0x80; at += 4)
		for (unsigned k = 0; k < 2 * n; k++) {
			size_t width = k < n ? 4 : 8;
			ctp_arena_make(base, &small);
			memcpy(base + at, &nasty[k % n], width);
			if (ctp_arena_find(&a, base, bytes, &err) == CTP_OK) {
				found++;
				bad += !sound(&a, base, bytes);
			}
		}
	ok(found && !bad, "no header makes an arena reach beyond its memory (%u headers were accepted)", found);
	munmap(base, bytes);
}

static void test_open(void)
{
	struct ctp_arena a;
	struct ctp_err err;
	size_t bytes = ctp_arena_bytes(&small);
	char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), path[200];
	ctp_arena_make(base, &small);
	if (ctp_arena_find(&a, base, bytes, &err))
		exit(1);
	a.rings[0].head = 7;
	a.rings[1].head = 9;
	a.header->rings_used = 1;
	a.header->tracer_sleeping = 1;
	ctp_arena_open(&a, CTP_MODE_RECORD | CTP_MODE_RINGS, 77, "/a/b");
	ok(a.header->mode == 3 && a.header->wait_us == 77 && a.header->epoch == 1 && !strcmp(a.header->sock, "/a/b"),
	   "the header says that a collector is attached");
	ok(a.rings[0].tail == 7 && a.rings[1].tail == 0 && !a.header->tracer_sleeping, "the old contents of the rings are dropped");
	ctp_arena_close(&a, CTP_MODE_RECORD);
	ok(a.header->mode == 1 && a.header->epoch == 2 && !a.header->sock[0], "the header says that the collector has left");
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = 0;
	a.header->rings_used = UINT32_MAX;
	ctp_arena_open(&a, 3, 0, path);
	ok(!a.header->sock[0] && a.rings[1].tail == 9, "a path that is too long and rings that do not exist are ignored");
	munmap(base, bytes);
}

/* --- the counter ---------------------------------------------------------------------------------------------------------- */

/* A counter of half a nanosecond per step; its value raw is 1000000 ns. */
static struct ctp_rawclock half(uint64_t raw)
{
	return (struct ctp_rawclock){.far = {raw - 2000, 1000000 - 1000, UINT64_C(1) << 31, raw, 1000000}};
}

static uint64_t random_next(uint64_t *x) { return *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17; }

static void test_lines(uint64_t raw)
{
	struct ctp_rawclock c = half(raw);
	ctp_rawclock_add(&c, raw + 200, 1000100);
	ctp_rawclock_add(&c, raw + 200, 1000500); /* the same pair again, and an older one */
	ctp_rawclock_add(&c, raw + 100, 1000600);
	ctp_rawclock_add(&c, raw + 400, 1000400);
	ok(ctp_rawclock_ns(&c, raw + 100) == 1000050 && ctp_rawclock_ns(&c, raw + 200) == 1000100 &&
	           ctp_rawclock_ns(&c, raw + 300) == 1000250,
	   "a time between two pairs is interpolated, from 0x%" PRIx64 " on", raw);
	is_u64(ctp_rawclock_ns(&c, raw + 500), 1000400, "a value newer than the last pair has the last pair's time");
	is_u64(ctp_rawclock_ns(&c, raw - 4000), 1000000 - 2000, "a value older than the first pair uses the first pair's speed");
	ctp_rawclock_add(&c, raw + 600, 1000300);
	is_u64(ctp_rawclock_ns(&c, raw + 500), 1000400, "a clock that goes backwards stands still");
}

/* Slightly wrong pairs, many more than are kept: the times stay in order. */
static void test_order(uint64_t raw)
{
	struct ctp_rawclock c = half(raw);
	uint64_t x = 88172645463325252, backwards = 0, wrong = 0, start = raw;
	for (unsigned i = 0; i < 1000; i++) {
		raw += 1 + random_next(&x) % 3000;
		uint64_t exact = 1000000 + (raw - start) / 2;
		ctp_rawclock_add(&c, raw, exact - 20 + random_next(&x) % 41);
		uint64_t before = 0, span = raw - start + 1000, step = 1 + span / 500;
		for (uint64_t at = start - 1000; at - start + 1000 < span; at += step) {
			uint64_t ns = ctp_rawclock_ns(&c, at), want = 1000000 + (uint64_t)((int64_t)(at - start) / 2);
			backwards += ns < before;
			wrong += ns > want + 25 || want > ns + 25;
			before = ns;
		}
	}
	ok(!backwards && !wrong,
	   "times never go backwards, and are no more wrong than the pairs (%" PRIu64 ", %" PRIu64 ")", backwards,
	   wrong);
}

static void test_counter(void)
{
	struct ctp_rawclock c;
	uint64_t made_raw, made_ns, raw, ns;
	if (!ctp_rawclock_usable()) {
		note("the system's clock is not the processor's counter");
		return;
	}
	ctp_rawclock_pair(&made_raw, &made_ns);
	ctp_rawclock_init(&c, made_raw, made_ns);
	ctp_rawclock_take(&c);
	uint64_t apart = ctp_rawclock_pair(&raw, &ns);
	ctp_rawclock_take(&c);
	uint64_t got = ctp_rawclock_ns(&c, raw), slack = 2 * c.error_ns + 2 * apart * 1000000000 / ctp_rawclock_hz() + 2;
	ok(got <= ns + slack && ns <= got + slack, "a time is within the stated error");
	note("off by %" PRId64 " ns, %" PRIu64 " stated", (int64_t)(got - ns), c.error_ns);
	ctp_rawclock_init(&c, UINT64_MAX, 5);
	ctp_rawclock_take(&c);
	got = ctp_rawclock_ns(&c, raw);
	ok(got < ns + 1000000000 && ns < got + 1000000000, "an implausible first pair is not used");
	ctp_rawclock_init(&c, 1, 1);
	ctp_rawclock_take(&c);
	got = ctp_rawclock_ns(&c, raw);
	ok(got < ns + 1000000000 && ns < got + 1000000000, "a pair that does not fit the counter's speed is not used");
}

/* --- holes ---------------------------------------------------------------------------------------------------------------- */

static void test_holes(void)
{
	struct ctp_ring_gaps h;
	struct ctp_err err;
	uint32_t newest[2] = {0, 0};
	if (ctp_ring_gaps_init(&h, &err))
		exit(1);
	ok(!ctp_ring_gaps_any(&h, 0, newest[0]) && !ctp_ring_gaps_find(&h, 0, newest[0], 5), "without gaps none is found");
	ctp_ring_gaps_add(&h, &(struct ctp_ring_gap){.from = 10, .to = 20, .after_ns = 900, .ts_ns = 2000, .station = 0}, &newest[0]);
	ctp_ring_gaps_add(&h, &(struct ctp_ring_gap){.from = 10, .to = 20, .station = 1}, &newest[1]);
	ctp_ring_gaps_add(&h, &(struct ctp_ring_gap){.from = 30, .to = 31, .station = 0}, &newest[0]);
	ok(!ctp_ring_gaps_find(&h, 0, newest[0], 9) && !ctp_ring_gaps_find(&h, 0, newest[0], 20),
	   "numbers outside the gap are not found");
	ctp_ring_gaps_fill(&h, ctp_ring_gaps_find(&h, 0, newest[0], 15), 15, 1500, &newest[0]);
	ok(!ctp_ring_gaps_find(&h, 0, newest[0], 15) && ctp_ring_gaps_find(&h, 0, newest[0], 14)->to == 15 &&
	           ctp_ring_gaps_find(&h, 0, newest[0], 16)->from == 16,
	   "an event found in the middle of a gap splits it");
	ctp_ring_gaps_fill(&h, ctp_ring_gaps_find(&h, 0, newest[0], 10), 10, 1000, &newest[0]);
	ctp_ring_gaps_fill(&h, ctp_ring_gaps_find(&h, 0, newest[0], 14), 14, 1400, &newest[0]);
	ctp_ring_gaps_fill(&h, ctp_ring_gaps_find(&h, 0, newest[0], 30), 30, 3000, &newest[0]);
	ok(ctp_ring_gaps_find(&h, 0, newest[0], 11)->to == 14 && !ctp_ring_gaps_find(&h, 0, newest[0], 30),
	   "events found at its ends shrink a gap");
	const struct ctp_ring_gap *left = ctp_ring_gaps_find(&h, 0, newest[0], 11), *right = ctp_ring_gaps_find(&h, 0, newest[0], 16);
	ok(left->after_ns == 1000 && left->ts_ns == 1400 && right->after_ns == 1500 && right->ts_ns == 2000,
	   "the rest of the gap lies between the times of its neighbours");
	ctp_ring_gaps_drop(&h, 2);
	ok(!ctp_ring_gaps_find(&h, 0, newest[0], 12) && ctp_ring_gaps_find(&h, 0, newest[0], 17) && !ctp_ring_gaps_any(&h, 1, newest[1]),
	   "the oldest gaps are dropped first");
	for (unsigned i = 0; i < 3 * CTP_RING_GAPS_MAX; i++) {
		if (ctp_ring_gaps_count(&h) == CTP_RING_GAPS_MAX)
			ctp_ring_gaps_drop(&h, 1);
		ctp_ring_gaps_add(&h, &(struct ctp_ring_gap){.from = i, .to = i + 1, .station = 1}, &newest[1]);
	}
	ok(!ctp_ring_gaps_any(&h, 0, newest[0]) && ctp_ring_gaps_find(&h, 1, newest[1], 2 * CTP_RING_GAPS_MAX) &&
	           !ctp_ring_gaps_find(&h, 1, newest[1], 2 * CTP_RING_GAPS_MAX - 1),
	   "looking up a dropped gap does no harm");
	ctp_ring_gaps_fini(&h);
}

/* Compared with a list that is searched linearly; two of the stations share one cache entry. */
enum { STATIONS = 3, LISTED = 512 };
static const uint32_t stations[STATIONS] = {4, 4 + CTP_RING_GAPS_FOUND, 5};

struct listed {
	uint32_t station;
	uint64_t from, to;
};

static struct listed *list_find(struct listed *list, unsigned n, uint32_t station, uint64_t number)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i].station == station && number >= list[i].from && number < list[i].to)
			return &list[i];
	return NULL;
}

static void list_fill(struct listed *list, unsigned *n, struct listed *in, uint64_t number)
{
	if (number == in->from) {
		in->from++;
	} else {
		if (number + 1 < in->to)
			list[(*n)++] = (struct listed){in->station, number + 1, in->to};
		in->to = number;
	}
}

static void test_holes_listed(void)
{
	struct ctp_ring_gaps h;
	struct ctp_err err;
	struct listed list[LISTED + 1];
	unsigned n = 0, wrong = 0, found = 0;
	uint32_t newest[STATIONS] = {0}, random = 1;
	uint64_t next[STATIONS] = {0};
	if (ctp_ring_gaps_init(&h, &err))
		exit(1);
	for (unsigned i = 0; i < 200000; i++) {
		random = random * 1664525 + 1013904223;
		unsigned s = (random >> 28) % STATIONS, many = 1 + (random >> 20) % 7;
		if (random >> 30 == 0 && n < LISTED - 1) {
			list[n++] = (struct listed){stations[s], next[s], next[s] + many};
			ctp_ring_gaps_add(&h, &(struct ctp_ring_gap){.from = next[s], .to = next[s] + many, .station = stations[s]}, &newest[s]);
			next[s] += many + 1;
		} else if ((random >> 16) % 16 == 0 && n) {
			many = many < n ? many : n;
			ctp_ring_gaps_drop(&h, many);
			memmove(list, list + many, (n -= many) * sizeof *list);
		} else if (n < LISTED) {
			uint64_t back = (random >> 8) % 1024, number = next[s] > back ? next[s] - back : 0;
			struct listed *in = list_find(list, n, stations[s], number);
			ctp_ring_gaps_rest(&h);
			struct ctp_ring_gap *hole = ctp_ring_gaps_find(&h, stations[s], newest[s], number);
			wrong += !in != !hole || (in && (in->from != hole->from || in->to != hole->to || in->station != hole->station));
			found += in != NULL;
			if (in && hole) {
				list_fill(list, &n, in, number);
				ctp_ring_gaps_fill(&h, hole, number, 0, &newest[s]);
			}
		}
	}
	ok(!wrong && found > 1000, "each event is found in its own gap, and in no other (%u of %u are not)", wrong, found);
	ctp_ring_gaps_fini(&h);
}

int main(void)
{
	test_geometry();
	test_open();
	test_lines(1000000);
	test_lines(UINT64_MAX - 250); /* it wraps between the pairs */
	test_order(1 << 20);
	test_order(UINT64_MAX - 500000);
	test_counter();
	test_holes();
	test_holes_listed();
	return done_testing();
}
