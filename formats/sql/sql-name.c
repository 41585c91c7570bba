/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-name.c - see sql-form.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "sql/sql-form.h"

enum { SUFFIX_MAX = 12 };

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

/* The name as it may be spelled, but for its length. */
static char *spell(const struct ctp_sql_naming *n, char *p, const char *name)
{
	const char *end = name + strlen(name);
	if (n->reserved && !strncasecmp(name, n->reserved, strlen(n->reserved)))
		*p++ = '_';
	while (name < end) {
		unsigned bytes = ctp_utf8_bytes(name, end);
		if (!bytes || (n->ascii && bytes > 1) || (n->bmp && (bytes > 3 || (*name == ' ' && name + 1 == end))))
			p = ctp_escape_byte(p, *name++);
		else
			for (; bytes; bytes--)
				*p++ = *name++;
	}
	return p;
}

/* Cuts [from, p) to at most max bytes, between characters. */
static char *cut(const char *from, char *p, size_t max)
{
	if ((size_t)(p - from) <= max)
		return p;
	for (p -= (size_t)(p - from) - max; p > from && (*p & 0xc0) == 0x80; p--)
		;
	return p;
}

char *ctp_sql_name(const struct ctp_sql_naming *naming, const char *name, unsigned nth)
{
	char *mine = malloc(CTP_ESCAPE_GROWTH * strlen(name) + 1 + SUFFIX_MAX), suffix[SUFFIX_MAX] = "";
	if (!mine)
		return NULL;
	char *end = spell(naming, mine, name);
	if (nth > 1)
		snprintf(suffix, sizeof suffix, "_%u", nth);
	if (naming->max_bytes)
		end = cut(mine, end, naming->max_bytes - strlen(suffix));
	strcpy(end, suffix);
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
