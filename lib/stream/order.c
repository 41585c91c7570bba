/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * order.c - a stream in time order.
 *
 * A mark T promises that everything known to have happened before T has been written, so at a mark the records older than T go
 * out, sorted, and the rest is held back. T is then the watermark: a record older than it that comes later is late, and goes
 * out at once with its flag. The end of a section lets everything go. Where no marks come and the memory is full, the older
 * half goes out as if a mark had been there.
 */
#include "stream/order.h"

#include <assert.h>
#include <stdlib.h>

#include "stream/runs.h"

struct ctp_order {
	struct ctp_reader *r;
	struct ctp_runs *runs;
	uint64_t watermark;
	uint64_t last_ns; /* of the records that went; 0: none of the section */
	bool after_due; /* `after` is to be delivered once nothing more may go */
	bool gives_marks, mark_due; /* and so is the watermark, which was a mark */
	struct ctp_item after;
};

struct ctp_order *ctp_order_new(struct ctp_reader *r, size_t limit_bytes, struct ctp_err *err)
{
	struct ctp_order *o = ctp_err_calloc(err, sizeof *o);
	if (!o)
		return NULL;
	o->r = r;
	o->runs = ctp_runs_new(limit_bytes ? limit_bytes : CTP_ORDER_BYTES, err);
	if (o->runs)
		return o;
	free(o);
	return NULL;
}

void ctp_order_free(struct ctp_order *o)
{
	if (!o)
		return;
	ctp_runs_free(o->runs);
	free(o);
}

/* Else a batch has no records: the runs are full. */
static bool is_late(const struct ctp_item *item) { return item->kind == CTP_ITEM_RECORDS && item->batch.n; }

/* Output is monotonic. */
static void let_go(struct ctp_order *o, const struct ctp_record *rec, size_t n)
{
	assert(rec->ts_ns >= o->last_ns && rec[n - 1].ts_ns >= rec->ts_ns);
	o->last_ns = rec[n - 1].ts_ns;
}

/* The item that was read lets records go. */
static void release(struct ctp_order *o, const struct ctp_item *item)
{
	switch (item->kind) {
	case CTP_ITEM_RECORDS: { /* the runs are full */
		uint64_t newest = ctp_runs_release_half(o->runs);
		assert(newest >= o->watermark); /* ctp_reader_fill gives an older record out as late */
		o->watermark = newest;
		break;
	}
	case CTP_ITEM_MARK:
		if (item->mark_ns > o->watermark) {
			ctp_runs_release_before(o->runs, o->watermark = item->mark_ns);
			o->mark_due = o->gives_marks;
		}
		break;
	case CTP_ITEM_SECTION:
	case CTP_ITEM_END:
		assert(!o->after_due); /* the former one was delivered before more is read */
		ctp_runs_release_all(o->runs);
		o->watermark = 0;
		o->mark_due = false;
		o->after = *item;
		o->after_due = true;
		break;
	}
}

enum ctp_status ctp_order_next(struct ctp_order *o, struct ctp_item *item, struct ctp_err *err)
{
	while (!ctp_runs_next(o->runs, &item->batch)) {
		if (o->after_due) {
			o->after_due = false;
			o->last_ns = 0;
			*item = o->after;
			return CTP_OK;
		}
		if (o->mark_due) {
			o->mark_due = false;
			*item = (struct ctp_item){.kind = CTP_ITEM_MARK, .section = o->after.section, .mark_ns = o->watermark};
			return CTP_OK;
		}
		enum ctp_status status = ctp_reader_fill(o->r, o->runs, o->watermark, item, err);
		if (status || is_late(item))
			return status;
		release(o, item);
	}
	let_go(o, item->batch.rec, item->batch.n);
	item->kind = CTP_ITEM_RECORDS;
	item->section = o->after.section;
	return CTP_OK;
}

void ctp_order_give_marks(struct ctp_order *o) { o->gives_marks = true; }

uint64_t ctp_order_mark(const struct ctp_order *o) { return ctp_runs_released(o->runs) ? 0 : o->watermark; }

/* A batch, or all that there is room for: records that may go take their room with them only when they are parted from the others. */
static bool is_enough(const struct ctp_runs *runs)
{
	size_t n = ctp_runs_released(runs);
	return n >= CTP_BATCH_MAX || (n && ctp_runs_is_full(runs));
}

/* Reads until enough may go, or another item is due. */
static enum ctp_status gather(struct ctp_order *o, struct ctp_item *item, struct ctp_err *err)
{
	while (!is_enough(o->runs)) {
		enum ctp_status status = ctp_reader_fill(o->r, o->runs, o->watermark, item, err);
		if (status || is_late(item))
			return status;
		release(o, item);
		if (o->after_due) {
			o->after_due = false;
			return CTP_OK;
		}
	}
	*item = (struct ctp_item){.kind = CTP_ITEM_RECORDS};
	return CTP_OK;
}

enum ctp_status ctp_order_gather(struct ctp_order *o, struct ctp_runs **runs, struct ctp_item *item, struct ctp_err *err)
{
	enum ctp_status status = gather(o, item, err);
	size_t n = ctp_runs_released(o->runs);
	if (n)
		let_go(o, o->runs->rec + o->runs->out, n);
	if (!status && item->kind != CTP_ITEM_RECORDS)
		o->last_ns = 0; /* a section begins or ends */
	assert(!o->after_due);
	if (!ctp_runs_part(&o->runs, runs))
		status = ctp_err_memory(err);
	if (status)
		*item = (struct ctp_item){.kind = CTP_ITEM_RECORDS};
	return status;
}
