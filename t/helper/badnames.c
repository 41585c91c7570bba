/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * badnames.c - badnames writes a raw stream whose classes and fields have the names that databases refuse, cut or confuse.
 *
 * The n-th class, from 0 on, has one record, whose field n has the value n. Each second one is of wakes, so that a view and an index
 * are made of it. The last classes are called "fields of ...": they have all names as fields, and the field's number as its value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/output.h"
#include "stream/writer.h"

#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN
#define EIGHT(x) x x x x x x x x

static const char *const names[] = {
	/* Blanks at the end, alone, and where a name is cut. */
	"blank ", "tab\t", "line\n", "vertical\v", "form\f", "return\r", "both \t", " ", "\t", "\n", " before", "a b",
	SIXTY "123 x", SIXTY "12 xy", SIXTY "1234 ", TEN TEN TEN TEN TEN "123 x", TEN TEN TEN TEN TEN "1234 ", SIXTY "12\t", "nbsp\xc2\xa0",
	/* Equal where they are cut, also before a number and in the middle of a character. */
	SIXTY "1234a", SIXTY "1234b", SIXTY "1234", SIXTY "123a", SIXTY "123b", SIXTY "123", SIXTY TEN TEN "a", SIXTY TEN TEN "b",
	TEN TEN TEN TEN TEN "1234a", TEN TEN TEN TEN TEN "1234b", SIXTY "12\xe2\x82\xac", SIXTY "12\xe2\x82\xad",
	EIGHT("\xf0\x9f\x98\x80\xf0\x9f\x98\x80"), EIGHT("\xf0\x9f\x98\x80\xf0\x9f\x98\x80") "\xf0\x9f\x98\x81",
	EIGHT(EIGHT("!")), EIGHT(EIGHT("!")) "a", EIGHT(EIGHT(".")), EIGHT(EIGHT("\xff")), EIGHT(EIGHT("\xff")) "\xfe",
	EIGHT(EIGHT("\xe4\xb8\xad")), EIGHT(EIGHT("\xe4\xb8\xad")) "\xe4\xb8\xad",
	/* Paths. */
	".", "..", ".inner", ".inner.x", "./x", "../x", "/", "/etc", "a/b", "a\\b", "a.b", "a.c", ".a.b", "~", "@", "@002e", "#", "#mysql50#x",
	"#sql-1", "%2e", "%", "%s%n", "$", "-", "--x", "*", "?",
	/* Quotes and bytes. */
	"'", "\"", "`", "\"\"", "''", "\\", "\\'", "\\n", "\\x41", "\\xff", "\xff", "a\xff", "\xc3", "\x01", "\x7f", "a;b", "a,b", "(", ")", "]", "[x]",
	"{x:String}", ":x", "1", "1x", "1e3", "0x1", "x'00'", "\xef\xbb\xbfxyz", "\xe2\x80\xae", "\xef\xbf\xbf", "\xed\xa0\x80", "\xf0\x9f\x98\x80",
	/* Equal without case or accents. */
	"case", "Case", "CASE", "e", "E", "\xc3\xa9", "\xc3\x89", "e\xcc\x81", "\xc3\x9f", "ss", "s", "S", "\xc5\xbf", "i", "\xc4\xb0", "\xc4\xb1",
	"\xe4\xb8\xad", "\xe6\x96\x87", "k", "\xe2\x84\xaa",
	/* Words. */
	"select", "table", "from", "order", "group", "by", "index", "key", "primary", "user", "null", "true", "default", "NaN", "distinct", "day",
	"date", "row", "rank", "view", "temporary", "only", "lateral", "unique", "final", "array", "with", "as", "any", "check",
	/* Catalogs, modules and columns of the engines. */
	"pg_class", "pg_views", "PG_CLASS", "pg_attribute", "pg_namespace", "pg_constraint", "pg_index", "pg_am", "pg_settings", "pg_stat_activity",
	"pg_mine", "_pg_class", "pg_temp", "information_schema", "tables", "columns", "statistics", "sqlite_master", "sqlite_schema",
	"sqlite_sequence", "SQLITE_x", "_sqlite_x", "pragma_table_info", "pragma_module_list", "pragma_x", "dbstat", "ctp_batch", "json_each",
	"generate_series", "fts5", "rtree", "rowid", "oid", "_rowid_", "xmin", "ctid", "tableoid", "system", "mysql", "sys", "dual", "one",
	"numbers", "_part", "_part_index", "_table", "_sample_factor", "_row_exists", "_shard_num",
	/* Ours, and what we make of names. */
	"coro_trace_events", "sections", "classes", "fields", "symbols", "births", "wakes", "deaths", "origins", "coroutines", "coroutines_now",
	"lacks", "ctp_changes", "_ctp_load_x", "_ctp_load_sections", "__ctp_load_x", "delivered_x", "_delivered_x", "__delivered_x", "x",
	"x_local", "_local", "x_local_2", "x_local_2_2", "sections_2", "sections_3", "sections_2_2", "births_2", "Sections", "idx_coro_trace_events_ts", "idx_x_ts", "id", "_row", "section",
	"section_id", "delivery", "host", "wall", "probe_id", "ts", "select_2", "case_2",
};
enum { NAMES = sizeof names / sizeof *names, PART = 100 };

