/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* csv.c - the names of columns, which the writer and the reader of CSV share. */
#include "csv/csv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "symbols/sites.h"

static struct ctp_csv_name with_at(const char *name, bool reserved)
{
	struct ctp_csv_name full;
	snprintf(full.text, sizeof full.text, "%s%.*s", reserved ? "@" : "", (int)sizeof full.text - 2, name);
	return full;
}

struct ctp_csv_name ctp_csv_field_name(const char *name)
{
	return with_at(name, name[0] == '@' || !strcmp(name, CTP_CSV_TYPE) || !strcmp(name, CTP_CSV_LATE));
}

struct ctp_csv_name ctp_csv_class_name(const char *name) { return with_at(name, name[0] == '@'); }

struct ctp_csv_name ctp_csv_site_name(const char *field, bool all)
{
	struct ctp_csv_name name;
	snprintf(name.text, sizeof name.text, "%.*s" CTP_SITE_SUFFIX, CTP_NAME_MAX, field);
	return all ? ctp_csv_field_name(name.text) : name;
}

void ctp_csv_columns_fini(struct ctp_csv_columns *cols)
{
	for (uint32_t i = 0; i < cols->n; i++)
		free(cols->names[i]);
	free(cols->names);
	free(cols->sorted);
	*cols = (struct ctp_csv_columns){0};
}

/* Where the name stands among the sorted names, or would stand. */
static uint32_t place_of(const struct ctp_csv_columns *cols, const char *name, bool *there)
{
	uint32_t i;
	CTP_ARRAY_FIRST(i, cols->n, strcmp(cols->names[cols->sorted[i]], name) >= 0);
	*there = i < cols->n && !strcmp(cols->names[cols->sorted[i]], name);
	return i;
}

int ctp_csv_columns_find(const struct ctp_csv_columns *cols, const char *name)
{
	bool there;
	uint32_t at = place_of(cols, name, &there);
	return there ? (int)cols->sorted[at] : -1;
}

int ctp_csv_columns_add(struct ctp_csv_columns *cols, const char *name, struct ctp_err *err)
{
	bool there;
	uint32_t at = place_of(cols, name, &there);
	if (there)
		return (int)cols->sorted[at];
	if (cols->n == CTP_CSV_COLUMNS_MAX)
		return ctp_err_set(err, "more than %d columns", CTP_CSV_COLUMNS_MAX);
	char *copy;
	if (!CTP_ARRAY_RESERVE(cols->names, cols->names_room, cols->n + 1, CTP_CSV_COLUMNS_MAX) ||
	    !CTP_ARRAY_RESERVE(cols->sorted, cols->sorted_room, cols->n + 1, CTP_CSV_COLUMNS_MAX) || !(copy = strdup(name)))
		return ctp_err_memory(err);
	memmove(cols->sorted + at + 1, cols->sorted + at, (cols->n - at) * sizeof *cols->sorted);
	cols->sorted[at] = cols->n;
	cols->names[cols->n] = copy;
	return (int)cols->n++;
}
