/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * meta.c - sections and classes to JSON text and back; see meta.h.
 *
 * Both are JSON objects. A walker calls a function for each key, and these functions nest as the objects do.
 */
#include "common/meta.h"

#include "base/map.h"
#include "base/text.h"
#include "common/bytes.h"

/* --- writing ------------------------------------------------------------------------------------------------------------- */

static void add_quoted(struct ctp_bytes *to, const char *before, const char *text, size_t len)
{
	ctp_bytes_text(to, before);
	char *p = ctp_bytes_reserve(to, CTP_JSON_GROWTH * len + 2);
	if (p)
		ctp_bytes_commit(to, ctp_json_quote(p, text, len));
}

static void add_text(struct ctp_bytes *to, const char *before, const char *text) { add_quoted(to, before, text, strlen(text)); }

static char *done(struct ctp_bytes *text, size_t *len)
{
	if (len)
		*len = text->len;
	return ctp_bytes_take(text);
}

char *ctp_meta_attrs(const struct ctp_section *sec, size_t *len)
{
	struct ctp_bytes to = {0};
	ctp_bytes_text(&to, "{");
	for (uint32_t i = 0; i < sec->nattrs; i++) {
		const struct ctp_attr *a = &sec->attrs[i];
		size_t bytes = strlen(a->name);
		bool list = bytes >= 2 && !strcmp(a->name + bytes - 2, "[]");
		bool goes_on = list && i > 0 && !strcmp(a->name, a[-1].name);
		bool will_go_on = list && i + 1 < sec->nattrs && !strcmp(a->name, a[1].name);
		if (i)
			ctp_bytes_text(&to, ",");
		if (!goes_on) {
			add_quoted(&to, "", a->name, bytes - (list ? 2 : 0));
			ctp_bytes_text(&to, list ? ":[" : ":");
		}
		add_text(&to, "", a->value);
		if (list && !will_go_on)
			ctp_bytes_text(&to, "]");
	}
	ctp_bytes_text(&to, "}");
	return done(&to, len);
}

char *ctp_meta_list(const struct ctp_section *sec, const char *name, size_t *len)
{
	struct ctp_bytes to = {0};
	for (uint32_t i = 0; i < sec->nattrs; i++)
		if (!strcmp(sec->attrs[i].name, name))
			add_text(&to, to.len ? "," : "[", sec->attrs[i].value);
	ctp_bytes_text(&to, to.len ? "]" : "");
	return done(&to, len);
}

uint64_t ctp_meta_mark(const char *attrs, const struct ctp_record *first)
{
	uint64_t mark = ctp_map_bytes(UINT64_C(0xcbf29ce484222325), attrs, strlen(attrs));
	for (uint32_t i = 0; first && i < first->cls->nfields; i++) {
		bool is_text = ctp_type_is_text(first->cls->fields[i].type);
		const struct ctp_str *text = is_text ? ctp_str_val(first->val[i]) : NULL;
		if (text)
			mark = ctp_map_bytes(mark, text->data, text->len);
		else if (!is_text)
			mark = ctp_map_bytes(mark, &first->val[i], sizeof first->val[i]);
	}
	return mark;
}

static void add_labels(struct ctp_bytes *to, const struct ctp_field *f)
{
	for (uint32_t i = 0; i < f->nlabels; i++) {
		char number[CTP_TEXT_MAX + 2] = ":";
		add_text(to, i ? "," : ",\"labels\":{", f->labels[i].name);
		*ctp_text_u64(number + 1, f->labels[i].value) = '\0';
		ctp_bytes_text(to, number);
	}
	if (f->nlabels)
		ctp_bytes_text(to, "}");
}

