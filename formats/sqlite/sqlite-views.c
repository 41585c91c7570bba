/*
 * sqlite-views.c - the views of sql-views.h in a database of SQLite.
 *
 * SQLite uses an index to look up a row of a view, also where a kind has several tables, because these subqueries have no aggregates
 * and no joins, but ORDER BY and LIMIT.
 */
#include "sqlite/sqlite-db.h"

#include <string.h>

#define SQL_NUMBER "INTEGER"
#define SQL_PROBE "TEXT"
#define SQL_TEXT "TEXT"
#define SQL_UP ""
#define SQL_DOWN " DESC"
#define SQL_LEAST "min"
#define SQL_GREATEST "max"
#define SQL_MATERIALIZED "MATERIALIZED"
#define SQL_SECOND(number) "strftime('%Y-%m-%dT%H:%M:%S', " number ", 'unixepoch')"

/* The SELECT is nested, because SQLite searches the tables of a view one by one only if the order is by selected columns. */
#define SQL_PICK(what, from) "(SELECT " what " FROM (SELECT * FROM " from " LIMIT 1) r)"
#define SQL_ALL_OF(what, from) "(SELECT " what " FROM (SELECT * FROM " from " LIMIT -1) r)"
#include "sql/sql-views.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static enum ctp_status make_view(const struct ctp_sqlite *s, const char *name, const char *select, bool again,
                                 struct ctp_err *err)
{
	if (again && ctp_sqlite_exec(s, err, "DROP VIEW IF EXISTS %s", name))
		return CTP_FAILED;
	return ctp_sqlite_exec(s, err, "CREATE VIEW %s AS %s", name, select);
}

/* --- by kind ------------------------------------------------------------------------------------------------------------- */

/* An index for searches in a view. It is for speed alone: if its name is taken, it is left out. */
static enum ctp_status make_index(const struct ctp_sqlite *s, const char *table, const char *column, const char *time,
                                  struct ctp_err *err)
{
	char *name = sqlite3_mprintf("idx_%s_%s", table, column);
	int64_t taken = name ? ctp_sqlite_is_taken(s, name, err) : ctp_err_set(err, "%s: out of memory", s->name);
	enum ctp_status status = taken < 0 ? CTP_FAILED : CTP_OK;
	if (!taken)
		status = ctp_sqlite_exec(s, err, "CREATE INDEX \"%w\" ON \"%w\" (section, \"%w\"%s%w%s)", name, table, column,
		                         time ? ", \"" : "", time ? time : "", time ? "\"" : "");
	sqlite3_free(name);
	return status;
}

/* The column of a class for a column of a view, for sqlite3_free(); null: the class has none, or err and *status. */
static char *find_column(const struct ctp_sqlite *s, int64_t class, const char *field, enum ctp_status *status,
                         struct ctp_err *err)
{
	sqlite3_stmt *found = ctp_sqlite_prepare(s, err, "SELECT column_name FROM fields WHERE class = %lld AND %s"
	                                                 " ORDER BY position LIMIT 1", class, field);
	char *column = found && sqlite3_step(found) == SQLITE_ROW ? sqlite3_mprintf("%s", sqlite3_column_text(found, 0)) : NULL;
	if (!found || sqlite3_finalize(found))
		*status = found ? ctp_sqlite_error(s, err) : CTP_FAILED;
	return column;
}

/*
 * The SELECT of one table for the view. The index is on the first column that the table has, and on time: the first two columns
 * identify the coroutine. A column that the table lacks gets the type that other tables have for it, or SQLite would not search the
 * tables of a view one by one.
 */
static enum ctp_status append_select(sqlite3_str *sql, const struct ctp_sqlite *s, const struct ctp_sql_kind_view *v, int64_t class,
                                     const char *table, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	char *time = find_column(s, class, "role = 'time'", &status, err), *key = NULL;
	for (size_t i = 0; i < COUNT(v->columns) && v->columns[i].column && !status; i++) {
		char *column = find_column(s, class, v->columns[i].field, &status, err);
		sqlite3_str_appendf(sql, column ? ", \"%w\" AS \"%w\"" : ", CAST(NULL AS %s) AS \"%w\"",
		                    column ? column : v->columns[i].type, v->columns[i].column);
		if (i < 2 && !key)
			key = column;
		else
			sqlite3_free(column);
	}
	if (key && !status)
		status = make_index(s, table, key, time && strcmp(time, key) ? time : NULL, err);
	sqlite3_free(key);
	sqlite3_free(time);
	sqlite3_str_appendf(sql, " FROM \"%w\"", table);
	return status;
}

static enum ctp_status make_kind_view(const struct ctp_sqlite *s, const struct ctp_sql_kind_view *v, bool again, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	sqlite3_stmt *class = ctp_sqlite_prepare(s, err, "SELECT id, table_name FROM classes WHERE %s ORDER BY id",
	                                         v->classes);
	if (!class)
		return CTP_FAILED;
	sqlite3_str *sql = sqlite3_str_new(s->db);
	for (int i = 0; !status && sqlite3_step(class) == SQLITE_ROW; i++) {
		const char *table = (const char *)sqlite3_column_text(class, 1);
		sqlite3_str_appendall(sql, i ? " UNION ALL SELECT section" : "SELECT section");
		status = append_select(sql, s, v, sqlite3_column_int64(class, 0), table, err);
	}
	char *select = sqlite3_str_finish(sql);
	if (sqlite3_finalize(class) && !status)
		status = ctp_sqlite_error(s, err);
	if (!status)
		status = make_view(s, v->view, select, again, err);
	sqlite3_free(select);
	return status;
}

enum ctp_status ctp_sqlite_views(const struct ctp_sqlite *s, bool again, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	for (size_t i = 0; i < COUNT(ctp_sql_kind_views) && !status; i++)
		status = make_kind_view(s, &ctp_sql_kind_views[i], again, err);
	for (size_t i = 0; i < COUNT(ctp_sql_views) && !status; i++)
		status = make_view(s, ctp_sql_views[i].name, ctp_sql_views[i].select, again, err);
	return status;
}
