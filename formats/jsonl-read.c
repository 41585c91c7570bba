/*
 * jsonl-read.c - a source that makes a stream of JSONL: ctp-tojsonl's two forms, and coroTracer's own files as they are found.
 *
 * A row without a type is one of coroTracer's transitions. A row with a type is of the class that the section's last @schema
 * line of that name declared, or else of the class that jsonl-row.h finds for the first such row. A row is kept, unless
 *	- it is longer than CTP_JSONL_LINE_MAX, no JSON object, lacks a key of its class, has one twice, or with a value that
 *	  does not fit; keys that the class does not have are ignored;
 *	- it has no type, its probe_id is 0, and its ts is 0 or its tid is none that a system gives (0, or 2^32 and more).
 * The second rule is for the garbage of coroTracer's early engine, which read stations before they were written. With a
 * probe_id of 0 the row stems from a station without a header; its event may be sound nevertheless, and is then kept: the other
 * two tell. Rejected rows are counted and said, with their line.
 *
 * Rows go through a window that sorts them by time; see window.h for what that can do.
 */
#include "jsonl.h"

#include <stdlib.h>

#include "jsonl-meta.h"
#include "jsonl-row.h"
#include "window.h"

struct jsonl_class {
	struct ctp_class *cls;
	struct ctp_jsonl_layout *layout;
	bool current; /* what a row of this type means in this section */
};

struct jsonl_source {
	struct ctp_source source;
	const char *tool;
	struct ctp_window *window;
	struct ctp_jsonl_row row;
	uint32_t nclasses;
	struct jsonl_class classes[CTP_CLASSES_MAX]; /* all there ever were: the writer may still need them */
	struct jsonl_class plain;
	const struct jsonl_class *last; /* of the row before; null if that says nothing about the next */

	/* of the input at hand */
	struct ctp_input *in;
	struct ctp_writer *writer;
	const struct ctp_notice *notice;
	uint64_t line;
	enum { SECTION_NONE, SECTION_OURS, SECTION_THEIRS } section; /* theirs: it had a line, and should have an end */
	bool had_section;
};

