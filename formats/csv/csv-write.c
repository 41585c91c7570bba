/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * csv-write.c - a sink that writes CSV; see csv.h for the forms.
 *
 * The full form waits in a spool until all columns are known, for the header comes first; then the spool is written like the other
 * forms.
 */
#include "csv/csv.h"

#include <stdlib.h>

#include "common/meta.h"
#include "common/plain.h"
#include "common/spool.h"
#include "common/template.h"
#include "stream/events.h"
#include "stream/others.h"
#include "symbols/place-texts.h"

struct csv_sink {
	struct ctp_sink sink;
	struct ctp_output *out;
	struct ctp_csv_options options;
	struct ctp_csv_columns columns; /* all but late and @meta of the full form */
	struct ctp_others others;
	struct ctp_spool *spool;        /* null but in the full form */
	struct ctp_place_texts *texts;
	bool has_header;
	int64_t wall_offset_ns; /* of the section at hand */
	struct ctp_templates classes;
};

static enum ctp_status no_memory(const struct csv_sink *s, struct ctp_err *err)
{
	return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", s->out->name);
}

/* --- texts --------------------------------------------------------------------------------------------------------------- */

static bool needs_quotes(const char *text, size_t len)
{
	if (!len)
		return false;
	if (text[0] == ' ' || text[len - 1] == ' ' || (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)))
		return true;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == ',' || text[i] == '"')
			return true;
	return false;
}

/* Doubles each quote of a text: at most twice as many bytes. */
static char *double_quotes(char *p, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		*p++ = text[i];
		if (text[i] == '"')
			*p++ = '"';
	}
	return p;
}

/* before: stands in the quotes, before the text. */
static void put_quoted(struct ctp_output *out, const char *before, const char *text, size_t len)
{
	enum { PART = CTP_OUTPUT_ROOM / 2 };
	ctp_output_put(out, "\"", 1);
	ctp_output_put(out, before, strlen(before));
	for (size_t part; (part = len < PART ? len : PART); text += part, len -= part)
		ctp_output_commit(out, double_quotes(ctp_output_reserve(out, 2 * part), text, part));
	ctp_output_put(out, "\"", 1);
}

/* Blanks and characters that cannot be seen, which one or another spreadsheet leaves out at the begin of a cell. */
static bool is_blank(unsigned c)
{
	static const uint16_t ranges[][2] = {
		{0, ' '}, {0x7f, 0xa0}, {0xad, 0xad}, {0x61c, 0x61c}, {0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x200f},
		{0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000}, {0xfeff, 0xfeff},
	};
	size_t i = 0, n = sizeof ranges / sizeof *ranges;
	while (i < n && (c < ranges[i][0] || c > ranges[i][1]))
		i++;
	return i < n;
}

/* Also the small and the wide forms, and the minus sign. */
static bool begins_formula(unsigned c)
{
	static const uint16_t signs[] = {
		'=', '+', '-', '@', 0x2212, 0xfe62, 0xfe63, 0xfe66, 0xfe6b, 0xff0b, 0xff0d, 0xff1d, 0xff20,
	};
	size_t i = 0, n = sizeof signs / sizeof *signs;
	while (i < n && signs[i] != c)
		i++;
	return i < n;
}

/* A spreadsheet takes such a text for a formula; with an apostrophe before it, for a text. */
static bool is_formula(const char *text, size_t len)
{
	const char *end = text + len;
	if (len && memchr("\t\r\n", text[0], 3))
		return true;
	for (unsigned n; text < end && (n = ctp_utf8_bytes(text, end)) > 0; text += n) {
		unsigned c = ctp_utf8_point(text, n);
		if (!is_blank(c))
			return begins_formula(c);
	}
	return false;
}

/* lone: in the only column, where an empty text would make an empty line, which is no row. */
static void put_any(struct ctp_output *out, const char *text, size_t len, bool guard, bool lone)
{
	if (guard && is_formula(text, len))
		put_quoted(out, "'", text, len);
	else if (needs_quotes(text, len) || (lone && !len))
		put_quoted(out, "", text, len);
	else
		ctp_output_put(out, text, len);
}

