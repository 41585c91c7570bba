/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mysql-stage.c - the tables where rows wait, and how these become visible at once; see mysql-db.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mysql/mysql-db.h"

#define EVENTS CTP_SQL_EVENTS

/* --- begin --------------------------------------------------------------------------------------------------------------- */

#define TABLES "SELECT count(*) FROM information_schema.tables WHERE table_schema = database()"

/* Refuses what has one of our names and is not ours: there is no table classes that would say so. */
static enum ctp_status refuse_others(struct ctp_mysql *m, struct ctp_err *err)
{
	enum ctp_status status;
	char *other = ctp_sql_find(&m->sql, &status, err, "SELECT table_name FROM information_schema.tables WHERE table_schema = database()"
	                           " AND (table_name IN ('sections', 'classes', 'fields', 'symbols') OR find_in_set(lower(table_name), @ctp_views))"
	                           " ORDER BY table_name LIMIT 1");
	if (other && !status)
		status = ctp_err_set(err, "%s: has a table or view %.64s that is not ctp-mysql's; -D names another database", m->name, other);
	free(other);
	return status;
}

/* A copy of what is there: so classes are known, and sections are counted on. */
static enum ctp_status copy_tables(struct ctp_mysql *m, struct ctp_err *err)
{
	static const char *const copied[] = {"classes", "fields", "sections"};
	for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
		if (ctp_sql_exec(&m->sql, err, "CREATE TABLE %T LIKE %I; INSERT INTO %T SELECT * FROM %I", copied[i], copied[i], copied[i], copied[i]))
			return CTP_FAILED;
	if (ctp_sql_exec(&m->sql, err, "CREATE TABLE %T LIKE symbols", "symbols"))
		return CTP_FAILED;
	m->classes = ctp_sql_look_up(&m->sql, err, "SELECT coalesce(max(id), 0) FROM classes");
	m->sections = m->classes < 0 ? -1 : ctp_sql_look_up(&m->sql, err, "SELECT coalesce(max(id), 0) FROM sections");
	return m->sections < 0 ? CTP_FAILED : CTP_OK;
}

enum ctp_status ctp_mysql_stage(struct ctp_mysql *m, struct ctp_err *err)
{
	int64_t there = ctp_sql_look_up(&m->sql, err, TABLES " AND table_name = '" EVENTS "'");
	int64_t events = there < 0 ? -1 : ctp_mysql_is_table(m, "", m->sql.events, err);
	int64_t classes = events < 0 ? -1 : ctp_mysql_is_table(m, "", "classes", err);
	int64_t ours = classes < 0 ? -1 : ctp_sql_look_up(&m->sql, err, TABLES " AND table_name = 'classes'"
	                                                  " AND table_comment = '" CTP_MYSQL_MARK "'");
	if (ours < 0 || (ours && ctp_sql_events_alone(&m->sql, "-D names another database", err)))
		return CTP_FAILED;
	if (there && !m->options.append)
		return ctp_err_set(err, "%s: has a table %s; --append adds to it", m->name, m->sql.events);
	if (there && !events)
		return ctp_err_set(err, "%s: %s is a view, to which nothing can be added; -D names another database", m->name, m->sql.events);
	m->fresh = !there;
	if ((!there || !classes) && refuse_others(m, err))
		return CTP_FAILED;
	m->begun = true;
	ctp_mysql_signals_init(m);
	if (there && ctp_sql_exec(&m->sql, err, "CREATE TABLE %T (PRIMARY KEY (id)) AS SELECT * FROM " EVENTS " LIMIT 0", m->sql.events))
		return CTP_FAILED;
	return there && classes ? copy_tables(m, err) : CTP_OK;
}

/* --- keys ---------------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name, *columns;
} keys[] = {
	{"idx_probe_seq", "probe_id, seq"}, {"idx_tid_ts", "tid, ts"}, {"idx_ts", "ts"},
	{"idx_coro", "coro, section, \"index\""}, /* for the views */
};

/* Appends "ADD KEY ..." to add for those that the table lacks, and "DROP KEY ..." to undo. */
static enum ctp_status list_keys(struct ctp_mysql *m, const char *table, struct ctp_bytes *add, struct ctp_bytes *undo,
                                 struct ctp_err *err)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		int64_t there = ctp_sql_look_up(&m->sql, err, "SELECT count(*) FROM information_schema.statistics WHERE table_schema = database()"
		                                              " AND table_name = %L AND index_name = %L", table, keys[i].name);
		if (there < 0)
			return CTP_FAILED;
		if (there)
			continue;
		ctp_sql_put(&m->sql, add, add->len ? ", ADD KEY %s (%s)" : "ADD KEY %s (%s)", keys[i].name, keys[i].columns);
		ctp_sql_put(&m->sql, undo, undo->len ? ", DROP KEY %s" : "DROP KEY %s", keys[i].name);
	}
	return ctp_bytes_str(add) && ctp_bytes_str(undo) ? CTP_OK : ctp_sql_no_memory(&m->sql, err);
}

