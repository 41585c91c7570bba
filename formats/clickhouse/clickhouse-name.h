/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-name.h - what classes and fields are called on a server, and how names and texts are quoted there. */
#ifndef CTP_CLICKHOUSE_NAME_H
#define CTP_CLICKHOUSE_NAME_H

#include "common/bytes.h"
#include "stream/schema.h"

/* Of each table. The order is that of a block. */
#define CTP_CLICKHOUSE_OWN "day", "section_id", "delivery", "host", "wall"

/* After the names of the tables of a shard, where those without it are Distributed. */
#define CTP_CLICKHOUSE_LOCAL "_local"

/* Before the name of a table: the view of its rows that were delivered. */
#define CTP_CLICKHOUSE_DELIVERED "delivered_"

/* For free(); null: out of memory. taken: names of columns that there are. */
char *ctp_clickhouse_table_name(const char *class_name);
char *ctp_clickhouse_column_name(const char *field_name, char *const *taken, size_t ntaken);

/* The type of a field's column. */
const char *ctp_clickhouse_type(const struct ctp_field *f);

/* Whether it is the name of a table of ours, beside those of classes. Null: it is not. */
bool ctp_clickhouse_is_ours(const char *name);

/* Appends fmt, in which %I is a name in quotes, %L a text as a literal, %s a text as it is, and %d a uint64_t. */
void ctp_clickhouse_put(struct ctp_bytes *to, const char *fmt, ...);

#endif