static void put_text(struct ctp_output *out, const char *text, size_t len) { put_any(out, text, len, false, false); }
static void put_lone_text(struct ctp_output *out, const char *text, size_t len) { put_any(out, text, len, false, true); }
static void put_guarded(struct ctp_output *out, const char *text, size_t len) { put_any(out, text, len, true, false); }
static void put_lone_guarded(struct ctp_output *out, const char *text, size_t len) { put_any(out, text, len, true, true); }

/* Into memory: at most twice as many bytes, two quotes and an apostrophe. */
static char *spell_any(char *p, const char *text, size_t len, bool guard)
{
	bool formula = guard && is_formula(text, len), quoted = formula || needs_quotes(text, len);
	*p = '"';
	p += quoted;
	*p = '\'';
	p = double_quotes(p + formula, text, len);
	*p = '"';
	return p + quoted;
}

static char *spell(char *p, const char *text, size_t len) { return spell_any(p, text, len, false); }
static char *spell_guarded(char *p, const char *text, size_t len) { return spell_any(p, text, len, true); }

static void put_commas(struct ctp_output *out, uint32_t n)
{
	static const char commas[] = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
	for (; n >= sizeof commas; n -= (uint32_t)sizeof commas - 1)
		ctp_output_put(out, commas, sizeof commas - 1);
	ctp_output_put(out, commas, n);
}

static void put_header(struct csv_sink *s)
{
	s->has_header = true;
	for (uint32_t i = 0; i < s->columns.n; i++) {
		put_commas(s->out, i > 0);
		put_any(s->out, s->columns.names[i], strlen(s->columns.names[i]), s->options.guard, false);
	}
	static const char last[] = "," CTP_CSV_LATE "," CTP_CSV_META;
	ctp_output_put(s->out, last, s->options.all ? sizeof last - 1 : 0);
	ctp_output_put(s->out, "\n", 1);
}

/* A row of the full form that is no record. The text is freed. */
static enum ctp_status put_meta(struct csv_sink *s, const char *type, char *text, size_t len, struct ctp_err *err)
{
	if (!text)
		return no_memory(s, err);
	ctp_output_put(s->out, type, strlen(type));
	put_commas(s->out, s->columns.n + 1);
	put_text(s->out, text, len);
	ctp_output_put(s->out, "\n", 1);
	free(text);
	return ctp_output_status(s->out, err);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

/* A value in a column. */
struct cell {
	uint32_t column, index; /* index: the field's */
	uint8_t form;
};

static struct cell cell_of(const struct csv_sink *s, const struct ctp_class *cls, int field, int column)
{
	const struct ctp_field *f = &cls->fields[field];
	bool wall = s->options.wall && f->role == CTP_ROLE_TIME;
	return (struct cell){(uint32_t)column, (uint32_t)field, (uint8_t)(wall ? CTP_FORM_WALL : ctp_form_of(f))};
}

/* coroTracer's columns have the fields of these names, or else the first with the role. */
static int plain_cells(const struct csv_sink *s, const struct ctp_class *cls, struct cell *cells)
{
	int n = 0;
	for (int i = 0; i < CTP_PLAIN_FIELDS; i++) {
		int field = ctp_class_field(cls, ctp_plain_fields[i].name);
		if (field < 0)
			field = ctp_class_role(cls, ctp_plain_fields[i].role);
		if (field >= 0)
			cells[n++] = cell_of(s, cls, field, i);
	}
	return n;
}

static int by_column(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	return (x->column > y->column) - (x->column < y->column);
}

/* Adds the columns of a field, if they are new: its own, and that of its text if the field refers to a place. */
static enum ctp_status add_columns(struct csv_sink *s, const struct ctp_class *cls, uint32_t field, struct ctp_err *err)
{
	const char *name = cls->fields[field].name;
	bool all = s->options.all;
	if (ctp_csv_columns_add(&s->columns, all ? ctp_csv_field_name(name).text : name, err) < 0)
		return CTP_FAILED;
	if (!ctp_place_texts_shows(s->texts, cls, field))
		return CTP_OK;
	struct ctp_csv_name text = ctp_csv_site_name(name, all);
	return ctp_csv_columns_add(&s->columns, text.text, err) < 0 ? CTP_FAILED : CTP_OK;
}

/* All fields, in the order of the columns. -1: a field has no column. */
static int all_cells(const struct csv_sink *s, const struct ctp_class *cls, struct cell *cells, struct ctp_err *err)
{
	int n = 0;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const char *name = cls->fields[i].name;
		int column = ctp_csv_columns_find(&s->columns, s->options.all ? ctp_csv_field_name(name).text : name);
		if (column < 0)
			return ctp_err_set(err, "class %.100s: has a field %.100s that its first records did not have; try -a",
			                   cls->name, name);
		cells[n++] = cell_of(s, cls, (int)i, column);
		if (!ctp_place_texts_shows(s->texts, cls, i))
			continue;
		column = ctp_csv_columns_find(&s->columns, ctp_csv_site_name(name, s->options.all).text);
		if (column >= 0)
			cells[n++] = (struct cell){(uint32_t)column, i, CTP_FORM_PLACE};
	}
	qsort(cells, (size_t)n, sizeof *cells, by_column);
	return n;
}

