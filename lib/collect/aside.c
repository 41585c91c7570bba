/*
 * aside.c - see aside.h.
 *
 * The lock guards everything but the job, which is the thread's while busy is set. The last to leave frees it all: the collector, or
 * a thread whose work hung until the collector had gone.
 */
#include "collect/aside.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ctp_aside {
	pthread_mutex_t lock;
	pthread_cond_t asked, done;
	pthread_t thread;
	bool started, busy, over; /* over: the collector has gone */
	void (*work)(void *job);
	_Alignas(max_align_t) char job[CTP_ASIDE_BYTES];
};

static void destroy(struct ctp_aside *a)
{
	pthread_cond_destroy(&a->asked);
	pthread_cond_destroy(&a->done);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static void *serve(void *arg)
{
	struct ctp_aside *a = arg;
	pthread_mutex_lock(&a->lock);
	for (;;) {
		while (!a->busy && !a->over)
			pthread_cond_wait(&a->asked, &a->lock);
		if (!a->busy)
			break;
		pthread_mutex_unlock(&a->lock);
		a->work(a->job);
		pthread_mutex_lock(&a->lock);
		a->busy = false;
		pthread_cond_signal(&a->done);
		if (a->over) {
			pthread_mutex_unlock(&a->lock);
			destroy(a);
			return NULL;
		}
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

struct ctp_aside *ctp_aside_new(void)
{
	struct ctp_aside *a = calloc(1, sizeof *a);
	pthread_condattr_t attr;
	if (!a)
		return NULL;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->done, &attr);
	pthread_condattr_destroy(&attr);
	pthread_cond_init(&a->asked, NULL);
	return a;
}

void ctp_aside_free(struct ctp_aside *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	bool hangs = a->busy, started = a->started;
	pthread_t thread = a->thread;
	a->over = true;
	pthread_cond_signal(&a->asked);
	if (hangs)
		pthread_detach(thread); /* before the lock goes, and with it perhaps the thread */
	pthread_mutex_unlock(&a->lock);
	if (hangs)
		return;
	if (started)
		pthread_join(thread, NULL);
	destroy(a);
}

static bool wait_for(struct ctp_aside *a)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += CTP_ASIDE_WAIT_MS / 1000;
	while (a->busy && !pthread_cond_timedwait(&a->done, &a->lock, &until))
		;
	return !a->busy;
}

bool ctp_aside_do(struct ctp_aside *a, void (*work)(void *job), void *job, size_t bytes)
{
	bool done = false;
	assert(bytes <= CTP_ASIDE_BYTES);
	pthread_mutex_lock(&a->lock);
	if (!a->started)
		a->started = !pthread_create(&a->thread, NULL, serve, a);
	if (a->started && !a->busy) {
		a->work = work;
		memcpy(a->job, job, bytes);
		a->busy = true;
		pthread_cond_signal(&a->asked);
		done = wait_for(a);
		if (done)
			memcpy(job, a->job, bytes);
	}
	pthread_mutex_unlock(&a->lock);
	return done;
}