char *ctp_meta_class(const struct ctp_class *cls, size_t *len)
{
	struct ctp_bytes to = {0};
	add_text(&to, "{\"name\":", cls->name);
	add_text(&to, ",\"kind\":", ctp_kind_name(cls->kind));
	ctp_bytes_text(&to, ",\"fields\":[");
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *f = &cls->fields[i];
		add_text(&to, i ? ",{\"name\":" : "{\"name\":", f->name);
		add_text(&to, ",\"type\":", ctp_type_name(f->type));
		if (f->role)
			add_text(&to, ",\"role\":", ctp_role_name(f->role));
		if (f->pred)
			add_text(&to, ",\"pred\":", ctp_pred_name(f->pred));
		if (f->unit && f->unit[0])
			add_text(&to, ",\"unit\":", f->unit);
		if (f->flags & CTP_FIELD_HEX)
			ctp_bytes_text(&to, ",\"hex\":true");
		if (f->flags & CTP_FIELD_EXTRA)
			ctp_bytes_text(&to, ",\"extra\":true");
		add_labels(&to, f);
		ctp_bytes_text(&to, "}");
	}
	ctp_bytes_text(&to, "]}");
	return done(&to, len);
}

/* --- reading ------------------------------------------------------------------------------------------------------------- */

struct walk {
	struct ctp_json j;
	char *scratch; /* free from here on */
	struct ctp_err *why;
};

/* A text as a C string in scratch, which then begins after it; null: the value is no text, or holds a NUL. */
static const char *take_string(struct walk *w, bool is_key)
{
	char *s = w->scratch, *upto = is_key ? ctp_json_key(&w->j, s) : ctp_json_text(&w->j, s);
	if (!upto || memchr(s, '\0', (size_t)(upto - s)))
		return NULL;
	*upto = '\0';
	w->scratch = upto + 1;
	return s;
}

/* Calls `each` for each key of the object at hand; `each` skips the value. */
static bool walk_object(struct walk *w, bool (*each)(struct walk *w, const char *key, void *arg), void *arg)
{
	bool first = true;
	if (!ctp_json_take(&w->j, '{'))
		return false;
	while (ctp_json_next(&w->j, '}', &first)) {
		const char *key = take_string(w, true);
		if (!key || !each(w, key, arg))
			return false;
	}
	return w->j.p != NULL;
}

static enum ctp_status walk_text(const char *p, const char *end, char *scratch,
                                 bool (*each)(struct walk *w, const char *key, void *arg), void *arg, struct ctp_err *why)
{
	struct walk w = {{p, end}, scratch, why};
	ctp_err_set(why, "not a valid description of a section or class");
	return walk_object(&w, each, arg) && ctp_json_done(&w.j) ? CTP_OK : CTP_FAILED;
}

static bool take_bool(struct walk *w, bool *v)
{
	*v = ctp_json_peek(&w->j) == CTP_JSON_TRUE;
	return (*v || ctp_json_peek(&w->j) == CTP_JSON_FALSE) && ctp_json_skip(&w->j);
}

/* --- attributes ---------------------------------------------------------------------------------------------------------- */

static bool add_attr(struct walk *w, const char *name, struct ctp_section *sec)
{
	const char *value = take_string(w, false);
	if (!value)
		return false;
	if (ctp_section_repeats(sec, name) || ctp_section_add(sec, name, value)) /* the first counts */
		return true;
	ctp_err_set(w->why, "the section's attributes exceed a limit at \"%.40s\"", name);
	return false;
}

static bool each_attr(struct walk *w, const char *key, void *arg)
{
	if (ctp_json_peek(&w->j) != CTP_JSON_ARRAY)
		return add_attr(w, key, arg);
	/* The key stands last in scratch, so [] can be put after it. */
	memcpy(w->scratch - 1, "[]", 3);
	w->scratch += 2;
	bool first = true;
	ctp_json_take(&w->j, '[');
	while (ctp_json_next(&w->j, ']', &first))
		if (!add_attr(w, key, arg))
			return false;
	return w->j.p != NULL;
}

