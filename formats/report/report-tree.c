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
		t->to[t->count++] = (struct ctp_branch){.who = who, .name = name, .id = id, .depth = depth};
	for (uint32_t i = 0; i < t->nwaiters; i++) {
		const struct ctp_report_member *waiter = t->waiters[i];
		if (!waiter || waiter->waits_for != id)
			continue;
		if (!is_put)
			t->to[t->count++] = (struct ctp_branch){.who = who, .name = name, .id = id, .depth = depth};
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

/* --- what is alike -------------------------------------------------------------------------------------------------------- */

enum { ALIKE_SHOWN = 5 };

/* The end of a branch, with all that is below it. */
static unsigned end_of(const struct ctp_branch *b, unsigned n, unsigned i)
{
	unsigned end = i + 1;
	while (end < n && b[end].depth > b[i].depth)
		end++;
	return end;
}

static size_t digits(const char *s) { return strspn(s, "0123456789"); }

/* Two names that differ only in their numbers. */
static bool is_like_name(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	for (; *a && *b; a++, b++) {
		size_t x = digits(a), y = digits(b);
		if (!x != !y || (!x && *a != *b))
			return false;
		a += x ? x - 1 : 0;
		b += y ? y - 1 : 0;
	}
	return *a == *b;
}

static bool is_same_place(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static bool is_like(const struct ctp_branch *a, const struct ctp_branch *b)
{
	const struct ctp_report_member *x = a->who, *y = b->who;
	if (!x || !y || !is_like_name(a->name, b->name))
		return false;
	return is_same_place(x->place, y->place) && is_same_place(x->spawn, y->spawn) && x->state == y->state && x->awaits == y->awaits;
}

/* Whether two branches look the same, with all that is below them. */
static bool is_like_all(const struct ctp_branch *b, unsigned i, unsigned i_end, unsigned k, unsigned k_end)
{
	if (i_end - i != k_end - k)
		return false;
	for (unsigned at = 0; at < i_end - i; at++)
		if (b[i + at].depth != b[k + at].depth || !is_like(&b[i + at], &b[k + at]))
			return false;
	return true;
}

/*
 * Moves the branches that look like branch i, up to the end of its parent, to the places after it; then keeps some of them. Returns
 * the new number of branches.
 */
static unsigned fold_one(struct ctp_branch *b, unsigned n, unsigned i)
{
	unsigned end = end_of(b, n, i), kept = 1, most = end - i > 1 ? 1 : ALIKE_SHOWN, last = end;
	struct ctp_branch rest = {.depth = b[i].depth};
	for (unsigned k = end; k < n && b[k].depth == b[i].depth;) {
		unsigned k_end = end_of(b, n, k);
		if (!is_like_all(b, i, end, k, k_end)) {
			k = k_end;
			continue;
		}
		if (kept++ < most) {
			last = k = k_end;
			continue;
		}
		rest.alike++;
		rest.hidden += k_end - k - !b[k].depth;
		memmove(&b[k], &b[k_end], (n - k_end) * sizeof *b);
		n -= k_end - k;
	}
	if (rest.alike) {
		memmove(&b[last + 1], &b[last], (n - last) * sizeof *b);
		b[last] = rest;
		n++;
	}
	return n;
}

unsigned ctp_report_fold(struct ctp_branch branches[CTP_TREE_MAX], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!branches[i].alike)
			n = fold_one(branches, n, i);
	return n;
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
