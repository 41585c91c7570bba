/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * json.c - texts out, and a scanner over one line.
 *
 * The scanner never reads past its end and never recurses deeper than CTP_JSON_DEPTH. It is strict: what it accepts is JSON,
 * but for surrogates that stand alone, which JSON's grammar allows and which are given a meaning here.
 */
#include "common/json.h"

#include <string.h>

#include "base/text.h"
#include "base/visible.h"

/* --- out ----------------------------------------------------------------------------------------------------------------- */

static char *put_u(char *p, unsigned c)
{
	static const char hex[] = "0123456789abcdef";
	char u[6] = {'\\', 'u', hex[c >> 12 & 15], hex[c >> 8 & 15], hex[c >> 4 & 15], hex[c & 15]};
	memcpy(p, u, 6);
	return p + 6;
}

/* A character that could end a script element of an HTML page, or that a browser takes for markup there. */
static inline bool is_markup(unsigned char c) { return c == '<' || c == '>' || c == '&'; }

/* A control character or one that is invisible; the line separators of JavaScript are among these. */
static inline bool is_hidden(const char *s, unsigned n) { return (unsigned char)*s >= 0x7f && ctp_visible_not(ctp_utf8_point(s, n)); }

/* Writes the characters that begin in [*text, stop); the last of them may reach up to end. */
static inline char *escape(char *p, const char **text, const char *stop, const char *end, bool in_page)
{
	const char *s = *text;
	while (s < stop) {
		unsigned char c = (unsigned char)*s;
		unsigned n = ctp_utf8_bytes(s, end);
		if (n == 0) {
			p = put_u(p, 0xdc00 + c);
			s++;
		} else if ((in_page && is_markup(c)) || is_hidden(s, n)) {
			unsigned point = ctp_utf8_point(s, n);
			if (point >= 0x10000) /* a pair of surrogates, where one is not enough */
				p = put_u(p, 0xd800 + ((point - 0x10000) >> 10));
			p = put_u(p, point >= 0x10000 ? 0xdc00 + (point & 0x3ff) : point);
			s += n;
		} else if (c >= ' ' && c != '"' && c != '\\') {
			memcpy(p, s, n);
			p += n;
			s += n;
		} else {
			static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
			const char *at = memchr(plain, c, sizeof plain - 1);
			if (at) {
				*p++ = '\\';
				*p++ = escaped[at - plain];
			} else {
				p = put_u(p, c);
			}
			s++;
		}
	}
	*text = s;
	return p;
}

char *ctp_json_quote(char *p, const char *text, size_t len)
{
	const char *end = text + len;
	*p++ = '"';
	p = escape(p, &text, end, end, false);
	*p++ = '"';
	return p;
}

static inline void put_text(struct ctp_output *out, const char *text, size_t len, bool in_page)
{
	enum { CHUNK = 8 << 10 };
	_Static_assert(CHUNK * CTP_JSON_GROWTH + 4 <= CTP_OUTPUT_ROOM, "a chunk must fit the output's room");
	const char *end = text + len;
	ctp_output_put(out, "\"", 1);
	while (text < end) {
		const char *stop = end - text > CHUNK ? text + CHUNK : end;
		char *p = ctp_output_reserve(out, CHUNK * CTP_JSON_GROWTH + 4);
		ctp_output_commit(out, escape(p, &text, stop, end, in_page));
	}
	ctp_output_put(out, "\"", 1);
}

void ctp_json_put(struct ctp_output *out, const char *text, size_t len) { put_text(out, text, len, false); }
void ctp_json_put_in_page(struct ctp_output *out, const char *text, size_t len) { put_text(out, text, len, true); }

/* --- in ------------------------------------------------------------------------------------------------------------------ */

static inline void skip_space(struct ctp_json *j)
{
	while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\n' || *j->p == '\r'))
		j->p++;
}

bool ctp_json_take(struct ctp_json *j, char c)
{
	skip_space(j);
	if (j->p == j->end || *j->p != c)
		return false;
	j->p++;
	return true;
}

bool ctp_json_done(struct ctp_json *j)
{
	skip_space(j);
	return j->p == j->end;
}

enum ctp_json_kind ctp_json_peek(struct ctp_json *j)
{
	skip_space(j);
	if (j->p == j->end)
		return CTP_JSON_BAD;
	switch (*j->p) {
	case '{': return CTP_JSON_OBJECT;
	case '[': return CTP_JSON_ARRAY;
	case '"': return CTP_JSON_TEXT;
	case 't': return CTP_JSON_TRUE;
	case 'f': return CTP_JSON_FALSE;
	case 'n': return CTP_JSON_NULL;
	case '-': return CTP_JSON_NUMBER;
	default: return *j->p >= '0' && *j->p <= '9' ? CTP_JSON_NUMBER : CTP_JSON_BAD;
	}
}

bool ctp_json_next(struct ctp_json *j, char close, bool *first)
{
	bool was_first = *first;
	*first = false;
	if (ctp_json_take(j, close))
		return false;
	if (was_first || ctp_json_take(j, ','))
		return true;
	j->p = NULL;
	return false;
}

/* Four hexadecimal digits, or -1. */
static int take_hex4(struct ctp_json *j)
{
	int v = 0;
	if (j->end - j->p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		unsigned c = (unsigned char)*j->p++, letter = (c | 0x20) - 'a', digit = c - '0';
		if (digit > 9)
			digit = letter + 10;
		if (digit > 15)
			return -1;
		v = v << 4 | (int)digit;
	}
	return v;
}

