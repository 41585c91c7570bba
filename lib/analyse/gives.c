/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* gives.c - see gives.h. */
#include "analyse/gives.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"

enum { ROOM_MIN = 64 };

struct key {
	uint64_t pid, at;
	bool room;
};

static bool is_end(const void *items, uint32_t number, const void *key)
{
	const struct ctp_give_end *end = &((const struct ctp_gives *)items)->ends[number];
	const struct key *k = key;
	return end->at == k->at && end->pid == k->pid && end->room == k->room;
}

static uint64_t hash_key(const struct ctp_gives *g, uint64_t pid, uint64_t at, bool room)
{
	return ctp_map_pair(&g->map, at, pid) + room;
}

static uint64_t hash_end(const void *items, uint32_t number)
{
	const struct ctp_gives *g = items;
	return hash_key(g, g->ends[number].pid, g->ends[number].at, g->ends[number].room);
}

static uint32_t *slot_of(const struct ctp_gives *g, uint64_t pid, uint64_t at, bool room)
{
	struct key key = {pid, at, room};
	return ctp_map_slot(&g->map, hash_key(g, pid, at, room), is_end, g, &key);
}

bool ctp_gives_init(struct ctp_gives *g)
{
	*g = (struct ctp_gives){.room = ROOM_MIN, .ends = calloc(ROOM_MIN, sizeof *g->ends)};
	return ctp_map_init(&g->map, ROOM_MIN) && g->ends;
}

void ctp_gives_fini(struct ctp_gives *g)
{
	ctp_map_fini(&g->map);
	free(g->ends);
}

void ctp_gives_clear(struct ctp_gives *g)
{
	ctp_map_clear(&g->map);
	g->count = g->free = g->nopen = g->nmissed = g->nmended = 0;
	g->ncoming = 0;
}

/* --- ends ----------------------------------------------------------------------------------------------------------------- */

/* A mended give may have the number of an end that is no longer used: it is found by its time, too. */
static bool is_used(const struct ctp_gives *g, uint32_t number)
{
	bool used = g->ends[number].waiters || g->ends[number].nmissed;
	for (uint32_t i = 0; i < g->nopen; i++)
		used |= g->open[i].end == number;
	return used;
}

/* Frees the numbers of ends that nobody waits for. The others keep theirs, which reasons have. */
static void compact(struct ctp_gives *g)
{
	ctp_map_clear(&g->map);
	g->free = 0;
	for (uint32_t i = g->count; i; i--) {
		struct ctp_give_end *end = &g->ends[i];
		if (is_used(g, i)) {
			*slot_of(g, end->pid, end->at, end->room) = i;
			continue;
		}
		*end = (struct ctp_give_end){.next_free = g->free};
		g->free = i;
	}
}

/* A number for one more end; 0: there is none. */
static uint32_t take_number(struct ctp_gives *g)
{
	if (!g->free && g->count + 1 == g->room)
		compact(g);
	if (g->free) {
		uint32_t number = g->free;
		g->free = g->ends[number].next_free;
		return number;
	}
	bool fits = CTP_ARRAY_RESERVE(g->ends, g->room, g->count + 2, CTP_GIVES_ENDS + 1) &&
	            ctp_map_reserve(&g->map, g->count, hash_end, g);
	return fits ? ++g->count : 0;
}

uint32_t ctp_gives_wait(struct ctp_gives *g, uint64_t pid, uint64_t at, bool room, uint64_t wants)
{
	uint32_t number = *slot_of(g, pid, at, room);
	if (!number) {
		number = take_number(g);
		if (!number)
			return 0;
		*slot_of(g, pid, at, room) = number; /* the map may have been built again */
		g->ends[number] = (struct ctp_give_end){.pid = pid, .at = at, .room = room};
	}
	struct ctp_give_end *end = &g->ends[number];
	end->most = end->waiters++ ? ctp_most(end->most, wants) : wants;
	return number;
}

