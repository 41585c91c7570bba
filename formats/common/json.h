/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * json.h - JSON as these tools write and read it: texts out, and a scanner over one line.
 *
 * Texts are bytes, UTF-8 by intention. Valid UTF-8 is written as it is; a byte that is not part of valid UTF-8 becomes a lone
 * low surrogate, \udc80 to \udcff, and those become that byte again when read. So every text comes back as it was.
 */
#ifndef CTP_JSON_H
#define CTP_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "io/output.h"

enum { CTP_JSON_GROWTH = 6, CTP_JSON_DEPTH = 64 };

/* Writes text with its quotes; the first into memory, where CTP_JSON_GROWTH * len + 2 bytes must be free. */
char *ctp_json_quote(char *p, const char *text, size_t len);
void ctp_json_put(struct ctp_output *out, const char *text, size_t len);

/* The same for a script element of an HTML page: <, >, &, U+2028 and U+2029 are escaped too, so that no text can end it. */
void ctp_json_put_in_page(struct ctp_output *out, const char *text, size_t len);

/* The rest of a line: [p, end). */
struct ctp_json {
	const char *p, *end;
};

enum ctp_json_kind {
	CTP_JSON_BAD, CTP_JSON_OBJECT, CTP_JSON_ARRAY, CTP_JSON_TEXT, CTP_JSON_NUMBER, CTP_JSON_TRUE,
	CTP_JSON_FALSE, CTP_JSON_NULL,
};

/* Skips white space and tells the kind of the value at j by its first byte. */
enum ctp_json_kind ctp_json_peek(struct ctp_json *j);

/* Skips white space and the character c; false, and j stays there, if another character comes. */
bool ctp_json_take(struct ctp_json *j, char c);

/*
 * Steps through an object or array: true if there is another element, and j stands at it (in an object, at its key). first is
 * the caller's, true before the first call. False at the closing bracket, which is skipped, and on invalid JSON: then j->p is null.
 */
bool ctp_json_next(struct ctp_json *j, char close, bool *first);

/*
 * Decodes a text to `to`, which needs room for as many bytes as the text has in the line. Returns the end of the decoded text;
 * null: the value is no text, or invalid. The second also skips the colon.
 */
char *ctp_json_text(struct ctp_json *j, char *to);
char *ctp_json_key(struct ctp_json *j, char *to);

/* Skips a number as JSON spells it, and gives its digits: [*from, *upto). */
bool ctp_json_number(struct ctp_json *j, const char **from, const char **upto);

/* Checks and skips any value that is nested at most CTP_JSON_DEPTH deep. */
bool ctp_json_skip(struct ctp_json *j);

/* True if the rest of the line is white space. */
bool ctp_json_done(struct ctp_json *j);

#endif
