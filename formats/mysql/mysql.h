/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mysql.h - a database of MariaDB or MySQL, with the tables and views of sql.h.
 *
 *	bool                       BOOLEAN
 *	u64, times, probes' ids    DECIMAL(20,0)
 *	other whole numbers        BIGINT
 *	role address, flag HEX     VARCHAR(18), "0x" and 16 digits; not where the role is time
 *	enum                       LONGTEXT, its label, or its number where that label is not of this value alone; without labels a number
 *	f32, f64                   DOUBLE; NaN and infinities, which it has not, are NULL, and counted
 *	string                     LONGTEXT; where the bytes are no valid UTF-8 or hold a NUL, with \x and two digits for each of those
 *	bytes                      LONGBLOB
 */
#ifndef CTP_MYSQL_H
#define CTP_MYSQL_H

#include "stream/sink.h"

struct ctp_symbols; /* symbols.h. Taken over; null: the table has no rows */

struct ctp_mysql_options {
	const char *host, *user, *socket, *database; /* null: as the option files say, and the database is coro_tracer */
	unsigned port;                               /* 0: the same */
	const char *table;                           /* of the events, in place of coro_trace_events, or null */
	bool replace;        /* with append: a section that is there and not complete, by the same trace */
	bool append;                                 /* to what is there, if it is */
	const struct ctp_notice *notice;             /* or null */
};

/* Connects; all is visible after the finish, at once. options are copied. Null: err. */
struct ctp_sink *ctp_mysql_sink(const struct ctp_mysql_options *options, struct ctp_symbols *symbols, struct ctp_err *err);

#endif
