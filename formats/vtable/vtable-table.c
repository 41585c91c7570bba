/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * vtable-table.c - a trace as a virtual table of SQLite, and the entry of the extension.
 *
 *	select * from ctp('t.ctp.zst') where ts between 5 and 9         the transitions of any stream
 *	create virtual table births using ctp('t.ctp.zst', 'birth')     any class, with its own columns
 *
 * Columns are the class's plain fields, section, the fields beyond coroTracer's, and two hidden ones: file, and position, which
 * grows along the stream. These two are the primary key, by which SQLite joins the parts of an OR: so a row's key does not depend
 * on skipped packets, and rows of two files have different keys.
 *
 * Rows have the order of the stream. A stream of several sections may have several classes for the table; fields are found by name
 * in each, those of any transition by role. But the column of the time is each record's own time, because packets are skipped by that.
 */
#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

#include <stdlib.h>
#include <string.h>

#include "sqlite/sqlite-value.h"
#include "stream/events.h"
#include "vtable/vtable-about.h"
#include "vtable/vtable-trace.h"

enum { SECTION, FILE_NAME, POSITION, OWN_COLUMNS, COLUMNS_MAX = CTP_FIELDS_MAX + OWN_COLUMNS };

struct table {
	sqlite3_vtab base;
	char *file;            /* null: the function's argument names it */
	struct ctp_class *cls; /* the first of its name, or ctp-collect's transition */
	bool by_kind;          /* shows every transition, not the classes of this name */
	int ncolumns, own[OWN_COLUMNS], time_column;
	struct column {
		char *name;
		int field; /* -1: one of OWN_COLUMNS */
	} columns[COLUMNS_MAX];
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct ctp_vtable_trace trace;
	struct ctp_item item;
	struct layout { /* the fields of a class in the order of the columns */
		bool shown;
		struct slot {
			const struct ctp_field *field; /* null: the class has no such field */
			uint32_t index;
			enum ctp_sql_form form;
		} slots[];
	} *layouts[CTP_CLASSES_MAX], *layout;
	int64_t section;
	uint64_t packet_end, ordinal; /* ordinal: the record's number in its packet */
	bool eof;
};

/* --- the columns of a table ---------------------------------------------------------------------------------------------- */

static void free_table(struct table *t)
{
	for (int i = 0; i < t->ncolumns; i++)
		free(t->columns[i].name);
	ctp_class_free(t->cls);
	sqlite3_free(t->file);
	free(t);
}

/* Adds the fields of the class that coroTracer has too, or those that it has not. */
static void add_fields(struct table *t, bool extra)
{
	for (uint32_t i = 0; i < t->cls->nfields; i++) {
		if (extra != !!(t->cls->fields[i].flags & CTP_FIELD_EXTRA))
			continue;
		if ((int)i == t->cls->time_field)
			t->time_column = t->ncolumns;
		t->columns[t->ncolumns++].field = (int)i;
	}
}

static void add_own(struct table *t, int which)
{
	t->own[which] = t->ncolumns;
	t->columns[t->ncolumns++].field = -1;
}

/* The columns of our own keep their names; a field with a name that is taken gets another. */
static bool name_columns(struct table *t)
{
	static const char *const own[] = { "section", "file", "position" };
	char *taken[COLUMNS_MAX];
	size_t n = 0;
	for (int i = 0; i < OWN_COLUMNS; i++)
		if (!(taken[n++] = t->columns[t->own[i]].name = strdup(own[i])))
			return false;
	for (int i = 0; i < t->ncolumns; i++) {
		struct column *c = &t->columns[i];
		if (c->field < 0)
			continue;
		if (!(c->name = ctp_sql_name_beside(&ctp_sqlite_naming, t->cls->fields[c->field].name, taken, n)))
			return false;
		taken[n++] = c->name;
	}
	return true;
}

static int declare(sqlite3 *db, struct table *t)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	sqlite3_str_appendall(sql, "CREATE TABLE x(");
	for (int i = 0; i < t->ncolumns; i++) {
		const struct column *c = &t->columns[i];
		const char *type = c->field >= 0 ? ctp_sql_type(ctp_sqlite_types, &t->cls->fields[c->field]) :
		                   i == t->own[SECTION] ? "INTEGER" : i == t->own[FILE_NAME] ? "TEXT HIDDEN" : "INTEGER HIDDEN";
		sqlite3_str_appendf(sql, "\"%w\" %s, ", c->name, type);
	}
	sqlite3_str_appendall(sql, "PRIMARY KEY(file, position)) WITHOUT ROWID");
	char *text = sqlite3_str_finish(sql);
	int rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	return rc;
}

