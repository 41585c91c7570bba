/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-schema.c - the statements that make tables and views, and those that add what a server lacks.
 *
 * A table is for all declarations of a class with one name, and has the columns of all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clickhouse/clickhouse-name.h"
#include "clickhouse/clickhouse-server.h"
#include "clickhouse/clickhouse-views.h"
#include "clickhouse/clickhouse.h"
#include "stream/events.h"

struct schema_sink {
	struct ctp_sink sink;
	struct ctp_clickhouse_schema_options o;
	struct ctp_clickhouse_batch batch; /* of which only the tables are used */
	struct ctp_clickhouse_tables had;
	struct ctp_bytes text;
	bool known[CTP_CLASSES_MAX]; /* by the class's id */
};

/* --- columns -------------------------------------------------------------------------------------------------------------- */

/* What only newer servers have. Names and labels are few; times grow by steps. */
static const char *type_of(const struct schema_sink *s, const struct ctp_field *f, const char *name, const char *type)
{
	bool few = f ? f->type == CTP_ENUM : !strcmp(name, "host");
	return s->o.server >= CTP_CLICKHOUSE_NEW && few ? "LowCardinality(String)" : type;
}

static const char *codec_of(const struct schema_sink *s, const struct ctp_field *f, const char *name)
{
	if (s->o.server < CTP_CLICKHOUSE_NEW)
		return "";
	bool grows = f ? f->role == CTP_ROLE_TIME || f->role == CTP_ROLE_SEQUENCE : !strcmp(name, "wall");
	return grows && (!f || !ctp_type_is_text(f->type)) ? " CODEC(Delta, ZSTD(1))" : " CODEC(ZSTD(1))";
}

struct columns {
	struct schema_sink *s;
	const struct ctp_clickhouse_table *t;
	uint32_t n;         /* columns so far */
	bool lacking;       /* only those that the server lacks, each a statement */
	const char *suffix; /* of the table that has the rows, where that is another */
};

static const struct ctp_field *field_of(const struct columns *c, const char *name)
{
	for (uint32_t i = 0; i < c->t->cls->nfields; i++)
		if (!strcmp(c->t->columns[i].name, name))
			return &c->t->cls->fields[i];
	return NULL;
}

/* Whether a table before this one, with the same name, has the column. */
static bool was_there(const struct columns *c, const char *name)
{
	const struct ctp_clickhouse_batch *b = &c->s->batch;
	for (uint32_t i = 0; i < b->ntables && b->tables[i] != c->t; i++) {
		struct columns other = {.t = b->tables[i]};
		bool own = !strcmp(name, "day") || !strcmp(name, "section_id") || !strcmp(name, "delivery") || !strcmp(name, "host") || !strcmp(name, "wall");
		if (!strcmp(b->tables[i]->name, c->t->name) && (own || field_of(&other, name)))
			return true;
	}
	return false;
}

/* A server that was interrupted may have added it to one of two tables. 18.16 does not know IF NOT EXISTS here. */
static void add_column(struct schema_sink *s, const char *table, const char *name, const char *type, const char *codec)
{
	if (!ctp_clickhouse_tables_find(&s->had, table, name))
		ctp_clickhouse_put(&s->text, "ALTER TABLE %I ADD COLUMN %s%I %s%s;\n", table, s->o.server >= CTP_CLICKHOUSE_NEW ? "IF NOT EXISTS " : "", name,
		                   type, codec);
}

static void put_column(void *arg, const char *name, const char *type)
{
	struct columns *c = arg;
	struct schema_sink *s = c->s;
	const struct ctp_field *f = field_of(c, name);
	if (was_there(c, name))
		return;
	if (c->lacking) {
		char local[160];
		snprintf(local, sizeof local, "%s%s", c->t->name, c->suffix);
		add_column(s, local, name, type_of(s, f, name, type), codec_of(s, f, name));
		if (*c->suffix)
			add_column(s, c->t->name, name, type_of(s, f, name, type), "");
		return;
	}
	ctp_clickhouse_put(&s->text, "%s%I %s%s", c->n++ ? ", " : "", name, type_of(s, f, name, type), codec_of(s, f, name));
}

