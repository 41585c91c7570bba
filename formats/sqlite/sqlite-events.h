/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite-events.h - the rows of coro_trace_events in a new database, and the entries of its indexes, written without SQLite.
 *
 * Most rows are of this table, and they come in the order of their ids. While SQLite has the database open, they are written as
 * leaves of the table to a file without a name. When the database is closed, leaves and indexes are put after SQLite's pages.
 */
#ifndef CTP_SQLITE_EVENTS_H
#define CTP_SQLITE_EVENTS_H

#include "sqlite/sqlite-db.h"
#include "stream/sink.h"

/* beside must outlive the events. Null: err. */
struct ctp_sqlite_events *ctp_sqlite_events_new(const char *beside, struct ctp_err *err);
void ctp_sqlite_events_free(struct ctp_sqlite_events *e);

/* The fields of the table's columns; missing columns are made. cls must outlive the result. For free(); null: err. */
struct ctp_sqlite_columns;
struct ctp_sqlite_columns *ctp_sqlite_columns(const struct ctp_sqlite *s, const struct ctp_class *cls, int64_t class_id,
                                              struct ctp_err *err);

enum ctp_status ctp_sqlite_events_add(struct ctp_sqlite_events *e, const struct ctp_sqlite_columns *columns, int64_t section,
                                      const uint64_t *val, struct ctp_err *err);

/* The first is called last before the database is closed, the second when it is closed. */
enum ctp_status ctp_sqlite_events_announce(struct ctp_sqlite_events *e, struct ctp_sqlite *s, struct ctp_err *err);
enum ctp_status ctp_sqlite_events_finish(struct ctp_sqlite_events *e, struct ctp_output *out, const struct ctp_tick *tick,
                                         struct ctp_err *err);

#endif
