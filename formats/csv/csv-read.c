/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * csv-read.c - a source that makes a stream of CSV: ctp-tocsv's forms, and others' files as they are found.
 *
 * The header decides. With a column called type it is the full form: a row is of the class that the section's last @schema row
 * of its type declared, or else of one that is inferred from the rows at hand. Without, all rows are of one class; see
 * csv-infer.h for which. Columns may come in any order, and those that the class does not have are ignored. In the full form
 * another header may follow, of a file that was put after the first. A row is kept, unless
 *	- it is longer than CTP_CSV_ROW_MAX, breaks the rules of CSV, has more or fewer fields than the header, or a value that
 *	  does not fit;
 *	- it is one of coroTracer's transitions and is not believable; see plain.h.
 * Rejected rows are counted, and a notice says line, column and reason.
 *
 * Times are numbers or wall-clock times. In a section of the input, its wall_offset_ns turns wall-clock times into times of its
 * clock. Otherwise the first row decides which of the two all rows must have; wall-clock times are then nanoseconds since 1970.
 *
 * A sorter sorts the rows by time; sorter.h says how far it can.
 */
#include "csv/csv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/pages.h"
#include "base/text.h"
#include "common/intake.h"
#include "common/meta.h"
#include "common/plain.h"
#include "csv/csv-infer.h"
#include "csv/csv-rows.h"
#include "stream/codec.h"
#include "stream/value.h"

/* A text takes its bytes, a length, a NUL and padding; a record has at most CTP_FIELDS_MAX texts. */
enum { TEXT_ROOM = CTP_CSV_ROW_MAX + (CTP_FIELDS_MAX + 1) * 16, UNKNOWN_TYPES_MAX = 16 };

struct layout {
	struct place {
		int column; /* -1: there is none */
		uint8_t form;
	} places[CTP_FIELDS_MAX]; /* of each field */
};

struct csv_source {
	struct ctp_source source;
	struct ctp_intake intake;
	const char *class_name; /* that of --class, or null */
	uint64_t val[CTP_FIELDS_MAX];
	char *text; /* the strings of val */
	size_t used;

	/* of the input at hand */
	struct ctp_csv_rows rows;
	struct ctp_csv_columns columns;
	int type_column, meta_column; /* -1: there is none */
	bool believes;                /* keeps all rows, also those that plain.h calls garbage */
	const struct ctp_intake_class *last; /* class of the row before, or of all rows */
	char last_type[CTP_NAME_MAX + 2];
	unsigned unknown_types; /* number of types for which no class could be inferred */
	bool wall_known, wall; /* of our own section: times are wall-clock time */
};

/* --- values -------------------------------------------------------------------------------------------------------------- */

static bool take_text(struct csv_source *s, enum ctp_form form, const char *p, size_t len, uint64_t *v)
{
	struct ctp_str *str = (struct ctp_str *)(s->text + s->used);
	if (len > CTP_STRING_MAX * (form == CTP_FORM_BYTES ? 2 : 1))
		return false;
	memcpy(str->data, p, len);
	str->data[len] = '\0';
	str->len = (uint32_t)len;
	if (form == CTP_FORM_BYTES && !ctp_value_unhex(str))
		return false;
	s->used += (sizeof *str + str->len + 1 + 7) & ~(size_t)7;
	*v = ctp_val_str(str);
	return s->used <= CTP_RECORD_TEXT_MAX;
}

static bool take_time(struct csv_source *s, const struct ctp_field *f, enum ctp_form form, const char *p, const char *end,
                      uint64_t *v)
{
	bool theirs = s->intake.section == CTP_SECTION_THEIRS, wall = false;
	if (!ctp_value_parse(f, form, p, end, v)) {
		wall = ctp_value_parse_wall(p, end, theirs ? s->intake.wall_offset_ns : 0, v);
		if (!wall)
			return false;
	}
	if (theirs)
		return !wall || s->intake.has_wall;
	if (!s->wall_known)
		s->wall = wall;
	s->wall_known = true;
	return wall == s->wall;
}

static bool take_value(struct csv_source *s, const struct ctp_field *f, enum ctp_form form, const char *p, const char *end,
                       uint64_t *v)
{
	if (form == CTP_FORM_TEXT || form == CTP_FORM_BYTES)
		return take_text(s, form, p, (size_t)(end - p), v);
	if (f->role == CTP_ROLE_TIME)
		return take_time(s, f, form, p, end, v);
	return ctp_value_parse(f, form, p, end, v);
}

