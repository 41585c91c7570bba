/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * regions.h - the regions of memory that have a type, and which of them an address is in.
 *
 * A region is there from its add to the remove of its first address, or to the next add of the same. An address is in the newest
 * region that holds it: one that lies in another hides a part of that, and its removal shows the part again.
 *
 * Each step takes bounded time, whatever lies in, across and over what. An address belongs to one block of each level: a byte, 4
 * bytes, 16, and so on. A region is made of the largest blocks that fit in it, at most CTP_REGION_BLOCKS, and each block has a list
 * of the regions that it is a part of, the newest first. So a search looks at one block of each level that is in use.
 */
#ifndef CTP_REGIONS_H
#define CTP_REGIONS_H

#include "memory/addrs.h"
#include "memory/mem-counts.h"

enum {
	CTP_REGION_BITS = 2,    /* a block has 4 of the level below */
	CTP_REGION_LEVELS = 32, /* the blocks of the last are a quarter of all memory */
	CTP_REGION_BLOCKS = 6 * CTP_REGION_LEVELS,
	CTP_REGIONS_MAX = 1 << 20,       /* at a time, in about 200 MiB */
	CTP_REGION_PARTS_MAX = 1 << 23,  /* of all regions, in about 350 MiB */
};

struct ctp_region {
	uint64_t start, bytes; /* cut at the end of memory; 0 bytes: holds nothing */
	uint64_t born;         /* which add it was, from 1 on */
	uint64_t added, removed; /* the times of the records */
	uint32_t type, element_size, elements;
	uint32_t parts; /* the first; 0: none */
	struct ctp_mem_counts counts;
};

struct ctp_region_part {
	uint32_t region;
	uint32_t newer, older; /* parts of the same block; 0: none */
	uint32_t next;         /* part of the region, or free one */
	uint64_t prefix;       /* the block is at prefix << bits of its level */
	uint8_t level;
};

struct ctp_regions {
	struct ctp_region *region; /* from 1 on */
	struct ctp_region_part *part;
	uint32_t nregions, free_region; /* of the free, `parts` is the next */
	uint32_t nparts, free_part;
	size_t region_room, part_room;
	struct ctp_addrs starts;                    /* regions */
	struct ctp_addrs blocks[CTP_REGION_LEVELS]; /* the newest part, and, as a note, its region */
	uint32_t used; /* levels with blocks */
	uint64_t born;
};

/* All zeros is empty. */
void ctp_regions_fini(struct ctp_regions *r);
void ctp_regions_clear(struct ctp_regions *r);

/* The number of the new region; 0: there is no room for it, and nothing has changed. No region begins at start. */
uint32_t ctp_regions_add(struct ctp_regions *r, uint64_t start, uint32_t element_size, uint32_t elements);

/* The region that begins there; 0: none. */
static inline uint32_t ctp_regions_at(const struct ctp_regions *r, uint64_t start) { return ctp_addrs_get(&r->starts, start); }

void ctp_regions_remove(struct ctp_regions *r, uint32_t number);

/* The region that an address is in; 0: none. */
static inline uint32_t ctp_regions_find(const struct ctp_regions *r, uint64_t address)
{
	uint32_t found = 0;
	for (uint32_t left = r->used; left; left &= left - 1) {
		unsigned level = (unsigned)__builtin_ctz(left);
		const struct ctp_addrs_slot *slot = ctp_addrs_find(&r->blocks[level], address >> CTP_REGION_BITS * level);
		if (slot && (!found || r->region[slot->note].born > r->region[found].born))
			found = slot->note;
	}
	return found;
}

/* The regions that are there, one after the other: the first after `number`, which is 0 at first; 0: no more. */
uint32_t ctp_regions_next(const struct ctp_regions *r, uint32_t number);

#endif
