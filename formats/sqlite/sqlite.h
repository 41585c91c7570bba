/*
 * sqlite.h - a database of SQLite: coroTracer's table of transitions, a table for every other class, and views.
 *
 *	coro_trace_events   id, probe_id, tid, addr, seq, is_active, ts as coroTracer has them, then section, coro, index
 *	birth, death ...    id, section, and the fields of the class; those of lib/stream/events.h are there also when they are empty
 *	sections            the attributes of each section; classes, fields: the meaning of each table's columns
 *	symbols             section, addr, text: the symbols of addresses, with --symbols; null where processes differ
 *
 * Values look as sqlite-value.h says. A class whose name is taken has _2 behind it, and so has a field. Transitions that lack
 * one of coroTracer's columns have a table of their own.
 */
#ifndef CTP_SQLITE_H
#define CTP_SQLITE_H

#include "io/output.h"
#include "stream/sink.h"

struct ctp_symbols; /* symbols.h. Taken over; null: the table has no rows */

/* A sink for a new database. out, made by ctp_output_create, is taken over; SQLite writes to its file. */
struct ctp_sink *ctp_sqlite_sink(struct ctp_output *out, struct ctp_symbols *symbols, struct ctp_err *err);

/* A sink that adds to the database at path, in one transaction. path must outlive the sink. */
struct ctp_sink *ctp_sqlite_append(const char *path, struct ctp_symbols *symbols, struct ctp_err *err);

#endif
