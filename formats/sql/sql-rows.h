/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-rows.h - what engines need to know of a table before they put rows into it: its columns, its key, and the next number. */
#ifndef CTP_SQL_ROWS_H
#define CTP_SQL_ROWS_H

#include "sql/sql.h"

/* The table of a class. Zeros but for cls and typed. */
struct ctp_sql_columns {
	const struct ctp_class *cls;
	void (*typed)(void *arg, uint32_t field, const char *type); /* tells a column's type; null unless words->typed */
	void *arg;
	char *table;
	struct ctp_bytes names; /* section, and those of the fields' columns, in quotes and with commas between */
	uint32_t count;         /* of the fields */
	bool differ;            /* the table lacks columns that the table fields lists */
};

/* Fills it, for the class with this id. The fini is due in any case. */
enum ctp_status ctp_sql_columns_find(struct ctp_sql *db, struct ctp_sql_columns *c, int64_t class_id, struct ctp_err *err);
void ctp_sql_columns_fini(struct ctp_sql_columns *c);

struct ctp_sql_table { /* a table that has rows of ours, and in a list */
	struct ctp_sql_table *next;
	char *name, *key;      /* key: the first column */
	int64_t next_id;       /* of its next row */
	int64_t analysed;      /* next_id, when the planner last looked at the table; the engine's */
};

int64_t ctp_sql_next_row(struct ctp_sql *db, const char *key, const char *table, struct ctp_err *err); /* its number; -1: err */

struct ctp_sql_table *ctp_sql_table_find(const struct ctp_sql *db, const char *name); /* null: it had no rows yet */

/* Adds one. key, which is for free(), is taken over. Null: err, also where next_id is -1 and err is set already. */
struct ctp_sql_table *ctp_sql_table_add(struct ctp_sql *db, const char *name, char *key, int64_t next_id, struct ctp_err *err);

/* err says that the database lacks a table which the table classes names. Returns CTP_FAILED. */
enum ctp_status ctp_sql_no_table(const struct ctp_sql *db, const char *name, struct ctp_err *err);
void ctp_sql_tables_free(struct ctp_sql *db);

#endif
