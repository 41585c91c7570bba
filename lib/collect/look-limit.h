/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * look-limit.h - when a look ends before it has seen all: a signal to end waits, or the look has used its time.
 *
 * A target can give a look any amount of work. So each loop over its memory asks here, between pieces of some milliseconds. The time is
 * that of the processor: neither a slow reader of the output nor a busy machine makes a loss.
 */
#ifndef CTP_LOOK_LIMIT_H
#define CTP_LOOK_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"

struct ctp_look_limit {
	bool (*has_to_end)(void); /* null: no signal is looked for */
	uint64_t calm_ns;         /* it is not asked before a look has taken so long: an idle collector makes no system call for it */
	uint64_t begin_ns;        /* when the look began */
	uint64_t last_calm_ns;    /* nor before the last look, which leaves nothing to a next one, has used so much of the processor */
	uint64_t heed_ns;         /* in the last look: the CPU time of this thread from which on it is asked */
	uint64_t cpu_ns;          /* and that at which it ends; 0: this is not the last look */
	bool over;                /* stays until the next look begins */
};

static inline void ctp_look_limit_begin(struct ctp_look_limit *l)
{
	l->over = false;
	l->begin_ns = ctp_clock_ns();
	l->heed_ns = l->cpu_ns = 0;
}

/* The same for the last one, which may use so much. */
static inline void ctp_look_limit_last(struct ctp_look_limit *l, uint64_t most_ns)
{
	uint64_t now_ns = ctp_clock_of(CLOCK_THREAD_CPUTIME_ID);
	ctp_look_limit_begin(l);
	l->heed_ns = now_ns + l->last_calm_ns;
	l->cpu_ns = now_ns + most_ns;
}

static inline bool ctp_look_limit_over(struct ctp_look_limit *l)
{
	uint64_t cpu_ns = l->cpu_ns ? ctp_clock_of(CLOCK_THREAD_CPUTIME_ID) : 0;
	bool calm = l->cpu_ns ? cpu_ns < l->heed_ns : ctp_clock_ns() - l->begin_ns < l->calm_ns;
	l->over = l->over || (l->has_to_end && !calm && l->has_to_end()) || (l->cpu_ns && cpu_ns >= l->cpu_ns);
	return l->over;
}

/* The same in a loop that begins with at = 0, at every 64th turn. */
static inline bool ctp_look_limit_over_at(struct ctp_look_limit *l, uint64_t at) { return at % 64 == 0 && ctp_look_limit_over(l); }

#endif
