/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* merge-ids.c - the numbers that are too large to be multiplied. */
#include "merge/merge-ids.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

enum { BIG_MAX = 1 << 20 };

bool ctp_merge_ids_init(struct ctp_merge_ids *ids, uint64_t sections)
{
	*ids = (struct ctp_merge_ids){.stride = 10};
	while (ids->stride <= sections)
		ids->stride *= 10;
	return ctp_map_init(&ids->map, 1);
}

void ctp_merge_ids_fini(struct ctp_merge_ids *ids)
{
	free(ids->big);
	ctp_map_fini(&ids->map);
}

static uint64_t hash_of(const void *big, uint32_t number)
{
	const struct ctp_merge_big *b = (const struct ctp_merge_big *)big + (number - 1);
	return b->id ^ b->section << 32;
}

static bool is_it(const void *big, uint32_t number, const void *key)
{
	const struct ctp_merge_big *b = (const struct ctp_merge_big *)big + (number - 1), *want = key;
	return b->id == want->id && b->section == want->section;
}

uint64_t ctp_merge_ids_big(struct ctp_merge_ids *ids, uint64_t section, uint64_t id)
{
	struct ctp_merge_big want = {id, section};
	uint32_t *slot = ctp_map_slot(&ids->map, id ^ section << 32, is_it, ids->big, &want);
	if (*slot)
		return *slot * ids->stride;
	if (!CTP_ARRAY_RESERVE(ids->big, ids->room, ids->nbig + 1, BIG_MAX) ||
	    !ctp_map_reserve(&ids->map, ids->nbig, hash_of, ids->big)) {
		ids->failed = true;
		return 0;
	}
	slot = ctp_map_slot(&ids->map, id ^ section << 32, is_it, ids->big, &want);
	ids->big[ids->nbig] = want;
	return (*slot = ++ids->nbig) * ids->stride;
}
