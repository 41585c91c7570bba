/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* places.c - an array of places, and a map of their spots. */
#include "analyse/places.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"

enum { ROOM_MIN = 1024 };

static uint64_t hash_spot(const struct ctp_spot *spot) 
{
	return spot->site ? spot->site : ~spot->addr ^ (uint64_t)spot->file << 48;
}

static uint64_t hash_place(const void *list, uint32_t number) { return hash_spot(&((const struct ctp_place *)list)[number].spot); }

static bool is_place(const void *list, uint32_t number, const void *spot)
{
	const struct ctp_spot *is = &((const struct ctp_place *)list)[number].spot, *want = spot;
	return is->site == want->site && is->addr == want->addr && is->file == want->file;
}

bool ctp_places_init(struct ctp_places *places)
{
	*places = (struct ctp_places){.place = malloc(ROOM_MIN * sizeof *places->place), .room = ROOM_MIN,
	                              .map = ctp_map_new(ROOM_MIN)};
	if (!places->place || !places->map)
		return false;
	ctp_places_clear(places);
	return true;
}

void ctp_places_fini(struct ctp_places *places)
{
	free(places->place);
	ctp_map_free(places->map);
}

void ctp_places_clear(struct ctp_places *places)
{
	ctp_map_clear(places->map);
	places->place[0] = (struct ctp_place){0};
	places->count = 1;
}

uint32_t ctp_places_number(struct ctp_places *places, struct ctp_spot spot, uint64_t pid, uint64_t coro)
{
	if (spot.site)
		spot = (struct ctp_spot){.site = spot.site};
	else if (!spot.addr && !spot.file)
		return 0;
	bool room = CTP_ARRAY_RESERVE(places->place, places->room, places->count + 1, CTP_PLACES_MAX) &&
	            ctp_map_reserve(places->map, places->count - 1, hash_place, places->place);
	uint32_t *slot = ctp_map_slot(places->map, hash_spot(&spot), is_place, places->place, &spot);
	if (*slot) {
		struct ctp_place *place = &places->place[*slot];
		place->shared |= place->first != coro;
		place->pid = place->pid == pid ? pid : 0;
		return *slot;
	}
	if (!room)
		return 0;
	assert(places->count < places->room && places->count < CTP_PLACES_MAX);
	places->place[places->count] = (struct ctp_place){spot, coro, pid, spot.site || spot.file};
	return *slot = places->count++;
}
