/* distinct.c - a hash table of numbers with open addressing, at most half full. */
#include "base/distinct.h"

#include <stdlib.h>
#include <string.h>

#include "base/spread.h"

void ctp_distinct_fini(struct ctp_distinct *set)
{
	free(set->slots);
	free(set->notes);
	*set = (struct ctp_distinct){.note_bytes = set->note_bytes};
}

/* Where the number is, or where it would go. */
static uint64_t *find(const struct ctp_distinct *set, uint64_t id)
{
	uint32_t i = ctp_spread(id, set->salt, set->cap);
	while (set->slots[i] && set->slots[i] != id)
		i = (i + 1) & (set->cap - 1);
	return &set->slots[i];
}

static char *note_at(const struct ctp_distinct *set, const uint64_t *slot)
{
	return set->notes + (size_t)(slot - set->slots) * set->note_bytes;
}

void *ctp_distinct_note(const struct ctp_distinct *set, uint64_t id)
{
	uint64_t *slot = id && set->cap && set->notes ? find(set, id) : NULL;
	return slot && *slot ? note_at(set, slot) : NULL;
}

static bool grow(struct ctp_distinct *set)
{
	if (!set->cap)
		set->salt = ctp_spread_salt();
	struct ctp_distinct bigger = {.cap = set->cap ? 2 * set->cap : 1024, .salt = set->salt, .note_bytes = set->note_bytes};
	bigger.slots = bigger.cap <= 2 * CTP_DISTINCT_MAX ? calloc(bigger.cap, sizeof *bigger.slots) : NULL;
	bigger.notes = bigger.slots && set->note_bytes ? calloc(bigger.cap, set->note_bytes) : NULL;
	if (!bigger.slots || (set->note_bytes && !bigger.notes)) {
		free(bigger.slots);
		return false;
	}
	for (uint32_t i = 0; i < set->cap; i++) {
		if (!set->slots[i])
			continue;
		uint64_t *slot = find(&bigger, set->slots[i]);
		*slot = set->slots[i];
		if (set->notes)
			memcpy(note_at(&bigger, slot), note_at(set, &set->slots[i]), set->note_bytes);
	}
	free(set->slots);
	free(set->notes);
	set->slots = bigger.slots;
	set->notes = bigger.notes;
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
