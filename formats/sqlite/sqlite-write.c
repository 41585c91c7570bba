/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sqlite-write.c - SQLite as an engine of sql.h; see sqlite.h. */
#include "sqlite/sqlite.h"

#include <stdlib.h>

#include "sqlite/sqlite-db.h"
#include "sqlite/sqlite-events.h"
#include "symbols/symbols.h"

struct ctp_sql_rows { /* one is null */
	struct ctp_sqlite_columns *columns;
	struct ctp_sqlite_batch *batch;
};

/* --- rows ---------------------------------------------------------------------------------------------------------------- */

static void drop(struct ctp_sql_rows *r)
{
	if (!r)
		return;
	ctp_sqlite_batch_free(r->batch);
	free(r->columns);
	free(r);
}

static struct ctp_sql_rows *rows(struct ctp_sql *db, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err)
{
	struct ctp_sqlite *s = (struct ctp_sqlite *)db;
	struct ctp_sql_rows *r = calloc(1, sizeof *r);
	if (!r)
		ctp_sql_no_memory(db, err);
	else if (s->events && ctp_sql_is_event(cls))
		r->columns = ctp_sqlite_columns(s, cls, class_id, err);
	else
		r->batch = ctp_sqlite_batch_new(s, cls, class_id, err);
	if (r && (r->columns || r->batch))
		return r;
	drop(r);
	return NULL;
}

static enum ctp_status add(struct ctp_sql *db, struct ctp_sql_rows *r, int64_t section, const uint64_t *val, struct ctp_err *err)
{
	struct ctp_sqlite *s = (struct ctp_sqlite *)db;
	return r->columns ? ctp_sqlite_events_add(s->events, r->columns, section, val, err) :
	                    ctp_sqlite_batch_add(r->batch, s, section, val, err);
}

static enum ctp_status end(struct ctp_sql *db, struct ctp_sql_rows *r, struct ctp_err *err)
{
	return r->batch ? ctp_sqlite_batch_flush(r->batch, (struct ctp_sqlite *)db, err) : CTP_OK;
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

static const char indexes[] =
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_probe_seq ON coro_trace_events (probe_id, seq);"
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_tid_ts ON coro_trace_events (tid, ts);"
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_ts ON coro_trace_events (ts);"
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_coro ON coro_trace_events (coro, section, \"index\")"; /* for the views */

/* Rows without a section are of a database in which the column may be NULL: the views look for a number. */
static enum ctp_status begin(struct ctp_sql *db, struct ctp_err *err)
{
	struct ctp_sqlite *s = (struct ctp_sqlite *)db;
	int64_t nullable = ctp_sql_look_up(db, err, "SELECT 1 FROM pragma_table_info('coro_trace_events')"
	                                            " WHERE name = 'section' AND NOT \"notnull\"");
	if (nullable < 0 || ctp_sqlite_exec(db, indexes, err) || ctp_sqlite_module(s, err) ||
	    (nullable && ctp_sqlite_exec(db, "UPDATE coro_trace_events SET section = 0 WHERE section IS NULL", err)))
		return CTP_FAILED;
	return !s->out || (s->events = ctp_sqlite_events_new(s->out->name, err)) ? CTP_OK : CTP_FAILED;
}

static enum ctp_status finish(struct ctp_sql *db, const struct ctp_tick *tick, struct ctp_err *err)
{
	struct ctp_sqlite *s = (struct ctp_sqlite *)db;
	if ((s->events && ctp_sqlite_events_announce(s->events, s, err)) || ctp_sqlite_exec(db, "COMMIT", err))
		return CTP_FAILED;
	if (sqlite3_close(s->db))
		return ctp_sqlite_error(s, err);
	s->db = NULL;
	if (!s->out)
		return CTP_OK;
	if (ctp_sqlite_events_finish(s->events, s->out, tick, err) || ctp_sqlite_check_place(s->out->name, err))
		return CTP_FAILED;
	return ctp_output_close(s->out, err);
}

/* Closing rolls an open transaction back. */
static void free_db(struct ctp_sql *db)
{
	struct ctp_sqlite *s = (struct ctp_sqlite *)db;
	ctp_sqlite_events_free(s->events);
	sqlite3_close(s->db);
	if (s->out)
		ctp_output_abandon(s->out);
	free(s);
}

static const struct ctp_sql_ops ops = {
	.exec = ctp_sqlite_exec,
	.query = ctp_sqlite_query,
	.begin = begin,
	.rows = rows,
	.add = add,
	.end = end,
	.drop = drop,
	.finish = finish,
	.free = free_db,
};

static struct ctp_sink *new_sink(struct ctp_output *out, const char *path, bool replace, struct ctp_symbols *symbols, struct ctp_err *err)
{
	struct ctp_sqlite *s = calloc(1, sizeof *s);
	if (s) {
		s->sql = (struct ctp_sql){.ops = &ops, .words = &ctp_sqlite_words, .events = CTP_SQL_EVENTS, .replaces = replace};
		s->out = out;
		if (!(out ? ctp_sqlite_open_new(s, out, err) : ctp_sqlite_open_old(s, path, err)))
			return ctp_sql_sink(&s->sql, symbols, err);
		free_db(&s->sql);
	} else {
		ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", path);
		if (out)
			ctp_output_abandon(out);
	}
	ctp_symbols_free(symbols);
	return NULL;
}

struct ctp_sink *ctp_sqlite_sink(struct ctp_output *out, struct ctp_symbols *symbols, struct ctp_err *err)
{
	return new_sink(out, out->name, false, symbols, err);
}

struct ctp_sink *ctp_sqlite_append(const char *path, bool replace, struct ctp_symbols *symbols, struct ctp_err *err)
{
	return new_sink(NULL, path, replace, symbols, err);
}
