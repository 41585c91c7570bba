/*
 * coros-due.c - transitions that are due, and of whose coroutine nothing else is to be told: nearly all are. The loops here call nobody
 * for each.
 */
#include "collect/coros.h"

/* What the loops need of all that is known, in registers. */
struct due {
	struct ctp_life *lives;
	const uint8_t *written;
	uint32_t max, max_sites;
	uint64_t tid;
};

static inline struct due due_from(const struct ctp_coros *l, const struct ctp_ring *ring)
{
	return (struct due){l->life, l->labels.written, l->rings->arena.geo.max_stations, l->rings->arena.geo.max_sites,
	                    (uint32_t)ring->owner};
}

/* The record of a transition, if it is the one that is due of its coroutine, and nothing else is to be told of it. */
static inline __attribute__((always_inline)) bool put_due(const struct due *d, const struct ctp_ring_entry *e, uint64_t *val)
{
	uint32_t i = CTP_REF_INDEX(e->ref), generation = CTP_REF_GENERATION(e->ref), site = CTP_ENTRY_SITE(e->what);
	struct ctp_life *life = &d->lives[i];
	if (CTP_ENTRY_KIND(e->what) > CTP_ENTRY_RESUME || i >= d->max || !generation)
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

/* Rows of the transitions that the entries begin with, as long as each is due. Returns how many. */
static unsigned take_due(struct ctp_coros *l, const struct ctp_ring *ring, const struct ctp_ring_entry *e, unsigned n)
{
	struct ctp_row_sort *rows = &l->rows->batch;
	const struct due due = due_from(l, ring);
	const uint32_t most = CTP_ROW_SORT_ROWS - CTP_ROWS_SPARE, room = rows->count < most ? most - rows->count : 0;
	uint64_t *ts_ns = rows->ts_ns + rows->count, *val = rows->rows[rows->count].val;
	uint8_t *event = rows->event + rows->count;
	unsigned k = 0;
	for (n = n < room ? n : room; k < n && put_due(&due, e, val); k++, e++, val += sizeof(struct ctp_row) / sizeof(*val)) {
		event[k] = CTP_TRANSITION;
		ts_ns[k] = val[CTP_TRANSITION_TS];
	}
	rows->count += k;
	l->rows->stats.events += k;
	return k;
}

/* The same without rows: they are written as they come. */
static unsigned write_due(struct ctp_coros *l, const struct ctp_ring *ring, const struct ctp_ring_entry *e, unsigned n)
{
	const struct due due = due_from(l, ring);
	const struct ctp_class *cls = l->rows->cls[CTP_TRANSITION];
	uint64_t val[CTP_RINGS_CHUNK][CTP_TRANSITION_FIELDS];
	struct ctp_record rec[CTP_RINGS_CHUNK];
	unsigned k = 0;
	for (; k < n && put_due(&due, &e[k], val[k]); k++)
		rec[k] = (struct ctp_record){cls, val[k], val[k][CTP_TRANSITION_TS]};
	if (!k)
		return 0;
	ctp_rows_thread(l->rows, due.tid);
	ctp_rows_write(l->rows, rec, k);
	l->rows->stats.events += k;
	return k;
}

/* No row waits, and no other ring has anything in the slice: then nothing is to be sorted. */
static bool is_alone(const struct ctp_coros *l) { return l->rings->busy == 1 && !l->rows->batch.count; }

unsigned ctp_coros_due(struct ctp_coros *l, const struct ctp_ring *ring, const struct ctp_ring_entry *e, unsigned n)
{
	return is_alone(l) ? write_due(l, ring, e, n) : take_due(l, ring, e, n);
}
