/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* distinct.c - numbers in the order in which they came, and a map of them. */
#include "base/distinct.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 512 };

void ctp_distinct_fini(struct ctp_distinct *set)
{
	ctp_map_fini(&set->map);
	free(set->ids);
	free(set->notes);
	*set = (struct ctp_distinct){.note_bytes = set->note_bytes};
}

static bool is_id(const void *ids, uint32_t number, const void *id)
{
	return ((const uint64_t *)ids)[number - 1] == *(const uint64_t *)id;
}

static uint64_t hash_id(const void *ids, uint32_t number) { return ((const uint64_t *)ids)[number - 1]; }

static uint32_t *slot_of(const struct ctp_distinct *set, uint64_t id) { return ctp_map_slot(&set->map, id, is_id, set->ids, &id); }

void *ctp_distinct_note(const struct ctp_distinct *set, uint64_t id)
{
	uint32_t number = set->notes && set->room ? *slot_of(set, id) : 0; /* notes may be there without a map, which had no memory */
	return number ? set->notes + (number - 1) * set->note_bytes : NULL;
}

static bool grow(struct ctp_distinct *set)
{
	uint32_t room = set->room ? 2 * set->room : ROOM_MIN;
	uint64_t *ids = room <= CTP_DISTINCT_MAX ? realloc(set->ids, room * sizeof *ids) : NULL;
	if (!ids)
		return false;
	set->ids = ids;
	char *notes = set->note_bytes ? realloc(set->notes, room * set->note_bytes) : NULL;
	if (set->note_bytes && !notes)
		return false;
	set->notes = notes;
	if (!(set->room ? ctp_map_grow(&set->map, set->count, hash_id, ids) : ctp_map_init(&set->map, room)))
		return false;
	if (notes)
		memset(notes + set->room * set->note_bytes, 0, (room - set->room) * set->note_bytes);
	set->room = room;
	return true;
}

void ctp_distinct_add_slow(struct ctp_distinct *set, uint64_t id)
{
	set->last = id;
	if (set->room && *slot_of(set, id))
		return;
	if (set->count == set->room && !grow(set)) {
		set->full = true;
		return;
	}
	set->ids[set->count++] = id;
	*slot_of(set, id) = set->count;
}
