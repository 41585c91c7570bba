/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* findings.c - adds findings to a section, and sorts them. */
#include "analyse/findings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Lists have room for a power of two. */
static bool has_room(struct ctp_finding **list, uint32_t n)
{
	if (n & (n - 1))
		return true;
	struct ctp_finding *more = realloc(*list, (n ? 2 * n : 1) * sizeof *more);
	*list = more ? more : *list;
	return more;
}

/* A finding of a rule that has an excuse can be ignored by either name. */
static bool is_ignored(struct ctp_report *r, const struct ctp_finding *f)
{
	bool ignored = ctp_report_ignores(r, ctp_rule_name(f->rule), f->place, f->spawn);
	if (f->excuse && f->rule != CTP_RULE_NONE)
		ignored |= ctp_report_ignores(r, ctp_rule_name(CTP_RULE_NONE), f->place, f->spawn);
	return ignored;
}

uint32_t ctp_findings_without_rule(const struct ctp_report_section *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->nsuspects; i++)
		n += s->suspects[i].rule == CTP_RULE_NONE;
	return n;
}

static bool is_full(const struct ctp_report_section *s, const struct ctp_finding *f)
{
	if (f->rule == CTP_RULE_NONE && ctp_findings_without_rule(s) == CTP_REPORT_SUSPECTS)
		return true;
	return s->nfindings + s->nsuspects == CTP_REPORT_FINDINGS + CTP_REPORT_SUSPECTS;
}

bool ctp_findings_add(struct ctp_report *r, struct ctp_report_section *s, struct ctp_finding *f)
{
	struct ctp_finding **list = f->excuse ? &s->suspects : &s->findings;
	uint32_t *n = f->excuse ? &s->nsuspects : &s->nfindings;
	bool ignored = is_ignored(r, f), added = !ignored && !is_full(s, f);
	s->ignored += ignored;
	r->ignored += ignored;
	if (added && !has_room(list, *n)) {
		r->failed = true;
		added = false;
	}
	if (added)
		(*list)[(*n)++] = *f;
	else
		ctp_finding_fini(f);
	*f = (struct ctp_finding){0};
	return added;
}

static int by_gravity(const void *a, const void *b)
{
	const struct ctp_finding *x = a, *y = b;
	return ctp_most_first(x->certainty, y->certainty) ?: ctp_most_first(y->rule, x->rule) ?:
	       ctp_most_first(x->members, y->members);
}

/* Moves waits that stand out to the end of the list. Otherwise the order stays. */
static uint32_t put_rules_first(struct ctp_finding *list, uint32_t n)
{
	uint32_t rules = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct ctp_finding f = list[i];
		if (f.rule == CTP_RULE_NONE)
			continue;
		memmove(&list[rules + 1], &list[rules], (i - rules) * sizeof *list);
		list[rules++] = f;
	}
	return rules;
}

static bool has_number(const struct ctp_finding *list, uint32_t n, uint32_t number)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].number == number)
			return true;
	return false;
}

/* Brings what is because of a root of the list to the places after it. */
static void put_below_roots(struct ctp_finding *list, uint32_t n, struct ctp_finding *sorted)
{
	uint32_t to = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (list[i].root && has_number(list, n, list[i].root))
			continue;
		sorted[to++] = list[i];
		for (uint32_t k = 0; k < n; k++)
			if (list[i].number && list[k].root == list[i].number)
				sorted[to++] = list[k];
	}
	assert(to == n); /* a root is because of no other */
	memcpy(list, sorted, n * sizeof *list);
}

/* The number that a finding gets which has another one now; 0: it is not there. */
static uint32_t new_number(const struct ctp_report_section *s, uint32_t number)
{
	const struct ctp_finding *f;
	for (uint32_t i = 0; number && (f = ctp_report_finding(s, i)); i++)
		if (f->number == number)
			return i + 1;
	return 0;
}

static void number_all(struct ctp_report_section *s)
{
	for (uint32_t i = 0; i < s->nfindings; i++)
		s->findings[i].root = new_number(s, s->findings[i].root);
	for (uint32_t i = 0; i < s->nsuspects; i++)
		s->suspects[i].root = new_number(s, s->suspects[i].root);
	for (uint32_t i = 0; i < s->nfindings; i++)
		s->findings[i].number = i + 1;
	for (uint32_t i = 0; i < s->nsuspects; i++)
		s->suspects[i].number = s->nfindings + i + 1;
}

void ctp_findings_sort(struct ctp_report *r, struct ctp_report_section *s)
{
	uint32_t rules = put_rules_first(s->suspects, s->nsuspects);
	struct ctp_finding *sorted = calloc(s->nfindings + s->nsuspects + 1, sizeof *sorted);
	if (s->nfindings)
		qsort(s->findings, s->nfindings, sizeof *s->findings, by_gravity);
	if (rules)
		qsort(s->suspects, rules, sizeof *s->suspects, by_gravity);
	if (sorted && s->nfindings)
		put_below_roots(s->findings, s->nfindings, sorted);
	if (sorted && s->nsuspects)
		put_below_roots(s->suspects, s->nsuspects, sorted);
	r->failed |= !sorted;
	number_all(s);
	free(sorted);
}
