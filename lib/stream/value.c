/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* value.c - the value of a field as plain text, and back. */
#include "stream/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain-locale.h"
#include "base/text.h"

static const int64_t SECOND_NS = 1000000000;

enum ctp_form ctp_form_of(const struct ctp_field *f)
{
	if (f->type == CTP_STRING || f->type == CTP_BYTES)
		return f->type == CTP_STRING ? CTP_FORM_TEXT : CTP_FORM_BYTES;
	if (ctp_type_is_float(f->type))
		return f->type == CTP_F32 ? CTP_FORM_F32 : CTP_FORM_F64;
	if (f->type == CTP_BOOL || f->type == CTP_ENUM)
		return f->type == CTP_BOOL ? CTP_FORM_BOOL : CTP_FORM_ENUM;
	if (f->role == CTP_ROLE_ADDRESS || f->flags & CTP_FIELD_HEX)
		return CTP_FORM_HEX;
	return ctp_type_is_signed(f->type) ? CTP_FORM_SIGNED : CTP_FORM_UNSIGNED;
}

/* --- to text ------------------------------------------------------------------------------------------------------------- */

/* The first label with this name: two values may have the same name, and reading gives the first. */
static const struct ctp_label *find_label(const struct ctp_field *f, const char *name, size_t len)
{
	for (uint32_t i = 0; i < f->nlabels; i++)
		if (strlen(f->labels[i].name) == len && !memcmp(f->labels[i].name, name, len))
			return &f->labels[i];
	return NULL;
}

const char *ctp_value_label(const struct ctp_field *f, uint64_t v, bool quoted)
{
	const char *name = ctp_field_label(f, v);
	uint64_t number;
	if (!name || find_label(f, name, strlen(name))->value != v)
		return NULL;
	return quoted || !ctp_parse_u64(name, name + strlen(name), &number) ? name : NULL;
}

char *ctp_value_put_wall(char *p, uint64_t ts_ns, int64_t offset_ns)
{
	/* Seconds and nanoseconds apart: the sum of both times may have more than 64 bits. */
	int64_t s = (int64_t)(ts_ns / (uint64_t)SECOND_NS) + offset_ns / SECOND_NS;
	int64_t ns = (int64_t)(ts_ns % (uint64_t)SECOND_NS) + offset_ns % SECOND_NS;
	int64_t carry = ns < 0 ? -1 : ns >= SECOND_NS;
	return ctp_text_wall(p, s + carry, (uint32_t)(ns - carry * SECOND_NS));
}

void ctp_value_put_text(struct ctp_output *out, const char *text, size_t len, ctp_value_spell *spell)
{
	enum { PART = CTP_OUTPUT_ROOM / CTP_SPELLED_MAX };
	if (!spell) {
		ctp_output_put(out, text, len);
		return;
	}
	for (size_t part; (part = len < PART ? len : PART); text += part, len -= part)
		ctp_output_commit(out, spell(ctp_output_reserve(out, part * CTP_SPELLED_MAX), text, part));
}

static char *put_number(char *p, enum ctp_form form, uint64_t v)
{
	switch (form) {
	case CTP_FORM_SIGNED:
		return ctp_text_i64(p, (int64_t)v);
	case CTP_FORM_HEX:
		return ctp_text_hex16(p, v);
	case CTP_FORM_BOOL:
		return stpcpy(p, v ? "true" : "false");
	case CTP_FORM_F32:
		return ctp_text_float(p, (float)ctp_val_double(CTP_F32, v));
	case CTP_FORM_F64:
		return ctp_text_double(p, ctp_val_double(CTP_F64, v));
	default:
		return ctp_text_u64(p, v);
	}
}

void ctp_value_put(struct ctp_output *out, const struct ctp_field *f, uint64_t v, ctp_value_spell *spell)
{
	enum ctp_form form = ctp_form_of(f);
	const struct ctp_str *str = ctp_type_is_text(f->type) ? ctp_str_val(v) : NULL;
	const char *label = form == CTP_FORM_ENUM ? ctp_value_label(f, v, false) : NULL;
	if (label)
		ctp_value_put_text(out, label, strlen(label), spell);
	else if (str && form == CTP_FORM_TEXT)
		ctp_value_put_text(out, str->data, str->len, spell);
	else if (str)
		ctp_value_put_hex(out, str->data, str->len);
	else if (!ctp_type_is_text(f->type))
		ctp_output_commit(out, put_number(ctp_output_reserve(out, CTP_TEXT_MAX), form, v));
}

/* --- from text ----------------------------------------------------------------------------------------------------------- */

static bool fits(unsigned type, uint64_t v, bool negative)
{
	if (ctp_type_is_signed(type)) {
		int64_t s = (int64_t)v, most = INT64_MAX >> (64 - (8 << (type - CTP_I8)));
		return (negative || s >= 0) && s >= -most - 1 && s <= most;
	}
	return !negative && (type == CTP_BOOL ? v <= 1 : type > CTP_U32 || v < UINT64_C(1) << (8 << (type - CTP_U8)));
}

