/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-schema.c - the tables that every database has, and one for each class.
 *
 * The tables classes and fields say which class has which table, by the text of its declaration. So a sink that adds to a database
 * knows our tables from others.
 */
#include <strings.h>

#include "common/meta.h"
#include "sql/sql-facts.h"
#include "sql/sql.h"
#include "stream/events.h"

enum { EVENT_FIELDS_MAX = 64 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The columns of coroTracer's table that a class of events must have. */
static const struct {
	const char *name;
	enum ctp_sql_form form;
	bool is_bool;
	enum ctp_role role;
} event_columns[] = {
	{"probe_id", CTP_SQL_DECIMAL, false, CTP_ROLE_PROBE}, {"tid", CTP_SQL_INTEGER, false, CTP_ROLE_THREAD},
	{"addr", CTP_SQL_HEX, false, CTP_ROLE_ADDRESS},       {"seq", CTP_SQL_INTEGER, false, CTP_ROLE_SEQUENCE},
	{"is_active", CTP_SQL_INTEGER, true, CTP_ROLE_STATE}, {"ts", CTP_SQL_INTEGER, false, CTP_ROLE_TIME},
};

static bool is_event_column(const char *name)
{
	for (size_t i = 0; i < COUNT(event_columns); i++)
		if (!strcmp(name, event_columns[i].name))
			return true;
	return false;
}

/* Whether no field of another name has the role. */
static bool is_named_so(const struct ctp_class *cls, const char *name, enum ctp_role role)
{
	return ctp_sql_by_role(cls, name, role) == ctp_class_field(cls, name);
}

bool ctp_sql_is_event(const struct ctp_class *cls)
{
	for (size_t i = 0; i < COUNT(event_columns); i++) {
		int at = ctp_class_field(cls, event_columns[i].name);
		const struct ctp_field *f = at < 0 ? NULL : &cls->fields[at];
		if (!f || ctp_sql_form(f) != event_columns[i].form || (f->type == CTP_BOOL) != event_columns[i].is_bool ||
		    ctp_type_is_signed(f->type) || !is_named_so(cls, event_columns[i].name, event_columns[i].role))
			return false;
	}
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (ctp_type_is_text(cls->fields[i].type) || cls->fields[i].type == CTP_ENUM)
			return false;
	return cls->kind == CTP_KIND_TRANSITION && cls->nfields <= EVENT_FIELDS_MAX &&
	       is_named_so(cls, "coro", CTP_ROLE_COROUTINE) && is_named_so(cls, "site", CTP_ROLE_SITE);
}

/* --- names --------------------------------------------------------------------------------------------------------------- */

struct names {
	char *name[CTP_FIELDS_MAX + 2];
	size_t n;
};

/* Takes the name over; null: out of memory. */
static bool add_name(struct names *names, char *name)
{
	names->name[names->n] = name;
	names->n += name != NULL;
	return name;
}

static bool is_ascii(const char *text)
{
	while (*text && !(*text & 0x80))
		text++;
	return !*text;
}

/* Whether the server takes the name for another one of the table. Only it knows which letters are equal but for case. */
static bool is_same(struct ctp_sql *db, const struct names *names, const char *name, enum ctp_status *status, struct ctp_err *err)
{
	struct ctp_bytes query = {0};
	if (!db->words->folded || !names->n)
		return false;
	ctp_sql_put(db, &query, "SELECT 1 FROM (SELECT 1) q WHERE ");
	ctp_sql_put(db, &query, db->words->folded, name);
	for (size_t i = 0; i < names->n; i++) {
		ctp_sql_put(db, &query, i ? ", " : " IN (");
		ctp_sql_put(db, &query, db->words->folded, names->name[i]);
	}
	const char *text = ctp_bytes_str(&query);
	int64_t same = 0;
	if (!text)
		same = ctp_sql_no_memory(db, err);
	else if (!is_ascii(text))
		same = ctp_sql_look_up(db, err, "%s)", text);
	*status = same < 0 ? CTP_FAILED : *status;
	ctp_bytes_fini(&query);
	return same > 0;
}

/*
 * Whether the events' table has the column with another type, to which values would be converted. Case does not count, nor what
 * engines put after the name of a type in parentheses.
 */
static bool is_of_other_type(struct ctp_sql *db, const char *column, const char *type, enum ctp_status *status, struct ctp_err *err)
{
	if (is_event_column(column))
		return false;
	char *has = ctp_sql_find(db, status, err, db->words->column_type, db->events, column);
	size_t n = strcspn(type, "(");
	bool other = has && (n != strcspn(has, "(") || strncasecmp(has, type, n));
	free(has);
	return other;
}

/* type: of a column of events, which fields of other classes share; null: the table is the class's own. */
static enum ctp_status add_free_name(struct ctp_sql *db, struct names *names, const char *field, const char *type, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	const struct ctp_sql_naming *naming = db->words->naming;
	char *name = ctp_sql_name(naming, field, 1);
	for (unsigned nth = 2; name && (!ctp_sql_name_is_free(naming, name, names->name, names->n) || is_same(db, names, name, &status, err) ||
	                                (type && is_of_other_type(db, name, type, &status, err))); nth++) {
		free(name);
		name = ctp_sql_name(naming, field, nth);
	}
	return add_name(names, name) ? status : ctp_sql_no_memory(db, err);
}

/* Names the columns of a table, in order: the two that each table has, then the fields. */
static enum ctp_status name_columns(struct ctp_sql *db, const struct ctp_class *cls, bool event, struct names *names,
                                    struct ctp_err *err)
{
	bool failed = add_free_name(db, names, event ? "id" : CTP_SQL_KEY, NULL, err) || add_free_name(db, names, "section", NULL, err);
	for (uint32_t i = 0; !failed && i < cls->nfields; i++)
		failed = add_free_name(db, names, cls->fields[i].name, event ? ctp_sql_type(db->words->types, &cls->fields[i]) : NULL, err);
	return failed ? CTP_FAILED : CTP_OK;
}

/* For free(). */
static char *name_table(struct ctp_sql *db, const char *name, struct ctp_err *err)
{
	char *tried;
	for (unsigned nth = 1; (tried = ctp_sql_name(db->words->naming, name, nth)); nth++) {
		int64_t taken = ctp_sql_is_own(db, tried) ? 1 : ctp_sql_look_up(db, err, db->words->taken, tried);
		if (!taken)
			return tried;
		free(tried);
		if (taken < 0)
			return NULL;
	}
	ctp_sql_no_memory(db, err);
	return NULL;
}

/* --- tables -------------------------------------------------------------------------------------------------------------- */

static enum ctp_status make_table(struct ctp_sql *db, const char *table, const struct ctp_class *cls, const struct names *names,
                                  struct ctp_err *err)
{
	struct ctp_bytes columns = {0};
	for (uint32_t i = 0; i < cls->nfields; i++)
		ctp_sql_put(db, &columns, ", %I %s", names->name[i + 2], ctp_sql_type(db->words->types, &cls->fields[i]));
	enum ctp_status status = ctp_sql_exec(db, err, db->words->table, table, ctp_bytes_str(&columns));
	ctp_bytes_fini(&columns);
	return status;
}

static enum ctp_status add_event_column(struct ctp_sql *db, const char *column, const char *type, struct ctp_err *err)
{
	enum ctp_status status;
	char *has = ctp_sql_find(db, &status, err, db->words->column_type, db->events, column);
	if (!has && !status && is_event_column(column))
		status = ctp_err_set(err, "%s: its table %s has no column %s, so it is not coroTracer's", db->name, db->events, column);
	else if (!has && !status) {
		status = ctp_sql_exec(db, err, "ALTER TABLE %T ADD COLUMN %I %s", db->events, column, type);
		db->has_new_column = true;
	}
	free(has);
	return status;
}

static enum ctp_status add_event_columns(struct ctp_sql *db, const struct ctp_class *cls, const struct names *names,
                                         struct ctp_err *err)
{
	enum ctp_status status = add_event_column(db, "section", db->words->section, err);
	for (uint32_t i = 0; i < cls->nfields && !status; i++)
		status = add_event_column(db, names->name[i + 2], ctp_sql_type(db->words->types, &cls->fields[i]), err);
	return status;
}

/* Returns the class's id; -1: err. */
static int64_t note_class(struct ctp_sql *db, const struct ctp_class *cls, const char *table, const struct names *names,
                          const char *declaration, struct ctp_err *err)
{
	int64_t id = ctp_sql_next_id(db, "classes", err);
	if (id < 0 || ctp_sql_exec(db, err, "INSERT INTO %T (id, name, kind, table_name, declaration) VALUES (%d, %L, %L, %L, %L)",
	                           "classes", id, cls->name, ctp_kind_name(cls->kind), table, declaration))
		return -1;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *f = &cls->fields[i];
		if (ctp_sql_exec(db, err, "INSERT INTO %T VALUES (%d, %d, %L, %L, %L, %L, %L)", "fields", id, (int64_t)i, f->name,
		                 names->name[i + 2], ctp_type_name(f->type), ctp_role_name(f->role), f->unit))
			return -1;
	}
	return id;
}

