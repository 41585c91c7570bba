/*
 * threads.h - the threads of a stream, numbered in the order in which they appear. Number 0 is for records without a thread, and
 * for threads beyond the limit.
 */
#ifndef CTP_THREADS_H
#define CTP_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/proc-seen.h"

enum { CTP_THREADS_MAX = 1 << 16, CTP_THREADS_RECENT = 64, CTP_THREAD_SPANS = 64 };

/* A part of a thread's time: done_ns of it is accounted for, as busy or as unknown. */
struct ctp_thread_span {
	uint64_t from_ns, to_ns, done_ns;
};

struct ctp_thread {
	uint64_t tid, pid;
	uint64_t busy_ns, last_ns, resumes; /* busy_ns: runs that are whole, without gaps; nested runs count once */
	uint64_t unknown_ns; /* gaps; those that overlap count once */
	uint64_t gap_ns;     /* the end of the last gap */
	struct ctp_thread_span *spans; /* a ring of the last runs and gaps, in order and apart; null: none yet */
	uint32_t first_span, nspans;
	uint64_t seen_ns; /* when the collector saw the thread last, whether the thread did anything or not */
	uint64_t current; /* id of the coroutine that runs there; 0: none */
	uint64_t outer;   /* the coroutine that resumed current, as a generator is resumed; 0: none */
	uint64_t last;    /* the coroutine that was resumed there last, whether it still runs or not */
	struct ctp_proc_seen_run seen; /* samples of the run of current */
	char name[32];
};

struct ctp_map;
struct ctp_threads {
	struct ctp_thread *list; /* by number */
	uint32_t count, most; /* most: the largest count so far, of any section */
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
 * A whole run on the thread, and a gap in what is known of it. Both are told when they end. Runs inside of them were told before: a
 * run that is nested in another, or a run in a gap of which slots had kept both ends.
 */
static inline void ctp_thread_ran(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns);
/* How long the thread was busy from from_ns on, as far as the spans go back. */
uint64_t ctp_thread_busy_ns(const struct ctp_thread *th, uint64_t from_ns);
void ctp_thread_gap(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns);

void ctp_thread_ran_into(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns);

/*
 * The usual run begins behind all spans. Its span takes the room of the oldest one, which becomes one with the next. A run that
 * begins in the newest span, of which all is accounted for, makes that span longer.
 */
static inline void ctp_thread_ran(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t oldest = th->first_span, next = (oldest + 1) % CTP_THREAD_SPANS;
	if (__builtin_expect(!th->nspans || from_ns >= to_ns, 0)) {
		ctp_thread_ran_into(th, from_ns, to_ns);
		return;
	}
	struct ctp_thread_span *newest = &th->spans[(oldest + th->nspans - 1) % CTP_THREAD_SPANS];
	if (newest->to_ns > from_ns && newest->from_ns <= from_ns && newest->done_ns == newest->to_ns - newest->from_ns) {
		th->busy_ns += to_ns > newest->to_ns ? to_ns - newest->to_ns : 0;
		newest->to_ns = to_ns;
		newest->done_ns = to_ns - newest->from_ns;
	} else if (newest->to_ns <= from_ns && th->nspans == CTP_THREAD_SPANS) {
		struct ctp_thread_span *span = &th->spans[oldest], *behind = &th->spans[next];
		behind->from_ns = span->from_ns < behind->from_ns ? span->from_ns : behind->from_ns;
		behind->done_ns += span->done_ns;
		*span = (struct ctp_thread_span){from_ns, to_ns, to_ns - from_ns};
		th->first_span = next;
		th->busy_ns += to_ns - from_ns;
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
