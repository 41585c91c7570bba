/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-client.h - runs clickhouse-client, or a program that takes the same options, once for each query.
 *
 * The server and the client are hostile: an answer has a limit, is checked, and must come in time. A query succeeded if the client took
 * all that it was given and ended with status 0.
 */
#ifndef CTP_CLICKHOUSE_CLIENT_H
#define CTP_CLICKHOUSE_CLIENT_H

#include "base/err.h"
#include "common/bytes.h"

struct ctp_clickhouse_client {
	const char *command; /* for a shell; options are added */
	uint64_t timeout_ns; /* for which it may neither take nor give anything */
	char shown[96];      /* what messages call it: the command may have a password */
};

void ctp_clickhouse_client_init(struct ctp_clickhouse_client *client, const char *command, uint64_t timeout_ns);

/* Appends more to send; false: there is no more. */
typedef bool ctp_clickhouse_more(void *arg, struct ctp_bytes *to);

/* Runs an INSERT of what more gives; any statement without an answer. */
enum ctp_status ctp_clickhouse_insert(const struct ctp_clickhouse_client *client, const char *query, ctp_clickhouse_more *more, void *arg,
                                      struct ctp_err *err);
enum ctp_status ctp_clickhouse_tell(const struct ctp_clickhouse_client *client, const char *query, struct ctp_err *err);

/*
 * Asks for rows of texts, and calls row for each when all are there. The query is one whose rows have ncolumns texts without a tab, a
 * newline or a backslash; this adds a last row to it, so that an answer which is cut is known as such.
 */
enum { CTP_CLICKHOUSE_COLUMNS_MAX = 8 };
typedef void ctp_clickhouse_row(void *arg, char *const *texts);
enum ctp_status ctp_clickhouse_ask(const struct ctp_clickhouse_client *client, unsigned ncolumns, const char *query,
                                   ctp_clickhouse_row *row, void *arg, struct ctp_err *err);

#endif
