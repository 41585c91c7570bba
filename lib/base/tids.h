/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tids.h - a bounded memory of thread ids: was this one seen before?
 *
 * A full memory forgets all ids and begins again: an id may be new more than once, and no more room is taken.
 */
#ifndef CTP_TIDS_H
#define CTP_TIDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/spread.h"

enum { CTP_TIDS_SLOTS = 4096, CTP_TIDS_MAX = CTP_TIDS_SLOTS / 2, CTP_TIDS_RECENT = 64 };

/* A memory of zeros is empty. 0 is no id. */
struct ctp_tids {
	uint64_t recent[CTP_TIDS_RECENT]; /* asked for, by their low bits: threads take turns */
	uint32_t count;
	uint64_t salt;
	uint64_t slots[CTP_TIDS_SLOTS];
};

/* True: the id is new. */
static inline bool ctp_tids_add(struct ctp_tids *t, uint64_t id)
{
	uint64_t *recent = &t->recent[id % CTP_TIDS_RECENT];
	if (id == *recent || !id)
		return false;
	*recent = id;
	if (!t->count)
		t->salt = ctp_spread_salt();
	uint32_t at = ctp_spread(id, t->salt, CTP_TIDS_SLOTS);
	for (; t->slots[at]; at = (at + 1) % CTP_TIDS_SLOTS)
		if (t->slots[at] == id)
			return false;
	if (t->count == CTP_TIDS_MAX) {
		memset(t->slots, 0, sizeof t->slots);
		t->count = 0;
	}
	t->slots[at] = id;
	t->count++;
	return true;
}

#endif
