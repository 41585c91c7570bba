/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * addrs.h - a number for each of many addresses, or for any other 64 bits. Unlike map.h it forgets, so that its memory is bounded
 * by what it holds at a time. Keys come from outside: each table has a salt of its own.
 */
#ifndef CTP_ADDRS_H
#define CTP_ADDRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spread.h"

struct ctp_addrs {
	struct ctp_addrs_slot {
		uint64_t key;
		uint32_t number; /* 0: the slot is free */
		uint32_t note;   /* the caller's, to save a look at the item of the number */
	} *slots;
	uint32_t nslots, count; /* nslots is a power of two, and at most half of the slots are used; 0: none yet */
	uint64_t salt;
};

/* All zeros is an empty table. */
void ctp_addrs_fini(struct ctp_addrs *t);
void ctp_addrs_clear(struct ctp_addrs *t);

/* The key is not in the table, and the number is not 0. The slot, as below; null: out of memory, and nothing has changed. */
struct ctp_addrs_slot *ctp_addrs_add(struct ctp_addrs *t, uint64_t key, uint32_t number);

void ctp_addrs_remove(struct ctp_addrs *t, struct ctp_addrs_slot *slot);

/* The slot of a key, good until the next add or remove, for its number to be read or changed. Null: the key is not there. */
static inline struct ctp_addrs_slot *ctp_addrs_find(const struct ctp_addrs *t, uint64_t key)
{
	if (!t->count)
		return NULL;
	for (uint32_t i = ctp_spread(key, t->salt, t->nslots);; i = (i + 1) & (t->nslots - 1)) {
		if (!t->slots[i].number)
			return NULL;
		if (t->slots[i].key == key)
			return &t->slots[i];
	}
}

static inline uint32_t ctp_addrs_get(const struct ctp_addrs *t, uint64_t key)
{
	const struct ctp_addrs_slot *slot = ctp_addrs_find(t, key);
	return slot ? slot->number : 0;
}

#endif
