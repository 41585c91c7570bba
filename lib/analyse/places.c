/* places.c - an array of places, and a map of their spots. */
#include "analyse/places.h"

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

bool ctp_places_init(struct ctp_places *a)
{
	*a = (struct ctp_places){.place = malloc(ROOM_MIN * sizeof *a->place), .room = ROOM_MIN, .map = ctp_map_new(ROOM_MIN)};
	if (!a->place || !a->map)
		return false;
	ctp_places_clear(a);
	return true;
}

void ctp_places_fini(struct ctp_places *a)
{
	free(a->place);
	ctp_map_free(a->map);
}

void ctp_places_clear(struct ctp_places *a)
{
	ctp_map_clear(a->map);
	a->place[0] = (struct ctp_place){0};
	a->count = 1;
}

uint32_t ctp_places_number(struct ctp_places *a, struct ctp_spot spot, uint64_t pid, uint64_t who)
{
	if (spot.site)
		spot = (struct ctp_spot){.site = spot.site};
	else if (!spot.addr && !spot.file)
		return 0;
	bool room = CTP_ARRAY_RESERVE(a->place, a->room, a->count + 1, CTP_PLACES_MAX) &&
	            ctp_map_reserve(a->map, a->count - 1, hash_place, a->place);
	uint32_t *slot = ctp_map_slot(a->map, hash_spot(&spot), is_place, a->place, &spot);
	if (*slot) {
		struct ctp_place *place = &a->place[*slot];
		place->shared |= place->first != who;
		place->pid = place->pid == pid ? pid : 0;
		return *slot;
	}
	if (!room)
		return 0;
	a->place[a->count] = (struct ctp_place){spot, who, pid, spot.site || spot.file};
	return *slot = a->count++;
}
