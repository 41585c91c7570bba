/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* template.c - see template.h. */
#include "common/template.h"

#include <stdlib.h>

#include "base/digits.h"
#include "symbols/place-texts.h"

enum {
	VALUE = CTP_TEXT_MAX + 2, /* a number, and its quotes */
	SPARE = CTP_TEMPLATE_SHORT + VALUE, /* bytes after a text or a number that may be overwritten */
};

/* --- values without a bound ---------------------------------------------------------------------------------------------- */

static void put_label(struct ctp_output *out, const struct ctp_template_style *style, const struct ctp_field *f, uint64_t v)
{
	const char *label = ctp_value_label(f, v, style->quotes);
	if (label)
		style->text(out, label, strlen(label));
	else
		ctp_output_commit(out, ctp_text_u64(ctp_output_reserve(out, CTP_TEXT_MAX), v));
}

static void put_long(struct ctp_output *out, const struct ctp_template_style *style, const struct ctp_template_key *key, uint64_t v)
{
	if (key->form == CTP_FORM_ENUM) {
		put_label(out, style, key->field, v);
		return;
	}
	const struct ctp_str *s = ctp_str_val(v);
	if (!s || !s->len || key->form == CTP_FORM_TEXT) {
		style->text(out, s ? s->data : "", s ? s->len : 0);
		return;
	}
	ctp_output_put(out, "\"", style->quotes);
	ctp_value_put_hex(out, s->data, s->len);
	ctp_output_put(out, "\"", style->quotes);
}

/* --- values with one ----------------------------------------------------------------------------------------------------- */

static char *put_float(char *p, unsigned form, uint64_t v, bool quotes)
{
	double d = ctp_val_double(form == CTP_FORM_F32 ? CTP_F32 : CTP_F64, v);
	bool quoted = quotes && d - d != 0; /* not finite */
	*p = '"';
	p += quoted;
	p = form == CTP_FORM_F32 ? ctp_text_float(p, (float)d) : ctp_text_double(p, d);
	*p = '"';
	return p + quoted;
}

/* p is after the fixed text. */
static char *put_place(char *p, const struct ctp_template *t, const struct ctp_template_key *key, uint64_t v)
{
	const struct ctp_sites_text *text = ctp_place_texts_find(t->texts, key->field, v);
	if (!text)
		return t->style->omits ? p - key->before.len : p;
	memcpy(p, text->data, text->len);
	return p + text->len;
}

static inline char *put_value(char *p, const struct ctp_template *t, struct ctp_template_key *key, uint64_t v, bool quotes)
{
	static const char words[2][8] = {"false", "true"}; /* looked up, because a branch on it would be mispredicted */
	switch (key->form) {
	case CTP_FORM_UNSIGNED:
		return ctp_text_u64_near(p, v, &key->near);
	case CTP_FORM_SIGNED:
		return ctp_text_i64(p, (int64_t)v);
	case CTP_FORM_HEX:
		*p = '"';
		p = ctp_text_hex16(p + quotes, v);
		*p = '"';
		return p + quotes;
	case CTP_FORM_BOOL:
		memcpy(p, words[v != 0], 8);
		return p + 5 - (v != 0);
	case CTP_FORM_WALL:
		return ctp_value_put_wall(p, v, t->wall_offset_ns);
	case CTP_FORM_PLACE:
		return put_place(p, t, key, v);
	default:
		return put_float(p, key->form, v, quotes);
	}
}

/* --- rows ---------------------------------------------------------------------------------------------------------------- */

/* Fixed texts are short: a fixed number of bytes is quicker to copy than the right number. */
static inline char *put_text(char *p, const struct ctp_template_text *text)
{
	memcpy(p, text->data, CTP_TEMPLATE_SHORT);
	if (text->len > CTP_TEMPLATE_SHORT)
		memcpy(p + CTP_TEMPLATE_SHORT, text->data + CTP_TEMPLATE_SHORT, text->len - CTP_TEMPLATE_SHORT);
	return p + text->len;
}

