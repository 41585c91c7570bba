/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ahead.h - a stream in time order, read ahead by a thread of its own where that pays: reading and working on the records then go
 * on at the same time.
 *
 * A thread pays for a file that is not short, on more than one processor. A pipe is read by the caller: its reads may wait, and
 * before they do the sink flushes.
 */
#ifndef CTP_AHEAD_H
#define CTP_AHEAD_H

#include "stream/reader.h"

enum { CTP_AHEAD_PAYS = 1 << 20 }; /* bytes of the shortest file that has a thread */

struct ctp_ahead;

/*
 * The input and the notice are the caller's, and must be there until the free. The caller uses neither of them before the stop, for
 * they may be the thread's: the notice speaks while the caller waits in a next. Null: err says why.
 */
struct ctp_ahead *ctp_ahead_new(struct ctp_input *in, const struct ctp_notice *notice, struct ctp_err *err);
void ctp_ahead_free(struct ctp_ahead *a);

/* The items of ctp_order_next, good for as long as those. */
enum ctp_status ctp_ahead_next(struct ctp_ahead *a, struct ctp_item *item, struct ctp_err *err);

/* ctp_order_mark, where the caller reads; 0: a thread does. */
uint64_t ctp_ahead_mark(const struct ctp_ahead *a);

/* An input that shows to ctp_input_progress how far the last item is; good until the next call. */
const struct ctp_input *ctp_ahead_shown(const struct ctp_ahead *a);

/* Ends the reading, wherever it is. The reader, with what it has counted, is good until the free. */
const struct ctp_reader *ctp_ahead_stop(struct ctp_ahead *a);

#endif
