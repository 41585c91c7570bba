/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * postgres.h - a database of PostgreSQL, with the tables and views of sql.h.
 *
 *	bool                       BOOLEAN
 *	u64, times, probes' ids    NUMERIC(20,0); BIGINT if so asked, and then a number of 2^63 or more ends it
 *	other whole numbers        BIGINT
 *	role address, flag HEX     VARCHAR(18), "0x" and 16 digits; not where the role is time
 *	enum                       TEXT, its label, or its number where that label is not of this value alone; without labels a number
 *	f32, f64                   DOUBLE PRECISION
 *	string                     TEXT; where the bytes are no valid UTF-8 or hold a NUL, with \x and two digits for each of those
 *	bytes                      BYTEA
 */
#ifndef CTP_POSTGRES_H
#define CTP_POSTGRES_H

#include "stream/sink.h"

struct ctp_symbols; /* symbols.h. Taken over; null: the table has no rows */

struct ctp_postgres_options {
	const char *conninfo; /* a connection string of libpq's, or null: what its variables say */
	const char *table;    /* of the events, in place of coro_trace_events, and with SCHEMA. before it where all goes, or null */
	bool replace;        /* with append: a section that is there and not complete, by the same trace */
	bool append;          /* to what is there, if it is */
	bool bigint;
	bool live;            /* commits whenever the sink is flushed, and keeps a table coroutines_now */
	const struct ctp_notice *notice; /* or null */
};

/* Connects; all is done in one transaction, unless it is live. options are copied. Null: err. */
struct ctp_sink *ctp_postgres_sink(const struct ctp_postgres_options *options, struct ctp_symbols *symbols, struct ctp_err *err);

#endif
