/*
 * ppt-layout.c - `_json` to a layout.
 *
 * Keys come in any order, and those that are not known are passed over. The walker of ppt-json.h calls a function for each key, and these
 * functions nest as the objects do. Each text is kept at most once, so that the memory of all texts is bounded by that of the JSON.
 */
#include "ppt/ppt-layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ppt/ppt-json.h"

enum { NESTED_MAX = 4 };

/* --- members ------------------------------------------------------------------------------------------------------------- */

static bool take_type(struct ctp_ppt_parse *p, struct ctp_json *j, struct ctp_ppt_member *m)
{
	struct ctp_ppt_tagged t, of;
	uint64_t n;
	if (!ctp_ppt_json_tagged(p, j, &t) || !ctp_ppt_json_first(p, &t, &of))
		return false;
	if (!strcmp(t.tag, "PIntegral")) {
		m->type = !strcmp(of.tag, "PPByte") ? CTP_PPT_BYTE : CTP_PPT_INT;
	} else if (!strcmp(t.tag, "PRational")) {
		m->type = CTP_PPT_DOUBLE; /* or a float, by its size */
	} else if (!strcmp(t.tag, "PTime")) {
		m->type = CTP_PPT_TIME;
	} else if (!strcmp(t.tag, "PCounter")) {
		m->type = CTP_PPT_COUNTER;
		if (of.contents.p && ctp_json_peek(&of.contents) == CTP_JSON_NUMBER) {
			if (!ctp_ppt_json_number(p, &of.contents, CTP_PPT_COUNTERS_MAX - 1, &n))
				return false;
			m->counter = (int32_t)n;
		}
	} else {
		return ctp_ppt_json_wrong_value(p, "a type that is not known");
	}
	return true;
}

static bool member_contents_key(struct ctp_ppt_parse *p, void *arg, const char *key, struct ctp_json *j)
{
	struct ctp_ppt_member *m = arg;
	return !strcmp(key, "fmName") ? ctp_ppt_json_keep(p, j, &m->base) : ctp_json_skip(j);
}

/* [the member as it was specified, the end of an interval or null]; each may be missing. */
static bool take_member_contents(struct ctp_ppt_parse *p, struct ctp_json *j, struct ctp_ppt_member *m)
{
	bool first = true;
	if (!j->p || !ctp_json_take(j, '['))
		return true;
	for (int i = 0; ctp_json_next(j, ']', &first); i++) {
		struct ctp_ppt_tagged t = {0};
		bool ok = i == 0 && ctp_json_peek(j) == CTP_JSON_OBJECT ? ctp_ppt_json_walk(p, j, member_contents_key, m) :
		          i == 1 ? ctp_ppt_json_tagged(p, j, &t) : ctp_json_skip(j);
		if (!ok)
			return false;
		if (i == 1)
			m->end = !strcmp(t.tag, "IntBegin") ? CTP_PPT_BEGIN : !strcmp(t.tag, "IntEnd") ? CTP_PPT_END : CTP_PPT_ALONE;
	}
	return j->p;
}

static bool take_kind(struct ctp_ppt_parse *p, struct ctp_json *j, struct ctp_ppt_member *m)
{
	struct ctp_ppt_tagged t, of;
	if (!ctp_ppt_json_tagged(p, j, &t))
		return false;
	/* Of a key that comes twice, nothing of the first stays. */
	m->kind = CTP_PPT_MEMBER;
	m->end = CTP_PPT_ALONE;
	if (!strcmp(t.tag, "LKMember"))
		return take_member_contents(p, &t.contents, m);
	if (!strcmp(t.tag, "LKSeqno")) {
		if (!ctp_ppt_json_first(p, &t, &of))
			return false;
		/* Which of the two it is shows at its place where the JSON has no contents. */
		m->kind = !strcmp(of.tag, "FrontSeq") ? CTP_PPT_FRONT : !strcmp(of.tag, "BackSeq") ? CTP_PPT_BACK : CTP_PPT_KIND_COUNT;
	} else if (!strcmp(t.tag, "LKTypeDescrim")) {
		m->kind = CTP_PPT_FRAME_TYPE;
	} else if (!strcmp(t.tag, "LKPadding")) {
		m->kind = CTP_PPT_PADDING;
	} else {
		return ctp_ppt_json_wrong_value(p, "a kind of member that is not known");
	}
	return true;
}

