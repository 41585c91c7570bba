/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * plain-gaps.h - loss records for coroTracer's own rows (plain.h), which have none: the numbers of the rows show gaps (sequence.h).
 * It stands between the sorter and the writer and puts a loss record before the row after a gap, so that all readers of the
 * stream count the same.
 *
 * Where a station's slots count rounds, a round with fewer rows than slots does not show between which of its rows the gap is. So
 * each of these rows and the first of the next round has a loss record before it, and the last of these records has the count. The
 * engine reads a slot before the slot has come round twice; so a gap shows soon, and rows that were written by then are sound.
 */
#ifndef CTP_PLAIN_GAPS_H
#define CTP_PLAIN_GAPS_H

#include "stream/sink.h"
#include "stream/sorter.h"

enum {
	CTP_PLAIN_GAPS_HELD = 1 << 16,   /* rows and marks that wait until their round is over */
	CTP_PLAIN_GAPS_PROBES = 1 << 20, /* probes that are followed, in some 70 MiB; gaps of others are not found */
};

struct ctp_plain_gaps;
struct ctp_plain_gaps *ctp_plain_gaps_new(struct ctp_err *err);
void ctp_plain_gaps_free(struct ctp_plain_gaps *g);

/* From here to the end all rows pass through it. It ignores rows from the first of another class on. */
void ctp_plain_gaps_begin(struct ctp_plain_gaps *g, struct ctp_sorter *sorter);

/* Writes all rows that are held; the sorter is empty by then. Adds the losses to stats, and says if there were too many probes. */
void ctp_plain_gaps_end(struct ctp_plain_gaps *g, struct ctp_sorter *sorter, struct ctp_writer *w, struct ctp_source_stats *stats,
                        const struct ctp_notice *notice);

#endif
