/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-batch.c - see clickhouse-batch.h. */
#include "clickhouse/clickhouse-batch.h"

#include <string.h>

#include "clickhouse/clickhouse-name.h"
#include "common/meta.h"
#include "stream/events.h"

enum { DAY_S = 86400 };

/* For the caller to free; null: err. */
static struct ctp_class *sections_class(struct ctp_err *err)
{
	struct ctp_field fields[CTP_CLICKHOUSE_SECTION_FIELDS] = {
		[CTP_CLICKHOUSE_MARK] = {.name = "mark", .type = CTP_U64, .flags = CTP_FIELD_HEX},
		[CTP_CLICKHOUSE_STATE] = {.name = "state", .type = CTP_U8},
		[CTP_CLICKHOUSE_ROWS] = {.name = "rows", .type = CTP_U64},
		[CTP_CLICKHOUSE_END] = {.name = "end_ns", .type = CTP_U64},
		[CTP_CLICKHOUSE_HAS_END] = {.name = "has_end", .type = CTP_BOOL},
	};
	memcpy(fields, ctp_about_fields, sizeof ctp_about_fields);
	return ctp_class_new("sections", CTP_KIND_OTHER, fields, CTP_CLICKHOUSE_SECTION_FIELDS, err);
}

static struct ctp_class *lacks_class(struct ctp_err *err)
{
	static const struct ctp_field fields[] = {{.name = "table", .type = CTP_STRING}, {.name = "column", .type = CTP_STRING}};
	return ctp_class_new("lacks", CTP_KIND_OTHER, fields, 2, err);
}

struct ctp_class *ctp_clickhouse_standard(const char *name)
{
	for (int event = 0; event < CTP_EVENT_COUNT; event++) {
		struct ctp_class *cls = ctp_event_class(event);
		if (!cls || !strcmp(cls->name, name))
			return cls;
		ctp_class_free(cls);
	}
	return NULL;
}

/* --- the facts, which ask for a database ---------------------------------------------------------------------------------- */

static struct ctp_clickhouse_table *table_of(struct ctp_clickhouse_batch *b, const struct ctp_class *cls, struct ctp_err *err);

static enum ctp_status no_statement(struct ctp_sql *db, const char *sql, struct ctp_err *err)
{
	(void)db, (void)sql, (void)err;
	return CTP_OK;
}

/* Each class is known, by the number 1. */
static enum ctp_status known(struct ctp_sql *db, const char *sql, const char *asked, ctp_sql_row *row, void *arg, struct ctp_err *err)
{
	(void)db, (void)sql, (void)asked, (void)err;
	row(arg, (const char *const[]){"1"});
	return CTP_OK;
}

static struct ctp_clickhouse_batch *batch_of(struct ctp_sql *db)
{
	return (struct ctp_clickhouse_batch *)((char *)db - offsetof(struct ctp_clickhouse_batch, db));
}

static struct ctp_sql_rows *fact_rows(struct ctp_sql *db, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err)
{
	(void)class_id;
	return (struct ctp_sql_rows *)table_of(batch_of(db), cls, err);
}

static enum ctp_status add_fact(struct ctp_sql *db, struct ctp_sql_rows *rows, int64_t section, const uint64_t *val, struct ctp_err *err)
{
	struct ctp_clickhouse_batch *b = batch_of(db);
	struct ctp_clickhouse_table *t = (struct ctp_clickhouse_table *)rows;
	(void)section;
	if (b->class_name && strcmp(b->class_name, t->cls->name))
		return CTP_OK;
	b->now->rows++;
	ctp_clickhouse_table_add(t, &b->now->sec, &(struct ctp_record){.cls = t->cls, .val = val}, 1);
	return t->failed ? ctp_err_memory(err) : CTP_OK;
}

static enum ctp_status end_facts(struct ctp_sql *db, struct ctp_sql_rows *rows, struct ctp_err *err)
{
	(void)db, (void)rows, (void)err;
	return CTP_OK;
}

static void drop_facts(struct ctp_sql_rows *rows) { (void)rows; }

static const struct ctp_sql_naming fact_naming = {0};
static const struct ctp_sql_words fact_words = {.naming = &fact_naming};
static const struct ctp_sql_ops fact_ops = {
	.exec = no_statement, .query = known, .rows = fact_rows, .add = add_fact, .end = end_facts, .drop = drop_facts,
};

