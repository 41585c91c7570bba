/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-name.c - see sql-form.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/text.h"
#include "sql/sql-form.h"

enum { HASH_BYTES = 9, SUFFIX_MAX = HASH_BYTES + 12 };

bool ctp_sql_name_is_free(const struct ctp_sql_naming *naming, const char *name, char *const *taken, size_t ntaken)
{
	for (const char *const *column = naming->columns; column && *column; column++)
		if (!strcasecmp(name, *column))
			return false;
	for (size_t i = 0; i < ntaken; i++)
		if (!strcasecmp(name, taken[i]))
			return false;
	return true;
}

/* A _ more or less before it does not count: so names that differ are different with another _, too. */
static bool is_reserved(const struct ctp_sql_naming *n, const char *name)
{
	for (const char *const *begin = n->reserved; begin && *begin; begin++)
		for (const char *from = name;; from++) {
			if (!strncasecmp(from, *begin, strlen(*begin)))
				return true;
			if (*from != '_')
				break;
		}
	return false;
}

/* Whether the server takes these bytes, which are one character, in this place. What looks like an escaped byte is none. */
static bool is_possible(const struct ctp_sql_naming *n, const char *at, unsigned bytes, bool last)
{
	bool blank = bytes == 1 && strchr(" \t\n\v\f\r", *at);
	if (n->bmp && (bytes > 3 || (blank && last)))
		return false;
	return (bytes == 1 && strncmp(at, "\\x", 2)) || (bytes > 1 && !n->ascii);
}

/* The name as it may be spelled, but for its length. */
static char *spell(const struct ctp_sql_naming *n, char *p, const char *name)
{
	const char *end = name + strlen(name);
	if (is_reserved(n, name))
		*p++ = '_';
	while (name < end) {
		unsigned bytes = ctp_utf8_bytes(name, end);
		if (!is_possible(n, name, bytes, name + bytes == end))
			p = ctp_escape_byte(p, *name++);
		else
			for (; bytes; bytes--)
				*p++ = *name++;
	}
	return p;
}

static bool is_odd(char c) { return !(c & 0x80) && c != '_' && !isalnum((unsigned char)c); }

/* Where [from, p) has to end, between characters, to be one of at most max bytes. */
static char *limit(const struct ctp_sql_naming *n, char *from, char *p, size_t max)
{
	size_t odd = 0;
	if (n->max_bytes && (size_t)(p - from) > max)
		for (p = from + max; p > from && (*p & 0xc0) == 0x80; p--)
			;
	for (char *at = from; n->max_odd && at < p; at++) {
		odd += is_odd(*at);
		if (odd > n->max_odd)
			return at;
	}
	return p;
}

char *ctp_sql_name(const struct ctp_sql_naming *naming, const char *name, unsigned nth)
{
	char *mine = malloc(CTP_ESCAPE_GROWTH * strlen(name) + 2 + SUFFIX_MAX), number[12] = "";
	if (!mine)
		return NULL;
	char *end = spell(naming, mine, name);
	if (nth > 1)
		snprintf(number, sizeof number, "_%u", nth);
	if (limit(naming, mine, end, naming->max_bytes - strlen(number)) != end) {
		uint64_t hash = ctp_map_bytes(UINT64_C(0xcbf29ce484222325), name, strlen(name));
		end = limit(naming, mine, end, naming->max_bytes - strlen(number) - HASH_BYTES);
		end += sprintf(end, "_%08" PRIx32, (uint32_t)(hash ^ hash >> 32));
	}
	strcpy(end, number);
	return mine;
}

char *ctp_sql_name_beside(const struct ctp_sql_naming *naming, const char *name, char *const *taken, size_t ntaken)
{
	char *mine = ctp_sql_name(naming, name, 1);
	for (unsigned nth = 2; mine && !ctp_sql_name_is_free(naming, mine, taken, ntaken); nth++) {
		free(mine);
		mine = ctp_sql_name(naming, name, nth);
	}
	return mine;
}
