/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * scheduler.h - the scheduler of the programs in this folder: coroutines with stacks of their own, threads that share a run
 * queue, mailboxes, sleep and join. One lock guards all of it, those of the programs' things that say so included.
 *
 * Whoever suspends must not be resumed before it is off its stack. So it switches to its thread's loop with the lock held, and
 * the loop lets go of it. What runs on behalf of a coroutine finds its thread anew after each switch: there is no
 * thread-local variable that a compiler could remember from before.
 *
 * With SCHED_QUIET the trace has no wakes, as in a program that does not tell them.
 */
#include "ctp.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 10, MS = 1000000 };

struct task {
	struct ctp_coro trace;
	void (*body)(struct task *self);
	int number; /* the caller's */
	bool done;
	struct task *joiner;
	ucontext_t context, *loop;
	char *stack;
	int64_t since_ns; /* made, or suspended */
	int64_t until_ns; /* asleep */
	struct task *next;
};

struct queue {
	struct task *head, *tail;
};

struct box { /* counts messages; who finds none waits */
	int messages;
	struct queue waiting;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work, change;
	struct queue ready;
	struct task *asleep; /* the first to wake up first */
	int threads, idle, alive;
	int64_t longest_ns; /* that one was suspended and then resumed, or ran */
} sched = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .change = PTHREAD_COND_INITIALIZER };

static inline void sched_lock(void) { pthread_mutex_lock(&sched.lock); }
static inline void sched_unlock(void) { pthread_mutex_unlock(&sched.lock); }

static inline bool bug_wanted(int argc, char **argv) { return argc > 1 && !strcmp(argv[1], "bug"); }

static inline int64_t now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts); /* that of pthread_cond_timedwait */
	return (int64_t)ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

static inline struct timespec to_timespec(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / (1000 * MS), .tv_nsec = ns % (1000 * MS) };
}

/* Of the thread, and so of all coroutines that it would run. */
static inline void block_ns(int64_t ns)
{
	struct timespec ts = to_timespec(ns);
	while (nanosleep(&ts, &ts))
		;
}

static inline void queue_push(struct queue *q, struct task *t)
{
	t->next = NULL;
	if (q->head)
		q->tail->next = t;
	else
		q->head = t;
	q->tail = t;
}

static inline struct task *queue_pop(struct queue *q)
{
	struct task *t = q->head;
	if (t)
		q->head = t->next;
	return t;
}

/* --- what is called with the lock held ------------------------------------------------------------------------------------ */

static inline void task_wake(struct task *t)
{
#ifndef SCHED_QUIET
	ctp_coro_wake(&t->trace); /* before anyone can resume it */
#endif
	queue_push(&sched.ready, t);
	pthread_cond_signal(&sched.work);
}

/* Until somebody calls task_wake. Returns without the lock. */
static inline void task_wait_at(struct task *self, const void *here, struct ctp_site *site)
{
	self->since_ns = now_ns();
	ctp_coro_suspend_at(&self->trace, here, site);
	swapcontext(&self->context, self->loop);
}

/* --- what is called without it -------------------------------------------------------------------------------------------- */

static inline void box_put(struct box *b)
{
	sched_lock();
	b->messages++;
	struct task *t = queue_pop(&b->waiting);
	if (t)
		task_wake(t);
	sched_unlock();
}

#define box_get(self, box) box_get_at(self, box, CTP_HERE, CTP_SITE)
static inline void box_get_at(struct task *self, struct box *b, const void *here, struct ctp_site *site)
{
	sched_lock();
	while (!b->messages) {
		queue_push(&b->waiting, self);
		task_wait_at(self, here, site);
		sched_lock();
	}
	b->messages--;
	sched_unlock();
}

#define task_yield(self) task_yield_at(self, CTP_HERE, CTP_SITE)
static inline void task_yield_at(struct task *self, const void *here, struct ctp_site *site)
{
	sched_lock();
	task_wake(self);
	task_wait_at(self, here, site);
}

#define task_sleep(self, ns) task_sleep_at(self, ns, CTP_HERE, CTP_SITE)
static inline void task_sleep_at(struct task *self, int64_t ns, const void *here, struct ctp_site *site)
{
	sched_lock();
	self->until_ns = now_ns() + ns;
	struct task **at = &sched.asleep;
	while (*at && (*at)->until_ns <= self->until_ns)
		at = &(*at)->next;
	self->next = *at;
	*at = self;
	pthread_cond_signal(&sched.work);
	task_wait_at(self, here, site);
}

