/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-table.c - see clickhouse-table.h. A server's numbers are little-endian, as are those of a block. */
#include "clickhouse/clickhouse-table.h"

#include <assert.h>
#include <endian.h>

#include "base/text.h"
#include "clickhouse/clickhouse-name.h"
#include "stream/value.h"

enum { VARINT_MAX = 5, SECOND_NS = 1000000000 };

/* --- begin and end -------------------------------------------------------------------------------------------------------- */

static const uint8_t widths[CTP_TYPE_COUNT] = {
	[CTP_U8] = 1, [CTP_U16] = 2, [CTP_U32] = 4, [CTP_U64] = 8, [CTP_I8] = 1, [CTP_I16] = 2, [CTP_I32] = 4, [CTP_I64] = 8,
	[CTP_BOOL] = 1, [CTP_F32] = 4, [CTP_F64] = 8,
};

static bool name_columns(struct ctp_clickhouse_table *t)
{
	char *names[CTP_FIELDS_MAX];
	t->columns = calloc(t->cls->nfields + 1, sizeof *t->columns);
	for (uint32_t i = 0; t->columns && i < t->cls->nfields; i++) {
		const struct ctp_field *f = &t->cls->fields[i];
		struct ctp_clickhouse_column *c = &t->columns[i];
		c->type = ctp_clickhouse_type(f);
		c->width = widths[f->type];
		t->ntexts += !c->width;
		c->name = names[i] = ctp_clickhouse_column_name(f->name, names, i);
		if (!c->name)
			return false;
	}
	return t->columns;
}

struct ctp_clickhouse_table *ctp_clickhouse_table_new(const struct ctp_class *cls, const char *name, bool wall64, struct ctp_err *err)
{
	struct ctp_clickhouse_table *t = ctp_err_calloc(err, sizeof *t);
	if (!t)
		return NULL;
	t->cls = ctp_class_parse(cls->decl, cls->decl_bytes, err);
	t->wall64 = wall64;
	t->name = name ? strdup(name) : ctp_clickhouse_table_name(cls->name);
	if (!t->cls || !t->name || !name_columns(t)) {
		if (t->cls)
			ctp_err_memory(err);
		ctp_clickhouse_table_free(t);
		return NULL;
	}
	return t;
}

void ctp_clickhouse_table_free(struct ctp_clickhouse_table *t)
{
	if (!t)
		return;
	ctp_clickhouse_table_clear(t, false);
	for (uint32_t i = 0; t->columns && i < t->cls->nfields; i++)
		free(t->columns[i].name);
	free(t->columns);
	free(t->runs);
	ctp_class_free(t->cls);
	free(t->name);
	free(t);
}

bool ctp_clickhouse_table_is_of(const struct ctp_clickhouse_table *t, const struct ctp_class *cls)
{
	return t->cls->decl_bytes == cls->decl_bytes && !memcmp(t->cls->decl, cls->decl, cls->decl_bytes);
}

void ctp_clickhouse_table_clear(struct ctp_clickhouse_table *t, bool keep_memory)
{
	for (uint32_t i = 0; t->columns && i < t->cls->nfields; i++)
		if (keep_memory)
			t->columns[i].data.len = 0;
		else
			ctp_bytes_fini(&t->columns[i].data);
	if (!keep_memory)
		ctp_bytes_fini(&t->text_at);
	t->text_at.len = 0;
	t->nrows = t->nruns = 0;
}

size_t ctp_clickhouse_table_bytes(const struct ctp_clickhouse_table *t)
{
	size_t sum = t->text_at.room + t->runs_room * sizeof *t->runs;
	for (uint32_t i = 0; i < t->cls->nfields; i++)
		sum += t->columns[i].data.room;
	return sum;
}

/* --- rows ----------------------------------------------------------------------------------------------------------------- */

static void put_varint(struct ctp_bytes *to, uint32_t v)
{
	uint8_t *p = ctp_bytes_reserve(to, VARINT_MAX);
	if (!p)
		return;
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	ctp_bytes_commit(to, p);
}

static void put_text(struct ctp_bytes *to, const char *text, size_t len)
{
	put_varint(to, (uint32_t)len);
	ctp_bytes_put(to, text, len);
}

static void add_numbers(struct ctp_clickhouse_column *c, const struct ctp_record *rec, uint32_t n, uint32_t field)
{
	char *p = ctp_bytes_reserve(&c->data, (size_t)n * 8);
	if (!p)
		return;
	for (uint32_t i = 0; i < n; i++, p += c->width) {
		uint64_t v = htole64(rec[i].val[field]);
		memcpy(p, &v, 8); /* the next one takes what is too much */
	}
	ctp_bytes_commit(&c->data, p);
}

