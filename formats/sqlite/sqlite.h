/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite.h - a database of SQLite, with the tables and views of sql.h.
 *
 * Values look as sqlite-value.h says.
 */
#ifndef CTP_SQLITE_H
#define CTP_SQLITE_H

#include "io/output.h"
#include "stream/sink.h"

struct ctp_symbols; /* symbols.h. Taken over; null: the table has no rows */

/* A sink for a new database. out, made by ctp_output_create, is taken over; SQLite writes to its file. */
struct ctp_sink *ctp_sqlite_sink(struct ctp_output *out, struct ctp_symbols *symbols, struct ctp_err *err);

/* A sink that adds to the database at path, in one transaction. path must outlive the sink. */
struct ctp_sink *ctp_sqlite_append(const char *path, bool replace, struct ctp_symbols *symbols, struct ctp_err *err);

#endif
