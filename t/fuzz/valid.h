/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * valid.h - strict judges of what sinks write, none of which shares code with a sink: UTF-8 (RFC 3629), JSON (RFC 8259), CSV
 * (RFC 4180 with LF), HTML whose elements close, and lines for a terminal.
 */
#ifndef CTP_T_VALID_H
#define CTP_T_VALID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct valid {
	const char *p, *end;
};

static inline void valid_must(bool holds, const char *what, const char *text, size_t len)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %.*s\n", what, (int)(len < 2000 ? len : 2000), text);
	abort();
}

/* The next character, or -1 if it is no valid UTF-8. */
static inline int32_t valid_char(struct valid *v)
{
	const uint8_t *p = (const uint8_t *)v->p;
	size_t left = (size_t)(v->end - v->p), n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
	if (!n || n > left)
		return -1;
	int32_t c = n == 1 ? p[0] : p[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (p[i] & 0x3f);
	}
	v->p += n;
	bool shortest = n < 3 || c >= (n == 3 ? 0x800 : 0x10000);
	return shortest && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? c : -1;
}

static inline bool valid_utf8(const char *text, size_t len)
{
	struct valid v = {text, text + len};
	while (v.p < v.end)
		if (valid_char(&v) < 0)
			return false;
	return true;
}

/* --- JSON ----------------------------------------------------------------------------------------------------------------- */

enum { VALID_JSON_DEPTH = 100 };

static inline void json_space(struct valid *v)
{
	while (v->p < v->end && strchr(" \t\r\n", *v->p) && *v->p)
		v->p++;
}

static inline bool json_take(struct valid *v, char c) { return v->p < v->end && *v->p == c && v->p++; }

static inline bool json_word(struct valid *v, const char *word)
{
	size_t len = strlen(word);
	if ((size_t)(v->end - v->p) < len || memcmp(v->p, word, len))
		return false;
	v->p += len;
	return true;
}

static inline bool json_string(struct valid *v)
{
	if (!json_take(v, '"'))
		return false;
	while (v->p < v->end && *v->p != '"') {
		if ((unsigned char)*v->p < 0x20)
			return false;
		if (*v->p != '\\') {
			if (valid_char(v) < 0)
				return false;
			continue;
		}
		v->p++;
		if (v->p == v->end || !*v->p || !strchr("\"\\/bfnrtu", *v->p))
			return false;
		if (*v->p++ == 'u')
			for (int i = 0; i < 4; i++, v->p++)
				if (v->p == v->end || !*v->p || !strchr("0123456789abcdefABCDEF", *v->p))
					return false;
	}
	return json_take(v, '"');
}

static inline bool json_digits(struct valid *v)
{
	const char *from = v->p;
	while (v->p < v->end && *v->p >= '0' && *v->p <= '9')
		v->p++;
	return v->p > from;
}

static inline bool json_number(struct valid *v)
{
	json_take(v, '-');
	if (!json_take(v, '0') && !json_digits(v))
		return false;
	if (json_take(v, '.') && !json_digits(v))
		return false;
	if (json_take(v, 'e') || json_take(v, 'E')) {
		if (!json_take(v, '+'))
			json_take(v, '-');
		return json_digits(v);
	}
	return true;
}

static inline bool json_value(struct valid *v, unsigned depth);

static inline bool json_members(struct valid *v, char close, unsigned depth)
{
	v->p++;
	json_space(v);
	if (json_take(v, close))
		return true;
	for (;;) {
		json_space(v);
		if (close == '}') {
			if (!json_string(v))
				return false;
			json_space(v);
			if (!json_take(v, ':'))
				return false;
		}
		if (!json_value(v, depth + 1))
			return false;
		if (json_take(v, close))
			return true;
		if (!json_take(v, ','))
			return false;
	}
}

