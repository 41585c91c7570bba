/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rows.h - what has been harvested and not yet been written: rows that wait to be put in order, and what can be promised
 * about those still to come.
 */
#ifndef CTP_ROWS_H
#define CTP_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tids.h"
#include "collect/frame-queue.h"
#include "collect/harvest-stats.h"
#include "collect/look-limit.h"
#include "collect/row-sort.h"
#include "stream/writer.h"

enum {
	CTP_ROWS_SPARE = 16,        /* rows that are free after ctp_rows_put or ctp_rows_reserve */
	CTP_ROWS_TEXT = 64 << 10,   /* bytes of all strings in it */
	CTP_ROWS_SPOILT = CTP_EVENT_COUNT, /* in place of a row's event: nothing */
};

struct ctp_rows {
	struct ctp_writer *writer;
	struct ctp_harvest_stats stats;
	struct ctp_look_limit limit; /* of the look that is under way */
	uint64_t event_ns;    /* time of the newest transition that was written */
	uint64_t coros;       /* coroutine numbers given */
	uint64_t begin_ns;    /* when the harvest began */
	uint64_t now_ns;      /* when the current look began */
	uint64_t promise_ns;  /* of all that happened before, nothing is still to come */
	uint32_t written;     /* records that were written without a row, since the last settle */
	struct ctp_row_sort sort;
	struct ctp_frame_queue frames; /* to be asked about */
	void (*prove)(void *arg); /* called before rows are written: the last moment to spoil one that is in doubt */
	void (*new_thread)(void *arg, uint64_t tid);
	void *prove_arg, *new_thread_arg;

	/* rows.c's own */
	struct ctp_class *cls[CTP_EVENT_COUNT];
	uint64_t oldest_look_ns, newest_ns, marked_ns;
	struct ctp_tids tids;
	char *text;
	uint32_t text_bytes;
};

enum ctp_status ctp_rows_init(struct ctp_rows *rows, struct ctp_err *err);
void ctp_rows_fini(struct ctp_rows *rows);

/* A look begins. */
void ctp_rows_look(struct ctp_rows *rows, uint64_t now_ns);

/* Writes it all in the order of time, and a mark if there is a later promise. */
void ctp_rows_settle(struct ctp_rows *rows);

/* After a settle: a mark if there is a later promise, although nothing was written since the last one. */
void ctp_rows_mark(struct ctp_rows *rows);

static inline uint32_t ctp_rows_unsettled(const struct ctp_rows *rows) { return rows->sort.count + rows->written; }

/* Settles what has waited for long enough. */
void ctp_rows_settle_due(struct ctp_rows *rows);

/* Room for a record whose strings have text_bytes. Call it before its strings and the record itself are put. */
void ctp_rows_reserve(struct ctp_rows *rows, uint32_t text_bytes);

/* A copy that is good until the next settle, as a value. */
uint64_t ctp_rows_string(struct ctp_rows *rows, const char *text, uint32_t len);

/* A new row, to be filled; its time is ts_ns. */
static inline uint64_t *ctp_rows_put(struct ctp_rows *rows, enum ctp_event event, uint64_t ts_ns)
{
	struct ctp_row_sort *sort = &rows->sort;
	if (__builtin_expect(sort->count > CTP_ROW_SORT_ROWS - CTP_ROWS_SPARE, 0))
		ctp_rows_settle(rows);
	sort->event[sort->count] = (uint8_t)event;
	sort->ts_ns[sort->count] = ts_ns;
	return sort->rows[sort->count++].val;
}

/*
 * A new row with these values, by field: CTP_ROWS_PUT(rows, CTP_CONFLICT, ts_ns, [CTP_CONFLICT_PROBE] = id, ...). Its time is ts_ns,
 * its first field. The last field is among the values, so that none is forgotten.
 */
#define CTP_ROWS_PUT(rows, event, ts_ns, ...) \
	ctp_rows_put_values(rows, event, ts_ns, (const uint64_t[]){__VA_ARGS__}, \
	                    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void ctp_rows_put_values(struct ctp_rows *rows, enum ctp_event event, uint64_t ts_ns, const uint64_t *values, size_t n);

/* Before a transition of this thread is written. */
static inline void ctp_rows_thread(struct ctp_rows *rows, uint64_t tid)
{
	if (__builtin_expect(ctp_tids_add(&rows->tids, tid), 0) && rows->new_thread)
		rows->new_thread(rows->new_thread_arg, tid);
}

/*
 * Writes records that need not wait, for no row does and nothing that is known is earlier. They count like rows until the next
 * settle. event_ns: time of the last transition among them; 0: there is none.
 */
void ctp_rows_write(struct ctp_rows *rows, const struct ctp_record *rec, uint32_t n, uint64_t event_ns);

/* --- records of which there is more than one sort of origin --------------------------------------------------------------- */

struct ctp_loss {
	uint64_t probe_id, coro; /* 0: not known */
	uint64_t index, count, unverified;
	uint64_t after_ns, ts_ns; /* the last before it; the next, or when it was noticed */
};
void ctp_loss_fill(uint64_t *val, const struct ctp_loss *loss);
void ctp_rows_lost(struct ctp_rows *rows, const struct ctp_loss *loss);

struct ctp_birth {
	uint64_t probe_id, coro, station;
	uint64_t after_ns, before_ns; /* equal where it is known exactly */
	uint64_t parent, site, pid;
	bool by_hand;
};
void ctp_rows_birth(struct ctp_rows *rows, const struct ctp_birth *birth);

void ctp_rows_death(struct ctp_rows *rows, uint64_t probe_id, uint64_t coro, uint64_t after_ns, uint64_t before_ns);

void ctp_rows_function(struct ctp_rows *rows, const struct ctp_frame *frame, uint64_t code, uint64_t ts_ns);

/* What is known of this coroutine's station can no longer be exact. */
void ctp_rows_conflict(struct ctp_rows *rows, uint64_t probe_id, uint64_t coro, uint64_t ts_ns);

#endif
