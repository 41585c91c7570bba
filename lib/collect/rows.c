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

enum ctp_status ctp_rows_init(struct ctp_rows *b, struct ctp_err *err)
{
	static const enum ctp_event events[] = {CTP_TRANSITION, CTP_BIRTH, CTP_DEATH, CTP_LOST,   CTP_UNTRACED, CTP_CONFLICT,
	                                        CTP_WAKE,       CTP_NAME,  CTP_PLACE, CTP_MISSED, CTP_AWAIT,    CTP_FUNCTION,
	                                        CTP_PROCESS,    CTP_SAMPLE, CTP_SIGNAL, CTP_REASON_TOLD, CTP_OBJECT,
	                                        CTP_OBJECT_NAME, CTP_HOLD, CTP_WAKE_FOR, CTP_DESCRIPTOR};
	*b = (struct ctp_rows){.text = malloc(CTP_ROWS_TEXT)};
	enum ctp_status status = b->text ? ctp_row_sort_init(&b->batch, err) : ctp_err_set(err, "out of memory");
	for (unsigned e = 0; !status && e < sizeof events / sizeof *events; e++) {
		b->cls[events[e]] = ctp_event_class(events[e]);
		if (!b->cls[events[e]])
			status = ctp_err_set(err, "out of memory");
	}
	if (status)
		ctp_rows_fini(b);
	return status;
}

void ctp_rows_fini(struct ctp_rows *b)
{
	for (unsigned e = 0; e < CTP_EVENT_COUNT; e++)
		if (b->cls[e])
			ctp_class_free(b->cls[e]);
	ctp_row_sort_fini(&b->batch);
	ctp_frame_queue_fini(&b->frames);
	free(b->text);
	*b = (struct ctp_rows){.text = NULL};
}

void ctp_rows_look(struct ctp_rows *b, uint64_t now_ns)
{
	b->now_ns = now_ns;
	if (!ctp_rows_unsettled(b))
		b->oldest_look_ns = now_ns;
}

static void note_any(struct ctp_rows *b, uint64_t ts_ns)
{
	if (ts_ns > b->newest_ns && ts_ns <= b->now_ns + AHEAD_NS)
		b->newest_ns = ts_ns;
}

/* A look may take long, and sees what happens meanwhile. Nothing is of the future. */
static bool is_past(const struct ctp_rows *b, uint64_t ts_ns) { return ts_ns <= b->now_ns || ts_ns <= ctp_clock_ns(); }

static void note_transition(struct ctp_rows *b, uint64_t ts_ns)
{
	if (ts_ns > b->event_ns && is_past(b, ts_ns))
		b->event_ns = ts_ns;
}

void ctp_rows_write(struct ctp_rows *b, const struct ctp_record *rec, uint32_t n, uint64_t event_ns)
{
	assert(n && !b->batch.count);
	ctp_writer_records(b->writer, &(struct ctp_batch){.rec = rec, .n = n});
	b->written += n;
	note_any(b, rec[n - 1].ts_ns);
	note_transition(b, event_ns);
}

/* Rows on their way to the writer. */
struct out {
	uint32_t n, unmarked;
	struct ctp_record rec[BATCH];
};

/*
 * A mark is true behind any of the rows that is not newer than the promise, since they are sorted. Where marks are many, a
 * reader holds back little.
 */
static void write_out(struct ctp_rows *b, struct out *out)
{
	uint64_t last_ns = out->n ? out->rec[out->n - 1].ts_ns : 0;
	ctp_writer_records(b->writer, &(struct ctp_batch){.rec = out->rec, .n = out->n});
	out->unmarked += out->n;
	out->n = 0;
	if (out->unmarked < MARK_ROWS || last_ns <= b->marked_ns || last_ns > b->promise_ns)
		return;
	ctp_writer_mark(b->writer, b->marked_ns = last_ns);
	out->unmarked = 0;
}

static void write_rows(struct ctp_rows *b)
{
	const struct ctp_row_sort *rows = &b->batch;
	struct out out = {.n = 0};
	uint64_t tid = 0; /* of the transition before: most are on the same thread */
	for (uint32_t k = 0; k < rows->count; k++) {
		if (!rows->sorted && k + PREFETCH < rows->count)
			__builtin_prefetch(&rows->rows[ctp_row_sort_at(rows, k + PREFETCH)]);
		uint32_t r = ctp_row_sort_at(rows, k);
		const uint64_t *val = rows->rows[r].val;
		unsigned event = rows->event[r];
		if (event == CTP_ROWS_SPOILT)
			continue;
		if (event == CTP_TRANSITION && val[CTP_TRANSITION_TID] != tid)
			ctp_rows_thread(b, tid = val[CTP_TRANSITION_TID]);
		out.rec[out.n++] = (struct ctp_record){b->cls[event], val, rows->ts_ns[r]};
		if (out.n == BATCH)
			write_out(b, &out);
	}
	write_out(b, &out);
}

/* The newest of the rows, which are sorted, and of their transitions: found at the end but where times are wrong. */
static void note_newest(struct ctp_rows *b)
{
	const struct ctp_row_sort *rows = &b->batch;
	bool any = false, transition = false;
	for (uint32_t k = rows->count; k-- > 0 && !(any && transition);) {
		uint32_t r = ctp_row_sort_at(rows, k);
		uint64_t ts_ns = rows->ts_ns[r];
		if (rows->event[r] == CTP_ROWS_SPOILT)
			continue;
		note_any(b, ts_ns);
		any |= ts_ns <= b->now_ns + AHEAD_NS;
		if (rows->event[r] != CTP_TRANSITION)
			continue;
		note_transition(b, ts_ns);
		transition |= ts_ns <= b->event_ns;
	}
}

