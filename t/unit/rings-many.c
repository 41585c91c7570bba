/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rings-many.c - the rings of thousands of threads, which wrote one after the other: they are taken in the order of time, and in
 * slices that are worth it.
 */
#include "base/clock.h"
#include "rawring.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "shm/rings.h"

enum { RINGS = 2000, BITS = 6, ENTRIES = 40 };

struct count {
	uint64_t slices, most, taken, early; /* early: entries that are not later than the slice before */
};

/* step_ns: from the first entry of a thread to that of the next. */
static void write_all(struct rawmem *mem, uint64_t step_ns)
{
	uint64_t begin_ns = ctp_clock_ns() - RINGS * step_ns - 1000000;
	for (uint32_t i = 0; i < RINGS; i++) {
		struct rawring ring = {.ts = begin_ns + i * step_ns};
		raw_claim(&ring, mem, i, 4711, 5000 + i);
		for (unsigned k = 1; k < ENTRIES; k++, ring.ts += 10)
			raw_entry(&ring, ring.ts, 0, 1, (uint64_t)RAW_WAKE << 56);
	}
}

static struct count take_all(struct ctp_rings *r)
{
	struct ctp_ring_entry entries[CTP_RINGS_CHUNK];
	struct ctp_ring *ring;
	struct count c = {0};
	ctp_rings_look(r, false);
	for (uint64_t before_ns = 0; ctp_rings_slice(r); before_ns = r->horizon_ns) {
		uint64_t here = 0;
		for (unsigned n; (n = ctp_rings_take(r, &ring, entries)); here += n)
			for (unsigned k = 0; k < n; k++)
				c.early += entries[k].ts_ns < before_ns;
		c.slices++;
		c.taken += here;
		c.most = here > c.most ? here : c.most;
	}
	ctp_rings_finish(r);
	return c;
}

static void test(uint64_t step_ns, const char *name)
{
	struct rawmem mem;
	struct ctp_rings r;
	struct ctp_err err;
	rawmem_plan(&mem, 16, RINGS, BITS);
	void *base = mmap(NULL, mem.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		exit(1);
	rawmem_make(&mem, base, 3);
	if (ctp_rings_init(&r, base, mem.bytes, &err))
		exit(1);
	write_all(&mem, step_ns);
	struct count c = take_all(&r);
	ok(c.taken == (uint64_t)RINGS * (ENTRIES - 1), "%s: all entries but those for the reader alone (%" PRIu64 ")", name, c.taken);
	ok(!c.early, "  none is of a slice before (%" PRIu64 " are)", c.early);
	ok(c.most <= CTP_RINGS_SLICE + 8 * RINGS, "  no slice is too large (%" PRIu64 ")", c.most);
	ok(c.slices <= 100, "  and there are not too many (%" PRIu64 ")", c.slices);
	ctp_rings_fini(&r);
	munmap(base, mem.bytes);
}

int main(void)
{
	test(1000, "one after the other");
	test(100, "each while the next ones begin");
	test(0, "all at once");
	return done_testing();
}
