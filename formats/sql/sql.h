/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql.h - a database of SQL as a sink: what SQLite, PostgreSQL and MySQL have in common.
 *
 *	coro_trace_events   id, probe_id, tid, addr, seq, is_active, ts as coroTracer has them, then section, coro, index, site
 *	birth, death ...    _row, section, and the fields of the class; those of lib/stream/events.h are there also when they are empty
 *	sections            the attributes of each section; classes, fields: the meaning of each table's columns
 *	                    stream: the same in all copies of a section, which is there once
 *	symbols             section, addr, text: the symbols of addresses, with --symbols; null where processes differ
 *
 * A class whose name is taken has _2 after it, and so has a field. Transitions that lack one of coroTracer's columns have a table
 * of their own. The views are those of sql-views.h.
 *
 * An engine is asked in text, and is given rows as records. It takes what standard SQL has: names in double quotes, texts in single
 * ones, || between texts.
 */
#ifndef CTP_SQL_H
#define CTP_SQL_H

#include <stdarg.h>

#include "common/bytes.h"
#include "sql/sql-form.h"
#include "stream/sink.h"

struct ctp_symbols; /* symbols.h */
struct ctp_sql_views;

#define CTP_SQL_EVENTS "coro_trace_events"
#define CTP_SQL_KEY "_row" /* of a class's table, where a field may be called id; that of the events, and of tables of earlier versions, is id */

/* First in an engine's own state. */
struct ctp_sql {
	const struct ctp_sql_ops *ops;
	const struct ctp_sql_words *words;
	const char *name;   /* of the database, for messages */
	const char *events; /* the name of the events' table, which texts call coro_trace_events */
	bool replaces;      /* a section that is there and not complete goes when the same trace comes */
	bool has_new_class; /* a class is new since the views were made */
	bool has_new_column; /* and the events' table has more columns, which a view has only when it is made again */
	struct ctp_sql_table *tables; /* those that had rows (sql-rows.h), of an engine that numbers rows itself */
};

/* What engines spell differently. Texts with a % are for ctp_sql_exec and the others of that form. */
struct ctp_sql_words {
	const char *tables;           /* statements that make what every database has, where it is not there yet */
	const char *table;            /* %I, %s: the name of a class's table, and ", " and a column with its type, for each field */
	const char *index_columns;    /* %I, %I: of an index that is searched by both, and the last by order */
	const char *taken;            /* %L: a name. A row: something has the name */
	const char *column_type;      /* %L, %L: a table, and a column. A row: its type, if there is such a column */
	const char *folded;           /* %L: a name, so that those of columns that are the same are equal; null: sql-name.c knows */
	const char *section;          /* the type of that column in coro_trace_events */
	const char *columns;          /* %T, %T, %d: "classes", "fields", a class's id. A row: the table, a column, and its type if typed */
	const char *types[CTP_SQL_TYPES]; /* of columns, by ctp_sql_type */
	const char *staging;          /* how the names of tables begin until the finish, or null: as ever */
	const char *view_drop;        /* %I: before view_again; null: nothing */
	const char *view_again;       /* %I, %s: makes a view that may be there */
	const char *view_note;        /* %I, %L: says of a view from which text it is; null: nothing can */
	const char *view_noted;       /* %L, %L: a name, and what was said. A row: there is such a view */
	const char *symbol_again;     /* after an INSERT into symbols: an address with different texts gets NULL */
	const struct ctp_sql_naming *naming;
	bool blobs;                   /* a column of text can have other bytes; else such texts are escaped */
	bool casts;                   /* a view's columns keep their types, whatever tables it is of */
	bool wraps;                   /* a number of 2^63 or more is the negative one with the same bits */
	bool typed;                   /* how a value is sent depends on the type that its column has */
	bool late;                    /* the views are the engine's to make, in its finish, by ctp_sql_views_last */
	const struct ctp_sql_views *views;
};

struct ctp_sql_rows; /* of a table, on their way there: the engine's */

typedef void ctp_sql_row(void *arg, const char *const *columns); /* is called with the texts of a row's columns; NULL is null */

struct ctp_sql_ops {
	enum ctp_status (*exec)(struct ctp_sql *db, const char *sql, struct ctp_err *err);

	/* Calls row for each row, when the answer is complete: row may run statements. asked: the columns, as sql-answer.h has it. */
	enum ctp_status (*query)(struct ctp_sql *db, const char *sql, const char *asked, ctp_sql_row *row, void *arg, struct ctp_err *err);

	enum ctp_status (*begin)(struct ctp_sql *db, struct ctp_err *err); /* the tables are there, and rows will come; null: nothing */

	/* For records of the class, whose id in the table classes is class_id. The class must outlive the rows. Null: err. */
	struct ctp_sql_rows *(*rows)(struct ctp_sql *db, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err);
	enum ctp_status (*add)(struct ctp_sql *db, struct ctp_sql_rows *rows, int64_t section, const uint64_t *val, struct ctp_err *err);
	enum ctp_status (*end)(struct ctp_sql *db, struct ctp_sql_rows *rows, struct ctp_err *err); /* those that were added are there */
	void (*drop)(struct ctp_sql_rows *rows); /* null: nothing */

	/* Null: ctp_sql_create_index. columns are those after the section. */
	enum ctp_status (*index)(struct ctp_sql *db, const char *name, const char *table, const char *columns, struct ctp_err *err);

	/* Removes the rows of a section. Null: by statements. */
	enum ctp_status (*remove)(struct ctp_sql *db, int64_t section, struct ctp_err *err);

	/* What was added and ended becomes visible while more comes. Null: nothing does before the finish. */
	enum ctp_status (*show)(struct ctp_sql *db, struct ctp_err *err);

