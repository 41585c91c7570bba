/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-views.c - makes the views, and the indexes that their searches go by. */
#include <inttypes.h>
#include <stdio.h>

#include "base/map.h"
#include "sql/sql.h"

enum { COLUMNS = sizeof ((struct ctp_sql_kind_view *)0)->columns / sizeof ((struct ctp_sql_kind_view *)0)->columns[0] };

/* --- what there is ------------------------------------------------------------------------------------------------------- */

/* The classes of a kind, one after another. */
struct visit {
	struct ctp_sql *db;
	const struct ctp_sql_kind_view *kind;
	struct ctp_bytes select; /* of the view */
	enum ctp_status status;
	struct ctp_err *err;
};

/* Calls visit with the id and the table of each class of the kind, in the order of their ids. */
static enum ctp_status visit_classes(struct visit *v, ctp_sql_row *visit)
{
	enum ctp_status status = ctp_sql_ask(v->db, "nt", visit, v, v->err,
	                                     "SELECT id, table_name FROM %T AS classes WHERE %s ORDER BY id", "classes", v->kind->classes);
	return status ? status : v->status;
}

/* The column of a class for a column of a view, for free(); null: the class has none, or v->status. */
static char *find_column(struct visit *v, const char *class_id, const char *field)
{
	return ctp_sql_find(v->db, &v->status, v->err, "SELECT column_name FROM %T WHERE class = %s AND %s ORDER BY position LIMIT 1",
	                    "fields", class_id, field);
}

/* --- making -------------------------------------------------------------------------------------------------------------- */

/*
 * A view that was made of the same text and columns stays: making it again would wait for all that read it, and they for this.
 * select is null: memory is out.
 */
static enum ctp_status make_view(struct ctp_sql *db, const char *name, const char *select, bool again, struct ctp_err *err)
{
	const struct ctp_sql_words *w = db->words;
	char note[32];
	if (!select)
		return ctp_sql_no_memory(db, err);
	snprintf(note, sizeof note, "ctptools %016" PRIx64, ctp_map_bytes(UINT64_C(0xcbf29ce484222325), select, strlen(select)));
	int64_t same = again && w->view_note && !db->has_new_column ? ctp_sql_look_up(db, err, w->view_noted, name, note) : 0;
	if (same)
		return same < 0 ? CTP_FAILED : CTP_OK;
	if ((again && w->view_drop && ctp_sql_exec(db, err, w->view_drop, name)) ||
	    ctp_sql_exec(db, err, again ? w->view_again : "CREATE VIEW %I AS %s", name, select))
		return CTP_FAILED;
	return w->view_note ? ctp_sql_exec(db, err, w->view_note, name, note) : CTP_OK;
}

/* A column that the table lacks gets the type that other tables have for it, or SQLite would not search a view's tables one by one. */
static void put_column(struct visit *v, const char *column, const char *type, const char *as)
{
	if (!column)
		ctp_sql_put(v->db, &v->select, ", CAST(NULL AS %s) AS %I", type, as);
	else if (v->db->words->casts)
		ctp_sql_put(v->db, &v->select, ", CAST(%I AS %s) AS %I", column, type, as);
	else
		ctp_sql_put(v->db, &v->select, ", %I AS %I", column, as);
}

/* The SELECT of one table for the view. */
static void put_select(void *arg, const char *const *class)
{
	struct visit *v = arg;
	ctp_sql_put(v->db, &v->select, v->select.len ? " UNION ALL SELECT section" : "SELECT section");
	for (size_t i = 0; i < COLUMNS && v->kind->columns[i].column && !v->status; i++) {
		char *column = find_column(v, class[0], v->kind->columns[i].field);
		put_column(v, column, v->kind->columns[i].type, v->kind->columns[i].column);
		free(column);
	}
	ctp_sql_put(v->db, &v->select, " FROM %I", class[1]);
}

static enum ctp_status make_kind_view(struct ctp_sql *db, const struct ctp_sql_kind_view *kind, bool again, struct ctp_err *err)
{
	struct visit v = {.db = db, .kind = kind, .err = err};
	enum ctp_status status = visit_classes(&v, put_select);
	if (!status)
		status = make_view(db, kind->view, ctp_bytes_str(&v.select), again, err);
	ctp_bytes_fini(&v.select);
	return status;
}

