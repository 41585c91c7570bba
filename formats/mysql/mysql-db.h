/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mysql-db.h - between the files of mysql.h's sink: a connection, the rows that go over it, and the tables where they wait.
 *
 * Every CREATE and ALTER commits. So rows go into tables of other names, and become visible by one RENAME, before the views are made;
 * or, where the tables are there already, by one transaction of INSERT ... SELECT. One load goes on in a database at a time, by a lock
 * of the server's.
 */
#ifndef CTP_MYSQL_DB_H
#define CTP_MYSQL_DB_H

#include <mysql.h>

#include "mysql/mysql.h"
#include "sql/sql.h"

#define CTP_MYSQL_STAGING "_ctp_load_" /* how the names of tables begin while rows come */
enum { CTP_MYSQL_UNDO_WAIT_S = 60 }; /* for a load that is ending */
enum { CTP_MYSQL_CONNECT_S = 10, CTP_MYSQL_ANSWER_S = CTP_MYSQL_UNDO_WAIT_S + 30 }; /* for the server, when a signal has come */

#define CTP_MYSQL_MARK "ctp-mysql"     /* the comment of a table that is ours */
#define CTP_MYSQL_OPTIONS " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='" CTP_MYSQL_MARK "'"

#define CTP_MYSQL_FILE "ctp-mysql"      /* the name by which LOAD DATA has the rows */

struct ctp_mysql_file {
	bool asked;       /* the statement that goes on is LOAD DATA, and its file was not asked for yet */
	const char *rows; /* what is left of it */
	size_t left;
	char why[200];    /* the last refusal */
};

struct ctp_mysql {
	struct ctp_sql sql;
	struct ctp_mysql_options options;
	MYSQL *conn;
	const char *name;             /* of the database */
	bool fresh;                   /* there was no coro_trace_events */
	bool begun, done, committing; /* committing: the statement by which all becomes visible is under way */
	bool ending;                  /* a signal has come: the server is not waited for without an end */
	bool local;                   /* rows go by LOAD DATA LOCAL INFILE */
	size_t packet;                /* bytes of a statement, at most */
	int64_t sections, classes;    /* the highest ids that were there */
	struct ctp_bytes replaced;    /* ids of sections, with commas */
	char *undo;                   /* takes back what was added to coro_trace_events, or null */
	struct ctp_mysql_file file;
	size_t buffered;              /* bytes of all rows' buffers */
	char *scratch;                /* for a text as it is escaped */
	size_t scratch_room;
	uint64_t delivered;           /* rows that the server has taken */
	uint64_t unreal;              /* numbers that are not finite */
};

extern const struct ctp_sql_words ctp_mysql_words;

/* --- mysql-connect.c ------------------------------------------------------------------------------------------------------ */

/* Connects, and makes the database where it is missing. */
enum ctp_status ctp_mysql_open(struct ctp_mysql *m, struct ctp_err *err);

/* Waits until no other load goes on in the database; at most wait_s seconds. */
enum ctp_status ctp_mysql_lock(struct ctp_mysql *m, int64_t wait_s, struct ctp_err *err);

/* err becomes the server's message, or the connection's. Returns CTP_FAILED. */
enum ctp_status ctp_mysql_error(struct ctp_mysql *m, struct ctp_err *err);

enum ctp_status ctp_mysql_exec(struct ctp_sql *db, const char *sql, struct ctp_err *err);
enum ctp_status ctp_mysql_query(struct ctp_sql *db, const char *sql, const char *asked, ctp_sql_row *row, void *arg, struct ctp_err *err);

/* --- mysql-file.c --------------------------------------------------------------------------------------------------------- */

/* Before m->conn is connected: from here on its server gets no file of this machine. */
void ctp_mysql_file_guard(struct ctp_mysql *m);

/* Runs LOAD DATA LOCAL INFILE, whose file is these rows. Returns what mysql_real_query returns. */
int ctp_mysql_load(struct ctp_mysql *m, const char *sql, const char *rows, size_t len);

/* --- mysql-rows.c --------------------------------------------------------------------------------------------------------- */

/* Whether there is a table, and no view, of that name with begin before it; -1: err. */
int64_t ctp_mysql_is_table(struct ctp_mysql *m, const char *begin, const char *name, struct ctp_err *err);

/* Finds out whether the server takes files of the client's. */
enum ctp_status ctp_mysql_try_local(struct ctp_sql *db, struct ctp_err *err);

struct ctp_sql_rows *ctp_mysql_rows(struct ctp_sql *db, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err);
enum ctp_status ctp_mysql_add(struct ctp_sql *db, struct ctp_sql_rows *rows, int64_t section, const uint64_t *val, struct ctp_err *err);
enum ctp_status ctp_mysql_end(struct ctp_sql *db, struct ctp_sql_rows *rows, struct ctp_err *err);
void ctp_mysql_drop(struct ctp_sql_rows *rows);

/* --- mysql-stage.c, mysql-clean.c ------------------------------------------------------------------------------------------ */

/* Removes what a load left that did not end: of this one, or of one that was killed. */
enum ctp_status ctp_mysql_clean(struct ctp_mysql *m, struct ctp_err *err);

/* All our views, of the classes that there are. */
enum ctp_status ctp_mysql_make_views(struct ctp_mysql *m, struct ctp_err *err);
enum ctp_status ctp_mysql_drop_views(struct ctp_mysql *m, struct ctp_err *err);

enum ctp_status ctp_mysql_stage(struct ctp_mysql *m, struct ctp_err *err);   /* makes the tables for the rows */
enum ctp_status ctp_mysql_publish(struct ctp_mysql *m, struct ctp_err *err); /* all becomes visible */

/* "SELECT table_name ..." of the tables whose names begin so */
#define CTP_MYSQL_TABLES(columns, begin) \
	"SELECT " columns " FROM information_schema.tables t WHERE t.table_schema = database() AND left(t.table_name, 10) = '" begin "'"

/* --- mysql-signals.c ------------------------------------------------------------------------------------------------------- */

/* From here on until the fini SIGINT, SIGTERM and SIGHUP remove what the load has made, and end the process then. One load has this. */
void ctp_mysql_signals_init(struct ctp_mysql *m);
void ctp_mysql_signals_fini(void); /* does not return if a signal came */

#endif