static bool wants_facts(const char *class_name)
{
	bool wants = !class_name;
	for (int fact = 0; fact < CTP_SQL_FACTS && !wants; fact++) {
		struct ctp_class *cls = ctp_sql_fact_class(fact);
		wants = cls && !strcmp(cls->name, class_name);
		ctp_class_free(cls);
	}
	return wants;
}

/* --- begin and end -------------------------------------------------------------------------------------------------------- */

/* Takes the class over; null: err. */
static struct ctp_clickhouse_table *make_table(struct ctp_class *cls, bool wall64, struct ctp_err *err)
{
	struct ctp_clickhouse_table *t = cls ? ctp_clickhouse_table_new(cls, cls->name, wall64, err) : NULL;
	ctp_class_free(cls);
	return t;
}

enum ctp_status ctp_clickhouse_batch_init(struct ctp_clickhouse_batch *b, const char *class_name, bool wall64, struct ctp_err *err)
{
	*b = (struct ctp_clickhouse_batch){.class_name = class_name, .wall64 = wall64};
	b->db = (struct ctp_sql){.ops = &fact_ops, .words = &fact_words, .name = "clickhouse", .events = CTP_SQL_EVENTS};
	if (wants_facts(class_name) && !(b->facts = ctp_sql_facts_new(&b->db, err)))
		return CTP_FAILED;
	b->sections = make_table(sections_class(err), wall64, err);
	b->lacks = b->sections ? make_table(lacks_class(err), wall64, err) : NULL;
	if (!b->lacks)
		return CTP_FAILED;
	if (!CTP_ARRAY_RESERVE(b->tables, b->tables_room, 1, UINT32_MAX)) {
		ctp_clickhouse_table_free(b->lacks);
		return ctp_err_memory(err);
	}
	b->tables[b->ntables++] = b->lacks;
	return CTP_OK;
}

static void free_delivery(struct ctp_clickhouse_delivery *d)
{
	ctp_about_fini(d->val);
	free(d->sec.host);
	free(d);
}

void ctp_clickhouse_batch_fini(struct ctp_clickhouse_batch *b)
{
	for (uint32_t i = 0; i < b->ntables; i++)
		ctp_clickhouse_table_free(b->tables[i]);
	for (uint32_t i = 0; i < b->ndeliveries; i++)
		free_delivery(b->deliveries[i]);
	ctp_clickhouse_table_free(b->sections);
	ctp_sql_facts_free(b->facts);
	ctp_sql_end_fini(&b->end);
	free(b->tables);
	free(b->deliveries);
}

/* --- tables --------------------------------------------------------------------------------------------------------------- */

/* A table has one type for a column, whatever declarations of its class there are. */
static enum ctp_status check_types(const struct ctp_clickhouse_table *a, const struct ctp_clickhouse_table *b, struct ctp_err *err)
{
	for (uint32_t i = 0; i < a->cls->nfields; i++)
		for (uint32_t k = 0; k < b->cls->nfields; k++)
			if (!strcmp(a->columns[i].name, b->columns[k].name) && strcmp(a->columns[i].type, b->columns[k].type))
				return ctp_err_set(err, "class %.100s: its field %.100s is declared as %s and as %s, and a table can have one of them; use a database for each",
				                   a->cls->name, a->columns[i].name, a->columns[i].type, b->columns[k].type);
	return CTP_OK;
}

/* Null: err. */
static struct ctp_clickhouse_table *table_of(struct ctp_clickhouse_batch *b, const struct ctp_class *cls, struct ctp_err *err)
{
	for (uint32_t i = 0; i < b->ntables; i++)
		if (ctp_clickhouse_table_is_of(b->tables[i], cls))
			return b->tables[i];
	if (!CTP_ARRAY_RESERVE(b->tables, b->tables_room, b->ntables + 1, UINT32_MAX))
		return ctp_err_memory(err), NULL;
	struct ctp_clickhouse_table *t = ctp_clickhouse_table_new(cls, NULL, b->wall64, err);
	for (uint32_t i = 0; t && i < b->ntables; i++)
		if (!b->any_types && !strcmp(b->tables[i]->name, t->name) && check_types(t, b->tables[i], err)) {
			ctp_clickhouse_table_free(t);
			return NULL;
		}
	if (t)
		b->tables[b->ntables++] = t;
	return t;
}