/* Until other is over. */
#define task_join(self, other) task_join_at(self, other, CTP_HERE, CTP_SITE)
static inline void task_join_at(struct task *self, struct task *other, const void *here, struct ctp_site *site)
{
	sched_lock();
	if (other->done) {
		sched_unlock();
		return;
	}
	other->joiner = self;
	ctp_coro_await(&self->trace, &other->trace);
	task_wait_at(self, here, site);
}

/* --- the threads ---------------------------------------------------------------------------------------------------------- */

static _Thread_local struct task *sched_starts; /* read once, before anything could move */

static inline void task_main(void)
{
	struct task *self = sched_starts;
	self->body(self);
	sched_lock();
	self->done = true;
	setcontext(self->loop);
}

/* Exists, and runs when task_wake is called. */
#define task_new(body, number) task_new_at(body, number, CTP_SITE)
static inline struct task *task_new_at(void (*body)(struct task *self), int number, struct ctp_site *site)
{
	struct task *t = calloc(1, sizeof *t);
	if (!t || !(t->stack = malloc(STACK_BYTES)) || getcontext(&t->context))
		abort();
	t->body = body;
	t->number = number;
	t->since_ns = now_ns();
	t->context.uc_stack = (stack_t){ .ss_sp = t->stack, .ss_size = STACK_BYTES };
	makecontext(&t->context, task_main, 0);
	ctp_coro_new_at(&t->trace, (uintptr_t)t, site);
	sched_lock();
	sched.alive++;
	sched_unlock();
	return t;
}

#define task_spawn(body, number) task_spawn_at(body, number, CTP_SITE)
static inline struct task *task_spawn_at(void (*body)(struct task *self), int number, struct ctp_site *site)
{
	struct task *t = task_new_at(body, number, site);
	sched_lock();
	task_wake(t);
	sched_unlock();
	return t;
}

static inline void sched_took(int64_t since_ns)
{
	int64_t ns = now_ns() - since_ns;
	if (ns > sched.longest_ns)
		sched.longest_ns = ns;
}

/* With the lock held, before and after. What is left of a task that is over is never freed: anyone may still ask. */
static inline void sched_run(struct task *t)
{
	ucontext_t loop;
	t->loop = &loop;
	sched_starts = t;
	sched_took(t->since_ns);
	sched_unlock();
	int64_t resumed_ns = now_ns();
	ctp_coro_resume(&t->trace);
	swapcontext(&loop, &t->context);
	sched_took(resumed_ns);
	if (!t->done)
		return;
	ctp_coro_death(&t->trace);
	free(t->stack);
	sched.alive--;
	if (t->joiner)
		task_wake(t->joiner);
}

static inline void *sched_thread(void *arg)
{
	sched_lock();
	for (;;) {
		while (sched.asleep && sched.asleep->until_ns <= now_ns()) {
			struct task *t = sched.asleep;
			sched.asleep = t->next;
			task_wake(t);
		}
		struct task *t = queue_pop(&sched.ready);
		if (t) {
			sched_run(t);
			continue;
		}
		sched.idle++;
		pthread_cond_signal(&sched.change);
		if (sched.asleep) {
			struct timespec until = to_timespec(sched.asleep->until_ns);
			pthread_cond_timedwait(&sched.work, &sched.lock, &until);
		} else {
			pthread_cond_wait(&sched.work, &sched.lock);
		}
		sched.idle--;
	}
	return arg;
}

static inline void sched_start(int threads)
{
	sched.threads = threads;
	for (int i = 0; i < threads; i++) {
		pthread_t id;
		if (pthread_create(&id, NULL, sched_thread, NULL))
			abort();
	}
}

/* Runs until this number is left, or none of them will ever run again. Returns how many are left. */
static inline int sched_wait(int left)
{
	sched_lock();
	while (sched.alive > left && (sched.ready.head || sched.asleep || sched.idle < sched.threads))
		pthread_cond_wait(&sched.change, &sched.lock);
	int alive = sched.alive;
	sched_unlock();
	return alive;
}

/* Waits so long that it cannot be a delay of a busy machine: longer delays meanwhile make it longer. */
static inline void sched_linger(int64_t ns)
{
	for (int64_t since_ns = now_ns(), left_ns = ns; left_ns > 0;) {
		block_ns(left_ns);
		sched_lock();
		int64_t all_ns = ns > 30 * sched.longest_ns ? ns : 30 * sched.longest_ns;
		sched_unlock();
		left_ns = since_ns + all_ns - now_ns();
	}
}

/* As a program that hangs: after a while it is ended with a signal. */
static inline _Noreturn void sched_hang(int64_t ns)
{
	sched_linger(ns);
	puts("hung");
	fflush(stdout);
	for (;;)
		pause();
}