static bool parse_double(const char *p, const char *end, bool is_float, double *d)
{
	static const struct {
		const char *name;
		double is;
	} others[] = {{"NaN", NAN}, {"nan", NAN}, {"Infinity", INFINITY}, {"inf", INFINITY}, {"-Infinity", -INFINITY},
	              {"-inf", -INFINITY}};
	char copy[400], *stop; /* strtod needs a NUL; no program prints a longer number */
	size_t len = (size_t)(end - p);
	if (!len || len >= sizeof copy)
		return false;
	memcpy(copy, p, len);
	copy[len] = '\0';
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(copy, others[i].name))
			return *d = others[i].is, true;
	/* strtod also takes white space and hexadecimal, which are no number here. */
	if (strspn(copy, "0123456789+-.eE") != len)
		return false;
	locale_t before = ctp_plain_locale_begin();
	*d = is_float ? (double)strtof(copy, &stop) : strtod(copy, &stop);
	ctp_plain_locale_end(before);
	return *stop == '\0' && isfinite(*d);
}

/* A whole number, also as 1e3 or 7.0, which some programs print, if a double holds it exactly. */
static bool parse_integer(unsigned type, const char *p, const char *end, uint64_t *v)
{
	double d;
	int64_t s;
	if (ctp_parse_u64(p, end, v))
		return fits(type, *v, false);
	if (ctp_parse_hex(p, end, v))
		return fits(type, *v, ctp_type_is_signed(type) && *v >> 63);
	if (!ctp_parse_i64(p, end, &s)) {
		if (!parse_double(p, end, false, &d) || !(fabs(d) <= 0x1p53) || d != (double)(int64_t)d)
			return false;
		s = (int64_t)d;
	}
	*v = (uint64_t)s;
	return fits(type, *v, s < 0);
}

static bool parse_bool(const char *p, const char *end, uint64_t *v)
{
	static const char words[][6] = {"false", "true", "False", "True", "FALSE", "TRUE", "0", "1"};
	size_t len = (size_t)(end - p);
	for (size_t i = 0; i < sizeof words / sizeof *words && len < sizeof *words; i++)
		if (!memcmp(p, words[i], len) && !words[i][len])
			return *v = i % 2, len > 0;
	return false;
}

bool ctp_value_parse(const struct ctp_field *f, enum ctp_form form, const char *p, const char *end, uint64_t *v)
{
	const struct ctp_label *label;
	double d;
	switch (form) {
	case CTP_FORM_F32:
	case CTP_FORM_F64:
		if (!parse_double(p, end, form == CTP_FORM_F32, &d))
			return false;
		*v = ctp_double_val(f->type, d);
		return true;
	case CTP_FORM_BOOL:
		return parse_bool(p, end, v);
	case CTP_FORM_ENUM:
		/* A number first: ctp_value_label writes no label that looks like one. */
		if (ctp_parse_u64(p, end, v))
			return true;
		if ((label = find_label(f, p, (size_t)(end - p))))
			*v = label->value;
		return label != NULL;
	default:
		/* First as ctp-to... writes it, which most are. */
		if (f->type == CTP_U64 && (form == CTP_FORM_HEX ? ctp_parse_hex(p, end, v) : ctp_parse_u64(p, end, v)))
			return true;
		return parse_integer(f->type, p, end, v);
	}
}

void ctp_value_put_hex(struct ctp_output *out, const char *data, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	for (size_t i = 0; i < len; i++) {
		char pair[2] = {hex[(uint8_t)data[i] >> 4], hex[data[i] & 15]};
		ctp_output_put(out, pair, 2);
	}
}

bool ctp_value_unhex(struct ctp_str *s)
{
	static const char digits[] = "0123456789abcdef";
	for (uint32_t i = 0; i < s->len; i++) {
		int c = s->data[i] | (s->data[i] >= 'A' && s->data[i] <= 'F' ? 0x20 : 0);
		const char *at = c ? strchr(digits, c) : NULL;
		if (!at || s->len % 2)
			return false;
		/* Byte i / 2 stands before the digits that are still to be read. */
		s->data[i / 2] = (char)(i % 2 ? (s->data[i / 2] << 4 | (at - digits)) : at - digits);
	}
	s->len /= 2;
	s->data[s->len] = '\0';
	return true;
}

bool ctp_value_parse_wall(const char *p, const char *end, int64_t offset_ns, uint64_t *ts_ns)
{
	int64_t s;
	uint32_t ns;
	if (!ctp_parse_wall(p, end, &s, &ns))
		return false;
	s -= offset_ns / SECOND_NS;
	int64_t rest = (int64_t)ns - offset_ns % SECOND_NS, carry = rest < 0 ? -1 : rest >= SECOND_NS;
	s += carry;
	return s >= 0 && !__builtin_mul_overflow((uint64_t)s, (uint64_t)SECOND_NS, ts_ns) &&
	       !__builtin_add_overflow(*ts_ns, (uint64_t)(rest - carry * SECOND_NS), ts_ns);
}
