/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * order.h - a stream in time order.
 */
#ifndef CTP_ORDER_H
#define CTP_ORDER_H

#include "base/linkage.h"
#include "stream/reader.h"

CTP_C_BEGIN

/*
 * The caller keeps r, but does not read from it while there is an order; free the order first. Null: err says why.
 *
 * The records of r in time order within each section, equal times in stream order, records of a class without a time where they
 * stand. Memory is bounded by limit_bytes (0: CTP_ORDER_BYTES): where a source makes no marks, order reaches as far as that holds.
 */
enum { CTP_ORDER_BYTES = 64 << 20 };

struct ctp_order;
struct ctp_order *ctp_order_new(struct ctp_reader *r, size_t limit_bytes, struct ctp_err *err);
void ctp_order_free(struct ctp_order *o);
enum ctp_status ctp_order_next(struct ctp_order *o, struct ctp_item *item, struct ctp_err *err);

/* Records with a time before this were all delivered, but for late ones; 0: not known. While ctp_order_next reads. */
uint64_t ctp_order_mark(const struct ctp_order *o);

CTP_C_END

#endif
