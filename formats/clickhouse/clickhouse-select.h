/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-select.h - views of sql/sql-views.h in what ClickHouse 18.16 understands. */
#ifndef CTP_CLICKHOUSE_SELECT_H
#define CTP_CLICKHOUSE_SELECT_H

#include <stddef.h>

#include "sql/sql.h"

/* In a text {NAME} is a table or view. A view comes after those that it uses. */
extern const struct ctp_sql_view ctp_clickhouse_selects[];
extern const size_t ctp_clickhouse_nselects;

#endif
