/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coro-table.c - a pool that never moves, a table of open addressing over it, and a shortcut to the table: direct.
 *
 * Successive ids, as ctp-collect gives them, stand together in the table: coroutines that are born together are often looked for
 * together.
 */
#include "analyse/coro-table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 4096, SPARSE = CTP_CORO_TABLE_SPARSE, LINE = 64 };

bool ctp_coro_table_init(struct ctp_coro_table *table)
{
	*table = (struct ctp_coro_table){.nslots = SLOTS_MIN, .salt = ctp_spread_salt(),
	                             .slots = calloc(SLOTS_MIN, sizeof *table->slots),
	                             .direct = calloc(SLOTS_MIN / SPARSE, sizeof *table->direct)};
	return table->slots && table->direct;
}

void ctp_coro_table_fini(struct ctp_coro_table *table)
{
	ctp_coro_table_clear(table);
	for (uint32_t i = 0; i < CTP_FOLLOW_MAX / CTP_CORO_TABLE_CHUNK; i++)
		free(table->chunks[i]);
	free(table->slots);
	free(table->direct);
}

void ctp_coro_table_clear(struct ctp_coro_table *table)
{
	for (uint32_t i = 0; i < table->used; i++)
		free(ctp_coro_table_at(table, i)->name);
	if (table->slots)
		memset(table->slots, 0, table->nslots * sizeof *table->slots);
	if (table->direct)
		memset(table->direct, 0, table->nslots / SPARSE * sizeof *table->direct);
	table->used = table->count = table->nlimbo = table->next_limbo = 0;
	table->unused = NULL;
	table->forgotten_ns = 0;
}

/* The slot that has the id, or the free one where it belongs. */
static uint32_t slot_of(const struct ctp_coro_table *table, uint64_t id)
{
	uint32_t i = ctp_coro_table_first_slot(table, id);
	while (table->slots[i] && table->slots[i]->id != id)
		i = ctp_coro_table_step(table, i);
	return i;
}

struct ctp_coroutine *ctp_coro_table_search(const struct ctp_coro_table *table, uint64_t id)
{
	struct ctp_coroutine *co = table->slots[slot_of(table, id)];
	if (co)
		*ctp_coro_table_direct(table, id) = co;
	return co;
}

static bool grow(struct ctp_coro_table *table)
{
	struct ctp_coroutine **old = table->slots;
	uint32_t nold = table->nslots, n = 2 * nold;
	struct ctp_coroutine **slots = calloc(n, sizeof *slots), **direct = calloc(n / SPARSE, sizeof *direct);
	if (!slots || !direct) {
		free(slots);
		free(direct);
		return false;
	}
	free(table->direct);
	table->direct = direct;
	table->slots = slots;
	table->nslots = n;
	for (uint32_t i = 0; i < nold; i++)
		if (old[i])
			slots[slot_of(table, old[i]->id)] = old[i];
	free(old);
	return true;
}

/* Room for a coroutine; null: out of memory, or the table is full. */
static struct ctp_coroutine *room_for(struct ctp_coro_table *table)
{
	struct ctp_coroutine *co = table->unused;
	if (co) {
		table->unused = ctp_judged(co)->leads_to;
		return co;
	}
	if (table->used == CTP_FOLLOW_MAX)
		return NULL;
	struct ctp_coro **chunk = &table->chunks[table->used / CTP_CORO_TABLE_CHUNK];
	if (!*chunk && !(*chunk = aligned_alloc(LINE, CTP_CORO_TABLE_CHUNK * sizeof **chunk)))
		return NULL;
	return ctp_coro_table_at(table, table->used++);
}

struct ctp_coroutine *ctp_coro_table_make(struct ctp_coro_table *table, uint64_t id)
{
	if (table->count >= table->nslots / SPARSE && !grow(table))
		return NULL;
	struct ctp_coroutine *co = room_for(table);
	if (!co)
		return NULL;
	ctp_coro_renew(co, &(struct ctp_coroutine){.id = id});
	table->count++;
	uint32_t i = slot_of(table, id);
	assert(!table->slots[i]); /* the id is new */
	table->slots[i] = *ctp_coro_table_direct(table, id) = co;
	return co;
}

/* Frees a slot, and inserts the coroutines in the slots after it again. */
static void forget(struct ctp_coro_table *table, struct ctp_coroutine *co)
{
	uint32_t i = slot_of(table, co->id);
	assert(table->slots[i] == co && table->count > 0);
	table->slots[i] = NULL;
	while (table->slots[i = ctp_coro_table_step(table, i)]) {
		struct ctp_coroutine *next = table->slots[i];
		table->slots[i] = NULL;
		table->slots[slot_of(table, next->id)] = next;
	}
	table->forgotten_ns = co->since_ns > table->forgotten_ns ? co->since_ns : table->forgotten_ns;
	free(co->name);
	ctp_coro_renew(co, &(struct ctp_coroutine){0});
	ctp_judged(co)->leads_to = table->unused;
	table->unused = co;
	table->count--;
}

uint64_t ctp_coro_table_release_dead(struct ctp_coro_table *table, struct ctp_coroutine *co)
{
	assert(co->state == CTP_DEAD);
	if (table->nlimbo == CTP_CORO_TABLE_LIMBO)
		forget(table, table->limbo[table->next_limbo]);
	else
		table->nlimbo++;
	table->limbo[table->next_limbo] = co;
	table->next_limbo = (table->next_limbo + 1) % CTP_CORO_TABLE_LIMBO;
	return table->forgotten_ns;
}

struct ctp_coroutine *ctp_coro_table_each(struct ctp_coro_table *table, uint32_t *next)
{
	while (*next < table->used) {
		struct ctp_coroutine *co = ctp_coro_table_at(table, (*next)++);
		if (co->state != CTP_UNBORN)
			return co;
	}
	return NULL;
}
