/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* addrs.c - open addressing. A slot that becomes free is filled by the next key that would rather be there, and so on. */
#include "memory/addrs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 16, SLOTS_MAX = 1 << 30 };

void ctp_addrs_fini(struct ctp_addrs *t)
{
	free(t->slots);
	*t = (struct ctp_addrs){.slots = NULL};
}

void ctp_addrs_clear(struct ctp_addrs *t)
{
	if (t->count)
		memset(t->slots, 0, t->nslots * sizeof *t->slots);
	t->count = 0;
}

static uint32_t home(const struct ctp_addrs *t, uint64_t key) { return ctp_spread(key, t->salt, t->nslots); }

static struct ctp_addrs_slot *put(struct ctp_addrs *t, const struct ctp_addrs_slot *slot)
{
	uint32_t i = home(t, slot->key);
	while (t->slots[i].number)
		i = (i + 1) & (t->nslots - 1);
	t->slots[i] = *slot;
	return &t->slots[i];
}

static bool grow(struct ctp_addrs *t)
{
	struct ctp_addrs more = {.nslots = t->nslots ? 2 * t->nslots : SLOTS_MIN, .count = t->count, .salt = t->salt};
	if (t->nslots >= SLOTS_MAX || !(more.slots = calloc(more.nslots, sizeof *more.slots)))
		return false;
	if (!more.salt)
		more.salt = ctp_spread_salt();
	for (uint32_t i = 0; i < t->nslots; i++)
		if (t->slots[i].number)
			put(&more, &t->slots[i]);
	free(t->slots);
	*t = more;
	return true;
}

struct ctp_addrs_slot *ctp_addrs_add(struct ctp_addrs *t, uint64_t key, uint32_t number)
{
	if (t->count >= t->nslots / 2 && !grow(t))
		return NULL;
	t->count++;
	assert(number && t->count <= t->nslots / 2); /* a search ends at a free slot */
	return put(t, &(struct ctp_addrs_slot){.key = key, .number = number});
}

void ctp_addrs_remove(struct ctp_addrs *t, struct ctp_addrs_slot *slot)
{
	assert(slot >= t->slots && slot < t->slots + t->nslots && slot->number && t->count);
	uint32_t mask = t->nslots - 1, hole = (uint32_t)(slot - t->slots);
	for (uint32_t i = (hole + 1) & mask; t->slots[i].number; i = (i + 1) & mask) {
		/* A key stays if its first slot is after the hole: before that slot a search would not find it. */
		if (((i - home(t, t->slots[i].key)) & mask) < ((i - hole) & mask))
			continue;
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	t->slots[hole].number = 0;
	t->count--;
}
