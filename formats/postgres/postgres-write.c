/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* postgres-write.c - PostgreSQL as an engine of sql.h; see postgres.h. All is one transaction, tables and views too. */
#include "postgres/postgres-db.h"
#include "postgres/postgres-now.h"
#include "sql/sql-rows.h"
#include "symbols/symbols.h"

/* --- begin --------------------------------------------------------------------------------------------------------------- */

/* As coroTracer makes it; what it calls BIGSERIAL is the id's type here too, and the key is added when the rows are there. */
static const char events[] = "CREATE TABLE coro_trace_events (id BIGSERIAL, probe_id %s NOT NULL, tid %s NOT NULL,"
                             " addr VARCHAR(18) NOT NULL, seq %s NOT NULL, is_active BOOLEAN NOT NULL, ts %s NOT NULL)";

/* The existing table decides how numbers are stored. Other loads wait for the lock, readers do not. */
static enum ctp_status join_table(struct ctp_postgres *p, struct ctp_err *err)
{
	enum ctp_status status;
	char *type = ctp_sql_find(&p->sql, &status, err, p->sql.words->column_type, p->sql.events, "ts");
	p->options.bigint = type && !strcmp(type, "bigint");
	free(type);
	if (status || ctp_postgres_lock(p, err))
		return CTP_FAILED;
	return p->options.live ? CTP_OK : ctp_sql_exec(&p->sql, err, "LOCK TABLE coro_trace_events IN SHARE ROW EXCLUSIVE MODE");
}

/* A schema that is there is not made: to be allowed to would be asked for first. */
static enum ctp_status enter_schema(struct ctp_postgres *p, struct ctp_err *err)
{
	int64_t there = ctp_sql_look_up(&p->sql, err, "SELECT 1 FROM pg_namespace WHERE nspname = %L", p->schema);
	if (there < 0 || (!there && ctp_sql_exec(&p->sql, err, "CREATE SCHEMA %I", p->schema)))
		return CTP_FAILED;
	return ctp_sql_exec(&p->sql, err, "SET search_path = %I", p->schema);
}

static enum ctp_status begin_transaction(struct ctp_postgres *p, struct ctp_err *err)
{
	struct ctp_sql *db = &p->sql;
	p->open = true;
	/* Names come from the trace: a backslash in a text must be one. */
	if (ctp_postgres_exec(db, "BEGIN; SET standard_conforming_strings = on; SET client_min_messages = warning; SET maintenance_work_mem = '256MB';"
	                          " SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0", err))
		return CTP_FAILED;
	if (p->schema && enter_schema(p, err))
		return CTP_FAILED;
	static const char instead[] = CTP_POSTGRES_INSTEAD;
	int64_t there = ctp_sql_look_up(db, err, db->words->taken, db->events);
	int64_t classes = there < 0 ? -1 : ctp_sql_look_up(db, err, db->words->taken, "classes");
	if (classes < 0 || (classes ? ctp_sql_events_alone(db, instead, err) : ctp_sql_others(db, instead, err)))
		return CTP_FAILED;
	if ((there || classes) && !p->options.append)
		return ctp_err_set(err, "%s: has a table %s; --append adds to it", p->name, there ? db->events : "classes");
	if (there)
		return join_table(p, err);
	const char *number = p->options.bigint ? "BIGINT" : "NUMERIC(20,0)";
	p->fresh = !classes && !p->options.live;
	return ctp_sql_exec(db, err, events, number, number, number, number) || ctp_postgres_lock(p, err) ? CTP_FAILED : CTP_OK;
}

/* --- end ----------------------------------------------------------------------------------------------------------------- */

static const char indexes[] =
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_probe_seq ON coro_trace_events (probe_id, seq);"
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_tid_ts ON coro_trace_events (tid, ts);"
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_ts ON coro_trace_events (ts);"
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_coro ON coro_trace_events (coro, section, \"index\" NULLS FIRST, id)"; /* for the views */

/* Statistics are made here, for the views need them from the start. */
static enum ctp_status finish(struct ctp_sql *db, const struct ctp_tick *tick, struct ctp_err *err)
{
	(void)tick;
	if (CTP_POSTGRES_MAKE_KEYS(db, err) || ctp_sql_exec(db, err, indexes) ||
	    ctp_sql_exec(db, err, "SELECT setval(pg_get_serial_sequence(quote_ident('coro_trace_events'), 'id'), max(id)) FROM coro_trace_events;"
	                          " ANALYZE coro_trace_events, sections, classes, fields"))
		return CTP_FAILED;
	((struct ctp_postgres *)db)->committing = true;
	return ctp_postgres_exec(db, "COMMIT", err);
}

static void free_db(struct ctp_sql *db)
{
	struct ctp_postgres *p = (struct ctp_postgres *)db;
	if (p->copying)
		PQputCopyEnd(p->conn, "not all of it came");
	PQfinish(p->conn); /* an open transaction is rolled back */
	ctp_sql_tables_free(db);
	ctp_postgres_now_free(p->now);
	free(p->schema);
	free(p);
}

#define OPS \
	.exec = ctp_postgres_exec, .query = ctp_postgres_query, .rows = ctp_postgres_rows, .add = ctp_postgres_add, \
	.end = ctp_postgres_end, .drop = ctp_postgres_drop, .free = free_db

static const struct ctp_sql_ops ops = {OPS, .finish = finish};

static const struct ctp_sql_ops live_ops = {
	OPS,
	.begin = ctp_postgres_live_begin,
	.index = ctp_postgres_live_index,
	.show = ctp_postgres_live_show,
	.finish = ctp_postgres_live_finish,
};

/* The table that is there has decided between the two; live the views are made at the beginning, and not in the sink's finish. */
static void choose_words(struct ctp_postgres *p)
{
	p->words = p->options.bigint ? ctp_postgres_bigint_words : ctp_postgres_words;
	p->words.late = p->options.live;
	p->naming = *p->words.naming;
	p->naming.ascii = p->escapes;
	p->words.naming = &p->naming;
	p->sql.words = &p->words;
}

/* [SCHEMA.]T */
static enum ctp_status name_events(struct ctp_postgres *p, const char *table, struct ctp_err *err)
{
	table = table ? table : CTP_SQL_EVENTS;
	const char *dot = strchr(table, '.');
	p->sql.events = dot ? dot + 1 : table;
	if (dot && !(p->schema = strndup(table, (size_t)(dot - table))))
		return ctp_err_as(err, CTP_ERR_MEMORY, "ctp-postgres: out of memory");
	if (strchr(p->sql.events, '.') || (dot && dot == table))
		return ctp_err_set(err, "--table %s: is no name; it is T, or SCHEMA.T", table);
	return ctp_sql_events_check(&p->sql, err);
}

struct ctp_sink *ctp_postgres_sink(const struct ctp_postgres_options *options, struct ctp_symbols *symbols, struct ctp_err *err)
{
	struct ctp_postgres *p = calloc(1, sizeof *p);
	if (p) {
		p->sql = (struct ctp_sql){.ops = options->live ? &live_ops : &ops, .words = &ctp_postgres_words, .replaces = options->replace};
		p->options = *options;
		if (!name_events(p, options->table, err) && !ctp_postgres_connect(p, err) && !begin_transaction(p, err)) {
			choose_words(p);
			return ctp_sql_sink(&p->sql, symbols, err);
		}
		free_db(&p->sql);
	} else {
		ctp_err_as(err, CTP_ERR_MEMORY, "ctp-postgres: out of memory");
	}
	ctp_symbols_free(symbols);
	return NULL;
}
