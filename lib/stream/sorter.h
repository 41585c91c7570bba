/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sorter.h - a bounded sort in front of a writer, for sources whose rows are only nearly in time order.
 *
 * Rows go in as they come and out in time order, equal times as they came, rows without a time after the row they followed.
 * The sorter holds CTP_SORTER_BYTES, some 100,000 transitions; when it is full its older half goes out, with a mark after
 * it. A row that is older than the mark is written with the next half, and counted: a reader will find the row late.
 */
#ifndef CTP_SORTER_H
#define CTP_SORTER_H

#include "base/linkage.h"
#include "stream/writer.h"

CTP_C_BEGIN

enum { CTP_SORTER_BYTES = 8 << 20 };

/* Takes rows and marks instead of the writer, in the same order. */
struct ctp_sorter_ops {
	void (*records)(void *arg, struct ctp_writer *w, const struct ctp_batch *batch);
	void (*mark)(void *arg, struct ctp_writer *w, uint64_t ts_ns);
};

struct ctp_sorter;
struct ctp_sorter *ctp_sorter_new(struct ctp_err *err);
void ctp_sorter_free(struct ctp_sorter *sorter); /* what was not flushed is dropped */
void ctp_sorter_divert(struct ctp_sorter *sorter, const struct ctp_sorter_ops *ops, void *arg); /* null: to the writer again */

/*
 * Copies the row, its strings included; cls must outlive the section. All rows until the next flush are for the same section and
 * writer, which make no marks of their own. False: out of memory, and the row is not there.
 */
bool ctp_sorter_put(struct ctp_sorter *sorter, struct ctp_writer *w, const struct ctp_class *cls, const uint64_t *val);

/* Everything goes out: the section ends, or the input does. */
void ctp_sorter_flush(struct ctp_sorter *sorter, struct ctp_writer *w);

uint64_t ctp_sorter_late(const struct ctp_sorter *sorter); /* rows so far */

CTP_C_END

#endif
