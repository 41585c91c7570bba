/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mysql-clean.c - removes what a load left that did not end.
 *
 * Only the holder of the lock loads. So these belong to a load that failed or was killed:
 *
 *	a table _ctp_load_X              rows that were not visible yet
 *	a table with our comment that    was made for rows that did not come
 *	the table classes does not name
 *
 * And it makes the views that are missing, if a load was killed after its tables had their names.
 */
#include "mysql/mysql-db.h"

#define OURS "SELECT table_name FROM information_schema.tables WHERE table_schema = database() AND table_type = 'VIEW' AND find_in_set(table_name, @ctp_views)"
#define FIXED "('sections', 'classes', 'fields', 'symbols')"
#define MARKED "SELECT t.table_name FROM information_schema.tables t WHERE t.table_schema = database() AND t.table_comment = '" CTP_MYSQL_MARK "'"
#define UNNAMED MARKED " AND t.table_name NOT IN " FIXED " AND NOT EXISTS (SELECT 1 FROM classes k WHERE k.table_name = t.table_name)"

enum ctp_status ctp_mysql_make_views(struct ctp_mysql *m, struct ctp_err *err)
{
	struct ctp_sql *db = &m->sql;
	if (ctp_sql_exec(db, err, "CREATE TABLE %T LIKE classes; CREATE TABLE %T LIKE fields; INSERT INTO %T SELECT * FROM classes;"
	                          " INSERT INTO %T SELECT * FROM fields", "classes", "fields", "classes", "fields"))
		return CTP_FAILED;
	bool fresh = m->fresh;
	m->fresh = false;
	enum ctp_status status = ctp_sql_views_last(db, err);
	m->fresh = fresh;
	struct ctp_err ignored; /* the first error is the one to say */
	enum ctp_status dropped = ctp_sql_exec(db, status ? &ignored : err, "DROP TABLE %T, %T", "classes", "fields");
	return status ? status : dropped;
}

enum ctp_status ctp_mysql_drop_views(struct ctp_mysql *m, struct ctp_err *err)
{
	return ctp_sql_exec_list(&m->sql, "DROP VIEW ", ", ", "%I", OURS, err);
}

/* Tables that were made for rows which did not come. Without a class even the views are of that load. */
static enum ctp_status clean_tables(struct ctp_mysql *m, struct ctp_err *err)
{
	int64_t ours = ctp_sql_look_up(&m->sql, err, "SELECT count(*) FROM (" MARKED " AND t.table_name = 'classes') q");
	if (ours <= 0)
		return ours ? CTP_FAILED : CTP_OK;
	int64_t classes = ctp_sql_look_up(&m->sql, err, "SELECT count(*) FROM classes");
	int64_t unnamed = classes < 0 ? -1 : ctp_sql_look_up(&m->sql, err, "SELECT count(*) FROM (" UNNAMED ") q");
	int64_t views = unnamed < 0 ? -1 : ctp_sql_look_up(&m->sql, err, "SELECT count(*) FROM (" OURS ") q");
	if (views < 0)
		return CTP_FAILED;
	const struct ctp_sql_views *all = m->sql.words->views;
	if (classes && !unnamed && views == (int64_t)(all->nkinds + all->nviews))
		return CTP_OK;
	if (classes ? ctp_mysql_make_views(m, err) : ctp_mysql_drop_views(m, err))
		return CTP_FAILED;
	return ctp_sql_exec_list(&m->sql, "DROP TABLE ", ", ", "%I", classes ? UNNAMED : MARKED, err);
}

enum ctp_status ctp_mysql_clean(struct ctp_mysql *m, struct ctp_err *err)
{
	bool failed = ctp_sql_exec_list(&m->sql, "DROP TABLE ", ", ", "%I",
	                                CTP_MYSQL_TABLES("t.table_name", CTP_MYSQL_STAGING) " AND t.table_type = 'BASE TABLE'", err);
	failed |= clean_tables(m, err);
	failed |= m->undo && ctp_mysql_exec(&m->sql, m->undo, err);
	return failed ? CTP_FAILED : CTP_OK;
}
