/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mysql-words.c - how MariaDB and MySQL spell what sql.h leaves open. */
#include "mysql/mysql-db.h"

#define SQL_NUMBER "DECIMAL(20,0)"
#define SQL_PROBE SQL_NUMBER
#define SQL_TEXT "CHAR"
#define SQL_COLUMN(x) x
#define SQL_ADDRESS(x) x
#define SQL_UP ""
#define SQL_DOWN " DESC"
#define SQL_LEAST "least"
#define SQL_GREATEST "greatest"
#define SQL_MATERIALIZED ""
#define SQL_WHOLE " LIMIT 9223372036854775807"
#define SQL_APART(name) "" /* what has a subquery among its columns is not merged */
#define SQL_SECOND(number) "date_format(TIMESTAMP '1970-01-01 00:00:00' + INTERVAL (" number ") SECOND, '%Y-%m-%dT%H:%i:%s')"
#define SQL_PICK(what, from) "(SELECT " what " FROM " from " LIMIT 1)"
#define SQL_ALL_OF(what, from) "(SELECT " what " FROM " from ")"
#define SQL_ONCE
#define SQL_FIELDS CTP_MYSQL_STAGING "fields"
#include "sql/sql-views.h"

/*
 * A name has 64 characters at most, also with what stands before it while rows come. A table is a file, in whose name of 255 bytes each
 * odd character takes five.
 */
static const char *const reserved[] = {"_ctp_", "#mysql50#", NULL}; /* the second stands before names of an old server */
static const struct ctp_sql_naming naming = {
	.reserved = reserved, .max_bytes = 64 - (sizeof CTP_MYSQL_STAGING - 1), .max_odd = 40, .bmp = true};

#define SAME "utf8mb4_general_ci"
#define TABLE(name) "CREATE TABLE IF NOT EXISTS " CTP_MYSQL_STAGING name

/* Views' names are taken before there are views: @ctp_views. */
const struct ctp_sql_words ctp_mysql_words = {
	.tables =
		TABLE("coro_trace_events") " (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, probe_id DECIMAL(20,0) NOT NULL, tid DECIMAL(20,0) NOT NULL,"
		" addr VARCHAR(18) NOT NULL, seq DECIMAL(20,0) NOT NULL, is_active BOOLEAN NOT NULL, ts DECIMAL(20,0) NOT NULL, PRIMARY KEY (id))"
		" ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;"
		TABLE("sections") " (id BIGINT PRIMARY KEY, host LONGTEXT, pid DECIMAL(20,0), argv LONGTEXT, tool LONGTEXT, clock LONGTEXT,"
		" wall_offset_ns BIGINT, start_ns DECIMAL(20,0), end_ns DECIMAL(20,0), complete BOOLEAN NOT NULL, attrs LONGTEXT NOT NULL, stream TEXT)" CTP_MYSQL_OPTIONS ";"
		TABLE("classes") " (id BIGINT PRIMARY KEY, name VARCHAR(1020) NOT NULL, kind VARCHAR(32) NOT NULL, table_name VARCHAR(64) NOT NULL,"
		" declaration LONGTEXT NOT NULL)" CTP_MYSQL_OPTIONS ";"
		TABLE("fields") " (class BIGINT NOT NULL, position INTEGER NOT NULL, name VARCHAR(1020) NOT NULL, column_name VARCHAR(64) NOT NULL,"
		" type VARCHAR(32) NOT NULL, role VARCHAR(32) NOT NULL, unit VARCHAR(1020), PRIMARY KEY (class, position))" CTP_MYSQL_OPTIONS ";"
		TABLE("symbols") " (section BIGINT NOT NULL, addr VARCHAR(18) NOT NULL, text LONGTEXT, PRIMARY KEY (section, addr))" CTP_MYSQL_OPTIONS,
	.table = "CREATE TABLE %T (" CTP_SQL_KEY " BIGINT UNSIGNED NOT NULL PRIMARY KEY, section BIGINT NOT NULL%s)" CTP_MYSQL_OPTIONS,
	.index_columns = "%I, %I",
	.taken = "SELECT 1 FROM (SELECT lower(%L) AS n) q WHERE find_in_set(q.n, @ctp_views) OR EXISTS (SELECT 1 FROM information_schema.tables"
	         " WHERE table_schema = database() AND lower(table_name) IN (q.n, concat('" CTP_MYSQL_STAGING "', q.n)))",
	/* A name that is the same to the server but for more than case is no type. */
	.column_type = "SELECT CASE WHEN BINARY lower(convert(column_name USING utf8mb4)) = BINARY lower(q.n) THEN column_type ELSE '' END FROM information_schema.columns,"
	               " (SELECT %L AS t, %L AS n) q WHERE table_schema = database() AND table_name = concat('" CTP_MYSQL_STAGING "', q.t)"
	               " AND lower(convert(column_name USING utf8mb4)) COLLATE " SAME " = lower(q.n) COLLATE " SAME,
	.folded = "lower(%L) COLLATE " SAME, /* by which a server finds columns of a table that has many */
	.section = "BIGINT NOT NULL DEFAULT 0",
	.columns = "SELECT k.table_name, f.column_name FROM %T k LEFT JOIN %T f ON f.class = k.id WHERE k.id = %d ORDER BY f.position",
	.types = {[CTP_SQL_INTEGER] = "BIGINT", [CTP_SQL_DECIMAL] = "BIGINT", [CTP_SQL_HEX] = "VARCHAR(18)", [CTP_SQL_ENUM] = "LONGTEXT",
	          [CTP_SQL_REAL] = "DOUBLE", [CTP_SQL_STRING] = "LONGTEXT", [CTP_SQL_BYTES] = "LONGBLOB",
	          [CTP_SQL_TYPE_BOOL] = "TINYINT(1)", /* as the server calls a BOOLEAN */ [CTP_SQL_TYPE_WIDE] = "DECIMAL(20,0)"},
	.staging = CTP_MYSQL_STAGING,
	.symbol_again = "ON DUPLICATE KEY UPDATE text = CASE WHEN text = VALUES(text) THEN text END",
	.view_again = "CREATE OR REPLACE VIEW %I AS %s",
	.naming = &naming,
	.late = true,
	.views = &sql_views,
};
