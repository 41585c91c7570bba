/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* jsonl-row.c - one line of JSONL to the values of one record; see jsonl-row.h. */
#include "jsonl/jsonl-row.h"

#include <math.h>

#include "base/digits.h"
#include "base/pages.h"
#include "base/text.h"
#include "common/json.h"
#include "stream/codec.h"

/* A text takes its bytes, a length, a NUL and padding; a record has at most CTP_FIELDS_MAX texts. */
enum { TEXT_ROOM = CTP_JSONL_LINE_MAX + (CTP_FIELDS_MAX + 1) * 16 };

enum ctp_status ctp_jsonl_row_init(struct ctp_jsonl_row *row, struct ctp_err *err)
{
	row->used = 0;
	row->text = ctp_pages_new(TEXT_ROOM);
	return row->text ? CTP_OK : ctp_err_memory(err);
}

void ctp_jsonl_row_fini(struct ctp_jsonl_row *row) { ctp_pages_free(row->text, TEXT_ROOM); }

/* --- values -------------------------------------------------------------------------------------------------------------- */

/* The text at j as a new string of the record. */
static struct ctp_str *take_str(struct ctp_jsonl_row *row, struct ctp_json *j)
{
	struct ctp_str *s = (struct ctp_str *)(row->text + row->used);
	char *upto = ctp_json_text(j, s->data);
	if (!upto || upto - s->data > CTP_STRING_MAX)
		return NULL;
	*upto = '\0';
	s->len = (uint32_t)(upto - s->data);
	return s;
}

/* A value in quotes, for the fields that may have one. */
static bool take_text(struct ctp_jsonl_row *row, struct ctp_json *j, const struct ctp_template_key *key, uint64_t *v)
{
	struct ctp_str *s = take_str(row, j);
	if (!s)
		return false;
	switch (key->form) {
	case CTP_FORM_BYTES:
		if (!ctp_value_unhex(s))
			return false;
		/* fall through */
	case CTP_FORM_TEXT:
		row->used += (sizeof *s + s->len + 1 + 7) & ~(size_t)7;
		*v = ctp_val_str(s);
		return row->used <= CTP_RECORD_TEXT_MAX;
	case CTP_FORM_ENUM:
		for (uint32_t i = 0; i < key->field->nlabels; i++)
			if (!strcmp(key->field->labels[i].name, s->data) && strlen(s->data) == s->len) {
				*v = key->field->labels[i].value;
				return true;
			}
		return false;
	case CTP_FORM_F32:
	case CTP_FORM_F64:
		*v = ctp_double_val(key->field->type, !strcmp(s->data, "NaN") ? NAN : s->data[0] == '-' ? -INFINITY : INFINITY);
		return !strcmp(s->data, "NaN") || !strcmp(s->data + (s->data[0] == '-'), "Infinity");
	case CTP_FORM_BOOL:
		return false;
	default:
		return s->len > 2 && s->data[0] == '0' && ctp_value_parse(key->field, key->form, s->data, s->data + s->len, v);
	}
}

static bool take_value(struct ctp_jsonl_row *row, struct ctp_json *j, const struct ctp_template_key *key, uint64_t *v)
{
	const char *from, *upto;
	enum ctp_json_kind kind = ctp_json_peek(j);
	switch (kind) {
	case CTP_JSON_TEXT:
		return take_text(row, j, key, v);
	case CTP_JSON_TRUE:
	case CTP_JSON_FALSE:
		*v = kind == CTP_JSON_TRUE;
		return key->form == CTP_FORM_BOOL && ctp_json_skip(j);
	case CTP_JSON_NUMBER:
		if (key->form == CTP_FORM_TEXT || key->form == CTP_FORM_BYTES)
			return false;
		return ctp_json_number(j, &from, &upto) && ctp_value_parse(key->field, key->form, from, upto, v);
	default:
		return false;
	}
}

/* --- a row as ctp-tojsonl writes it -------------------------------------------------------------------------------------- */

/* The end of more than sixteen digits, whose number may not fit. */
static const char *long_digits(const char *p, const char *limit, uint64_t *v)
{
	const char *from = p;
	while (p < limit && *p >= '0' && *p <= '9')
		p++;
	return ctp_parse_u64(from, p, v) ? p : NULL;
}