/* --- which class --------------------------------------------------------------------------------------------------------- */

/* The class as ctp-collect declares it: so a trace without losses has a table of losses, without rows. */
static struct ctp_class *well_known(const char *name)
{
	for (int i = 0; i < CTP_EVENT_COUNT; i++) {
		struct ctp_class *cls = ctp_event_class(i);
		if (cls && !strcmp(cls->name, name))
			return cls;
		ctp_class_free(cls);
	}
	return NULL;
}

/* There is no class of this name: the error lists the names. */
static int fail_with_classes(const char *file, const char *name, const struct ctp_class *const *seen, char **why)
{
	sqlite3_str *names = sqlite3_str_new(NULL);
	for (int i = 0; i < CTP_CLASSES_MAX; i++)
		if (seen[i])
			sqlite3_str_appendf(names, "%s%s", sqlite3_str_length(names) ? ", " : "", seen[i]->name);
	char *list = sqlite3_str_finish(names);
	int rc = ctp_vtable_fail(why, "%s: no class %s; there are: %s", file, name, list ? list : "none");
	sqlite3_free(list);
	return rc;
}

/* The first class of this name in the trace, which is read up to there. */
static int find_class(struct table *t, const char *name, char **why)
{
	struct ctp_vtable_trace trace;
	struct ctp_item item;
	struct ctp_err err;
	const struct ctp_class *seen[CTP_CLASSES_MAX] = {NULL};
	int rc = ctp_vtable_trace_open(&trace, t->file, why);
	if (rc)
		return rc;
	while (!t->cls && (rc = ctp_vtable_trace_next(&trace, &item, why)) == SQLITE_ROW) {
		const struct ctp_class *cls = item.kind == CTP_ITEM_RECORDS ? item.batch.rec->cls : NULL;
		if (!cls || seen[cls->id])
			continue;
		seen[cls->id] = cls;
		if (!strcmp(cls->name, name) && !(t->cls = ctp_class_parse(cls->decl, cls->decl_bytes, &err))) {
			rc = SQLITE_NOMEM;
			break;
		}
	}
	if (rc == SQLITE_DONE)
		rc = (t->cls = well_known(name)) ? SQLITE_OK : fail_with_classes(t->file, name, seen, why);
	ctp_vtable_trace_close(&trace);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* --- connecting ---------------------------------------------------------------------------------------------------------- */

/* An argument of create virtual table, without the quotes that it comes with. For sqlite3_free(). */
static char *unquote(const char *arg)
{
	char *text = sqlite3_mprintf("%s", arg), quote = arg[0];
	if (!text || (quote != '\'' && quote != '"'))
		return text;
	char *to = text;
	for (const char *p = arg + 1; *p && (*p != quote || *++p == quote); p++)
		*to++ = *p;
	*to = '\0';
	return text;
}

static int make_columns(sqlite3 *db, struct table *t)
{
	t->time_column = -1;
	add_fields(t, false);
	add_own(t, SECTION);
	add_fields(t, true);
	add_own(t, FILE_NAME);
	add_own(t, POSITION);
	return name_columns(t) ? declare(db, t) : SQLITE_NOMEM;
}

/*
 * A database in a file may come from elsewhere, and SQLite connects its tables as soon as its schema is looked at. So the columns of
 * such a table do not come from the trace, and nothing is opened. The schema temp, and one in memory, are made by this program.
 */
static int choose_class(sqlite3 *db, struct table *t, const char *schema, const char *name, char **why)
{
	const char *from = sqlite3_db_filename(db, schema);
	if (!from || !*from)
		return find_class(t, name, why);
	t->cls = well_known(name);
	return t->cls ? SQLITE_OK : ctp_vtable_fail(why, "%s: only the trace has the columns of %s; create virtual table temp.NAME",
	                                            t->file, name);
}

/* args: the module, the database, the table, and the arguments of create virtual table. */
static int connect(sqlite3 *db, void *aux, int argc, const char *const *args, sqlite3_vtab **made, char **why)
{
	(void)aux;
	if (argc > 5)
		return ctp_vtable_fail(why, "ctp takes a file and a class, no more");
	struct table *t = calloc(1, sizeof *t);
	char *name = NULL;
	int rc = SQLITE_NOMEM;
	if (!t)
		return rc;
	if ((argc > 3 && !(t->file = unquote(args[3]))) || (argc > 4 && !(name = unquote(args[4]))))
		goto done;
	t->by_kind = !name;
	if (name)
		rc = choose_class(db, t, args[1], name, why);
	else if ((t->cls = ctp_event_class(CTP_TRANSITION)))
		rc = SQLITE_OK;
	if (!rc)
		rc = make_columns(db, t);
	/* Reading the views of a foreign database must not open files. */
	if (!rc)
		rc = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
done:
	sqlite3_free(name);
	if (rc)
		free_table(t);
	else
		*made = &t->base;
	return rc;
}

static int disconnect(sqlite3_vtab *base)
{
	free_table((struct table *)base);
	return SQLITE_OK;
}

/* --- planning ------------------------------------------------------------------------------------------------------------ */

/* The kinds of xFilter's arguments after the file, a letter for each. */
enum { ARG_POSITION = 'p', ARG_AT = '=', ARG_FROM = '>', ARG_UPTO = '<', ARGS_MAX = 8 };

static char arg_of(const struct table *t, sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];
	if (!c->usable)
		return 0;
	if (c->iColumn == t->own[POSITION] && c->op == SQLITE_INDEX_CONSTRAINT_EQ)
		return ARG_POSITION;
	if (c->iColumn != t->time_column || t->time_column < 0)
		return 0;
	switch (c->op) {
	case SQLITE_INDEX_CONSTRAINT_EQ: /* a pass for each value of an IN would cost more than one pass */
		return sqlite3_vtab_in(info, i, -1) ? 0 : ARG_AT;
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return ARG_FROM;
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return ARG_UPTO;
	default:
		return 0;
	}
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct table *t = (const struct table *)base;
	char args[ARGS_MAX + 1] = "";
	int n = 0, rc = SQLITE_OK;
	double share = 1;
	info->idxNum = 0;
	info->estimatedCost = CTP_SQLITE_PASS;
	if (!t->file && (rc = ctp_vtable_trace_plan(info, t->own[FILE_NAME])))
		return rc;
	for (int i = 0; i < info->nConstraint && n < ARGS_MAX; i++) {
		if (!(args[n] = arg_of(t, info, i)))
			continue;
		share /= args[n++] == ARG_AT ? 1e4 : 4;
		info->aConstraintUsage[i].argvIndex = info->idxNum + n;
	}
	info->estimatedRows = (sqlite3_int64)(1e6 * share);
	info->estimatedCost *= 0.01 + share; /* a skipped packet has a cost too */
	info->idxStr = sqlite3_mprintf("%s", args);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- reading ------------------------------------------------------------------------------------------------------------- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
	(void)base;
	struct cursor *c = calloc(1, sizeof *c);
	if (!c)
		return SQLITE_NOMEM;
	*made = &c->base;
	return SQLITE_OK;
}

