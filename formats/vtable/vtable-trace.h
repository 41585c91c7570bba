/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * vtable-trace.h - an open trace and the argument that names it, for all tables of the SQLite extension.
 *
 * A function that fails frees *why and puts one line there: the zErrMsg of a table, or the error of xConnect.
 */
#ifndef CTP_VTABLE_TRACE_H
#define CTP_VTABLE_TRACE_H

#include <sqlite3ext.h>

#include "stream/reader.h"

struct ctp_vtable_trace {
	char *path;
	struct ctp_input in;
	struct ctp_reader *reader; /* null: the trace is not open */
	struct ctp_batch batch;    /* the records at hand that are left */
	struct ctp_notice notice;
	struct ctp_err said;       /* the first notice: the error, if no packet of the file could be read */
};

/* Puts the line into *why; returns SQLITE_ERROR. */
int ctp_vtable_fail(char **why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* An open trace must not be moved. A trace of all zeros may be closed. */
int ctp_vtable_trace_open(struct ctp_vtable_trace *t, const char *path, char **why);
void ctp_vtable_trace_close(struct ctp_vtable_trace *t);

/* SQLITE_ROW with an item, records one by one; SQLITE_DONE; or an error. */
int ctp_vtable_trace_next(struct ctp_vtable_trace *t, struct ctp_item *item, char **why);

/* SQLITE_OK, or an error if no packet of the file could be read. */
int ctp_vtable_trace_check(const struct ctp_vtable_trace *t, const struct ctp_reader_stats *stats, char **why);

/*
 * For xBestIndex: if this column, which names the file, has a value, that is the first argument of xFilter, idxNum is 1, and the
 * cost is that of a pass over a trace. SQLITE_CONSTRAINT if the value is not known yet. If the column has no value, idxNum is 0 and
 * the cost so high that SQLite takes any other plan.
 */
enum { CTP_SQLITE_PASS = 1000000 };
int ctp_vtable_trace_plan(sqlite3_index_info *info, int column);

#endif
