/*
 * order.c - a stream in time order.
 *
 * A mark T promises that everything known to have happened before T has been written, so at a mark what is older than T goes
 * out, sorted, and the rest is held back. T is then the watermark: a record older than it that comes later is late, and goes
 * out at once with its flag. The end of a section lets everything go. Where no marks come and the memory is full, the older
 * half goes out as if a mark had been there.
 */
#include "stream/order.h"

#include <stdlib.h>

struct ctp_order *ctp_order_new(struct ctp_reader *r, size_t limit_bytes, struct ctp_err *err)
{
	struct ctp_order *o = calloc(1, sizeof *o);
	if (!o) {
		ctp_err_set(err, "out of memory");
		return 0;
	}
	o->r = r;
	o->held = ctp_runs_new(limit_bytes ? limit_bytes : 64 << 20, err);
	if (!o->held) {
		free(o);
		return 0;
	}
	return o;
}

void ctp_order_free(struct ctp_order *o)
{
	if (!o)
		return;
	ctp_runs_free(o->held);
	free(o);
}

/* Holds a record back whose values are in the room for it, or marks it as late. */
static inline enum ctp_status take(struct ctp_order *o, struct ctp_record *rec, struct ctp_err *err)
{
	uint64_t ts = o->last_ts > o->watermark ? o->last_ts : o->watermark; /* without a time it stays where it stands */
	if (rec->cls->time_field >= 0)
		ts = rec->val[rec->cls->time_field];
	o->last_ts = ts;
	if (ts < o->watermark) {
		rec->late = true;
		ctp_reader_count_late(o->r);
		return CTP_OK;
	}
	enum ctp_status status = ctp_runs_keep(o->held, ts, rec->cls);
	if (status == CTP_EOF)
		o->watermark = ctp_runs_release_half(o->held);
	return status == CTP_FAILED ? ctp_err_set(err, "out of memory") : CTP_OK;
}

/* Reads on until something may go. */
static __attribute__((noinline)) enum ctp_status read_on(struct ctp_order *o, struct ctp_item *item, struct ctp_err *err)
{
	while (!ctp_order_ready(o, item)) {
		if (o->after_due) {
			o->after_due = false;
			*item = o->after;
			return CTP_OK;
		}
		ctp_runs_room(o->held);
		size_t count = o->held->count;
		enum ctp_status status = ctp_reader_hold(o->r, o->held, o->watermark, item, err);
		if (o->held->count > count)
			o->last_ts = o->held->last_ts;
		if (status)
			return status;
		switch (item->kind) {
		case CTP_ITEM_RECORD:
			status = take(o, &item->rec, err);
			if (status || item->rec.late)
				return status;
			break;
		case CTP_ITEM_MARK:
			if (item->mark_ns > o->watermark)
				ctp_runs_release_before(o->held, o->watermark = item->mark_ns);
			break;
		case CTP_ITEM_SECTION:
		case CTP_ITEM_END:
			ctp_runs_release_all(o->held);
			o->watermark = o->last_ts = 0;
			o->after = *item;
			o->after_due = true;
			break;
		}
	}
	return CTP_OK;
}

enum ctp_status ctp_order_next(struct ctp_order *o, struct ctp_item *item, struct ctp_err *err)
{
	return ctp_order_ready(o, item) ? CTP_OK : read_on(o, item, err);
}
