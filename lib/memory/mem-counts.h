/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-counts.h - an access to memory, and what is counted of many. */
#ifndef CTP_MEM_COUNTS_H
#define CTP_MEM_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

enum { CTP_CACHE_LEVELS = 3 }; /* at most */

struct ctp_mem_access {
	uint64_t address;
	uint8_t size; /* bytes, not 0 */
	bool write, atomic, unaligned;
	bool straddles;  /* goes beyond the end of its element */
	unsigned missed; /* levels of the cache, from the first on */
};

struct ctp_mem_counts {
	uint64_t accesses[2]; /* reads, writes */
	uint64_t atomics, unaligned, straddles;
	uint64_t misses[CTP_CACHE_LEVELS][2]; /* of reads, of writes */
};

static inline void ctp_mem_count(struct ctp_mem_counts *c, const struct ctp_mem_access *a)
{
	c->accesses[a->write]++;
	c->atomics += a->atomic;
	c->unaligned += a->unaligned;
	c->straddles += a->straddles;
	for (unsigned i = 0; i < a->missed; i++)
		c->misses[i][a->write]++;
}

static inline void ctp_mem_counts_add(struct ctp_mem_counts *sum, const struct ctp_mem_counts *c)
{
	for (int w = 0; w < 2; w++)
		sum->accesses[w] += c->accesses[w];
	sum->atomics += c->atomics;
	sum->unaligned += c->unaligned;
	sum->straddles += c->straddles;
	for (int i = 0; i < CTP_CACHE_LEVELS; i++)
		for (int w = 0; w < 2; w++)
			sum->misses[i][w] += c->misses[i][w];
}

static inline uint64_t ctp_mem_accesses(const struct ctp_mem_counts *c) { return c->accesses[0] + c->accesses[1]; }
static inline uint64_t ctp_mem_misses(const struct ctp_mem_counts *c, unsigned level)
{
	return c->misses[level][0] + c->misses[level][1];
}

/* What people sort by: 1 for each access, and 10 for each miss, but 100 in the last of the levels. */
static inline uint64_t ctp_mem_cost(const struct ctp_mem_counts *c, unsigned levels)
{
	uint64_t cost = ctp_mem_accesses(c);
	for (unsigned i = 0; i < levels; i++)
		cost += ctp_mem_misses(c, i) * (i + 1 < levels ? 10 : 100);
	return cost;
}

#endif