static char *put_until(char *p, uint32_t *column, uint32_t upto)
{
	p = (char *)memset(p, ',', upto - *column) + (upto - *column);
	*column = upto;
	return p;
}

/* The tail begins with [from, p), which in the full form ends with the commas before late and @meta. */
static void put_tails(struct ctp_template *t, char *from, char *p, bool all)
{
	size_t len = (size_t)(p - from);
	char *end = stpcpy(p, "\n"), *late = mempcpy(end, from, len);
	t->tail = (struct ctp_template_text){from, (uint32_t)(end - from)};
	late = stpcpy(late - all, all ? "true,\n" : "\n");
	t->late_tail = (struct ctp_template_text){end, (uint32_t)(late - end)};
}

static struct ctp_template *make_template(const struct csv_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	static const struct ctp_template_style styles[2][2] = { /* guarded; the only column */
		{{.text = put_text}, {.text = put_lone_text}}, {{.text = put_guarded}, {.text = put_lone_guarded}},
	};
	bool all = s->options.all, plain = !all && !s->options.class_name;
	struct cell cells[2 * CTP_FIELDS_MAX];
	int n = plain ? plain_cells(s, cls, cells) : all_cells(s, cls, cells, err);
	if (n < 0)
		return NULL;
	char *p, *from;
	uint32_t column = 0;
	struct ctp_template *t = ctp_template_new((uint32_t)n, 2 * (s->columns.n + 2 * sizeof(struct ctp_csv_name)) + 16, &p);
	if (!t)
		return no_memory(s, err), NULL;
	t->style = &styles[s->options.guard][s->columns.n == 1];
	t->texts = plain ? NULL : s->texts;
	t->wall_offset_ns = s->wall_offset_ns;
	from = p;
	if (all) {
		struct ctp_csv_name type = ctp_csv_class_name(cls->name);
		p = spell_any(p, type.text, strlen(type.text), s->options.guard);
	}
	for (const struct cell *c = cells; c < cells + n; c++, from = p) {
		p = put_until(p, &column, c->column);
		t->keys[t->nkeys++] = (struct ctp_template_key){
			.before = {from, (uint32_t)(p - from)}, .field = &cls->fields[c->index], .index = c->index, .form = c->form,
		};
	}
	p = put_until(p, &column, all ? s->columns.n + 1 : s->columns.n - 1);
	put_tails(t, from, p, all);
	ctp_template_measure(t);
	return t;
}

