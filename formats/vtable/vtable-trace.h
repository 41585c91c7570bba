/*
 * vtable-trace.h - what the tables of the SQLite extension share: a trace that is being read, and the argument that names it.
 *
 * Whatever fails puts one line into *why, which is freed first: the zErrMsg of a table, or what xConnect has for it.
 */
#ifndef CTP_VTABLE_TRACE_H
#define CTP_VTABLE_TRACE_H

#include <sqlite3ext.h>

#include "stream/reader.h"

struct ctp_vtable_trace {
	char *path;
	struct ctp_input in;
	struct ctp_reader *reader; /* null: the trace is not open */
	struct ctp_batch batch;    /* what is left of it */
	struct ctp_notice notice;
	struct ctp_err said;       /* the first notice; why a file of which nothing could be used is none of ours */
};

/* SQLITE_ERROR, and the line. */
int ctp_vtable_fail(char **why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* In place; it must not be moved while it is open. A trace of all zeros may be closed. */
int ctp_vtable_trace_open(struct ctp_vtable_trace *t, const char *path, char **why);
void ctp_vtable_trace_close(struct ctp_vtable_trace *t);

/* SQLITE_ROW with an item, records one by one; SQLITE_DONE; or an error. */
int ctp_vtable_trace_next(struct ctp_vtable_trace *t, struct ctp_item *item, char **why);

/* SQLITE_OK, or an error where not one packet of the file could be read. */
int ctp_vtable_trace_check(const struct ctp_vtable_trace *t, const struct ctp_reader_stats *stats, char **why);

/*
 * For xBestIndex: the value of this column, which names the file, is the first argument of xFilter, idxNum is 1 and the cost
 * that of a pass over a trace. SQLITE_CONSTRAINT where the value is not known yet. Where there is none, idxNum is 0 and the
 * cost such that this plan is not taken while there is another.
 */
enum { CTP_SQLITE_PASS = 1000000 };
int ctp_vtable_trace_plan(sqlite3_index_info *info, int column);

#endif
