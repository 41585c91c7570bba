/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-parts: the parts of ctp-mem at limits that no test's trace reaches, and compared with plain lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/hot-regions.h"
#include "memory/machine-caches.h"
#include "memory/mem.h"
#include "tap.h"

enum { KEYS = 3000, STEPS = 20000, SPOTS = 200 };

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void test_addrs(void)
{
	static uint32_t there[KEYS];
	struct ctp_addrs t = {.slots = NULL};
	uint32_t wrong = 0, count = 0;
	for (uint32_t i = 1; i <= STEPS; i++) {
		uint64_t key = next_random() % KEYS;
		struct ctp_addrs_slot *slot = ctp_addrs_find(&t, key << 6);
		wrong += (slot ? slot->number : 0) != there[key];
		if (slot)
			ctp_addrs_remove(&t, slot);
		else
			wrong += !ctp_addrs_add(&t, key << 6, i);
		count += slot ? -1 : 1;
		there[key] = slot ? 0 : i;
	}
	for (uint32_t i = 0; i < KEYS; i++)
		wrong += ctp_addrs_get(&t, (uint64_t)i << 6) != there[i];
	is_u64(wrong, 0, "addrs: addresses that were added and not removed are found");
	is_u64(t.count, count, "addrs: they are counted");
	ctp_addrs_clear(&t);
	ok(!ctp_addrs_get(&t, 64) && !t.count, "addrs: cleared");
	ctp_addrs_fini(&t);
}

/* --- regions -------------------------------------------------------------------------------------------------------------- */

static void test_regions(void)
{
	static struct {
		uint64_t start, bytes, born;
		uint32_t number;
	} list[SPOTS];
	struct ctp_regions r = {.region = NULL};
	uint64_t wrong = 0, base = UINT64_MAX - 4095;
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t at = next_random() % SPOTS, start = at % 2 ? base + 20 * at : 20 * at, address = start + next_random() % 64;
		uint32_t size = (uint32_t)(next_random() % 300), number = ctp_regions_at(&r, start), want = 0;
		uint64_t newest = 0;
		wrong += number != list[at].number;
		if (number) {
			ctp_regions_remove(&r, number);
			list[at].number = 0;
		} else {
			list[at].number = ctp_regions_add(&r, start, size, 3);
			list[at].start = start;
			list[at].bytes = 3 * (uint64_t)size;
			list[at].born = i + 1;
		}
		for (uint32_t k = 0; k < SPOTS; k++)
			if (list[k].number && list[k].born > newest && address >= list[k].start && address - list[k].start < list[k].bytes) {
				newest = list[k].born;
				want = list[k].number;
			}
		wrong += ctp_regions_find(&r, address) != want;
	}
	is_u64(wrong, 0, "regions: the newest that holds an address is found");
	ctp_regions_fini(&r);
}

/* However large and however deep they lie, each has a bounded number of parts, and a search looks at a block of each level. */
static void test_depth(void)
{
	struct ctp_regions r = {.region = NULL};
	uint32_t wrong = 0, numbers[1000];
	for (uint32_t i = 0; i < 1000; i++)
		numbers[i] = ctp_regions_add(&r, 1 + i, UINT32_MAX, UINT32_MAX - 2 * i);
	ok(r.nparts <= 1000 * CTP_REGION_BLOCKS, "regions: a thousand nested ones have a bounded number of parts (%u)", r.nparts);
	for (uint32_t i = 1000; i-- > 0;) {
		wrong += ctp_regions_find(&r, UINT64_C(1) << 40) != numbers[i];
		ctp_regions_remove(&r, numbers[i]);
	}
	is_u64(wrong, 0, "regions: each removal exposes the enclosing one");
	is_u64(ctp_regions_find(&r, UINT64_C(1) << 40), 0, "regions: after the last removal none is found");
	is_u64(r.used, 0, "regions: empty levels are not searched");
	ctp_regions_fini(&r);
}

static void test_room(void)
{
	struct ctp_regions r = {.region = NULL};
	uint64_t n = 0;
	while (n <= CTP_REGIONS_MAX && ctp_regions_add(&r, n << 8, 64, 1))
		n++;
	is_u64(n, CTP_REGIONS_MAX, "regions: their number is limited");
	ok(!ctp_regions_at(&r, n << 8) && !ctp_regions_find(&r, n << 8), "regions: one beyond the limit is not added");
	ctp_regions_remove(&r, ctp_regions_at(&r, 0));
	ok(ctp_regions_add(&r, n << 8, 64, 1) && ctp_regions_find(&r, (n << 8) + 63),
	   "regions: another can be added once one is removed");
	ctp_regions_fini(&r);
	for (n = 0; ctp_regions_add(&r, 1 + 3 * n, UINT32_MAX, UINT32_MAX - 1);)
		n++;
	ok(r.nparts <= CTP_REGION_PARTS_MAX && n > CTP_REGION_PARTS_MAX / CTP_REGION_BLOCKS - 1,
	   "regions: %ju of the worst kind fit", n);
	ok(ctp_regions_find(&r, 1 + 3 * n) == ctp_regions_at(&r, 1 + 3 * (n - 1)),
	   "regions: an address in one that did not fit is found in the last one that did");
	ctp_regions_fini(&r);
}

