/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* map: a hash map compared with a list: growing, cleared, and with keys chosen to collide. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { ITEMS = 5000 };

static uint64_t keys[ITEMS];

static bool is_key(const void *items, uint32_t number, const void *key)
{
	return ((const uint64_t *)items)[number - 1] == *(const uint64_t *)key;
}

static uint64_t hash_key(const void *items, uint32_t number) { return ((const uint64_t *)items)[number - 1]; }

static uint32_t *slot(const struct ctp_map *map, uint64_t key) { return ctp_map_slot(map, key, is_key, keys, &key); }

/* Number of wrong answers of a map of the first n keys. */
static uint32_t wrong(const struct ctp_map *map, uint32_t n)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < ITEMS; i++)
		sum += *slot(map, keys[i]) != (i < n ? i + 1 : 0);
	return sum;
}

static void test_growing(void)
{
	struct ctp_map map;
	uint32_t room = 8, bad = 0, grown = 0;
	ok(ctp_map_init(&map, room), "a map is created");
	is_u64(wrong(&map, 0), 0, "a new map is empty");
	for (uint32_t n = 0; n < ITEMS; n++) {
		if (n == room) {
			bad += !ctp_map_grow(&map, n, hash_key, keys);
			room *= 2;
			bad += wrong(&map, n);
			grown++;
		}
		*slot(&map, keys[n]) = n + 1;
	}
	ok(grown == 10 && !bad, "growing loses nothing");
	is_u64(wrong(&map, ITEMS), 0, "each item is found by its key");
	ok(map.nslots >= 2 * ITEMS, "at most half of it is used");
	ctp_map_clear(&map);
	is_u64(wrong(&map, 0), 0, "a map that is cleared is empty");
	ctp_map_fini(&map);
}

static void test_bytes(void)
{
	is_u64(ctp_map_bytes(UINT64_C(0xcbf29ce484222325), "foobar", 6), UINT64_C(0x85944171f73967e8), "bytes are hashed as FNV-1a has it");
	ok(ctp_map_bytes(1, "ab", 2) == ctp_map_bytes(ctp_map_bytes(1, "a", 1), "b", 1), "hashing in parts gives the same");
}

int main(void)
{
	for (uint64_t i = 0; i < ITEMS; i++) /* numbers in a row, some that differ in their upper bits alone, and 0 */
		keys[i] = i % 3 ? i : i << 40;
	test_growing();
	test_bytes();
	return done_testing();
}