static bool member_key(struct ctp_ppt_parse *p, void *arg, const char *key, struct ctp_json *j)
{
	struct ctp_ppt_member *m = arg;
	uint64_t n;
	if (!strcmp(key, "_lName"))
		return ctp_ppt_json_keep(p, j, &m->name);
	if (!strcmp(key, "_lType"))
		return take_type(p, j, m);
	if (!strcmp(key, "_lKind"))
		return take_kind(p, j, m);
	bool offset = !strcmp(key, "_lOffset");
	if (!offset && strcmp(key, "_lSize"))
		return ctp_json_skip(j);
	if (!ctp_ppt_json_number(p, j, CTP_PPT_FRAME_MAX, &n))
		return false;
	*(offset ? &m->offset : &m->size) = (uint32_t)n;
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

static bool check_member(struct ctp_ppt_parse *p, struct ctp_ppt_member *m)
{
	const char *lacks = !m->name ? "_lName" : m->type == CTP_PPT_TYPE_COUNT ? "_lType" : m->offset == UINT32_MAX ? "_lOffset" :
	                    !m->size ? "_lSize" : NULL;
	if (lacks)
		return ctp_ppt_json_wrong(p, "%s: lacks its %s", m->name ? m->name : "a member", lacks);
	if (m->kind == CTP_PPT_KIND_COUNT)
		m->kind = m->offset ? CTP_PPT_BACK : CTP_PPT_FRONT;
	if (m->kind != CTP_PPT_PADDING && !sized(m))
		return ctp_ppt_json_wrong(p, "%s: its size is not that of its type", m->name);
	if ((m->kind == CTP_PPT_FRONT || m->kind == CTP_PPT_BACK || m->kind == CTP_PPT_FRAME_TYPE) && m->size != 4)
		return ctp_ppt_json_wrong(p, "%s: a number of the frame, and has not 4 bytes", m->name);
	if (m->offset + m->size > CTP_PPT_FRAME_MAX)
		return ctp_ppt_json_wrong(p, "a frame is too large");
	return true;
}

static bool take_members(struct ctp_ppt_parse *p, struct ctp_json *j, struct ctp_ppt_frame *f)
{
	bool first = true;
	if (!ctp_json_take(j, '[') || f->members)
		return ctp_ppt_json_wrong_value(p, "a frame has no list of members, or two");
	for (uint32_t room = 0; ctp_json_next(j, ']', &first); f->nmembers++) {
		if (f->nmembers == room) {
			room = room ? 2 * room : 16;
			struct ctp_ppt_member *more = room > CTP_PPT_MEMBERS_MAX ? NULL : realloc(f->members, room * sizeof *more);
			if (!more)
				return ctp_ppt_json_wrong(p, "a frame has too many members");
			f->members = more;
		}
		struct ctp_ppt_member *m = &f->members[f->nmembers];
		*m = (struct ctp_ppt_member){.offset = UINT32_MAX, .type = CTP_PPT_TYPE_COUNT, .other = -1, .counter = -1};
		if (!ctp_ppt_json_walk(p, j, member_key, m) || !check_member(p, m))
			return false;
	}
	return j->p;
}

/* --- frames -------------------------------------------------------------------------------------------------------------- */

static bool frame_key(struct ctp_ppt_parse *p, void *arg, const char *key, struct ctp_json *j)
{
	struct ctp_ppt_frame *f = arg;
	if (!strcmp(key, "_flName"))
		return ctp_ppt_json_keep(p, j, &f->name);
	return !strcmp(key, "_flLayout") ? take_members(p, j, f) : ctp_json_skip(j);
}

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
static void find_base(struct ctp_ppt_parse *p, struct ctp_ppt_member *m)
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

static bool check_frame(struct ctp_ppt_parse *p, struct ctp_ppt_frame *f)
{
	int32_t at[CTP_PPT_KIND_COUNT] = {-1, -1, -1, -1, -1};
	if (!f->name || !f->members)
		return ctp_ppt_json_wrong(p, "%s: a frame without %s", f->name ? f->name : "frames", f->name ? "_flLayout" : "_flName");
	qsort(f->members, f->nmembers, sizeof *f->members, by_offset);
	f->align = 1;
	for (uint32_t i = 0; i < f->nmembers; i++) {
		struct ctp_ppt_member *m = &f->members[i];
		if (m->offset < f->size)
			return ctp_ppt_json_wrong(p, "%s: its member %s overlaps the one before", f->name, m->name);
		f->size = m->offset + m->size;
		if (c_align(m) > f->align)
			f->align = c_align(m);
		if (m->kind != CTP_PPT_MEMBER && m->kind != CTP_PPT_PADDING && at[m->kind] >= 0)
			return ctp_ppt_json_wrong(p, "%s: has a number of its own twice: %s", f->name, m->name);
		at[m->kind] = (int32_t)i;
		if (!m->base)
			find_base(p, m);
	}
	for (uint32_t i = 0; i < f->nmembers; i++)
		if (f->members[i].end == CTP_PPT_BEGIN)
			find_other(f, i);
	if (at[CTP_PPT_FRONT] < 0 || at[CTP_PPT_BACK] < 0)
		return ctp_ppt_json_wrong(p, "%s: lacks one of its two sequence numbers", f->name);
	f->stride = (f->size + f->align - 1) / f->align * f->align;
	f->front = (uint32_t)at[CTP_PPT_FRONT];
	f->back = (uint32_t)at[CTP_PPT_BACK];
	f->type = at[CTP_PPT_FRAME_TYPE];
	return true;
}

static bool take_frames(struct ctp_ppt_parse *p, struct ctp_json *j)
{
	struct ctp_ppt_layout *l = p->layout;
	bool first = true;
	if (!ctp_json_take(j, '[') || l->frames)
		return ctp_ppt_json_wrong_value(p, "frames are no list, or come twice");
	if (!(l->frames = calloc(CTP_PPT_FRAMES_MAX, sizeof *l->frames)))
		return ctp_ppt_json_wrong(p, "out of memory");
	while (ctp_json_next(j, ']', &first)) {
		if (l->nframes == CTP_PPT_FRAMES_MAX)
			return ctp_ppt_json_wrong(p, "too many frames");
		struct ctp_ppt_frame *f = &l->frames[l->nframes++];
		if (!ctp_ppt_json_walk(p, j, frame_key, f) || !check_frame(p, f))
			return false;
	}
	return j->p;
}

/* --- the buffer ---------------------------------------------------------------------------------------------------------- */

static bool buffer_key(struct ctp_ppt_parse *p, void *arg, const char *key, struct ctp_json *j)
{
	struct ctp_ppt_layout *l = arg;
	if (!strcmp(key, "ebName"))
		return ctp_ppt_json_keep(p, j, &l->buffer);
	if (!strcmp(key, "ebMinElements") && ctp_json_peek(j) != CTP_JSON_NULL)
		return ctp_ppt_json_number(p, j, UINT32_MAX, &l->min_elements);
	return ctp_json_skip(j);
}

static bool runtime_key(struct ctp_ppt_parse *p, void *arg, const char *key, struct ctp_json *j)
{
	if (!strcmp(key, "erMultithread"))
		((struct ctp_ppt_layout *)arg)->multithread = ctp_json_peek(j) == CTP_JSON_TRUE;
	(void)p;
	return ctp_json_skip(j);
}

static bool take_time(struct ctp_ppt_parse *p, struct ctp_json *j)
{
	static const struct { const char *tag, *clock; } clocks[] = {
		{"Realtime", "realtime"}, {"RealtimeCoarse", "realtime_coarse"}, {"Monotonic", "monotonic"},
		{"MonotonicCoarse", "monotonic_coarse"}, {"MonotonicRaw", "monotonic_raw"}, {"Boottime", "boottime"},
		{"ProcessCputime", "process_cputime"}, {"ProcessCputimeId", "process_cputime"}, {"ProcessCpuTime", "process_cputime"},
		{"ThreadCputime", "thread_cputime"}, {"ThreadCputimeId", "thread_cputime"}, {"ThreadCpuTime", "thread_cputime"},
		{"Tai", "tai"},
	};
	static const char prefix[] = "ETimeClock";
	struct ctp_ppt_tagged t, of;
	if (!ctp_ppt_json_tagged(p, j, &t) || !ctp_ppt_json_first(p, &t, &of))
		return false;
	p->layout->rep = !strcmp(t.tag, "ETimeVal") ? CTP_PPT_TIMEVAL : CTP_PPT_TIMESPEC;
	/* gettimeofday has no choice of clocks. */
	p->layout->clock = p->layout->rep == CTP_PPT_TIMEVAL ? "realtime" : "";
	const char *name = of.tag + (!strncmp(of.tag, prefix, sizeof prefix - 1) ? sizeof prefix - 1 : 0);
	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
		if (!strcmp(name, clocks[i].tag))
			p->layout->clock = clocks[i].clock;
	return true;
}

/* "option buffer resize on" of the document: no generator makes one. */
static bool take_options(struct ctp_ppt_parse *p, struct ctp_json *j)
{
	bool first = true;
	if (!ctp_json_take(j, '['))
		return ctp_json_skip(j);
	while (ctp_json_next(j, ']', &first)) {
		struct ctp_ppt_tagged t;
		if (ctp_json_peek(j) != CTP_JSON_OBJECT) {
			if (!ctp_json_skip(j))
				return false;
			continue;
		}
		if (!ctp_ppt_json_tagged(p, j, &t))
			return false;
		if (!strcmp(t.tag, "EBufferResize"))
			p->layout->resizable = t.contents.p && ctp_json_peek(&t.contents) == CTP_JSON_TRUE;
	}
	return j->p;
}

/* Tags stay JSON; an empty list is none. */
static bool take_tags(struct ctp_ppt_parse *p, struct ctp_json *j)
{
	ctp_json_peek(j);
	const char *from = j->p;
	if (!ctp_json_skip(j))
		return false;
	size_t len = (size_t)(j->p - from);
	if (len <= 2 || p->layout->tags_len)
		return true;
	p->layout->tags = memcpy(p->top, from, len);
	p->layout->tags_len = len;
	p->top[len] = '\0';
	p->top += len + 1;
	return true;
}

static bool take_language(struct ctp_ppt_parse *p, struct ctp_json *j)
{
	struct ctp_ppt_tagged t;
	if (!ctp_ppt_json_tagged(p, j, &t))
		return false;
	p->layout->by_header = !strcmp(t.tag, "ELangC");
	return true;
}

static bool emit_key(struct ctp_ppt_parse *p, void *arg, const char *key, struct ctp_json *j)
{
	if (!strcmp(key, "_eBuffer"))
		return ctp_ppt_json_walk(p, j, buffer_key, arg);
	if (!strcmp(key, "_eTimeRep"))
		return take_time(p, j);
	if (!strcmp(key, "_eOptions"))
		return take_options(p, j);
	if (!strcmp(key, "_eLanguage"))
		return take_language(p, j);
	if (!strcmp(key, "_eTags"))
		return take_tags(p, j);
	if (!strcmp(key, "_eRuntime") && ctp_json_peek(j) == CTP_JSON_OBJECT)
		return ctp_ppt_json_walk(p, j, runtime_key, arg);
	return ctp_json_skip(j);
}

static bool take_counters(struct ctp_ppt_parse *p, struct ctp_json *j)
{
	struct ctp_ppt_layout *l = p->layout;
	bool first = true;
	if (!ctp_json_take(j, '['))
		return ctp_json_skip(j);
	while (ctp_json_next(j, ']', &first)) {
		if (l->ncounters == CTP_PPT_COUNTERS_MAX)
			return ctp_ppt_json_wrong(p, "too many counters");
		if (!ctp_ppt_json_keep(p, j, &l->counters[l->ncounters++]))
			return false;
	}
	return j->p;
}

/* Of the first version. What a later one changes is not known, and so nothing of it is believed. */
static bool take_version(struct ctp_ppt_parse *p, struct ctp_json *j, const char *what, const char **version)
{
	if (!ctp_ppt_json_keep(p, j, version))
		return false;
	if (strcmp(*version, "1") && strncmp(*version, "1.", 2))
		return ctp_ppt_json_wrong(p, "its %s is %s, and 1.0.0 is known", what, *version);
	return true;
}

/* `_json` itself, what it has as "buffer" in ppt's own document, and the header of a file. */
static bool top_key(struct ctp_ppt_parse *p, void *arg, const char *key, struct ctp_json *j)
{
	const char *format; /* of a file */
	if (!strcmp(key, "frJson") || !strcmp(key, "buffer")) {
		if (ctp_json_peek(j) != CTP_JSON_OBJECT || p->nested == NESTED_MAX)
			return ctp_json_skip(j);
		p->nested++;
		bool ok = ctp_ppt_json_walk(p, j, top_key, arg);
		p->nested--;
		return ok;
	}
	if (!strcmp(key, "frCounters"))
		return take_counters(p, j);
	if (!strcmp(key, "abi"))
		return take_version(p, j, "abi", &p->layout->abi);
	if (!strcmp(key, "frFormat"))
		return take_version(p, j, "frFormat", &format);
	if (!strcmp(key, "emit"))
		return ctp_ppt_json_walk(p, j, emit_key, arg);
	if (!strcmp(key, "frames"))
		return take_frames(p, j);
	return !strcmp(key, "tags") ? take_tags(p, j) : ctp_json_skip(j);
}

static uint32_t offset_of(const struct ctp_ppt_frame *f, int32_t member) { return member < 0 ? UINT32_MAX : f->members[member].offset; }

static bool check_layout(struct ctp_ppt_parse *p)
{
	struct ctp_ppt_layout *l = p->layout;
	if (!l->buffer)
		return ctp_ppt_json_wrong(p, "emit._eBuffer.ebName: the buffer has no name");
	if (!l->nframes)
		return ctp_ppt_json_wrong(p, "the buffer has no frames");
	const struct ctp_ppt_frame *first = l->frames;
	l->stride = first->stride;
	for (uint32_t i = 0; i < l->nframes; i++) {
		const struct ctp_ppt_frame *f = &l->frames[i];
		if (l->nframes > 1 && f->type < 0)
			return ctp_ppt_json_wrong(p, "%s: has no type, and there are several frames", f->name);
		if (offset_of(f, f->type) != offset_of(first, first->type) ||
		    offset_of(f, (int32_t)f->front) != offset_of(first, (int32_t)first->front))
			return ctp_ppt_json_wrong(p, "%s: its numbers are not at the offsets that the first frame has", f->name);
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(f->name, l->frames[k].name))
				return ctp_ppt_json_wrong(p, "%s: two frames have the same name", f->name);
		l->size = f->size > l->size ? f->size : l->size;
		l->stride = f->stride > l->stride ? f->stride : l->stride;
	}
	return true;
}

/* Texts are decoded once, and a base can be another copy of a name. */
static size_t texts_bytes(size_t len) { return 2 * len + 1; }

struct ctp_ppt_layout *ctp_ppt_layout_parse(const char *json, size_t len, struct ctp_err *err)
{
	if (len > CTP_PPT_HEADER_MAX)
		return ctp_err_set(err, "the layout of the buffer: %zu bytes, and at most %d are read", len, CTP_PPT_HEADER_MAX), NULL;
	struct ctp_ppt_layout *l = calloc(1, sizeof *l);
	if (!l || !(l->texts = malloc(texts_bytes(len)))) {
		free(l);
		return ctp_err_set(err, "out of memory"), NULL;
	}
	l->abi = l->clock = l->tags = "";
	struct ctp_ppt_parse p = {.layout = l, .top = l->texts, .err = err};
	struct ctp_json j = {json, json + len};
	bool ok = ctp_ppt_json_walk(&p, &j, top_key, l) && (ctp_json_done(&j) || ctp_ppt_json_wrong(&p, "something follows the JSON")) &&
	          check_layout(&p);
	if (!ok) {
		ctp_ppt_layout_free(l);
		return NULL;
	}
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
