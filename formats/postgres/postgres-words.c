/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* postgres-words.c - how PostgreSQL spells what sql.h leaves open. */
#include "postgres/postgres-db.h"

#ifdef BIGINT /* postgres-bigint.c */
#define SQL_NUMBER BIGINT
#define SQL_EVENT_NUMBER BIGINT
#define WORDS ctp_postgres_bigint_words
#define WIDE NULL
#define SUM_FITS "(s.wall_offset_ns <= 0 OR e.ts <= 9223372036854775807 - s.wall_offset_ns)" /* a sum that does not would fail the query */
#define SQL_WALL_NS "(CASE WHEN " SUM_FITS " THEN e.ts + s.wall_offset_ns END)"
#define SQL_WALL_FRACTION "((" SQL_WALL_NS " % 1000000000 + 1000000000) % 1000000000)"
#define SQL_WALL_SECOND "((" SQL_WALL_NS "::numeric - " SQL_WALL_FRACTION ") / 1000000000)"
#else
#define SQL_NUMBER "NUMERIC"
#define SQL_EVENT_NUMBER "NUMERIC(20,0)"
#define WORDS ctp_postgres_words
#define WIDE SQL_EVENT_NUMBER
#endif
#define SQL_PROBE SQL_NUMBER
#define SQL_TEXT "TEXT"
#define SQL_COLUMN(x) "CAST(" x " AS " SQL_EVENT_NUMBER ")"
#define SQL_ADDRESS(x) "CAST(" x " AS VARCHAR(18))"
#define SQL_UP " NULLS FIRST"
#define SQL_DOWN " DESC NULLS LAST"
#define SQL_LEAST "least"
#define SQL_GREATEST "greatest"
#define SQL_MATERIALIZED "MATERIALIZED"
#define SQL_WHOLE ""
#define SQL_APART(name) ", random() AS apart_" name /* what has a volatile column is not merged, and conditions still go in */
#define SQL_SECOND(number) "to_char(to_timestamp((" number ")::bigint) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS')"
#define SQL_PICK(what, from) "(SELECT " what " FROM " from " LIMIT 1)"
#define SQL_ALL_OF(what, from) "(SELECT " what " FROM " from ")"
#include "sql/sql-views.h"

static const char *const system_columns[] = {"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", NULL};
static const struct ctp_sql_naming naming = {.max_bytes = CTP_POSTGRES_NAME_MAX, .columns = system_columns};

/* coroTracer's table is made elsewhere. Names of indexes are those of relations, as tables' and views'; types have a name each, too. */
const struct ctp_sql_words WORDS = {
	.tables =
		"CREATE TABLE IF NOT EXISTS sections (id BIGINT PRIMARY KEY, host TEXT, pid NUMERIC(20,0), argv TEXT, tool TEXT, clock TEXT,"
		" wall_offset_ns BIGINT, start_ns NUMERIC(20,0), end_ns NUMERIC(20,0), complete BOOLEAN NOT NULL, attrs TEXT NOT NULL, stream TEXT);"
		"CREATE TABLE IF NOT EXISTS classes (id BIGINT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL,"
		" table_name TEXT NOT NULL, declaration TEXT NOT NULL);"
		"CREATE TABLE IF NOT EXISTS fields (class BIGINT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,"
		" column_name TEXT NOT NULL, type TEXT NOT NULL, role TEXT NOT NULL, unit TEXT, PRIMARY KEY (class, position));"
		"CREATE TABLE IF NOT EXISTS symbols (section BIGINT NOT NULL, addr VARCHAR(18) NOT NULL, text TEXT,"
		" PRIMARY KEY (section, addr))",
	.table = "CREATE TABLE %I (" CTP_SQL_KEY " BIGINT NOT NULL, section BIGINT NOT NULL%s)",
	.index_columns = "%I, %I NULLS FIRST",
	.taken = "SELECT 1 FROM pg_class c WHERE lower(relname) = lower(%L COLLATE \"C\") AND relnamespace IN (SELECT oid FROM pg_namespace"
	         " WHERE nspname IN (current_schema(), 'pg_catalog'))", /* a table of its catalog would be meant */
	.column_type = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(%L))"
	               " AND lower(attname) = lower(%L COLLATE \"C\") AND attnum > 0 AND NOT attisdropped",
	.section = "BIGINT NOT NULL DEFAULT 0",
	.columns = "SELECT k.table_name, f.column_name, format_type(a.atttypid, a.atttypmod)"
	           " FROM %T k LEFT JOIN %T f ON f.class = k.id LEFT JOIN pg_attribute a"
	           " ON a.attrelid = to_regclass(quote_ident(k.table_name)) AND a.attname = f.column_name AND NOT a.attisdropped"
	           " WHERE k.id = %d ORDER BY f.position",
	.types = {[CTP_SQL_INTEGER] = "BIGINT", [CTP_SQL_DECIMAL] = "BIGINT", [CTP_SQL_HEX] = "VARCHAR(18)", [CTP_SQL_ENUM] = "TEXT",
	          [CTP_SQL_REAL] = "DOUBLE PRECISION", [CTP_SQL_STRING] = "TEXT", [CTP_SQL_BYTES] = "BYTEA",
	          [CTP_SQL_TYPE_BOOL] = "BOOLEAN", [CTP_SQL_TYPE_WIDE] = WIDE},
	.symbol_again = "ON CONFLICT (section, addr) DO UPDATE SET text = CASE WHEN symbols.text = excluded.text THEN symbols.text END",
	.casts = true,
	.typed = true,
	.view_again = "CREATE OR REPLACE VIEW %I AS %s",
	.view_note = "COMMENT ON VIEW %I IS %L",
	.view_noted = "SELECT 1 FROM pg_class WHERE relname = %L AND relnamespace = quote_ident(current_schema())::regnamespace"
	              " AND obj_description(oid, 'pg_class') = %L",
	.naming = &naming,
	.views = &sql_views,
};
