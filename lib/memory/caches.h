/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * caches.h - what caches would have done: levels of sets with the least recently used line replaced, written back when it is
 * replaced, and fetched for writing.
 *
 * An access goes to the first level, with all lines that it touches; if one of them is not there, that is one miss, all of them
 * are fetched, and the same access goes to the next level. So it is in cachegrind, whose numbers these are for the same accesses.
 * A line that is written back marks the line of the next level that has it, and changes nothing else there: neither what that
 * holds nor what it replaces next.
 */
#ifndef CTP_CACHES_H
#define CTP_CACHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "memory/mem-counts.h"

enum {
	CTP_CACHE_LINE_MIN = 16, CTP_CACHE_LINE_MAX = 128, /* bytes */
	CTP_CACHE_LINES_MAX = 1 << 23, /* of a cache */
	CTP_CACHE_WAYS_MAX = 1024,
	CTP_CACHE_OWNERS = 64, /* threads with caches of their own; of more, several have the same */
};

struct ctp_cache_shape {
	uint64_t size; /* bytes */
	uint32_t ways, line;
};

struct ctp_cache_counts {
	uint64_t hits[2], misses[2]; /* of reads, of writes */
	uint64_t write_backs;        /* lines that were replaced and had been written */
	uint64_t invalidated;        /* lines that a write of another thread took out of here */
	uint64_t taken;              /* misses of such a line, whose place had not been taken since */
};

/* "32k,8,64": size in bytes, or with k or m, ways, and bytes of a line. */
enum ctp_status ctp_cache_shape_parse(struct ctp_cache_shape *shape, const char *text, struct ctp_err *err);

struct ctp_caches;

/*
 * own: each thread has its own of all levels but the last, and what one writes is taken out of those of the others; with one level
 * each has that. Null: err says why.
 */
struct ctp_caches *ctp_caches_new(const struct ctp_cache_shape *shapes, unsigned nlevels, bool own, struct ctp_err *err);
void ctp_caches_free(struct ctp_caches *c);

/* All lines are forgotten, and not written back. */
void ctp_caches_clear(struct ctp_caches *c);

/* In how many levels it missed; CTP_CACHE_LEVELS + 1: out of memory. The thread is a number from 0 on. */
unsigned ctp_caches_access(struct ctp_caches *c, uint32_t thread, uint64_t address, uint32_t size, bool write);

const struct ctp_cache_shape *ctp_caches_shape(const struct ctp_caches *c, unsigned level);
const struct ctp_cache_counts *ctp_caches_counts(const struct ctp_caches *c, unsigned level);
uint64_t ctp_caches_memory_writes(const struct ctp_caches *c); /* lines that went to memory */
bool ctp_caches_own(const struct ctp_caches *c, unsigned level); /* each thread has its own */

#endif