/* Each table's, and those of later declarations with its name. */
static void put_columns(struct schema_sink *s, const struct ctp_clickhouse_table *t, bool lacking)
{
	struct columns c = {.s = s, .t = t, .lacking = lacking, .suffix = s->o.cluster ? CTP_CLICKHOUSE_LOCAL : ""};
	ctp_clickhouse_table_each(t, put_column, &c);
	for (uint32_t i = 0; i < s->batch.ntables; i++) {
		c.t = s->batch.tables[i];
		if (c.t != t && !strcmp(c.t->name, t->name))
			ctp_clickhouse_table_each(c.t, put_column, &c);
	}
}

/* --- tables --------------------------------------------------------------------------------------------------------------- */

/* Rows of a coroutine, or else of a thread, are together, in the order of time. */
static void put_order(struct schema_sink *s, const struct ctp_clickhouse_table *t)
{
	static const uint8_t roles[] = {CTP_ROLE_COROUTINE, CTP_ROLE_PROBE, CTP_ROLE_THREAD, CTP_ROLE_SITE};
	int by = -1;
	for (size_t i = 0; i < sizeof roles && by < 0; i++)
		by = ctp_class_role(t->cls, roles[i]);
	ctp_clickhouse_put(&s->text, "section_id");
	if (by >= 0)
		ctp_clickhouse_put(&s->text, ", %I", t->columns[by].name);
	if (t->cls->time_field >= 0)
		ctp_clickhouse_put(&s->text, ", %I", t->columns[t->cls->time_field].name);
}

/* With the name of the database: 18.16 keeps currentDatabase() as it is, which names none when the server starts again. */
static void put_distributed(struct schema_sink *s, const char *name, const char *key)
{
	char local[160];
	snprintf(local, sizeof local, "%s" CTP_CLICKHOUSE_LOCAL, name);
	ctp_clickhouse_put(&s->text, "CREATE TABLE IF NOT EXISTS %I AS %I ENGINE = Distributed(%I, %L, %I%s);\n", name, local, s->o.cluster,
	                   s->o.database, local, key);
}

static void put_table(struct schema_sink *s, const struct ctp_clickhouse_table *t)
{
	char name[160];
	snprintf(name, sizeof name, "%s%s", t->name, s->o.cluster ? CTP_CLICKHOUSE_LOCAL : "");
	ctp_clickhouse_put(&s->text, "CREATE TABLE IF NOT EXISTS %I (", name);
	put_columns(s, t, false);
	if (s->o.server >= CTP_CLICKHOUSE_NEW && t->cls->time_field >= 0)
		ctp_clickhouse_put(&s->text, ", INDEX times %I TYPE minmax GRANULARITY 4", t->columns[t->cls->time_field].name);
	ctp_clickhouse_put(&s->text, ") ENGINE = MergeTree PARTITION BY day ORDER BY (");
	put_order(s, t);
	ctp_clickhouse_put(&s->text, ");\n");
	if (s->o.cluster)
		put_distributed(s, t->name, ", section_id");
}

/* The first of the tables with its name. */
static bool is_first(const struct schema_sink *s, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (!strcmp(s->batch.tables[i]->name, s->batch.tables[at]->name))
			return false;
	return true;
}

static void put_one(struct schema_sink *s, const struct ctp_clickhouse_table *t)
{
	if (s->o.client && ctp_clickhouse_tables_find(&s->had, t->name, NULL))
		put_columns(s, t, true);
	else
		put_table(s, t);
}

/* A view may be of more columns or classes than it was, and its text may have changed. */
static void drop_view(void *arg, const char *name)
{
	struct schema_sink *s = arg;
	char local[160];
	snprintf(local, sizeof local, "%s%s", name, s->o.cluster ? CTP_CLICKHOUSE_LOCAL : "");
	ctp_clickhouse_put(&s->text, "DROP TABLE IF EXISTS %I;\n", local);
	if (s->o.cluster)
		ctp_clickhouse_put(&s->text, "DROP TABLE IF EXISTS %I;\n", name);
}

static void distribute_view(void *arg, const char *name) { put_distributed(arg, name, ""); }

static void each_delivered(struct schema_sink *s, void (*view)(void *arg, const char *name))
{
	char name[160];
	for (uint32_t i = 0; i < s->batch.ntables; i++) {
		snprintf(name, sizeof name, CTP_CLICKHOUSE_DELIVERED "%s", s->batch.tables[i]->name);
		if (is_first(s, i))
			view(s, name);
	}
}