uint32_t ctp_gives_find(const struct ctp_gives *g, uint64_t pid, uint64_t at, bool room)
{
	return g->count ? *slot_of(g, pid, at, room) : 0;
}

/* --- gives ---------------------------------------------------------------------------------------------------------------- */

/* The open give that a wake belongs to: the waker's own, or else the oldest; or null. */
static struct ctp_give *meant(struct ctp_gives *g, uint32_t end, uint64_t by)
{
	struct ctp_give *oldest = NULL;
	for (uint32_t i = 0; i < g->nopen; i++) {
		if (g->open[i].end != end)
			continue;
		if (g->open[i].coro == by)
			return &g->open[i];
		oldest = oldest ? oldest : &g->open[i];
	}
	return oldest;
}

/* Missed give number i is not missed any more. */
static void mend(struct ctp_gives *g, uint32_t i, uint64_t ts_ns)
{
	struct ctp_give *mended = &g->mended[g->nmended++ % CTP_GIVES_MENDED];
	*mended = g->missed[i];
	mended->mended_ns = ts_ns;
	g->ends[mended->end].nmissed--;
	memmove(&g->missed[i], &g->missed[i + 1], (--g->nmissed - i) * sizeof *g->missed);
}

/* Mends up to `most` missed gives of an end, the oldest first. */
static void mend_oldest(struct ctp_gives *g, uint32_t end, uint32_t most, uint64_t ts_ns)
{
	for (uint32_t i = 0; i < g->nmissed && most && g->ends[end].nmissed;) {
		if (g->missed[i].end != end) {
			i++;
			continue;
		}
		mend(g, i, ts_ns);
		most--;
	}
}

void ctp_gives_leave(struct ctp_gives *g, uint32_t end, uint64_t ts_ns)
{
	assert(end && end <= g->count && g->ends[end].waiters);
	if (!--g->ends[end].waiters)
		mend_oldest(g, end, CTP_GIVES_MISSED, ts_ns);
}

void ctp_gives_woken(struct ctp_gives *g, uint32_t end, uint64_t coro, uint64_t until, uint64_t by, bool by_timer, uint64_t ts_ns)
{
	struct ctp_give_end *of = &g->ends[end];
	of->coming[of->ncoming++ % CTP_GIVES_COMING] = (struct ctp_give_coming){coro, until};
	g->ncoming++;
	struct ctp_give *give = by_timer ? NULL : meant(g, end, by);
	if (give)
		ctp_gives_close(g, (uint32_t)(give - g->open), false);
	else if (!by_timer)
		mend_oldest(g, end, 1, ts_ns);
}

void ctp_gives_came(struct ctp_gives *g, uint32_t end, uint64_t coro)
{
	struct ctp_give_end *of = &g->ends[end];
	for (uint32_t i = 0; i < ctp_least(of->ncoming, CTP_GIVES_COMING); i++)
		if (of->coming[i].coro == coro)
			of->coming[i].coro = 0;
}

void ctp_gives_taken(struct ctp_gives *g, uint32_t end, uint64_t ts_ns) { mend_oldest(g, end, CTP_GIVES_MISSED, ts_ns); }

void ctp_gives_give(struct ctp_gives *g, const struct ctp_give *give)
{
	for (uint32_t i = 0; i < g->nopen; i++)
		if (g->open[i].coro == give->coro && g->open[i].end == give->end)
			return;
	if (g->nopen < CTP_GIVES_OPEN)
		g->open[g->nopen++] = *give;
}

void ctp_gives_close(struct ctp_gives *g, uint32_t i, bool missed)
{
	assert(i < g->nopen);
	const struct ctp_give give = g->open[i];
	memmove(&g->open[i], &g->open[i + 1], (--g->nopen - i) * sizeof *g->open);
	if (!missed || g->nmissed == CTP_GIVES_MISSED)
		return;
	g->missed[g->nmissed++] = give;
	g->ends[give.end].nmissed++;
}