enum ctp_status ctp_meta_read_attrs(const char *p, const char *end, char *scratch, struct ctp_section *sec, struct ctp_err *why)
{
	return walk_text(p, end, scratch, each_attr, sec, why);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

struct schema {
	const char *name;
	unsigned kind;
	uint32_t nfields;
	struct ctp_field fields[CTP_FIELDS_MAX];
	struct ctp_label *labels; /* of all fields, while they are read; the fields get theirs when all are known */
	size_t nlabels, labels_room;
};

/* The number that has this name. */
static bool take_name(struct walk *w, const char *(*name_of)(unsigned), unsigned from, unsigned count, unsigned *number)
{
	const char *name = take_string(w, false);
	for (unsigned i = from; name && i < count; i++)
		if (!strcmp(name_of(i), name)) {
			*number = i;
			return true;
		}
	return false;
}

static bool each_label(struct walk *w, const char *key, void *arg)
{
	struct schema *s = arg;
	const char *from, *upto;
	struct ctp_field *f = &s->fields[s->nfields];
	if (f->nlabels == CTP_LABELS_MAX || !ctp_json_number(&w->j, &from, &upto))
		return false;
	f->nlabels++;
	s->labels[s->nlabels].name = key;
	return ctp_parse_u64(from, upto, &s->labels[s->nlabels++].value);
}

static bool each_of_field(struct walk *w, const char *key, void *arg)
{
	struct schema *s = arg;
	struct ctp_field *f = &s->fields[s->nfields];
	unsigned n = 0;
	bool set;
	if (!strcmp(key, "name"))
		return (f->name = take_string(w, false)) != NULL;
	if (!strcmp(key, "unit"))
		return (f->unit = take_string(w, false)) != NULL;
	if (!strcmp(key, "labels"))
		return !f->nlabels && walk_object(w, each_label, s);
	if (!strcmp(key, "type"))
		return take_name(w, ctp_type_name, CTP_U8, CTP_TYPE_COUNT, &n) && (f->type = (uint8_t)n, true);
	if (!strcmp(key, "role"))
		return take_name(w, ctp_role_name, 0, CTP_ROLE_COUNT_, &n) && (f->role = (uint8_t)n, true);
	if (!strcmp(key, "pred"))
		return take_name(w, ctp_pred_name, 0, CTP_PRED_COUNT, &n) && (f->pred = (uint8_t)n, true);
	if (!strcmp(key, "hex"))
		return take_bool(w, &set) && (f->flags |= set ? CTP_FIELD_HEX : 0, true);
	if (!strcmp(key, "extra"))
		return take_bool(w, &set) && (f->flags |= set ? CTP_FIELD_EXTRA : 0, true);
	return ctp_json_skip(&w->j);
}

static bool each_of_schema(struct walk *w, const char *key, void *arg)
{
	struct schema *s = arg;
	if (!strcmp(key, "name"))
		return (s->name = take_string(w, false)) != NULL;
	if (!strcmp(key, "kind"))
		return take_name(w, ctp_kind_name, 0, CTP_KIND_COUNT, &s->kind);
	if (strcmp(key, "fields"))
		return ctp_json_skip(&w->j);
	bool first = true;
	if (s->nfields || !ctp_json_take(&w->j, '['))
		return false;
	while (ctp_json_next(&w->j, ']', &first)) {
		if (s->nfields == CTP_FIELDS_MAX)
			return false;
		if (!CTP_ARRAY_RESERVE(s->labels, s->labels_room, s->nlabels + CTP_LABELS_MAX, SIZE_MAX) ||
		    !walk_object(w, each_of_field, s))
			return false;
		s->nfields++;
	}
	return w->j.p != NULL;
}

struct ctp_class *ctp_meta_read_class(const char *p, const char *end, char *scratch, struct ctp_err *why)
{
	struct schema s = {.kind = CTP_KIND_OTHER};
	struct ctp_class *cls = NULL;
	if (!walk_text(p, end, scratch, each_of_schema, &s, why) && s.name) {
		struct ctp_label *next = s.labels; /* the array no longer moves */
		for (uint32_t i = 0; i < s.nfields; next += s.fields[i++].nlabels)
			s.fields[i].labels = next;
		cls = ctp_class_new(s.name, (enum ctp_kind)s.kind, s.fields, s.nfields, why);
	}
	free(s.labels);
	return cls;
}
