/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* map.c - open addressing: a key whose slot is taken uses the next one. */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

enum { SLOTS_MIN = 16, SLOTS_PAGES = 8192 }; /* SLOTS_PAGES: from then on a table that is cleared need not be touched */

static uint32_t *slots_new(uint32_t n)
{
	return n < SLOTS_PAGES ? calloc(n, sizeof(uint32_t)) : ctp_pages_new(n * sizeof(uint32_t));
}

static void slots_free(struct ctp_map *map)
{
	if (map->nslots < SLOTS_PAGES)
		free(map->slots);
	else
		ctp_pages_free(map->slots, map->nslots * sizeof *map->slots);
}

bool ctp_map_init(struct ctp_map *map, uint32_t items)
{
	uint32_t n = SLOTS_MIN;
	while (n < 2 * items)
		n *= 2;
	assert(!(n & (n - 1)) && items <= n / 2); /* ctp_map_slot ends at a free slot */
	*map = (struct ctp_map){.slots = slots_new(n), .nslots = n, .salt = ctp_spread_salt()};
	return map->slots;
}

void ctp_map_fini(struct ctp_map *map)
{
	slots_free(map);
	map->slots = NULL;
}

struct ctp_map *ctp_map_new(uint32_t items)
{
	struct ctp_map *map = malloc(sizeof *map);
	if (map && ctp_map_init(map, items))
		return map;
	free(map);
	return NULL;
}

void ctp_map_free(struct ctp_map *map)
{
	if (map)
		ctp_map_fini(map);
	free(map);
}

void ctp_map_clear(struct ctp_map *map)
{
	size_t bytes = map->nslots * sizeof *map->slots;
	if (map->slots && map->nslots < SLOTS_PAGES)
		memset(map->slots, 0, bytes);
	else if (map->slots)
		ctp_pages_clear(map->slots, bytes);
}

bool ctp_map_grow(struct ctp_map *map, uint32_t count, ctp_map_hash *hash, const void *items)
{
	assert(count <= map->nslots / 2);
	struct ctp_map more = {.nslots = 2 * map->nslots, .salt = map->salt};
	more.slots = slots_new(more.nslots);
	if (!more.slots)
		return false;
	for (uint32_t number = 1; number <= count; number++) {
		uint32_t i = ctp_spread(hash(items, number), more.salt, more.nslots);
		while (more.slots[i])
			i = (i + 1) & (more.nslots - 1);
		more.slots[i] = number;
	}
	slots_free(map);
	*map = more;
	return true;
}

/* FNV-1a. */
uint64_t ctp_map_bytes(uint64_t hash, const void *data, size_t len_bytes)
{
	const unsigned char *p = data;
	for (size_t i = 0; i < len_bytes; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}
