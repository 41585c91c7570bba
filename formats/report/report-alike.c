/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-alike.c - objects that differ in nothing but their addresses, as one. */
#include "report/report-alike.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

static int by_text(const char *a, const char *b) { return a && b ? strcmp(a, b) : !a - !b; }

static bool is_alone(const struct ctp_report_object *o)
{
	return o->nholders || o->held_by_others || (!o->name && !o->made && o->waiters);
}

/* Objects that are alike are equal. */
static int by_look(const struct ctp_report_object *a, const struct ctp_report_object *b)
{
	char left[CTP_PRINT_LABEL_MAX], right[CTP_PRINT_LABEL_MAX];
	int order = ctp_compare(a->what, b->what) ?: ctp_compare(a->pid, b->pid) ?: by_text(a->name, b->name);
	order = order ?: by_text(a->made, b->made) ?: ctp_compare(a->holders_known, b->holders_known);
	order = order ?: strcmp(ctp_print_available(left, a), ctp_print_available(right, b));
	order = order ?: ctp_compare(is_alone(a), is_alone(b));
	return order || !is_alone(a) ? order : ctp_compare(a->at, b->at);
}

static int by_look_and_wait(const void *x, const void *y)
{
	const struct ctp_alike *a = x, *b = y;
	return by_look(a->first, b->first) ?: ctp_most_first(a->longest_ns, b->longest_ns) ?: ctp_compare(a->first->at, b->first->at);
}

/* Of those with as many waiters, the order in the report: by the longest wait. */
static int by_waiters(const void *x, const void *y)
{
	const struct ctp_alike *a = x, *b = y;
	return ctp_most_first(a->waiters, b->waiters) ?: ctp_compare((uintptr_t)a->first, (uintptr_t)b->first);
}

uint32_t ctp_report_alike(struct ctp_alike to[CTP_REPORT_OBJECTS], const struct ctp_report_section *s, bool apart)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->nobjects; i++)
		to[i] = (struct ctp_alike){&s->objects[i], s->objects[i].waiters, s->objects[i].longest_ns, 1};
	if (s->nobjects && !apart)
		qsort(to, s->nobjects, sizeof *to, by_look_and_wait);
	for (uint32_t i = 0; i < s->nobjects; i++) {
		struct ctp_alike *last = n ? &to[n - 1] : NULL;
		if (apart || !last || by_look(last->first, to[i].first)) {
			to[n++] = to[i];
			continue;
		}
		last->waiters += to[i].waiters;
		last->count++;
	}
	if (n)
		qsort(to, n, sizeof *to, by_waiters);
	return n;
}

const char *ctp_alike_title(char to[CTP_PRINT_LABEL_MAX], const struct ctp_alike *a)
{
	const struct ctp_report_object *o = a->first;
	if (a->count > 1 && !o->name && !o->made)
		snprintf(to, CTP_PRINT_LABEL_MAX, "%s without a name", ctp_print_object_kind(o));
	else
		ctp_print_object(to, o);
	size_t len = strlen(to);
	if (a->count > 1)
		snprintf(to + len, CTP_PRINT_LABEL_MAX - len, " x %u", a->count);
	return to;
}
