/*
 * coro-table.c - a pool that never moves, a table of open addressing over it, and a shortcut to the table: direct.
 *
 * Successive ids, as ctp-collect gives them, stand together in the table: coroutines that are born together are often looked for
 * together.
 */
#include "analyse/coro-table.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 4096, SPARSE = CTP_CORO_TABLE_SPARSE, LINE = 64 };
_Static_assert(sizeof(struct ctp_coroutine) == 4 * LINE || sizeof(void *) < 8, "four cache lines, as its comment says");

bool ctp_coro_table_init(struct ctp_coro_table *r)
{
	*r = (struct ctp_coro_table){.nslots = SLOTS_MIN, .salt = ctp_spread_salt(),
	                             .slots = calloc(SLOTS_MIN, sizeof *r->slots),
	                             .direct = calloc(SLOTS_MIN / SPARSE, sizeof *r->direct)};
	return r->slots && r->direct;
}

void ctp_coro_table_fini(struct ctp_coro_table *r)
{
	ctp_coro_table_clear(r);
	for (uint32_t i = 0; i < CTP_FOLLOW_MAX / CTP_CORO_TABLE_CHUNK; i++)
		free(r->chunks[i]);
	free(r->slots);
	free(r->direct);
}

void ctp_coro_table_clear(struct ctp_coro_table *r)
{
	for (uint32_t i = 0; i < r->used; i++)
		free(ctp_coro_table_at(r, i)->name);
	if (r->slots)
		memset(r->slots, 0, r->nslots * sizeof *r->slots);
	if (r->direct)
		memset(r->direct, 0, r->nslots / SPARSE * sizeof *r->direct);
	r->used = r->count = r->nlimbo = r->next_limbo = 0;
	r->unused = NULL;
	r->forgotten_ns = 0;
}

/* The slot that has the id, or the free one where it belongs. */
static uint32_t slot_of(const struct ctp_coro_table *r, uint64_t id)
{
	uint32_t i = ctp_coro_table_home(r, id);
	while (r->slots[i] && r->slots[i]->id != id)
		i = ctp_coro_table_step(r, i);
	return i;
}

struct ctp_coroutine *ctp_coro_table_search(const struct ctp_coro_table *r, uint64_t id)
{
	struct ctp_coroutine *co = r->slots[slot_of(r, id)];
	if (co)
		*ctp_coro_table_direct(r, id) = co;
	return co;
}

static bool grow(struct ctp_coro_table *r)
{
	struct ctp_coroutine **old = r->slots;
	uint32_t nold = r->nslots, n = 2 * nold;
	struct ctp_coroutine **slots = calloc(n, sizeof *slots), **direct = calloc(n / SPARSE, sizeof *direct);
	if (!slots || !direct) {
		free(slots);
		free(direct);
		return false;
	}
	free(r->direct);
	r->direct = direct;
	r->slots = slots;
	r->nslots = n;
	for (uint32_t i = 0; i < nold; i++)
		if (old[i])
			slots[slot_of(r, old[i]->id)] = old[i];
	free(old);
	return true;
}

/* Room for a coroutine; null: out of memory, or the table is full. */
static struct ctp_coroutine *room_for(struct ctp_coro_table *r)
{
	struct ctp_coroutine *co = r->unused;
	if (co) {
		r->unused = co->goal;
		return co;
	}
	if (r->used == CTP_FOLLOW_MAX)
		return NULL;
	struct ctp_coroutine **chunk = &r->chunks[r->used / CTP_CORO_TABLE_CHUNK];
	if (!*chunk && !(*chunk = aligned_alloc(LINE, CTP_CORO_TABLE_CHUNK * sizeof **chunk)))
		return NULL;
	return ctp_coro_table_at(r, r->used++);
}

struct ctp_coroutine *ctp_coro_table_make(struct ctp_coro_table *r, uint64_t id)
{
	if (r->count >= r->nslots / SPARSE && !grow(r))
		return NULL;
	struct ctp_coroutine *co = room_for(r);
	if (!co)
		return NULL;
	*co = (struct ctp_coroutine){.id = id};
	r->count++;
	r->slots[slot_of(r, id)] = *ctp_coro_table_direct(r, id) = co;
	return co;
}

/* Frees a slot, and inserts the coroutines in the slots after it again. */
static void forget(struct ctp_coro_table *r, struct ctp_coroutine *co)
{
	uint32_t i = slot_of(r, co->id);
	r->slots[i] = NULL;
	while (r->slots[i = ctp_coro_table_step(r, i)]) {
		struct ctp_coroutine *next = r->slots[i];
		r->slots[i] = NULL;
		r->slots[slot_of(r, next->id)] = next;
	}
	r->forgotten_ns = co->since_ns > r->forgotten_ns ? co->since_ns : r->forgotten_ns;
	free(co->name);
	*co = (struct ctp_coroutine){.goal = r->unused};
	r->unused = co;
	r->count--;
}

uint64_t ctp_coro_table_bury(struct ctp_coro_table *r, struct ctp_coroutine *co)
{
	if (r->nlimbo == CTP_CORO_TABLE_LIMBO)
		forget(r, r->limbo[r->next_limbo]);
	else
		r->nlimbo++;
	r->limbo[r->next_limbo] = co;
	r->next_limbo = (r->next_limbo + 1) % CTP_CORO_TABLE_LIMBO;
	return r->forgotten_ns;
}

struct ctp_coroutine *ctp_coro_table_each(struct ctp_coro_table *r, uint32_t *next)
{
	while (*next < r->used) {
		struct ctp_coroutine *co = ctp_coro_table_at(r, (*next)++);
		if (co->state != CTP_UNBORN)
			return co;
	}
	return NULL;
}
