/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * harvest.h - from stations in shared memory to records in a stream.
 *
 * One harvest for one mapping. The mapping is hostile: every value is read once and checked. Nothing here blocks, makes a
 * system call on the hot path or allocates after the start; station state is taken from the system as stations come into use.
 *
 *	look:   ctp_harvest_scan (hot stations, new stations, a slice of the sweep) or ctp_harvest_sweep (all of them)
 *	settle: ctp_harvest_settle sorts what was found, writes it, and makes the mark
 */
#ifndef CTP_HARVEST_H
#define CTP_HARVEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/harvest-stats.h"
#include "stream/events.h"
#include "stream/writer.h"

struct ctp_frame; /* frame-queue.h: for find_code */
struct ctp_budget; /* base/budget.h */

enum ctp_dialect { CTP_DIALECT_AUTO, CTP_DIALECT_SEQLOCK, CTP_DIALECT_PLAIN };

struct ctp_harvest_conf {
	void *shm;              /* 1024 x (1 + max_stations) bytes or more, mapped read-write, shared; header already written */
	size_t bytes;           /* of the mapping; if there is an annex in it (arena.h), it is open */
	uint32_t max_stations;
	bool attach;            /* it was in use before we came: the first look begins with what it remembers */
	enum ctp_dialect dialect;
	struct ctp_writer *writer;
	struct ctp_budget *budget; /* of what grows with the target's numbers; null: no limit */
	/* Called from settle for each thread id not seen before (as far as a bounded memory of them reaches). */
	void (*new_thread)(void *arg, uint64_t tid);
	/*
	 * Asked in each look, every few milliseconds. True: the look ends there, and the next one goes on; after the last, what it has
	 * not read is lost. Null: a look ends when it has seen all.
	 */
	bool (*has_to_end)(void);
	uint64_t calm_ns;      /* it is not asked before a look has taken so long */
	uint64_t last_calm_ns; /* nor before the last one has used so much CPU time */
	/*
	 * Called after a look for the address of the code of n coroutines, by their frames; 0: there is none, or it is not to
	 * be had. Returns for how many, from the first on, there is an answer: at least one. Null: none is asked for.
	 */
	size_t (*find_code)(void *arg, const struct ctp_frame *frames, size_t n, uint64_t *code);
	void *arg;
};

struct ctp_harvest;
struct ctp_harvest *ctp_harvest_new(const struct ctp_harvest_conf *conf, struct ctp_err *err);
void ctp_harvest_free(struct ctp_harvest *h);

/* A record that is written now with this time comes before all that are not yet in the order of the stream. */
uint64_t ctp_harvest_floor_ns(const struct ctp_harvest *h);

/* A record of the caller's, which takes its place in the order of time. The values are given as for CTP_ROWS_PUT of rows.h. */
#define CTP_HARVEST_PUT(harvest, event, ts_ns, ...) \
	ctp_harvest_put(harvest, event, ts_ns, (const uint64_t[]){__VA_ARGS__}, \
	                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void ctp_harvest_put(struct ctp_harvest *h, enum ctp_event event, uint64_t ts_ns, const uint64_t *values, size_t n);

/*
 * The times of the newest events that were taken: of this process, by the rings of its threads; and of all. Where no ring is of
 * this process, or none of another, all count for it. 0: there is none.
 */
void ctp_harvest_newest(const struct ctp_harvest *h, pid_t pid, uint64_t *own_ns, uint64_t *all_ns);

/* Where there are rings, those of the threads: how many, and whether that of one says that it is in a run (thread-runs.h). */
struct ctp_thread_run;
uint32_t ctp_harvest_rings(const struct ctp_harvest *h);
bool ctp_harvest_wrote(const struct ctp_harvest *h, uint64_t tid); /* since we came, to a ring */
bool ctp_harvest_run(const struct ctp_harvest *h, uint32_t ring, struct ctp_thread_run *run);
struct ctp_thread_wrote;
bool ctp_harvest_ring_wrote(const struct ctp_harvest *h, uint32_t ring, struct ctp_thread_wrote *wrote);
bool ctp_harvest_ready(const struct ctp_harvest *h); /* a coroutine was woken, and not resumed since */

/* The descriptors that coroutines wait for (waited-fds.h); null: there are no rings, which would say so. */
struct ctp_waited_fds;
struct ctp_waited_fds *ctp_harvest_fds(struct ctp_harvest *h);

/* What a look has found, for the pace of the next. */
struct ctp_look {
	size_t found;     /* events and other entries, lost ones included */
	unsigned busiest; /* the most of them in one station that has no ring: it holds 8 */
	unsigned fill;    /* how full the fullest ring was, of 256; or how short of stations the target could become */
	bool more;        /* there is more than one look takes */
	bool doubt;       /* some that was found is to be proved by a look some ms later */
};

/*
 * Looks at the rings; at the hot stations, at newly allocated ones, and at as much of the others as the time since the last
 * look pays for (a whole sweep of one cache line each about every 2 ms, less often where that would cost more than 1.5 % of
 * the time). Stations that have rings cost nothing here. Returns the number found; look may be null.
 */
size_t ctp_harvest_scan(struct ctp_harvest *h, struct ctp_look *look);

/* Looks at the rings and at every other station. Needed once after tracer_sleeping was set and before a long rest. */
size_t ctp_harvest_sweep(struct ctp_harvest *h, struct ctp_look *look);

/*
 * Deaths, births whose header was not whole at first, untraced. Reads one line of each living station that has no ring; and of
 * all, after a ring was full, for what it had no room for.
 */
void ctp_harvest_lives(struct ctp_harvest *h);

/*
 * The end of the trace: everything that was ever published, the births and losses that waited for what comes next; then
 * settles. gone: every writer is gone, so that a slot that does not look torn is whole. Not gone (the trace ends before the
 * target does): the usual proofs.
 *
 * That may use 2 s of CPU time, and 1 us more for each entry and 10 for each station, which is some ten times what it needs. What it
 * has not read by then, or when has_to_end says so, is one loss of nobody in particular, and missed in each ring.
 */
void ctp_harvest_last(struct ctp_harvest *h, bool gone);

/* After the last, where the target lives on without us: frees the stations of all whose death was seen. */
void ctp_harvest_release(struct ctp_harvest *h);

/* In place of the last two, where the memory is severed (memory.h): what was in the rings is one loss, of nobody in particular. */
void ctp_harvest_abandon(struct ctp_harvest *h);

/*
 * Sorts what was found since the last settle, writes it and the mark. Cheap when there is nothing. scan settles by itself when
 * its rows are full.
 */
void ctp_harvest_settle(struct ctp_harvest *h);
void ctp_harvest_mark(struct ctp_harvest *h); /* the same, and the mark also if nothing was found since the last one */
size_t ctp_harvest_unsettled(const struct ctp_harvest *h); /* records waiting for a settle */

const struct ctp_harvest_stats *ctp_harvest_stats(const struct ctp_harvest *h);

#endif
