/* threads.c - a hash table of numbers. */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "spread.h"

enum { SLOTS = 2 * CTP_THREADS_MAX };

bool ctp_threads_init(struct ctp_threads *t)
{
	*t = (struct ctp_threads){
		.list = calloc(CTP_THREADS_MAX, sizeof(*t->list)), .slots = calloc(SLOTS, sizeof(*t->slots)), .salt = ctp_spread_salt()};
	return t->list && t->slots;
}

void ctp_threads_fini(struct ctp_threads *t)
{
	free(t->list);
	free(t->slots);
}

void ctp_threads_clear(struct ctp_threads *t)
{
	if (t->count > 1)
		memset(t->slots, 0, SLOTS * sizeof(*t->slots));
	memset(t->recent, 0, sizeof(t->recent));
	t->list[0] = (struct ctp_thread){0};
	t->count = 1;
}

/* Where the table has the thread, or has room for it. */
static uint32_t *slot_of(const struct ctp_threads *t, uint64_t tid)
{
	uint32_t i = ctp_spread(tid, t->salt, SLOTS);
	while (t->slots[i] && t->list[t->slots[i]].tid != tid)
		i = (i + 1) % SLOTS;
	return &t->slots[i];
}

bool ctp_threads_has(const struct ctp_threads *t, uint64_t tid) { return *slot_of(t, tid); }

uint32_t ctp_threads_add(struct ctp_threads *t, uint64_t tid)
{
	uint32_t *slot = slot_of(t, tid);
	if (!*slot) {
		if (!tid || t->count == CTP_THREADS_MAX)
			return 0;
		t->list[t->count] = (struct ctp_thread){.tid = tid};
		*slot = t->count++;
	}
	return t->recent[tid % CTP_THREADS_RECENT] = *slot;
}

void ctp_thread_gap(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns)
{
	from_ns = from_ns > th->gap_ns ? from_ns : th->gap_ns;
	if (from_ns >= to_ns)
		return;
	th->unknown_ns += to_ns - from_ns;
	th->gap_ns = to_ns;
}
