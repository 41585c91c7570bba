/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-locks.c - mutexes and conditions of the machine, and the threads that the code starts; the linker's --wrap leads libpthread's
 * calls here. While the machine does not run they go on to libpthread.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "view-parts.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static struct lock {
	const void *at;
	bool held;
	uint64_t wakes; /* of a condition */
	struct view released;
} locks[VIEW_LOCKS];
static unsigned nlocks;

void view_locks_begin(void)
{
	for (unsigned i = 0; i < nlocks; i++) {
		view_clear(&locks[i].released);
		locks[i].at = NULL;
		locks[i].held = false;
	}
	nlocks = 0;
}

static struct lock *lock_of(const void *at)
{
	for (unsigned i = 0; i < nlocks; i++)
		if (locks[i].at == at)
			return &locks[i];
	if (nlocks == VIEW_LOCKS)
		abort();
	locks[nlocks].at = at;
	return &locks[nlocks++];
}

static bool is_free(void *lock) { return !((struct lock *)lock)->held; }

static void view_lock(const void *mutex)
{
	struct lock *lock = lock_of(mutex);
	struct view_three *v = view_step();
	view_wait(is_free, lock);
	lock->held = true;
	view_join(&v->cur, &lock->released);
	view_join(&v->acq, &lock->released);
	view_tell("lock");
}

static void view_unlock(const void *mutex)
{
	struct lock *lock = lock_of(mutex);
	struct view_three *v = view_step();
	view_join(&lock->released, &v->cur);
	lock->held = false;
	view_tell("unlock");
}

struct sleeper {
	const struct lock *condition;
	uint64_t wakes;
	bool timed;
};

static bool is_awake(void *arg)
{
	const struct sleeper *s = arg;
	return s->condition->wakes != s->wakes || (s->timed && view_chance(16));
}


static void view_wake(const void *condition) { lock_of(condition)->wakes++; }

/* --- libpthread ----------------------------------------------------------------------------------------------------------- */

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_broadcast(pthread_cond_t *condition);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return view_running ? view_lock(mutex), 0 : __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return view_running ? view_unlock(mutex), 0 : __real_pthread_mutex_unlock(mutex);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
	return view_running ? view_wake(condition), 0 : __real_pthread_cond_broadcast(condition);
}

static uint64_t sleep_unlocked(pthread_cond_t *condition, pthread_mutex_t *mutex, bool timed)
{
	uint64_t wakes = lock_of(condition)->wakes;
	struct sleeper s = {lock_of(condition), wakes, timed};
	view_unlock(mutex);
	view_wait(is_awake, &s);
	view_lock(mutex);
	return s.condition->wakes - wakes;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	sleep_unlocked(condition, mutex, false);
	return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	(void)until;
	return sleep_unlocked(condition, mutex, true) ? 0 : ETIMEDOUT;
}

static struct start {
	void *(*main)(void *arg);
	void *arg;
} starts[VIEW_THREADS];

static void begin_thread(void *arg)
{
	const struct start *start = arg;
	start->main(start->arg);
}

int __wrap_ctp_signals_thread(pthread_t *thread, void *(*main)(void *), void *arg)
{
	static unsigned n;
	struct start *start = &starts[n++ % VIEW_THREADS];
	*start = (struct start){main, arg};
	*thread = (pthread_t)view_spawn("started", begin_thread, start, VIEW_UNREGISTERED);
	return 0;
}

static bool has_ended(void *thread) { return view_ended((unsigned)(uintptr_t)thread); }

int __wrap_pthread_join(pthread_t thread, void **result)
{
	(void)result;
	view_wait(has_ended, (void *)(uintptr_t)thread);
	view_join_thread((unsigned)thread);
	return 0;
}
