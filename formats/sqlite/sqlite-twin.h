/*
 * sqlite-twin.h - a class of transitions that has a table of its own, and its twin in coro_trace_events, where the views look.
 *
 * The twin is ctp-collect's class without the extra fields that the other class lacks; their columns are NULL. coroTracer's columns
 * cannot be NULL: they are 0.
 */
#ifndef CTP_SQLITE_TWIN_H
#define CTP_SQLITE_TWIN_H

#include "sqlite/sqlite-events.h"
#include "stream/events.h"

struct ctp_sqlite_twin {
	struct ctp_class *cls;
	int from[CTP_TRANSITION_FIELDS]; /* by the twin's fields: that of the other class, or -1 */
	struct ctp_sqlite_columns *columns; /* one of these is null */
	struct ctp_sqlite_batch *batch;
};

/* Whether the class has a twin: it is of transitions, with a time, a state and the identity of a coroutine, all by role. */
bool ctp_sqlite_has_twin(const struct ctp_class *cls);

/* With columns for the events, or if those are null with a batch for the section. Null: err. */
struct ctp_sqlite_twin *ctp_sqlite_twin_new(const struct ctp_sqlite *s, const struct ctp_sqlite_events *events, int64_t section,
                                            const struct ctp_class *cls, struct ctp_err *err);
void ctp_sqlite_twin_free(struct ctp_sqlite_twin *t); /* null: nothing */

/* The values of the twin's record. */
void ctp_sqlite_twin_values(const struct ctp_sqlite_twin *t, const uint64_t *val, uint64_t twin[CTP_TRANSITION_FIELDS]);

#endif