static inline bool json_value(struct valid *v, unsigned depth)
{
	json_space(v);
	if (v->p == v->end || depth > VALID_JSON_DEPTH)
		return false;
	bool good = *v->p == '{'   ? json_members(v, '}', depth)
	            : *v->p == '[' ? json_members(v, ']', depth)
	            : *v->p == '"' ? json_string(v)
	            : *v->p == 't' ? json_word(v, "true")
	            : *v->p == 'f' ? json_word(v, "false")
	            : *v->p == 'n' ? json_word(v, "null")
	                           : json_number(v);
	json_space(v);
	return good;
}

static inline bool valid_json(const char *text, size_t len)
{
	struct valid v = {text, text + len};
	return json_value(&v, 0) && v.p == v.end;
}

/* Each line is an object, and the last one ends. Returns how many there are. */
static inline size_t valid_jsonl(const char *text, size_t len)
{
	size_t lines = 0;
	for (const char *end = text + len, *lf; text < end; text = lf + 1, lines++) {
		lf = memchr(text, '\n', (size_t)(end - text));
		valid_must(lf, "the last line has no end", text, (size_t)(end - text));
		valid_must(*text == '{' && valid_json(text, (size_t)(lf - text)), "no JSON object", text, (size_t)(lf - text));
	}
	return lines;
}

/* --- CSV ------------------------------------------------------------------------------------------------------------------ */

/* The end of a field; null: it is none. *first: the first byte of its text, or -1. */
static inline const char *csv_field(const char *p, const char *end, int *first)
{
	*first = -1;
	if (p == end || *p != '"') {
		if (p < end && *p != ',' && *p != '\n')
			*first = (unsigned char)*p;
		for (; p < end && *p != ',' && *p != '\n'; p++)
			if (*p == '"')
				return NULL;
		return p;
	}
	for (p++;; p++) {
		if (p == end)
			return NULL;
		if (*p == '"' && (p + 1 == end || p[1] != '"'))
			return p + 1;
		if (*first < 0)
			*first = (unsigned char)*p;
		p += *p == '"';
	}
}

/* A text that a spreadsheet calculates: not a number, and no mark of the full form. */
static inline bool csv_is_formula(const char *field, size_t len, int first)
{
	static const char *const marks[] = {"@meta", "@section", "@schema", "@end", "-Infinity"};
	if (first < 1 || !strchr("=+-@\t\r", first))
		return false;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (len == strlen(marks[i]) && !memcmp(field, marks[i], len))
			return false;
	return first != '-' || len < 2 || field[1] < '0' || field[1] > '9';
}

/* Each row has as many fields as the first. guarded: no text looks like a formula. Returns the number of rows. */
static inline size_t valid_csv(const char *text, size_t len, bool guarded)
{
	size_t rows = 0, columns = 0;
	for (const char *p = text, *end = text + len; p < end; rows++) {
		size_t n = 0;
		for (const char *row = p;; p++, n++) {
			int first;
			const char *field = p;
			p = csv_field(p, end, &first);
			valid_must(p && p < end && (*p == ',' || *p == '\n'), "no CSV", row, (size_t)(end - row));
			valid_must(!guarded || !csv_is_formula(field, (size_t)(p - field), first), "a formula", field, (size_t)(p - field));
			if (*p == '\n')
				break;
		}
		p++;
		valid_must(!rows || n == columns, "a row has more or fewer columns", text, len);
		columns = n;
	}
	return rows;
}

/* --- HTML ----------------------------------------------------------------------------------------------------------------- */

enum { VALID_HTML_DEPTH = 64, VALID_HTML_NAME = 16 };

