/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-batch.h - sections of streams as tables in memory: those of their classes, that of the sections, and those of what is known
 * when a section ends (sql/sql-facts.h).
 *
 * A column that a section's declaration of a class lacks is 0 or empty there. For the classes of ctp-collect the table lacks says which
 * columns these are, so that views can show them as NULL: a transition without an index is none with the index 0. (18.16 ends when it is
 * given a number for a column that is Nullable.)
 */
#ifndef CTP_CLICKHOUSE_BATCH_H
#define CTP_CLICKHOUSE_BATCH_H

#include "clickhouse/clickhouse-table.h"
#include "common/about.h"
#include "sql/sql-end.h"
#include "sql/sql-facts.h"

/* The columns of the table sections after those of common/about.h. */
enum { CTP_CLICKHOUSE_MARK = CTP_ABOUT_FIELDS, CTP_CLICKHOUSE_STATE, CTP_CLICKHOUSE_ROWS, CTP_CLICKHOUSE_END, CTP_CLICKHOUSE_HAS_END,
       CTP_CLICKHOUSE_SECTION_FIELDS };

/* A section's rows in the table sections say how far its delivery has come. */
enum ctp_clickhouse_state { CTP_CLICKHOUSE_BEGUN, CTP_CLICKHOUSE_GOES_ON, CTP_CLICKHOUSE_OVER };

/* Of a delivery that a user makes, by a pipe or a folder: nobody knows whether it has all rows, so it is never a whole one (clickhouse-load.h). */
#define CTP_CLICKHOUSE_BY_HAND UINT64_MAX

/* One section, from its first record on. */
struct ctp_clickhouse_delivery {
	struct ctp_clickhouse_section sec; /* first */
	uint64_t val[CTP_CLICKHOUSE_SECTION_FIELDS]; /* the row in the table sections */
	uint64_t rows; /* in all tables */
	bool over, complete;
	bool is_new, has_all, yields; /* for the loader: not begun yet; the server has all its rows; another one's is there instead */
};

struct ctp_clickhouse_batch {
	const char *class_name; /* null: all */
	bool wall64;
	bool any_types; /* declarations of a class with one name may differ in them */
	struct ctp_clickhouse_table *sections;
	struct ctp_clickhouse_table *lacks; /* in tables, too */
	struct ctp_clickhouse_table **tables; /* of the classes; two declarations of one name have one each, with the same name */
	uint32_t ntables, ndeliveries;
	size_t tables_room, deliveries_room;
	struct ctp_clickhouse_delivery **deliveries; /* the one at hand is the last */

	const struct ctp_section *begun; /* a section without a record yet, or null */
	const char *input;
	struct ctp_clickhouse_delivery *now; /* null: the section has no record yet */
	struct ctp_clickhouse_table *of[CTP_CLASSES_MAX];
	bool left_out[CTP_CLASSES_MAX];
	struct ctp_sql db; /* for the facts */
	struct ctp_sql_facts *facts; /* null: none are wanted */
	struct ctp_sql_end end;
};

/* The class of ctp-collect with the name, for the caller to free; null: there is none, or no memory. */
struct ctp_class *ctp_clickhouse_standard(const char *name);

enum ctp_status ctp_clickhouse_batch_init(struct ctp_clickhouse_batch *b, const char *class_name, bool wall64, struct ctp_err *err);
void ctp_clickhouse_batch_fini(struct ctp_clickhouse_batch *b);

/* As a sink is given them. The end adds the section's row, unless the delivery is to be put later. */
void ctp_clickhouse_batch_section(struct ctp_clickhouse_batch *b, const struct ctp_section *sec, const char *input);
enum ctp_status ctp_clickhouse_batch_records(struct ctp_clickhouse_batch *b, const struct ctp_batch *batch, struct ctp_err *err);
enum ctp_status ctp_clickhouse_batch_end(struct ctp_clickhouse_batch *b, const struct ctp_section_end *end, struct ctp_err *err);

/* Makes the table of a class, if there is none. */
enum ctp_status ctp_clickhouse_batch_class(struct ctp_clickhouse_batch *b, const struct ctp_class *cls, struct ctp_err *err);

/* Adds a row to a table of sections. */
void ctp_clickhouse_batch_say(const struct ctp_clickhouse_batch *b, struct ctp_clickhouse_table *to, struct ctp_clickhouse_delivery *d,
                              enum ctp_clickhouse_state state);

/* All rows are gone, and all deliveries that are over. Tables stay. */
void ctp_clickhouse_batch_clear(struct ctp_clickhouse_batch *b);
size_t ctp_clickhouse_batch_bytes(const struct ctp_clickhouse_batch *b);

#endif
