/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-select.h - views of sql/sql-views.h in what ClickHouse 18.16 understands, but for one. */
#ifndef CTP_CLICKHOUSE_SELECT_H
#define CTP_CLICKHOUSE_SELECT_H

#include <stddef.h>

#include "sql/sql.h"

/*
 * In a text {NAME} is a table or view, and {?unfollowed} whether there are transitions that coro_trace_events lacks. A view comes after
 * those that it uses.
 */
extern const struct ctp_sql_view ctp_clickhouse_selects[];

/* How many of them a server of this version can have. */
size_t ctp_clickhouse_nselects(unsigned server);

#endif
