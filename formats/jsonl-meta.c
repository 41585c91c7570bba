/*
 * jsonl-meta.c - the lines of the full form that are not records.
 *
 * All three are objects; a small walker calls back for each key, and the callbacks nest as the objects do. Keys that nobody
 * asks for are passed over, so that a later version may say more.
 */
#include "jsonl-meta.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "text.h"

struct walk {
	struct ctp_json j;
	char *scratch; /* free from here on */
	struct ctp_err *why;
};

/* A text as a C string in scratch, which moves on behind it; null if it is none or holds a NUL. */
static const char *take_string(struct walk *w, bool is_key)
{
	char *s = w->scratch, *upto = is_key ? ctp_json_key(&w->j, s) : ctp_json_text(&w->j, s);
	if (!upto || memchr(s, '\0', (size_t)(upto - s)))
		return NULL;
	*upto = '\0';
	w->scratch = upto + 1;
	return s;
}

/* Calls each for the value behind each key of the object at hand; each takes the value. */
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

static enum ctp_status walk_line(const char *p, const char *end, char *scratch,
                                 bool (*each)(struct walk *w, const char *key, void *arg), void *arg, struct ctp_err *why)
{
	struct walk w = {{p, end}, scratch, why};
	ctp_err_set(why, "not what this type of line should say");
	return walk_object(&w, each, arg) && ctp_json_done(&w.j) ? CTP_OK : CTP_FAILED;
}

static bool take_bool(struct walk *w, bool *v)
{
	*v = ctp_json_peek(&w->j) == CTP_JSON_TRUE;
	return (*v || ctp_json_peek(&w->j) == CTP_JSON_FALSE) && ctp_json_skip(&w->j);
}

/* --- section ------------------------------------------------------------------------------------------------------------- */

static bool add_attr(struct walk *w, const char *name, struct ctp_section *sec)
{
	const char *value = take_string(w, false);
	if (!value)
		return false;
	if (ctp_section_add(sec, name, value))
		return true;
	ctp_err_set(w->why, "the section's attributes exceed a limit at \"%.40s\"", name);
	return false;
}

static bool each_attr(struct walk *w, const char *key, void *arg)
{
	if (ctp_json_peek(&w->j) != CTP_JSON_ARRAY)
		return add_attr(w, key, arg);
	/* The key is the last thing in scratch, so the [] of its elements can follow it. */
	memcpy(w->scratch - 1, "[]", 3);
	w->scratch += 2;
	bool first = true;
	ctp_json_take(&w->j, '[');
	while (ctp_json_next(&w->j, ']', &first))
		if (!add_attr(w, key, arg))
			return false;
	return w->j.p != NULL;
}

static bool each_of_section(struct walk *w, const char *key, void *arg)
{
	return strcmp(key, "attrs") ? ctp_json_skip(&w->j) : walk_object(w, each_attr, arg);
}

enum ctp_status ctp_jsonl_read_section(const char *p, const char *end, char *scratch, struct ctp_section *sec,
                                       struct ctp_err *why)
{
	return walk_line(p, end, scratch, each_of_section, sec, why);
}

/* --- schema -------------------------------------------------------------------------------------------------------------- */

struct schema {
	const char *name;
	unsigned kind;
	uint32_t nfields;
	struct ctp_field fields[CTP_FIELDS_MAX];
	struct ctp_label *labels; /* of all fields, while they are read; NULL in fields until then */
	size_t nlabels;
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
		struct ctp_label *labels = realloc(s->labels, (s->nlabels + CTP_LABELS_MAX) * sizeof *labels);
		if (!labels)
			return false;
		s->labels = labels;
		if (!walk_object(w, each_of_field, s))
			return false;
		s->nfields++;
	}
	return w->j.p != NULL;
}

struct ctp_class *ctp_jsonl_read_schema(const char *p, const char *end, char *scratch, struct ctp_err *why)
{
	struct schema s = {.kind = CTP_KIND_OTHER};
	struct ctp_class *cls = NULL;
	if (!walk_line(p, end, scratch, each_of_schema, &s, why) && s.name) {
		struct ctp_label *next = s.labels; /* only now: it no longer moves */
		for (uint32_t i = 0; i < s.nfields; next += s.fields[i++].nlabels)
			s.fields[i].labels = next;
		cls = ctp_class_new(s.name, (enum ctp_kind)s.kind, s.fields, s.nfields, why);
	}
	free(s.labels);
	return cls;
}

/* --- end ----------------------------------------------------------------------------------------------------------------- */

static bool each_of_end(struct walk *w, const char *key, void *arg)
{
	return strcmp(key, "complete") ? ctp_json_skip(&w->j) : take_bool(w, arg);
}

enum ctp_status ctp_jsonl_read_end(const char *p, const char *end, char *scratch, bool *complete, struct ctp_err *why)
{
	*complete = false;
	return walk_line(p, end, scratch, each_of_end, complete, why);
}
