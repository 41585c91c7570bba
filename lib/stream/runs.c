/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * runs.c - records that are held back are a list of sorted runs, because a source sorts the records that it writes at once. Sorting
 * merges the runs. The usual list is one run, which is given away as it stands.
 *
 * Values are in one of two arenas. When most of an arena has gone, the rest moves to the other one, so fewer records move than go.
 */
#include "stream/runs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pages.h"
#include "stream/packet.h"

/* The largest record. One may come when the runs are full, and another when the half that stays exceeds the limit by itself. */
enum { RECORD_BYTES_MAX = CTP_FIELDS_MAX * (8 + sizeof(struct ctp_str) + 8) + CTP_PAYLOAD_MAX };

struct ctp_runs *ctp_runs_new(size_t limit_bytes, struct ctp_err *err)
{
	struct ctp_runs *r = ctp_err_calloc(err, sizeof *r);
	if (!r)
		return NULL;
	r->limit = limit_bytes;
	r->arena_bytes = limit_bytes + 2 * RECORD_BYTES_MAX + CTP_BATCH_MAX * CTP_FIELDS_MAX * sizeof(uint64_t);
	r->sorted = true;
	r->arena = ctp_pages_new(r->arena_bytes);
	r->spare = ctp_pages_new(r->arena_bytes);
	if (!r->arena || !r->spare) {
		ctp_err_sys(err, "no memory to hold records back");
		ctp_runs_free(r);
		return NULL;
	}
	return r;
}

void ctp_runs_free(struct ctp_runs *r)
{
	if (!r)
		return;
	ctp_pages_free(r->arena, r->arena_bytes);
	ctp_pages_free(r->spare, r->arena_bytes);
	free(r->rec);
	free(r->scratch);
	free(r);
}

/* Between calls: records go from ready to out, and the scratch has room for a merge of all of them. */
static void check(const struct ctp_runs *r)
{
	(void)r; /* without assertions */
	assert(r->out <= r->ready && r->ready <= r->count && r->count <= r->room && r->room <= r->scratch_room);
	assert(r->used <= r->arena_bytes);
}

/* --- holding --------------------------------------------------------------------------------------------------------------- */

static const struct ctp_str *text_of(const struct ctp_class *cls, const uint64_t *val, uint32_t field)
{
	return ctp_type_is_text(cls->fields[field].type) ? ctp_str_val(val[field]) : NULL;
}

static size_t text_bytes(const struct ctp_str *s) { return s ? (sizeof *s + s->len + 1 + 7) & ~(size_t)7 : 0; }

static size_t record_bytes(const struct ctp_record *rec)
{
	size_t bytes = sizeof *rec + rec->cls->nfields * sizeof *rec->val;
	for (uint32_t i = 0; rec->cls->has_text && i < rec->cls->nfields; i++)
		bytes += text_bytes(text_of(rec->cls, rec->val, i));
	return bytes;
}

/* The values at the top, and then their texts, stay. */
static const uint64_t *keep_values(struct ctp_runs *r, const struct ctp_class *cls)
{
	uint64_t *val = ctp_runs_top(r);
	r->used += cls->nfields * sizeof *val;
	for (uint32_t i = 0; cls->has_text && i < cls->nfields; i++) {
		const struct ctp_str *s = text_of(cls, val, i);
		if (!s)
			continue;
		val[i] = ctp_val_str(memcpy(r->arena + r->used, s, sizeof *s + s->len + 1));
		r->used += text_bytes(s);
	}
	assert(r->used <= r->arena_bytes);
	return val;
}

void ctp_runs_add(struct ctp_runs *r, uint64_t ts_ns, const struct ctp_class *cls)
{
	assert(r->count < r->room);
	r->rec[r->count++] = (struct ctp_record){cls, keep_values(r, cls), ts_ns};
	if (ts_ns < r->last_ts)
		r->sorted = false;
	r->last_ts = ts_ns;
}

/* Drops the records that went, once they are at least half, or room is needed. */
static void compact(struct ctp_runs *r)
{
	size_t rest = r->count - r->out;
	if (!r->out || (rest > r->out && !ctp_runs_is_full(r)))
		return;
	if (rest) {
		uint8_t *full = r->arena;
		r->arena = r->spare;
		r->spare = full;
	}
	r->used = 0;
	for (size_t i = 0; i < rest; i++) {
		struct ctp_record rec = r->rec[r->out + i];
		memcpy(ctp_runs_top(r), rec.val, rec.cls->nfields * sizeof *rec.val);
		rec.val = keep_values(r, rec.cls);
		r->rec[i] = rec;
	}
	r->ready -= r->out;
	r->count = rest;
	r->out = 0;
}

bool ctp_runs_room(struct ctp_runs *r)
{
	check(r);
	compact(r);
	size_t want = r->count + CTP_BATCH_MAX;
	return CTP_ARRAY_RESERVE(r->scratch, r->scratch_room, want, SIZE_MAX) && CTP_ARRAY_RESERVE(r->rec, r->room, want, SIZE_MAX);
}