static enum ctp_status declare(struct csv_sink *s, struct ctp_templates_class *c, struct ctp_err *err)
{
	size_t len;
	char *text = ctp_meta_class(c->cls, &len);
	ctp_templates_declare(&s->classes, c);
	return put_meta(s, "@schema", text, len, err);
}

/* The first class with the name of --class gives the columns. */
static enum ctp_status begin_class(struct csv_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	if (!cls->nfields)
		return ctp_err_set(err, "class %.100s: has no fields, and so no columns; -a shows its records", cls->name);
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (add_columns(s, cls, i, err))
			return CTP_FAILED;
	put_header(s);
	return CTP_OK;
}

static bool is_wanted(const struct csv_sink *s, const struct ctp_class *cls)
{
	return s->options.all || (s->options.class_name ? !strcmp(cls->name, s->options.class_name) :
	                                                  cls->kind == CTP_KIND_TRANSITION);
}

/* The first record of a class in a section. */
static enum ctp_status add_class(struct csv_sink *s, struct ctp_templates_class *c, const struct ctp_class *cls, struct ctp_err *err)
{
	c->cls = cls;
	if (!is_wanted(s, cls)) {
		ctp_others_note(&s->others, cls);
		return CTP_OK;
	}
	if (!s->has_header && begin_class(s, cls, err))
		return CTP_FAILED;
	c->row = make_template(s, cls, err);
	return c->row ? CTP_OK : CTP_FAILED;
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

/* Records of one class. */
static enum ctp_status write_run(struct csv_sink *s, const struct ctp_record *rec, uint32_t n, bool late, struct ctp_err *err)
{
	struct ctp_templates_class *c = &s->classes.of[rec->cls->id];
	if (!c->cls && add_class(s, c, rec->cls, err))
		return CTP_FAILED;
	if (c->row && s->options.all && !c->declared && declare(s, c, err))
		return CTP_FAILED;
	if (c->row)
		ctp_template_put(c->row, s->out, rec, n, late);
	for (uint32_t i = 0; i < n && !c->row; i++)
		ctp_place_texts_learn(s->texts, &rec[i]);
	return CTP_OK;
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	for (const struct ctp_record *rec = batch->rec, *end = rec + batch->n, *next; rec < end; rec = next) {
		next = ctp_templates_run(rec, end);
		if (write_run(s, rec, (uint32_t)(next - rec), batch->late, err))
			return CTP_FAILED;
	}
	return ctp_output_status(s->out, err);
}

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	ctp_output_flush(s->out);
	return ctp_output_status(s->out, err);
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

static enum ctp_status write_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	if (s->options.wall && !sec->has_wall)
		return ctp_err_set(err, "a section does not say how its times relate to wall-clock time; leave out --wall");
	ctp_templates_forget(&s->classes);
	ctp_others_section(&s->others);
	ctp_place_texts_forget(s->texts);
	s->wall_offset_ns = sec->wall_offset_ns;
	if (!s->has_header && !s->options.class_name)
		put_header(s);
	if (!s->options.all)
		return ctp_output_status(s->out, err);
	size_t len;
	char *text = ctp_meta_attrs(sec, &len);
	return put_meta(s, "@section", text, len, err);
}

static enum ctp_status write_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	if (!s->options.all)
		return ctp_output_status(s->out, err);
	char *text = strdup(end->complete ? "true" : "false");
	return put_meta(s, "@end", text, text ? strlen(text) : 0, err);
}

static const struct ctp_sink_ops rows = {
	.section = write_section,
	.records = write_records,
	.end = write_end,
};
/* --- the full form: first the columns, then the rows --------------------------------------------------------------------- */

static enum ctp_status spool_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	ctp_templates_forget(&s->classes);
	return ctp_spool_section(s->spool, sec, err);
}

static enum ctp_status add_class_columns(struct csv_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	struct ctp_err why;
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (add_columns(s, cls, i, &why))
			return ctp_err_set(err, "class %.100s: %.100s; --class has those of one class", cls->name, why.text);
	s->classes.of[cls->id].cls = cls;
	return CTP_OK;
}