static inline bool html_is_void(const char *name)
{
	static const char *const names[] = {"meta", "input", "br", "hr", "img", "link", "col", "wbr", "!doctype"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* After the > of a tag, whose name is copied; null: the tag has no end. */
static inline const char *html_tag(const char *p, const char *end, char name[VALID_HTML_NAME])
{
	size_t n = 0;
	for (; p < end && !strchr(" \t\r\n>", *p); p++)
		if (n < VALID_HTML_NAME - 1)
			name[n++] = *p;
	name[n] = '\0';
	for (char quote = 0; p < end; p++)
		if (quote)
			quote = *p == quote ? 0 : quote;
		else if (*p == '"' || *p == '\'')
			quote = *p;
		else if (*p == '>')
			return p + 1;
	return NULL;
}

/* Each element that begins ends, in order; element sees what is in a script. */
static inline void valid_html(const char *text, size_t len, void (*script)(const char *tag, const char *from, const char *upto))
{
	char open[VALID_HTML_DEPTH][VALID_HTML_NAME], name[VALID_HTML_NAME];
	unsigned depth = 0;
	const char *end = text + len;
	valid_must(valid_utf8(text, len) && !memchr(text, '\0', len), "no UTF-8", text, len);
	for (const char *p = text; (p = memchr(p, '<', (size_t)(end - p)));) {
		const char *tag = p++;
		if (end - p >= 3 && !memcmp(p, "!--", 3)) {
			p = memmem(p, (size_t)(end - p), "-->", 3);
			valid_must(p, "a comment does not end", tag, (size_t)(end - tag));
			continue;
		}
		bool closes = p < end && *p == '/';
		p = html_tag(p + closes, end, name);
		valid_must(p, "a tag does not end", tag, (size_t)(end - tag));
		if (closes) {
			valid_must(depth && !strcmp(open[--depth], name), "an end without its begin", tag, (size_t)(end - tag));
			continue;
		}
		if (html_is_void(name))
			continue;
		valid_must(depth < VALID_HTML_DEPTH, "too deep", tag, (size_t)(end - tag));
		if (!strcmp(name, "script") || !strcmp(name, "style")) {
			char stop[VALID_HTML_NAME + 4];
			snprintf(stop, sizeof stop, "</%s", name);
			const char *upto = p;
			while (upto < end && strncasecmp(upto, stop, strlen(stop)))
				upto++;
			valid_must(upto < end && upto[strlen(stop)] == '>', "a script does not end", tag, (size_t)(end - tag));
			if (script)
				script(tag, p, upto);
			p = upto + strlen(stop) + 1;
			continue;
		}
		memcpy(open[depth++], name, sizeof name);
	}
	valid_must(!depth, "an element does not end", text, len);
}

/* --- lines for people ----------------------------------------------------------------------------------------------------- */

/* No character that a terminal interprets or that is invisible, except `other` (0: none); lines end in LF. */
static inline void valid_shown_but(const char *text, size_t len, int32_t other)
{
	struct valid v = {text, text + len};
	while (v.p < v.end) {
		const char *at = v.p;
		int32_t c = valid_char(&v);
		bool good = c == '\n' || (c >= 0x20 && c < 0x7f) || c >= 0xa0;
		good &= c != 0xad && c != 0x61c && (c < 0x200b || c > 0x200f) && (c < 0x2028 || c > 0x202e) && (c < 0x2060 || c > 0x206f) && c != 0xfeff;
		good |= c > 0 && c == other;
		valid_must(good, "a character that is not shown as it is", at, (size_t)(v.end - at));
	}
	valid_must(!len || text[len - 1] == '\n', "the last line has no end", text, len);
}

static inline void valid_shown(const char *text, size_t len) { valid_shown_but(text, len, 0); }

/* a;b;c N */
static inline void valid_folded(const char *text, size_t len)
{
	valid_shown(text, len);
	for (const char *end = text + len, *lf; text < end; text = lf + 1) {
		lf = memchr(text, '\n', (size_t)(end - text));
		const char *space = memrchr(text, ' ', (size_t)(lf - text));
		valid_must(space && space > text && space + 1 < lf, "no stack", text, (size_t)(lf - text));
		for (const char *p = space + 1; p < lf; p++)
			valid_must(*p >= '0' && *p <= '9', "no number", text, (size_t)(lf - text));
		for (const char *p = text; p < space; p++)
			valid_must(*p != ';' || (p > text && p[-1] != ';' && p + 1 < space), "an empty frame", text, (size_t)(lf - text));
	}
}

#endif