static enum ctp_status make_views(struct ctp_sql *db, bool again, struct ctp_err *err)
{
	const struct ctp_sql_views *all = db->words->views;
	enum ctp_status status = CTP_OK;
	for (size_t i = 0; i < all->nkinds && !status; i++)
		status = make_kind_view(db, &all->kinds[i], again, err);
	for (size_t i = 0; i < all->nviews && !status; i++) {
		char *select = ctp_sql_text(db, "%V", all->views[i].select);
		status = make_view(db, all->views[i].name, select, again, err);
		free(select);
	}
	return status;
}

/* --- indexes ------------------------------------------------------------------------------------------------------------- */

enum ctp_status ctp_sql_create_index(struct ctp_sql *db, const char *name, const char *table, const char *columns, struct ctp_err *err)
{
	int64_t taken = ctp_sql_look_up(db, err, db->words->taken, name);
	if (taken)
		return taken < 0 ? CTP_FAILED : CTP_OK;
	return ctp_sql_exec(db, err, "CREATE INDEX %I ON %I (section, %s)", name, table, columns);
}

/* Named after the table and the first column. columns is for free(), and null where memory is out. */
static enum ctp_status make_index(struct ctp_sql *db, const char *table, const char *first, char *columns,
                                  struct ctp_err *err)
{
	char *whole = ctp_sql_text(db, "idx_%s_%s", table, first), *name = NULL;
	if (whole)
		name = ctp_sql_name(db->words->naming, whole, 1);
	enum ctp_status status;
	if (!name || !columns)
		status = ctp_sql_no_memory(db, err);
	else if (db->ops->index)
		status = db->ops->index(db, name, table, columns, err);
	else
		status = ctp_sql_create_index(db, name, table, columns, err);
	free(whole);
	free(name);
	free(columns);
	return status;
}

/* By a column, and where it is another, by time. */
static enum ctp_status index_by(struct ctp_sql *db, const char *table, const char *key, const char *time,
                                struct ctp_err *err)
{
	bool two = time && strcmp(time, key);
	return make_index(db, table, key, ctp_sql_text(db, two ? db->words->index_columns : "%I", key, time), err);
}

/* On the first column that the table has of the view's first two, which identify the coroutine, and on time. */
static void index_class(void *arg, const char *const *class)
{
	struct visit *v = arg;
	if (v->status)
		return;
	char *key = find_column(v, class[0], v->kind->columns[0].field), *time = NULL;
	if (!key && !v->status)
		key = find_column(v, class[0], v->kind->columns[1].field);
	if (key && !v->status)
		time = find_column(v, class[0], "role = 'time'");
	if (key && !v->status)
		v->status = index_by(v->db, class[1], key, time, v->err);
	free(key);
	free(time);
}

/* What coroutines held and waited for: by coroutine, and by object. */
static void index_objects(void *arg, const char *const *class)
{
	struct visit *v = arg;
	if (v->status)
		return;
	char *coro = find_column(v, class[0], "role = 'coroutine'"), *object = NULL, *time = NULL;
	if (coro && !v->status)
		object = find_column(v, class[0], "name = 'object'");
	if (object && !v->status)
		time = find_column(v, class[0], "role = 'time'");
	if (time && !v->status)
		v->status = index_by(v->db, class[1], coro, time, v->err);
	if (time && !v->status) {
		char *columns = ctp_sql_text(v->db, "%I, %I, %I", object, coro, time);
		v->status = make_index(v->db, class[1], object, columns, v->err);
	}
	free(coro);
	free(object);
	free(time);
}

enum ctp_status ctp_sql_views_first(struct ctp_sql *db, struct ctp_err *err) { return make_views(db, false, err); }

enum ctp_status ctp_sql_views_last(struct ctp_sql *db, struct ctp_err *err)
{
	enum ctp_status status = make_views(db, true, err);
	db->has_new_class = db->has_new_column = false;
	for (size_t i = 0; i < db->words->views->nkinds && !status; i++)
		status = visit_classes(&(struct visit){.db = db, .kind = &db->words->views->kinds[i], .err = err}, index_class);
	static const struct ctp_sql_kind_view of_objects = {
		.classes = "(kind IN ('hold', 'reason') OR kind = 'other' AND name IN ('object_wait', 'hold_interval'))",
	};
	if (!status)
		status = visit_classes(&(struct visit){.db = db, .kind = &of_objects, .err = err}, index_objects);
	return status;
}
