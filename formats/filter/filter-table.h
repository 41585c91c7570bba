/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * filter-table.h - entries that are found by two numbers, and can be removed again, unlike those of a map (map.h).
 *
 * An entry is the first member of the owner's struct, which the owner allocates and frees.
 */
#ifndef CTP_FILTER_TABLE_H
#define CTP_FILTER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct ctp_filter_entry {
	struct ctp_filter_entry *next; /* in its bucket */
	uint64_t key[2];
};

struct ctp_filter_table {
	struct ctp_filter_entry **buckets;
	uint32_t nbuckets, count; /* nbuckets: a power of two */
	uint64_t salt;
};

bool ctp_filter_table_init(struct ctp_filter_table *t); /* false: out of memory; it can be freed nevertheless */
void ctp_filter_table_fini(struct ctp_filter_table *t, void (*release)(struct ctp_filter_entry *e));
void ctp_filter_table_clear(struct ctp_filter_table *t, void (*release)(struct ctp_filter_entry *e));

/* Null: there is none. */
struct ctp_filter_entry *ctp_filter_table_find(const struct ctp_filter_table *t, uint64_t a, uint64_t b);

/* The keys are new. */
void ctp_filter_table_add(struct ctp_filter_table *t, struct ctp_filter_entry *e, uint64_t a, uint64_t b);
void ctp_filter_table_remove(struct ctp_filter_table *t, struct ctp_filter_entry *e); /* the owner frees it */

/* The next entry, in no order. *at is 0 at first, and last null; nothing is added or removed in between. Null: no more. */
struct ctp_filter_entry *ctp_filter_table_each(const struct ctp_filter_table *t, uint32_t *at, struct ctp_filter_entry *last);

#endif