enum ctp_status ctp_runs_put(struct ctp_runs *r, uint64_t ts_ns, const struct ctp_class *cls, const uint64_t *val)
{
	if ((r->out || r->count == r->room) && !ctp_runs_room(r))
		return CTP_FAILED;
	memcpy(ctp_runs_top(r), val, cls->nfields * sizeof *val);
	ctp_runs_add(r, ts_ns, cls);
	return ctp_runs_is_full(r) ? CTP_EOF : CTP_OK;
}

/* --- sorting --------------------------------------------------------------------------------------------------------------- */

/* The first record of a run that is later than ts_ns. */
static size_t first_above(const struct ctp_record *rec, size_t n, uint64_t ts_ns)
{
	size_t i;
	CTP_ARRAY_FIRST(i, n, rec[i].ts_ns > ts_ns);
	return i;
}

static size_t run_end(const struct ctp_record *rec, size_t from, size_t n)
{
	size_t i = from + 1;
	while (i < n && rec[i - 1].ts_ns <= rec[i].ts_ns)
		i++;
	return i;
}

/* Merges [0, mid) and [mid, n) of rec, stably, through scratch. */
static void merge(struct ctp_record *rec, size_t mid, size_t n, struct ctp_record *scratch)
{
	assert(mid > 0 && mid < n);
	/* Records of the first run up to the second run's first stay where they are. */
	size_t k = first_above(rec, mid, rec[mid].ts_ns), left = mid - k, i = 0, j = mid;
	memcpy(scratch, rec + k, left * sizeof *rec);
	while (i < left && j < n)
		rec[k++] = rec[j].ts_ns < scratch[i].ts_ns ? rec[j++] : scratch[i++];
	memcpy(rec + k, scratch + i, (left - i) * sizeof *rec);
}

/* Natural merge sort: neighbouring runs are merged, pass by pass. */
static void sort_held(struct ctp_runs *r)
{
	size_t n = r->count - r->ready;
	if (r->sorted || n < 2)
		return;
	struct ctp_record *rec = r->rec + r->ready;
	for (size_t mid = run_end(rec, 0, n); mid < n; mid = run_end(rec, 0, n))
		for (size_t start = 0; mid < n;) {
			size_t end = run_end(rec, mid, n);
			merge(rec + start, mid - start, end - start, r->scratch);
			start = end;
			mid = start < n ? run_end(rec, start, n) : n;
		}
	r->sorted = true;
	r->last_ts = rec[n - 1].ts_ns;
	assert(rec[0].ts_ns <= r->last_ts);
}

/* --- letting go ------------------------------------------------------------------------------------------------------------ */

void ctp_runs_release_before(struct ctp_runs *r, uint64_t ts_ns)
{
	check(r);
	sort_held(r);
	if (ts_ns && r->count > r->ready)
		r->ready += first_above(r->rec + r->ready, r->count - r->ready, ts_ns - 1);
	assert(r->ready == r->count || r->rec[r->ready].ts_ns >= ts_ns); /* order.c takes ts_ns as its watermark */
}

void ctp_runs_release_all(struct ctp_runs *r)
{
	sort_held(r);
	r->ready = r->count;
	r->sorted = true;
	r->last_ts = 0;
}

uint64_t ctp_runs_release_half(struct ctp_runs *r)
{
	size_t bytes = 0, gone = 0;
	check(r);
	assert(r->count > r->ready);
	sort_held(r);
	for (size_t i = r->ready; i < r->count; i++)
		bytes += record_bytes(&r->rec[i]);
	while (gone < bytes - gone)
		gone += record_bytes(&r->rec[r->ready++]);
	assert(ctp_runs_released(r) && r->ready <= r->count);
	return r->rec[r->ready - 1].ts_ns;
}

/* --- parting --------------------------------------------------------------------------------------------------------------- */

static bool copy(struct ctp_runs *to, const struct ctp_runs *from, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		if (ctp_runs_put(to, from->rec[i].ts_ns, from->rec[i].cls, from->rec[i].val) == CTP_FAILED)
			return false;
	return true;
}

bool ctp_runs_part(struct ctp_runs **r, struct ctp_runs **other)
{
	struct ctp_runs *from = *r, *to = *other;
	size_t goes = ctp_runs_released(from), held = from->count - from->ready;
	assert(to->out == to->count && to->arena_bytes >= from->arena_bytes);
	to->used = to->out = to->ready = to->count = 0;
	to->sorted = true;
	to->last_ts = 0;
	if (goes < held) {
		if (!copy(to, from, from->out, goes))
			return false;
		to->ready = to->count;
		from->out = from->ready;
	} else {
		if (!copy(to, from, from->ready, held))
			return false;
		from->count = from->ready;
		*r = to;
		*other = from;
	}
	assert((*other)->ready == (*other)->count && !ctp_runs_released(*r)); /* one may go, the other is held back */
	check(to);
	check(from);
	return true;
}
