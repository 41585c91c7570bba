/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-views.c - see clickhouse-views.h.
 *
 * The views of kinds are the rows of the table that other engines use, kind_views. Their conditions on classes and fields are texts in SQL,
 * which those engines ask the tables classes and fields; here the classes are at hand. The texts of the other views look up rows for each
 * row, which ClickHouse cannot do: those that it can have are written again in clickhouse-select.c.
 */
#include "clickhouse/clickhouse-views.h"

#include <limits.h>
#include <stdio.h>

#include "clickhouse/clickhouse-batch.h"
#include "clickhouse/clickhouse-name.h"
#include "clickhouse/clickhouse-select.h"
#include "sql/sql-form.h"
#include "sql/sql-twin.h"
#include "stream/events.h"
#include "stream/sink.h"

#define SQL_NUMBER "UInt64"
#define SQL_PROBE "UInt64"
#define SQL_TEXT "String"
#define SQL_COLUMN(x) x
#define SQL_ADDRESS(x) x
#define SQL_UP ""
#define SQL_DOWN " DESC"
#define SQL_LEAST "least"
#define SQL_GREATEST "greatest"
#define SQL_MATERIALIZED ""
#define SQL_WHOLE ""
#define SQL_APART(name) ""
#define SQL_SECOND(number) "toString(" number ")"
#define SQL_PICK(what, from) "(SELECT " what " FROM " from " LIMIT 1)"
#define SQL_ALL_OF(what, from) "(SELECT " what " FROM " from ")"
#include "sql/sql-views.h"

enum { COLUMNS = sizeof ((struct ctp_sql_kind_view *)0)->columns / sizeof ((struct ctp_sql_kind_view *)0)->columns[0],
       CONDITIONS_MAX = 160 };

struct views {
	struct ctp_bytes *to;
	struct ctp_clickhouse_table *const *tables;
	uint32_t ntables;
	const char *local;
	bool unfollowed; /* some transitions are in no column of coro_trace_events */
};

/* --- names ---------------------------------------------------------------------------------------------------------------- */

void ctp_clickhouse_each_view(unsigned server, void (*view)(void *arg, const char *name), void *arg)
{
	view(arg, "deliveries");
	view(arg, CTP_SQL_EVENTS);
	for (size_t i = 0; i < sql_views.nkinds; i++)
		view(arg, sql_views.kinds[i].view);
	for (size_t i = 0; i < ctp_clickhouse_nselects(server); i++)
		view(arg, ctp_clickhouse_selects[i].name);
}

struct search {
	const char *name;
	bool found;
};

static void compare(void *arg, const char *name)
{
	struct search *s = arg;
	s->found |= !strcmp(s->name, name);
}

bool ctp_clickhouse_is_view(const char *name)
{
	struct search s = {name, false};
	ctp_clickhouse_each_view(UINT_MAX, compare, &s);
	return s.found;
}

/* --- by kind -------------------------------------------------------------------------------------------------------------- */

/* Whether the class is of the kind: what the condition on the table classes says. */
static bool is_of(const struct ctp_class *cls, const struct ctp_sql_kind_view *kind)
{
	if (!strcmp(kind->view, "losses"))
		return (cls->kind == CTP_KIND_LOSS && !ctp_class_is_missed(cls)) || cls->kind == CTP_KIND_LEFT_OUT;
	if (!strcmp(kind->view, "thread_losses"))
		return cls->kind == CTP_KIND_LOSS && ctp_class_is_missed(cls);
	char condition[CONDITIONS_MAX];
	snprintf(condition, sizeof condition, "kind = '%s'", ctp_kind_name(cls->kind));
	return !strcmp(kind->classes, condition);
}

/* The first field that a condition on the table fields is true of; -1: none. Its form: role = 'R', name = 'N', or both with AND. */
static int find_field(const struct ctp_class *cls, const char *condition)
{
	char role[CONDITIONS_MAX], name[2 * CTP_NAME_MAX], both[CONDITIONS_MAX + 2 * CTP_NAME_MAX + 8], turned[sizeof both];
	for (uint32_t i = 0; i < cls->nfields; i++) {
		snprintf(role, sizeof role, "role = '%s'", ctp_role_name(cls->fields[i].role));
		snprintf(name, sizeof name, "name = '%s'", cls->fields[i].name);
		snprintf(both, sizeof both, "%s AND %s", role, name);
		snprintf(turned, sizeof turned, "%s AND %s", name, role);
		if (!strcmp(condition, role) || !strcmp(condition, name) || !strcmp(condition, both) || !strcmp(condition, turned))
			return (int)i;
	}
	return -1;
}

/* A number as 0x and 16 digits, as an address is shown. */
static void put_hex(struct ctp_bytes *to, const char *column)
{
	ctp_clickhouse_put(to, "concat('0x', substring(concat('000000000000000', lower(hex(%I))), -16))", column);
}

