/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rows.c - sorts what was harvested, writes it, and makes the mark.
 */
#include "collect/rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define AHEAD_NS UINT64_C(1000000000) /* a time that is further ahead of ours is wrong, and no mark needs to reach it */
#define SETTLE_NS UINT64_C(1000000)   /* the oldest that waits for a settle, after a look */

enum { PREFETCH = 8, BATCH = 256, MARK_ROWS = 1024 };

enum ctp_status ctp_rows_init(struct ctp_rows *rows, struct ctp_err *err)
{
	*rows = (struct ctp_rows){.text = malloc(CTP_ROWS_TEXT)};
	enum ctp_status status = rows->text ? ctp_row_sort_init(&rows->sort, err) : ctp_err_memory(err);
	for (unsigned e = 0; !status && e < CTP_EVENT_COUNT; e++)
		if (!(rows->cls[e] = ctp_event_class(e)))
			status = ctp_err_memory(err);
	if (status)
		ctp_rows_fini(rows);
	return status;
}

void ctp_rows_fini(struct ctp_rows *rows)
{
	for (unsigned e = 0; e < CTP_EVENT_COUNT; e++)
		ctp_class_free(rows->cls[e]);
	ctp_row_sort_fini(&rows->sort);
	ctp_frame_queue_fini(&rows->frames);
	free(rows->text);
	*rows = (struct ctp_rows){.text = NULL};
}

void ctp_rows_look(struct ctp_rows *rows, uint64_t now_ns)
{
	rows->now_ns = now_ns;
	if (!ctp_rows_unsettled(rows))
		rows->oldest_look_ns = now_ns;
}

static void note_any(struct ctp_rows *rows, uint64_t ts_ns)
{
	if (ts_ns > rows->newest_ns && ts_ns <= rows->now_ns + AHEAD_NS)
		rows->newest_ns = ts_ns;
}

/* A look may take long, and sees what happens meanwhile. Nothing is of the future. */
static bool is_past(const struct ctp_rows *rows, uint64_t ts_ns) { return ts_ns <= rows->now_ns || ts_ns <= ctp_clock_ns(); }

static void note_transition(struct ctp_rows *rows, uint64_t ts_ns)
{
	if (ts_ns > rows->event_ns && is_past(rows, ts_ns))
		rows->event_ns = ts_ns;
}

void ctp_rows_write(struct ctp_rows *rows, const struct ctp_record *rec, uint32_t n, uint64_t event_ns)
{
	assert(n && !rows->sort.count);
	ctp_writer_records(rows->writer, &(struct ctp_batch){.rec = rec, .n = n});
	rows->written += n;
	note_any(rows, rec[n - 1].ts_ns);
	note_transition(rows, event_ns);
}

/* Rows on their way to the writer. */
struct out {
	uint32_t n, unmarked;
	struct ctp_record rec[BATCH];
};

/*
 * A mark is true after any of the rows that is not newer than the promise, since they are sorted. Where marks are many, a
 * reader holds back little.
 */
static void write_out(struct ctp_rows *rows, struct out *out)
{
	assert(out->n <= BATCH);
	uint64_t last_ns = out->n ? out->rec[out->n - 1].ts_ns : 0;
	ctp_writer_records(rows->writer, &(struct ctp_batch){.rec = out->rec, .n = out->n});
	out->unmarked += out->n;
	out->n = 0;
	if (out->unmarked < MARK_ROWS || last_ns <= rows->marked_ns || last_ns > rows->promise_ns)
		return;
	ctp_writer_mark(rows->writer, rows->marked_ns = last_ns);
	out->unmarked = 0;
}

