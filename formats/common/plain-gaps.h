/*
 * plain-gaps.h - coroTracer's own rows (plain.h) say nothing of events that were lost, but their numbers do (sequence.h): between a
 * window and a writer, what is missing before a row is written as a record in front of it, so that all who read the stream count
 * the same.
 *
 * Where a station's slots count rounds, a round with fewer rows than slots does not tell between which of its rows the others are
 * missing. So each of these rows, and the first of the next round, has such a record, and the last one has the count. The engine
 * reads a slot before it has come round twice; therefore what is missing shows soon, and rows that left before that are sound.
 */
#ifndef CTP_PLAIN_GAPS_H
#define CTP_PLAIN_GAPS_H

#include "stream/sink.h"
#include "stream/sorter.h"

enum {
	CTP_PLAIN_GAPS_HELD = 1 << 16,   /* rows and marks that wait for what their round will show */
	CTP_PLAIN_GAPS_PROBES = 1 << 20, /* that are followed, in some 70 MiB; what is missing of others is not found */
};

struct ctp_plain_gaps;
struct ctp_plain_gaps *ctp_plain_gaps_new(struct ctp_err *err);
void ctp_plain_gaps_free(struct ctp_plain_gaps *g);

/* Everything from here to the end goes through it; the rows of other classes, and all behind the first of them, untouched. */
void ctp_plain_gaps_begin(struct ctp_plain_gaps *g, struct ctp_sorter *sorter);

/* The window is empty: what is held goes out. Adds to stats what is missing, and says where that could not be found. */
void ctp_plain_gaps_end(struct ctp_plain_gaps *g, struct ctp_sorter *sorter, struct ctp_writer *w, struct ctp_source_stats *stats,
                        const struct ctp_notice *notice);

#endif
