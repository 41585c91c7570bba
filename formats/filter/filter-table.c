/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-table.c - buckets of linked entries; the buckets double when there are as many entries. */
#include "filter/filter-table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/spread.h"

enum { BUCKETS_MIN = 256, BUCKETS_MAX = 1 << 24 };

static struct ctp_filter_entry **bucket_of(const struct ctp_filter_table *t, uint64_t a, uint64_t b)
{
	return &t->buckets[ctp_spread(a ^ b * t->salt, t->salt, t->nbuckets)];
}

bool ctp_filter_table_init(struct ctp_filter_table *t)
{
	*t = (struct ctp_filter_table){.nbuckets = BUCKETS_MIN, .salt = ctp_spread_salt()};
	t->buckets = calloc(t->nbuckets, sizeof *t->buckets);
	return t->buckets;
}

void ctp_filter_table_clear(struct ctp_filter_table *t, void (*release)(struct ctp_filter_entry *e))
{
	for (uint32_t i = 0; t->buckets && t->count && i < t->nbuckets; i++)
		for (struct ctp_filter_entry *e = t->buckets[i], *next; e; e = next, t->count--) {
			next = e->next;
			release(e);
		}
	if (t->buckets)
		memset(t->buckets, 0, t->nbuckets * sizeof(struct ctp_filter_entry *));
	assert(!t->count);
}

void ctp_filter_table_fini(struct ctp_filter_table *t, void (*release)(struct ctp_filter_entry *e))
{
	ctp_filter_table_clear(t, release);
	free(t->buckets);
	t->buckets = NULL;
}

struct ctp_filter_entry *ctp_filter_table_find(const struct ctp_filter_table *t, uint64_t a, uint64_t b)
{
	struct ctp_filter_entry *e = *bucket_of(t, a, b);
	while (e && (e->key[0] != a || e->key[1] != b))
		e = e->next;
	return e;
}

static void link_in(struct ctp_filter_table *t, struct ctp_filter_entry *e)
{
	struct ctp_filter_entry **bucket = bucket_of(t, e->key[0], e->key[1]);
	e->next = *bucket;
	*bucket = e;
}

/* Without memory the buckets stay as they are, and only get longer. */
static void grow(struct ctp_filter_table *t)
{
	uint32_t before = t->nbuckets;
	struct ctp_filter_entry **old = t->buckets, **more = calloc((size_t)2 * before, sizeof(struct ctp_filter_entry *));
	if (!more)
		return;
	t->buckets = more;
	t->nbuckets = 2 * before;
	for (uint32_t i = 0; i < before; i++)
		for (struct ctp_filter_entry *e = old[i], *next; e; e = next) {
			next = e->next;
			link_in(t, e);
		}
	free(old);
}

void ctp_filter_table_add(struct ctp_filter_table *t, struct ctp_filter_entry *e, uint64_t a, uint64_t b)
{
	assert(!ctp_filter_table_find(t, a, b));
	if (t->count >= t->nbuckets && t->nbuckets < BUCKETS_MAX)
		grow(t);
	e->key[0] = a;
	e->key[1] = b;
	link_in(t, e);
	t->count++;
}

void ctp_filter_table_remove(struct ctp_filter_table *t, struct ctp_filter_entry *e)
{
	struct ctp_filter_entry **at = bucket_of(t, e->key[0], e->key[1]);
	while (*at != e) {
		assert(*at); /* it is in the table */
		at = &(*at)->next;
	}
	*at = e->next;
	t->count--;
}

struct ctp_filter_entry *ctp_filter_table_each(const struct ctp_filter_table *t, uint32_t *at, struct ctp_filter_entry *last)
{
	struct ctp_filter_entry *e = last ? last->next : NULL;
	while (!e && *at < t->nbuckets)
		e = t->buckets[(*at)++];
	return e;
}
