/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * machine.h - what the machine took from the program: times in which a thread was ready and had no processor.
 *
 * A wait is compared with the longest of its kind. On a busy machine that one says more about the machine: a coroutine is woken
 * 200 ms late because the thread of its waker had no processor for 190 ms. So the longest of a kind is kept twice: as it was, and
 * without the machine's part, which is
 *
 *	- a stall of the thread that ended the wait, since the run began in which it did so, and
 *	- pauses of the whole program, in which no coroutine was resumed, as far as a thread had a stall then.
 *
 * A sample that shows a stall may come after the end of the wait. So a span that would be the longest is kept for a moment, and
 * counts when no such sample is due any more.
 */
#ifndef CTP_MACHINE_H
#define CTP_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/proc-seen.h"

enum {
	CTP_MACHINE_NS = 10000000,       /* the shortest stall, pause or span that is looked at */
	CTP_MACHINE_SETTLE_NS = 500000000, /* samples may come so late */
	CTP_MACHINE_STALLS = 16,         /* the last ones, of each thread */
	CTP_MACHINE_KEPT = 16,
	CTP_MACHINE_TAKEN = 1024,        /* the last ones, of the program */
	CTP_MACHINE_PENDING = 256,
	CTP_MACHINE_WAKES = 256,
};

struct ctp_stall {
	uint64_t from_ns, to_ns;
};

/* The stalls of a thread. */
struct ctp_stalls {
	struct ctp_stall list[CTP_MACHINE_STALLS]; /* a ring */
	uint32_t n;          /* so far */
	struct ctp_proc_seen_at first, last; /* samples that found it ready, with no CPU time between; first.ts_ns 0: none */
	struct ctp_proc_seen_at kept[CTP_MACHINE_KEPT]; /* the last samples: a ring */
	uint32_t nkept;      /* so far */
	uint64_t ran_ns;     /* when the thread was last known to be on a processor, at the first of these */
};

/* A sample of the thread, which had its last event at ran_ns. */
void ctp_stalls_sample(struct ctp_stalls *s, struct ctp_proc_seen_at before, struct ctp_proc_seen_at now, bool ready, uint64_t ran_ns);

/* How much of a time the thread was stalled. */
uint64_t ctp_stalls_ns(const struct ctp_stalls *s, uint64_t from_ns, uint64_t to_ns);

/*
 * How long the thread used a processor or was ready, between the last sample before from_ns and the newest; and how long that was.
 * 0: there are no two samples.
 */
struct ctp_stalls_used {
	uint64_t used_ns, ns;
};
struct ctp_stalls_used ctp_stalls_used(const struct ctp_stalls *s, uint64_t from_ns);

/* A span that may be the longest of its kind. */
struct ctp_machine_span {
	uint64_t *longest_ns;     /* of the kind */
	uint64_t from_ns, to_ns, ns; /* ns: without stops of the process */
	uint64_t run_ns;          /* from then on, a stall of thread made it longer; to_ns: nothing is known */
	uint32_t thread;
};

struct ctp_threads;
struct ctp_machine {
	const struct ctp_threads *threads; /* the caller's */
	struct ctp_stall taken[CTP_MACHINE_TAKEN]; /* a ring, in time order: parts of pauses */
	uint32_t ntaken;
	struct ctp_stall pauses[CTP_MACHINE_PENDING]; /* that are not looked at yet */
	uint32_t npauses;
	struct ctp_machine_span spans[CTP_MACHINE_PENDING];
	uint32_t nspans;
	struct ctp_machine_wake { /* wakes after long waits, by coroutine */
		uint64_t coro, ts_ns, run_ns;
		uint32_t thread;
	} wakes[CTP_MACHINE_WAKES];
};

void ctp_machine_clear(struct ctp_machine *m, const struct ctp_threads *threads);

/* No coroutine was resumed in between. */
void ctp_machine_pause(struct ctp_machine *m, uint64_t from_ns, uint64_t to_ns);

void ctp_machine_span(struct ctp_machine *m, struct ctp_machine_span span);

/* A wake that ends a long wait, from a run that began at run_ns on that thread; and the same again when the wait counts. */
void ctp_machine_woke(struct ctp_machine *m, struct ctp_machine_wake wake);
const struct ctp_machine_wake *ctp_machine_wake(const struct ctp_machine *m, uint64_t coro, uint64_t ts_ns); /* or null */

/* Counts what is old enough at now_ns; UINT64_MAX: all. */
void ctp_machine_settle(struct ctp_machine *m, uint64_t now_ns);

/* How much of a time pauses took that were the machine's; to be called at the end. */
uint64_t ctp_machine_ns(const struct ctp_machine *m, uint64_t from_ns, uint64_t to_ns);

#endif