/* The end of the decimal digits at p. Null: there are none, the first of several is 0, or the number is too large. */
static inline const char *quick_digits(const char *p, const char *limit, struct ctp_template_match *match, uint64_t *v)
{
	static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
	const char *from = p;
	uint64_t n = 0, word = ctp_digits_load(p), values = word ^ CTP_DIGITS_ZEROS, others = 0;
	if (word != match->digits) {
		others = ctp_digits_others(values);
		if (*p == '0')
			return *v = 0, others & 0xff00 ? p + 1 : NULL;
		if (!others) {
			match->digits = word;
			match->number = ctp_digits_join(values);
		}
	}
	if (!others) {
		n = match->number;
		p += 8;
		values = ctp_digits_load(p) ^ CTP_DIGITS_ZEROS;
		others = ctp_digits_others(values);
		if (!others)
			return long_digits(from, limit, v);
	}
	unsigned count = (unsigned)__builtin_ctzll(others) / 8;
	*v = n * power[count] + ctp_digits_join(values << (56 - 8 * count) << 8);
	p += count;
	return p == from ? NULL : p;
}

/* The same for "0x and 16 digits" in quotes. */
static inline const char *quick_hex(const char *p, struct ctp_template_match *match, uint64_t *v)
{
	static const uint64_t head = 0x783022; /* the letters of "0x, the last first */
	uint64_t word = ctp_digits_load(p + 3);
	uint32_t high, low;
	if (word != match->digits) {
		if (!ctp_digits_join_hex(word, &high))
			return NULL;
		match->digits = word;
		match->number = (uint64_t)high << 32;
	}
	if (p[19] != '"' || (ctp_digits_load(p) & 0xffffff) != head || !ctp_digits_join_hex(ctp_digits_load(p + 11), &low))
		return NULL;
	*v = match->number | low;
	return p + 20;
}

/* The same for true and false, without a branch that a processor could not predict. */
static inline const char *quick_bool(const char *p, uint64_t *v)
{
	static const uint64_t yes = 0x65757274, no = 0x65736c6166; /* the letters, the last first */
	uint64_t t = ctp_digits_load(p);
	bool is_true = (uint32_t)t == yes, is_false = t << 24 == no << 24;
	*v = is_true;
	return (is_true | is_false) ? p + 5 - is_true : NULL;
}

static inline const char *quick_value(struct ctp_jsonl_row *row, struct ctp_template_key *key, const char *p,
                                      const char *limit, uint64_t *v)
{
	if (key->match.form == CTP_FORM_UNSIGNED)
		return quick_digits(p, limit, &key->match, v);
	if (key->match.form == CTP_FORM_HEX)
		return quick_hex(p, &key->match, v);
	if (key->match.form == CTP_FORM_BOOL)
		return quick_bool(p, v);
	struct ctp_json j = {p, limit};
	return *p > ' ' && take_value(row, &j, key, v) ? j.p : NULL; /* take_value would skip a newline like any space */
}

/* Whether the bytes at p are those of the key. */
static inline bool same_key(const char *p, const struct ctp_template_key *key)
{
	const char *text = key->before.data;
	uint32_t len = key->before.len;
	uint64_t other = (ctp_digits_load(p) ^ key->match.first) & key->match.mask;
	if (len <= 8)
		return !other;
	for (uint32_t at = 8; at + 8 < len; at += 8)
		other |= ctp_digits_load(p + at) ^ ctp_digits_load(text + at);
	/* The last eight bytes, some of them again. */
	return !(other | (ctp_digits_load(p + len - 8) ^ ctp_digits_load(text + len - 8)));
}

/* Skips the text of a place, if there is one. */
static const char *pass_place(const struct ctp_template_key *key, const char *p, const char *limit)
{
	size_t len = key->before.len;
	if ((size_t)(limit - p) <= len || memcmp(p, key->before.data, len) || p[len] != '"')
		return p;
	struct ctp_json j = {p + len, limit};
	return ctp_json_skip(&j) ? j.p : NULL;
}

const char *ctp_jsonl_row_quick(struct ctp_jsonl_row *row, struct ctp_template *layout, const char *p, const char *limit)
{
	enum { REACH = 32 }; /* bytes that may be read after a key, in words */
	static const char late[] = ",\"late\":true}\n";
	ptrdiff_t reach = (ptrdiff_t)layout->longest + REACH;
	if (limit - p < reach)
		return NULL;
	const char *last = limit - reach; /* where a key may begin */
	row->used = 0;
	for (struct ctp_template_key *key = layout->keys, *stop = key + layout->nkeys; key < stop; key++) {
		if (key->match.form == CTP_FORM_PLACE)
			p = pass_place(key, p, limit);
		else if (p > last || !same_key(p, key))
			return NULL;
		else
			p = quick_value(row, key, p + key->before.len, limit, &row->val[key->index]);
		if (!p)
			return NULL;
	}
	if (!layout->nkeys || limit - p < (ptrdiff_t)sizeof late)
		return NULL;
	if (p[0] == '}' && p[1] == '\n')
		return p + 1;
	return memcmp(p, late, sizeof late - 1) ? NULL : p + sizeof late - 2;
}

