/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coro-table.h - the coroutines that are followed, found by their number.
 *
 * A coroutine stays at its address until it is forgotten. A dead one stays for a while, because records about it may come late.
 */
#ifndef CTP_CORO_TABLE_H
#define CTP_CORO_TABLE_H

#include "analyse/coro-own.h"
#include "base/spread.h"

enum {
	CTP_CORO_TABLE_CHUNK = 4096,  /* coroutines in one allocation */
	CTP_CORO_TABLE_LIMBO = 16384, /* dead coroutines that stay */
	CTP_CORO_TABLE_BLOCK = 8,     /* successive ids that stand together in the table */
	CTP_CORO_TABLE_SPARSE = 4,    /* slots for each coroutine, at least */
};

struct ctp_coro_table {
	struct ctp_coro *chunks[CTP_FOLLOW_MAX / CTP_CORO_TABLE_CHUNK];
	uint32_t used; /* coroutines that were ever made */
	uint32_t count;
	struct ctp_coroutine *unused; /* forgotten coroutines, linked by leads_to */
	struct ctp_coroutine **slots; /* null: free */
	uint32_t nslots; /* a power of 2 */
	struct ctp_coroutine **direct; /* nslots / SPARSE that were looked for, by the lower bits of the id; null: none */
	uint64_t salt;
	struct ctp_coroutine *limbo[CTP_CORO_TABLE_LIMBO];
	uint32_t nlimbo, next_limbo;
	uint64_t forgotten_ns;
};

/* Everything about a coroutine anew, but for what is given here. */
static inline void ctp_coro_renew(struct ctp_coroutine *co, const struct ctp_coroutine *as)
{
	*(struct ctp_coro *)co = (struct ctp_coro){.shown = *as};
}

bool ctp_coro_table_init(struct ctp_coro_table *table); /* false: out of memory */
void ctp_coro_table_fini(struct ctp_coro_table *table);
void ctp_coro_table_clear(struct ctp_coro_table *table);

static inline struct ctp_coroutine *ctp_coro_table_at(const struct ctp_coro_table *table, uint32_t number)
{
	return &table->chunks[number / CTP_CORO_TABLE_CHUNK][number % CTP_CORO_TABLE_CHUNK].shown;
}

/* The first slot to look at: the ids of a block share a cache line. */
static inline uint32_t ctp_coro_table_first_slot(const struct ctp_coro_table *table, uint64_t id)
{
	uint32_t block = ctp_spread(id / CTP_CORO_TABLE_BLOCK, table->salt, table->nslots / CTP_CORO_TABLE_BLOCK);
	return block * CTP_CORO_TABLE_BLOCK + id % CTP_CORO_TABLE_BLOCK;
}

/* The slot after that: where another block is in the way, one step skips all of it, and not one of its eight slots. */
static inline uint32_t ctp_coro_table_step(const struct ctp_coro_table *table, uint32_t i)
{
	return (i + CTP_CORO_TABLE_BLOCK + 1) & (table->nslots - 1);
}

/* The entry that ids with these lower bits share. Successive ids all have an entry of their own. */
static inline struct ctp_coroutine **ctp_coro_table_direct(const struct ctp_coro_table *table, uint64_t id)
{
	return &table->direct[id & (table->nslots / CTP_CORO_TABLE_SPARSE - 1)];
}

/* The coroutine with this id, or null; from the slots. */
struct ctp_coroutine *ctp_coro_table_search(const struct ctp_coro_table *table, uint64_t id);

/* The coroutine with this id, or null. No coroutine has the id 0. */
static inline struct ctp_coroutine *ctp_coro_table_find(const struct ctp_coro_table *table, uint64_t id)
{
	struct ctp_coroutine *co = *ctp_coro_table_direct(table, id);
	return __builtin_expect(co && co->id == id && id, 1) ? co : ctp_coro_table_search(table, id);
}

/*
 * The coroutine that a find looks at first, or null: nearly always the right one. This call begins to load it
 * into the cache. The caller compares the id later: the coroutine may be forgotten by then.
 */
static inline struct ctp_coroutine *ctp_coro_table_guess(const struct ctp_coro_table *table, uint64_t id)
{
	struct ctp_coroutine *co = *ctp_coro_table_direct(table, id);
	__builtin_prefetch(co, 1);
	__builtin_prefetch((const void *)((uintptr_t)co + 64), 1); /* co may be null */
	return co;
}

struct ctp_coroutine *ctp_coro_table_make(struct ctp_coro_table *table, uint64_t id); /* the id is new; null: the table is full */

/* A coroutine has died, and is forgotten later. Returns the time of the latest death that is forgotten by now. */
uint64_t ctp_coro_table_release_dead(struct ctp_coro_table *table, struct ctp_coroutine *co);
struct ctp_coroutine *ctp_coro_table_each(struct ctp_coro_table *table, uint32_t *at);

#endif
