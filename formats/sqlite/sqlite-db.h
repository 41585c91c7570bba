/* sqlite-db.h - between the files of sqlite.h's sinks: an open database, its tables, and batches of rows for them. */
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
 * Fails if the file at path is no database, or has a journal beside it, which a killed program left: SQLite would apply the
 * journal to any file of that name.
 */
enum ctp_status ctp_sqlite_check_place(const char *path, struct ctp_err *err);

enum ctp_status ctp_sqlite_open_new(struct ctp_sqlite *s, const struct ctp_output *out, struct ctp_err *err);
enum ctp_status ctp_sqlite_open_old(struct ctp_sqlite *s, const char *path, struct ctp_err *err);

/* err becomes SQLite's last message, with the name before it. Returns CTP_FAILED. */
enum ctp_status ctp_sqlite_error(const struct ctp_sqlite *s, struct ctp_err *err);

/* Runs statements without a result; fmt is sqlite3_mprintf's. */
enum ctp_status ctp_sqlite_exec(const struct ctp_sqlite *s, struct ctp_err *err, const char *fmt, ...);

/* Prepares one statement, for sqlite3_finalize(); fmt is the same. Null: err. */
sqlite3_stmt *ctp_sqlite_prepare(const struct ctp_sqlite *s, struct ctp_err *err, const char *fmt, ...);

/* Binds a text, which must stay, as sqlite-value.h has it: as a BLOB if it is no UTF-8, as NULL if it is null. stmt may be null. */
void ctp_sqlite_bind(sqlite3_stmt *stmt, int i, const char *text);

/* Runs a statement to its end and resets it. */
enum ctp_status ctp_sqlite_step(const struct ctp_sqlite *s, sqlite3_stmt *stmt, struct ctp_err *err);

/* The first column of the statement's first row, or 0; -1: err. The statement, which may be null, is finalized. */
int64_t ctp_sqlite_look_up(const struct ctp_sqlite *s, sqlite3_stmt *stmt, struct ctp_err *err);

/* 1 if a table, index or view has the name, or a virtual table of SQLite's that we use, else 0; -1: err. */
int64_t ctp_sqlite_is_taken(const struct ctp_sqlite *s, const char *name, struct ctp_err *err);

/* Makes the tables, and coroTracer's columns, that are missing; refuses a database that has other things of these names. */
enum ctp_status ctp_sqlite_schema(const struct ctp_sqlite *s, struct ctp_err *err);

enum { CTP_SQLITE_COLUMNS_MAX = 1000 }; /* of a table in a new database */

/* Whether the class's records go to coro_trace_events alone: they have coroTracer's columns, and numbers in all others. */
bool ctp_sqlite_is_event(const struct ctp_class *cls);

/* The class's id in the table classes, 1 or more; the class's table is made if there is none. -1: err. */
int64_t ctp_sqlite_class(const struct ctp_sqlite *s, const struct ctp_class *cls, struct ctp_err *err);

/* An INSERT into the class's table from c0, c1 ... of the batch; ?1 is the section. Null: err. */
sqlite3_stmt *ctp_sqlite_insert(const struct ctp_sqlite *s, const struct ctp_class *cls, struct ctp_err *err);

/* Makes the views of the tables that exist, so again at the end. Fails the first time if a view of such a name exists. */
enum ctp_status ctp_sqlite_views(const struct ctp_sqlite *s, bool again, struct ctp_err *err);

/*
 * Records of one class, held until there are enough for one INSERT ... SELECT from a virtual table, which spares SQLite binding and
 * stepping for each row.
 */
struct ctp_sqlite_batch;
struct ctp_sqlite_module {
	const struct ctp_sqlite_batch *at_hand; /* the rows of the virtual table ctp_batch */
};
enum ctp_status ctp_sqlite_module(const struct ctp_sqlite *s, struct ctp_sqlite_module *m, struct ctp_err *err);

/* Takes insert over; cls must outlive the batch. Null: out of memory. */
struct ctp_sqlite_batch *ctp_sqlite_batch_new(const struct ctp_class *cls, sqlite3_stmt *insert, int64_t section);
void ctp_sqlite_batch_free(struct ctp_sqlite_batch *b);
enum ctp_status ctp_sqlite_batch_add(struct ctp_sqlite_batch *b, const struct ctp_sqlite *s, struct ctp_sqlite_module *m,
                                     const uint64_t *val, struct ctp_err *err);
enum ctp_status ctp_sqlite_batch_flush(struct ctp_sqlite_batch *b, const struct ctp_sqlite *s, struct ctp_sqlite_module *m,
                                       struct ctp_err *err);

#endif