static void test_hot(void)
{
	static struct ctp_hot_regions h;
	uint32_t wrong = 0;
	for (uint64_t i = 1; i <= 10 * CTP_HOT_REGIONS; i++)
		ctp_hot_regions_note(&h, &(struct ctp_region){.born = i}, i * 7919 % (10 * CTP_HOT_REGIONS), false);
	ctp_hot_regions_sort(&h);
	for (uint32_t i = 0; i < h.n; i++)
		wrong += h.hot[i].cost != 10 * CTP_HOT_REGIONS - 1 - i;
	ok(h.n == CTP_HOT_REGIONS && !wrong, "hot regions: the most expensive ones are listed, in order");
}

/* --- sharing -------------------------------------------------------------------------------------------------------------- */

static void test_writers(void)
{
	struct ctp_sharing s = {.line = 64};
	struct ctp_mem_access a = {.address = 128, .size = 1, .write = true};
	for (uint32_t thread = 0; thread < CTP_SHARING_WRITERS + 5; thread++) {
		a.address = 128 + thread % 64;
		ctp_sharing_access(&s, &a, &(struct ctp_sharing_place){.thread = thread});
	}
	ok(s.nshared == 1 && s.shared[0]->nwriters == CTP_SHARING_WRITERS && s.shared[0]->more_writers,
	   "sharing: the number of writers kept is limited");
	is_u64(s.shared[0]->alternations, CTP_SHARING_WRITERS + 4, "sharing: alternations of all writers are counted");
	is(ctp_sharing_verdict_name(ctp_sharing_verdict(s.shared[0])), "once",
	   "sharing: writers that each write their own byte once");
	for (uint64_t line = 10; s.nshared < CTP_SHARING_SHARED_MAX || line < CTP_SHARING_SHARED_MAX + 20; line++)
		for (uint32_t thread = 0; thread < 2; thread++) {
			a.address = 64 * line;
			ctp_sharing_access(&s, &a, &(struct ctp_sharing_place){.thread = thread});
		}
	ok(s.nshared == CTP_SHARING_SHARED_MAX && s.unkept, "sharing: lines beyond the limit are counted (%ju)", s.unkept);
	ctp_sharing_fini(&s);
}

/* --- caches --------------------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/mem-parts.XXXXXX";

static void put(unsigned index, const char *name, const char *text)
{
	char path[200];
	snprintf(path, sizeof path, "%s/index%u", folder, index);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/index%u/%s", folder, index, name);
	FILE *f = fopen(path, "w");
	if (!f || fprintf(f, "%s\n", text) < 0 || fclose(f))
		ok(false, "%s can be written", path);
}

static void put_cache(unsigned index, const char *level, const char *type, const char *size, const char *ways, const char *line)
{
	put(index, "level", level);
	put(index, "type", type);
	put(index, "size", size);
	put(index, "ways_of_associativity", ways);
	put(index, "coherency_line_size", line);
}

static void remove_folder(void)
{
	char command[100];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	ok(!system(command), "the folder is removed");
}

static void test_machine(void)
{
	struct ctp_cache_shape s[CTP_CACHE_LEVELS];
	ok(mkdtemp(folder), "there is a folder");
	is_u64(ctp_machine_caches(s, folder), 0, "machine: an empty folder gives no caches");
	put_cache(0, "1", "Data", "48K", "12", "64");
	put_cache(1, "1", "Instruction", "32K", "8", "64");
	put_cache(2, "2", "Unified", "1280K", "20", "64");
	put_cache(3, "3", "Unified", "36M", "12", "64");
	is_u64(ctp_machine_caches(s, folder), 3, "machine: three levels of data caches are found");
	ok(s[0].size == 48 << 10 && s[0].ways == 12 && s[0].line == 64 && s[1].size == 1280 << 10 && s[2].size == 36 << 20,
	   "machine: their shapes are right");
	put(3, "ways_of_associativity", "0");
	is_u64(ctp_machine_caches(s, folder), 0, "machine: no cache is given if one cannot be simulated");
	put_cache(3, "4", "Unified", "128M", "16", "64");
	is_u64(ctp_machine_caches(s, folder), 2, "machine: a level above a gap is left out");
	remove_folder();
	unsigned n = ctp_libc_caches(s);
	ok(n <= CTP_CACHE_LEVELS && (!n || s[0].size >= s[0].line), "sysconf knows %u levels", n);
	is_u64(ctp_usual_caches(s), 3, "there are default caches");
}

/* A number of sets that is no power of two, longer lines in the next level, and the end of memory. */
static void test_caches(void)
{
	struct ctp_err err;
	const struct ctp_cache_shape shapes[] = {{3 * 64, 1, 64}, {128 * 6, 2, 128}};
	struct ctp_caches *c = ctp_caches_new(shapes, 2, false, &err);
	is_u64(ctp_caches_access(c, 0, UINT64_MAX, 255, true), 2, "caches: the last byte of memory is missed");
	is_u64(ctp_caches_access(c, 0, UINT64_MAX - 100, 4, false), 1, "caches: its longer line of level 2 is a hit");
	is_u64(ctp_caches_access(c, 0, UINT64_MAX, 1, false), 0, "caches: the byte itself is a hit then");
	is_u64(ctp_caches_access(c, 0, 60, 8, false), 2, "caches: an access to two lines is one miss");
	is_u64(ctp_caches_counts(c, 0)->misses[0], 2, "caches: it is counted once");
	ctp_caches_clear(c);
	is_u64(ctp_caches_access(c, 0, UINT64_MAX, 1, false), 2, "caches: forgotten");
	ctp_caches_free(c);
}

int main(void)
{
	test_addrs();
	test_regions();
	test_depth();
	test_room();
	test_hot();
	test_writers();
	test_machine();
	test_caches();
	return done_testing();
}
