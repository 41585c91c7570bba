/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * toclickhouse.c - whatever records come, in whatever classes, a pipe gets blocks of the format Native that can be read to the end, with as
 * many rows as there were records; and the statements for their tables are text in which every quote ends.
 * Covers: formats/clickhouse
 */
#include "textmem.h"
#include "clickhouse/clickhouse.h"
#include "steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t records;

static void ended(struct steps *s) { records += s->records; }

static uint64_t take_varint(const char **p, const char *end)
{
	uint64_t v = 0;
	for (unsigned shift = 0;; shift += 7) {
		must(*p < end && shift < 63, "a length that is cut");
		uint8_t b = (uint8_t)*(*p)++;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v;
	}
}

static void skip(const char **p, const char *end, uint64_t n)
{
	must((uint64_t)(end - *p) >= n, "a value that is cut");
	*p += n;
}

static uint64_t width_of(const char *type, uint64_t len)
{
	static const struct {
		const char *name;
		uint64_t width;
	} types[] = {{"UInt8", 1}, {"UInt16", 2}, {"UInt32", 4}, {"UInt64", 8}, {"Int8", 1}, {"Int16", 2}, {"Int32", 4}, {"Int64", 8},
	             {"Float32", 4}, {"Float64", 8}, {"Date", 2}, {"DateTime('UTC')", 4}, {"DateTime64(9, 'UTC')", 8}, {"String", 0}};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, type, len))
			return types[i].width;
	must(false, "a type of no server");
	return 0;
}

/* Returns the number of rows. */
static uint64_t read_block(const char **p, const char *end)
{
	uint64_t columns = take_varint(p, end), rows = take_varint(p, end);
	must(columns && rows, "a block without rows");
	for (uint64_t c = 0; c < columns; c++) {
		uint64_t len = take_varint(p, end);
		must(len > 0, "a column without a name");
		skip(p, end, len);
		len = take_varint(p, end);
		const char *type = *p;
		skip(p, end, len);
		uint64_t width = width_of(type, len);
		if (width)
			skip(p, end, width * rows);
		for (uint64_t i = 0; !width && i < rows; i++)
			skip(p, end, take_varint(p, end));
	}
	return rows;
}

static void to_pipe(struct steps *s, unsigned server)
{
	static struct textmem text;
	char name[CTP_NAME_MAX + 1];
	struct ctp_output out;
	struct ctp_clickhouse_options o = {.server = server, .out = &out, .class_name = steps_name(s, name)};
	textmem_open(&out);
	struct ctp_sink *sink = ctp_clickhouse_sink(&o, &s->err);
	must(sink, s->err.text);
	steps_run(s, sink);
	if (!steps_finish(s)) {
		must(strstr(s->err.text, "is declared as") || strstr(s->err.text, "no record of it"), s->err.text);
		return;
	}
	textmem_take(&text);
	const char *p = (const char *)text.data, *end = p + text.len;
	uint64_t rows = 0;
	while (p < end)
		rows += read_block(&p, end);
	must(rows <= records + 16 * s->sections || !strcmp(o.class_name, "lacks"), "more rows than records");
}

static void to_schema(struct steps *s, unsigned server, const char *cluster)
{
	static struct textmem text;
	struct ctp_output out;
	struct ctp_clickhouse_schema_options o = {.server = server, .cluster = cluster, .database = cluster, .out = &out};
	textmem_open(&out);
	struct ctp_sink *sink = ctp_clickhouse_schema(&o, &s->err);
	must(sink, s->err.text);
	steps_run(s, sink);
	if (!steps_finish(s)) {
		must(strstr(s->err.text, "is declared as"), s->err.text);
		return;
	}
	textmem_take(&text);
	char quote = '\0';
	for (size_t i = 0; i < text.len; i++) {
		char c = (char)text.data[i];
		must(c, "a zero in a statement");
		if (quote && c == '\\')
			i++;
		else if (quote ? c == quote : c == '`' || c == '\'')
			quote = quote ? '\0' : c;
	}
	must(!quote, "a quote that is open");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct steps s;
	records = 0;
	steps_start(&s, data, size);
	s.ended = ended;
	uint8_t how = steps_byte(&s);
	unsigned server = how & 1 ? CTP_CLICKHOUSE_NEW : CTP_CLICKHOUSE_OLDEST;
	if (how & 2)
		to_schema(&s, server, how & 4 ? "it's `two`" : NULL);
	else
		to_pipe(&s, server);
	steps_fini(&s);
	return 0;
}
