/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-layout.c - `_json` to a layout.
 *
 * The JSON is Haskell's: objects whose keys come in any order, and values with a constructor, which are {"tag":T,"contents":C}, or
 * only the text T. The whole text is checked first. Then values are looked up by their keys, and each text is kept at most once, so
 * that the memory of all texts is bounded by that of the JSON.
 */
#include "ppt/ppt-layout.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/text.h"
#include "common/json.h"

enum { NESTED_MAX = 4, TAG_BYTES = 32 };

struct parse {
	struct ctp_ppt_layout *layout;
	char *top; /* of layout->texts: the rest is free, and has room for any text of the JSON that is not kept */
	struct ctp_err *err;
};

/* --- values ---------------------------------------------------------------------------------------------------------------- */

static bool wrong(struct parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(struct parse *p, const char *fmt, ...)
{
	char what[256];
	va_list args;
	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	ctp_err_set(p->err, "the layout of the buffer: %s", what);
	return false;
}

/* The value of a key of an object; of a key that comes twice, the last one. p is null: there is none, or j is no object. */
static struct ctp_json find(struct parse *p, struct ctp_json j, const char *key)
{
	struct ctp_json value = {0};
	bool first = true;
	if (!j.p || !ctp_json_take(&j, '{'))
		return value;
	while (ctp_json_next(&j, '}', &first)) {
		char *end = ctp_json_key(&j, p->top);
		assert(end); /* the text was checked */
		*end = '\0';
		ctp_json_peek(&j);
		const char *from = j.p;
		ctp_json_skip(&j);
		if (!strcmp(p->top, key))
			value = (struct ctp_json){from, j.p};
	}
	return value;
}

static bool is_kind(struct ctp_json j, enum ctp_json_kind kind) { return j.p && ctp_json_peek(&j) == kind; }

/* A text that is kept. False: it is no name. */
static bool keep(struct parse *p, struct ctp_json j, const char *key, const char **text)
{
	char *end = ctp_json_text(&j, p->top);
	if (!end)
		return wrong(p, "%s: a text is missing", key);
	size_t len = (size_t)(end - p->top);
	if (!len || len > CTP_PPT_NAME_MAX || memchr(p->top, '\0', len))
		return wrong(p, "%s: a name is empty or too long", key);
	*end = '\0';
	*text = p->top;
	p->top = end + 1;
	return true;
}

/* The same of a key that may be missing, and of a number. */
static bool keep_of(struct parse *p, struct ctp_json j, const char *key, const char **text)
{
	struct ctp_json value = find(p, j, key);
	return !value.p || keep(p, value, key, text);
}

static bool number_of(struct parse *p, struct ctp_json j, const char *key, uint64_t max, uint64_t *v)
{
	const char *from, *upto;
	struct ctp_json value = find(p, j, key);
	if (!value.p || is_kind(value, CTP_JSON_NULL))
		return true;
	if (!is_kind(value, CTP_JSON_NUMBER) || !ctp_json_number(&value, &from, &upto) || !ctp_parse_u64(from, upto, v) || *v > max)
		return wrong(p, "%s: a number is missing or too large", key);
	return true;
}

/* A value with a constructor. */
struct tagged {
	char tag[TAG_BYTES]; /* "": none, or longer than any that is known */
	struct ctp_json contents; /* p is null: none */
};

static struct tagged tagged(struct parse *p, struct ctp_json j)
{
	struct tagged t = {.contents = find(p, j, "contents")};
	struct ctp_json tag = is_kind(j, CTP_JSON_OBJECT) ? find(p, j, "tag") : j;
	char *end = is_kind(tag, CTP_JSON_TEXT) ? ctp_json_text(&tag, p->top) : NULL;
	if (end && end - p->top < TAG_BYTES)
		memcpy(t.tag, p->top, (size_t)(end - p->top));
	return t;
}

/* The first of the contents, or the contents themselves where they are no array. */
static struct tagged first_of(struct parse *p, struct ctp_json contents)
{
	bool first = true;
	if (is_kind(contents, CTP_JSON_ARRAY) && (!ctp_json_take(&contents, '[') || !ctp_json_next(&contents, ']', &first)))
		return (struct tagged){0};
	return tagged(p, contents);
}

/* --- members ------------------------------------------------------------------------------------------------------------- */

static bool take_type(struct parse *p, struct ctp_json j, struct ctp_ppt_member *m)
{
	struct tagged t = tagged(p, j), of = first_of(p, t.contents);
	const char *from, *upto;
	uint64_t n;
	if (!strcmp(t.tag, "PIntegral"))
		m->type = !strcmp(of.tag, "PPByte") ? CTP_PPT_BYTE : CTP_PPT_INT;
	else if (!strcmp(t.tag, "PRational"))
		m->type = CTP_PPT_DOUBLE; /* or a float, by its size */
	else if (!strcmp(t.tag, "PTime"))
		m->type = CTP_PPT_TIME;
	else if (!strcmp(t.tag, "PCounter"))
		m->type = CTP_PPT_COUNTER;
	else
		return wrong(p, "_lType: a type that is not known");
	if (m->type != CTP_PPT_COUNTER || !is_kind(of.contents, CTP_JSON_NUMBER))
		return true;
	if (!ctp_json_number(&of.contents, &from, &upto) || !ctp_parse_u64(from, upto, &n) || n >= CTP_PPT_COUNTERS_MAX)
		return wrong(p, "_lType: a number is missing or too large");
	m->counter = (int32_t)n;
	return true;
}

/* [the member as it was specified, the end of an interval or null]; each may be missing. */
static bool take_member_contents(struct parse *p, struct ctp_json j, struct ctp_ppt_member *m)
{
	bool first = true;
	if (!is_kind(j, CTP_JSON_ARRAY) || !ctp_json_take(&j, '[') || !ctp_json_next(&j, ']', &first))
		return true;
	if (!keep_of(p, j, "fmName", &m->base))
		return false;
	ctp_json_skip(&j);
	if (!ctp_json_next(&j, ']', &first))
		return true;
	struct tagged t = tagged(p, j);
	m->end = !strcmp(t.tag, "IntBegin") ? CTP_PPT_BEGIN : !strcmp(t.tag, "IntEnd") ? CTP_PPT_END : CTP_PPT_ALONE;
	return true;
}

static bool take_kind(struct parse *p, struct ctp_json j, struct ctp_ppt_member *m)
{
	struct tagged t = tagged(p, j);
	if (!strcmp(t.tag, "LKMember"))
		return take_member_contents(p, t.contents, m);
	if (!strcmp(t.tag, "LKSeqno")) {
		/* Which of the two it is shows at its place where the JSON has no contents. */
		struct tagged of = first_of(p, t.contents);
		m->kind = !strcmp(of.tag, "FrontSeq") ? CTP_PPT_FRONT : !strcmp(of.tag, "BackSeq") ? CTP_PPT_BACK : CTP_PPT_KIND_COUNT;
	} else if (!strcmp(t.tag, "LKTypeDescrim")) {
		m->kind = CTP_PPT_FRAME_TYPE;
	} else if (!strcmp(t.tag, "LKPadding")) {
		m->kind = CTP_PPT_PADDING;
	} else {
		return wrong(p, "_lKind: a kind of member that is not known");
	}
	return true;
}

/* Whether the size is one of the type's; what a size decides is decided. */
static bool sized(struct ctp_ppt_member *m)
{
	switch (m->type) {
	case CTP_PPT_INT:
		return m->size == 1 || m->size == 2 || m->size == 4 || m->size == 8;
	case CTP_PPT_DOUBLE:
		if (m->size == 4)
			m->type = CTP_PPT_FLOAT;
		return m->size == 8 || m->size == 4;
	case CTP_PPT_TIME:
		return m->size == 16;
	case CTP_PPT_COUNTER:
		return m->size == 8;
	default:
		return m->size > 0;
	}
}

static bool check_member(struct parse *p, struct ctp_ppt_member *m)
{
	const char *lacks = !m->name ? "_lName" : m->type == CTP_PPT_TYPE_COUNT ? "_lType" : m->offset == UINT32_MAX ? "_lOffset" :
	                    !m->size ? "_lSize" : NULL;
	if (lacks)
		return wrong(p, "%s: lacks its %s", m->name ? m->name : "a member", lacks);
	if (m->kind == CTP_PPT_KIND_COUNT)
		m->kind = m->offset ? CTP_PPT_BACK : CTP_PPT_FRONT;
	if (m->kind != CTP_PPT_PADDING && !sized(m))
		return wrong(p, "%s: its size is not that of its type", m->name);
	if ((m->kind == CTP_PPT_FRONT || m->kind == CTP_PPT_BACK || m->kind == CTP_PPT_FRAME_TYPE) && m->size != 4)
		return wrong(p, "%s: a number of the frame, and has not 4 bytes", m->name);
	if (m->offset + m->size > CTP_PPT_FRAME_MAX)
		return wrong(p, "a frame is too large");
	return true;
}

static bool take_member(struct parse *p, struct ctp_json j, struct ctp_ppt_member *m)
{
	struct ctp_json type = find(p, j, "_lType"), kind = find(p, j, "_lKind");
	uint64_t offset = UINT32_MAX, size = 0;
	*m = (struct ctp_ppt_member){.type = CTP_PPT_TYPE_COUNT, .other = -1, .counter = -1};
	if (!is_kind(j, CTP_JSON_OBJECT))
		return wrong(p, "_flLayout: an object is missing");
	if (!keep_of(p, j, "_lName", &m->name) || (type.p && !take_type(p, type, m)) || (kind.p && !take_kind(p, kind, m)) ||
	    !number_of(p, j, "_lOffset", CTP_PPT_FRAME_MAX, &offset) || !number_of(p, j, "_lSize", CTP_PPT_FRAME_MAX, &size))
		return false;
	m->offset = (uint32_t)offset;
	m->size = (uint32_t)size;
	return check_member(p, m);
}

static bool take_members(struct parse *p, struct ctp_json j, struct ctp_ppt_frame *f)
{
	bool first = true;
	if (!j.p || !ctp_json_take(&j, '['))
		return wrong(p, "%s: a frame without _flLayout", f->name);
	for (size_t room = 0; ctp_json_next(&j, ']', &first); f->nmembers++) {
		if (!CTP_ARRAY_RESERVE(f->members, room, f->nmembers + 1, CTP_PPT_MEMBERS_MAX))
			return wrong(p, "%s: a frame has too many members", f->name);
		if (!take_member(p, j, &f->members[f->nmembers]))
			return false;
		ctp_json_skip(&j);
	}
	return true;
}

/* --- frames -------------------------------------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
	const struct ctp_ppt_member *x = a, *y = b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool ends_in(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);
	return len > n && !memcmp(name + len - n, end, n);
}

/* The name without the end of its interval and its counter, for JSON that does not say it. texts has room for it; see texts_bytes. */
static void find_base(struct parse *p, struct ctp_ppt_member *m)
{
	char counter[16];
	size_t len = strlen(m->name);
	if (m->end != CTP_PPT_ALONE)
		len -= ends_in(m->name, len, "_start") ? 6 : ends_in(m->name, len, "_end") ? 4 : 0;
	*ctp_text_i64(stpcpy(counter, "_"), m->counter) = '\0';
	if (m->counter >= 0 && ends_in(m->name, len, counter))
		len -= strlen(counter);
	memcpy(p->top, m->name, len);
	p->top[len] = '\0';
	m->base = p->top;
	p->top += len + 1;
}

static void find_other(struct ctp_ppt_frame *f, uint32_t begin)
{
	struct ctp_ppt_member *b = &f->members[begin];
	for (uint32_t i = 0; i < f->nmembers; i++) {
		struct ctp_ppt_member *e = &f->members[i];
		if (e->end == CTP_PPT_END && e->other < 0 && e->type == b->type && e->counter == b->counter && e->size == b->size &&
		    !strcmp(e->base, b->base)) {
			e->other = (int32_t)begin;
			b->other = (int32_t)i;
			return;
		}
	}
}

static uint32_t c_align(const struct ctp_ppt_member *m)
{
	return m->type == CTP_PPT_BYTE || m->kind == CTP_PPT_PADDING ? 1 : m->type == CTP_PPT_TIME ? 8 : m->size;
}

static bool check_frame(struct parse *p, struct ctp_ppt_frame *f)
{
	int32_t at[CTP_PPT_KIND_COUNT] = {-1, -1, -1, -1, -1};
	if (!f->nmembers)
		return wrong(p, "%s: lacks one of its two sequence numbers", f->name);
	qsort(f->members, f->nmembers, sizeof *f->members, by_offset);
	f->align = 1;
	for (uint32_t i = 0; i < f->nmembers; i++) {
		struct ctp_ppt_member *m = &f->members[i];
		if (m->offset < f->size)
			return wrong(p, "%s: its member %s overlaps the one before", f->name, m->name);
		f->size = m->offset + m->size;
		if (c_align(m) > f->align)
			f->align = c_align(m);
		if (m->kind != CTP_PPT_MEMBER && m->kind != CTP_PPT_PADDING && at[m->kind] >= 0)
			return wrong(p, "%s: has a number of its own twice: %s", f->name, m->name);
		at[m->kind] = (int32_t)i;
		if (!m->base)
			find_base(p, m);
	}
	for (uint32_t i = 0; i < f->nmembers; i++)
		if (f->members[i].end == CTP_PPT_BEGIN)
			find_other(f, i);
	if (at[CTP_PPT_FRONT] < 0 || at[CTP_PPT_BACK] < 0)
		return wrong(p, "%s: lacks one of its two sequence numbers", f->name);
	f->stride = (f->size + f->align - 1) / f->align * f->align;
	f->front = (uint32_t)at[CTP_PPT_FRONT];
	f->back = (uint32_t)at[CTP_PPT_BACK];
	f->type = at[CTP_PPT_FRAME_TYPE];
	return true;
}

static bool take_frames(struct parse *p, struct ctp_json j)
{
	struct ctp_ppt_layout *l = p->layout;
	bool first = true;
	if (!ctp_json_take(&j, '[') || l->frames)
		return wrong(p, "frames are no list, or come twice");
	for (size_t room = 0; ctp_json_next(&j, ']', &first);) {
		if (!CTP_ARRAY_RESERVE(l->frames, room, l->nframes + 1, CTP_PPT_FRAMES_MAX))
			return wrong(p, "too many frames");
		struct ctp_ppt_frame *f = &l->frames[l->nframes++];
		*f = (struct ctp_ppt_frame){0};
		if (!keep_of(p, j, "_flName", &f->name))
			return false;
		if (!f->name)
			return wrong(p, "frames: a frame without _flName");
		if (!take_members(p, find(p, j, "_flLayout"), f) || !check_frame(p, f))
			return false;
		ctp_json_skip(&j);
	}
	return true;
}

/* --- the buffer ---------------------------------------------------------------------------------------------------------- */

static void take_time(struct parse *p, struct ctp_json j)
{
	static const struct { const char *tag, *clock; int32_t id; } clocks[] = {
		{"Realtime", "realtime", CLOCK_REALTIME}, {"RealtimeCoarse", "realtime_coarse", CLOCK_REALTIME},
		{"Monotonic", "monotonic", CLOCK_MONOTONIC}, {"MonotonicCoarse", "monotonic_coarse", CLOCK_MONOTONIC},
		{"MonotonicRaw", "monotonic_raw", CLOCK_MONOTONIC_RAW}, {"Boottime", "boottime", CLOCK_BOOTTIME},
		{"ProcessCputime", "process_cputime", -1}, {"ProcessCputimeId", "process_cputime", -1},
		{"ProcessCpuTime", "process_cputime", -1}, {"ThreadCputime", "thread_cputime", -1},
		{"ThreadCputimeId", "thread_cputime", -1}, {"ThreadCpuTime", "thread_cputime", -1}, {"Tai", "tai", CLOCK_TAI},
	};
	static const char prefix[] = "ETimeClock";
	struct tagged t = tagged(p, j), of = first_of(p, t.contents);
	p->layout->rep = !strcmp(t.tag, "ETimeVal") ? CTP_PPT_TIMEVAL : CTP_PPT_TIMESPEC;
	/* gettimeofday has no choice of clocks. */
	p->layout->clock = p->layout->rep == CTP_PPT_TIMEVAL ? "realtime" : "";
	p->layout->clock_id = p->layout->rep == CTP_PPT_TIMEVAL ? CLOCK_REALTIME : -1;
	const char *name = of.tag + (!strncmp(of.tag, prefix, sizeof prefix - 1) ? sizeof prefix - 1 : 0);
	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
		if (!strcmp(name, clocks[i].tag)) {
			p->layout->clock = clocks[i].clock;
			p->layout->clock_id = clocks[i].id;
		}
}

/* "option buffer resize on" of the document: no generator makes one. */
static void take_options(struct parse *p, struct ctp_json j)
{
	bool first = true;
	if (!ctp_json_take(&j, '['))
		return;
	for (; ctp_json_next(&j, ']', &first); ctp_json_skip(&j)) {
		struct tagged t = tagged(p, j);
		if (!strcmp(t.tag, "EBufferResize"))
			p->layout->resizable = is_kind(t.contents, CTP_JSON_TRUE);
	}
}

/* Tags stay JSON; an empty list is none. */
static void take_tags(struct parse *p, struct ctp_json j)
{
	size_t len = (size_t)(j.end - j.p);
	if (len <= 2 || p->layout->tags_len)
		return;
	p->layout->tags = memcpy(p->top, j.p, len);
	p->layout->tags_len = len;
	p->top[len] = '\0';
	p->top += len + 1;
}

static bool take_emit(struct parse *p, struct ctp_json j)
{
	struct ctp_ppt_layout *l = p->layout;
	struct ctp_json buffer = find(p, j, "_eBuffer"), time = find(p, j, "_eTimeRep");
	struct ctp_json options = find(p, j, "_eOptions"), tags = find(p, j, "_eTags");
	if (!is_kind(j, CTP_JSON_OBJECT) || (buffer.p && !is_kind(buffer, CTP_JSON_OBJECT)))
		return wrong(p, "%s: an object is missing", buffer.p ? "_eBuffer" : "emit");
	if (!keep_of(p, buffer, "ebName", &l->buffer) || !number_of(p, buffer, "ebMinElements", UINT32_MAX, &l->min_elements))
		return false;
	if (time.p)
		take_time(p, time);
	if (options.p)
		take_options(p, options);
	if (tags.p)
		take_tags(p, tags);
	l->by_header = !strcmp(tagged(p, find(p, j, "_eLanguage")).tag, "ELangC");
	l->multithread = is_kind(find(p, find(p, j, "_eRuntime"), "erMultithread"), CTP_JSON_TRUE);
	return true;
}

static bool take_counters(struct parse *p, struct ctp_json j)
{
	struct ctp_ppt_layout *l = p->layout;
	bool first = true;
	if (!is_kind(j, CTP_JSON_ARRAY) || !ctp_json_take(&j, '['))
		return true;
	for (; ctp_json_next(&j, ']', &first); ctp_json_skip(&j)) {
		if (l->ncounters == CTP_PPT_COUNTERS_MAX)
			return wrong(p, "too many counters");
		if (!keep(p, j, "frCounters", &l->counters[l->ncounters++]))
			return false;
	}
	return true;
}

/* Of the first version. What a later one changes is not known, and so nothing of it is believed. */
static bool take_version(struct parse *p, struct ctp_json j, const char *key, const char **version)
{
	if (!keep_of(p, j, key, version))
		return false;
	if (*version && strcmp(*version, "1") && strncmp(*version, "1.", 2))
		return wrong(p, "its %s is %s, and 1.0.0 is known", key, *version);
	return true;
}

/* `_json` itself, what it has as "buffer" in ppt's own document, and the header of a file. */
static bool take_top(struct parse *p, struct ctp_json j, unsigned nested)
{
	const char *format = NULL, *abi = NULL; /* format: of a file */
	struct ctp_json emit = find(p, j, "emit"), frames = find(p, j, "frames"), tags = find(p, j, "tags");
	if (!take_version(p, j, "abi", &abi) || !take_version(p, j, "frFormat", &format) ||
	    !take_counters(p, find(p, j, "frCounters")) || (emit.p && !take_emit(p, emit)) || (frames.p && !take_frames(p, frames)))
		return false;
	if (tags.p)
		take_tags(p, tags);
	if (abi)
		p->layout->abi = abi;
	for (const char *const *key = (const char *const[]){"frJson", "buffer", NULL}; *key; key++) {
		struct ctp_json inner = find(p, j, *key);
		if (is_kind(inner, CTP_JSON_OBJECT) && nested < NESTED_MAX && !take_top(p, inner, nested + 1))
			return false;
	}
	return true;
}

static uint32_t offset_of(const struct ctp_ppt_frame *f, int32_t member) { return member < 0 ? UINT32_MAX : f->members[member].offset; }

static bool check_layout(struct parse *p)
{
	struct ctp_ppt_layout *l = p->layout;
	if (!l->buffer)
		return wrong(p, "emit._eBuffer.ebName: the buffer has no name");
	if (!l->nframes)
		return wrong(p, "the buffer has no frames");
	const struct ctp_ppt_frame *first = l->frames;
	l->stride = first->stride;
	for (uint32_t i = 0; i < l->nframes; i++) {
		const struct ctp_ppt_frame *f = &l->frames[i];
		if (l->nframes > 1 && f->type < 0)
			return wrong(p, "%s: has no type, and there are several frames", f->name);
		if (offset_of(f, f->type) != offset_of(first, first->type) ||
		    offset_of(f, (int32_t)f->front) != offset_of(first, (int32_t)first->front))
			return wrong(p, "%s: its numbers are not at the offsets that the first frame has", f->name);
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(f->name, l->frames[k].name))
				return wrong(p, "%s: two frames have the same name", f->name);
		l->size = f->size > l->size ? f->size : l->size;
		l->stride = f->stride > l->stride ? f->stride : l->stride;
	}
	return true;
}