/* --- a new database ------------------------------------------------------------------------------------------------------ */

#define STAGED(columns) CTP_MYSQL_TABLES(columns, CTP_MYSQL_STAGING) " AND t.table_type = 'BASE TABLE' ORDER BY t.table_name"
#define OWN "substr(t.table_name, 11)" /* the name that the table will have */

static enum ctp_status make_keys(struct ctp_mysql *m, struct ctp_err *err)
{
	struct ctp_bytes add = {0}, undo = {0};
	char *staged = ctp_sql_text(&m->sql, CTP_MYSQL_STAGING "%s", m->sql.events);
	enum ctp_status status = staged ? list_keys(m, staged, &add, &undo, err) : ctp_sql_no_memory(&m->sql, err);
	if (!status)
		status = ctp_sql_exec(&m->sql, err, "ALTER TABLE %I %s", staged, add.data);
	ctp_bytes_fini(&add);
	ctp_bytes_fini(&undo);
	free(staged);
	return status;
}

/* The views could not be made: the tables go back to the names that they had. */
static void take_back(struct ctp_mysql *m, const char *back)
{
	struct ctp_err ignored;
	ctp_mysql_drop_views(m, &ignored);
	m->done = ctp_sql_exec(&m->sql, &ignored, "RENAME TABLE %s", back) != CTP_OK;
}

/*
 * The tables get their names all at once, and then their views: MySQL reads each view again when a table is renamed. A load that is
 * killed in between is whole, and the next one makes the views.
 */
static enum ctp_status publish_new(struct ctp_mysql *m, struct ctp_err *err)
{
	struct ctp_sql *db = &m->sql;
	struct ctp_bytes names = {0}, back = {0};
	if (make_keys(m, err) || ctp_sql_exec_list(db, "ANALYZE TABLE ", ", ", "%I", STAGED("t.table_name"), err))
		return CTP_FAILED;
	enum ctp_status status = ctp_sql_list(db, &names, ", ", "%I TO %I", STAGED("t.table_name, " OWN), err);
	if (!status)
		status = ctp_sql_list(db, &back, ", ", "%I TO %I", STAGED(OWN ", t.table_name"), err);
	m->committing = true;
	if (!status)
		status = ctp_sql_exec(db, err, "RENAME TABLE %s", names.data);
	m->committing = false;
	m->done = !status;
	if (m->done && ctp_mysql_make_views(m, err)) {
		take_back(m, back.data);
		status = CTP_FAILED;
	}
	ctp_bytes_fini(&names);
	ctp_bytes_fini(&back);
	return status;
}

/* --- a database that was there ------------------------------------------------------------------------------------------- */

#define COLUMNS(of) "SELECT c.column_name, c.column_type, CASE WHEN c.is_nullable = 'NO' THEN 'NOT NULL DEFAULT 0' ELSE '' END" \
	" FROM information_schema.columns c WHERE c.table_schema = database() AND c.table_name = '" of "'"
#define LACKS(table) \
	COLUMNS(CTP_MYSQL_STAGING table) " AND NOT EXISTS (SELECT 1 FROM information_schema.columns r WHERE r.table_schema = database()" \
	" AND r.table_name = '" table "' AND r.column_name = c.column_name) ORDER BY c.ordinal_position"

/* What the events' table lacks is added in one ALTER. */
static enum ctp_status widen_events(struct ctp_mysql *m, struct ctp_err *err)
{
	struct ctp_sql *db = &m->sql;
	struct ctp_bytes add = {0}, undo = {0};
	enum ctp_status status = ctp_sql_list(db, &add, ", ", "ADD COLUMN %I %s %s", LACKS(EVENTS), err);
	if (!status)
		status = ctp_sql_list(db, &undo, ", ", "DROP COLUMN %I", LACKS(EVENTS), err);
	if (!status)
		status = list_keys(m, db->events, &add, &undo, err);
	if (!status && add.len)
		status = ctp_sql_exec(db, err, "ALTER TABLE " EVENTS " %s", add.data);
	if (!status && add.len && !(m->undo = ctp_sql_text(db, "ALTER TABLE " EVENTS " %s", undo.data)))
		status = ctp_sql_no_memory(db, err);
	ctp_bytes_fini(&add);
	ctp_bytes_fini(&undo);
	return status;
}

#define NEW_TABLES \
	CTP_MYSQL_TABLES(OWN ", t.table_name", CTP_MYSQL_STAGING) " AND t.table_type = 'BASE TABLE' AND NOT EXISTS (SELECT 1 FROM information_schema.tables r" \
	" WHERE r.table_schema = database() AND r.table_name = " OWN ")"

