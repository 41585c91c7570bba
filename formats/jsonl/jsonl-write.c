/*
 * jsonl-write.c - a sink that writes JSONL; see jsonl.h for the form.
 *
 * What a row has before each value was made when its class was first seen, so that a record is a few copies and the numbers
 * between them, and the room for it is asked for once for each field at most.
 */
#include "jsonl/jsonl.h"

#include <stdlib.h>

#include "base/text.h"
#include "common/json.h"
#include "common/meta.h"
#include "common/value.h"
#include "symbols/place-texts.h"

struct jsonl_sink {
	struct ctp_sink sink;
	struct ctp_output *out;
	bool all, symbols;
	struct ctp_place_texts *texts; /* of the full form */
	struct known { /* the section's classes, by id */
		struct ctp_jsonl_layout *layout;
		struct ctp_text_near *near; /* one for each key */
		const struct ctp_class *cls;
		bool declared; /* and no other of its name since */
	} known[CTP_CLASSES_MAX];
};

static void put(struct ctp_output *out, const char *text) { ctp_output_put(out, text, strlen(text)); }

/* A text of meta.h's behind `before`, without its first `skip` bytes; it is freed. */
static void put_meta(struct jsonl_sink *s, const char *before, char *text, size_t skip, size_t len, const char *behind)
{
	if (!text) {
		s->out->failed = true;
		ctp_err_set(&s->out->err, "%s: out of memory", s->out->name);
		return;
	}
	put(s->out, before);
	ctp_output_put(s->out, text + skip, len - skip);
	put(s->out, behind);
	free(text);
}

static enum ctp_status outcome(const struct jsonl_sink *s, struct ctp_err *err)
{
	if (!s->out->failed)
		return CTP_OK;
	*err = s->out->err;
	return CTP_FAILED;
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

static void forget_classes(struct jsonl_sink *s)
{
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++) {
		free(s->known[i].layout);
		free(s->known[i].near);
		s->known[i] = (struct known){0};
	}
}

static enum ctp_status write_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	forget_classes(s);
	size_t len;
	if (s->all) {
		ctp_place_texts_forget(s->texts);
		char *attrs = ctp_meta_attrs(sec, &len);
		put_meta(s, "{\"type\":\"@section\",\"attrs\":", attrs, 0, len, "}\n");
	}
	return outcome(s, err);
}

static enum ctp_status write_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	if (s->all)
		put(s->out, end->complete ? "{\"type\":\"@end\",\"complete\":true}\n" : "{\"type\":\"@end\",\"complete\":false}\n");
	return outcome(s, err);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