void ctp_rows_settle(struct ctp_rows *b)
{
	struct ctp_row_sort *rows = &b->batch;
	assert(rows->count <= CTP_ROW_SORT_ROWS);
	if (b->prove)
		b->prove(b->prove_arg);
	ctp_row_sort_sort(rows, b->now_ns);
	write_rows(b);
	note_newest(b);
	rows->count = b->written = 0;
	b->oldest_look_ns = b->now_ns;
	b->text_bytes = 0;
	/* Once a mark is beyond all that was written, no reader waits for another. */
	if (b->promise_ns > b->marked_ns && b->newest_ns >= b->marked_ns) {
		ctp_writer_mark(b->writer, b->promise_ns);
		b->marked_ns = b->promise_ns;
	}
}

void ctp_rows_settle_due(struct ctp_rows *b)
{
	if (ctp_rows_unsettled(b) && b->now_ns - b->oldest_look_ns >= SETTLE_NS)
		ctp_rows_settle(b);
}

/* --- strings -------------------------------------------------------------------------------------------------------------- */

static uint32_t string_bytes(uint32_t len)
{
	return ((uint32_t)sizeof(struct ctp_str) + len + 1 + 7) & ~7u;
}

void ctp_rows_reserve(struct ctp_rows *b, uint32_t text_bytes)
{
	uint32_t most = text_bytes + 4 * string_bytes(0); /* two strings, and what aligns them */
	if (b->batch.count > CTP_ROW_SORT_ROWS - CTP_ROWS_SPARE || b->text_bytes + most > CTP_ROWS_TEXT)
		ctp_rows_settle(b);
}

uint64_t ctp_rows_string(struct ctp_rows *b, const char *text, uint32_t len)
{
	struct ctp_str *s = (struct ctp_str *)(void *)(b->text + b->text_bytes);
	b->text_bytes += string_bytes(len);
	assert(b->text_bytes <= CTP_ROWS_TEXT); /* ctp_rows_reserve was asked for as much */
	s->len = len;
	memcpy(s->data, text, len);
	s->data[len] = 0;
	return ctp_val_str(s);
}

/* --- records -------------------------------------------------------------------------------------------------------------- */

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

void ctp_rows_lost(struct ctp_rows *b, const struct ctp_loss *loss)
{
	ctp_loss_fill(ctp_rows_put(b, CTP_LOST, loss->ts_ns), loss);
}

void ctp_rows_birth(struct ctp_rows *b, const struct ctp_birth *birth)
{
	uint64_t *val = ctp_rows_put(b, CTP_BIRTH, birth->before_ns);
	val[CTP_BIRTH_TS] = birth->before_ns;
	val[CTP_BIRTH_PROBE] = birth->probe_id;
	val[CTP_BIRTH_CORO] = birth->coro;
	val[CTP_BIRTH_STATION] = birth->station;
	val[CTP_BIRTH_AFTER] = birth->after_ns < birth->before_ns ? birth->after_ns : birth->before_ns;
	val[CTP_BIRTH_BEFORE] = birth->before_ns;
	val[CTP_BIRTH_PARENT] = birth->parent;
	val[CTP_BIRTH_SITE] = birth->site;
	val[CTP_BIRTH_PID] = birth->pid;
	val[CTP_BIRTH_HAND] = birth->by_hand;
	b->stats.births++;
}

void ctp_rows_death(struct ctp_rows *b, uint64_t probe_id, uint64_t coro, uint64_t after_ns, uint64_t before_ns)
{
	uint64_t *val = ctp_rows_put(b, CTP_DEATH, before_ns);
	val[CTP_DEATH_TS] = before_ns;
	val[CTP_DEATH_PROBE] = probe_id;
	val[CTP_DEATH_CORO] = coro;
	val[CTP_DEATH_AFTER] = after_ns < before_ns ? after_ns : before_ns;
	val[CTP_DEATH_BEFORE] = before_ns;
	b->stats.deaths++;
}

void ctp_rows_function(struct ctp_rows *b, const struct ctp_frame *frame, uint64_t code, uint64_t ts_ns)
{
	uint64_t *val = ctp_rows_put(b, CTP_FUNCTION, ts_ns);
	val[CTP_FUNCTION_TS] = ts_ns;
	val[CTP_FUNCTION_PROBE] = frame->probe_id;
	val[CTP_FUNCTION_CORO] = frame->coro;
	val[CTP_FUNCTION_ADDR] = frame->addr;
	val[CTP_FUNCTION_CODE] = code;
}

void ctp_rows_conflict(struct ctp_rows *b, uint64_t probe_id, uint64_t coro, uint64_t ts_ns)
{
	uint64_t *val = ctp_rows_put(b, CTP_CONFLICT, ts_ns);
	val[CTP_CONFLICT_TS] = ts_ns;
	val[CTP_CONFLICT_PROBE] = probe_id;
	val[CTP_CONFLICT_CORO] = coro;
	b->stats.conflicts++;
}
