/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-seen.h - what the collector saw of a process from outside: when the process was stopped, whether a thread was on a processor
 * or slept, and whether all threads slept.
 */
#ifndef CTP_PROC_SEEN_H
#define CTP_PROC_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/linkage.h"
#include "stream/record.h"

CTP_C_BEGIN

enum { CTP_PROC_SEEN_STOPS = 1024 }; /* stops that are kept; later ones become part of the last */

/* A sample: how long the thread was on a processor since its start, and how long it was ready and not on one. */
struct ctp_proc_seen_at {
	uint64_t ts_ns, cpu_ns, delay_ns; /* all 0: the start of the thread */
};

/* Samples of a thread within one run, and around it. */
struct ctp_proc_seen_run {
	struct ctp_proc_seen_at before, first, last, after; /* after: the first one after the run; ts_ns 0: there is none yet */
	uint32_t samples, asleep; /* within the run; asleep: those that saw the thread sleep, or blocked in the kernel */
};

/* All samples of a thread. */
struct ctp_proc_seen_delay {
	uint64_t samples; /* its start counts as one, if that is in the trace */
	struct ctp_proc_seen_at last;
	uint64_t most_ns; /* how long the thread was ready and not on a processor between two successive samples, at most */
};

struct ctp_proc_seen {
	struct ctp_proc_seen_stop {
		uint64_t from_ns, to_ns;
	} *stops; /* in time order */
	uint32_t nstops;
	uint64_t total_ns;   /* the length of all stops */
	uint64_t stopped_ns; /* the process is stopped since then; 0: the process is not stopped */
	struct ctp_proc_seen_round {
		uint64_t ts_ns, cpu_ns, threads;
		bool asleep; /* all threads were */
	} round, before; /* a sample of each thread, all with one time: the round at hand, and the last that was whole */
	uint64_t looked_ns, sure_ns; /* the collector's last look, and the one before: all events are there up to sure_ns */
	uint64_t still_from_ns, still_to_ns; /* two times at which all threads slept, with no CPU time between; 0: none */
};

void ctp_proc_seen_clear(struct ctp_proc_seen *seen);
void ctp_proc_seen_fini(struct ctp_proc_seen *seen);

/*
 * A record of the kind process, or sample. last_ns: the last event; run: the samples of the thread's run so far, or null; delay: or
 * null. Of a sample: whether the thread was ready, on a processor or not.
 */
void ctp_proc_seen_process(struct ctp_proc_seen *seen, const struct ctp_record *rec, uint64_t ts, uint64_t last_ns);
bool ctp_proc_seen_sample(struct ctp_proc_seen *seen, const struct ctp_record *rec, uint64_t ts, struct ctp_proc_seen_run *run,
                          struct ctp_proc_seen_delay *delay);

/* When the process of a record of the kind process was last seen alive. */
uint64_t ctp_proc_seen_alive_ns(const struct ctp_record *rec, uint64_t ts);

/* An event at ts: the process is not stopped any more. */
void ctp_proc_seen_went_on(struct ctp_proc_seen *seen, uint64_t ts);

/*
 * The time up to which the stream has all events, by the looks at the process; 0: not known. A process that stands still makes no
 * events.
 */
static inline uint64_t ctp_proc_seen_all_ns(const struct ctp_proc_seen *seen)
{
	return seen->sure_ns > seen->still_to_ns ? seen->sure_ns : seen->still_to_ns;
}

/* How long the process was stopped between two times. */
uint64_t ctp_proc_seen_stopped_ns(const struct ctp_proc_seen *seen, uint64_t from_ns, uint64_t to_ns);

CTP_C_END

#endif
