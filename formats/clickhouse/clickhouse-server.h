/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-server.h - what a loader asks a server, and tells it: tables, deliveries, deletions. */
#ifndef CTP_CLICKHOUSE_SERVER_H
#define CTP_CLICKHOUSE_SERVER_H

#include "clickhouse/clickhouse-batch.h"
#include "clickhouse/clickhouse-client.h"

/* A column that a server has. Names are spelled as hexadecimal digits, which no answer can spoil. */
struct ctp_clickhouse_had {
	char *table, *column, *type; /* type: without its quotes */
	bool local; /* the table has its rows itself, so that they can be deleted */
};

struct ctp_clickhouse_tables {
	struct ctp_clickhouse_had *list;
	size_t n, room;
	bool failed; /* out of memory */
};

/* All tables of the database that have a column `delivery`. */
enum ctp_status ctp_clickhouse_tables_ask(struct ctp_clickhouse_tables *had, const struct ctp_clickhouse_client *client, struct ctp_err *err);
void ctp_clickhouse_tables_fini(struct ctp_clickhouse_tables *had);

/* The type of a column; null: there is none. column null: whether there is such a table, as any text. */
const char *ctp_clickhouse_tables_find(const struct ctp_clickhouse_tables *had, const char *table, const char *column);

/* Whether the table sections has its rows itself. */
bool ctp_clickhouse_tables_local(const struct ctp_clickhouse_tables *had);

/* A delivery, as the table sections has it. */
struct ctp_clickhouse_known {
	uint64_t id, mark, delivery, rows;
	bool committed, complete;
};

struct ctp_clickhouse_knowns {
	struct ctp_clickhouse_known *list; /* by id and delivery */
	size_t n, room;
	bool failed;   /* out of memory */
	bool nonsense; /* a number is none */
};

/* Those of the sections with the ids, in the table `sections`; n 0: of all sections that have more than one, or one that has not ended. */
enum ctp_status ctp_clickhouse_known_ask(struct ctp_clickhouse_knowns *k, const struct ctp_clickhouse_client *client, const char *sections,
                                         const uint64_t *ids, size_t n, struct ctp_err *err);
void ctp_clickhouse_known_fini(struct ctp_clickhouse_knowns *k);

/* Those of a section; *n: how many. */
const struct ctp_clickhouse_known *ctp_clickhouse_known_of(const struct ctp_clickhouse_knowns *k, uint64_t id, size_t *n);

/* The complete one that counts; null: there is none. */
const struct ctp_clickhouse_known *ctp_clickhouse_known_winner(const struct ctp_clickhouse_known *of, size_t n);

/*
 * Deletes the rows of all deliveries that a complete one with a smaller number has replaced, and then their rows in sections. unfinished:
 * of all that no reader sees, while no loader runs. *n: how many deliveries. wait_ns: for the server, which deletes in its own time; if
 * that is over, they stay in sections.
 */
enum ctp_status ctp_clickhouse_delete_replaced(const struct ctp_clickhouse_knowns *k, const struct ctp_clickhouse_tables *had,
                                               const struct ctp_clickhouse_client *client, bool unfinished, uint64_t wait_ns, size_t *n,
                                               struct ctp_err *err);

#endif