static enum ctp_status ask_tables(struct schema_sink *s, struct ctp_err *err)
{
	struct ctp_clickhouse_client client;
	ctp_clickhouse_client_init(&client, s->o.client, s->o.timeout_ns);
	if (ctp_clickhouse_tables_ask(&s->had, &client, err))
		return CTP_FAILED;
	if (!s->o.cluster != ctp_clickhouse_tables_local(&s->had) && ctp_clickhouse_tables_find(&s->had, "sections", NULL))
		return ctp_err_set(err, s->o.cluster ? "%s: its tables are not those of a cluster; leave --cluster out" :
		                   "%s: its tables are those of a cluster; give --cluster and --database, too", client.shown);
	return CTP_OK;
}

static enum ctp_status put_all(struct schema_sink *s, struct ctp_err *err)
{
	if (s->o.client && ask_tables(s, err))
		return CTP_FAILED;
	if (s->o.database)
		ctp_clickhouse_put(&s->text, "USE %I;\n", s->o.database);
	put_one(s, s->batch.sections);
	for (uint32_t i = 0; i < s->batch.ntables; i++)
		if (is_first(s, i))
			put_one(s, s->batch.tables[i]);
	if (s->o.client) {
		each_delivered(s, drop_view);
		ctp_clickhouse_each_view(s->o.server, drop_view, s);
	}
	ctp_clickhouse_put_views(&s->text, s->batch.tables, s->batch.ntables, s->o.cluster ? CTP_CLICKHOUSE_LOCAL : "", s->o.server);
	if (s->o.cluster) {
		each_delivered(s, distribute_view);
		ctp_clickhouse_each_view(s->o.server, distribute_view, s);
	}
	return CTP_OK;
}

/* --- the stream ----------------------------------------------------------------------------------------------------------- */

static enum ctp_status write_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct schema_sink *s = (struct schema_sink *)sink;
	(void)sec, (void)err;
	memset(s->known, 0, sizeof s->known);
	return CTP_OK;
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct schema_sink *s = (struct schema_sink *)sink;
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct ctp_class *cls = batch->rec[i].cls;
		if (!s->known[cls->id] && ctp_clickhouse_batch_class(&s->batch, cls, err))
			return CTP_FAILED;
		s->known[cls->id] = true;
	}
	return CTP_OK;
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct schema_sink *s = (struct schema_sink *)sink;
	if (put_all(s, err))
		return CTP_FAILED;
	if (s->text.failed)
		return ctp_err_memory(err);
	ctp_output_put(s->o.out, s->text.data, s->text.len);
	return ctp_output_close(s->o.out, err);
}

static void free_sink(struct ctp_sink *sink)
{
	struct schema_sink *s = (struct schema_sink *)sink;
	ctp_output_abandon(s->o.out);
	ctp_clickhouse_batch_fini(&s->batch);
	ctp_clickhouse_tables_fini(&s->had);
	ctp_bytes_fini(&s->text);
	free(s);
}

/* Takes the class over; null: memory is out. */
static enum ctp_status add(struct schema_sink *s, struct ctp_class *cls, struct ctp_err *err)
{
	enum ctp_status status = cls ? ctp_clickhouse_batch_class(&s->batch, cls, err) : ctp_err_memory(err);
	ctp_class_free(cls);
	return status;
}

struct ctp_sink *ctp_clickhouse_schema(const struct ctp_clickhouse_schema_options *options, struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {.section = write_section, .records = write_records, .finish = finish, .free = free_sink};
	struct schema_sink *s = ctp_err_calloc(err, sizeof *s);
	if (!s) {
		ctp_output_abandon(options->out);
		return NULL;
	}
	s->sink.ops = &ops;
	s->o = *options;
	enum ctp_status status = ctp_clickhouse_batch_init(&s->batch, "sections", options->server >= CTP_CLICKHOUSE_NEW, err);
	for (int event = 0; event < CTP_EVENT_COUNT && !status; event++)
		status = add(s, ctp_event_class(event), err);
	for (int fact = 0; fact < CTP_SQL_FACTS && !status; fact++)
		status = add(s, ctp_sql_fact_class(fact), err);
	if (status) {
		free_sink(&s->sink);
		return NULL;
	}
	return &s->sink;
}