static void write_rows(struct ctp_rows *rows)
{
	const struct ctp_row_sort *sort = &rows->sort;
	struct out out = {.n = 0};
	uint64_t tid = 0; /* of the transition before: most are on the same thread */
	for (uint32_t k = 0; k < sort->count; k++) {
		if (!sort->sorted && k + PREFETCH < sort->count)
			__builtin_prefetch(&sort->rows[ctp_row_sort_at(sort, k + PREFETCH)]);
		uint32_t r = ctp_row_sort_at(sort, k);
		const uint64_t *val = sort->rows[r].val;
		unsigned event = sort->event[r];
		if (event == CTP_ROWS_SPOILT)
			continue;
		if (event == CTP_TRANSITION && val[CTP_TRANSITION_TID] != tid)
			ctp_rows_thread(rows, tid = val[CTP_TRANSITION_TID]);
		out.rec[out.n++] = (struct ctp_record){rows->cls[event], val, sort->ts_ns[r]};
		if (out.n == BATCH)
			write_out(rows, &out);
	}
	write_out(rows, &out);
}

/* The newest of the rows, which are sorted, and of their transitions: found at the end but where times are wrong. */
static void note_newest(struct ctp_rows *rows)
{
	const struct ctp_row_sort *sort = &rows->sort;
	bool any = false, transition = false;
	for (uint32_t k = sort->count; k-- > 0 && !(any && transition);) {
		uint32_t r = ctp_row_sort_at(sort, k);
		uint64_t ts_ns = sort->ts_ns[r];
		if (sort->event[r] == CTP_ROWS_SPOILT)
			continue;
		note_any(rows, ts_ns);
		any |= ts_ns <= rows->now_ns + AHEAD_NS;
		if (sort->event[r] != CTP_TRANSITION)
			continue;
		note_transition(rows, ts_ns);
		transition |= ts_ns <= rows->event_ns;
	}
}

void ctp_rows_settle(struct ctp_rows *rows)
{
	struct ctp_row_sort *sort = &rows->sort;
	assert(sort->count <= CTP_ROW_SORT_ROWS);
	if (rows->prove)
		rows->prove(rows->prove_arg);
	ctp_row_sort_sort(sort, rows->now_ns);
	write_rows(rows);
	note_newest(rows);
	sort->count = rows->written = 0;
	rows->oldest_look_ns = rows->now_ns;
	rows->text_bytes = 0;
	assert(!ctp_rows_unsettled(rows) && rows->marked_ns <= rows->promise_ns);
	/* Once a mark is beyond all that was written, only a merge waits for another. */
	if (rows->newest_ns >= rows->marked_ns)
		ctp_rows_mark(rows);
}

void ctp_rows_mark(struct ctp_rows *rows)
{
	assert(!ctp_rows_unsettled(rows));
	if (rows->promise_ns <= rows->marked_ns)
		return;
	ctp_writer_mark(rows->writer, rows->promise_ns);
	rows->marked_ns = rows->promise_ns;
}

void ctp_rows_settle_due(struct ctp_rows *rows)
{
	if (ctp_rows_unsettled(rows) && rows->now_ns - rows->oldest_look_ns >= SETTLE_NS)
		ctp_rows_settle(rows);
}

/* --- strings -------------------------------------------------------------------------------------------------------------- */

static uint32_t string_bytes(uint32_t len)
{
	return ((uint32_t)sizeof(struct ctp_str) + len + 1 + 7) & ~7u;
}

void ctp_rows_reserve(struct ctp_rows *rows, uint32_t text_bytes)
{
	uint32_t most = text_bytes + 4 * string_bytes(0); /* two strings, and what aligns them */
	if (rows->sort.count > CTP_ROW_SORT_ROWS - CTP_ROWS_SPARE || rows->text_bytes + most > CTP_ROWS_TEXT)
		ctp_rows_settle(rows);
	assert(rows->text_bytes + most <= CTP_ROWS_TEXT); /* for ctp_rows_string */
}