/* Of declarations with one name, the first stands for all. */
static bool is_first(const struct views *v, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (!strcmp(v->tables[i]->name, v->tables[at]->name))
			return false;
	return true;
}

struct found {
	const struct ctp_clickhouse_column *column; /* null: there is none */
	const struct ctp_field *field;
};

/* The first field, of all declarations with the table's name, that a condition is true of. */
static struct found find_column(const struct views *v, const struct ctp_clickhouse_table *t, const char *condition)
{
	for (uint32_t i = 0; i < v->ntables; i++) {
		int field = strcmp(v->tables[i]->name, t->name) ? -1 : find_field(v->tables[i]->cls, condition);
		if (field >= 0)
			return (struct found){&v->tables[i]->columns[field], &v->tables[i]->cls->fields[field]};
	}
	return (struct found){NULL, NULL};
}

/* Whether a section's declaration may lack it: then the table lacks says so (clickhouse-batch.h). */
static bool may_lack(const char *table, const struct found *f)
{
	struct ctp_class *own = ctp_clickhouse_standard(table);
	bool may = own && f->column && ctp_class_field(own, f->field->name) >= 0;
	ctp_class_free(own);
	return may;
}

static void put_value(struct views *v, const struct found *f, const char *type)
{
	if (!strcmp(type, SQL_TEXT) && ctp_sql_form(f->field) == CTP_SQL_HEX)
		put_hex(v->to, f->column->name);
	else if (!strcmp(type, SQL_NUMBER) && f->column->width && strcmp(f->column->type, SQL_NUMBER))
		ctp_clickhouse_put(v->to, "toUInt64(%I)", f->column->name);
	else
		ctp_clickhouse_put(v->to, "%I", f->column->name);
}

/* The column of a view: as it is in the table; null, if no column is its, or the section lacks it. */
static void put_column(struct views *v, const char *table, const struct found *f, const char *type, const char *as)
{
	char lacks[64];
	snprintf(lacks, sizeof lacks, "lacks%s", v->local);
	if (!f->column) {
		ctp_clickhouse_put(v->to, ", CAST(NULL AS Nullable(%s)) AS %I", type, as);
		return;
	}
	/* Only merged sections declare it for other classes than their own, with numbers from 1 on. */
	if (f->field->role == CTP_ROLE_ORIGIN && !may_lack(table, f)) {
		ctp_clickhouse_put(v->to, ", nullIf(%I, 0) AS %I", f->column->name, as);
		return;
	}
	ctp_clickhouse_put(v->to, may_lack(table, f) ? ", if(section_id IN (SELECT section_id FROM %I WHERE table = %L AND column = %L), NULL, " : ", ",
	                   lacks, table, f->field->name);
	put_value(v, f, type);
	ctp_clickhouse_put(v->to, may_lack(table, f) ? ") AS %I" : " AS %I", as);
}

/* The rows of a table that count. */
static void put_from(struct views *v, const char *table)
{
	char from[160], deliveries[40];
	snprintf(from, sizeof from, "%s%s", table, v->local);
	snprintf(deliveries, sizeof deliveries, "deliveries%s", v->local);
	ctp_clickhouse_put(v->to, " FROM %I WHERE (section_id, delivery) IN (SELECT section_id, delivery FROM %I)", from, deliveries);
}

static void begin_view(struct views *v, const char *before, const char *name)
{
	char whole[160];
	snprintf(whole, sizeof whole, "%s%s%s", before, name, v->local);
	ctp_clickhouse_put(v->to, "CREATE VIEW IF NOT EXISTS %I AS ", whole);
}

static void put_kind(struct views *v, const struct ctp_sql_kind_view *kind)
{
	uint32_t n = 0;
	begin_view(v, "", kind->view);
	for (uint32_t i = 0; i < v->ntables; i++) {
		const struct ctp_clickhouse_table *t = v->tables[i];
		if (!is_of(t->cls, kind) || !is_first(v, i))
			continue;
		ctp_clickhouse_put(v->to, n++ ? " UNION ALL SELECT section_id AS section" : "SELECT section_id AS section");
		for (size_t c = 0; c < COLUMNS && kind->columns[c].column; c++) {
			struct found f = find_column(v, t, kind->columns[c].field);
			put_column(v, t->name, &f, kind->columns[c].type, kind->columns[c].column);
		}
		put_from(v, t->name);
	}
	ctp_clickhouse_put(v->to, ";\n");
}

/* --- transitions ---------------------------------------------------------------------------------------------------------- */

/* The column for one of ctp-collect's: by its name, or for a class that others have made by its role. */
static struct found event_column(const struct views *v, const struct ctp_clickhouse_table *t, const struct ctp_field *own)
{
	for (uint32_t i = 0; i < v->ntables; i++) {
		const struct ctp_class *cls = v->tables[i]->cls;
		int field = strcmp(v->tables[i]->name, t->name) ? -1 :
		            ctp_sql_is_event(cls) ? ctp_class_field(cls, own->name) : ctp_sql_by_role(cls, own->name, own->role);
		if (field >= 0)
			return (struct found){&v->tables[i]->columns[field], &cls->fields[field]};
	}
	return (struct found){NULL, NULL};
}

