/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * barrier.c - one thread that waits for the kernel, so that no other has to.
 *
 * The lock is what orders. The caller's loads before it asks come before membarrier(2), and its loads after it has learnt that
 * the call is over come after it.
 */
#include "shm/barrier.h"

#include <assert.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"

void ctp_barrier_init(struct ctp_barrier *b)
{
	*b = (struct ctp_barrier){0};
	pthread_mutex_init(&b->lock, NULL);
	ctp_clock_cond_init(&b->changed);
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
	b->usable = commands > 0 && commands & MEMBARRIER_CMD_GLOBAL;
}

/* The thread that calls membarrier(2), for all processes. What its return shows is proved in t/proof: quiet_eighth. */
static void *barrier_main(void *arg)
{
	struct ctp_barrier *b = arg;
	pthread_mutex_lock(&b->lock);
	while (!b->finished) {
		if (b->passed == b->asked) {
			pthread_cond_wait(&b->changed, &b->lock);
			continue;
		}
		uint64_t asked = b->asked;
		pthread_mutex_unlock(&b->lock);
		bool refused = syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0;
		pthread_mutex_lock(&b->lock);
		assert(b->passed < asked && asked <= b->asked);
		b->refused |= refused;
		b->passed = asked;
		pthread_cond_broadcast(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

uint64_t ctp_barrier_ask(struct ctp_barrier *b)
{
	if (!b->started)
		b->started = !ctp_signals_thread(&b->thread, barrier_main, b);
	if (!b->started) {
		b->usable = false;
		return b->passed = ++b->asked;
	}
	pthread_mutex_lock(&b->lock);
	uint64_t n = ++b->asked;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	return n;
}

uint64_t ctp_barrier_wait(struct ctp_barrier *b, uint64_t n, uint64_t limit_ns)
{
	struct timespec until = ctp_clock_deadline(limit_ns);
	pthread_mutex_lock(&b->lock);
	while (b->passed < n && !pthread_cond_timedwait(&b->changed, &b->lock, &until))
		;
	assert(n <= b->asked && b->passed <= b->asked);
	uint64_t passed = b->passed;
	b->usable &= !b->refused;
	pthread_mutex_unlock(&b->lock);
	return passed;
}

uint64_t ctp_barrier_passed(struct ctp_barrier *b) { return ctp_barrier_wait(b, 0, 0); }

void ctp_barrier_fini(struct ctp_barrier *b)
{
	if (b->started) {
		pthread_mutex_lock(&b->lock);
		b->finished = true;
		pthread_cond_broadcast(&b->changed);
		pthread_mutex_unlock(&b->lock);
		pthread_join(b->thread, NULL);
	}
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
}
