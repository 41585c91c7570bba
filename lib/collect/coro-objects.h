/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coro-objects.h - what the memory remembers of objects that coroutines wait for, for a collector that attaches later.
 *
 * A change of a holder that a copy has in it is in a ring too, if its thread knew of us by then. Its number tells: see
 * struct ctp_shm_object. So changes that are in the copy are not written again.
 */
#ifndef CTP_CORO_OBJECTS_H
#define CTP_CORO_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/rings.h"

struct ctp_coros;

enum { CTP_OBJECT_FACTS = 5 + 3 * CTP_SHM_HOLDERS }; /* at most, of one object */

/* A copy of an object that was written as records. */
struct ctp_object_kept {
	uint64_t key;     /* CTP_OBJECT_KEY */
	uint32_t index;
	uint32_t changes; /* that it has in it, if it is whole */
	bool whole;
};

struct ctp_coro_objects {
	struct ctp_object_kept *kept; /* by key */
	uint32_t count;
	uint64_t kept_ns; /* what happened later is in no copy */
	struct ctp_ended_holder {
		uint64_t ref, coro;
	} ended[1024]; /* the last coroutines that have no station any more, but hold something */
	uint32_t nended; /* all of them */
	struct ctp_hold_place {
		uint64_t ref, object, ts_ns;
		uint32_t site;
	} places[64]; /* where coroutines got what the next entry of the same ring says, by a part of the ref */
};

void ctp_coro_objects_fini(struct ctp_coro_objects *o);

/* Finds the objects that there are. Returns how many; 0 also where there is no memory for it. */
uint32_t ctp_coro_objects_find(struct ctp_coros *coros);

/*
 * What the memory knows of an object, as entries of a ring; nothing from before since_ns (0: no limit). Returns how many.
 * The time of each is that of what it tells. For ctp_coro_objects_write only: kinds of some are its own.
 */
unsigned ctp_coro_objects_facts(struct ctp_coros *coros, struct ctp_object_kept *kept, uint64_t since_ns,
                                struct ctp_ring_entry facts[CTP_OBJECT_FACTS], uint32_t *pid);

/* Writes the record of such an entry. */
void ctp_coro_objects_write(struct ctp_coros *coros, uint64_t pid, const struct ctp_ring_entry *fact);

/* The coroutine has ended while it held something, and its station has another one. A later entry may still release it. */
void ctp_coro_objects_ended(struct ctp_coro_objects *o, uint64_t ref, uint64_t coro);

/* The number of such a coroutine in the stream; 0: not known. */
uint64_t ctp_coro_objects_ended_number(const struct ctp_coro_objects *o, uint64_t ref);

/* Whether this entry, about the holder of an object, is a change that was written already. */
bool ctp_coro_objects_is_written(const struct ctp_coro_objects *o, uint64_t pid, const struct ctp_ring_entry *e);

#endif
