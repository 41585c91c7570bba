/* sql-views.c - makes the views, and the indexes that their searches go by. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "sql/sql.h"

enum { COLUMNS = sizeof ((struct ctp_sql_kind_view *)0)->columns / sizeof ((struct ctp_sql_kind_view *)0)->columns[0] };

struct class {
	struct class *next;
	int64_t id;
	char *table;
};

/* --- what there is ------------------------------------------------------------------------------------------------------- */

struct classes {
	struct class *first, **end;
	bool failed;
};

static void free_classes(struct class *c)
{
	for (struct class *next; c; c = next) {
		next = c->next;
		free(c->table);
		free(c);
	}
}

static void add_class(void *arg, const char *const *columns)
{
	struct classes *to = arg;
	struct class *c = calloc(1, sizeof *c);
	if (c && columns[0] && columns[1] && (c->table = strdup(columns[1]))) {
		c->id = strtoll(columns[0], NULL, 10);
		*to->end = c;
		to->end = &c->next;
	} else {
		free(c);
		to->failed = true;
	}
}

/* The classes of a kind, in the order of their ids; status. */
static struct class *find_classes(struct ctp_sql *db, const struct ctp_sql_kind_view *v, enum ctp_status *status, struct ctp_err *err)
{
	struct classes found = {.end = &found.first};
	char *sql = ctp_sql_text(db, "SELECT id, table_name FROM %T AS classes WHERE %s ORDER BY id", "classes", v->classes);
	*status = sql ? db->ops->query(db, sql, "nt", add_class, &found, err) : CTP_OK;
	if (!sql || found.failed)
		*status = ctp_err_set(err, "%s: out of memory", db->name);
	free(sql);
	return found.first;
}

/* The column of a class for a column of a view, for free(); null: the class has none, or status. */
static char *find_column(struct ctp_sql *db, const struct class *c, const char *field, enum ctp_status *status, struct ctp_err *err)
{
	return ctp_sql_find(db, status, err, "SELECT column_name FROM %T WHERE class = %d AND %s ORDER BY position LIMIT 1", "fields", c->id,
	                    field);
}

/* --- making -------------------------------------------------------------------------------------------------------------- */

/* A view that was made of the same text stays: to make it again would be to wait for all who read it, and they for us. */
static enum ctp_status make_view(struct ctp_sql *db, const char *name, const char *select, bool again, struct ctp_err *err)
{
	const struct ctp_sql_words *w = db->words;
	char note[32];
	snprintf(note, sizeof note, "ctptools %016" PRIx64, ctp_map_bytes(UINT64_C(0xcbf29ce484222325), select, strlen(select)));
	int64_t same = again && w->view_note ? ctp_sql_look_up(db, err, w->view_noted, name, note) : 0;
	if (same)
		return same < 0 ? CTP_FAILED : CTP_OK;
	if ((again && w->view_drop && ctp_sql_exec(db, err, w->view_drop, name)) ||
	    ctp_sql_exec(db, err, again ? w->view_again : "CREATE VIEW %I AS %s", name, select))
		return CTP_FAILED;
	return w->view_note ? ctp_sql_exec(db, err, w->view_note, name, note) : CTP_OK;
}

/* Puts more behind *text, for free(), and frees more. */
static enum ctp_status append(const struct ctp_sql *db, char **text, char *more, struct ctp_err *err)
{
	char *both = more ? ctp_sql_text(db, "%s%s", *text, more) : NULL;
	free(more);
	free(*text);
	*text = both;
	return both ? CTP_OK : ctp_err_set(err, "%s: out of memory", db->name);
}

/* A column that the table lacks gets the type that other tables have for it, or SQLite would not search a view's tables one by one. */
static char *select_column(const struct ctp_sql *db, const char *column, const char *type, const char *as)
{
	if (!column)
		return ctp_sql_text(db, ", CAST(NULL AS %s) AS %I", type, as);
	return db->words->casts ? ctp_sql_text(db, ", CAST(%I AS %s) AS %I", column, type, as) : ctp_sql_text(db, ", %I AS %I", column, as);
}

