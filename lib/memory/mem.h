/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem.h - what a program did with its memory, from a stream with the records of Cacheray: cacheray_access, cacheray_add and
 * cacheray_remove. Everything is counted in one pass, and memory is bounded by what is different: types, offsets, threads, lines
 * that are written, regions that are there at a time. Where a limit is reached, what could not be kept is counted.
 *
 * An access belongs to the region that its first byte is in, and to all members of the element there that it touches. Each section is
 * another program: its regions and caches begin anew.
 */
#ifndef CTP_MEM_H
#define CTP_MEM_H

#include "base/distinct.h"
#include "memory/caches.h"
#include "memory/hot-regions.h"
#include "memory/mem-types.h"
#include "memory/regions.h"
#include "memory/sharing.h"
#include "stream/record.h"

enum { CTP_MEM_THREADS_MAX = 1 << 16, CTP_MEM_LINE = 64 /* for sharing, where no cache says otherwise */ };

struct ctp_mem_thread {
	uint64_t id;
	uint64_t section; /* the last that it was in, from 1 on */
	uint32_t owner;   /* of caches there: which thread of that section it is */
	struct ctp_mem_counts counts;
};

/* What the stream says, or does not. */
struct ctp_mem_facts {
	uint64_t sections;
	uint64_t filtered; /* of these: sections of which a filter has left out records. The caller's to count */
	uint64_t losses;  /* records that say that others are missing */
	uint64_t lost;    /* how many those are; 1 where that is not known */
	uint64_t late;    /* accesses, adds and removes that come after later ones */
	uint64_t unknown; /* accesses that are neither read nor write: not counted further */
	uint64_t foreign; /* records of other classes */
	uint64_t added, removed, replaced, unmatched; /* regions; unmatched: removed, and there was none, nor one that was refused */
	uint64_t empty;   /* regions without a byte */
	uint64_t refused; /* regions for which there was no room */
	uint64_t alive;   /* when their section ended */
	uint64_t most_alive;
	uint64_t other_threads; /* accesses of threads for which there was no room */

	/* What the reader of the stream knows, if the caller has it. */
	bool harmed;        /* something was damaged, missing or cut short */
	uint64_t cut_short; /* sections without an orderly end */
	uint64_t unread;    /* records of packets that are damaged */
	uint64_t missing;   /* packets of which nothing is known */
};

struct ctp_mem {
	struct ctp_mem_facts facts;
	struct ctp_mem_counts all; /* from the end on */
	struct ctp_mem_types types;
	uint32_t *by_cost; /* types with accesses or regions, from the end on */
	uint32_t ntypes;
	struct ctp_mem_thread *threads; /* by id, from the end on */
	uint32_t *thread_at;            /* where a thread's number, as sharing has it, is then */
	uint32_t nthreads;
	struct ctp_hot_regions hot;
	struct ctp_caches *caches;
	unsigned levels;
	struct ctp_sharing sharing;
	struct ctp_mem_priv *priv;
};

/* nlevels 0: no caches. Null: err says why. */
struct ctp_mem *ctp_mem_new(const struct ctp_cache_shape *shapes, unsigned nlevels, bool own_caches, struct ctp_err *err);
void ctp_mem_free(struct ctp_mem *m);

/* A section begins; its records, in order; it ends. */
void ctp_mem_section(struct ctp_mem *m);
enum ctp_status ctp_mem_records(struct ctp_mem *m, const struct ctp_batch *batch, struct ctp_err *err);
void ctp_mem_section_end(struct ctp_mem *m);

/* All sections are over: what was counted is summed up and sorted. */
enum ctp_status ctp_mem_end(struct ctp_mem *m, struct ctp_err *err);

/* After the counts of types have changed. */
void ctp_mem_order_types(struct ctp_mem *m);

static inline bool ctp_mem_is_complete(const struct ctp_mem *m) { return !m->facts.losses && !m->facts.harmed; }

/* Records that are missing, with 1 for a packet of which nothing is known. */
uint64_t ctp_mem_lost(const struct ctp_mem *m);

static inline uint64_t ctp_mem_type_cost(const struct ctp_mem *m, uint32_t type)
{
	return ctp_mem_cost(&m->types.type[type].counts, m->levels);
}

#endif
