/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * jsonl-read.c - a source that makes a stream of JSONL: ctp-tojsonl's two forms, and coroTracer's own files as they are found.
 *
 * A row without a type is one of coroTracer's transitions. A row with a type is of the class that the section's last @schema
 * line of that name declared, or else of the class that jsonl-row.h finds for the first such row. A row is kept, unless
 *	- it is longer than CTP_JSONL_LINE_MAX, no JSON object, lacks a key of its class, has one twice, or with a value that
 *	  does not fit; keys that the class does not have are ignored;
 *	- it has no type and is not believable; see plain.h.
 * Rejected rows are counted, and a notice says the line and the reason.
 *
 * A sorter sorts the rows by time; sorter.h says how far it can.
 */
#include "jsonl/jsonl.h"

#include <stdlib.h>

#include "common/intake.h"
#include "common/meta.h"
#include "common/plain.h"
#include "jsonl/jsonl-row.h"

struct jsonl_source {
	struct ctp_source source;
	struct ctp_intake intake;
	struct ctp_jsonl_row row;
	struct ctp_intake_class plain;
	const struct ctp_intake_class *last; /* class of the row before; null: the next row may be of another that looks the same */
	uint64_t line;
};

/* Takes the class over: from here on its name means this class. Null: why. */
static struct ctp_intake_class *adopt(struct jsonl_source *s, struct ctp_class *cls, struct ctp_err *why)
{
	s->last = NULL; /* its rows may look the same */
	struct ctp_intake_class *c = cls ? ctp_intake_adopt(&s->intake, cls, why) : NULL;
	if (c && !c->layout && !(c->layout = ctp_jsonl_template(c->cls, true, true, NULL))) {
		c->current = false;
		return ctp_err_memory(why), NULL;
	}
	return c;
}

static void reject(struct jsonl_source *s, const struct ctp_err *why) { ctp_intake_reject(&s->intake, s->line, why); }

/* --- lines --------------------------------------------------------------------------------------------------------------- */

static enum ctp_status take_meta(struct jsonl_source *s, const char *type, const char *p, const char *end, struct ctp_err *why)
{
	char *scratch = s->row.text;
	struct ctp_json value = {p, end};
	const char *from;
	if (!strcmp(type, "@schema"))
		return adopt(s, ctp_meta_read_class(p, end, scratch, why), why) ? CTP_OK : CTP_FAILED;
	bool is_section = !strcmp(type, "@section");
	if (!is_section && (strcmp(type, "@end") || !s->intake.section))
		return ctp_err_set(why, "\"%.40s\" is not a type that is allowed here", type);
	enum ctp_status status = ctp_jsonl_row_find(&value, is_section ? "attrs" : "complete", scratch, &from, why);
	bool found = !status && from;
	s->last = NULL;
	if (!is_section) {
		ctp_intake_end(&s->intake, found && value.p - from == 4 && !memcmp(from, "true", 4));
		return status;
	}
	struct ctp_err ignored; /* the first error is the one to say */
	if (status)
		why = &ignored;
	enum ctp_status read = ctp_intake_read_section(&s->intake, found ? from : p, found ? value.p : p, scratch, s->line, why);
	return status ? status : read;
}

/* The class of the row; null: the line was no row, or status and why say what is wrong. */
static const struct ctp_intake_class *class_of(struct jsonl_source *s, const char *p, const char *end, enum ctp_status *status,
                                          struct ctp_err *why)
{
	const char *type;
	*status = ctp_jsonl_row_type(&s->row, p, end, &type, why);
	if (*status || !type)
		return *status ? NULL : &s->plain;
	bool at = type[0] == '@';
	if (at && type[1] != '@') {
		*status = take_meta(s, type, p, end, why);
		return NULL;
	}
	const struct ctp_intake_class *c = ctp_intake_find(&s->intake, type + at);
	if (!c)
		c = adopt(s, ctp_jsonl_row_class(&s->row, type + at, p, end, why), why);
	*status = c ? CTP_OK : CTP_FAILED;
	return c;
}

static inline void take_row(struct jsonl_source *s, const struct ctp_intake_class *c)
{
	static const struct ctp_err garbage = {.text = "a row without probe_id whose time or thread is impossible"};
	if (c == &s->plain && !ctp_plain_believable(s->row.val)) {
		reject(s, &garbage);
		return;
	}
	if (!s->intake.section)
		ctp_intake_own_section(&s->intake, false);
	ctp_intake_put(&s->intake, c->cls, s->row.val, s->line);
	s->last = c;
}

/* The newline after the row at p, if the row is of the class and spelled as ctp-tojsonl does; else null. */
static inline const char *quick_row(struct jsonl_source *s, const struct ctp_intake_class *c, const char *p)
{
	const char *limit = (const char *)s->intake.in->ptr + s->intake.in->avail;
	return ctp_jsonl_row_quick(&s->row, c->layout, p, limit - p < CTP_JSONL_LINE_MAX ? limit : p + CTP_JSONL_LINE_MAX);
}

