/*
 * runs.c - what is held is a list of sorted runs, because sources sort what they write at once; sorting is merging them.
 *
 * Records live in one of two arenas. When most of an arena has gone, what remains moves to the other one; so what is moved is
 * paid for by what went.
 */
#include "stream/runs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stream/packet.h"

/* The largest record. One can come when it is full, and another when the half that did not go is still more than the limit. */
enum { RECORD_BYTES_MAX = sizeof(struct ctp_runs_record) + CTP_FIELDS_MAX * (8 + sizeof(struct ctp_str) + 8) + CTP_PAYLOAD_MAX };

static uint8_t *map(size_t bytes)
{
	void *p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? 0 : p;
}

struct ctp_runs *ctp_runs_new(size_t limit_bytes, struct ctp_err *err)
{
	struct ctp_runs *h = calloc(1, sizeof *h);
	if (!h) {
		ctp_err_set(err, "out of memory");
		return 0;
	}
	h->limit = limit_bytes;
	h->arena_bytes = limit_bytes + 2 * RECORD_BYTES_MAX;
	h->sorted = true;
	h->arena = map(h->arena_bytes);
	h->spare = map(h->arena_bytes);
	if (!h->arena || !h->spare) {
		ctp_err_sys(err, "no memory to hold records back");
		ctp_runs_free(h);
		return 0;
	}
	return h;
}

void ctp_runs_free(struct ctp_runs *h)
{
	if (!h)
		return;
	if (h->arena)
		munmap(h->arena, h->arena_bytes);
	if (h->spare)
		munmap(h->spare, h->arena_bytes);
	free(h->entries);
	free(h->scratch);
	free(h);
}

/* --- holding --------------------------------------------------------------------------------------------------------------- */

static const struct ctp_str *text_of(const struct ctp_runs_record *rec, uint32_t field)
{
	return ctp_type_is_text(rec->cls->fields[field].type) ? ctp_str_val(rec->val[field]) : 0;
}

static size_t text_bytes(const struct ctp_str *s) { return s ? (sizeof *s + s->len + 1 + 7) & ~(size_t)7 : 0; }

static size_t record_bytes(const struct ctp_runs_record *rec)
{
	size_t bytes = sizeof *rec + rec->cls->nfields * sizeof *rec->val;
	for (uint32_t i = 0; rec->cls->has_text && i < rec->cls->nfields; i++)
		bytes += text_bytes(text_of(rec, i));
	return bytes;
}

void ctp_runs_copy_texts(struct ctp_runs *h, struct ctp_runs_record *rec)
{
	for (uint32_t i = 0; i < rec->cls->nfields; i++) {
		const struct ctp_str *s = text_of(rec, i);
		if (!s)
			continue;
		rec->val[i] = ctp_val_str(memcpy(h->arena + h->used, s, sizeof *s + s->len + 1));
		h->used += text_bytes(s);
	}
	assert(h->used <= h->arena_bytes);
}

bool ctp_runs_grow(struct ctp_runs *h)
{
	size_t cap = h->cap ? 2 * h->cap : 4096;
	struct ctp_runs_entry *more = realloc(h->entries, cap * sizeof *more);
	if (!more)
		return false;
	h->entries = more;
	if (!(more = realloc(h->scratch, cap * sizeof *more)))
		return false;
	h->scratch = more;
	h->cap = cap;
	return true;
}

/* Drops what has gone, once that is at least half, or room is needed. */
void ctp_runs_compact(struct ctp_runs *h)
{
	size_t rest = h->count - h->out;
	if (rest > h->out && h->used <= h->limit)
		return;
	uint8_t *full = h->arena;
	h->arena = h->spare;
	h->spare = full;
	h->used = 0;
	for (size_t i = 0; i < rest; i++) {
		struct ctp_runs_entry e = h->entries[h->out + i];
		memcpy(ctp_runs_top(h)->val, e.rec->val, e.rec->cls->nfields * sizeof *e.rec->val);
		h->entries[i] = (struct ctp_runs_entry){ e.ts_ns, ctp_runs_push(h, e.rec->cls) };
	}
	h->ready -= h->out;
	h->count = rest;
	h->out = 0;
}

enum ctp_status ctp_runs_put(struct ctp_runs *h, uint64_t ts_ns, const struct ctp_class *cls, const uint64_t *val)
{
	memcpy(ctp_runs_room(h), val, cls->nfields * sizeof *val);
	return ctp_runs_keep(h, ts_ns, cls);
}

/* --- sorting --------------------------------------------------------------------------------------------------------------- */

/* The first of a run that is later than that. */
static size_t first_above(const struct ctp_runs_entry *e, size_t n, uint64_t ts_ns)
{
	size_t lo = 0;
	while (lo < n) {
		size_t m = lo + (n - lo) / 2;
		if (e[m].ts_ns <= ts_ns)
			lo = m + 1;
		else
			n = m;
	}
	return lo;
}

static size_t run_end(const struct ctp_runs_entry *e, size_t from, size_t n)
{
	size_t i = from + 1;
	while (i < n && e[i - 1].ts_ns <= e[i].ts_ns)
		i++;
	return i;
}

/* Merges [0, mid) and [mid, n) of e, stably, through scratch. */
static void merge(struct ctp_runs_entry *e, size_t mid, size_t n, struct ctp_runs_entry *scratch)
{
	/* What is not above the second run's first stays where it is. */
	size_t k = first_above(e, mid, e[mid].ts_ns), left = mid - k, i = 0, j = mid;
	memcpy(scratch, e + k, left * sizeof *e);
	while (i < left && j < n)
		e[k++] = e[j].ts_ns < scratch[i].ts_ns ? e[j++] : scratch[i++];
	memcpy(e + k, scratch + i, (left - i) * sizeof *e);
}

/* Natural merge sort: neighbouring runs are merged, pass by pass. */
static void sort_held(struct ctp_runs *h)
{
	size_t n = h->count - h->ready;
	if (h->sorted || n < 2)
		return;
	struct ctp_runs_entry *e = h->entries + h->ready;
	for (size_t mid = run_end(e, 0, n); mid < n; mid = run_end(e, 0, n))
		for (size_t start = 0; mid < n;) {
			size_t end = run_end(e, mid, n);
			merge(e + start, mid - start, end - start, h->scratch);
			start = end;
			mid = start < n ? run_end(e, start, n) : n;
		}
	h->sorted = true;
	h->last_ts = e[n - 1].ts_ns;
}

/* --- letting go ------------------------------------------------------------------------------------------------------------ */

void ctp_runs_release_before(struct ctp_runs *h, uint64_t ts_ns)
{
	sort_held(h);
	if (ts_ns && h->count > h->ready)
		h->ready += first_above(h->entries + h->ready, h->count - h->ready, ts_ns - 1);
}

void ctp_runs_release_all(struct ctp_runs *h)
{
	sort_held(h);
	h->ready = h->count;
	h->sorted = true;
	h->last_ts = 0;
}

uint64_t ctp_runs_release_half(struct ctp_runs *h)
{
	size_t bytes = 0, gone = 0;
	assert(h->count > h->ready);
	sort_held(h);
	for (size_t i = h->ready; i < h->count; i++)
		bytes += record_bytes(h->entries[i].rec);
	while (gone < bytes - gone)
		gone += record_bytes(h->entries[h->ready++].rec);
	return h->entries[h->ready - 1].ts_ns;
}