/* Texts are decoded once, and a base can be another copy of a name. */
static size_t texts_bytes(size_t len) { return 2 * len + 1; }

static bool parse(struct parse *p, struct ctp_json j)
{
	struct ctp_json all = j;
	if (!is_kind(j, CTP_JSON_OBJECT))
		return wrong(p, "an object is missing");
	if (!ctp_json_skip(&all))
		return wrong(p, "no JSON");
	if (!ctp_json_done(&all))
		return wrong(p, "something follows the JSON");
	return take_top(p, j, 0) && check_layout(p);
}

struct ctp_ppt_layout *ctp_ppt_layout_parse(const char *json, size_t len, struct ctp_err *err)
{
	if (len > CTP_PPT_HEADER_MAX)
		return ctp_err_set(err, "the layout of the buffer: %zu bytes, and at most %d are read", len, CTP_PPT_HEADER_MAX), NULL;
	struct ctp_ppt_layout *l = calloc(1, sizeof *l);
	if (!l || !(l->texts = malloc(texts_bytes(len)))) {
		free(l);
		return ctp_err_memory(err), NULL;
	}
	l->abi = l->clock = l->tags = "";
	l->clock_id = -1;
	struct parse p = {.layout = l, .top = l->texts, .err = err};
	if (!parse(&p, (struct ctp_json){json, json + len})) {
		ctp_ppt_layout_free(l);
		return NULL;
	}
	assert(l->nframes && l->stride >= l->size && p.top <= l->texts + texts_bytes(len));
	return l;
}