/* Ends the current pass, if there is one. */
static void end_pass(struct cursor *c)
{
	ctp_vtable_trace_close(&c->trace);
	for (int i = 0; i < CTP_CLASSES_MAX; i++)
		free(c->layouts[i]);
	memset(c->layouts, 0, sizeof c->layouts);
	c->section = 0;
	c->packet_end = c->ordinal = 0;
	c->eof = false;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;
	end_pass(c);
	free(c);
	return SQLITE_OK;
}

/* The field of a class for a column; -1: none. */
static int field_of(const struct table *t, const struct ctp_class *cls, int i)
{
	if (i == t->time_column)
		return cls->time_field;
	if (t->columns[i].field < 0)
		return -1;
	const struct ctp_field *f = &t->cls->fields[t->columns[i].field];
	return t->by_kind ? ctp_sql_by_role(cls, f->name, f->role) : ctp_class_field(cls, f->name);
}

/* Makes the layout of a class at its first record. */
static struct layout *layout_of(const struct table *t, const struct ctp_class *cls)
{
	struct layout *l = calloc(1, sizeof *l + (size_t)t->ncolumns * sizeof l->slots[0]);
	if (!l)
		return NULL;
	l->shown = t->by_kind ? cls->kind == CTP_KIND_TRANSITION : !strcmp(cls->name, t->cls->name);
	for (int i = 0; l->shown && i < t->ncolumns; i++) {
		int index = field_of(t, cls, i);
		if (index >= 0)
			l->slots[i] = (struct slot){ .field = &cls->fields[index], .index = (uint32_t)index,
				                     .form = ctp_sql_form(&cls->fields[index]) };
	}
	return l;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;
	const struct table *t = (const struct table *)base->pVtab;
	int rc;
	while ((rc = ctp_vtable_trace_next(&c->trace, &c->item, &base->pVtab->zErrMsg)) == SQLITE_ROW) {
		if (c->item.kind == CTP_ITEM_SECTION)
			c->section++;
		if (c->item.kind != CTP_ITEM_RECORDS)
			continue;
		c->ordinal++;
		if (c->packet_end != c->trace.in.offset) {
			c->packet_end = c->trace.in.offset;
			c->ordinal = 0;
		}
		const struct ctp_class *cls = c->item.batch.rec->cls;
		struct layout **l = &c->layouts[cls->id];
		if (!*l && !(*l = layout_of(t, cls)))
			return SQLITE_NOMEM;
		c->layout = *l;
		if (c->layout->shown)
			return SQLITE_OK;
	}
	c->eof = true;
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Whole numbers are signed in SQLite. */
struct range {
	int64_t from, upto;
};

/* Only packets that are surely outside are skipped; SQLite checks each row's time again. */
static void tighten(struct range *r, char arg, sqlite3_value *v)
{
	int64_t low, high;
	if (sqlite3_value_type(v) == SQLITE_INTEGER) {
		low = high = sqlite3_value_int64(v);
	} else if (sqlite3_value_type(v) == SQLITE_FLOAT) { /* ceil and floor would need libm, which sqlite3 may not have */
		double number = sqlite3_value_double(v);
		low = high = number < -0x1p63 ? INT64_MIN : number >= 0x1p63 ? INT64_MAX : (int64_t)number;
		low += low < INT64_MAX && (double)low < number;
		high -= high > INT64_MIN && (double)high > number;
	} else {
		return;
	}
	if (arg != ARG_UPTO && low > r->from)
		r->from = low;
	if (arg != ARG_FROM && high < r->upto)
		r->upto = high;
}

/* Times of 2^63 and more are negative in SQLite, so a range that has both signs wraps. */
static void narrow(struct cursor *c, const struct range *r)
{
	if (r->from > r->upto)
		c->eof = true;
	else if (r->from > INT64_MIN || r->upto < INT64_MAX)
		ctp_reader_narrow(c->trace.reader, (uint64_t)r->from, (uint64_t)r->upto);
}

static int filter(sqlite3_vtab_cursor *base, int has_file, const char *args, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct table *t = (struct table *)base->pVtab;
	struct range range = { INT64_MIN, INT64_MAX };
	const char *file = t->file ? t->file : has_file ? (const char *)sqlite3_value_text(argv[0]) : NULL;
	end_pass(c);
	for (int i = has_file; i < argc; i++) {
		char arg = args[i - has_file];
		if (arg != ARG_POSITION)
			tighten(&range, arg, argv[i]);
		else if (!t->file && sqlite3_value_type(argv[i]) == SQLITE_TEXT)
			return ctp_vtable_fail(&t->base.zErrMsg, "ctp() shows transitions; for another class: create virtual "
			                       "table x using ctp('%s', '%s')", file, sqlite3_value_text(argv[i]));
	}
	int rc = ctp_vtable_trace_open(&c->trace, file, &t->base.zErrMsg);
	if (rc)
		return rc;
	narrow(c, &range);
	return c->eof ? SQLITE_OK : next(base);
}

static int eof(sqlite3_vtab_cursor *base) { return ((struct cursor *)base)->eof; }

static void own_column(sqlite3_context *to, const struct cursor *c, int i)
{
	const struct table *t = (const struct table *)c->base.pVtab;
	if (i == t->own[SECTION])
		sqlite3_result_int64(to, c->section);
	else if (i == t->own[FILE_NAME])
		sqlite3_result_text(to, c->trace.path, -1, SQLITE_TRANSIENT);
	else if (i == t->own[POSITION]) /* a packet has at most 2^22 bytes, and so fewer records */
		sqlite3_result_int64(to, (sqlite3_int64)(c->packet_end << 22 | c->ordinal));
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	const struct cursor *c = (const struct cursor *)base;
	const struct slot *s = &c->layout->slots[i];
	if (s->field)
		ctp_sqlite_result(to, s->field, s->form, c->item.batch.rec->val[s->index]);
	else
		own_column(to, c, i);
	return SQLITE_OK;
}

/* xCreate is xConnect: the module is a function, and works in create virtual table. */
static const sqlite3_module module = {
	.xCreate = connect,
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = eof,
	.xColumn = column,
};

__attribute__((visibility("default")))
int sqlite3_ctp_init(sqlite3 *db, char **why, const sqlite3_api_routines *api);

int sqlite3_ctp_init(sqlite3 *db, char **why, const sqlite3_api_routines *api)
{
	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < 3038000)
		return ctp_vtable_fail(why, "ctp needs SQLite 3.38 or later; this is %s", sqlite3_libversion());
	int rc = sqlite3_create_module(db, "ctp", &module, NULL);
	return rc ? rc : ctp_vtable_about(db);
}