	enum ctp_status (*finish)(struct ctp_sql *db, const struct ctp_tick *tick, struct ctp_err *err); /* all becomes visible */
	void (*free)(struct ctp_sql *db); /* what was not finished is undone */
};

/* Takes db over, whose transaction has begun, and symbols, which may be null. */
struct ctp_sink *ctp_sql_sink(struct ctp_sql *db, struct ctp_symbols *symbols, struct ctp_err *err);

/* --- statements ---------------------------------------------------------------------------------------------------------- */

/* err says that memory is out. Returns CTP_FAILED. */
enum ctp_status ctp_sql_no_memory(const struct ctp_sql *db, struct ctp_err *err);

/*
 * A text, for free(): %s is a text as it is, %I a name, %T the name of a table where rows are put until the finish, %L a text or null
 * as a literal, %d an int64_t, and %V a text of ours. In such a text, as in fmt, a name with coro_trace_events in it is that of
 * the events' table, or made of it. Null: out of memory, which is also what a null means in place of any text but that of %L.
 */
char *ctp_sql_text(const struct ctp_sql *db, const char *fmt, ...);
char *ctp_sql_vtext(const struct ctp_sql *db, const char *fmt, va_list ap);
void ctp_sql_put(const struct ctp_sql *db, struct ctp_bytes *to, const char *fmt, ...); /* appends it */

enum ctp_status ctp_sql_exec(struct ctp_sql *db, struct ctp_err *err, const char *fmt, ...);
enum ctp_status ctp_sql_ask(struct ctp_sql *db, const char *asked, ctp_sql_row *row, void *arg, struct ctp_err *err,
                            const char *fmt, ...);

/* The first column of the first row: as a number, 0 where there is none, -1: err; and as a text for free(), null: none, or status. */
int64_t ctp_sql_look_up(struct ctp_sql *db, struct ctp_err *err, const char *fmt, ...);
char *ctp_sql_find(struct ctp_sql *db, enum ctp_status *status, struct ctp_err *err, const char *fmt, ...);

/* A number that was looked up and cannot be 0: -1, err, if it is. */
int64_t ctp_sql_counted(const struct ctp_sql *db, int64_t number, struct ctp_err *err);

/* One more than the largest id in the table, whose name is that for %T. -1: err. */
int64_t ctp_sql_next_id(struct ctp_sql *db, const char *table, struct ctp_err *err);

/*
 * Appends a piece for each row of the query, which is a text of ours, and between these the text between. fmt makes a piece of the
 * row's columns, of which there are at most four and none is NULL. The second runs a statement that begins so and goes on with the
 * list, unless the list is empty.
 */
enum ctp_status ctp_sql_list(struct ctp_sql *db, struct ctp_bytes *to, const char *between, const char *fmt, const char *query,
                             struct ctp_err *err);
enum ctp_status ctp_sql_exec_list(struct ctp_sql *db, const char *before, const char *between, const char *fmt, const char *query,
                                  struct ctp_err *err);

/* Fails if the events' table cannot have its name: the engine takes no such name, indexes could not be named after it, or it is taken. */
enum ctp_status ctp_sql_events_check(const struct ctp_sql *db, struct ctp_err *err);

bool ctp_sql_is_own(const struct ctp_sql *db, const char *name); /* of a table or view that is ours, beside the events */

/* Fails if the tables of the database belong to another table of events, as the table classes says. instead: what the user can do. */
enum ctp_status ctp_sql_events_alone(struct ctp_sql *db, const char *instead, struct ctp_err *err);

/* Fails if a database without a table classes has another table or view with one of our names. */
enum ctp_status ctp_sql_others(struct ctp_sql *db, const char *instead, struct ctp_err *err);

/* --- tables and views ---------------------------------------------------------------------------------------------------- */

/* Makes the tables, and coroTracer's columns, that are missing; refuses a database that has other things of these names. */
enum ctp_status ctp_sql_schema(struct ctp_sql *db, struct ctp_err *err);

/* Whether the class's records go to coro_trace_events alone: they have coroTracer's columns, and numbers in all others. */
bool ctp_sql_is_event(const struct ctp_class *cls);

/* The class's id in the table classes, 1 or more; the class's table is made if there is none. -1: err. */
int64_t ctp_sql_class(struct ctp_sql *db, const struct ctp_class *cls, struct ctp_err *err);

struct ctp_sql_view {
	const char *name, *select;
};

/* A kind may have several classes, each with its table: the view of the kind has all of them, with columns by role. */
struct ctp_sql_kind_view {
	const char *view, *classes; /* classes: a condition on the table classes */
	struct {
		const char *column, *field, *type; /* column: of the view; field: a condition on the table fields */
	} columns[8];
};

struct ctp_sql_views {
	const struct ctp_sql_kind_view *kinds;
	const struct ctp_sql_view *views;
	size_t nkinds, nviews;
};

const char *ctp_sql_view_name(const struct ctp_sql_views *v, size_t i); /* of all views; null: there are no more than i */

/*
 * Makes the views of the tables that exist: in a new database first, so that no table takes their names, which fails if a view of such
 * a name is there; and at the end for all tables, with indexes for searches in these.
 */
enum ctp_status ctp_sql_views_first(struct ctp_sql *db, struct ctp_err *err);
enum ctp_status ctp_sql_views_last(struct ctp_sql *db, struct ctp_err *err);

/* CREATE INDEX, unless something has the name: it is for speed alone. */
enum ctp_status ctp_sql_create_index(struct ctp_sql *db, const char *name, const char *table, const char *columns, struct ctp_err *err);

#endif