void ctp_ppt_layout_free(struct ctp_ppt_layout *layout)
{
	if (!layout)
		return;
	for (uint32_t i = 0; i < layout->nframes; i++)
		free(layout->frames[i].members);
	free(layout->frames);
	free(layout->texts);
	free(layout);
}

const char *ctp_ppt_type_name(enum ctp_ppt_type type)
{
	static const char *const names[] = {"int", "byte", "float", "double", "time", "counter"};
	return names[type];
}

const char *ctp_ppt_kind_name(enum ctp_ppt_kind kind)
{
	static const char *const names[] = {"member", "front", "back", "type", "padding"};
	return names[kind];
}

/* --- the header of a file -------------------------------------------------------------------------------------------------- */

char *ctp_ppt_header(const char *json, size_t json_len, const char *const *counters, uint32_t ncounters, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);
	if (!f)
		return NULL;
	fputs("{\"frComment\":\"\",\"frCounters\":[", f);
	for (uint32_t i = 0; i < ncounters; i++) {
		char quoted[CTP_JSON_GROWTH * CTP_PPT_NAME_MAX + 2];
		size_t n = strlen(counters[i]);
		assert(n <= CTP_PPT_NAME_MAX); /* as ctp_ppt_layout_parse wants it */
		fprintf(f, "%s%.*s", i ? "," : "", (int)(ctp_json_quote(quoted, counters[i], n) - quoted), quoted);
	}
	fputs("],\"frDate\":\"now\",\"frDeltaTime\":0,\"frFormat\":\"1.0.0\",\"frJson\":", f);
	fwrite(json, 1, json_len, f);
	fputs("}", f);
	return fclose(f) ? free(text), NULL : text;
}
