/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * threads.h - the threads of a stream, numbered in the order in which they appear. Number 0 is for records without a thread, and
 * for threads beyond the limit.
 */
#ifndef CTP_THREADS_H
#define CTP_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/machine.h"
#include "analyse/proc-seen.h"

enum { CTP_THREADS_MAX = 1 << 16, CTP_THREADS_RECENT = 64, CTP_THREAD_SPANS = 256, CTP_THREAD_SPANS_MAX = 1 << 14 };

/* A part of a thread's time that is all busy, or all unknown. */
struct ctp_thread_span {
	uint64_t from_ns;
	uint64_t to_ns : 63;
	uint64_t unknown : 1;
};

struct ctp_thread {
	uint64_t tid, pid;
	uint64_t busy_ns, last_ns, resumes; /* busy_ns: in a run that is whole, and in no gap; nested runs count once */
	uint64_t unknown_ns; /* in a gap */
	struct ctp_thread_span *spans; /* a ring of the last ones, in order and apart; null: none yet */
	uint32_t first_span, nspans, room;
	struct {
		uint64_t from_ns, to_ns, busy_ns, unknown_ns;
	} old; /* the sum of the spans that had no room any more */
	uint64_t seen_ns; /* when the collector saw the thread last, whether the thread did anything or not */
	uint64_t current; /* id of the coroutine that runs there; 0: none */
	uint64_t outer;   /* the coroutine that resumed current, as a generator is resumed; 0: none */
	uint64_t last;    /* the coroutine that was resumed there last, whether it still runs or not */
	struct ctp_proc_seen_run seen; /* samples of the run of current */
	struct ctp_proc_seen_delay delay;
	struct ctp_stalls stalls;
	char name[32];
};

struct ctp_map;
struct ctp_threads {
	struct ctp_thread *list; /* by number */
	uint32_t count, most; /* most: the largest count so far, of any section */
	uint64_t stalled_ns;  /* the last sample after which a thread was known to have had a stall */
	uint32_t recent[CTP_THREADS_RECENT]; /* numbers of the threads seen last, by tid modulo CTP_THREADS_RECENT */
	struct ctp_map *map;                 /* threads.c's own */
};

bool ctp_threads_init(struct ctp_threads *t); /* false: out of memory */
void ctp_threads_fini(struct ctp_threads *t);
void ctp_threads_clear(struct ctp_threads *t);

/* Whether the stream has named a thread; and the number of a thread, which a new one gets now. */
bool ctp_threads_has(const struct ctp_threads *t, uint64_t tid);
uint32_t ctp_threads_add(struct ctp_threads *t, uint64_t tid);

/*
 * Adds a whole run of the thread, or a gap. They may come in any order, and overlap: a run may be nested in another, a gap may have
 * runs of which slots had kept both ends, and records may be late. Time in a gap is not busy.
 */
static inline void ctp_thread_ran(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns);
void ctp_thread_gap(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns);
void ctp_thread_end(struct ctp_thread *th, uint64_t end_ns); /* what is later does not count */

/* How long the thread was busy from from_ns on, as far as the spans go back. */
uint64_t ctp_thread_busy_ns(const struct ctp_thread *th, uint64_t from_ns);

void ctp_thread_ran_into(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns);

static inline struct ctp_thread_span *ctp_thread_span(const struct ctp_thread *th, uint32_t n)
{
	return &th->spans[(th->first_span + n) & (th->room - 1)];
}

/* Adds the oldest span to the sum. */
static inline void ctp_thread_retire(struct ctp_thread *th)
{
	const struct ctp_thread_span *s = &th->spans[th->first_span];
	uint64_t ns = s->to_ns - s->from_ns;
	th->old.from_ns = th->old.to_ns ? th->old.from_ns : s->from_ns;
	th->old.to_ns = s->to_ns;
	th->old.busy_ns += s->unknown ? 0 : ns;
	th->old.unknown_ns += s->unknown ? ns : 0;
	th->first_span = (th->first_span + 1) & (th->room - 1);
	th->nspans--;
}

/* The usual run begins after all spans, and takes the room of the oldest one; or it begins in the newest, which becomes longer. */
static inline void ctp_thread_ran(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns)
{
	bool full = th->nspans == th->room;
	if (__builtin_expect(!th->nspans || from_ns >= to_ns || to_ns >> 63 || (full && th->room < CTP_THREAD_SPANS_MAX), 0)) {
		ctp_thread_ran_into(th, from_ns, to_ns);
		return;
	}
	struct ctp_thread_span *newest = ctp_thread_span(th, th->nspans - 1);
	if (newest->to_ns <= from_ns) {
		if (full)
			ctp_thread_retire(th);
		*ctp_thread_span(th, th->nspans++) = (struct ctp_thread_span){from_ns, to_ns, false};
		th->busy_ns += to_ns - from_ns;
	} else if (newest->from_ns <= from_ns && !newest->unknown) {
		uint64_t more_ns = to_ns > newest->to_ns ? to_ns - newest->to_ns : 0;
		newest->to_ns += more_ns;
		th->busy_ns += more_ns;
	} else {
		ctp_thread_ran_into(th, from_ns, to_ns);
	}
}

static inline uint32_t ctp_threads_number(struct ctp_threads *t, uint64_t tid)
{
	uint32_t recent = t->recent[tid % CTP_THREADS_RECENT];
	return t->list[recent].tid == tid ? recent : ctp_threads_add(t, tid);
}

#endif
