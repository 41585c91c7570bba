/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coro-own.h - what the tally and the judge keep of each coroutine, beside what follow.h shows to every listener.
 *
 * All coroutines are in a coro-table, and there each has a struct ctp_coro.
 */
#ifndef CTP_CORO_OWN_H
#define CTP_CORO_OWN_H

#include "analyse/follow.h"

/* The judge's bits of a coroutine's flags. */
enum {
	CTP_CO_FOUND = 1024,   /* the coroutine is in a finding */
	CTP_CO_STUCK = 4096,   /* all coroutines that could wake this one are stuck too; or it holds a thread */
	CTP_CO_PARENT = 8192,  /* a child of the coroutine is alive */
	CTP_CO_NEEDED = 16384, /* a coroutine waits that this one used to wake */
};

/*
 * What a coroutine did at one of the places where it waited. back and outside never count too many waits: a coroutine with more
 * places than CTP_CO_VISITS forgets some of its waits.
 */
enum { CTP_CO_VISITS = 4 };

struct ctp_visits {
	uint64_t waker;   /* the coroutine that ended the last wait there; 0: none, or not known */
	uint32_t place : 31; /* 0: the entry is free */
	uint32_t several : 1; /* not only one coroutine has ended these waits */
	uint16_t back;    /* waits that ended; no more are counted than fit */
	uint16_t outside; /* of these, waits that a wake from outside of all coroutines ended */
};

/* The fourth cache line: a transition with no wake touches the first two, and a resume this one. */
struct ctp_coro {
	struct ctp_coroutine shown;
	struct ctp_visits visits[CTP_CO_VISITS]; /* the tally's */
};
_Static_assert(sizeof(struct ctp_coro) == 256 || sizeof(void *) < 8, "four cache lines");

static inline struct ctp_visits *ctp_coro_visits(const struct ctp_coroutine *co) { return ((struct ctp_coro *)co)->visits; }

/* The judge's, where the times were, once the tally has summed those up. Forgotten coroutines are linked by leads_to, too. */
struct ctp_judged {
	struct ctp_coroutine *leads_to; /* the end of its chain of waits; later, the cause of its wait */
	uint32_t depth, visit;
	uint32_t group, why;
	struct ctp_coroutine *blames;
} __attribute__((may_alias));
_Static_assert(offsetof(struct ctp_coroutine, run_ns) + sizeof(struct ctp_judged) <= offsetof(struct ctp_coroutine, resumed_ns),
               "it needs no more room than the times");

static inline struct ctp_judged *ctp_judged(const struct ctp_coroutine *co)
{
	return (struct ctp_judged *)(uintptr_t)&co->run_ns;
}

#endif
