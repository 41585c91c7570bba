/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite-words.c - how SQLite spells what sql.h leaves open.
 *
 * SQLite uses an index to look up a row of a view, also where a kind has several tables, because these subqueries have no aggregates
 * and no joins, but ORDER BY and LIMIT.
 */
#include "sqlite/sqlite-db.h"

#define SQL_NUMBER "INTEGER"
#define SQL_PROBE "TEXT"
#define SQL_TEXT "TEXT"
#define SQL_COLUMN(x) x
#define SQL_ADDRESS(x) x
#define SQL_UP ""
#define SQL_DOWN " DESC"
#define SQL_LEAST "min"
#define SQL_GREATEST "max"
#define SQL_MATERIALIZED "MATERIALIZED"
#define SQL_WHOLE ""
#define SQL_APART(name) ""
#define SQL_SECOND(number) "strftime('%Y-%m-%dT%H:%M:%S', " number ", 'unixepoch')"

/*
 * A time of 2^63 ns or more is a negative number here, and a sum that does not fit would become a float: so seconds are added, and what
 * is left of a second. The halves of a time have 32 bits. 2^32 ns are 4 s and 294967296 ns.
 */
#define HIGH "(e.ts >> 32 & 4294967295)"
#define REST "(" HIGH " * 294967296 + (e.ts & 4294967295))"
#define SUM "(" REST " % 1000000000 + s.wall_offset_ns % 1000000000)"
#define SQL_WALL_SECOND "(" HIGH " * 4 + " REST " / 1000000000 + s.wall_offset_ns / 1000000000 + (" SUM " >= 1000000000) - (" SUM " < 0))"
#define SQL_WALL_FRACTION "((" SUM " + 1000000000) % 1000000000)"
#define SQL_WALL_NS \
	"CASE WHEN " SQL_WALL_SECOND " BETWEEN -9223372036 AND 9223372035 THEN " SQL_WALL_SECOND " * 1000000000 + " SQL_WALL_FRACTION " END"

/* The SELECT is nested, because SQLite searches the tables of a view one by one only if the order is by selected columns. */
#define SQL_PICK(what, from) "(SELECT " what " FROM (SELECT * FROM " from " LIMIT 1) r)"
#define SQL_ALL_OF(what, from) "(SELECT " what " FROM (SELECT * FROM " from " LIMIT -1) r)"
#include "sql/sql-views.h"

/* The first table, with its CHECK, is word for word coroTracer's. */
const struct ctp_sql_words ctp_sqlite_words = {
	.tables =
		"CREATE TABLE IF NOT EXISTS coro_trace_events (id INTEGER PRIMARY KEY AUTOINCREMENT, probe_id TEXT NOT NULL,"
		" tid INTEGER NOT NULL, addr TEXT NOT NULL, seq INTEGER NOT NULL,"
		" is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)), ts INTEGER NOT NULL);"
		"CREATE TABLE IF NOT EXISTS sections (id INTEGER PRIMARY KEY, host TEXT, pid INTEGER, argv TEXT, tool TEXT, clock TEXT,"
		" wall_offset_ns INTEGER, start_ns INTEGER, end_ns INTEGER, complete INTEGER NOT NULL, attrs TEXT NOT NULL, stream TEXT);"
		"CREATE TABLE IF NOT EXISTS classes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL,"
		" table_name TEXT NOT NULL, declaration TEXT NOT NULL UNIQUE);"
		"CREATE TABLE IF NOT EXISTS fields (class INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,"
		" column_name TEXT NOT NULL, type TEXT NOT NULL, role TEXT NOT NULL, unit TEXT, PRIMARY KEY (class, position))"
		" WITHOUT ROWID;"
		"CREATE TABLE IF NOT EXISTS symbols (section INTEGER NOT NULL, addr TEXT NOT NULL, text TEXT,"
		" PRIMARY KEY (section, addr)) WITHOUT ROWID",
	.table = "CREATE TABLE %I (" CTP_SQL_KEY " INTEGER PRIMARY KEY, section INTEGER NOT NULL%s)",
	.index_columns = "%I, %I",
	.taken = "SELECT 1 FROM (SELECT name FROM sqlite_schema UNION ALL SELECT name FROM pragma_module_list)"
	         " WHERE name = %L COLLATE NOCASE",
	.column_type = "SELECT type FROM pragma_table_info(%L) WHERE name = %L COLLATE NOCASE",
	.section = "INTEGER NOT NULL DEFAULT 0",
	.columns = "SELECT k.table_name, f.column_name FROM %T k LEFT JOIN %T f ON f.class = k.id WHERE k.id = %d ORDER BY f.position",
	.types = {CTP_SQLITE_TYPES},
	.symbol_again = "ON CONFLICT DO UPDATE SET text = CASE WHEN text = excluded.text THEN text END",
	.view_drop = "DROP VIEW IF EXISTS %I",
	.view_again = "CREATE VIEW %I AS %s",
	.naming = &ctp_sqlite_naming,
	.blobs = true,
	.wraps = true,
	.views = &sql_views,
};