static void take_line(struct jsonl_source *s, const char *p, const char *end)
{
	enum ctp_status status;
	struct ctp_err why;
	s->line++;
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	if (p == end)
		return;
	if (end - p == 1 && (*p == '{' || *p == '[')) {
		ctp_err_set(&why, "a row must be on one line, as jq -c prints it");
		reject(s, &why);
		return;
	}
	const struct ctp_intake_class *c = class_of(s, p, end, &status, &why);
	if (c && !quick_row(s, c, p))
		status = ctp_jsonl_row_parse(&s->row, c->layout, p, end, &why);
	if (status)
		reject(s, &why);
	else if (c)
		take_row(s, c);
}

/* Skips a line that is too long; its first part, or all of it, is at hand. */
static void pass_over(struct jsonl_source *s)
{
	struct ctp_input *in = s->intake.in;
	const uint8_t *newline;
	struct ctp_err why;
	while (!(newline = memchr(in->ptr, '\n', in->avail))) {
		ctp_input_skip(in, in->avail);
		if (!ctp_input_fill(in, 1))
			break;
	}
	if (newline)
		ctp_input_skip(in, (size_t)(newline + 1 - in->ptr));
	s->line++;
	ctp_err_set(&why, "longer than %d bytes", CTP_JSONL_LINE_MAX);
	reject(s, &why);
}

/* Skips the line that ends at newline. */
static void pass_line(struct jsonl_source *s, const char *newline)
{
	enum { TICK_LINES = 4096 };
	const struct ctp_tick *tick = &s->source.tick;
	ctp_input_skip(s->intake.in, (size_t)(newline + 1 - (const char *)s->intake.in->ptr));
	if (s->line % TICK_LINES == 0 && tick->tick)
		tick->tick(tick->arg, s->intake.in, s->source.stats.accepted);
}

/* Reads rows of the class of the row before. */
static void read_rows(struct jsonl_source *s)
{
	const char *newline;
	while (s->last && (newline = quick_row(s, s->last, (const char *)s->intake.in->ptr)) &&
	       !ctp_writer_failed(s->intake.writer)) {
		s->line++;
		take_row(s, s->last);
		pass_line(s, newline);
	}
}

static void read_lines(struct jsonl_source *s)
{
	struct ctp_input *in = s->intake.in;
	size_t looked = 0; /* bytes at hand that are known to hold no newline */
	while (!ctp_writer_failed(s->intake.writer) && (in->avail > looked || ctp_input_fill(in, looked + 1) > looked)) {
		const char *newline = memchr(in->ptr + looked, '\n', in->avail - looked);
		size_t len = newline ? (size_t)(newline - (const char *)in->ptr) : in->avail;
		looked = newline ? 0 : len;
		if (len > CTP_JSONL_LINE_MAX) {
			pass_over(s);
			looked = 0;
		} else if (newline) {
			take_line(s, (const char *)in->ptr, newline);
			pass_line(s, newline);
			read_rows(s);
		}
	}
	if (in->avail && !in->failed && !ctp_writer_failed(s->intake.writer)) {
		take_line(s, (const char *)in->ptr, (const char *)in->ptr + in->avail);
		ctp_input_skip(in, in->avail);
	}
}

/* --- the source ---------------------------------------------------------------------------------------------------------- */

static enum ctp_status read_input(struct ctp_source *source, struct ctp_input *in, struct ctp_writer *w,
                                  const struct ctp_notice *notice, struct ctp_err *err)
{
	static const char csv[] = "probe_id,";
	struct jsonl_source *s = (struct jsonl_source *)source;
	if (ctp_input_fill(in, sizeof csv - 1) >= sizeof csv - 1 && !memcmp(in->ptr, csv, sizeof csv - 1))
		return ctp_err_set(err, "%s: is CSV; ctp-fromcsv reads it", in->name);
	ctp_intake_begin(&s->intake, in, w, notice);
	s->last = NULL;
	s->line = 0;
	read_lines(s);
	return ctp_intake_finish(&s->intake, err);
}

static void free_source(struct ctp_source *source)
{
	struct jsonl_source *s = (struct jsonl_source *)source;
	ctp_intake_fini(&s->intake);
	ctp_class_free(s->plain.cls);
	free(s->plain.layout);
	ctp_jsonl_row_fini(&s->row);
	free(s);
}

static const struct ctp_source_ops ops = {
	.read = read_input,
	.free = free_source,
};

struct ctp_source *ctp_jsonl_source(const char *tool, struct ctp_err *err)
{
	struct jsonl_source *s = calloc(1, sizeof *s);
	if (!s)
		return ctp_err_memory(err), NULL;
	s->source.ops = &ops;
	s->plain.cls = ctp_plain_class(err);
	s->plain.layout = s->plain.cls ? ctp_jsonl_template(s->plain.cls, false, false, NULL) : NULL;
	if (!s->plain.layout || ctp_intake_init(&s->intake, &s->source, tool, err) || ctp_jsonl_row_init(&s->row, err)) {
		free_source(&s->source);
		return NULL;
	}
	return &s->source;
}