struct publishing {
	struct ctp_mysql *m;
	struct ctp_err *err;
	enum ctp_status status;
};

/* Rows of our tables have their ids, those of events get them. */
static void add_rows(void *arg, const char *const *columns)
{
	struct publishing *s = arg;
	const char *own = columns[1];
	struct ctp_mysql *m = s->m;
	if (s->status || !strcasecmp(own, m->sql.events))
		return;
	if (!strcmp(own, "sections") || !strcmp(own, "classes"))
		s->status = ctp_sql_exec(&m->sql, s->err, "INSERT INTO %I SELECT * FROM %I WHERE id > %d", own, columns[0],
		                         *own == 's' ? m->sections : m->classes);
	else if (!strcmp(own, "fields"))
		s->status = ctp_sql_exec(&m->sql, s->err, "INSERT INTO fields SELECT * FROM %I WHERE class > %d", columns[0], m->classes);
	else
		s->status = ctp_sql_exec(&m->sql, s->err, "INSERT INTO %I SELECT * FROM %I", own, columns[0]);
}

static enum ctp_status add_events(struct ctp_mysql *m, struct ctp_err *err)
{
	struct ctp_bytes columns = {0};
	enum ctp_status status = ctp_sql_list(&m->sql, &columns, ", ", "%I",
	                                      COLUMNS(CTP_MYSQL_STAGING EVENTS) " AND c.column_name <> 'id' ORDER BY c.ordinal_position", err);
	if (!status)
		status = ctp_sql_exec(&m->sql, err, "INSERT INTO " EVENTS " (%s) SELECT %s FROM %T ORDER BY id", columns.data, columns.data,
		                      m->sql.events);
	ctp_bytes_fini(&columns);
	return status;
}

/* The server skips ids that it had reserved for rows which did not come. This only closes the gap, so it waits for no lock. */
static void close_gap(struct ctp_mysql *m)
{
	struct ctp_err ignored;
	ctp_sql_exec(&m->sql, &ignored, "SET @ctp_wait = @@lock_wait_timeout, SESSION lock_wait_timeout = 1");
	ctp_sql_exec(&m->sql, &ignored, "ALTER TABLE " EVENTS " AUTO_INCREMENT = 1");
	ctp_sql_exec(&m->sql, &ignored, "SET SESSION lock_wait_timeout = @ctp_wait");
}

static enum ctp_status remove_replaced(struct ctp_mysql *m, struct ctp_err *err)
{
	if (!m->replaced.len)
		return CTP_OK;
	struct ctp_bytes delete = {0};
	ctp_sql_put(&m->sql, &delete, "DELETE FROM %s WHERE section IN (%s)", "%I", ctp_bytes_str(&m->replaced));
	const char *text = ctp_bytes_str(&delete);
	enum ctp_status status = text ? ctp_sql_exec_list(&m->sql, "", "; ", text, "SELECT DISTINCT table_name FROM classes", err) :
	                                ctp_sql_no_memory(&m->sql, err);
	if (!status)
		status = ctp_sql_exec(&m->sql, err, "DELETE FROM symbols WHERE section IN (%s); DELETE FROM sections WHERE id IN (%s)",
		                      ctp_bytes_str(&m->replaced), ctp_bytes_str(&m->replaced));
	ctp_bytes_fini(&delete);
	return status;
}

/* Sections of an earlier version may lack columns. A column that is added before its values does no harm, and stays. */
static enum ctp_status publish_more(struct ctp_mysql *m, struct ctp_err *err)
{
	struct publishing s = {m, err, CTP_OK};
	if (widen_events(m, err) || ctp_sql_exec_list(&m->sql, "", "; ", "CREATE TABLE %I LIKE %I", NEW_TABLES, err) ||
	    ctp_sql_exec_list(&m->sql, "ALTER TABLE sections ", ", ", "ADD COLUMN %I %s", LACKS("sections"), err) ||
	    ctp_sql_views_last(&m->sql, err))
		return CTP_FAILED;
	close_gap(m);
	if (ctp_mysql_exec(&m->sql, "START TRANSACTION", err) || remove_replaced(m, err) || add_events(m, err) ||
	    ctp_mysql_query(&m->sql, STAGED("t.table_name, " OWN), "tt", add_rows, &s, err) || s.status)
		return CTP_FAILED;
	m->committing = true;
	enum ctp_status status = ctp_mysql_exec(&m->sql, "COMMIT", err);
	m->committing = false;
	return status;
}

enum ctp_status ctp_mysql_publish(struct ctp_mysql *m, struct ctp_err *err)
{
	if (m->fresh ? publish_new(m, err) : publish_more(m, err))
		return CTP_FAILED;
	m->done = true;
	free(m->undo);
	m->undo = NULL;
	struct ctp_err ignored; /* what is left is removed by the next load */
	ctp_mysql_clean(m, &ignored);
	return CTP_OK;
}