/* A row's type must mean the class that was declared last under that name, also where a section has two of them. */
static void declare(struct jsonl_sink *s, struct known *k)
{
	for (size_t i = 0; i < CTP_CLASSES_MAX; i++)
		if (s->known[i].declared && !strcmp(s->known[i].cls->name, k->cls->name))
			s->known[i].declared = false;
	size_t len;
	char *text = ctp_meta_class(k->cls, &len);
	put_meta(s, "{\"type\":\"@schema\",", text, 1, len, "\n");
	k->declared = true;
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

/* A label stands for the value only if reading it gives the value back: two values may have the same name. */
static void put_enum(struct ctp_output *out, const struct ctp_field *f, uint64_t v)
{
	const char *label = ctp_field_label(f, v);
	for (uint32_t i = 0; label && i < f->nlabels; i++)
		if (!strcmp(f->labels[i].name, label)) {
			if (f->labels[i].value != v)
				label = NULL;
			break;
		}
	if (label)
		ctp_json_put(out, label, strlen(label));
	else
		ctp_output_commit(out, ctp_text_u64(ctp_output_reserve(out, CTP_TEXT_MAX), v));
}

static void put_bytes(struct ctp_output *out, const char *data, size_t len)
{
	put(out, "\"");
	ctp_value_put_hex(out, data, len);
	put(out, "\"");
}

static char *put_double(char *p, unsigned form, uint64_t v)
{
	double d = ctp_val_double(form == CTP_FORM_F32 ? CTP_F32 : CTP_F64, v);
	bool quoted = d - d != 0; /* not finite: JSON has no number for it */
	*p = '"';
	p += quoted;
	p = form == CTP_FORM_F32 ? ctp_text_float(p, (float)d) : ctp_text_double(p, d);
	*p = '"';
	return p + quoted;
}

/* What has no bound that a row's room could count on. */
static void put_long(struct ctp_output *out, const struct ctp_jsonl_key *key, uint64_t v)
{
	if (key->form == CTP_FORM_ENUM) {
		put_enum(out, key->field, v);
		return;
	}
	const struct ctp_str *s = ctp_str_val(v);
	(key->form == CTP_FORM_TEXT ? ctp_json_put : put_bytes)(out, s ? s->data : "", s ? s->len : 0);
}

static inline char *put_value(char *p, const struct ctp_jsonl_key *key, uint64_t v, struct ctp_text_near *near)
{
	static const char words[2][8] = {"false", "true"}; /* looked up: whether a coroutine runs is nothing to be guessed */
	switch (key->form) {
	case CTP_FORM_UNSIGNED:
		return ctp_text_u64_near(p, v, near);
	case CTP_FORM_SIGNED:
		return ctp_text_i64(p, (int64_t)v);
	case CTP_FORM_HEX:
		*p++ = '"';
		p = ctp_text_hex16(p, v);
		*p++ = '"';
		return p;
	case CTP_FORM_BOOL:
		memcpy(p, words[v != 0], 8);
		return p + 5 - (v != 0);
	default:
		return put_double(p, key->form, v);
	}
}

/* What stands before a value. Keys are short: a fixed number of bytes is quicker to copy than the right number. */
static inline char *put_key(char *p, const struct ctp_jsonl_key *key)
{
	memcpy(p, key->text, CTP_JSONL_SHORT);
	if (key->len > CTP_JSONL_SHORT)
		memcpy(p + CTP_JSONL_SHORT, key->text + CTP_JSONL_SHORT, key->len - CTP_JSONL_SHORT);
	return p + key->len;
}

/* What the place is, where that is known. */
static char *put_place(char *p, const struct ctp_jsonl_key *key, struct ctp_place_texts *texts, uint64_t v)
{
	const struct ctp_sites_text *text = ctp_place_texts_find(texts, key->field, v);
	if (!text)
		return p;
	memcpy(p, key->site_text, key->site_len);
	memcpy(p + key->site_len, text->data, text->len);
	return p + key->site_len + text->len;
}

/* A row whose room is known. */
static inline char *put_bounded(char *p, const struct known *k, struct ctp_place_texts *texts, const uint64_t *val)
{
	struct ctp_text_near *near = k->near;
	for (const struct ctp_jsonl_key *key = k->layout->keys, *end = key + k->layout->nkeys; key < end; key++, near++) {
		p = put_value(put_key(p, key), key, val[key->index], near);
		if (key->site_text)
			p = put_place(p, key, texts, val[key->index]);
	}
	return p;
}

static void put_unbounded(struct ctp_output *out, const struct known *k, struct ctp_place_texts *texts, const uint64_t *val)
{
	struct ctp_text_near *near = k->near;
	for (const struct ctp_jsonl_key *key = k->layout->keys, *end = key + k->layout->nkeys; key < end; key++, near++) {
		char *p = put_key(ctp_output_reserve(out, key->len + CTP_JSONL_SHORT + CTP_JSONL_VALUE), key);
		if (key->form < CTP_FORM_ENUM) {
			ctp_output_commit(out, put_value(p, key, val[key->index], near));
		} else {
			ctp_output_commit(out, p);
			put_long(out, key, val[key->index]);
		}
		if (key->site_text) {
			p = ctp_output_reserve(out, key->site_len + CTP_SITE_SPELLED_MAX);
			ctp_output_commit(out, put_place(p, key, texts, val[key->index]));
		}
	}
}

static void put_row(const struct jsonl_sink *s, const struct known *k, const struct ctp_record *rec, bool late)
{
	const struct ctp_jsonl_layout *layout = k->layout;
	struct ctp_output *out = s->out;
	char *p;
	if (!layout->nkeys)
		ctp_output_put(out, layout->head, layout->head_bytes);
	if (layout->bounded) {
		p = put_bounded(ctp_output_reserve(out, layout->room + CTP_JSONL_SPARE), k, s->texts, rec->val);
	} else {
		put_unbounded(out, k, s->texts, rec->val);
		p = ctp_output_reserve(out, CTP_JSONL_SPARE);
	}
	if (s->all && late) {
		memcpy(p, ",\"late\":true", 12);
		p += 12;
	}
	memcpy(p, "}\n", 2);
	ctp_output_commit(out, p + 2);
}

/* The first record of a class: from here on its layout is known. */
static enum ctp_status meet(struct jsonl_sink *s, struct known *k, const struct ctp_class *cls, struct ctp_err *err)
{
	k->cls = cls;
	k->layout = ctp_jsonl_layout_new(cls, s->all, s->symbols);
	k->near = calloc(cls->nfields + 1, sizeof *k->near);
	return k->layout && k->near ? CTP_OK : ctp_err_set(err, "%s: out of memory", s->out->name);
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	for (const struct ctp_record *rec = batch->rec, *end = rec + batch->n; rec < end; rec++) {
		struct known *k = &s->known[rec->cls->id];
		if (!s->all && rec->cls->kind != CTP_KIND_TRANSITION)
			continue;
		if (!k->layout && meet(s, k, rec->cls, err))
			return CTP_FAILED;
		if (s->all && !k->declared)
			declare(s, k);
		if (s->all)
			ctp_place_texts_learn(s->texts, rec);
		put_row(s, k, rec, batch->late);
	}
	return outcome(s, err);
}

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	ctp_output_flush(s->out);
	return outcome(s, err);
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	return ctp_output_close(s->out, err);
}

static void free_sink(struct ctp_sink *sink)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	forget_classes(s);
	ctp_place_texts_free(s->texts);
	ctp_output_abandon(s->out);
	free(s);
}

static const struct ctp_sink_ops ops = {
	.section = write_section,
	.records = write_records,
	.flush = flush,
	.end = write_end,
	.finish = finish,
	.free = free_sink,
};

struct ctp_sink *ctp_jsonl_sink(struct ctp_output *out, bool all, struct ctp_symbols *symbols, struct ctp_err *err)
{
	_Static_assert(CTP_JSON_GROWTH * CTP_SITE_TEXT_MAX + 2 <= CTP_SITE_SPELLED_MAX, "a place's text, quoted, has room");
	struct jsonl_sink *s = calloc(1, sizeof *s);
	struct ctp_place_texts *texts = all ? ctp_place_texts_new(ctp_json_quote, symbols) : NULL;
	if (!s || (all && !texts)) {
		ctp_err_set(err, "%s: out of memory", out->name);
		ctp_output_abandon(out);
		ctp_place_texts_free(texts);
		free(s);
		return NULL;
	}
	s->sink.ops = &ops;
	s->out = out;
	s->all = all;
	s->symbols = symbols;
	s->texts = texts;
	return &s->sink;
}