static void reject(struct jsonl_source *s, const struct ctp_err *why)
{
	s->source.stats.rejected++;
	ctp_notice_say(s->notice, "line %llu: %.200s; rejected", (unsigned long long)s->line, why->text);
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

static void end_section(struct jsonl_source *s, bool complete)
{
	ctp_window_flush(s->window, s->writer);
	ctp_writer_end(s->writer, complete);
	for (uint32_t i = 0; i < s->nclasses; i++)
		s->classes[i].current = false;
	s->last = NULL;
	s->section = SECTION_NONE;
	s->source.stats.harmed |= !complete;
}

static void begin_section(struct jsonl_source *s, const struct ctp_section *sec, int whose)
{
	if (s->section == SECTION_THEIRS)
		ctp_notice_say(s->notice, "line %llu: the section before has no end: it was cut short",
		               (unsigned long long)s->line);
	if (s->section)
		end_section(s, s->section == SECTION_OURS);
	ctp_writer_begin(s->writer, sec);
	/* Says nothing, but makes the section be there even if nothing follows. */
	ctp_writer_mark(s->writer, 0);
	s->section = whose;
	s->had_section = true;
}

static void begin_our_section(struct jsonl_source *s)
{
	struct ctp_section *sec = malloc(sizeof *sec);
	if (!sec)
		return;
	ctp_section_init(sec);
	ctp_section_add(sec, "tool", s->tool);
	ctp_section_add(sec, "source", s->in->name);
	begin_section(s, sec, SECTION_OURS);
	ctp_section_fini(sec);
	free(sec);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

static void free_class(struct jsonl_class *c)
{
	free(c->layout);
	ctp_class_free(c->cls);
}

static struct jsonl_class *find_class(struct jsonl_source *s, const char *name)
{
	for (uint32_t i = 0; i < s->nclasses; i++)
		if (s->classes[i].current && !strcmp(s->classes[i].cls->name, name))
			return &s->classes[i];
	return NULL;
}

/* Takes the class over and makes it what its name means from here on. Null: why. */
static struct jsonl_class *adopt_class(struct jsonl_source *s, struct ctp_class *cls, struct ctp_err *why)
{
	struct jsonl_class *before = find_class(s, cls->name), *c = s->classes;
	if (before)
		before->current = false;
	s->last = NULL; /* its rows may look the same */
	while (c < s->classes + s->nclasses &&
	       (c->cls->decl_bytes != cls->decl_bytes || memcmp(c->cls->decl, cls->decl, cls->decl_bytes)))
		c++;
	if (c < s->classes + s->nclasses) {
		ctp_class_free(cls);
	} else if (s->nclasses < CTP_CLASSES_MAX) {
		*c = (struct jsonl_class){.cls = cls, .layout = ctp_jsonl_layout_new(cls, true)};
		if (!c->layout) {
			free_class(c);
			return ctp_err_set(why, "out of memory"), NULL;
		}
		s->nclasses++;
	} else {
		ctp_class_free(cls);
		return ctp_err_set(why, "more than %d classes", CTP_CLASSES_MAX), NULL;
	}
	c->current = true;
	return c;
}

/* --- lines --------------------------------------------------------------------------------------------------------------- */

static enum ctp_status take_meta(struct jsonl_source *s, const char *type, const char *p, const char *end, struct ctp_err *why)
{
	enum ctp_status status;
	bool complete;
	char *scratch = s->row.text;
	if (!strcmp(type, "@section")) {
		struct ctp_section *sec = malloc(sizeof *sec);
		if (!sec)
			return ctp_err_set(why, "out of memory");
		ctp_section_init(sec);
		/* What it says of itself may not be readable; that it begins is certain. */
		status = ctp_jsonl_read_section(p, end, scratch, sec, why);
		begin_section(s, sec, SECTION_THEIRS);
		ctp_section_fini(sec);
		free(sec);
		return status;
	}
	if (!strcmp(type, "@schema")) {
		struct ctp_class *cls = ctp_jsonl_read_schema(p, end, scratch, why);
		return cls && adopt_class(s, cls, why) ? CTP_OK : CTP_FAILED;
	}
	if (!strcmp(type, "@end") && s->section) {
		status = ctp_jsonl_read_end(p, end, scratch, &complete, why);
		end_section(s, complete);
		return status;
	}
	return ctp_err_set(why, "\"%.40s\" is no type that belongs here", type);
}

/* Which class the row is of. Null: it was none, or status says what is wrong. */
static const struct jsonl_class *class_of(struct jsonl_source *s, const char *p, const char *end, enum ctp_status *status,
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
	const struct jsonl_class *c = find_class(s, type + at);
	if (!c) {
		struct ctp_class *cls = ctp_jsonl_row_class(&s->row, type + at, p, end, why);
		c = cls ? adopt_class(s, cls, why) : NULL;
		*status = c ? CTP_OK : CTP_FAILED;
	}
	return c;
}

/* coroTracer's garbage; the rule is at the top of the file. */
static bool believable(const uint64_t *val)
{
	enum { PROBE, TID, ADDR, SEQ, ACTIVE, TS };
	return val[PROBE] || (val[TS] && val[TID] && val[TID] <= UINT32_MAX);
}

static void take_row(struct jsonl_source *s, const struct jsonl_class *c)
{
	static const struct ctp_err garbage = {"a row without probe_id whose time or thread cannot be"};
	static const struct ctp_err memory = {"out of memory"};
	if (c == &s->plain && !believable(s->row.val)) {
		reject(s, &garbage);
		return;
	}
	if (!s->section)
		begin_our_section(s);
	struct ctp_record rec = {.cls = c->cls, .val = s->row.val};
	s->source.stats.harmed |= c->cls->kind == CTP_KIND_LOSS || ctp_record_untraced(&rec);
	if (!ctp_window_put(s->window, s->writer, c->cls, s->row.val)) {
		reject(s, &memory);
		return;
	}
	s->source.stats.accepted++;
	s->last = c;
}

static void take_line(struct jsonl_source *s, const char *p, const char *end)
{
	enum ctp_status status;
	struct ctp_err why;
	s->line++;
	if (s->last && ctp_jsonl_row_quick(&s->row, s->last->layout, p, end)) {
		take_row(s, s->last);
		return;
	}
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	if (p == end)
		return;
	if (end - p == 1 && (*p == '{' || *p == '[')) {
		ctp_err_set(&why, "a row must be on one line, as jq -c prints it");
		reject(s, &why);
		return;
	}
	const struct jsonl_class *c = class_of(s, p, end, &status, &why);
	if (c && !ctp_jsonl_row_quick(&s->row, c->layout, p, end))
		status = ctp_jsonl_row_parse(&s->row, c->layout, p, end, &why);
	if (status)
		reject(s, &why);
	else if (c)
		take_row(s, c);
}

/* Passes over a line that is too long, of which the first part or all is at hand. */
static void pass_over(struct jsonl_source *s)
{
	struct ctp_input *in = s->in;
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

static void read_lines(struct jsonl_source *s)
{
	enum { TICK_LINES = 4096 };
	struct ctp_input *in = s->in;
	const struct ctp_tick *tick = &s->source.tick;
	size_t looked = 0; /* so many bytes at hand hold no newline */
	while (!ctp_writer_failed(s->writer) && (in->avail > looked || ctp_input_fill(in, looked + 1) > looked)) {
		const uint8_t *newline = memchr(in->ptr + looked, '\n', in->avail - looked);
		size_t len = newline ? (size_t)(newline - in->ptr) : in->avail;
		if (len > CTP_JSONL_LINE_MAX) {
			pass_over(s);
			looked = 0;
		} else if (newline) {
			take_line(s, (const char *)in->ptr, (const char *)newline);
			ctp_input_skip(in, len + 1);
			looked = 0;
			if (s->line % TICK_LINES == 0 && tick->tick)
				tick->tick(tick->arg, in, s->source.stats.accepted);
		} else {
			looked = in->avail;
		}
	}
	if (in->avail && !in->failed && !ctp_writer_failed(s->writer)) {
		take_line(s, (const char *)in->ptr, (const char *)in->ptr + in->avail);
		ctp_input_skip(in, in->avail);
	}
}

/* --- the source ---------------------------------------------------------------------------------------------------------- */

static enum ctp_status read_input(struct ctp_source *source, struct ctp_input *in, struct ctp_writer *w,
                                  const struct ctp_notice *notice, struct ctp_err *err)
{
	struct jsonl_source *s = (struct jsonl_source *)source;
	struct ctp_source_stats *stats = &source->stats;
	s->in = in;
	s->writer = w;
	s->notice = notice;
	s->line = 0;
	s->had_section = false;
	read_lines(s);
	if (in->failed) {
		*err = in->err;
		return CTP_FAILED;
	}
	if (in->harmed)
		ctp_notice_say(notice, "%s", in->err.text);
	bool empty = !in->offset && !in->harmed;
	if (empty)
		ctp_notice_say(notice, "the input is empty");
	if (s->section == SECTION_THEIRS)
		ctp_notice_say(notice, "the section has no end: it was cut short");
	/* Even of nothing: a stream without a section would not be one. */
	if (!s->had_section)
		begin_our_section(s);
	if (s->section)
		end_section(s, s->section == SECTION_OURS && !in->harmed);
	stats->late = ctp_window_late(s->window);
	stats->harmed |= in->harmed || empty || stats->rejected;
	return ctp_writer_failed(w) ? ctp_err_set(err, "%s: what was made of it could not be written", in->name) : CTP_OK;
}

static void free_source(struct ctp_source *source)
{
	struct jsonl_source *s = (struct jsonl_source *)source;
	for (uint32_t i = 0; i < s->nclasses; i++)
		free_class(&s->classes[i]);
	free_class(&s->plain);
	ctp_jsonl_row_fini(&s->row);
	ctp_window_free(s->window);
	free(s);
}

static const struct ctp_source_ops ops = {
	.read = read_input,
	.free = free_source,
};

struct ctp_source *ctp_jsonl_source(const char *tool, struct ctp_err *err)
{
	struct jsonl_source *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_err_set(err, "out of memory");
		return NULL;
	}
	s->source.ops = &ops;
	s->tool = tool;
	s->plain.cls = ctp_jsonl_plain_class(err);
	s->plain.layout = s->plain.cls ? ctp_jsonl_layout_new(s->plain.cls, false) : NULL;
	s->window = s->plain.layout ? ctp_window_new(err) : NULL;
	if (!s->window || ctp_jsonl_row_init(&s->row, err)) {
		free_source(&s->source);
		return NULL;
	}
	return &s->source;
}
