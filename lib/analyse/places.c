/* places.c - a table of open addressing over an array. */
#include "analyse/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/spread.h"

enum { ROOM_MIN = 1024 };

static uint32_t home(const struct ctp_places *a, const struct ctp_spot *spot)
{
	return ctp_spread(spot->site ? spot->site : ~spot->addr ^ (uint64_t)spot->file << 48, a->salt, a->nslots);
}

static bool grow(struct ctp_places *a)
{
	uint32_t room = a->room ? 2 * a->room : ROOM_MIN;
	struct ctp_place *place = realloc(a->place, room * sizeof *place);
	if (!place)
		return false;
	a->place = place;
	uint32_t *slots = calloc(2 * (size_t)room, sizeof *slots);
	if (!slots)
		return false;
	free(a->slots);
	a->slots = slots;
	a->nslots = 2 * room;
	a->room = room;
	for (uint32_t n = 1; n < a->count; n++) {
		uint32_t i = home(a, &place[n].spot);
		while (slots[i])
			i = (i + 1) & (a->nslots - 1);
		slots[i] = n;
	}
	return true;
}

bool ctp_places_init(struct ctp_places *a)
{
	*a = (struct ctp_places){.salt = ctp_spread_salt()};
	if (!grow(a))
		return false;
	ctp_places_clear(a);
	return true;
}

void ctp_places_fini(struct ctp_places *a)
{
	free(a->place);
	free(a->slots);
}

void ctp_places_clear(struct ctp_places *a)
{
	memset(a->slots, 0, a->nslots * sizeof *a->slots);
	a->place[0] = (struct ctp_place){0};
	a->count = 1;
}

uint32_t ctp_places_number(struct ctp_places *a, struct ctp_spot spot, uint64_t pid, uint64_t who)
{
	if (spot.site)
		spot = (struct ctp_spot){.site = spot.site};
	else if (!spot.addr && !spot.file)
		return 0;
	uint32_t i = home(a, &spot);
	for (uint32_t n; (n = a->slots[i]); i = (i + 1) & (a->nslots - 1)) {
		struct ctp_place *place = &a->place[n];
		if (place->spot.site == spot.site && place->spot.addr == spot.addr && place->spot.file == spot.file) {
			place->shared |= place->first != who;
			place->pid = place->pid == pid ? pid : 0;
			return n;
		}
	}
	if (a->count == CTP_PLACES_MAX)
		return 0;
	if (a->count == a->room)
		return grow(a) ? ctp_places_number(a, spot, pid, who) : 0;
	a->place[a->count] = (struct ctp_place){spot, who, pid, spot.site || spot.file};
	return a->slots[i] = a->count++;
}
