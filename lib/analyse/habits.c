/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* habits.c - a hash table, and the counting. */
#include "analyse/habits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pages.h"

#define LIST_BYTES (CTP_HABITS_MAX * sizeof(struct ctp_habit))

bool ctp_habits_init(struct ctp_habits *h)
{
	*h = (struct ctp_habits){.list = ctp_pages_new(LIST_BYTES), .count = 1};
	return ctp_map_init(&h->map, CTP_HABITS_MAX) && h->list;
}

void ctp_habits_fini(struct ctp_habits *h)
{
	ctp_pages_free(h->list, LIST_BYTES);
	ctp_map_fini(&h->map);
}

void ctp_habits_clear(struct ctp_habits *h)
{
	memset(h->list, 0, h->count * sizeof *h->list);
	if (h->count > 1)
		ctp_map_clear(&h->map);
	h->count = 1;
}

static bool is_habit(const void *list, uint32_t number, const void *pair)
{
	const struct ctp_habit *habit = &((const struct ctp_habit *)list)[number];
	return ((uint64_t)habit->spawn << 32 | habit->place) == *(const uint64_t *)pair;
}

uint32_t ctp_habits_number(struct ctp_habits *h, uint32_t spawn, uint32_t place)
{
	uint64_t pair = (uint64_t)spawn << 32 | place;
	uint32_t *slot = ctp_map_slot(&h->map, pair, is_habit, h->list, &pair);
	if (*slot || h->count == CTP_HABITS_MAX)
		return *slot;
	h->list[h->count].spawn = spawn;
	h->list[h->count].place = place;
	return *slot = h->count++;
}

void ctp_habit_came_back(struct ctp_habit *habit, uint64_t id)
{
	assert(habit->different < CTP_HABIT_DIFFERENT);
	CTP_ARRAY_NOTE(habit->who, habit->different, id);
}

void ctp_habit_woken_by(struct ctp_habit *habit, uint64_t waker)
{
	uint32_t at = 0;
	while (at < habit->nwakers && habit->wakers[at] != waker)
		at++;
	habit->more_wakers = at == CTP_HABIT_WAKERS;
	if (habit->more_wakers)
		return;
	habit->nwakers += at == habit->nwakers;
	habit->wakers[at] = waker;
	habit->ended[at]++;
}

void ctp_habit_woken_from(struct ctp_habit *habit, uint32_t from)
{
	if (!habit->more_from)
		habit->more_from = !CTP_ARRAY_NOTE(habit->from, habit->nfrom, from);
}

bool ctp_habit_overtook(const struct ctp_habit *habit, uint64_t from_ns, bool partial)
{
	uint64_t others[CTP_HABIT_DIFFERENT];
	uint32_t n = 0, full = habit->nback >= CTP_HABIT_BACK, count = full ? CTP_HABIT_BACK : partial ? habit->nback : 0;
	for (uint32_t i = 0; i < count; i++) {
		if (habit->back[i].from_ns <= from_ns && full)
			return false;
		if (habit->back[i].from_ns > from_ns)
			CTP_ARRAY_NOTE(others, n, habit->back[i].id);
	}
	return n == CTP_HABIT_DIFFERENT;
}
