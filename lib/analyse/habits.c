/* habits.c - a hash table, and the counting. */
#include "analyse/habits.h"

#include <stdlib.h>
#include <string.h>

#include "base/spread.h"

enum { SLOTS = 2 * CTP_HABITS_MAX };

bool ctp_habits_init(struct ctp_habits *h)
{
	*h = (struct ctp_habits){.list = calloc(CTP_HABITS_MAX, sizeof *h->list), .slots = calloc(SLOTS, sizeof *h->slots),
	                         .count = 1, .salt = ctp_spread_salt()};
	return h->list && h->slots;
}

void ctp_habits_fini(struct ctp_habits *h)
{
	free(h->list);
	free(h->slots);
}

void ctp_habits_clear(struct ctp_habits *h)
{
	memset(h->list, 0, h->count * sizeof *h->list);
	if (h->count > 1)
		memset(h->slots, 0, SLOTS * sizeof *h->slots);
	h->count = 1;
}

uint32_t ctp_habits_number(struct ctp_habits *h, uint32_t spawn, uint32_t place)
{
	uint32_t i = ctp_spread((uint64_t)spawn << 32 | place, h->salt, SLOTS);
	for (; h->slots[i]; i = (i + 1) % SLOTS) {
		const struct ctp_habit *habit = &h->list[h->slots[i]];
		if (habit->spawn == spawn && habit->place == place)
			return h->slots[i];
	}
	if (h->count == CTP_HABITS_MAX)
		return 0;
	h->list[h->count].spawn = spawn;
	h->list[h->count].place = place;
	return h->slots[i] = h->count++;
}

void ctp_habit_came_back(struct ctp_habit *habit, uint64_t id)
{
	for (uint32_t i = 0; i < habit->different; i++)
		if (habit->who[i] == id)
			return;
	habit->who[habit->different++] = id;
}

void ctp_habit_woken_by(struct ctp_habit *habit, uint64_t waker)
{
	for (uint32_t i = 0; i < habit->nwakers; i++)
		if (habit->wakers[i] == waker)
			return;
	if (habit->nwakers == CTP_HABIT_WAKERS)
		habit->more_wakers = true;
	else
		habit->wakers[habit->nwakers++] = waker;
}

void ctp_habit_woken_from(struct ctp_habit *habit, uint32_t from)
{
	if (habit->more_from)
		return;
	for (uint32_t i = 0; i < habit->nfrom; i++)
		if (habit->from[i] == from)
			return;
	if (habit->nfrom == CTP_HABIT_WAKERS)
		habit->more_from = true;
	else
		habit->from[habit->nfrom++] = from;
}

bool ctp_habit_overtook(const struct ctp_habit *habit, uint64_t from_ns, bool partial)
{
	uint64_t others[CTP_HABIT_DIFFERENT];
	uint32_t n = 0, full = habit->nback >= CTP_HABIT_BACK, count = full ? CTP_HABIT_BACK : partial ? habit->nback : 0;
	for (uint32_t i = 0; i < count; i++) {
		if (habit->back[i].from_ns <= from_ns && full)
			return false;
		uint32_t k = 0;
		while (k < n && others[k] != habit->back[i].id)
			k++;
		if (k == n && n < CTP_HABIT_DIFFERENT && habit->back[i].from_ns > from_ns)
			others[n++] = habit->back[i].id;
	}
	return n == CTP_HABIT_DIFFERENT;
}