static void put_event(struct views *v, const struct ctp_clickhouse_table *t, const struct ctp_class *own, bool first)
{
	ctp_clickhouse_put(v->to, first ? "SELECT section_id AS section" : " UNION ALL SELECT section_id AS section");
	for (uint32_t i = 0; i < own->nfields; i++) {
		struct found f = event_column(v, t, &own->fields[i]);
		const char *type = i == CTP_TRANSITION_ADDR ? SQL_TEXT : i == CTP_TRANSITION_ACTIVE ? "UInt8" : SQL_NUMBER, *name = own->fields[i].name;
		if (i > CTP_TRANSITION_TS) {
			put_column(v, t->name, &f, type, name);
		} else if (!f.column) { /* coroTracer's are never null */
			ctp_clickhouse_put(v->to, i == CTP_TRANSITION_ADDR ? ", CAST('0x0000000000000000' AS %s) AS %I" : ", CAST(0 AS %s) AS %I", type, name);
		} else {
			ctp_clickhouse_put(v->to, ", ");
			put_value(v, &f, type);
			ctp_clickhouse_put(v->to, " AS %I", name);
		}
	}
	put_from(v, t->name);
}

static bool is_transition(const struct ctp_class *cls) { return ctp_sql_is_event(cls) || ctp_sql_has_twin(cls); }

static void put_events(struct views *v)
{
	struct ctp_class *own = ctp_event_class(CTP_TRANSITION);
	bool first = true;
	begin_view(v, "", CTP_SQL_EVENTS);
	v->to->failed |= !own;
	for (uint32_t i = 0; own && i < v->ntables; i++)
		if (is_transition(v->tables[i]->cls) && is_first(v, i)) {
			put_event(v, v->tables[i], own, first);
			first = false;
		}
	ctp_clickhouse_put(v->to, ";\n");
	ctp_class_free(own);
}

/* --- all ------------------------------------------------------------------------------------------------------------------ */

/* A text of ours: see clickhouse-select.h. */
static void put_own(struct views *v, const char *text)
{
	char name[160];
	for (const char *open; (open = strchr(text, '{'));) {
		const char *close = strchr(open, '}');
		ctp_bytes_put(v->to, text, (size_t)(open - text));
		snprintf(name, sizeof name, "%.*s%s", (int)(close - open - 1), open + 1, v->local);
		if (open[1] == '?')
			ctp_bytes_text(v->to, v->unfollowed ? "1" : "0");
		else
			ctp_clickhouse_put(v->to, "%I", name);
		text = close + 1;
	}
	ctp_bytes_text(v->to, text);
	ctp_clickhouse_put(v->to, ";\n");
}

/* clickhouse-load.h says which deliveries count. */
#define WHOLE "state = 2 AND complete AND delivery <> 18446744073709551615"
static const char deliveries[] =
	"SELECT section_id, least AS delivery, toUInt8(1) AS whole FROM (SELECT section_id, min(delivery) AS least FROM {sections}"
	" WHERE " WHOLE " GROUP BY section_id)"
	" UNION ALL SELECT section_id, delivery, toUInt8(0) AS whole FROM (SELECT section_id, mark, delivery, max(rows) AS most FROM {sections}"
	" WHERE state >= 1 AND section_id NOT IN (SELECT section_id FROM {sections} WHERE " WHOLE ")"
	" GROUP BY section_id, mark, delivery ORDER BY section_id, mark, most DESC, delivery LIMIT 1 BY section_id, mark)";

void ctp_clickhouse_put_views(struct ctp_bytes *to, struct ctp_clickhouse_table *const *tables, uint32_t ntables, const char *local, unsigned server)
{
	struct views v = {to, tables, ntables, local, false};
	for (uint32_t i = 0; i < ntables; i++)
		v.unfollowed |= tables[i]->cls->kind == CTP_KIND_TRANSITION && !is_transition(tables[i]->cls);
	begin_view(&v, "", "deliveries");
	put_own(&v, deliveries);
	for (uint32_t i = 0; i < ntables; i++) {
		if (!is_first(&v, i))
			continue;
		begin_view(&v, CTP_CLICKHOUSE_DELIVERED, tables[i]->name);
		ctp_clickhouse_put(to, "SELECT *");
		put_from(&v, tables[i]->name);
		ctp_clickhouse_put(to, ";\n");
	}
	put_events(&v);
	for (size_t i = 0; i < sql_views.nkinds; i++)
		put_kind(&v, &sql_views.kinds[i]);
	for (size_t i = 0; i < ctp_clickhouse_nselects(server); i++) {
		begin_view(&v, "", ctp_clickhouse_selects[i].name);
		put_own(&v, ctp_clickhouse_selects[i].select);
	}
}
