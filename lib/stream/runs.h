/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * runs.h - records that are held back until they may go, and then go in time order: bounded memory, one pass.
 *
 * A stream that is read in order and rows that are sorted before they are written both put records in as they come, and release the
 * oldest of them, by a time or by half when the memory is full. Equal times keep the order in which they came.
 */
#ifndef CTP_RUNS_H
#define CTP_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stream/record.h"

/* runs.c's own, but for the reader, which decodes into it. */
struct ctp_runs {
	size_t limit, arena_bytes;
	uint8_t *arena, *spare; /* values and texts are in the first */
	size_t used;            /* bytes of the arena */
	struct ctp_record *rec, *scratch;
	size_t room, scratch_room; /* the scratch has at least as much */
	size_t out, ready, count; /* records [out, ready) may go, [ready, count) are held back */
	uint64_t last_ts;         /* of the last record; 0: all have gone */
	bool sorted;
};

/* The runs are full when they hold limit_bytes; a record that is put all the same has room. Pages are taken as they are used. */
struct ctp_runs *ctp_runs_new(size_t limit_bytes, struct ctp_err *err);
void ctp_runs_free(struct ctp_runs *r);

/*
 * Copies the record, its strings included, which have at most CTP_PAYLOAD_MAX bytes. CTP_EOF: the record is in, and the runs
 * are full: release half, and take the released records, before the next put. CTP_FAILED: out of memory.
 */
enum ctp_status ctp_runs_put(struct ctp_runs *r, uint64_t ts_ns, const struct ctp_class *cls, const uint64_t *val);

/* Lets records go: those older than ts_ns; all; the older half of the bytes. The last returns the time of the newest that goes. */
void ctp_runs_release_before(struct ctp_runs *r, uint64_t ts_ns);
void ctp_runs_release_all(struct ctp_runs *r);
uint64_t ctp_runs_release_half(struct ctp_runs *r);

static inline size_t ctp_runs_released(const struct ctp_runs *r) { return r->ready - r->out; }

/*
 * Parts the records that may go from those that are held back: *r is held back afterwards, and *other may go. Of the two, the fewer
 * are copied. Before, *other is used up. False: out of memory.
 */
bool ctp_runs_part(struct ctp_runs **r, struct ctp_runs **other);

/* The next of those that may go, good until the next call of any of these; false if there are none. */
static inline bool ctp_runs_next(struct ctp_runs *r, struct ctp_batch *batch)
{
	size_t n = r->ready - r->out;
	if (!n)
		return false;
	batch->rec = r->rec + r->out;
	batch->n = n < CTP_BATCH_MAX ? (uint32_t)n : CTP_BATCH_MAX;
	batch->late = false;
	r->out += batch->n;
	return true;
}

/* --- for the reader: a put in steps, without the copy of the values --- */

/* How many records fill the runs, more or less. */
static inline size_t ctp_runs_records(const struct ctp_runs *r)
{
	enum { USUAL_BYTES = sizeof *r->rec + 9 * sizeof(uint64_t) };
	size_t held = r->used + (r->count - r->out) * sizeof *r->rec;
	size_t more = held < r->limit ? (r->limit - held) / USUAL_BYTES + 1 : 1;
	return more < CTP_BATCH_MAX ? more : CTP_BATCH_MAX;
}

/* Room for CTP_BATCH_MAX more records without texts, or for one of any class, at the top. False: out of memory. */
bool ctp_runs_room(struct ctp_runs *r);

static inline uint64_t *ctp_runs_top(const struct ctp_runs *r) { return (uint64_t *)(void *)(r->arena + r->used); }

/* The values at the top become a record: its texts are copied after them. */
void ctp_runs_add(struct ctp_runs *r, uint64_t ts_ns, const struct ctp_class *cls);

static inline bool ctp_runs_is_full(const struct ctp_runs *r)
{
	return r->used + (r->count - r->out) * sizeof *r->rec > r->limit;
}

/* --- by the reader, for order.c --- */

struct ctp_reader;
struct ctp_item;

/*
 * Reads on into runs. The item is a mark, the begin or end of a section, one record that is late because it is older than from_ns,
 * or a batch of none: the runs are full.
 */
enum ctp_status ctp_reader_fill(struct ctp_reader *r, struct ctp_runs *runs, uint64_t from_ns, struct ctp_item *item,
                                struct ctp_err *err);

/* --- by the reader, for a merge --- */

/* Where the packet of the last item begins, in the decompressed input. */
uint64_t ctp_reader_offset(const struct ctp_reader *r);

/* --- by order.c, for a merge --- */

struct ctp_order;

/* From now on ctp_order_next also delivers marks, each after the records that it lets go. For an order that nobody gathers from. */
void ctp_order_give_marks(struct ctp_order *o);

/* --- by order.c, for ahead.c --- */

/*
 * Reads until a batch of records may go, or an item is due that is none. The records are in *runs afterwards, all released, and the
 * order goes on with the runs that were there. After the records come the item, which is a batch of none where there is no item,
 * and the status.
 */
enum ctp_status ctp_order_gather(struct ctp_order *o, struct ctp_runs **runs, struct ctp_item *item, struct ctp_err *err);

#endif
