/*
 * sqlite-schema.c - the tables that every database has, and one for each class.
 *
 * The tables classes and fields say which class has which table, by the text of its declaration. So a sink that adds to a database
 * knows the tables of ctp-sqlite from others.
 */
#include "sqlite/sqlite-db.h"

#include <stdlib.h>
#include <string.h>

#include "common/meta.h"
#include "stream/events.h"

#define EVENTS "coro_trace_events"
enum { EVENT_FIELDS_MAX = 64 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The first table, with its CHECK, is word for word coroTracer's. */
static const char tables_sql[] =
	"CREATE TABLE IF NOT EXISTS " EVENTS " (id INTEGER PRIMARY KEY AUTOINCREMENT, probe_id TEXT NOT NULL,"
	" tid INTEGER NOT NULL, addr TEXT NOT NULL, seq INTEGER NOT NULL,"
	" is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)), ts INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS sections (id INTEGER PRIMARY KEY, host TEXT, pid INTEGER, argv TEXT, tool TEXT, clock TEXT,"
	" wall_offset_ns INTEGER, start_ns INTEGER, end_ns INTEGER, complete INTEGER NOT NULL, attrs TEXT NOT NULL);"
	"CREATE TABLE IF NOT EXISTS classes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL,"
	" table_name TEXT NOT NULL, declaration TEXT NOT NULL UNIQUE);"
	"CREATE TABLE IF NOT EXISTS fields (class INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,"
	" column_name TEXT NOT NULL, type TEXT NOT NULL, role TEXT NOT NULL, unit TEXT, PRIMARY KEY (class, position))"
	" WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS symbols (section INTEGER NOT NULL, addr TEXT NOT NULL, text TEXT,"
	" PRIMARY KEY (section, addr)) WITHOUT ROWID";
static const char indexes_sql[] =
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_probe_seq ON " EVENTS " (probe_id, seq);"
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_tid_ts ON " EVENTS " (tid, ts);"
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_ts ON " EVENTS " (ts);"
	"CREATE INDEX IF NOT EXISTS idx_coro_trace_events_coro ON " EVENTS " (coro, section, \"index\")"; /* for the views */

/* The columns of coroTracer's table that a class of events must have. */
static const struct {
	const char *name;
	enum ctp_sqlite_form form;
	bool is_bool;
	enum ctp_role role;
} event_columns[] = {
	{"probe_id", CTP_SQLITE_DECIMAL, false, CTP_ROLE_PROBE}, {"tid", CTP_SQLITE_INTEGER, false, CTP_ROLE_THREAD},
	{"addr", CTP_SQLITE_HEX, false, CTP_ROLE_ADDRESS},       {"seq", CTP_SQLITE_INTEGER, false, CTP_ROLE_SEQUENCE},
	{"is_active", CTP_SQLITE_INTEGER, true, CTP_ROLE_STATE}, {"ts", CTP_SQLITE_INTEGER, false, CTP_ROLE_TIME},
};

/* Whether no field of another name has the role. */
static bool is_named_so(const struct ctp_class *cls, const char *name, enum ctp_role role)
{
	return ctp_sqlite_by_role(cls, name, role) == ctp_class_field(cls, name);
}

bool ctp_sqlite_is_event(const struct ctp_class *cls)
{
	for (size_t i = 0; i < COUNT(event_columns); i++) {
		int at = ctp_class_field(cls, event_columns[i].name);
		const struct ctp_field *f = at < 0 ? NULL : &cls->fields[at];
		if (!f || ctp_sqlite_form(f) != event_columns[i].form || (f->type == CTP_BOOL) != event_columns[i].is_bool ||
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

static void free_names(struct names *names)
{
	while (names->n)
		sqlite3_free(names->name[--names->n]);
}

static bool add_name(struct names *names, const char *name)
{
	char *mine = ctp_sqlite_name(name, names->name, names->n);
	names->name[names->n] = mine;
	names->n += mine != NULL;
	return mine;
}

/* Whether the events' table has the column with another type, to which SQLite would convert the values; -1: err. */
static int64_t is_of_other_type(const struct ctp_sqlite *s, const char *column, const char *type, struct ctp_err *err)
{
	for (size_t i = 0; i < COUNT(event_columns); i++)
		if (!strcmp(column, event_columns[i].name))
			return 0;
	return ctp_sqlite_look_up(s, ctp_sqlite_prepare(s, err, "SELECT 1 FROM pragma_table_info('" EVENTS "')"
	                                                        " WHERE name = %Q COLLATE NOCASE AND type <> %Q COLLATE NOCASE",
	                                                column, type), err);
}

/* The same for a field of an event, whose column fields of other classes share. */
static enum ctp_status add_event_name(const struct ctp_sqlite *s, struct names *names, const struct ctp_field *f,
                                      struct ctp_err *err)
{
	int64_t other = 0;
	bool ok = add_name(names, f->name);
	for (int n = 2; ok && (other = is_of_other_type(s, names->name[names->n - 1], ctp_sqlite_type(f), err)) > 0; n++) {
		char *numbered = sqlite3_mprintf("%s_%d", f->name, n);
		sqlite3_free(names->name[--names->n]);
		ok = numbered && add_name(names, numbered);
		sqlite3_free(numbered);
	}
	return other < 0 ? CTP_FAILED : ok ? CTP_OK : ctp_err_set(err, "%s: out of memory", s->name);
}

/* Names the columns of a table, in order: the two that each table has, then the fields. */
static enum ctp_status name_columns(const struct ctp_sqlite *s, const struct ctp_class *cls, bool event, struct names *names,
                                    struct ctp_err *err)
{
	bool ok = add_name(names, "id") && add_name(names, "section");
	for (uint32_t i = 0; ok && i < cls->nfields; i++)
		if (!event)
			ok = add_name(names, cls->fields[i].name);
		else if (add_event_name(s, names, &cls->fields[i], err))
			return CTP_FAILED;
	return ok ? CTP_OK : ctp_err_set(err, "%s: out of memory", s->name);
}

/* For sqlite3_free(). */
static char *name_table(const struct ctp_sqlite *s, const char *name, struct ctp_err *err)
{
	char *tried = ctp_sqlite_name(name, NULL, 0);
	for (int n = 2; tried; n++) {
		int64_t taken = ctp_sqlite_is_taken(s, tried, err);
		if (taken <= 0)
			return taken ? sqlite3_free(tried), NULL : tried;
		char *numbered = sqlite3_mprintf("%s_%d", name, n);
		sqlite3_free(tried);
		tried = numbered ? ctp_sqlite_name(numbered, NULL, 0) : NULL;
		sqlite3_free(numbered);
	}
	ctp_err_set(err, "%s: out of memory", s->name);
	return NULL;
}

/* --- tables -------------------------------------------------------------------------------------------------------------- */

static enum ctp_status make_table(const struct ctp_sqlite *s, const char *table, const struct ctp_class *cls,
                                  const struct names *names, struct ctp_err *err)
{
	sqlite3_str *sql = sqlite3_str_new(s->db);
	sqlite3_str_appendf(sql, "CREATE TABLE \"%w\" (id INTEGER PRIMARY KEY, section INTEGER NOT NULL", table);
	for (uint32_t i = 0; i < cls->nfields; i++)
		sqlite3_str_appendf(sql, ", \"%w\" %s", names->name[i + 2], ctp_sqlite_type(&cls->fields[i]));
	char *text = sqlite3_str_finish(sql);
	enum ctp_status status = text ? ctp_sqlite_exec(s, err, "%s)", text) : ctp_err_set(err, "%s: out of memory", s->name);
	sqlite3_free(text);
	return status;
}

static enum ctp_status add_event_column(const struct ctp_sqlite *s, const char *column, const char *type, struct ctp_err *err)
{
	int64_t there = ctp_sqlite_look_up(s, ctp_sqlite_prepare(s, err, "SELECT 1 FROM pragma_table_info('" EVENTS "')"
	                                                                 " WHERE name = %Q COLLATE NOCASE", column), err);
	if (there)
		return there < 0 ? CTP_FAILED : CTP_OK;
	for (size_t i = 0; i < COUNT(event_columns); i++)
		if (!strcmp(column, event_columns[i].name))
			return ctp_err_set(err, "%s: its table " EVENTS " has no column %s, so it is not coroTracer's", s->name,
			                   column);
	return ctp_sqlite_exec(s, err, "ALTER TABLE " EVENTS " ADD COLUMN \"%w\" %s", column, type);
}

static enum ctp_status add_event_columns(const struct ctp_sqlite *s, const struct ctp_class *cls, const struct names *names,
                                         struct ctp_err *err)
{
	enum ctp_status status = add_event_column(s, "section", "INTEGER NOT NULL DEFAULT 0", err);
	for (uint32_t i = 0; i < cls->nfields && !status; i++)
		status = add_event_column(s, names->name[i + 2], ctp_sqlite_type(&cls->fields[i]), err);
	return status;
}

static enum ctp_status note_class(const struct ctp_sqlite *s, const struct ctp_class *cls, const char *table,
                                  const struct names *names, const char *declaration, struct ctp_err *err)
{
	sqlite3_stmt *stmt = ctp_sqlite_prepare(s, err, "INSERT INTO classes (name, kind, table_name, declaration)"
	                                                " VALUES (?, %Q, %Q, %Q)",
	                                        ctp_kind_name(cls->kind), table, declaration);
	ctp_sqlite_bind(stmt, 1, cls->name);
	enum ctp_status status = stmt ? ctp_sqlite_step(s, stmt, err) : CTP_FAILED;
	sqlite3_finalize(stmt);
	int64_t id = sqlite3_last_insert_rowid(s->db);
	for (uint32_t i = 0; i < cls->nfields && !status; i++) {
		const struct ctp_field *f = &cls->fields[i];
		stmt = ctp_sqlite_prepare(s, err, "INSERT INTO fields VALUES (%lld, %d, ?, %Q, %Q, %Q, ?)", id, (int)i,
		                          names->name[i + 2], ctp_type_name(f->type), ctp_role_name(f->role));
		ctp_sqlite_bind(stmt, 1, f->name);
		ctp_sqlite_bind(stmt, 2, f->unit);
		status = stmt ? ctp_sqlite_step(s, stmt, err) : CTP_FAILED;
		sqlite3_finalize(stmt);
	}
	return status;
}

static enum ctp_status meet_class(const struct ctp_sqlite *s, const struct ctp_class *cls, const char *declaration,
                                  struct ctp_err *err)
{
	struct names names = {0};
	bool event = ctp_sqlite_is_event(cls);
	char *table = event ? sqlite3_mprintf("%s", EVENTS) : name_table(s, cls->name, err);
	enum ctp_status status = CTP_FAILED;
	if (table && !name_columns(s, cls, event, &names, err) &&
	    !(event ? add_event_columns(s, cls, &names, err) : make_table(s, table, cls, &names, err)))
		status = note_class(s, cls, table, &names, declaration, err);
	sqlite3_free(table);
	free_names(&names);
	return status;
}

/* Rows that have no section, of a database in which the column may be NULL: the views look for a number. */
static enum ctp_status name_sections(const struct ctp_sqlite *s, struct ctp_err *err)
{
	int64_t nullable = ctp_sqlite_look_up(s, ctp_sqlite_prepare(s, err, "SELECT 1 FROM pragma_table_info('" EVENTS "')"
	                                                            " WHERE name = 'section' AND NOT \"notnull\""), err);
	if (nullable > 0)
		return ctp_sqlite_exec(s, err, "UPDATE " EVENTS " SET section = 0 WHERE section IS NULL");
	return nullable < 0 ? CTP_FAILED : CTP_OK;
}

enum ctp_status ctp_sqlite_schema(const struct ctp_sqlite *s, struct ctp_err *err)
{
	int64_t again = ctp_sqlite_is_taken(s, "classes", err);
	enum ctp_status status = again < 0 ? CTP_FAILED : ctp_sqlite_exec(s, err, "%s", tables_sql);
	for (int event = 0; event < CTP_EVENT_COUNT && !status; event++) {
		struct ctp_class *cls = ctp_event_class(event);
		if (!cls)
			return ctp_err_set(err, "%s: out of memory", s->name);
		status = ctp_sqlite_class(s, cls, err) < 0 ? CTP_FAILED : CTP_OK;
		ctp_class_free(cls);
	}
	if (status || name_sections(s, err) || ctp_sqlite_exec(s, err, "%s", indexes_sql))
		return CTP_FAILED;
	return ctp_sqlite_views(s, again, err); /* so that no table takes their names */
}

/* --- inserting ----------------------------------------------------------------------------------------------------------- */

static sqlite3_stmt *prepare_insert(const struct ctp_sqlite *s, int64_t class_id, struct ctp_err *err)
{
	sqlite3_str *to = sqlite3_str_new(s->db), *from = sqlite3_str_new(s->db);
	sqlite3_stmt *insert = NULL, *fields = ctp_sqlite_prepare(s, err,
		"SELECT table_name, column_name FROM classes LEFT JOIN fields ON class = id WHERE id = %lld ORDER BY position",
		class_id);
	for (int i = 0; fields && sqlite3_step(fields) == SQLITE_ROW; i++) {
		if (i == 0)
			sqlite3_str_appendf(to, "INSERT INTO \"%w\" (section", sqlite3_column_text(fields, 0));
		if (sqlite3_column_type(fields, 1) != SQLITE_NULL) {
			sqlite3_str_appendf(to, ", \"%w\"", sqlite3_column_text(fields, 1));
			sqlite3_str_appendf(from, ", c%d", i);
		}
	}
	char *columns = sqlite3_str_finish(to), *values = sqlite3_str_finish(from);
	if (fields && sqlite3_finalize(fields))
		ctp_sqlite_error(s, err);
	else if (fields)
		insert = ctp_sqlite_prepare(s, err, "%s) SELECT ?1%s FROM ctp_batch", columns, values ? values : "");
	sqlite3_free(columns);
	sqlite3_free(values);
	return insert;
}

int64_t ctp_sqlite_class(const struct ctp_sqlite *s, const struct ctp_class *cls, struct ctp_err *err)
{
	static const char known[] = "SELECT id FROM classes WHERE declaration = %Q";
	size_t len;
	char *declaration = ctp_meta_class(cls, &len);
	if (!declaration)
		return ctp_err_set(err, "%s: out of memory", s->name);
	int64_t id = ctp_sqlite_look_up(s, ctp_sqlite_prepare(s, err, known, declaration), err);
	if (!id)
		id = meet_class(s, cls, declaration, err) ? -1 :
		     ctp_sqlite_look_up(s, ctp_sqlite_prepare(s, err, known, declaration), err);
	free(declaration);
	return id;
}

sqlite3_stmt *ctp_sqlite_insert(const struct ctp_sqlite *s, const struct ctp_class *cls, struct ctp_err *err)
{
	int64_t id = ctp_sqlite_class(s, cls, err);
	return id > 0 ? prepare_insert(s, id, err) : NULL;
}