static int64_t add_class(struct ctp_sql *db, const struct ctp_class *cls, const char *declaration, struct ctp_err *err)
{
	struct names names = {0};
	bool event = ctp_sql_is_event(cls);
	char *table = event ? strdup(db->events) : name_table(db, cls->name, err);
	int64_t id = -1;
	if (!table && event)
		ctp_sql_no_memory(db, err);
	if (table && !name_columns(db, cls, event, &names, err) &&
	    !(event ? add_event_columns(db, cls, &names, err) : make_table(db, table, cls, &names, err)))
		id = note_class(db, cls, table, &names, declaration, err);
	db->has_new_class = true;
	free(table);
	while (names.n)
		free(names.name[--names.n]);
	return id;
}

int64_t ctp_sql_class(struct ctp_sql *db, const struct ctp_class *cls, struct ctp_err *err)
{
	char *declaration = ctp_meta_class(cls, NULL);
	if (!declaration)
		return ctp_sql_no_memory(db, err);
	int64_t id = ctp_sql_look_up(db, err, "SELECT id FROM %T WHERE declaration = %L", "classes", declaration);
	if (!id)
		id = add_class(db, cls, declaration, err);
	free(declaration);
	return id;
}

/* Databases of earlier versions have no such column. */
static enum ctp_status add_stream(struct ctp_sql *db, struct ctp_err *err)
{
	enum ctp_status status;
	char *has = ctp_sql_find(db, &status, err, db->words->column_type, "sections", "stream");
	if (!has && !status)
		status = ctp_sql_exec(db, err, "ALTER TABLE %T ADD COLUMN stream TEXT", "sections");
	free(has);
	return status;
}

/* Takes the class over. */
static enum ctp_status make_known(struct ctp_sql *db, struct ctp_class *cls, struct ctp_err *err)
{
	if (!cls)
		return ctp_sql_no_memory(db, err);
	int64_t id = ctp_sql_class(db, cls, err);
	ctp_class_free(cls);
	return id < 0 ? CTP_FAILED : CTP_OK;
}

enum ctp_status ctp_sql_schema(struct ctp_sql *db, struct ctp_err *err)
{
	int64_t again = ctp_sql_look_up(db, err, db->words->taken, "classes");
	enum ctp_status status = again < 0 || ctp_sql_exec(db, err, db->words->tables) ? CTP_FAILED : add_stream(db, err);
	for (int event = 0; event < CTP_EVENT_COUNT && !status; event++)
		status = make_known(db, ctp_event_class(event), err);
	for (int fact = 0; fact < CTP_SQL_FACTS && !status; fact++)
		status = make_known(db, ctp_sql_fact_class(fact), err);
	return status || again || db->words->late ? status : ctp_sql_views_first(db, err);
}