static void add_texts(struct ctp_clickhouse_column *c, const struct ctp_record *rec, uint32_t n, uint32_t field)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct ctp_str *s = ctp_str_val(rec[i].val[field]);
		put_text(&c->data, s ? s->data : "", s ? s->len : 0);
	}
}

/* The label, or the number if no label belongs to this value alone. */
static void add_labels(struct ctp_clickhouse_column *c, const struct ctp_record *rec, uint32_t n, uint32_t field)
{
	for (uint32_t i = 0; i < n; i++) {
		char digits[CTP_TEXT_MAX];
		const char *label = ctp_value_label(&rec[i].cls->fields[field], rec[i].val[field], false);
		if (!label)
			*ctp_text_u64(digits, rec[i].val[field]) = '\0';
		put_text(&c->data, label ? label : digits, strlen(label ? label : digits));
	}
}

static void add_column(struct ctp_clickhouse_table *t, const struct ctp_record *rec, uint32_t n, uint32_t field)
{
	struct ctp_clickhouse_column *c = &t->columns[field];
	if (c->width)
		add_numbers(c, rec, n, field);
	else if (t->cls->fields[field].type == CTP_ENUM)
		add_labels(c, rec, n, field);
	else
		add_texts(c, rec, n, field);
	t->failed |= c->data.failed;
}

/* The run that the next row of the section belongs to; null: t->failed. None has more rows than a block. */
static struct ctp_clickhouse_run *next_run(struct ctp_clickhouse_table *t, const struct ctp_clickhouse_section *sec)
{
	struct ctp_clickhouse_run *last = t->nruns ? &t->runs[t->nruns - 1] : NULL;
	if (last && last->sec == sec && last->n < CTP_CLICKHOUSE_BLOCK_ROWS)
		return last;
	if (!CTP_ARRAY_RESERVE(t->runs, t->runs_room, t->nruns + 1, UINT32_MAX)) {
		t->failed = true;
		return NULL;
	}
	for (uint32_t i = 0; i < t->cls->nfields; i++)
		if (!t->columns[i].width)
			ctp_bytes_put(&t->text_at, &t->columns[i].data.len, sizeof(size_t));
	t->failed |= t->text_at.failed;
	t->runs[t->nruns] = (struct ctp_clickhouse_run){sec, t->nrows, 0};
	return &t->runs[t->nruns++];
}

void ctp_clickhouse_table_add(struct ctp_clickhouse_table *t, const struct ctp_clickhouse_section *sec, const struct ctp_record *rec, uint32_t n)
{
	while (n && !t->failed) {
		struct ctp_clickhouse_run *run = next_run(t, sec);
		if (!run)
			return;
		uint32_t part = CTP_CLICKHOUSE_BLOCK_ROWS - run->n;
		part = part < n ? part : n;
		for (uint32_t i = 0; i < t->cls->nfields; i++)
			add_column(t, rec, part, i);
		run->n += part;
		t->nrows += part;
		rec += part;
		n -= part;
	}
}

/* --- blocks --------------------------------------------------------------------------------------------------------------- */

/* Runs that stand together, of which some may be unwanted, and the number of rows of the others. */
struct block {
	struct ctp_clickhouse_table *t;
	struct ctp_bytes *to;
	uint32_t from, upto, rows;
};

#define EACH_RUN(b, run) \
	for (const struct ctp_clickhouse_run *run = (b)->t->runs + (b)->from, *end_ = (b)->t->runs + (b)->upto; run < end_; run++) \
		if (!run->sec->unwanted)

static void put_head(struct block *b, const char *name, const char *type)
{
	put_text(b->to, name, strlen(name));
	put_text(b->to, type, strlen(type));
}

/* What is there is copied, and then twice as much: a value at a time takes a call for each row. */
static void put_same(struct block *b, const void *value, size_t width, uint32_t n)
{
	size_t size = width * n;
	char *p = ctp_bytes_reserve(b->to, size);
	if (!p)
		return;
	memcpy(p, value, size ? width : 0);
	for (size_t has = width; has < size; has += has)
		memcpy(p + has, p, has < size - has ? has : size - has);
	ctp_bytes_commit(b->to, p + size);
}

static void put_own(struct block *b)
{
	put_head(b, "day", "Date");
	EACH_RUN(b, run)
		put_same(b, &(uint16_t){htole16(run->sec->day)}, 2, run->n);
	put_head(b, "section_id", "UInt64");
	EACH_RUN(b, run)
		put_same(b, &(uint64_t){htole64(run->sec->id)}, 8, run->n);
	put_head(b, "delivery", "UInt64");
	EACH_RUN(b, run)
		put_same(b, &(uint64_t){htole64(run->sec->delivery)}, 8, run->n);
	put_head(b, "host", "String");
	EACH_RUN(b, run) {
		struct ctp_bytes host = {0};
		put_text(&host, run->sec->host, strlen(run->sec->host));
		if (!host.failed)
			put_same(b, host.data, host.len, run->n);
		b->to->failed |= host.failed;
		ctp_bytes_fini(&host);
	}
}