static inline char *put_bounded(char *p, struct ctp_template *t, const uint64_t *val)
{
	bool quotes = t->style->quotes;
	for (struct ctp_template_key *key = t->keys, *end = key + t->nkeys; key < end; key++)
		p = put_value(put_text(p, &key->before), t, key, val[key->index], quotes);
	return p;
}

static void put_unbounded(struct ctp_output *out, struct ctp_template *t, const uint64_t *val)
{
	for (struct ctp_template_key *key = t->keys, *end = key + t->nkeys; key < end; key++) {
		char *p = put_text(ctp_output_reserve(out, key->before.len + CTP_SITE_SPELLED_MAX + SPARE), &key->before);
		if (key->form < CTP_FORM_ENUM) {
			ctp_output_commit(out, put_value(p, t, key, val[key->index], t->style->quotes));
		} else {
			ctp_output_commit(out, p);
			put_long(out, t->style, key, val[key->index]);
		}
	}
}

void ctp_template_put(struct ctp_template *t, struct ctp_output *out, const struct ctp_record *rec, uint32_t n, bool late)
{
	const struct ctp_template_text *tail = late ? &t->late_tail : &t->tail;
	assert(t->room); /* ctp_template_measure was called */
	for (const struct ctp_record *end = rec + n; rec < end; rec++) {
		char *p;
		if (t->texts)
			ctp_place_texts_learn(t->texts, rec);
		if (t->bounded) {
			p = put_bounded(ctp_output_reserve(out, t->room), t, rec->val);
		} else {
			put_unbounded(out, t, rec->val);
			p = ctp_output_reserve(out, tail->len + SPARE);
		}
		ctp_output_commit(out, put_text(p, tail));
	}
}

/* --- making -------------------------------------------------------------------------------------------------------------- */

struct ctp_template *ctp_template_new(uint32_t nkeys_max, size_t text_bytes, char **text)
{
	struct ctp_template *t = calloc(1, sizeof *t + nkeys_max * sizeof t->keys[0] + text_bytes + CTP_TEMPLATE_SHORT);
	if (t)
		*text = (char *)(t->keys + nkeys_max);
	return t;
}

static struct ctp_template_match match_of(const struct ctp_template_key *key)
{
	bool fits = key->form == CTP_FORM_BOOL || key->form == CTP_FORM_PLACE ||
	            (key->field->type == CTP_U64 && (key->form == CTP_FORM_UNSIGNED || key->form == CTP_FORM_HEX));
	struct ctp_template_match m = {
		.digits = 0x3131313131313131, .number = key->form == CTP_FORM_HEX ? (uint64_t)0x11111111 << 32 : 11111111,
		.form = fits ? key->form : (uint8_t)CTP_FORM_TEXT,
	};
	m.first = ctp_digits_load(key->before.data); /* the template's memory goes on */
	m.mask = key->before.len < 8 ? ~(UINT64_MAX << 8 * key->before.len) : UINT64_MAX;
	return m;
}

void ctp_template_measure(struct ctp_template *t)
{
	assert(t->style && t->tail.len && t->late_tail.len);
	t->room = t->tail.len + t->late_tail.len + SPARE;
	t->bounded = true;
	for (struct ctp_template_key *key = t->keys; key < t->keys + t->nkeys; key++) {
		key->match = match_of(key);
		t->longest = key->before.len > t->longest ? key->before.len : t->longest;
		t->room += key->before.len + (key->form == CTP_FORM_PLACE ? CTP_SITE_SPELLED_MAX : VALUE);
		t->bounded &= key->form < CTP_FORM_ENUM;
	}
	t->bounded &= t->room <= CTP_OUTPUT_ROOM;
}

void ctp_templates_forget(struct ctp_templates *ts)
{
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++)
		free(ts->of[i].row);
	*ts = (struct ctp_templates){0};
}

void ctp_templates_declare(struct ctp_templates *ts, struct ctp_templates_class *c)
{
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++)
		if (ts->of[i].declared && !strcmp(ts->of[i].cls->name, c->cls->name))
			ts->of[i].declared = false;
	c->declared = true;
}
