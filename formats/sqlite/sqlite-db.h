/*
 * sqlite-db.h - what the parts of sqlite.h's sinks share: a database that is open, its tables, and batches of rows for them.
 */
#ifndef CTP_SQLITE_DB_H
#define CTP_SQLITE_DB_H

#include "io/output.h"
#include "sqlite/sqlite-value.h"
#include "stream/sink.h"

struct ctp_sqlite {
	sqlite3 *db;
	const char *name; /* for messages */
};

/*
 * Fails if at path there is a file that is no database, or if beside it there is what somebody else wants to change in it, left
 * by a program that was killed: SQLite would put that into whatever file has the name.
 */
enum ctp_status ctp_sqlite_check_place(const char *path, struct ctp_err *err);

enum ctp_status ctp_sqlite_open_new(struct ctp_sqlite *s, const struct ctp_output *out, struct ctp_err *err);
enum ctp_status ctp_sqlite_open_old(struct ctp_sqlite *s, const char *path, struct ctp_err *err);

/* What SQLite said last, with the name before it. Returns CTP_FAILED. */
enum ctp_status ctp_sqlite_error(const struct ctp_sqlite *s, struct ctp_err *err);

/* Statements without a result, in sqlite3_mprintf's format. */
enum ctp_status ctp_sqlite_exec(const struct ctp_sqlite *s, struct ctp_err *err, const char *fmt, ...);

/* One statement, for sqlite3_finalize(), in the same format. Null: err. */
sqlite3_stmt *ctp_sqlite_prepare(const struct ctp_sqlite *s, struct ctp_err *err, const char *fmt, ...);

/* A text as sqlite-value.h has it: a BLOB where it is no UTF-8; NULL where there is none. It must stay. stmt may be null. */
void ctp_sqlite_bind(sqlite3_stmt *stmt, int i, const char *text);

/* Runs a statement to its end and makes it ready for the next time. */
enum ctp_status ctp_sqlite_step(const struct ctp_sqlite *s, sqlite3_stmt *stmt, struct ctp_err *err);

/* The first column of the statement's first row, or 0; -1: err. The statement, which may be null, is finalized. */
int64_t ctp_sqlite_look_up(const struct ctp_sqlite *s, sqlite3_stmt *stmt, struct ctp_err *err);

/* 1 if a table, index or view has the name, or a virtual table of SQLite's that we use, else 0; -1: err. */
int64_t ctp_sqlite_is_taken(const struct ctp_sqlite *s, const char *name, struct ctp_err *err);

/* Tables and the columns of coroTracer's that are missing; a database that has something else in their place is refused. */
enum ctp_status ctp_sqlite_schema(const struct ctp_sqlite *s, struct ctp_err *err);

enum { CTP_SQLITE_COLUMNS_MAX = 1000 }; /* of a table in a new database */

/* Whether its records go to coro_trace_events: it has coroTracer's columns, and numbers besides. */
bool ctp_sqlite_is_event(const struct ctp_class *cls);

/* What the class is in the table classes, which is 1 or more; its table is made if there is none. -1: err. */
int64_t ctp_sqlite_class(const struct ctp_sqlite *s, const struct ctp_class *cls, struct ctp_err *err);

/* An INSERT into its table from c0, c1 ... of the batch, with the section as ?1. Null: err. */
sqlite3_stmt *ctp_sqlite_insert(const struct ctp_sqlite *s, const struct ctp_class *cls, struct ctp_err *err);

/* The views, which go by the tables that are there, so again at the end. The first time, a view of that name is not ours: fails. */
enum ctp_status ctp_sqlite_views(const struct ctp_sqlite *s, bool again, struct ctp_err *err);

/*
 * Records of one class, held until there are enough for one INSERT ... SELECT: a virtual table hands them over, which spares
 * binding and stepping for each row.
 */
struct ctp_sqlite_batch;
struct ctp_sqlite_module {
	const struct ctp_sqlite_batch *at_hand; /* what the virtual table ctp_batch shows */
};
enum ctp_status ctp_sqlite_module(const struct ctp_sqlite *s, struct ctp_sqlite_module *m, struct ctp_err *err);

/* Takes over insert. Null: out of memory. cls must outlive it. */
struct ctp_sqlite_batch *ctp_sqlite_batch_new(const struct ctp_class *cls, sqlite3_stmt *insert, int64_t section);
void ctp_sqlite_batch_free(struct ctp_sqlite_batch *b);
enum ctp_status ctp_sqlite_batch_add(struct ctp_sqlite_batch *b, const struct ctp_sqlite *s, struct ctp_sqlite_module *m,
                                     const uint64_t *val, struct ctp_err *err);
enum ctp_status ctp_sqlite_batch_flush(struct ctp_sqlite_batch *b, const struct ctp_sqlite *s, struct ctp_sqlite_module *m,
                                       struct ctp_err *err);

#endif
