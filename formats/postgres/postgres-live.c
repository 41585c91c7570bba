/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * postgres-live.c - a stream that is loaded while it comes: all that there is becomes visible every second.
 *
 * A transaction begins with its first statement, so that none is open while nothing comes. Tables have an index of the ids, and one
 * that says which pages have which times (BRIN), which costs next to nothing while rows come in the order of time; new
 * pages are added to it here, because the server would add them later. Only one live load may number rows: it holds a lock of its
 * session on the table of events, and others fail at once instead of waiting.
 */
#include "postgres/postgres-db.h"
#include "postgres/postgres-now.h"
#include "sql/sql-rows.h"

static enum ctp_status commit(struct ctp_postgres *p, struct ctp_err *err)
{
	p->committing = true;
	if (ctp_postgres_exec(&p->sql, "COMMIT", err))
		return CTP_FAILED;
	p->committing = p->open = false;
	p->committed = p->delivered;
	return CTP_OK;
}

/* --- locks --------------------------------------------------------------------------------------------------------------- */

#define LOCK(function) "SELECT " function "((x'637470'::bigint << 32) | to_regclass(quote_ident('coro_trace_events'))::oid::bigint)::int"

enum ctp_status ctp_postgres_lock(struct ctp_postgres *p, struct ctp_err *err)
{
	int64_t got = ctp_sql_look_up(&p->sql, err, p->options.live ? LOCK("pg_try_advisory_lock") : LOCK("pg_try_advisory_xact_lock_shared"));
	if (got)
		return got < 0 ? CTP_FAILED : CTP_OK;
	return ctp_err_set(err, "%s: another ctp-postgres %swrites to %s now; " CTP_POSTGRES_INSTEAD, p->name, p->options.live ? "" : "--live ",
	                   p->sql.events);
}

/* --- tables -------------------------------------------------------------------------------------------------------------- */

/* What is looked up while rows come: sites, which are few, and what postgres-now.c asks for, once for each coroutine. */
enum ctp_status ctp_postgres_live_index(struct ctp_sql *db, const char *name, const char *table, const char *columns, struct ctp_err *err)
{
	int64_t asked = ctp_sql_look_up(db, err, "SELECT 1 FROM classes WHERE table_name = %L AND kind IN ('site', 'death', 'name')", table);
	if (asked <= 0)
		return asked < 0 ? CTP_FAILED : CTP_OK;
	return ctp_sql_create_index(db, name, table, columns, err);
}

/* On the time of each table that has none. */
static enum ctp_status index_times(struct ctp_sql *db, struct ctp_err *err)
{
	return ctp_sql_exec_list(db, "", "; ", "CREATE INDEX ON %I USING brin (%I)",
		"SELECT DISTINCT ON (k.table_name) k.table_name, f.column_name FROM classes k JOIN fields f ON f.class = k.id AND f.role = 'time'"
		" WHERE NOT EXISTS (SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam"
		"                   WHERE i.indrelid = to_regclass(quote_ident(k.table_name)) AND a.amname = 'brin')"
		" ORDER BY k.table_name, k.id, f.position", err);
}

/* Keys, indexes and views of tables that are new. */
static enum ctp_status make_tables_whole(struct ctp_sql *db, struct ctp_err *err)
{
	return CTP_POSTGRES_MAKE_KEYS(db, err) || index_times(db, err) || ctp_sql_views_last(db, err) ? CTP_FAILED : CTP_OK;
}

enum ctp_status ctp_postgres_live_begin(struct ctp_sql *db, struct ctp_err *err)
{
	struct ctp_postgres *p = (struct ctp_postgres *)db;
	return make_tables_whole(db, err) || ctp_postgres_now_begin(p, err) ? CTP_FAILED : commit(p, err);
}

/* --- what there is ------------------------------------------------------------------------------------------------------- */

static enum ctp_status set_sequence(struct ctp_postgres *p, struct ctp_err *err)
{
	const struct ctp_sql_table *t = ctp_sql_table_find(&p->sql, p->sql.events);
	if (!t || t->next_id <= 1)
		return CTP_OK;
	return ctp_sql_exec(&p->sql, err, "SELECT setval(pg_get_serial_sequence(quote_ident('coro_trace_events'), 'id'), %d)", t->next_id - 1);
}

enum { NOTED_ROWS = 100000 }; /* that come between two looks at their times */

#define NOTE_TIMES \
	"SELECT brin_summarize_new_values(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam" \
	" WHERE a.amname = 'brin' AND i.indrelid IN (SELECT to_regclass(quote_ident(table_name)) FROM classes);"

/*
 * Tells the planner which pages have which times, and what is in tables that are twice as large as the last time. It is for speed
 * alone: if it cannot lock a table at once, as during a VACUUM, it tries again the next time.
 */
static void note_times(struct ctp_postgres *p)
{
	struct ctp_bytes sql = {0};
	struct ctp_err ignored;
	if (p->delivered - p->noted < NOTED_ROWS)
		return;
	p->noted = p->delivered;
	ctp_sql_put(&p->sql, &sql, "BEGIN; SET LOCAL lock_timeout = '50ms'; " NOTE_TIMES);
	for (struct ctp_sql_table *t = p->sql.tables; t; t = t->next) {
		if (t->next_id < NOTED_ROWS || t->next_id / 2 < t->analysed)
			continue;
		ctp_sql_put(&p->sql, &sql, " ANALYZE %I;", t->name);
		t->analysed = t->next_id;
	}
	ctp_bytes_text(&sql, " COMMIT");
	const char *text = ctp_bytes_str(&sql);
	if (text && ctp_postgres_run(p, text, &ignored))
		ctp_postgres_run(p, "ROLLBACK", &ignored);
	ctp_bytes_fini(&sql);
}

enum ctp_status ctp_postgres_live_show(struct ctp_sql *db, struct ctp_err *err)
{
	struct ctp_postgres *p = (struct ctp_postgres *)db;
	if ((db->has_new_class && make_tables_whole(db, err)) || ctp_postgres_now_put(p, err) || set_sequence(p, err))
		return CTP_FAILED;
	if (commit(p, err))
		return CTP_FAILED;
	note_times(p);
	return CTP_OK;
}

enum ctp_status ctp_postgres_live_finish(struct ctp_sql *db, const struct ctp_tick *tick, struct ctp_err *err)
{
	(void)tick;
	return ctp_postgres_live_show(db, err);
}
