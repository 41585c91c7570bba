/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * thread-runs.h - which thread is in the middle of a run: it has resumed a coroutine, and neither suspended it nor resumed
 * another since.
 *
 * The rings know, in what was taken of them already: nothing is counted while they are emptied. It is a hint, for whoever
 * wants to look at the thread; what the target overwrites meanwhile makes it wrong and does no other harm.
 */
#ifndef CTP_THREAD_RUNS_H
#define CTP_THREAD_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/rings.h"

struct ctp_thread_run {
	uint64_t since_ns;
	uint64_t tid;
};

/* Of the thread that writes to this ring. False: it is not in a run, or there is more in its ring. */
bool ctp_thread_runs_find(const struct ctp_rings *r, uint32_t ring, struct ctp_thread_run *run);

/* Whether a coroutine was woken that no thread has resumed since, by the last entries of the rings. */
bool ctp_thread_runs_ready(const struct ctp_rings *r);

/* The thread that writes to this ring, and the time of its last entry. False: there is none. */
struct ctp_thread_wrote {
	uint64_t tid, last_ns;
};
bool ctp_thread_runs_wrote(const struct ctp_rings *r, uint32_t ring, struct ctp_thread_wrote *wrote);

#endif
