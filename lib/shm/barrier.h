/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * barrier.h - a full fence in every thread of this machine, in the background.
 *
 * membarrier(2) with MEMBARRIER_CMD_GLOBAL waits until every thread, of whatever process, has passed a state in which its
 * accesses to memory match the order of its program. It asks nothing of those processes, and takes long: some milliseconds, tens
 * on an idle machine. So a thread of its own calls it, which is started when there is something to ask.
 */
#ifndef CTP_BARRIER_H
#define CTP_BARRIER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ctp_barrier {
	bool usable; /* false: the system has none (ENOSYS, seccomp, a kernel with nohz_full), or has refused it since */

	/* barrier.c's own */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t asked, passed;
	bool started, finished, refused;
};

void ctp_barrier_init(struct ctp_barrier *b);
void ctp_barrier_fini(struct ctp_barrier *b); /* waits for one that is under way */

/* One that begins after this. What is loaded before this call is loaded before it. */
uint64_t ctp_barrier_ask(struct ctp_barrier *b);

/* Those up to this number have been passed, or refused: see usable. What is loaded after this call is loaded after them. */
uint64_t ctp_barrier_passed(struct ctp_barrier *b);

/* The same, after it has waited for number n, but not for longer than about limit_ns. */
uint64_t ctp_barrier_wait(struct ctp_barrier *b, uint64_t n, uint64_t limit_ns);

#endif
