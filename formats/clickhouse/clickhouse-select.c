/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-select.c - see clickhouse-select.h.
 *
 * 18.16 has no window functions, no subquery that refers to the row it is for, one JOIN for each SELECT, and its conditions are equalities
 * of columns. What follows each row is found in arrays: rows of one coroutine, sorted.
 */
#include "clickhouse/clickhouse-select.h"

const struct ctp_sql_view ctp_clickhouse_selects[] = {
	{"delivered_sections",
	 "SELECT * FROM {sections} WHERE (section_id, delivery) IN (SELECT section_id, delivery FROM {deliveries})"
	 " ORDER BY section_id, delivery, state DESC, rows DESC LIMIT 1 BY section_id, delivery"},
};
const size_t ctp_clickhouse_nselects = sizeof ctp_clickhouse_selects / sizeof *ctp_clickhouse_selects;