static enum ctp_status spool_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	for (uint32_t i = 0; i < batch->n; i++)
		if (!s->classes.of[batch->rec[i].cls->id].cls && add_class_columns(s, batch->rec[i].cls, err))
			return CTP_FAILED;
	return ctp_spool_records(s->spool, batch, err);
}

static enum ctp_status spool_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	return ctp_spool_end(((struct csv_sink *)sink)->spool, end, err);
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

/* If there was no record of the class, and ctp-collect writes such a class, the output is a header alone. */
static enum ctp_status begin_known_class(struct csv_sink *s, struct ctp_err *err)
{
	enum ctp_status status = CTP_EOF;
	for (int event = 0; event < CTP_EVENT_COUNT && status == CTP_EOF; event++) {
		struct ctp_class *cls = ctp_event_class((enum ctp_event)event);
		if (!cls)
			return no_memory(s, err);
		if (!strcmp(cls->name, s->options.class_name))
			status = begin_class(s, cls, err);
		ctp_class_free(cls);
	}
	return status != CTP_EOF ? status :
	       ctp_err_set(err, "--class %.100s: there is no such record; there are: %s", s->options.class_name,
	                   s->others.text[0] ? s->others.text : "none at all");
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	if (s->spool && ctp_spool_replay(s->spool, &rows, sink, err))
		return CTP_FAILED;
	if (!s->has_header && s->options.class_name && begin_known_class(s, err))
		return CTP_FAILED;
	if (!s->has_header)
		put_header(s);
	return ctp_output_close(s->out, err);
}

static void free_sink(struct ctp_sink *sink)
{
	struct csv_sink *s = (struct csv_sink *)sink;
	ctp_templates_forget(&s->classes);
	ctp_csv_columns_fini(&s->columns);
	ctp_spool_free(s->spool);
	ctp_place_texts_free(s->texts);
	ctp_output_abandon(s->out);
	free(s);
}

static const struct ctp_sink_ops direct = {
	.section = write_section, .records = write_records, .flush = flush, .end = write_end, .finish = finish, .free = free_sink,
};

static const struct ctp_sink_ops spooled = {
	.section = spool_section, .records = spool_records, .end = spool_end, .finish = finish, .free = free_sink,
};

/* The columns that do not depend on the input. */
static bool first_columns(struct csv_sink *s, struct ctp_err *err)
{
	if (s->options.all)
		return ctp_csv_columns_add(&s->columns, CTP_CSV_TYPE, err) >= 0;
	for (int i = 0; i < CTP_PLAIN_FIELDS && !s->options.class_name; i++)
		if (ctp_csv_columns_add(&s->columns, ctp_plain_fields[i].name, err) < 0)
			return false;
	return true;
}

struct ctp_sink *ctp_csv_sink(struct ctp_output *out, const struct ctp_csv_options *options, struct ctp_err *err)
{
	_Static_assert(2 * CTP_SITE_TEXT_MAX + 2 <= CTP_SITE_SPELLED_MAX, "a place's text, quoted, has room");
	struct csv_sink *s = calloc(1, sizeof *s);
	struct ctp_place_texts *texts = ctp_place_texts_new(options->guard ? spell_guarded : spell, options->symbols);
	if (!s || !texts) {
		ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", out->name);
		ctp_output_abandon(out);
		ctp_place_texts_free(texts);
		free(s);
		return NULL;
	}
	s->sink.ops = options->all ? &spooled : &direct;
	s->sink.others_by = options->all || options->class_name ? NULL : "--class NAME shows those of one class, -a all";
	s->out = out;
	s->options = *options;
	s->texts = texts;
	if (!first_columns(s, err) || (options->all && !(s->spool = ctp_spool_new(err)))) {
		free_sink(&s->sink);
		return NULL;
	}
	return &s->sink;
}
