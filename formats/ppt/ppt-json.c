/*
 * ppt-json.c - walks through Haskell's JSON.
 */
#include "ppt/ppt-json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ppt/ppt-layout.h"

bool ctp_ppt_json_wrong(struct ctp_ppt_parse *p, const char *fmt, ...)
{
	char what[256];
	va_list args;
	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	if (!p->said)
		ctp_err_set(p->err, "the layout of the buffer: %s", what);
	p->said = true;
	return false;
}

bool ctp_ppt_json_wrong_value(struct ctp_ppt_parse *p, const char *what)
{
	return ctp_ppt_json_wrong(p, "%s%s%s", p->key, p->key[0] ? ": " : "", what);
}

bool ctp_ppt_json_walk(struct ctp_ppt_parse *p, struct ctp_json *j, ctp_ppt_json_on_key *fn, void *arg)
{
	bool first = true;
	if (!ctp_json_take(j, '{'))
		return ctp_ppt_json_wrong_value(p, "an object is missing");
	while (ctp_json_next(j, '}', &first)) {
		char *end = ctp_json_key(j, p->top);
		if (!end)
			return ctp_ppt_json_wrong_value(p, "no JSON");
		*end = '\0';
		snprintf(p->key, sizeof p->key, "%.*s", (int)sizeof p->key - 1, p->top);
		if (!fn(p, arg, p->top, j))
			return ctp_ppt_json_wrong_value(p, "no JSON");
	}
	return j->p ? true : ctp_ppt_json_wrong_value(p, "no JSON");
}

bool ctp_ppt_json_keep(struct ctp_ppt_parse *p, struct ctp_json *j, const char **text)
{
	char *end = ctp_json_peek(j) == CTP_JSON_TEXT ? ctp_json_text(j, p->top) : NULL;
	if (!end)
		return ctp_ppt_json_wrong_value(p, "a text is missing");
	size_t len = (size_t)(end - p->top);
	if (!len || len > CTP_PPT_NAME_MAX || memchr(p->top, '\0', len))
		return ctp_ppt_json_wrong_value(p, "a name is empty or too long");
	*end = '\0';
	*text = p->top;
	p->top = end + 1;
	return true;
}

bool ctp_ppt_json_number(struct ctp_ppt_parse *p, struct ctp_json *j, uint64_t max, uint64_t *v)
{
	const char *from, *upto;
	if (ctp_json_peek(j) != CTP_JSON_NUMBER || !ctp_json_number(j, &from, &upto) || !ctp_parse_u64(from, upto, v) || *v > max)
		return ctp_ppt_json_wrong_value(p, "a number is missing or too large");
	return true;
}

static bool take_tag(struct ctp_ppt_parse *p, struct ctp_json *j, struct ctp_ppt_tagged *t)
{
	char *end = ctp_json_text(j, p->top);
	if (!end)
		return false;
	size_t len = (size_t)(end - p->top);
	if (len < CTP_PPT_TAG_BYTES) {
		memcpy(t->tag, p->top, len);
		t->tag[len] = '\0';
	}
	return true;
}

static bool tagged_key(struct ctp_ppt_parse *p, void *arg, const char *key, struct ctp_json *j)
{
	struct ctp_ppt_tagged *t = arg;
	enum ctp_json_kind kind = ctp_json_peek(j);
	if (!strcmp(key, "tag") && kind == CTP_JSON_TEXT)
		return take_tag(p, j, t);
	const char *from = j->p;
	bool contents = !strcmp(key, "contents");
	if (!ctp_json_skip(j))
		return false;
	if (contents)
		t->contents = (struct ctp_json){from, j->p};
	return true;
}

bool ctp_ppt_json_tagged(struct ctp_ppt_parse *p, struct ctp_json *j, struct ctp_ppt_tagged *t)
{
	*t = (struct ctp_ppt_tagged){0};
	switch (ctp_json_peek(j)) {
	case CTP_JSON_OBJECT:
		return ctp_ppt_json_walk(p, j, tagged_key, t);
	case CTP_JSON_TEXT:
		return take_tag(p, j, t);
	default:
		return ctp_json_skip(j);
	}
}

bool ctp_ppt_json_first(struct ctp_ppt_parse *p, const struct ctp_ppt_tagged *of, struct ctp_ppt_tagged *t)
{
	struct ctp_json j = of->contents;
	bool first = true;
	*t = (struct ctp_ppt_tagged){0};
	if (j.p && ctp_json_peek(&j) == CTP_JSON_ARRAY && (!ctp_json_take(&j, '[') || !ctp_json_next(&j, ']', &first)))
		return true;
	return !j.p || ctp_ppt_json_tagged(p, &j, t);
}
