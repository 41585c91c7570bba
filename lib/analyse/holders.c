/*
 * holders.c - see holders.h.
 *
 * An entry is never taken out of its map. When the list is full, what no longer counts is left out and the map is made anew; only
 * if that gives little room, the list grows.
 */
#include "analyse/holders.h"

#include <stdlib.h>

enum { ROOM_MIN = 64 };

static bool is_held(const void *items, uint32_t number, const void *key)
{
	const struct ctp_held *a = &((const struct ctp_holders *)items)->list[number], *b = key;
	return a->at == b->at && a->coro == b->coro && a->pid == b->pid;
}

static uint64_t hash(const struct ctp_holders *h, const struct ctp_held *of)
{
	return ctp_map_pair(&h->map, ctp_map_pair(&h->map, of->at, of->pid), of->coro);
}

static uint64_t hash_held(const void *items, uint32_t number)
{
	const struct ctp_holders *h = items;
	return hash(h, &h->list[number]);
}

static uint32_t *slot_of(const struct ctp_holders *h, const struct ctp_held *of)
{
	return ctp_map_slot(&h->map, hash(h, of), is_held, h, of);
}

bool ctp_holders_init(struct ctp_holders *h)
{
	*h = (struct ctp_holders){.room = ROOM_MIN, .list = calloc(ROOM_MIN + 1, sizeof *h->list)};
	return ctp_map_init(&h->map, ROOM_MIN) && h->list;
}

void ctp_holders_fini(struct ctp_holders *h)
{
	ctp_map_fini(&h->map);
	free(h->list);
}

void ctp_holders_clear(struct ctp_holders *h)
{
	ctp_map_clear(&h->map);
	h->count = 0;
	h->failed = false;
}

const struct ctp_object *ctp_held_object(const struct ctp_held *held, const struct ctp_objects *o)
{
	const struct ctp_object *ob = ctp_objects_find(o, held->pid, held->at);
	return ob && ob->holders_known && ob->round == held->round && held->count ? ob : NULL;
}

static void compact(struct ctp_holders *h, const struct ctp_objects *o)
{
	uint32_t kept = 0;
	ctp_map_clear(&h->map);
	for (uint32_t i = 1; i <= h->count; i++)
		if (ctp_held_object(&h->list[i], o)) {
			h->list[++kept] = h->list[i];
			*slot_of(h, &h->list[kept]) = kept;
		}
	h->count = kept;
}

static bool has_room(struct ctp_holders *h, const struct ctp_objects *o)
{
	if (h->count < h->room)
		return true;
	compact(h, o);
	if (h->count < h->room / 2 || (h->room == CTP_HOLDERS_MAX && h->count < h->room))
		return true;
	if (h->room == CTP_HOLDERS_MAX)
		return false;
	struct ctp_held *list = realloc(h->list, (2 * (size_t)h->room + 1) * sizeof *list);
	if (list)
		h->list = list;
	if (!list || !ctp_map_grow(&h->map, h->count, hash_held, h)) {
		h->failed = true;
		return h->count < h->room;
	}
	h->room *= 2;
	return true;
}

void ctp_holders_add(struct ctp_holders *h, struct ctp_objects *o, uint64_t pid, uint64_t at, uint64_t coro, int64_t count)
{
	const struct ctp_object *ob = ctp_objects_find(o, pid, at);
	struct ctp_held of = {.pid = pid, .at = at, .coro = coro};
	if (!ob || !ob->holders_known)
		return;
	uint32_t *slot = slot_of(h, &of);
	if (!*slot) {
		if (!has_room(h, o)) {
			ctp_objects_doubt_holders(o, pid, at);
			return;
		}
		slot = slot_of(h, &of); /* the map may be another */
		*slot = ++h->count;
		h->list[*slot] = of;
	}
	struct ctp_held *held = &h->list[*slot];
	if (held->round != ob->round) {
		held->round = ob->round;
		held->count = 0;
	}
	held->count = (int64_t)((uint64_t)held->count + (uint64_t)count); /* a stream may have any numbers */
	if (held->count < 0)
		ctp_objects_doubt_holders(o, pid, at);
}
