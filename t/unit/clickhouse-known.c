/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-known.c - what a ClickHouse server has of a section. UBSan of clang, not that of gcc, sees arithmetic with null. */
#include "clickhouse/clickhouse-server.h"

#include "tap.h"

int main(void)
{
	struct ctp_clickhouse_known list[] = {{.id = 3, .delivery = 1}, {.id = 5, .delivery = 1}, {.id = 5, .delivery = 2}};
	struct ctp_clickhouse_knowns none = {0}, some = {.list = list, .n = 3};
	size_t n = 9;
	ctp_clickhouse_known_of(&none, 5, &n);
	ok(n == 0, "an empty server has no delivery of a section");
	ctp_clickhouse_known_of(&some, 4, &n);
	ok(n == 0, "a server with others has none either");
	ok(ctp_clickhouse_known_of(&some, 5, &n) == list + 1 && n == 2, "it has two of this one");
	done_testing();
}
