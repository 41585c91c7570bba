/*
 * order.h - between order.c and convert.c: what may go is delivered without a call for each.
 */
#ifndef CTP_ORDER_H
#define CTP_ORDER_H

#include "stream/reader.h"
#include "stream/runs.h"

struct ctp_order {
	struct ctp_reader *r;
	struct ctp_runs *held;
	uint64_t watermark;
	uint64_t last_ts; /* of the record that came before */
	bool after_due; /* `after` is to be delivered once nothing more may go */
	struct ctp_item after;
};

/* The next record, if nothing must be read for it: else it is for ctp_order_next. */
static inline bool ctp_order_ready(struct ctp_order *o, struct ctp_item *item)
{
	uint64_t ts;
	if (!ctp_runs_next(o->held, &item->rec, &ts))
		return false;
	item->kind = CTP_ITEM_RECORD;
	item->section = o->after.section;
	return true;
}

#endif
