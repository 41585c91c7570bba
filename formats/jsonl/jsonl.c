/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* jsonl.c - the template of a class, which the writer and the reader of JSONL share. */
#include "jsonl/jsonl.h"

#include <stdio.h>

#include "common/json.h"
#include "symbols/sites.h"

bool ctp_jsonl_field_reserved(const char *name) { return name[0] == '@' || !strcmp(name, "type") || !strcmp(name, "late"); }

/* A name in quotes, with the @ that it may need. */
static char *put_name(char *p, const char *name, bool reserved)
{
	char full[CTP_NAME_MAX + 2];
	size_t len = strlen(name);
	full[0] = '@';
	memcpy(full + 1, name, len);
	return ctp_json_quote(p, full + !reserved, len + reserved);
}

/* The text [from, p) belongs to the next key. */
struct maker {
	struct ctp_template *t;
	char *from, *p;
};

static void put_key(struct maker *m, const struct ctp_class *cls, uint32_t index, enum ctp_form form)
{
	const struct ctp_field *f = &cls->fields[index];
	char name[CTP_NAME_MAX + sizeof CTP_SITE_SUFFIX];
	snprintf(name, sizeof name, "%s%s", f->name, form == CTP_FORM_PLACE ? CTP_SITE_SUFFIX : "");
	if (m->p[-1] != '{')
		*m->p++ = ',';
	m->p = put_name(m->p, name, ctp_jsonl_field_reserved(name));
	*m->p++ = ':';
	m->t->keys[m->t->nkeys++] = (struct ctp_template_key){
		.before = {m->from, (uint32_t)(m->p - m->from)}, .field = f, .index = index, .form = (uint8_t)form,
	};
	m->from = m->p;
}

/* Both tails begin with the head if the class has no fields. */
static void put_tails(struct maker *m, bool all)
{
	size_t head = (size_t)(m->p - m->from);
	char *end = stpcpy(m->p, "}\n"), *late = mempcpy(end, m->from, head);
	m->t->tail = (struct ctp_template_text){m->from, (uint32_t)(end - m->from)};
	m->p = stpcpy(late, all ? ",\"late\":true}\n" : "}\n");
	m->t->late_tail = (struct ctp_template_text){end, (uint32_t)(m->p - end)};
}

struct ctp_template *ctp_jsonl_template(const struct ctp_class *cls, bool all, bool symbols, struct ctp_place_texts *texts)
{
	static const struct ctp_template_style style = {.text = ctp_json_put, .quotes = true, .omits = true};
	enum { FIXED = 16 + CTP_JSON_GROWTH };
	size_t text_bytes = 2 * (CTP_JSON_GROWTH * strlen(cls->name) + 2 * FIXED);
	for (uint32_t i = 0; i < cls->nfields; i++)
		text_bytes += 2 * (CTP_JSON_GROWTH * strlen(cls->fields[i].name) + 2 * FIXED);
	struct maker m;
	m.t = ctp_template_new(2 * cls->nfields, text_bytes, &m.from);
	if (!m.t)
		return NULL;
	m.t->style = &style;
	m.t->texts = texts;
	m.p = m.from;
	*m.p++ = '{';
	if (all)
		m.p = put_name(stpcpy(m.p, "\"type\":"), cls->name, cls->name[0] == '@');
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *f = &cls->fields[i];
		if (!all && f->flags & CTP_FIELD_EXTRA)
			continue;
		put_key(&m, cls, i, ctp_form_of(f));
		if (all && ctp_site_shown(cls, i) && (symbols || f->role == CTP_ROLE_SITE))
			put_key(&m, cls, i, CTP_FORM_PLACE);
	}
	put_tails(&m, all);
	ctp_template_measure(m.t);
	return m.t;
}
