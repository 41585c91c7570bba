/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite-value.h - the columns and values of a class in SQLite, for both the converter and the extension.
 *
 *	bool                         INTEGER 0 or 1
 *	whole numbers                INTEGER: the signed number with the same 64 bits, so 2^63 and more are negative;
 *	                             printf('%u', x) shows them as they were
 *	role probe                   TEXT, decimal
 *	role address, flag HEX       TEXT, "0x" and 16 digits; not where the role is time
 *	enum                         TEXT, its label as any string, where that label is of this value alone; else INTEGER
 *	f32, f64                     REAL; 'NaN' as TEXT, for SQLite would make it NULL
 *	string                       TEXT; a BLOB of the same bytes where they are no valid UTF-8 or hold a NUL
 *	bytes                        BLOB
 *
 * The file calls SQLite through sqlite3ext.h, so that it can be a part of a program (with -DSQLITE_CORE) and of an extension.
 */
#ifndef CTP_SQLITE_VALUE_H
#define CTP_SQLITE_VALUE_H

#include <sqlite3ext.h>

#include "sql/sql-form.h"

/* For ctp_sql_type. An enum has none, because a TEXT column would turn numbers into texts. */
#define CTP_SQLITE_TYPES \
	[CTP_SQL_INTEGER] = "INTEGER", [CTP_SQL_DECIMAL] = "TEXT", [CTP_SQL_HEX] = "TEXT", [CTP_SQL_ENUM] = "", [CTP_SQL_REAL] = "REAL", \
	[CTP_SQL_STRING] = "TEXT", [CTP_SQL_BYTES] = "BLOB"
extern const char *const ctp_sqlite_types[CTP_SQL_TYPES];

extern const struct ctp_sql_naming ctp_sqlite_naming;

/* Makes the value the result of a virtual table's column. Texts are copied. */
void ctp_sqlite_result(sqlite3_context *to, const struct ctp_field *f, enum ctp_sql_form form, uint64_t v);

/* The same for the bytes of a string: TEXT if they are valid, else a BLOB. */
void ctp_sqlite_result_text(sqlite3_context *to, const char *data, size_t len);

#endif