static char *put_utf8(char *p, unsigned c)
{
	if (c < 0x80) {
		*p++ = (char)c;
	} else if (c < 0x800) {
		*p++ = (char)(0xc0 | c >> 6);
		*p++ = (char)(0x80 | (c & 63));
	} else {
		if (c < 0x10000) {
			*p++ = (char)(0xe0 | c >> 12);
		} else {
			*p++ = (char)(0xf0 | c >> 18);
			*p++ = (char)(0x80 | (c >> 12 & 63));
		}
		*p++ = (char)(0x80 | (c >> 6 & 63));
		*p++ = (char)(0x80 | (c & 63));
	}
	return p;
}

/* The digits after \u. A lone surrogate is a byte if json.h says so, and invalid otherwise. */
static char *take_u(struct ctp_json *j, char *to)
{
	int c = take_hex4(j);
	if (c < 0 || c < 0xd800 || c > 0xdfff)
		return c < 0 ? NULL : put_utf8(to, (unsigned)c);
	if (c < 0xdc00) {
		if (j->end - j->p < 6 || j->p[0] != '\\' || j->p[1] != 'u')
			return NULL;
		j->p += 2;
		int low = take_hex4(j);
		if (low < 0xdc00 || low > 0xdfff)
			return NULL;
		return put_utf8(to, 0x10000 + ((unsigned)(c - 0xd800) << 10) + (unsigned)(low - 0xdc00));
	}
	if (c < 0xdc80 || c > 0xdcff)
		return NULL;
	*to++ = (char)(c & 0xff);
	return to;
}

char *ctp_json_text(struct ctp_json *j, char *to)
{
	if (!ctp_json_take(j, '"'))
		return NULL;
	while (j->p < j->end) {
		const char *s = j->p;
		while (s < j->end && *s != '"' && *s != '\\' && (unsigned char)*s >= ' ')
			s++;
		memcpy(to, j->p, (size_t)(s - j->p));
		to += s - j->p;
		j->p = s;
		if (s == j->end || (unsigned char)*s < ' ')
			return NULL;
		j->p++;
		if (*s == '"')
			return to;
		if (j->p == j->end)
			return NULL;
		static const char escaped[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
		char c = *j->p++;
		const char *at = memchr(escaped, c, sizeof escaped - 1);
		if (at)
			*to++ = plain[at - escaped];
		else if (c != 'u' || !(to = take_u(j, to)))
			return NULL;
	}
	return NULL;
}

char *ctp_json_key(struct ctp_json *j, char *to)
{
	to = ctp_json_text(j, to);
	return to && ctp_json_take(j, ':') ? to : NULL;
}

static const char *over_digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

bool ctp_json_number(struct ctp_json *j, const char **from, const char **upto)
{
	skip_space(j);
	const char *p = j->p, *end = j->end, *q;
	p += p < end && *p == '-';
	q = over_digits(p, end);
	if (q == p || (*p == '0' && q - p > 1))
		return false;
	p = q;
	if (p < end && *p == '.') {
		q = over_digits(p + 1, end);
		if (q == p + 1)
			return false;
		p = q;
	}
	if (p < end && (*p | 0x20) == 'e') {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		q = over_digits(p, end);
		if (q == p)
			return false;
		p = q;
	}
	*from = j->p;
	*upto = j->p = p;
	return true;
}

static bool skip_word(struct ctp_json *j, const char *word)
{
	size_t len = strlen(word);
	if ((size_t)(j->end - j->p) < len || memcmp(j->p, word, len))
		return false;
	j->p += len;
	return true;
}

/* Checks a text as ctp_json_text does, but keeps nothing of it. */
static bool skip_text(struct ctp_json *j)
{
	j->p++;
	while (j->p < j->end && *j->p != '"') {
		char scrap[4];
		if ((unsigned char)*j->p < ' ')
			return false;
		if (*j->p++ != '\\')
			continue;
		if (j->p == j->end)
			return false;
		char c = *j->p++;
		if (c == 'u' ? !take_u(j, scrap) : !memchr("\"\\/bfnrt", c, 8))
			return false;
	}
	return j->p < j->end && *j->p++ == '"';
}

static bool skip_value(struct ctp_json *j, int depth)
{
	const char *from, *upto;
	bool first = true;
	switch (ctp_json_peek(j)) {
	case CTP_JSON_TEXT:
		return skip_text(j);
	case CTP_JSON_NUMBER:
		return ctp_json_number(j, &from, &upto);
	case CTP_JSON_TRUE:
		return skip_word(j, "true");
	case CTP_JSON_FALSE:
		return skip_word(j, "false");
	case CTP_JSON_NULL:
		return skip_word(j, "null");
	case CTP_JSON_ARRAY:
		j->p++;
		while (depth && ctp_json_next(j, ']', &first))
			if (!skip_value(j, depth - 1))
				return false;
		return depth && j->p;
	case CTP_JSON_OBJECT:
		j->p++;
		while (depth && ctp_json_next(j, '}', &first))
			if (ctp_json_peek(j) != CTP_JSON_TEXT || !skip_text(j) || !ctp_json_take(j, ':') ||
			    !skip_value(j, depth - 1))
				return false;
		return depth && j->p;
	default:
		return false;
	}
}

bool ctp_json_skip(struct ctp_json *j) { return skip_value(j, CTP_JSON_DEPTH); }
