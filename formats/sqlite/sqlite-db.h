/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sqlite-db.h - between the files of sqlite.h's sinks: an open database, its tables, and batches of rows for them. */
#ifndef CTP_SQLITE_DB_H
#define CTP_SQLITE_DB_H

#include "io/output.h"
#include "sql/sql.h"
#include "sqlite/sqlite-value.h"
#include "stream/sink.h"

struct ctp_sqlite_batch;
struct ctp_sqlite_events;

struct ctp_sqlite {
	struct ctp_sql sql;
	sqlite3 *db;
	const struct ctp_sqlite_batch *at_hand; /* the rows of the virtual table ctp_batch */
	struct ctp_output *out;                 /* null: the database was there before */
	struct ctp_sqlite_events *events;       /* null: the same */
};

/*
 * Fails if the file at path is no database, or has a journal beside it, which a killed program left: SQLite would apply the
 * journal to any file of that name.
 */
enum ctp_status ctp_sqlite_check_place(const char *path, struct ctp_err *err);

enum ctp_status ctp_sqlite_open_new(struct ctp_sqlite *s, const struct ctp_output *out, struct ctp_err *err);
enum ctp_status ctp_sqlite_open_old(struct ctp_sqlite *s, const char *path, struct ctp_err *err);

/* err becomes SQLite's last message, with the name before it. Returns CTP_FAILED. */
enum ctp_status ctp_sqlite_error(const struct ctp_sqlite *s, struct ctp_err *err);

/* Prepares one statement, for sqlite3_finalize(); fmt is ctp_sql_text's. Null: err. */
sqlite3_stmt *ctp_sqlite_prepare(const struct ctp_sqlite *s, struct ctp_err *err, const char *fmt, ...);

/* Runs a statement to its end and resets it. */
enum ctp_status ctp_sqlite_step(const struct ctp_sqlite *s, sqlite3_stmt *stmt, struct ctp_err *err);

/* For struct ctp_sql_ops. */
enum ctp_status ctp_sqlite_exec(struct ctp_sql *db, const char *sql, struct ctp_err *err);
enum ctp_status ctp_sqlite_query(struct ctp_sql *db, const char *sql, const char *asked, ctp_sql_row *row, void *arg,
                                 struct ctp_err *err);

extern const struct ctp_sql_words ctp_sqlite_words;

enum { CTP_SQLITE_COLUMNS_MAX = 1000 }; /* of a table in a new database */

/*
 * Records of one class, held until there are enough for one INSERT ... SELECT from a virtual table, which spares SQLite binding and
 * stepping for each row.
 */
enum ctp_status ctp_sqlite_module(struct ctp_sqlite *s, struct ctp_err *err);

/* For the class, which must outlive the batch, and whose id this is. Null: err. */
struct ctp_sqlite_batch *ctp_sqlite_batch_new(struct ctp_sqlite *s, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err);
void ctp_sqlite_batch_free(struct ctp_sqlite_batch *b);
enum ctp_status ctp_sqlite_batch_add(struct ctp_sqlite_batch *b, struct ctp_sqlite *s, int64_t section, const uint64_t *val,
                                     struct ctp_err *err);
enum ctp_status ctp_sqlite_batch_flush(struct ctp_sqlite_batch *b, struct ctp_sqlite *s, struct ctp_err *err);

#endif
