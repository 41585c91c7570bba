/*
 * coro-table.h - the coroutines that are followed, found by their number.
 *
 * What is made stays where it is until it is forgotten. The dead stay for a while, because records about them may come late.
 */
#ifndef CTP_ROSTER_H
#define CTP_ROSTER_H

#include "analyse/follow.h"
#include "base/spread.h"

enum {
	CTP_ROSTER_CHUNK = 4096,  /* coroutines that are allocated together */
	CTP_ROSTER_LIMBO = 16384, /* dead ones that are remembered */
	CTP_ROSTER_BLOCK = 8,     /* ids that follow one another and stand together */
};

struct ctp_roster {
	struct ctp_coroutine *chunks[CTP_FOLLOW_MAX / CTP_ROSTER_CHUNK];
	uint32_t used, unused; /* so many were ever made; first of those that were forgotten: number + 1, linked by handle */
	uint32_t count;
	struct ctp_roster_slot {
		uint32_t number; /* + 1; 0: free */
		uint32_t tag;    /* lower half of the id: most that is not it is passed by without a look */
	} *slots;
	uint32_t nslots; /* a power of 2 */
	uint64_t salt;
	uint32_t limbo[CTP_ROSTER_LIMBO], nlimbo, next_limbo;
	uint64_t forgotten_ns;
};

bool ctp_roster_init(struct ctp_roster *r); /* false: out of memory */
void ctp_roster_fini(struct ctp_roster *r);
void ctp_roster_clear(struct ctp_roster *r);

static inline struct ctp_coroutine *ctp_roster_at(const struct ctp_roster *r, uint32_t number)
{
	return &r->chunks[number / CTP_ROSTER_CHUNK][number % CTP_ROSTER_CHUNK];
}

/* Where to look first: eight neighbours share a cache line. */
static inline uint32_t ctp_roster_home(const struct ctp_roster *r, uint64_t id)
{
	uint32_t block = ctp_spread(id / CTP_ROSTER_BLOCK, r->salt, r->nslots / CTP_ROSTER_BLOCK);
	return block * CTP_ROSTER_BLOCK + id % CTP_ROSTER_BLOCK;
}

/* Where to look next: a block that finds another one at home gets past it in one step, and not in eight. */
static inline uint32_t ctp_roster_step(const struct ctp_roster *r, uint32_t i)
{
	return (i + CTP_ROSTER_BLOCK + 1) & (r->nslots - 1);
}

/* The one with this id, or null. */
static inline struct ctp_coroutine *ctp_roster_find(const struct ctp_roster *r, uint64_t id)
{
	for (uint32_t i = ctp_roster_home(r, id);; i = ctp_roster_step(r, i)) {
		struct ctp_roster_slot slot = r->slots[i];
		if (!slot.number)
			return NULL;
		struct ctp_coroutine *co = ctp_roster_at(r, slot.number - 1);
		if (__builtin_expect(slot.tag == (uint32_t)id && co->id == id, 1))
			return co;
	}
}

struct ctp_coroutine *ctp_roster_make(struct ctp_roster *r, uint64_t id); /* one that is not there; null: no more */

/* It has died: to be forgotten some time later. Returns until when those had died that are forgotten by now. */
uint64_t ctp_roster_bury(struct ctp_roster *r, struct ctp_coroutine *co);
struct ctp_coroutine *ctp_roster_each(struct ctp_roster *r, uint32_t *at);

#endif