uint64_t ctp_rows_string(struct ctp_rows *rows, const char *text, uint32_t len)
{
	struct ctp_str *s = (struct ctp_str *)(void *)(rows->text + rows->text_bytes);
	rows->text_bytes += string_bytes(len);
	assert(rows->text_bytes <= CTP_ROWS_TEXT); /* ctp_rows_reserve was asked for as much */
	s->len = len;
	memcpy(s->data, text, len);
	s->data[len] = 0;
	return ctp_val_str(s);
}

/* --- records -------------------------------------------------------------------------------------------------------------- */

void ctp_rows_put_values(struct ctp_rows *rows, enum ctp_event event, uint64_t ts_ns, const uint64_t *values, size_t n)
{
	assert(rows->cls[event]->time_field == 0 && n == rows->cls[event]->nfields && n <= sizeof(struct ctp_row) / sizeof *values);
	uint64_t *val = ctp_rows_put(rows, event, ts_ns);
	val[0] = ts_ns;
	memcpy(val + 1, values + 1, (n - 1) * sizeof *val);
}

void ctp_loss_fill(uint64_t *val, const struct ctp_loss *loss)
{
	val[CTP_LOST_TS] = loss->ts_ns;
	val[CTP_LOST_PROBE] = loss->probe_id;
	val[CTP_LOST_CORO] = loss->coro;
	val[CTP_LOST_INDEX] = loss->index;
	val[CTP_LOST_COUNT] = loss->count;
	val[CTP_LOST_UNVERIFIED] = loss->unverified;
	val[CTP_LOST_AFTER] = loss->after_ns < loss->ts_ns ? loss->after_ns : loss->ts_ns;
}

void ctp_rows_lost(struct ctp_rows *rows, const struct ctp_loss *loss)
{
	ctp_loss_fill(ctp_rows_put(rows, CTP_LOST, loss->ts_ns), loss);
}

void ctp_rows_birth(struct ctp_rows *rows, const struct ctp_birth *birth)
{
	CTP_ROWS_PUT(rows, CTP_BIRTH, birth->before_ns, [CTP_BIRTH_PROBE] = birth->probe_id,
	             [CTP_BIRTH_CORO] = birth->coro, [CTP_BIRTH_STATION] = birth->station,
	             [CTP_BIRTH_AFTER] = birth->after_ns < birth->before_ns ? birth->after_ns : birth->before_ns,
	             [CTP_BIRTH_BEFORE] = birth->before_ns, [CTP_BIRTH_PARENT] = birth->parent,
	             [CTP_BIRTH_SITE] = birth->site, [CTP_BIRTH_PID] = birth->pid, [CTP_BIRTH_HAND] = birth->by_hand);
	rows->stats.births++;
}

void ctp_rows_death(struct ctp_rows *rows, uint64_t probe_id, uint64_t coro, uint64_t after_ns, uint64_t before_ns)
{
	CTP_ROWS_PUT(rows, CTP_DEATH, before_ns, [CTP_DEATH_PROBE] = probe_id, [CTP_DEATH_CORO] = coro,
	             [CTP_DEATH_AFTER] = after_ns < before_ns ? after_ns : before_ns, [CTP_DEATH_BEFORE] = before_ns);
	rows->stats.deaths++;
}

void ctp_rows_function(struct ctp_rows *rows, const struct ctp_frame *frame, uint64_t code, uint64_t ts_ns)
{
	CTP_ROWS_PUT(rows, CTP_FUNCTION, ts_ns, [CTP_FUNCTION_PROBE] = frame->probe_id,
	             [CTP_FUNCTION_CORO] = frame->coro, [CTP_FUNCTION_ADDR] = frame->addr,
	             [CTP_FUNCTION_CODE] = code);
}

void ctp_rows_conflict(struct ctp_rows *rows, uint64_t probe_id, uint64_t coro, uint64_t ts_ns)
{
	CTP_ROWS_PUT(rows, CTP_CONFLICT, ts_ns, [CTP_CONFLICT_PROBE] = probe_id, [CTP_CONFLICT_CORO] = coro);
	rows->stats.conflicts++;
}
