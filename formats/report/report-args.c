/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-args.c - times and lists of texts, from the command line and from files. */
#include "report/report-args.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

static uint64_t unit_ns(const char *name)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1000000000}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000},
	             {"min", 60000000000}, {"h", 3600000000000}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(name, units[i].name))
			return units[i].ns;
	return 0;
}

bool ctp_duration_parse(const char *text, uint64_t *ns)
{
	const char *point = text + strspn(text, "0123456789");
	const char *end = *point == '.' ? point + 1 + strspn(point + 1, "0123456789") : point;
	uint64_t unit = unit_ns(end), whole = 0;
	bool no_digits = end == text || (*point == '.' && end == point + 1);
	if (!unit || no_digits || (point > text && !ctp_parse_u64(text, point, &whole)) ||
	    __builtin_mul_overflow(whole, unit, ns))
		return false;
	uint64_t part = 0;
	for (const char *digit = point + 1; digit < end; digit++) {
		if (unit % 10)
			break; /* less than a nanosecond */
		unit /= 10;
		part += unit * (uint64_t)(*digit - '0');
	}
	return !__builtin_add_overflow(*ns, part, ns);
}

enum ctp_status ctp_report_window(const struct ctp_report *r, const struct ctp_section *sec, struct ctp_err *err)
{
	if (!sec->ordinal || !(r->since_ns || r->until_ns))
		return CTP_OK;
	return ctp_err_set(err, "a section has no clock, and its records have numbers: leave out %s",
	                   r->since_ns ? "--since" : "--until");
}

enum ctp_status ctp_texts_add(struct ctp_texts *t, const char *text, struct ctp_err *err)
{
	if (t->count == CTP_TEXTS_MAX)
		return ctp_err_set(err, "%s: is one too many, there can be %d", text, CTP_TEXTS_MAX);
	if (!CTP_ARRAY_RESERVE(t->list, t->room, t->count + 1, CTP_TEXTS_MAX) || !(t->list[t->count] = strdup(text)))
		return ctp_err_memory(err);
	t->count++;
	return CTP_OK;
}

/* The line without the space around it; null: it is empty, or a comment. */
static const char *trim(char *line)
{
	char *end = line + strlen(line);
	while (isspace((unsigned char)*line))
		line++;
	while (end > line && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return *line && *line != '#' ? line : NULL;
}

enum ctp_status ctp_texts_read(struct ctp_texts *t, const char *path, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	char *line = NULL;
	size_t room = 0;
	FILE *file = fopen(path, "re");
	if (!file)
		return ctp_err_set(err, "%s: %s", path, strerror(errno));
	while (status == CTP_OK && getline(&line, &room, file) >= 0) {
		const char *text = trim(line);
		if (text)
			status = ctp_texts_add(t, text, err);
	}
	if (ferror(file))
		status = ctp_err_set(err, "%s: %s", path, strerror(errno));
	free(line);
	fclose(file);
	return status;
}

void ctp_texts_fini(struct ctp_texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->list[i]);
	free(t->list);
}