/* --- any row ------------------------------------------------------------------------------------------------------------- */

/* By a key of len bytes, which has an @ in front if and only if the field's name is reserved. */
static const struct ctp_template_key *find_key(const struct ctp_template *layout, uint32_t guess, const char *key, size_t len)
{
	for (uint32_t n = 0; n < layout->nkeys; n++) {
		const struct ctp_template_key *k = &layout->keys[(guess + n) % layout->nkeys];
		const char *name = k->field->name;
		bool at = ctp_jsonl_field_reserved(name);
		if (k->form != CTP_FORM_PLACE && len == strlen(name) + at && (!at || key[0] == '@') &&
		    !memcmp(key + at, name, len - at))
			return k;
	}
	return NULL;
}

enum ctp_status ctp_jsonl_row_parse(struct ctp_jsonl_row *row, const struct ctp_template *layout, const char *p,
                                    const char *end, struct ctp_err *why)
{
	struct ctp_json j = {p, end};
	bool first = true, seen[CTP_FIELDS_MAX] = {false};
	uint32_t guess = 0;
	row->used = 0;
	if (!ctp_json_take(&j, '{'))
		return ctp_err_set(why, "not a JSON object");
	while (ctp_json_next(&j, '}', &first)) {
		char *key = row->text + row->used, *key_end = ctp_json_key(&j, key);
		if (!key_end)
			return ctp_err_set(why, "not JSON");
		const struct ctp_template_key *k = find_key(layout, guess, key, (size_t)(key_end - key));
		if (!k || ctp_json_peek(&j) == CTP_JSON_NULL) {
			if (!ctp_json_skip(&j))
				return ctp_err_set(why, "not JSON");
			continue;
		}
		if (seen[k->index])
			return ctp_err_set(why, "has \"%.40s\" twice", k->field->name);
		if (!take_value(row, &j, k, &row->val[k->index]))
			return ctp_err_set(why, "\"%.40s\" is not a %s", k->field->name, ctp_type_name(k->field->type));
		seen[k->index] = true;
		guess = (uint32_t)(k - layout->keys) + 1;
	}
	if (!j.p || !ctp_json_done(&j))
		return ctp_err_set(why, "not JSON");
	for (uint32_t i = 0; i < layout->nkeys; i++)
		if (!seen[layout->keys[i].index])
			return ctp_err_set(why, "lacks \"%.40s\"", layout->keys[i].field->name);
	return CTP_OK;
}

enum ctp_status ctp_jsonl_row_find(struct ctp_json *j, const char *key, char *scratch, const char **from, struct ctp_err *why)
{
	bool first = true;
	*from = NULL;
	if (!ctp_json_take(j, '{'))
		return ctp_err_set(why, "not a JSON object");
	while (ctp_json_next(j, '}', &first)) {
		char *key_end = ctp_json_key(j, scratch);
		if (!key_end)
			return ctp_err_set(why, "not JSON");
		ctp_json_peek(j); /* skips white space */
		const char *value = j->p;
		bool found = (size_t)(key_end - scratch) == strlen(key) && !memcmp(scratch, key, strlen(key));
		if (!ctp_json_skip(j))
			return ctp_err_set(why, "not JSON");
		if (found) {
			*from = value;
			return CTP_OK;
		}
	}
	return j->p && ctp_json_done(j) ? CTP_OK : ctp_err_set(why, "not JSON");
}

enum ctp_status ctp_jsonl_row_type(struct ctp_jsonl_row *row, const char *p, const char *end, const char **type,
                                   struct ctp_err *why)
{
	struct ctp_json j = {p, end};
	const char *from;
	*type = NULL;
	enum ctp_status status = ctp_jsonl_row_find(&j, "type", row->text, &from, why);
	if (status || !from)
		return status;
	j.p = from;
	char *text_end = ctp_json_text(&j, row->text);
	if (!text_end || text_end == row->text || text_end - row->text > CTP_NAME_MAX + 1 ||
	    memchr(row->text, '\0', (size_t)(text_end - row->text)))
		return ctp_err_set(why, "its type is no usable name");
	*text_end = '\0';
	*type = row->text;
	return CTP_OK;
}
