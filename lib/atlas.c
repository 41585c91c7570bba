/* atlas.c - a table of open addressing over an array. */
#include "atlas.h"

#include <stdlib.h>
#include <string.h>

#include "spread.h"

enum { ROOM_MIN = 1024 };

static uint32_t home(const struct ctp_atlas *a, uint64_t site, uint64_t addr)
{
	return ctp_spread(site ? site : ~addr, a->salt, a->nslots);
}

static bool grow(struct ctp_atlas *a)
{
	uint32_t room = a->room ? 2 * a->room : ROOM_MIN;
	struct ctp_place *place = realloc(a->place, room * sizeof(*place));
	if (!place)
		return false;
	a->place = place;
	uint32_t *slots = calloc(2 * (size_t)room, sizeof(*slots));
	if (!slots)
		return false;
	free(a->slots);
	a->slots = slots;
	a->nslots = 2 * room;
	a->room = room;
	for (uint32_t n = 1; n < a->count; n++) {
		uint32_t i = home(a, place[n].site, place[n].addr);
		while (slots[i])
			i = (i + 1) & (a->nslots - 1);
		slots[i] = n;
	}
	return true;
}

bool ctp_atlas_init(struct ctp_atlas *a)
{
	*a = (struct ctp_atlas){.salt = ctp_spread_salt()};
	if (!grow(a))
		return false;
	ctp_atlas_clear(a);
	return true;
}

void ctp_atlas_fini(struct ctp_atlas *a)
{
	free(a->place);
	free(a->slots);
	free(a->code);
}

void ctp_atlas_clear(struct ctp_atlas *a)
{
	memset(a->slots, 0, a->nslots * sizeof(*a->slots));
	a->place[0] = (struct ctp_place){0};
	a->count = 1;
	a->ncode = 0;
}

uint32_t ctp_atlas_number(struct ctp_atlas *a, uint64_t site, uint64_t addr, uint64_t who)
{
	if (site)
		addr = 0;
	else if (!addr)
		return 0;
	uint32_t i = home(a, site, addr);
	for (uint32_t n; (n = a->slots[i]); i = (i + 1) & (a->nslots - 1)) {
		struct ctp_place *place = &a->place[n];
		if (place->site == site && place->addr == addr) {
			place->shared |= place->first != who;
			return n;
		}
	}
	if (a->count == CTP_ATLAS_MAX)
		return 0;
	if (a->count == a->room)
		return grow(a) ? ctp_atlas_number(a, site, addr, who) : 0;
	a->place[a->count] = (struct ctp_place){site, addr, who, site || ctp_atlas_is_code(a, addr)};
	return a->slots[i] = a->count++;
}

/* The first range that ends behind addr. */
static uint32_t range_behind(const struct ctp_atlas *a, uint64_t addr)
{
	uint32_t low = 0, high = a->ncode;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (a->code[middle].stop > addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Ranges are kept in order and apart: those that meet become one. */
void ctp_atlas_code(struct ctp_atlas *a, uint64_t start, uint64_t stop)
{
	uint32_t at = range_behind(a, start ? start - 1 : 0), upto = at;
	if (start >= stop)
		return;
	for (; upto < a->ncode && a->code[upto].start <= stop; upto++) {
		start = a->code[upto].start < start ? a->code[upto].start : start;
		stop = a->code[upto].stop > stop ? a->code[upto].stop : stop;
	}
	if (at == upto && a->ncode == a->code_room) {
		uint32_t room = a->code_room ? 2 * a->code_room : 64;
		struct ctp_code_range *code = room > CTP_ATLAS_CODE_MAX ? NULL : realloc(a->code, room * sizeof(*code));
		if (!code)
			return;
		a->code = code;
		a->code_room = room;
	}
	memmove(a->code + at + 1, a->code + upto, (a->ncode - upto) * sizeof(*a->code));
	a->code[at] = (struct ctp_code_range){start, stop};
	a->ncode = a->ncode - (upto - at) + 1;
}

bool ctp_atlas_is_code(const struct ctp_atlas *a, uint64_t addr)
{
	uint32_t at = range_behind(a, addr);
	return at < a->ncode && a->code[at].start <= addr;
}