enum ctp_status ctp_clickhouse_batch_class(struct ctp_clickhouse_batch *b, const struct ctp_class *cls, struct ctp_err *err)
{
	return table_of(b, cls, err) ? CTP_OK : CTP_FAILED;
}

/* --- sections ------------------------------------------------------------------------------------------------------------- */

static uint16_t day_of(const struct ctp_section *sec, const struct ctp_record *first)
{
	int64_t wall_s;
	return ctp_about_began(sec, first, &wall_s) && wall_s >= 0 && wall_s / DAY_S <= UINT16_MAX ? (uint16_t)(wall_s / DAY_S) : 0;
}

/* first: the section's first record, or null. */
static enum ctp_status begin(struct ctp_clickhouse_batch *b, const struct ctp_record *first, struct ctp_err *err)
{
	const struct ctp_section *sec = b->begun;
	const char *host = ctp_section_get(sec, "host");
	if (!CTP_ARRAY_RESERVE(b->deliveries, b->deliveries_room, b->ndeliveries + 1, UINT32_MAX))
		return ctp_err_memory(err);
	struct ctp_clickhouse_delivery *d = ctp_err_calloc(err, sizeof *d);
	char *attrs = ctp_meta_attrs(sec, NULL);
	if (!d || !attrs) {
		free(d);
		free(attrs);
		return ctp_err_memory(err);
	}
	d->sec = (struct ctp_clickhouse_section){
		.id = sec->id, .delivery = CTP_CLICKHOUSE_BY_HAND, .day = day_of(sec, first), .has_wall = sec->has_wall,
		.wall_offset_ns = sec->wall_offset_ns, .host = strdup(host ? host : ""),
	};
	d->is_new = true;
	bool ok = ctp_about_fill(d->val, sec, attrs, b->input, false) && d->sec.host;
	/* A section that does not say when it began, began with its first record; one without that has no time on the wall. */
	if (!d->val[CTP_ABOUT_HAS_START] && first)
		d->val[CTP_ABOUT_START] = first->ts_ns;
	d->sec.has_wall &= first || d->val[CTP_ABOUT_HAS_START];
	d->val[CTP_CLICKHOUSE_MARK] = first ? ctp_meta_mark(attrs, first) : 0;
	b->deliveries[b->ndeliveries++] = b->now = d;
	b->begun = NULL;
	free(attrs);
	return ok ? CTP_OK : ctp_err_memory(err);
}

void ctp_clickhouse_batch_section(struct ctp_clickhouse_batch *b, const struct ctp_section *sec, const char *input)
{
	b->begun = sec;
	b->input = input;
	b->now = NULL;
	memset(b->of, 0, sizeof b->of);
	memset(b->left_out, 0, sizeof b->left_out);
	ctp_sql_end_begin(&b->end, sec);
	if (b->facts)
		ctp_sql_facts_section(b->facts, sec);
}

void ctp_clickhouse_batch_say(const struct ctp_clickhouse_batch *b, struct ctp_clickhouse_table *to, struct ctp_clickhouse_delivery *d,
                              enum ctp_clickhouse_state state)
{
	uint64_t end_ns = 0;
	d->val[CTP_CLICKHOUSE_STATE] = state;
	d->val[CTP_CLICKHOUSE_ROWS] = d->rows;
	if (d == b->now) {
		d->val[CTP_CLICKHOUSE_HAS_END] = ctp_sql_end_ns(&b->end, &end_ns);
		d->val[CTP_CLICKHOUSE_END] = end_ns;
	}
	d->val[CTP_ABOUT_COMPLETE] = d->complete;
	ctp_clickhouse_table_add(to, &d->sec, &(struct ctp_record){.cls = to->cls, .val = d->val}, 1);
}

enum ctp_status ctp_clickhouse_batch_end(struct ctp_clickhouse_batch *b, const struct ctp_section_end *end, struct ctp_err *err)
{
	if (b->begun && begin(b, NULL, err))
		return CTP_FAILED;
	if (b->facts && ctp_sql_facts_end(b->facts, 0, end, err))
		return CTP_FAILED;
	b->now->over = true;
	b->now->complete = end->complete;
	ctp_clickhouse_batch_say(b, b->sections, b->now, CTP_CLICKHOUSE_OVER);
	b->now = NULL;
	return b->sections->failed ? ctp_err_memory(err) : CTP_OK;
}

/* --- records -------------------------------------------------------------------------------------------------------------- */

