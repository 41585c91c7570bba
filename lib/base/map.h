/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * map.h - items of an array, found by a key.
 *
 * The map has the numbers of the items, from 1 on; the owner has the items, and says of a number whether its item has the key.
 * Keys come from outside, and may be chosen to collide: each map has a salt of its own, and keys that collide in one are
 * scattered in the next.
 */
#ifndef CTP_MAP_H
#define CTP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spread.h"

struct ctp_map {
	uint32_t *slots;  /* numbers, 0: free; at most half of them are used */
	uint32_t nslots;  /* a power of two */
	uint64_t salt;
};

/* Room for this many items. False: out of memory; then the map is empty, and may be freed. */
bool ctp_map_init(struct ctp_map *map, uint32_t items);
void ctp_map_fini(struct ctp_map *map);
void ctp_map_clear(struct ctp_map *map);

/* The same on the heap, for a struct that does not show its map. Null: out of memory; a null one may be freed. */
struct ctp_map *ctp_map_new(uint32_t items);
void ctp_map_free(struct ctp_map *map);

/* Whether the item with this number has the key; what its key hashes to. items is whatever the owner needs to find it. */
typedef bool ctp_map_is(const void *items, uint32_t number, const void *key);
typedef uint64_t ctp_map_hash(const void *items, uint32_t number);

/* Room for twice as many: the items up to count are put in again. False: out of memory, and nothing has changed. */
bool ctp_map_grow(struct ctp_map *map, uint32_t count, ctp_map_hash *hash, const void *items);

/* Room for one item more than count: the map grows if it is half full. False: out of memory, and nothing has changed. */
static inline bool ctp_map_reserve(struct ctp_map *map, uint32_t count, ctp_map_hash *hash, const void *items)
{
	return (uint64_t)count + 1 <= map->nslots / 2 || ctp_map_grow(map, count, hash, items);
}

/*
 * The slot with the number of the item that has this key, or else the free slot, with a 0 in it, for that number. hash is a number
 * that is the same for the same key; it need not be a good one. The calls of `is` are compiled into the caller.
 */
static inline __attribute__((always_inline)) uint32_t *ctp_map_slot(const struct ctp_map *map, uint64_t hash, ctp_map_is *is,
                                                                    const void *items, const void *key)
{
	uint32_t i = ctp_spread(hash, map->salt, map->nslots);
	while (map->slots[i] && !is(items, map->slots[i], key))
		i = (i + 1) & (map->nslots - 1);
	return &map->slots[i];
}

/* A hash of a pair; a hash of bytes, which goes on from another hash or from the salt. */
static inline uint64_t ctp_map_pair(const struct ctp_map *map, uint64_t a, uint64_t b) { return a ^ b * map->salt; }
uint64_t ctp_map_bytes(uint64_t hash, const void *data, size_t len_bytes);

#endif