/* Seconds, or nanoseconds, since 1970; 0: there is none, or the type has no room for it. */
static uint64_t wall_of(const struct block *b, const struct ctp_clickhouse_section *sec, const char *at)
{
	uint64_t ts;
	memcpy(&ts, at, sizeof ts);
	__int128 ns = (__int128)le64toh(ts) + sec->wall_offset_ns, wall = b->t->wall64 ? ns : ns / SECOND_NS;
	__int128 max = b->t->wall64 ? INT64_MAX : UINT32_MAX;
	return ns < 0 || wall > max ? 0 : htole64((uint64_t)wall);
}

static void put_wall(struct block *b)
{
	const struct ctp_clickhouse_column *time = &b->t->columns[b->t->cls->time_field];
	size_t width = b->t->wall64 ? 8 : 4;
	put_head(b, "wall", b->t->wall64 ? "DateTime64(9, 'UTC')" : "DateTime('UTC')");
	EACH_RUN(b, run) {
		char *p = ctp_bytes_reserve(b->to, width * run->n + 8);
		if (!p)
			return;
		for (uint32_t i = 0; i < run->n; i++, p += width) {
			uint64_t wall = run->sec->has_wall ? wall_of(b, run->sec, time->data.data + (run->first + i) * sizeof wall) : 0;
			memcpy(p, &wall, 8);
		}
		ctp_bytes_commit(b->to, p);
	}
}

/* Where a run's texts of the column begin; nth: of those of texts. */
static size_t text_at(const struct ctp_clickhouse_table *t, const struct ctp_clickhouse_column *c, const struct ctp_clickhouse_run *run, uint32_t nth)
{
	size_t r = (size_t)(run - t->runs), at;
	if (r == t->nruns)
		return c->data.len;
	memcpy(&at, t->text_at.data + (r * t->ntexts + nth) * sizeof at, sizeof at);
	return at;
}

static void put_column(struct block *b, const struct ctp_clickhouse_column *c, uint32_t nth_text)
{
	put_head(b, c->name, c->type);
	EACH_RUN(b, run) {
		size_t from = c->width ? (size_t)run->first * c->width : text_at(b->t, c, run, nth_text);
		size_t upto = c->width ? from + (size_t)run->n * c->width : text_at(b->t, c, run + 1, nth_text);
		ctp_bytes_put(b->to, c->data.data + from, upto - from);
	}
}

static bool has_wall(const struct ctp_clickhouse_table *t)
{
	return t->cls->time_field >= 0 && t->cls->fields[t->cls->time_field].type == CTP_U64;
}

/* As many runs as fit. */
static struct block choose(struct ctp_clickhouse_table *t, uint32_t *at, struct ctp_bytes *to)
{
	struct block b = {t, to, *at, *at, 0};
	for (; b.upto < t->nruns; b.upto++) {
		const struct ctp_clickhouse_run *run = &t->runs[b.upto];
		if (run->sec->unwanted)
			continue;
		if (b.rows && b.rows + run->n > CTP_CLICKHOUSE_BLOCK_ROWS)
			break;
		b.rows += run->n;
	}
	*at = b.upto;
	return b;
}

uint32_t ctp_clickhouse_table_block(struct ctp_clickhouse_table *t, uint32_t *at, struct ctp_bytes *to)
{
	struct block b = choose(t, at, to);
	if (!b.rows)
		return 0;
	put_varint(to, 4 + has_wall(t) + t->cls->nfields);
	put_varint(to, b.rows);
	put_own(&b);
	if (has_wall(t))
		put_wall(&b);
	for (uint32_t i = 0, texts = 0; i < t->cls->nfields; i++) {
		put_column(&b, &t->columns[i], texts);
		texts += !t->columns[i].width;
	}
	return b.rows;
}

void ctp_clickhouse_table_each(const struct ctp_clickhouse_table *t, void (*column)(void *arg, const char *name, const char *type), void *arg)
{
	column(arg, "day", "Date");
	column(arg, "section_id", "UInt64");
	column(arg, "delivery", "UInt64");
	column(arg, "host", "String");
	if (has_wall(t))
		column(arg, "wall", t->wall64 ? "DateTime64(9, 'UTC')" : "DateTime('UTC')");
	for (uint32_t i = 0; i < t->cls->nfields; i++)
		column(arg, t->columns[i].name, t->columns[i].type);
}
