/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-tree.c - the coroutines that wait because of a finding, as a tree. */
#include "report/report-tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Waiters in their order; null: it is in the tree already. */
struct tree {
	struct ctp_branch *to;
	unsigned count;
	const struct ctp_report_member *waiters[CTP_REPORT_MEMBERS];
	uint32_t nwaiters;
};

static int by_length(const void *a, const void *b)
{
	const struct ctp_report_member *x = *(const struct ctp_report_member *const *)a,
	                               *y = *(const struct ctp_report_member *const *)b;
	return x->for_ns != y->for_ns ? ctp_most_first(x->for_ns, y->for_ns) : ctp_most_first(y->id, x->id);
}

/* Adds the waiters of a coroutine below it. Each is removed from the list, so that a circle ends. */
static void grow(struct tree *t, const struct ctp_report_member *who, const char *name, uint64_t id, unsigned depth)
{
	assert(t->count < CTP_TREE_MAX && depth <= CTP_REPORT_MEMBERS);
	bool is_put = depth > 0; /* a waiter is always put; a member only if a coroutine waits for it */
	if (is_put)
		t->to[t->count++] = (struct ctp_branch){who, name, id, depth};
	for (uint32_t i = 0; i < t->nwaiters; i++) {
		const struct ctp_report_member *waiter = t->waiters[i];
		if (!waiter || waiter->waits_for != id)
			continue;
		if (!is_put)
			t->to[t->count++] = (struct ctp_branch){who, name, id, depth};
		is_put = true;
		t->waiters[i] = NULL;
		grow(t, waiter, waiter->name, waiter->id, depth + 1);
	}
}

static bool is_left(const struct tree *t, uint64_t id)
{
	for (uint32_t i = 0; i < t->nwaiters; i++)
		if (t->waiters[i] && t->waiters[i]->id == id)
			return true;
	return false;
}

unsigned ctp_report_tree(struct ctp_branch to[CTP_TREE_MAX], const struct ctp_finding *f)
{
	struct tree t = {.to = to};
	for (; t.nwaiters < f->nwaiters && t.nwaiters < CTP_REPORT_MEMBERS; t.nwaiters++)
		t.waiters[t.nwaiters] = &f->waiters[t.nwaiters];
	if (t.nwaiters)
		qsort(t.waiters, t.nwaiters, sizeof *t.waiters, by_length);
	for (uint32_t i = 0; t.nwaiters && i < f->nwho && i < CTP_REPORT_MEMBERS; i++)
		grow(&t, &f->who[i], f->who[i].name, f->who[i].id, 0);
	/* The waiters of coroutines that are not listed; then those that are left, which are in circles. */
	for (int any = 0; any < 2; any++)
		for (uint32_t i = 0; i < t.nwaiters; i++)
			if (t.waiters[i] && (any || !is_left(&t, t.waiters[i]->waits_for)))
				grow(&t, NULL, t.waiters[i]->waits_for_name, t.waiters[i]->waits_for, 0);
	return t.count;
}

bool ctp_report_is_spread(const struct ctp_finding *f)
{
	for (uint32_t i = 1; i < f->nwho; i++) {
		const char *a = f->who[0].place, *b = f->who[i].place;
		if (a ? !b || strcmp(a, b) : !!b)
			return true;
	}
	return false;
}