/* The SELECT of one table for the view. */
static enum ctp_status append_select(struct ctp_sql *db, char **sql, const struct ctp_sql_kind_view *v, const struct class *c,
                                     struct ctp_err *err)
{
	enum ctp_status status = append(db, sql, ctp_sql_text(db, **sql ? " UNION ALL SELECT section" : "SELECT section"), err);
	for (size_t i = 0; i < COLUMNS && v->columns[i].column && !status; i++) {
		char *column = find_column(db, c, v->columns[i].field, &status, err);
		if (!status)
			status = append(db, sql, select_column(db, column, v->columns[i].type, v->columns[i].column), err);
		free(column);
	}
	return status ? status : append(db, sql, ctp_sql_text(db, " FROM %I", c->table), err);
}

static enum ctp_status make_kind_view(struct ctp_sql *db, const struct ctp_sql_kind_view *v, bool again, struct ctp_err *err)
{
	enum ctp_status status;
	struct class *classes = find_classes(db, v, &status, err);
	char *sql = ctp_sql_text(db, "");
	if (!sql)
		status = ctp_err_set(err, "%s: out of memory", db->name);
	for (const struct class *c = classes; c && !status; c = c->next)
		status = append_select(db, &sql, v, c, err);
	if (!status)
		status = make_view(db, v->view, sql, again, err);
	free_classes(classes);
	free(sql);
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
		status = select ? make_view(db, all->views[i].name, select, again, err) : ctp_err_set(err, "%s: out of memory", db->name);
		free(select);
	}
	return status;
}

/* --- indexes ------------------------------------------------------------------------------------------------------------- */

/* It is for speed alone: if its name is taken, it is left out. */
static enum ctp_status make_index(struct ctp_sql *db, const char *table, const char *column, const char *time, struct ctp_err *err)
{
	char *whole = ctp_sql_text(db, "idx_%s_%s", table, column), *name = whole ? ctp_sql_name(db->words->naming, whole, 1) : NULL;
	char *columns = time && strcmp(time, column) ? ctp_sql_text(db, db->words->index_columns, column, time) : ctp_sql_text(db, "%I", column);
	enum ctp_status status = name && columns ? CTP_OK : ctp_err_set(err, "%s: out of memory", db->name);
	int64_t taken = status ? -1 : db->ops->index ? 1 : ctp_sql_look_up(db, err, db->words->taken, name);
	if (!status && db->ops->index)
		status = db->ops->index(db, name, table, columns, err);
	if (!taken)
		status = ctp_sql_exec(db, err, "CREATE INDEX %I ON %I (section, %s)", name, table, columns);
	free(whole);
	free(name);
	free(columns);
	return taken < 0 ? CTP_FAILED : status;
}

/* On the first column that the table has of the view's first two, which identify the coroutine, and on time. */
static enum ctp_status index_class(struct ctp_sql *db, const struct ctp_sql_kind_view *v, const struct class *c, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	char *key = find_column(db, c, v->columns[0].field, &status, err), *time = NULL;
	if (!key && !status)
		key = find_column(db, c, v->columns[1].field, &status, err);
	if (key && !status)
		time = find_column(db, c, "role = 'time'", &status, err);
	if (key && !status)
		status = make_index(db, c->table, key, time, err);
	free(key);
	free(time);
	return status;
}

static enum ctp_status index_kind(struct ctp_sql *db, const struct ctp_sql_kind_view *v, struct ctp_err *err)
{
	enum ctp_status status;
	struct class *classes = find_classes(db, v, &status, err);
	for (const struct class *c = classes; c && !status; c = c->next)
		status = index_class(db, v, c, err);
	free_classes(classes);
	return status;
}

enum ctp_status ctp_sql_views_first(struct ctp_sql *db, struct ctp_err *err) { return make_views(db, false, err); }

enum ctp_status ctp_sql_views_last(struct ctp_sql *db, struct ctp_err *err)
{
	enum ctp_status status = make_views(db, true, err);
	db->met = false;
	for (size_t i = 0; i < db->words->views->nkinds && !status; i++)
		status = index_kind(db, &db->words->views->kinds[i], err);
	return status;
}
