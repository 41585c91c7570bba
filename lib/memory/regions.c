/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* regions.c - see regions.h. */
#include "memory/regions.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

enum { PER_LEVEL = 1 << CTP_REGION_BITS };

void ctp_regions_fini(struct ctp_regions *r)
{
	for (unsigned i = 0; i < CTP_REGION_LEVELS; i++)
		ctp_addrs_fini(&r->blocks[i]);
	ctp_addrs_fini(&r->starts);
	free(r->region);
	free(r->part);
	*r = (struct ctp_regions){.region = NULL};
}

void ctp_regions_clear(struct ctp_regions *r)
{
	for (unsigned i = 0; i < CTP_REGION_LEVELS; i++)
		ctp_addrs_clear(&r->blocks[i]);
	ctp_addrs_clear(&r->starts);
	r->nregions = r->free_region = r->nparts = r->free_part = r->used = 0;
}

/* --- memory -------------------------------------------------------------------------------------------------------------- */

static uint32_t new_region(struct ctp_regions *r)
{
	uint32_t number = r->free_region;
	if (number) {
		r->free_region = r->region[number].parts;
		return number;
	}
	/* Number 0 is none. */
	if (!CTP_ARRAY_RESERVE(r->region, r->region_room, r->nregions + 2, CTP_REGIONS_MAX + 1))
		return 0;
	return ++r->nregions;
}

static void free_region(struct ctp_regions *r, uint32_t number)
{
	assert(number && number <= r->nregions && r->region[number].born);
	r->region[number].born = 0;
	r->region[number].parts = r->free_region;
	r->free_region = number;
}

static uint32_t new_part(struct ctp_regions *r)
{
	uint32_t number = r->free_part;
	if (number) {
		r->free_part = r->part[number].next;
		return number;
	}
	if (!CTP_ARRAY_RESERVE(r->part, r->part_room, r->nparts + 2, CTP_REGION_PARTS_MAX + 1))
		return 0;
	return ++r->nparts;
}

static void free_part(struct ctp_regions *r, uint32_t number)
{
	assert(number && number <= r->nparts);
	r->part[number].next = r->free_part;
	r->free_part = number;
}

/* --- blocks -------------------------------------------------------------------------------------------------------------- */

static bool put_part(struct ctp_regions *r, uint32_t region, unsigned level, uint64_t prefix)
{
	uint32_t number = new_part(r);
	if (!number)
		return false;
	struct ctp_addrs *blocks = &r->blocks[level];
	struct ctp_addrs_slot *slot = ctp_addrs_find(blocks, prefix);
	uint32_t older = slot ? slot->number : 0;
	if (!slot && !(slot = ctp_addrs_add(blocks, prefix, number))) {
		free_part(r, number);
		return false;
	}
	slot->number = number;
	slot->note = region;
	if (older)
		r->part[older].newer = number;
	r->part[number] = (struct ctp_region_part){
		.region = region, .older = older, .next = r->region[region].parts, .prefix = prefix, .level = (uint8_t)level,
	};
	r->region[region].parts = number;
	r->used |= UINT32_C(1) << level;
	return true;
}

static void take_part(struct ctp_regions *r, uint32_t number)
{
	const struct ctp_region_part *part = &r->part[number];
	struct ctp_addrs *blocks = &r->blocks[part->level];
	if (part->older)
		r->part[part->older].newer = part->newer;
	if (part->newer) {
		r->part[part->newer].older = part->older;
	} else {
		struct ctp_addrs_slot *slot = ctp_addrs_find(blocks, part->prefix);
		if (part->older) {
			slot->number = part->older;
			slot->note = r->part[part->older].region;
		} else {
			ctp_addrs_remove(blocks, slot);
		}
		if (!blocks->count)
			r->used &= ~(UINT32_C(1) << part->level);
	}
	free_part(r, number);
}

static void take_parts(struct ctp_regions *r, uint32_t region)
{
	for (uint32_t part = r->region[region].parts, next; part; part = next) {
		next = r->part[part].next;
		take_part(r, part);
	}
}

/* At each level the blocks before the first and after the last that belong to a larger one. */
static bool put_parts(struct ctp_regions *r, uint32_t region)
{
	uint64_t first = r->region[region].start, n = r->region[region].bytes;
	for (unsigned level = 0; n; level++) {
		bool last = level + 1 == CTP_REGION_LEVELS;
		for (; n && (last || first % PER_LEVEL); first++, n--)
			if (!put_part(r, region, level, first))
				return false;
		for (; n % PER_LEVEL; n--)
			if (!put_part(r, region, level, first + n - 1))
				return false;
		first /= PER_LEVEL;
		n /= PER_LEVEL;
	}
	return true;
}

uint32_t ctp_regions_add(struct ctp_regions *r, uint64_t start, uint32_t element_size, uint32_t elements)
{
	assert(!ctp_regions_at(r, start)); /* the caller has removed it */
	uint32_t number = new_region(r);
	if (!number)
		return 0;
	/* Below 2^64, which is more than two numbers of 32 bits can make. */
	uint64_t bytes = (uint64_t)element_size * elements, room = -start;
	r->region[number] = (struct ctp_region){
		.start = start, .bytes = room && bytes > room ? room : bytes, .born = r->born + 1,
		.element_size = element_size, .elements = elements,
	};
	if (!put_parts(r, number) || !ctp_addrs_add(&r->starts, start, number)) {
		take_parts(r, number);
		free_region(r, number);
		return 0;
	}
	r->born++;
	return number;
}

void ctp_regions_remove(struct ctp_regions *r, uint32_t number)
{
	assert(number && number <= r->nregions && r->region[number].born);
	ctp_addrs_remove(&r->starts, ctp_addrs_find(&r->starts, r->region[number].start));
	take_parts(r, number);
	free_region(r, number);
}

uint32_t ctp_regions_next(const struct ctp_regions *r, uint32_t number)
{
	while (++number <= r->nregions)
		if (r->region[number].born)
			return number;
	return 0;
}