static const struct ctp_field time_field = {.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME};

/* Null: err. */
static struct ctp_class *class_of(uint32_t n, struct ctp_err *err)
{
	const struct ctp_field wake[] = {time_field, {.name = "n", .type = CTP_U64}, {.name = "coro", .type = CTP_U64, .role = CTP_ROLE_COROUTINE}};
	return ctp_class_new(names[n], n % 2 ? CTP_KIND_WAKE : CTP_KIND_OTHER, wake, 3, err);
}

/* The same for a class with the names from first on as fields. */
static struct ctp_class *class_with(uint32_t first, struct ctp_err *err)
{
	struct ctp_field fields[PART];
	char name[40];
	uint32_t n = 0;
	snprintf(name, sizeof name, "fields of %u", first);
	for (uint32_t i = first; i < NAMES && n < PART; i++)
		fields[n++] = (struct ctp_field){.name = names[i], .type = CTP_U64};
	return ctp_class_new(name, CTP_KIND_OTHER, fields, n, err);
}

static struct ctp_class *classes[NAMES + NAMES / PART + 1]; /* a writer knows them by their addresses */
static uint32_t nclasses;

static enum ctp_status write_one(struct ctp_writer *w, struct ctp_class *cls, const uint64_t *val)
{
	if (!cls)
		return CTP_FAILED;
	classes[nclasses++] = cls;
	ctp_writer_record(w, cls, val);
	return CTP_OK;
}

static enum ctp_status write_all(struct ctp_writer *w, struct ctp_err *err)
{
	struct ctp_section sec;
	enum ctp_status status = CTP_OK;
	ctp_section_init(&sec);
	ctp_section_add(&sec, "host", "badnames");
	ctp_writer_begin(w, &sec);
	for (uint32_t n = 0; n < NAMES && !status; n++)
		status = write_one(w, class_of(n, err), (uint64_t[]){n + 1, n, 1});
	for (uint32_t first = 0; first < NAMES && !status; first += PART) {
		uint64_t val[PART];
		for (uint32_t i = 0; i < PART; i++)
			val[i] = first + i;
		status = write_one(w, class_with(first, err), val);
	}
	ctp_writer_end(w, true);
	ctp_section_fini(&sec);
	return status;
}

int main(void)
{
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_output_open(&out, NULL, true, false, &err) == CTP_OK) {
		struct ctp_writer *w = ctp_writer_to(&out, &err);
		enum ctp_status status = w ? write_all(w, &err) : CTP_FAILED;
		ctp_writer_free(w);
		while (nclasses)
			ctp_class_free(classes[--nclasses]);
		if (!status && ctp_output_close(&out, &err) == CTP_OK)
			return 0;
	}
	fprintf(stderr, "badnames: %s\n", err.text);
	return 1;
}
