/*
 * held.c - what is held is a list of sorted runs, because sources sort what they write at once; sorting is merging them.
 *
 * Records live in one of two arenas. When most of an arena has gone, what remains moves to the other one; so what is moved is
 * paid for by what went.
 */
#include "held.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "packet.h"

/* Room beyond the limit for the largest record that a packet can hold. */
enum { RECORD_BYTES_MAX = sizeof(struct ctp_held_record) + CTP_FIELDS_MAX * (8 + sizeof(struct ctp_str) + 8) + CTP_PAYLOAD_MAX };

struct ctp_held *ctp_held_new(size_t limit_bytes, struct ctp_err *err)
{
	struct ctp_held *h = calloc(1, sizeof *h);
	if (!h) {
		ctp_err_set(err, "out of memory");
		return 0;
	}
	h->limit = limit_bytes;
	h->arena_bytes = limit_bytes + RECORD_BYTES_MAX;
	h->sorted = true;
	for (int i = 0; i < 2; i++) {
		void *p = mmap(0, h->arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED) {
			ctp_err_sys(err, "no memory to hold records back");
			ctp_held_free(h);
			return 0;
		}
		h->arena[i].base = p;
	}
	return h;
}

void ctp_held_free(struct ctp_held *h)
{
	if (!h)
		return;
	for (int i = 0; i < 2; i++)
		if (h->arena[i].base)
			munmap(h->arena[i].base, h->arena_bytes);
	free(h->entries);
	free(h->scratch);
	free(h);
}

/* --- holding --------------------------------------------------------------------------------------------------------------- */

static inline void *take(struct ctp_held_arena *a, size_t bytes)
{
	void *p = a->base + a->used;
	a->used += (bytes + 7) & ~(size_t)7;
	return p;
}

static inline const struct ctp_held_record *copy_record(struct ctp_held_arena *a, const struct ctp_class *cls, const uint64_t *val)
{
	uint32_t n = cls->nfields, done = 0;
	struct ctp_held_record *k = take(a, sizeof *k + n * sizeof *k->val);
	k->cls = cls;
	for (; done + 4 <= n; done += 4) /* most are short: this beats a call */
		memcpy(k->val + done, val + done, 4 * sizeof *val);
	for (; done < n; done++)
		k->val[done] = val[done];
	for (uint32_t i = 0; cls->has_text && i < cls->nfields; i++) {
		const struct ctp_str *s = ctp_type_is_text(cls->fields[i].type) ? ctp_str_val(val[i]) : 0;
		if (s)
			k->val[i] = ctp_val_str(memcpy(take(a, sizeof *s + s->len + 1), s, sizeof *s + s->len + 1));
	}
	return k;
}

static bool more_entries(struct ctp_held *h)
{
	size_t cap = h->cap ? 2 * h->cap : 4096;
	struct ctp_held_entry *more = realloc(h->entries, cap * sizeof *more);
	if (!more)
		return false;
	h->entries = more;
	if (!(more = realloc(h->scratch, cap * sizeof *more)))
		return false;
	h->scratch = more;
	h->cap = cap;
	return true;
}

/* Drops what has gone, once that is at least half. */
static void compact(struct ctp_held *h)
{
	size_t rest = h->count - h->out;
	if (rest > h->out)
		return;
	struct ctp_held_arena *to = &h->arena[!h->current];
	to->used = 0;
	for (size_t i = 0; i < rest; i++) {
		struct ctp_held_entry e = h->entries[h->out + i];
		h->entries[i] = (struct ctp_held_entry){ e.ts_ns, copy_record(to, e.rec->cls, e.rec->val) };
	}
	h->current = !h->current;
	h->ready -= h->out;
	h->count = rest;
	h->out = 0;
}

enum ctp_status ctp_held_put(struct ctp_held *h, uint64_t ts_ns, const struct ctp_class *cls, const uint64_t *val)
{
	if (h->out)
		compact(h);
	if (h->count == h->cap && !more_entries(h))
		return CTP_FAILED;
	struct ctp_held_arena *a = &h->arena[h->current];
	h->sorted &= h->count == h->ready || h->entries[h->count - 1].ts_ns <= ts_ns;
	h->entries[h->count++] = (struct ctp_held_entry){ ts_ns, copy_record(a, cls, val) };
	assert(a->used <= h->arena_bytes);
	return a->used > h->limit ? CTP_EOF : CTP_OK;
}

/* --- sorting --------------------------------------------------------------------------------------------------------------- */

static size_t run_end(const struct ctp_held_entry *e, size_t from, size_t n)
{
	size_t i = from + 1;
	while (i < n && e[i - 1].ts_ns <= e[i].ts_ns)
		i++;
	return i;
}

/* Merges [0, mid) and [mid, n) of e, stably, through scratch. */
static void merge(struct ctp_held_entry *e, size_t mid, size_t n, struct ctp_held_entry *scratch)
{
	/* What is not above the second run's first stays where it is. */
	size_t lo = 0, hi = mid;
	while (lo < hi) {
		size_t m = lo + (hi - lo) / 2;
		if (e[m].ts_ns <= e[mid].ts_ns)
			lo = m + 1;
		else
			hi = m;
	}
	size_t left = mid - lo, i = 0, j = mid, k = lo;
	memcpy(scratch, e + lo, left * sizeof *e);
	while (i < left && j < n)
		e[k++] = e[j].ts_ns < scratch[i].ts_ns ? e[j++] : scratch[i++];
	memcpy(e + k, scratch + i, (left - i) * sizeof *e);
}

/* Natural merge sort: neighbouring runs are merged, pass by pass. */
static void sort_held(struct ctp_held *h)
{
	size_t n = h->count - h->ready;
	if (h->sorted || n < 2)
		return;
	struct ctp_held_entry *e = h->entries + h->ready;
	for (size_t mid = run_end(e, 0, n); mid < n; mid = run_end(e, 0, n))
		for (size_t start = 0; mid < n;) {
			size_t end = run_end(e, mid, n);
			merge(e + start, mid - start, end - start, h->scratch);
			start = end;
			mid = start < n ? run_end(e, start, n) : n;
		}
	h->sorted = true;
}

/* --- letting go ------------------------------------------------------------------------------------------------------------ */

void ctp_held_release_before(struct ctp_held *h, uint64_t ts_ns)
{
	sort_held(h);
	while (h->ready < h->count && h->entries[h->ready].ts_ns < ts_ns)
		h->ready++;
}

void ctp_held_release_all(struct ctp_held *h)
{
	sort_held(h);
	h->ready = h->count;
	h->sorted = true;
}

uint64_t ctp_held_release_half(struct ctp_held *h)
{
	assert(h->count > h->ready);
	sort_held(h);
	h->ready += (h->count - h->ready + 1) / 2;
	return h->entries[h->ready - 1].ts_ns;
}
