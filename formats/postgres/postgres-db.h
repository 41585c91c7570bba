/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* postgres-db.h - between the files of postgres.h's sink: a connection, and the rows that go over it. */
#ifndef CTP_POSTGRES_DB_H
#define CTP_POSTGRES_DB_H

#include <libpq-fe.h>

#include "postgres/postgres.h"
#include "sql/sql.h"

enum { CTP_POSTGRES_NAME_MAX = 63 };

#define CTP_POSTGRES_INSTEAD "--table SCHEMA.T puts all into a schema of its own"

struct ctp_postgres {
	struct ctp_sql sql;
	struct ctp_postgres_options options;
	PGconn *conn;
	char name[256];               /* for messages */
	char *schema;                 /* where all goes; null: the first in the search path */
	bool escapes;                 /* the database has another encoding: what is no ASCII is escaped */
	bool fresh;                   /* the tables were made in this transaction */
	struct ctp_sql_rows *copying; /* whose COPY is open, or null */
	struct ctp_sql_rows *rows;    /* all that there are */
	uint64_t delivered;           /* rows that the server has taken */

	struct ctp_sql_words words;
	struct ctp_sql_naming naming;

	/* Live. */
	struct ctp_postgres_now *now; /* null: not live */
	uint64_t committed;           /* rows */
	uint64_t noted;               /* rows, when note_times last ran */
	bool open, committing;        /* a transaction is; committing: also of one that is not live */
};

/* Connects, and makes the database where it is missing. */
enum ctp_status ctp_postgres_connect(struct ctp_postgres *p, struct ctp_err *err);

/* err becomes the server's message, or the connection's. Returns CTP_FAILED. */
enum ctp_status ctp_postgres_error(struct ctp_postgres *p, const PGresult *result, struct ctp_err *err);

extern const struct ctp_sql_words ctp_postgres_words, ctp_postgres_bigint_words;

/* Adds the keys that tables lack: those of tables that were made now. */
#define CTP_POSTGRES_MAKE_KEYS(db, err) ctp_sql_exec_list((db), "", "; ", "ALTER TABLE %I ADD PRIMARY KEY (%I)", \
	"SELECT DISTINCT table_name, attname FROM classes JOIN pg_attribute" \
	" ON attrelid = to_regclass(quote_ident(table_name)) AND attnum = 1 WHERE NOT EXISTS (SELECT 1 FROM pg_constraint" \
	" WHERE contype = 'p' AND conrelid = to_regclass(quote_ident(table_name)))", (err))

/* --- postgres-run.c ------------------------------------------------------------------------------------------------------ */

/* Runs statements on a connection that has no COPY open. */
enum ctp_status ctp_postgres_run(struct ctp_postgres *p, const char *sql, struct ctp_err *err);

/* Runs a statement that begins a COPY, gives it data, and ends the one that is open, if one is, so that statements can follow. */
enum ctp_status ctp_postgres_begin_copy(struct ctp_postgres *p, const char *sql, struct ctp_err *err);
enum ctp_status ctp_postgres_put_copy(struct ctp_postgres *p, const char *data, size_t len, struct ctp_err *err);
enum ctp_status ctp_postgres_end_copy(struct ctp_postgres *p, struct ctp_err *err);

/* A whole COPY, of a text in COPY's own form. */
enum ctp_status ctp_postgres_copy_text(struct ctp_postgres *p, const char *copy, const char *text, size_t len, struct ctp_err *err);

/* For struct ctp_sql_ops. */
enum ctp_status ctp_postgres_exec(struct ctp_sql *db, const char *sql, struct ctp_err *err);
enum ctp_status ctp_postgres_query(struct ctp_sql *db, const char *sql, const char *asked, ctp_sql_row *row, void *arg,
                                   struct ctp_err *err);

/* --- postgres-copy.c: for struct ctp_sql_ops ----------------------------------------------------------------------------- */

struct ctp_sql_rows *ctp_postgres_rows(struct ctp_sql *db, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err);
enum ctp_status ctp_postgres_add(struct ctp_sql *db, struct ctp_sql_rows *rows, int64_t section, const uint64_t *val,
                                 struct ctp_err *err);
enum ctp_status ctp_postgres_end(struct ctp_sql *db, struct ctp_sql_rows *rows, struct ctp_err *err);
void ctp_postgres_drop(struct ctp_sql_rows *rows);

/* --- postgres-live.c ----------------------------------------------------------------------------------------------------- */

/* Fails if another load that excludes this one writes to the table of events. */
enum ctp_status ctp_postgres_lock(struct ctp_postgres *p, struct ctp_err *err);

/* For struct ctp_sql_ops. */
enum ctp_status ctp_postgres_live_begin(struct ctp_sql *db, struct ctp_err *err);
enum ctp_status ctp_postgres_live_index(struct ctp_sql *db, const char *name, const char *table, const char *columns, struct ctp_err *err);
enum ctp_status ctp_postgres_live_show(struct ctp_sql *db, struct ctp_err *err);
enum ctp_status ctp_postgres_live_finish(struct ctp_sql *db, const struct ctp_tick *tick, struct ctp_err *err);

#endif
