/* distinct.c - a hash table of numbers with open addressing, at most half full. */
#include "distinct.h"

#include <stdlib.h>

#include "spread.h"

void ctp_distinct_fini(struct ctp_distinct *set)
{
	free(set->slots);
	*set = (struct ctp_distinct){0};
}

/* Where the number is, or where it would go. */
static uint64_t *find(const struct ctp_distinct *set, uint64_t id)
{
	uint32_t i = ctp_spread(id, set->salt, set->cap);
	while (set->slots[i] && set->slots[i] != id)
		i = (i + 1) & (set->cap - 1);
	return &set->slots[i];
}

static bool grow(struct ctp_distinct *set)
{
	if (!set->cap)
		set->salt = ctp_spread_salt();
	struct ctp_distinct bigger = {.cap = set->cap ? 2 * set->cap : 1024, .salt = set->salt};
	bigger.slots = bigger.cap <= 2 * CTP_DISTINCT_MAX ? calloc(bigger.cap, sizeof *bigger.slots) : NULL;
	if (!bigger.slots)
		return false;
	for (uint32_t i = 0; i < set->cap; i++)
		if (set->slots[i])
			*find(&bigger, set->slots[i]) = set->slots[i];
	free(set->slots);
	set->slots = bigger.slots;
	set->cap = bigger.cap;
	return true;
}

void ctp_distinct_add_slow(struct ctp_distinct *set, uint64_t id)
{
	set->last = id;
	if (!id) {
		set->count += !set->has_zero;
		set->has_zero = true;
		return;
	}
	uint64_t *slot = set->cap ? find(set, id) : NULL;
	if (slot && *slot)
		return;
	if (2 * set->count >= set->cap) {
		if (!grow(set)) {
			set->full = true;
			return;
		}
		slot = find(set, id);
	}
	*slot = id;
	set->count++;
}