/* For a message: the fault of a value. */
static enum ctp_status misfit(const struct csv_source *s, const struct ctp_field *f, int column, struct ctp_err *why)
{
	const struct ctp_csv_field *at = &s->rows.fields[column];
	char where[100];
	snprintf(where, sizeof where, "column %d (%.60s)", column + 1, s->columns.names[column]);
	if (!at->len)
		return ctp_err_set(why, "%s: is empty and not a %s", where, ctp_type_name(f->type));
	if (f->type == CTP_STRING)
		return ctp_err_set(why, "%s: %u bytes; a text may have %d, and all of a row %d", where, at->len, CTP_STRING_MAX,
		                   CTP_RECORD_TEXT_MAX);
	bool wall = f->role == CTP_ROLE_TIME && s->intake.section != CTP_SECTION_THEIRS && s->wall;
	const char *wanted = wall ? "date and time, as the rows before have it" : ctp_type_name(f->type);
	return ctp_err_set(why, "%s: \"%.*s\"%s is not a %s", where, at->len < 40 ? (int)at->len : 40, s->rows.base + at->at,
	                   at->len < 40 ? "" : "...", wanted);
}

static enum ctp_status take_values(struct csv_source *s, const struct ctp_intake_class *c, struct ctp_err *why)
{
	const struct layout *layout = c->layout;
	const struct ctp_csv_rows *rows = &s->rows;
	s->used = 0;
	s->wall_known = s->intake.section == CTP_SECTION_OURS;
	s->wall &= s->wall_known; /* a rejected row decides nothing */
	for (uint32_t i = 0; i < c->cls->nfields; i++) {
		const struct place *place = &layout->places[i];
		const struct ctp_field *f = &c->cls->fields[i];
		if (place->column < 0)
			return ctp_err_set(why, "%.40s: there is no column %.60s", c->cls->name, f->name);
		const char *p = rows->base + rows->fields[place->column].at, *end = p + rows->fields[place->column].len;
		if (!take_value(s, f, place->form, p, end, &s->val[i]))
			return misfit(s, f, place->column, why);
	}
	return CTP_OK;
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

/* Takes the class over and finds the columns of its fields. Null: why. */
static const struct ctp_intake_class *adopt(struct csv_source *s, struct ctp_class *cls, struct ctp_err *why)
{
	struct ctp_intake_class *c = cls ? ctp_intake_adopt(&s->intake, cls, why) : NULL;
	struct layout *layout = c ? c->layout : NULL;
	if (!c || layout)
		return c;
	c->layout = layout = malloc(sizeof *layout);
	if (!layout) {
		c->current = false;
		return ctp_err_memory(why), NULL;
	}
	for (uint32_t i = 0; i < c->cls->nfields; i++) {
		const struct ctp_field *f = &c->cls->fields[i];
		int column = ctp_csv_columns_find(&s->columns, s->type_column < 0 ? f->name : ctp_csv_field_name(f->name).text);
		layout->places[i] = (struct place){column, (uint8_t)ctp_form_of(f)};
	}
	return c;
}

/* The columns of the input before are gone, and so are the places of fields in them. */
static void forget_layouts(struct csv_source *s)
{
	for (uint32_t i = 0; i < s->intake.nclasses; i++) {
		free(s->intake.classes[i].layout);
		s->intake.classes[i].layout = NULL;
		s->intake.classes[i].current = false;
	}
	s->last = NULL;
	ctp_csv_columns_fini(&s->columns);
}

/* The name of the class of all rows: that of --class, or the file's name without its folder and its ending. */
static const struct ctp_intake_class *only_class(struct csv_source *s, struct ctp_err *why)
{
	char name[CTP_NAME_MAX + 1];
	const char *slash = strrchr(s->intake.in->name, '/'), *base = slash ? slash + 1 : s->intake.in->name;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
	struct ctp_csv_infer what = {
		.columns = &s->columns, .type_column = -1, .any_known = !s->class_name,
		.name = s->class_name ? s->class_name : *name ? name : "row",
	};
	const struct ctp_intake_class *c = adopt(s, ctp_csv_infer(&what, &s->rows, why), why);
	s->believes = !c || c->cls->kind != CTP_KIND_TRANSITION || c->cls->nfields != CTP_PLAIN_FIELDS;
	return c;
}

/* --- the full form's own rows -------------------------------------------------------------------------------------------- */

static enum ctp_status take_meta(struct csv_source *s, const char *type, struct ctp_err *why)
{
	const struct ctp_csv_field *at = s->meta_column < 0 ? NULL : &s->rows.fields[s->meta_column];
	const char *p = at ? s->rows.base + at->at : "", *end = p + (at ? at->len : 0);
	s->last = NULL;
	if (!strcmp(type, "@section"))
		return ctp_intake_read_section(&s->intake, p, end, s->text, s->rows.line, why);
	if (!strcmp(type, "@schema"))
		return adopt(s, ctp_meta_read_class(p, end, s->text, why), why) ? CTP_OK : CTP_FAILED;
	if (strcmp(type, "@end") || !s->intake.section)
		return ctp_err_set(why, "\"%.40s\" is not a type that is allowed here", type);
	ctp_intake_end(&s->intake, end - p == 4 && !memcmp(p, "true", 4));
	return CTP_OK;
}

/* --- rows ---------------------------------------------------------------------------------------------------------------- */

/* A class for rows whose type no @schema row declares. */
static const struct ctp_intake_class *infer(struct csv_source *s, const char *type, struct ctp_err *why)
{
	struct ctp_csv_infer what = {
		.columns = &s->columns, .type_column = s->type_column, .type = type, .name = type + (type[0] == '@'),
	};
	if (s->unknown_types == UNKNOWN_TYPES_MAX || s->intake.nclasses == CTP_CLASSES_MAX)
		return ctp_err_set(why, "\"%.40s\" was not declared, and too many types before it were not either", type), NULL;
	const struct ctp_intake_class *c = adopt(s, ctp_csv_infer(&what, &s->rows, why), why);
	s->unknown_types += !c;
	return c;
}

/* The class of the row; null: the row was no record, or status and why say what is wrong. */
static const struct ctp_intake_class *class_of(struct csv_source *s, enum ctp_status *status, struct ctp_err *why)
{
	const struct ctp_csv_field *at = &s->rows.fields[s->type_column];
	const char *p = s->rows.base + at->at;
	char type[CTP_NAME_MAX + 2];
	if (!at->len || at->len > CTP_NAME_MAX + 1 || memchr(p, '\0', at->len)) {
		*status = ctp_err_set(why, "column %d (%s): no usable name", s->type_column + 1, CTP_CSV_TYPE);
		return NULL;
	}
	if (s->last && !memcmp(p, s->last_type, at->len) && !s->last_type[at->len])
		return s->last;
	memcpy(type, p, at->len);
	type[at->len] = '\0';
	bool reserved = type[0] == '@';
	if (reserved && type[1] != '@') {
		*status = take_meta(s, type, why);
		return NULL;
	}
	s->last = ctp_intake_find(&s->intake, type + reserved);
	if (!s->last)
		s->last = infer(s, type, why);
	strcpy(s->last_type, type);
	*status = s->last ? CTP_OK : CTP_FAILED;
	return s->last;
}

static enum ctp_status take_row(struct csv_source *s, struct ctp_err *why)
{
	enum ctp_status status = CTP_OK;
	if (s->rows.n != s->columns.n)
		return ctp_err_set(why, "%u field%s, and the header has %u", s->rows.n, s->rows.n == 1 ? "" : "s",
		                   s->columns.n);
	const struct ctp_intake_class *c = s->type_column < 0 ? s->last : class_of(s, &status, why);
	if (!c || take_values(s, c, why))
		return c ? CTP_FAILED : status;
	if (!s->believes && !ctp_plain_believable(s->val))
		return ctp_err_set(why, "a row without probe_id whose time or thread is impossible");
	if (!s->intake.section)
		ctp_intake_own_section(&s->intake, s->wall);
	ctp_intake_put(&s->intake, c->cls, s->val, s->rows.line);
	return CTP_OK;
}

/* --- the header ---------------------------------------------------------------------------------------------------------- */

static enum ctp_status take_name(struct csv_source *s, uint32_t i, struct ctp_err *why)
{
	const struct ctp_csv_field *at = &s->rows.fields[i];
	const char *p = s->rows.base + at->at;
	char name[CTP_NAME_MAX + 2];
	if (at->len > CTP_NAME_MAX + 1 || memchr(p, '\0', at->len))
		return ctp_err_set(why, "column %u: has no usable name; is this CSV?", i + 1);
	snprintf(name, sizeof name, "%.*s", (int)at->len, p);
	if (!at->len)
		snprintf(name, sizeof name, "column_%u", i + 1);
	int column = ctp_csv_columns_add(&s->columns, name, why);
	if (column >= 0 && column != (int)i)
		return ctp_err_set(why, "columns %d and %u are both called %.60s", column + 1, i + 1, name);
	return column < 0 ? CTP_FAILED : CTP_OK;
}

static enum ctp_status take_header(struct csv_source *s, struct ctp_err *why)
{
	const struct ctp_csv_rows *rows = &s->rows;
	uint32_t values = 0;
	for (uint32_t i = 0; i < rows->n; i++) {
		const char *p = rows->base + rows->fields[i].at;
		values += ctp_csv_is_value(p, p + rows->fields[i].len);
		if (take_name(s, i, why))
			return CTP_FAILED;
	}
	if (values == rows->n)
		return ctp_err_set(why, "is no header; the first row must name the columns");
	if (rows->n == 1 && strpbrk(s->columns.names[0], ";\t"))
		return ctp_err_set(why, "only one column; they must be separated by commas");
	s->type_column = s->class_name ? -1 : ctp_csv_columns_find(&s->columns, CTP_CSV_TYPE);
	s->meta_column = ctp_csv_columns_find(&s->columns, CTP_CSV_META);
	s->believes = true;
	return s->type_column >= 0 || (s->last = only_class(s, why)) ? CTP_OK : CTP_FAILED;
}

/* Whether the row is the header of another file of the full form, as cat puts them together. */
static bool is_header(const struct csv_source *s)
{
	static const char first[] = CTP_CSV_TYPE, last[] = CTP_CSV_META;
	const struct ctp_csv_rows *rows = &s->rows;
	const struct ctp_csv_field *a = rows->fields, *z = a + rows->n - 1;
	return s->type_column == 0 && a->len == sizeof first - 1 && z->len == sizeof last - 1 &&
	       !memcmp(rows->base + a->at, first, a->len) && !memcmp(rows->base + z->at, last, z->len);
}

/* --- the source ---------------------------------------------------------------------------------------------------------- */

static enum ctp_status read_rows(struct csv_source *s, struct ctp_err *err)
{
	enum { TICK_ROWS = 4096 };
	struct ctp_err why;
	const struct ctp_tick *tick = &s->source.tick;
	enum ctp_status status = ctp_csv_rows_next(&s->rows, &why);
	if (status == CTP_EOF)
		return CTP_OK;
	status = status ? status : take_header(s, &why);
	for (uint64_t n = 1; !status && !ctp_writer_failed(s->intake.writer); n++) {
		enum ctp_status row = ctp_csv_rows_next(&s->rows, &why);
		if (row == CTP_EOF)
			break;
		if (!row && is_header(s)) {
			ctp_intake_break(&s->intake, s->rows.line);
			forget_layouts(s);
			status = take_header(s, &why);
		} else if (row || take_row(s, &why)) {
			ctp_intake_reject(&s->intake, s->rows.line, &why);
		}
		if (n % TICK_ROWS == 0 && tick->tick)
			tick->tick(tick->arg, s->intake.in, s->source.stats.accepted);
	}
	return status ? ctp_err_set(err, "%s: line %llu: %.300s", s->intake.in->name, (unsigned long long)s->rows.line,
	                            why.text) : CTP_OK;
}

static enum ctp_status read_input(struct ctp_source *source, struct ctp_input *in, struct ctp_writer *w,
                                  const struct ctp_notice *notice, struct ctp_err *err)
{
	struct csv_source *s = (struct csv_source *)source;
	if (ctp_input_fill(in, 2) >= 2 && in->ptr[0] == '{' && in->ptr[1] == '"')
		return ctp_err_set(err, "%s: is JSON; ctp-fromjsonl reads it", in->name);
	if (ctp_csv_rows_init(&s->rows, in, err))
		return CTP_FAILED;
	ctp_intake_begin(&s->intake, in, w, notice);
	s->unknown_types = 0;
	enum ctp_status status = read_rows(s, err);
	ctp_csv_rows_fini(&s->rows);
	forget_layouts(s);
	return status ? status : ctp_intake_finish(&s->intake, err);
}

static void free_source(struct ctp_source *source)
{
	struct csv_source *s = (struct csv_source *)source;
	ctp_intake_fini(&s->intake);
	ctp_pages_free(s->text, TEXT_ROOM);
	free(s);
}

static const struct ctp_source_ops ops = {
	.read = read_input,
	.free = free_source,
};

struct ctp_source *ctp_csv_source(const char *tool, const char *class_name, struct ctp_err *err)
{
	struct csv_source *s = calloc(1, sizeof *s);
	if (!s)
		return ctp_err_memory(err), NULL;
	s->source.ops = &ops;
	s->class_name = class_name;
	s->text = ctp_pages_new(TEXT_ROOM);
	if (!s->text)
		ctp_err_memory(err);
	if (!s->text || ctp_intake_init(&s->intake, &s->source, tool, err)) {
		free_source(&s->source);
		return NULL;
	}
	return &s->source;
}
