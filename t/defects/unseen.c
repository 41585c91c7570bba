/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * unseen.c - waits for permits and locks that somebody ends who is not in the trace, and deadlocks that nobody
 * can end. The argument chooses one. Calls of the probe take the place of a scheduler.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctp.h"

static struct ctp_coro one, two, third; /* the third has no station with `ctp-collect -n 2` */
static int pool, lock;

static void wait_a_while(void) { nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); }

static void takes(struct ctp_coro *co, const void *object)
{
	ctp_coro_resume(co);
	ctp_coro_holds(co, object, 1);
	ctp_coro_suspend(co, CTP_HERE);
	ctp_coro_wake(co);
}

static void waits(struct ctp_coro *co, const void *object, uint32_t what)
{
	ctp_coro_resume(co);
	ctp_coro_waits_for(co, object, what, 1, 0);
	ctp_coro_suspend(co, CTP_HERE);
}

/* A pool of two permits: the coroutine holds one and waits for the other. */
static void waits_for_second(void)
{
	takes(&one, &pool);
	ctp_object(&pool, CTP_FOR_PERMITS, 0);
	waits(&one, &pool, CTP_FOR_PERMITS);
}

/* The other permit is held by a coroutine that found no station. */
static void untraced(void)
{
	takes(&third, &pool);
	waits_for_second();
}

/* By a thread, which gives it back later. */
static pthread_barrier_t taken, over;
static void *holds_one(void *arg)
{
	pthread_barrier_wait(&taken);
	pthread_barrier_wait(&over);
	return arg;
}

static void thread(void)
{
	pthread_t other;
	pthread_barrier_init(&taken, NULL, 2);
	pthread_barrier_init(&over, NULL, 2);
	if (pthread_create(&other, NULL, holds_one, NULL))
		abort();
	pthread_barrier_wait(&taken);
	waits_for_second();
	wait_a_while();
	pthread_barrier_wait(&over);
	pthread_join(other, NULL);
}

/* By a coroutine that was given it, and records that only when it runs. */
static void records_late(void)
{
	waits(&two, &pool, CTP_FOR_PERMITS);
	ctp_coro_wake_for(&two, &pool);
	waits_for_second();
}

/* The only lock is handed on: its next holder has not been woken yet. */
static void handed(void)
{
	takes(&two, &lock);
	waits(&one, &lock, CTP_FOR_LOCK);
	ctp_coro_holds(&two, &lock, -1);
	ctp_coro_holds(&one, &lock, 1);
}

/* Two mutexes in two orders. That there is a coroutine without a station does not matter. */
static void mutexes(void)
{
	takes(&one, &pool);
	takes(&two, &lock);
	waits(&one, &lock, CTP_FOR_LOCK);
	waits(&two, &pool, CTP_FOR_LOCK);
}

/* Each of two coroutines has one of two permits, and wants the other. */
static void permits(void)
{
	takes(&one, &pool);
	takes(&two, &pool);
	ctp_object(&pool, CTP_FOR_PERMITS, 0);
	waits(&one, &pool, CTP_FOR_PERMITS);
	waits(&two, &pool, CTP_FOR_PERMITS);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} runs[] = {
		{"untraced", untraced}, {"thread", thread}, {"late", records_late}, {"handed", handed},
		{"mutexes", mutexes}, {"permits", permits},
	};
	bool is_pool = argc > 1 && strcmp(argv[1], "mutexes");
	ctp_object_new(&lock, CTP_FOR_LOCK, 1, "a lock", 0);
	if (is_pool)
		ctp_object_new(&pool, CTP_FOR_PERMITS, 2, "a pool", CTP_MARK_OWNED);
	else
		ctp_object_new(&pool, CTP_FOR_LOCK, 1, "another lock", 0);
	ctp_coro_new(&one, 1);
	ctp_coro_new(&two, 2);
	ctp_coro_new(&third, 3);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
		if (argc > 1 && !strcmp(argv[1], runs[i].name)) {
			runs[i].run();
			wait_a_while();
			return 0;
		}
	return 2;
}
