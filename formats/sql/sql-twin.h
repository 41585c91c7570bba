/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-twin.h - a class of transitions that has a table of its own, and its twin in coro_trace_events, where the views look.
 *
 * The twin is ctp-collect's class without the extra fields that the other class lacks; their columns are NULL. coroTracer's columns
 * cannot be NULL: they are 0.
 */
#ifndef CTP_SQL_TWIN_H
#define CTP_SQL_TWIN_H

#include "sql/sql.h"
#include "stream/events.h"

struct ctp_sql_twin {
	struct ctp_class *cls;
	int from[CTP_TRANSITION_FIELDS]; /* by the twin's fields: that of the other class, or -1 */
	struct ctp_sql_rows *rows;
};

/* Whether the class has a twin: it is of transitions, with a time, a state and the identity of a coroutine, all by role. */
bool ctp_sql_has_twin(const struct ctp_class *cls);

struct ctp_sql_twin *ctp_sql_twin_new(struct ctp_sql *db, const struct ctp_class *cls, struct ctp_err *err); /* null: err */
void ctp_sql_twin_free(const struct ctp_sql *db, struct ctp_sql_twin *t); /* null: nothing */

/* The values of the twin's record. */
void ctp_sql_twin_values(const struct ctp_sql_twin *t, const uint64_t *val, uint64_t twin[CTP_TRANSITION_FIELDS]);

#endif
