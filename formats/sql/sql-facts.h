/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-facts.h - what coroutines wait for, and which of them hold it, also when a section ends: rows that no record of the stream has.
 *
 * Who holds a lock depends on the order of records of several classes, on what was lost between them, and on whether another object
 * has the address by now. That is for objects.h, which ctp-report asks too; SQL sees each table for itself. So the sink follows the
 * coroutines while it writes, and puts what is known into tables, of classes that are declared here:
 *
 *	objects_at_end   one row for each object that is there
 *	holders_at_end   for each coroutine that holds one, if all holders are known
 *	reasons_at_end   for each known reason of each wait that goes on
 *	object_wait      for each wait for an object, and each of its objects
 *	hold_interval    for each time that a coroutine held an object (sql-holds.h)
 *	origins_at_end   for each origin of a merged section: when it ended (sql-origins.h)
 *
 * Their rows have no null: the views objects, holders, reasons, object_waits and hold_intervals
 * show what is not known as that.
 */
#ifndef CTP_SQL_FACTS_H
#define CTP_SQL_FACTS_H

#include "sql/sql.h"

enum ctp_sql_fact {
	CTP_SQL_OBJECTS, CTP_SQL_HOLDERS, CTP_SQL_REASONS, CTP_SQL_WAITS, CTP_SQL_HOLDS, CTP_SQL_ORIGINS, CTP_SQL_FACTS,
};

/* The class of such rows, the caller's to free. Null: out of memory. */
struct ctp_class *ctp_sql_fact_class(enum ctp_sql_fact fact);

struct ctp_sql_facts;

/* What the sink is given. db must outlive it. Null: err. */
struct ctp_sql_facts *ctp_sql_facts_new(struct ctp_sql *db, struct ctp_err *err);
void ctp_sql_facts_free(struct ctp_sql_facts *f); /* null: nothing */
void ctp_sql_facts_section(struct ctp_sql_facts *f, const struct ctp_section *sec);
enum ctp_status ctp_sql_facts_records(struct ctp_sql_facts *f, int64_t section, const struct ctp_batch *batch,
                                      struct ctp_err *err);
enum ctp_status ctp_sql_facts_so_far(struct ctp_sql_facts *f, struct ctp_err *err); /* rows that were added are there */

/* Puts the other rows of the section, whose number this is, into their tables. */
enum ctp_status ctp_sql_facts_end(struct ctp_sql_facts *f, int64_t section, const struct ctp_section_end *end, struct ctp_err *err);

#endif
