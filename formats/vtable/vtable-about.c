/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * vtable-about.c - ctp_sections() and ctp_classes().
 *
 * Each reads the whole trace first, and then has its rows in memory; struct about has the differences of the two.
 */
#include "vtable/vtable-about.h"

SQLITE_EXTENSION_INIT3

#include <stdlib.h>
#include <string.h>

#include "analyse/stat.h"
#include "base/array.h"
#include "common/meta.h"
#include "sqlite/sqlite-value.h"
#include "vtable/vtable-trace.h"

struct cursor;

struct about {
	const char *name, *schema;
	int file_column;
	int (*read)(struct cursor *c, char **why); /* the trace is open; counts the rows */
	void (*column)(sqlite3_context *to, const struct cursor *c, int i);
};

struct table {
	sqlite3_vtab base;
	const struct about *about;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct ctp_vtable_trace trace;
	size_t row, nrows;
	struct ctp_stat *stat;
	struct class_row {
		const struct ctp_class *cls; /* of the trace's reader */
		uint32_t field;              /* nfields: the class has no fields */
	} *classes;
	size_t classes_room;
	uint64_t records[CTP_CLASSES_MAX];
};

static void result_text(sqlite3_context *to, const char *text)
{
	if (text && text[0])
		ctp_sqlite_result_text(to, text, strlen(text));
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

static int read_sections(struct cursor *c, char **why)
{
	struct ctp_err err;
	c->stat = ctp_stat_new(&err);
	if (!c->stat)
		return SQLITE_NOMEM;
	if (ctp_stat_read(c->stat, &c->trace.in, &c->trace.notice, NULL, &err))
		return ctp_vtable_fail(why, "%s", err.text);
	c->nrows = c->stat->nsections < CTP_STAT_SECTIONS_MAX ? c->stat->nsections : CTP_STAT_SECTIONS_MAX;
	return ctp_vtable_trace_check(&c->trace, &c->stat->reader, why);
}

enum { SECTION, ATTRS, WALL_OFFSET, COMPLETE, EVENTS, LOST, UNVERIFIED, UNTRACED, UNSEEN, BIRTHS, DEATHS, CONFLICTS, FIRST,
       LAST, OUTCOME, STATUS, DAMAGED, MISSING, SKIPPED, SECTIONS_FILE };
#define SECTIONS_SCHEMA "CREATE TABLE x(section INTEGER, attrs TEXT, wall_offset_ns INTEGER, complete INTEGER, " \
	"events INTEGER, lost INTEGER, unverified INTEGER, untraced INTEGER, unseen INTEGER, births INTEGER, deaths INTEGER, " \
	"conflicts INTEGER, first_ts INTEGER, last_ts INTEGER, outcome TEXT, status INTEGER, damaged_packets INTEGER, " \
	"missing_packets INTEGER, skipped_bytes INTEGER, file TEXT HIDDEN, PRIMARY KEY(file, section)) WITHOUT ROWID"

static void result_attrs(sqlite3_context *to, const struct ctp_section *who)
{
	size_t len;
	char *json = ctp_meta_attrs(who, &len);
	if (json)
		sqlite3_result_text(to, json, (int)len, free);
	else
		sqlite3_result_error_nomem(to);
}

static void section_column(sqlite3_context *to, const struct cursor *c, int i)
{
	const struct ctp_stat_section *s = &c->stat->sections[c->row];
	const struct ctp_stat_counts *n = &s->counts;
	const struct ctp_ended *ended = ctp_stat_ended(s);
	const struct ctp_reader_stats *file = &c->stat->reader;
	const uint64_t numbers[] = {
		[SECTION] = c->row + 1, [WALL_OFFSET] = (uint64_t)s->who->wall_offset_ns, [COMPLETE] = n->complete,
		[EVENTS] = n->events, [LOST] = n->lost, [UNVERIFIED] = n->unverified, [UNTRACED] = n->untraced,
		[UNSEEN] = n->unseen, [BIRTHS] = n->births, [DEATHS] = n->deaths, [CONFLICTS] = n->conflicts,
		[FIRST] = n->first_ns, [LAST] = n->last_ns, [STATUS] = ended ? (uint64_t)ended->status : 0,
		[DAMAGED] = file->damaged_packets, [MISSING] = file->missing_packets, [SKIPPED] = file->skipped_bytes,
	};
	bool unknown = (i == WALL_OFFSET && !s->who->has_wall) || (i == STATUS && !ended) ||
	               ((i == FIRST || i == LAST) && n->first_ns > n->last_ns);
	if (i == ATTRS)
		result_attrs(to, s->who);
	else if (i == OUTCOME)
		result_text(to, ended ? ended->outcome : "");
	else if (i == SECTIONS_FILE)
		sqlite3_result_text(to, c->trace.path, -1, SQLITE_TRANSIENT);
	else if (!unknown)
		sqlite3_result_int64(to, (sqlite3_int64)numbers[i]);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

static bool add_class(struct cursor *c, const struct ctp_class *cls)
{
	uint32_t n = cls->nfields ? cls->nfields : 1;
	if (!CTP_ARRAY_RESERVE(c->classes, c->classes_room, c->nrows + n, SIZE_MAX))
		return false;
	for (uint32_t i = 0; i < n; i++)
		c->classes[c->nrows++] = (struct class_row){ cls, i };
	return true;
}

static int read_classes(struct cursor *c, char **why)
{
	struct ctp_item item;
	int rc;
	while ((rc = ctp_vtable_trace_next(&c->trace, &item, why)) == SQLITE_ROW)
		if (item.kind == CTP_ITEM_RECORDS && !c->records[item.batch.rec->cls->id]++ && !add_class(c, item.batch.rec->cls))
			return SQLITE_NOMEM;
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

enum { CLASS, KIND, RECORDS, FIELD, TYPE, ROLE, UNIT, ORDINAL, CLASSES_FILE };
#define CLASSES_SCHEMA "CREATE TABLE x(class TEXT, kind TEXT, records INTEGER, field TEXT, type TEXT, role TEXT, unit TEXT, " \
	"ordinal INTEGER, file TEXT HIDDEN, PRIMARY KEY(file, ordinal)) WITHOUT ROWID"

static void class_column(sqlite3_context *to, const struct cursor *c, int i)
{
	const struct class_row *row = &c->classes[c->row];
	const struct ctp_field *f = row->field < row->cls->nfields ? &row->cls->fields[row->field] : NULL;
	const char *const texts[] = {
		[CLASS] = row->cls->name, [KIND] = ctp_kind_name(row->cls->kind), [FIELD] = f ? f->name : NULL,
		[TYPE] = f ? ctp_type_name(f->type) : NULL, [ROLE] = f && f->role ? ctp_role_name(f->role) : NULL,
		[UNIT] = f ? f->unit : NULL,
	};
	if (i == CLASSES_FILE)
		sqlite3_result_text(to, c->trace.path, -1, SQLITE_TRANSIENT);
	else if (i == RECORDS || i == ORDINAL)
		sqlite3_result_int64(to, (sqlite3_int64)(i == RECORDS ? c->records[row->cls->id] : c->row + 1));
	else
		result_text(to, texts[i]);
}

/* --- what both share ----------------------------------------------------------------------------------------------------- */

static const struct about abouts[] = {
	{ "ctp_sections", SECTIONS_SCHEMA, SECTIONS_FILE, read_sections, section_column },
	{ "ctp_classes", CLASSES_SCHEMA, CLASSES_FILE, read_classes, class_column },
};

static int connect(sqlite3 *db, void *aux, int argc, const char *const *args, sqlite3_vtab **made, char **why)
{
	(void)argc, (void)args, (void)why;
	const struct about *about = aux;
	int rc = sqlite3_declare_vtab(db, about->schema);
	if (!rc)
		rc = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	struct table *t = rc ? NULL : calloc(1, sizeof *t);
	if (!t)
		return rc ? rc : SQLITE_NOMEM;
	t->about = about;
	*made = &t->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	info->estimatedRows = 25;
	return ctp_vtable_trace_plan(info, ((const struct table *)base)->about->file_column);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
	(void)base;
	struct cursor *c = calloc(1, sizeof *c);
	if (!c)
		return SQLITE_NOMEM;
	*made = &c->base;
	return SQLITE_OK;
}

static void forget(struct cursor *c)
{
	ctp_stat_free(c->stat);
	free(c->classes);
	ctp_vtable_trace_close(&c->trace);
	*c = (struct cursor){ .base = c->base };
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	forget((struct cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int has_file, const char *unused, int argc, sqlite3_value **argv)
{
	(void)unused, (void)argc;
	struct cursor *c = (struct cursor *)base;
	struct table *t = (struct table *)base->pVtab;
	forget(c);
	const char *file = has_file ? (const char *)sqlite3_value_text(argv[0]) : NULL;
	int rc = ctp_vtable_trace_open(&c->trace, file, &t->base.zErrMsg);
	return rc ? rc : t->about->read(c, &t->base.zErrMsg);
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->row++;
	return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (const struct cursor *)base;
	return c->row >= c->nrows;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	((const struct table *)base->pVtab)->about->column(to, (const struct cursor *)base, i);
	return SQLITE_OK;
}

/* No xCreate: they are functions only. */
static const sqlite3_module module = {
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = eof,
	.xColumn = column,
};

int ctp_vtable_about(sqlite3 *db)
{
	int rc = SQLITE_OK;
	for (size_t i = 0; !rc && i < sizeof abouts / sizeof abouts[0]; i++)
		rc = sqlite3_create_module(db, abouts[i].name, &module, (void *)(uintptr_t)&abouts[i]);
	return rc;
}
