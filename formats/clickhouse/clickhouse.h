/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse.h - a stream as rows for ClickHouse: a table for each class, and one of the sections.
 *
 * The rows go to a pipe or to a folder, as blocks of the format Native, or to a server, through its client.
 */
#ifndef CTP_CLICKHOUSE_H
#define CTP_CLICKHOUSE_H

#include "io/output.h"
#include "stream/sink.h"

enum { CTP_CLICKHOUSE_OLDEST = 18, CTP_CLICKHOUSE_NEW = 23, CTP_CLICKHOUSE_RECURSIVE = 25, CTP_CLICKHOUSE_TIMEOUT_S = 600 };

struct ctp_clickhouse_options {
	unsigned server; /* its major version: from CTP_CLICKHOUSE_NEW on it has DateTime64, codecs and LowCardinality, then WITH RECURSIVE */

	/* Where rows go: one of three. */
	struct ctp_output *out; /* the class class_name */
	const char *dir;        /* a file for each class */
	const char *client;     /* a command line of clickhouse-client, for a shell */

	const char *class_name; /* null: all */
	bool force;             /* write to a folder that is not empty */
	uint64_t timeout_ns;    /* for which the client may neither take nor give anything; 0: CTP_CLICKHOUSE_TIMEOUT_S */
	size_t memory;          /* of rows that wait for the client; 0: a default */
	uint64_t every_ns;      /* of a live input: rows are visible after that time; 0: when their section ends, or memory is full */
	unsigned attempt;       /* of this input, from 1 on; the input can be read again. 0: it cannot */
	const struct ctp_notice *sent;   /* told of each batch that the server has; or null */
	const struct ctp_notice *notice; /* or null */
	const struct ctp_notice *complaint; /* of inputs that the server's tables are not made for; others are delivered. Or null */
};

/* Takes options->out over: finish closes it, free abandons it. What options point to must be there until the free. */
struct ctp_sink *ctp_clickhouse_sink(const struct ctp_clickhouse_options *options, struct ctp_err *err);

struct ctp_clickhouse_schema_options {
	unsigned server;
	const char *cluster; /* null: tables of one server; else also database */
	const char *database; /* null: the one that the client says */
	const char *client;  /* of which server to upgrade the tables; null: all tables are made */
	uint64_t timeout_ns;
	struct ctp_output *out;
};

/*
 * A sink that writes the statements which make the tables of ctp-collect's classes and of those of its input, and the views. Takes out
 * over. With a client: those which add the columns and tables that its server lacks, and make all views again.
 */
struct ctp_sink *ctp_clickhouse_schema(const struct ctp_clickhouse_schema_options *options, struct ctp_err *err);

/*
 * Deletes the rows of deliveries that were replaced, of all sections of the server; unfinished: of all that no reader sees, while
 * no loader runs. *n: how many deliveries.
 */
enum ctp_status ctp_clickhouse_clean(const char *client, uint64_t timeout_ns, bool unfinished, uint64_t *n, struct ctp_err *err);

#endif
