/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tosqlite.c - whatever records come, in whatever classes, SQLite finds the new database sound, each section and each record is a row
 * in it, and every view can be read, which takes long and is done now and then; and what is appended to a database is there as well.
 * Covers: formats/sqlite
 */
#include <sqlite3.h>
#include <unistd.h>

#include "sqlite/sqlite.h"
#include "steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/dev/shm/ctp-fuzz-XXXXXX.db";
static uint64_t records;

static void remove_file(void) { unlink(path); }

static void ended(struct steps *s) { records += s->records; }

/* The sum of the first column of a query, in which a text is an error unless it is "ok". */
static int64_t sum_of(sqlite3 *db, const char *query)
{
	sqlite3_stmt *stmt;
	int64_t sum = 0;
	must(!sqlite3_prepare_v2(db, query, -1, &stmt, NULL), sqlite3_errmsg(db));
	int rc;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);
		must(sqlite3_column_type(stmt, 0) != SQLITE_TEXT || !strcmp(text, "ok"), text);
		sum += sqlite3_column_int64(stmt, 0);
	}
	must(rc == SQLITE_DONE, sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
	return sum;
}

/* The rows of all tables, or views, that this finds. */
static int64_t rows_of(sqlite3 *db, const char *which)
{
	sqlite3_stmt *stmt;
	int64_t sum = 0;
	must(!sqlite3_prepare_v2(db, which, -1, &stmt, NULL), sqlite3_errmsg(db));
	while (sqlite3_step(stmt) == SQLITE_ROW)
		sum += sum_of(db, (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return sum;
}

static void check(uint32_t sections, bool with_views)
{
	/* Transitions of a class with a table of its own are in both. Four tables have what is worked out. */
	static const char tables[] = "SELECT printf('SELECT count(*) FROM \"%w\"', table_name) FROM"
	                             " (SELECT DISTINCT table_name FROM classes) WHERE table_name NOT IN"
	                             " ('coro_trace_events', 'objects_at_end', 'holders_at_end', 'reasons_at_end', 'origins_at_end', 'object_wait', 'hold_interval')";
	static const char views[] = "SELECT printf('SELECT count(*) FROM \"%w\"', name) FROM sqlite_schema WHERE type = 'view'";
	sqlite3 *db;
	must(!sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), "no database");
	sum_of(db, "PRAGMA integrity_check");
	must(sum_of(db, "SELECT count(*) FROM sections") == sections, "more or fewer sections");
	uint64_t others = (uint64_t)rows_of(db, tables), events = (uint64_t)sum_of(db, "SELECT count(*) FROM coro_trace_events");
	must(others <= records && records <= others + events, "more or fewer records");
	if (with_views)
		rows_of(db, views);
	sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	struct ctp_output out;
	struct steps s;
	if (!made)
		must(mkstemps(path, 3) >= 0 && !atexit(remove_file), "no file");
	made = true;
	unlink(path);
	records = 0;
	steps_start(&s, data, size);
	s.ended = ended;
	uint8_t how = steps_byte(&s);
	must(!ctp_output_create(&out, path, true, true, &s.err), s.err.text);
	struct ctp_sink *sink = ctp_sqlite_sink(&out, NULL, &s.err);
	must(sink, s.err.text);
	steps_run(&s, sink);
	must(steps_finish(&s), s.err.text);
	uint32_t sections = s.sections;
	steps_fini(&s);
	check(sections, how >= 0xf0);
	if (!(how & 1))
		return 0;
	steps_start(&s, data, size);
	s.ended = ended;
	sink = ctp_sqlite_append(path, false, NULL, &s.err);
	must(sink, s.err.text);
	steps_run(&s, sink);
	bool skipped = sink->skipped; /* sections that are there already: how many rows come then is not known here */
	must(steps_finish(&s), s.err.text);
	if (!skipped)
		check(sections + s.sections, how >= 0xf0);
	steps_fini(&s);
	return 0;
}
