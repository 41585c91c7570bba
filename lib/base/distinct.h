/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* distinct.h - how many different numbers there were, exactly, up to a limit; beyond it, a lower bound. */
#ifndef CTP_DISTINCT_H
#define CTP_DISTINCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

enum { CTP_DISTINCT_MAX = 1 << 20 }; /* numbers that are remembered, in 16 MiB */

struct ctp_distinct {
	struct ctp_map map;
	uint64_t *ids; /* in the order in which they came; ids[0] is the number 1 of the map */
	uint32_t room, count;
	uint64_t last;
	bool full;         /* there were others that could not be taken in */
	size_t note_bytes; /* of what is noted of each number; set while there are none */
	char *notes;
};

/* A set of zeros is empty; note_bytes may be another number. */
void ctp_distinct_fini(struct ctp_distinct *set);
void ctp_distinct_add_slow(struct ctp_distinct *set, uint64_t id);

static inline void ctp_distinct_add(struct ctp_distinct *set, uint64_t id)
{
	if (id != set->last || !set->count)
		ctp_distinct_add_slow(set, id);
}

/* What is noted of a number, up to the next that is added; all zero at first. Null: the number is not there. */
void *ctp_distinct_note(const struct ctp_distinct *set, uint64_t id);

#endif
