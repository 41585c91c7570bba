/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-views.h - the views of a server: of sql/sql-views.h those that ClickHouse can have, and two of its own. */
#ifndef CTP_CLICKHOUSE_VIEWS_H
#define CTP_CLICKHOUSE_VIEWS_H

#include "clickhouse/clickhouse-table.h"

bool ctp_clickhouse_is_view(const char *name);

/* Appends the statements that make the views of the tables. local: what is after the name of a table, and of a view, of one server. */
void ctp_clickhouse_put_views(struct ctp_bytes *to, struct ctp_clickhouse_table *const *tables, uint32_t ntables, const char *local,
                              unsigned server);

/* Calls view for the name of each view that a server of this version can have. */
void ctp_clickhouse_each_view(unsigned server, void (*view)(void *arg, const char *name), void *arg);

#endif
