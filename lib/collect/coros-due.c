/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coros-due.c - transitions that are due, and wakes, where nothing else is to be written of the coroutine: nearly all entries are
 * such. The loops here make no call for an entry.
 */
#include "collect/coros.h"

/* What the loops need of all that is known, in registers. */
struct due {
	struct ctp_life *lives;
	const uint8_t *written;
	uint32_t max, max_sites;
	uint64_t tid;
};

static inline struct due due_from(const struct ctp_coros *coros, const struct ctp_ring *ring)
{
	const struct ctp_geometry *geo = &coros->rings->arena.geo;
	return (struct due){coros->life, coros->texts.written, geo->max_stations, geo->max_sites, (uint32_t)ring->owner};
}

/* The record of a transition, if it is the one that is due of its coroutine, and nothing else is to be written of it. */
static inline __attribute__((always_inline)) bool put_transition(const struct due *d, const struct ctp_ring_entry *e, uint64_t *val)
{
	uint32_t i = CTP_REF_INDEX(e->ref), generation = CTP_REF_GENERATION(e->ref), site = CTP_ENTRY_SITE(e->what);
	struct ctp_life *life = &d->lives[i];
	if (i >= d->max || !generation)
		return false;
	uint64_t number = life->next;
	if (life->generation != generation || (uint32_t)number != CTP_ENTRY_NUMBER(e->what) || life->flags & CTP_LIFE_UNSURE)
		return false;
	if (site ? site > d->max_sites || !d->written[site - 1] : ctp_entry_is_unknown(e) && !(life->flags & CTP_LIFE_ASKED))
		return false;
	uint64_t ts_ns = ctp_not_before(e->ts_ns, life->last_ns);
	life->next = number + 1;
	life->last_ns = ts_ns;
	ctp_transition_fill(val, &(struct ctp_who){life->probe_id, life->coro, life->first}, number, e, d->tid, ts_ns, site);
	return true;
}

/* The life of the coroutine that ref names; NULL: it has its station no more, or not yet. */
static inline const struct ctp_life *life_of(const struct due *d, uint64_t ref)
{
	uint32_t i = CTP_REF_INDEX(ref), generation = CTP_REF_GENERATION(ref);
	return i < d->max && generation && d->lives[i].generation == generation ? &d->lives[i] : NULL;
}

/* The record of a wake, if both coroutines are known. */
static inline __attribute__((always_inline)) bool put_wake(const struct due *d, const struct ctp_ring_entry *e, uint64_t *val)
{
	const struct ctp_life *life = life_of(d, e->ref), *by = life_of(d, e->value);
	if (!life || (e->value && !by))
		return false;
	const struct ctp_wake wake = {e->ref, e->value, d->tid, e->ts_ns, CTP_ENTRY_NUMBER(e->what)};
	ctp_wake_fill(val, &wake, life->probe_id, life->coro, by ? by->coro : 0);
	return true;
}

static inline __attribute__((always_inline)) bool put_due(const struct due *d, const struct ctp_ring_entry *e, uint64_t *val)
{
	unsigned kind = CTP_ENTRY_KIND(e->what);
	return kind <= CTP_ENTRY_RESUME ? put_transition(d, e, val) : kind == CTP_ENTRY_WAKE && put_wake(d, e, val);
}

static inline bool is_wake(const struct ctp_ring_entry *e) { return CTP_ENTRY_KIND(e->what) == CTP_ENTRY_WAKE; }

static unsigned count_taken(struct ctp_coros *coros, unsigned n, unsigned wakes)
{
	coros->rows->stats.wakes += wakes;
	coros->rows->stats.events += n - wakes;
	return n;
}

/* Rows of the entries, as long as each is due. Returns how many. */
static unsigned take_due(struct ctp_coros *coros, const struct ctp_ring *ring, const struct ctp_ring_entry *e, unsigned n)
{
	struct ctp_row_sort *sort = &coros->rows->sort;
	const struct due due = due_from(coros, ring);
	const uint32_t most = CTP_ROW_SORT_ROWS - CTP_ROWS_SPARE, room = sort->count < most ? most - sort->count : 0;
	uint64_t *ts_ns = sort->ts_ns + sort->count, *val = sort->rows[sort->count].val;
	uint8_t *event = sort->event + sort->count;
	unsigned k = 0, wakes = 0;
	for (n = n < room ? n : room; k < n && put_due(&due, &e[k], val); k++, val += sizeof(struct ctp_row) / sizeof *val) {
		bool wake = is_wake(&e[k]);
		event[k] = wake ? CTP_WAKE : CTP_TRANSITION;
		ts_ns[k] = val[wake ? CTP_WAKE_TS : CTP_TRANSITION_TS];
		wakes += wake;
	}
	sort->count += k;
	return count_taken(coros, k, wakes);
}

/* The same without rows: they are written as they come. */
static unsigned write_due(struct ctp_coros *coros, const struct ctp_ring *ring, const struct ctp_ring_entry *e, unsigned n)
{
	const struct due due = due_from(coros, ring);
	const struct ctp_class *const wake_cls = coros->rows->cls[CTP_WAKE], *const cls = coros->rows->cls[CTP_TRANSITION];
	uint64_t val[CTP_RINGS_CHUNK][CTP_TRANSITION_FIELDS], event_ns = 0;
	struct ctp_record rec[CTP_RINGS_CHUNK];
	unsigned k = 0, wakes = 0;
	for (; k < n && put_due(&due, &e[k], val[k]); k++) {
		bool wake = is_wake(&e[k]);
		rec[k] = (struct ctp_record){wake ? wake_cls : cls, val[k], val[k][wake ? CTP_WAKE_TS : CTP_TRANSITION_TS]};
		event_ns = wake ? event_ns : rec[k].ts_ns;
		wakes += wake;
	}
	if (!k)
		return 0;
	if (wakes < k)
		ctp_rows_thread(coros->rows, due.tid);
	ctp_rows_write(coros->rows, rec, k, event_ns);
	return count_taken(coros, k, wakes);
}

/* No row waits, and no other ring has anything in the slice: then nothing is to be sorted. */
static bool is_alone(const struct ctp_coros *coros) { return coros->rings->busy == 1 && !coros->rows->sort.count; }

unsigned ctp_coros_due(struct ctp_coros *coros, const struct ctp_ring *ring, const struct ctp_ring_entry *e, unsigned n)
{
	return is_alone(coros) ? write_due(coros, ring, e, n) : take_due(coros, ring, e, n);
}