/* Whether rows of a table of ours are wanted, beside those of classes. */
static bool wants(const struct ctp_clickhouse_batch *b, const char *table) { return !b->class_name || !strcmp(b->class_name, table); }

static struct ctp_str *text_of(const char *text)
{
	struct ctp_str *s = malloc(sizeof *s + strlen(text) + 1);
	if (s) {
		s->len = (uint32_t)strlen(text);
		memcpy(s->data, text, s->len + 1);
	}
	return s;
}

static enum ctp_status put_lack(struct ctp_clickhouse_batch *b, const char *table, const char *column, struct ctp_err *err)
{
	struct ctp_str *texts[] = {text_of(table), text_of(column)};
	uint64_t val[] = {ctp_val_str(texts[0]), ctp_val_str(texts[1])};
	bool ok = texts[0] && texts[1];
	if (ok)
		ctp_clickhouse_table_add(b->lacks, &b->now->sec, &(struct ctp_record){.cls = b->lacks->cls, .val = val}, 1);
	b->now->rows++;
	free(texts[0]);
	free(texts[1]);
	return ok && !b->lacks->failed ? CTP_OK : ctp_err_memory(err);
}

/* What the class lacks of ctp-collect's with its name. */
static enum ctp_status put_lacks(struct ctp_clickhouse_batch *b, const struct ctp_class *cls, struct ctp_err *err)
{
	struct ctp_class *own = wants(b, "lacks") ? ctp_clickhouse_standard(cls->name) : NULL;
	enum ctp_status status = CTP_OK;
	for (uint32_t i = 0; own && i < own->nfields && !status; i++)
		if (ctp_class_field(cls, own->fields[i].name) < 0)
			status = put_lack(b, cls->name, own->fields[i].name, err);
	ctp_class_free(own);
	return status;
}

static enum ctp_status add_run(struct ctp_clickhouse_batch *b, const struct ctp_record *rec, uint32_t n, struct ctp_err *err)
{
	const struct ctp_class *cls = rec->cls;
	for (uint32_t i = 0; cls->time_field >= 0 && wants(b, "sections") && i < n; i++)
		ctp_sql_end_record(&b->end, &rec[i]);
	if (b->left_out[cls->id] || b->now->sec.unwanted)
		return CTP_OK;
	if (!b->of[cls->id] && put_lacks(b, cls, err))
		return CTP_FAILED;
	if (!b->of[cls->id] && (!wants(b, cls->name) || ctp_clickhouse_is_ours(b->class_name))) {
		b->left_out[cls->id] = true;
		return CTP_OK;
	}
	if (!b->of[cls->id] && !(b->of[cls->id] = table_of(b, cls, err)))
		return CTP_FAILED;
	ctp_clickhouse_table_add(b->of[cls->id], &b->now->sec, rec, n);
	b->now->rows += n;
	return b->of[cls->id]->failed ? ctp_err_memory(err) : CTP_OK;
}

enum ctp_status ctp_clickhouse_batch_records(struct ctp_clickhouse_batch *b, const struct ctp_batch *batch, struct ctp_err *err)
{
	if (b->begun && begin(b, batch->rec, err))
		return CTP_FAILED;
	for (uint32_t i = 0, end; i < batch->n; i = end) {
		for (end = i + 1; end < batch->n && batch->rec[end].cls == batch->rec[i].cls; end++)
			;
		if (add_run(b, batch->rec + i, end - i, err))
			return CTP_FAILED;
	}
	return b->facts ? ctp_sql_facts_records(b->facts, 0, batch, err) : CTP_OK;
}

void ctp_clickhouse_batch_clear(struct ctp_clickhouse_batch *b)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < b->ntables; i++)
		ctp_clickhouse_table_clear(b->tables[i], false);
	ctp_clickhouse_table_clear(b->sections, false);
	for (uint32_t i = 0; i < b->ndeliveries; i++)
		if (b->deliveries[i] == b->now)
			b->deliveries[kept++] = b->deliveries[i];
		else
			free_delivery(b->deliveries[i]);
	b->ndeliveries = kept;
}

size_t ctp_clickhouse_batch_bytes(const struct ctp_clickhouse_batch *b)
{
	size_t sum = ctp_clickhouse_table_bytes(b->sections);
	for (uint32_t i = 0; i < b->ntables; i++)
		sum += ctp_clickhouse_table_bytes(b->tables[i]);
	return sum;
}
