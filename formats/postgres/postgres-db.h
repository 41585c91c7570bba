/* postgres-db.h - between the files of postgres.h's sink: a connection, and the rows that go over it. */
#ifndef CTP_POSTGRES_DB_H
#define CTP_POSTGRES_DB_H

#include <libpq-fe.h>

#include "postgres/postgres.h"
#include "sql/sql.h"

struct ctp_postgres {
	struct ctp_sql sql;
	struct ctp_postgres_options options;
	PGconn *conn;
	char name[256];               /* for messages */
	char *schema;                 /* where all goes; null: the first in the search path */
	bool escapes;                 /* the database has another encoding: what is no ASCII is escaped */
	bool fresh;                   /* the tables were made in this transaction */
	struct ctp_sql_rows *copying; /* whose COPY is open, or null */
	struct ctp_postgres_table *tables; /* those that had rows */
	uint64_t delivered;           /* rows that the server has taken */
};

/* Connects, and makes the database where it is missing. */
enum ctp_status ctp_postgres_connect(struct ctp_postgres *p, struct ctp_err *err);

/* err becomes the server's message, or the connection's. Returns CTP_FAILED. */
enum ctp_status ctp_postgres_error(struct ctp_postgres *p, const PGresult *result, struct ctp_err *err);

extern const struct ctp_sql_words ctp_postgres_words, ctp_postgres_bigint_words;

/* For struct ctp_sql_ops. */
enum ctp_status ctp_postgres_exec(struct ctp_sql *db, const char *sql, struct ctp_err *err);
enum ctp_status ctp_postgres_query(struct ctp_sql *db, const char *sql, void (*row)(void *arg, const char *const *columns), void *arg,
                                   struct ctp_err *err);
const char *ctp_postgres_type(const struct ctp_sql *db, const struct ctp_field *f);
struct ctp_sql_rows *ctp_postgres_rows(struct ctp_sql *db, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err);
enum ctp_status ctp_postgres_add(struct ctp_sql *db, struct ctp_sql_rows *rows, int64_t section, const uint64_t *val,
                                 struct ctp_err *err);
enum ctp_status ctp_postgres_end(struct ctp_sql *db, struct ctp_sql_rows *rows, struct ctp_err *err);
void ctp_postgres_drop(struct ctp_sql_rows *rows);

/* Ends the COPY that is open, if one is, so that the connection takes statements. */
enum ctp_status ctp_postgres_end_copy(struct ctp_postgres *p, struct ctp_err *err);

struct ctp_postgres_table { /* a table that has rows of ours */
	struct ctp_postgres_table *next;
	char *name;
	int64_t next_id;
};
void ctp_postgres_tables_free(struct ctp_postgres *p);

#endif
