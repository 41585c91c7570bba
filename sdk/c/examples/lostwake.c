/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * lostwake.c - a small M:N scheduler that loses a wake-up: what ctptools is for, in one program.
 *
 * WORKERS threads run CONNS clients and as many handlers, all of them coroutines (state machines, one step function each). A
 * client sends a request through its connection and waits for the reply, ROUNDS times; its handler answers. One client goes
 * away in the middle, and the cleanup closes the connection but forgets the handler that waits there. Nothing is corrupt, no
 * lock is held, no thread hangs: one coroutine is suspended, and nothing will ever resume it.
 *
 * Once a task is suspended, another worker may resume it before the step returns. So mailbox_get records the suspension first,
 * then lets others see the waiter, and a step that has to wait touches nothing after that.
 */
#include "ctp.h"

#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 4, CONNS = 24, ROUNDS = 50, UNLUCKY = 17, WORK_NS = 1000000 };

enum verdict { WAIT, DONE };

struct task {
	struct ctp_coro trace;
	enum verdict (*step)(struct task *t);
	const char *role;
	struct conn *conn;
	enum { SEND, RECEIVE, HANG_UP } state;
	int round;
	bool done;
	struct task *next; /* in the run queue */
};

struct mailbox { /* for one message, with one reader */
	pthread_mutex_t lock;
	struct task *waiter;
	bool full, closed;
	int message;
};

static struct conn {
	struct mailbox request, reply;
	struct task client, handler;
} conns[CONNS];

/* --- the scheduler -------------------------------------------------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work, change;
	struct task *head, **tail;
	int idle, alive;
	unsigned long steps;
	bool stop;
} sched = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .change = PTHREAD_COND_INITIALIZER,
            .tail = &sched.head };

static void task_ready(struct task *t)
{
	ctp_coro_wake(&t->trace); /* before anyone can resume it */
	pthread_mutex_lock(&sched.lock);
	t->next = NULL;
	*sched.tail = t;
	sched.tail = &t->next;
	pthread_cond_signal(&sched.work);
	pthread_mutex_unlock(&sched.lock);
}

static void task_spawn(struct task *t, const char *role, struct conn *conn, uint64_t id, enum verdict (*step)(struct task *t))
{
	*t = (struct task){ .step = step, .role = role, .conn = conn };
	char name[32];
	snprintf(name, sizeof name, "%s %d", role, (int)(conn - conns));
	ctp_coro_new(&t->trace, id);
	ctp_coro_name(&t->trace, name);
	ctp_coro_suspend(&t->trace, (const void *)(uintptr_t)step);
	pthread_mutex_lock(&sched.lock);
	sched.alive++;
	pthread_mutex_unlock(&sched.lock);
	task_ready(t);
}

/* Called with the lock held, and returns with it. */
static void task_run(struct task *t)
{
	sched.steps++;
	pthread_mutex_unlock(&sched.lock);
	ctp_coro_resume(&t->trace);
	enum verdict verdict = t->step(t);
	if (verdict == DONE)
		ctp_coro_death(&t->trace);
	pthread_mutex_lock(&sched.lock);
	if (verdict == DONE) {
		t->done = true;
		sched.alive--;
		pthread_cond_signal(&sched.change);
	}
}

static void *worker(void *arg)
{
	pthread_mutex_lock(&sched.lock);
	while (!sched.stop) {
		struct task *t = sched.head;
		if (t) {
			sched.head = t->next;
			if (!sched.head)
				sched.tail = &sched.head;
			task_run(t);
		} else {
			sched.idle++;
			pthread_cond_wait(&sched.work, &sched.lock);
			sched.idle--;
		}
	}
	pthread_mutex_unlock(&sched.lock);
	return arg;
}

/* Returns when all tasks have ended, or when for a second no task ran and none was ready. */
static void sched_wait(void)
{
	unsigned long before;
	pthread_mutex_lock(&sched.lock);
	do {
		before = sched.steps;
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		while (sched.alive && !pthread_cond_timedwait(&sched.change, &sched.lock, &until))
			;
	} while (sched.alive && (sched.steps != before || sched.head || sched.idle < WORKERS));
	sched.stop = true;
	pthread_cond_broadcast(&sched.work);
	pthread_mutex_unlock(&sched.lock);
}

/* --- connections ---------------------------------------------------------------------------------------------------------- */

static void mailbox_put(struct mailbox *box, int message)
{
	pthread_mutex_lock(&box->lock);
	struct task *waiter = box->waiter;
	box->message = message;
	box->full = true;
	box->waiter = NULL;
	pthread_mutex_unlock(&box->lock);
	if (waiter)
		task_ready(waiter);
}

/* False: the box is empty, and t is suspended at the caller's site. *message is -1 if the box is closed. */
static bool mailbox_get(struct mailbox *box, struct task *t, const void *here, struct ctp_site *there, int *message)
{
	pthread_mutex_lock(&box->lock);
	bool has = box->full || box->closed;
	if (has) {
		*message = box->full ? box->message : -1;
		box->full = false;
	} else {
		ctp_coro_suspend_at(&t->trace, here, there); /* before anyone can resume it */
		box->waiter = t;
	}
	pthread_mutex_unlock(&box->lock);
	return has;
}

/* The client ends in order. */
static void conn_close(struct conn *c)
{
	pthread_mutex_lock(&c->request.lock);
	struct task *waiter = c->request.waiter;
	c->request.closed = true;
	c->request.waiter = NULL;
	pthread_mutex_unlock(&c->request.lock);
	if (waiter)
		task_ready(waiter);
}

/* The client disappeared: close the connection if it is idle. False: it is not idle yet. */
static bool conn_reap(struct conn *c)
{
	pthread_mutex_lock(&c->request.lock);
	bool idle = c->request.waiter;
	if (idle) {
		c->request.closed = true;
		c->request.waiter = NULL; /* the bug: this coroutine is never woken */
	}
	pthread_mutex_unlock(&c->request.lock);
	return idle;
}

/* --- the coroutines ------------------------------------------------------------------------------------------------------- */

static enum verdict client_step(struct task *t)
{
	for (int answer;;) {
		switch (t->state) {
		case SEND:
			if (t->round == ROUNDS) {
				conn_close(t->conn);
				return DONE;
			}
			if (t->round == ROUNDS / 2 && t->conn == &conns[UNLUCKY]) {
				t->state = HANG_UP;
				break;
			}
			mailbox_put(&t->conn->request, t->round);
			t->state = RECEIVE;
			break;
		case RECEIVE:
			if (!mailbox_get(&t->conn->reply, t, CTP_HERE, CTP_SITE, &answer))
				return WAIT;
			t->round++;
			t->state = SEND;
			break;
		case HANG_UP:
			if (conn_reap(t->conn))
				return DONE;
			ctp_coro_suspend(&t->trace, CTP_HERE);
			task_ready(t);
			return WAIT;
		}
	}
}

static enum verdict handler_step(struct task *t)
{
	for (int question;;) {
		if (!mailbox_get(&t->conn->request, t, CTP_HERE, CTP_SITE, &question))
			return WAIT;
		if (question < 0)
			return DONE;
		nanosleep(&(struct timespec){ .tv_nsec = WORK_NS }, NULL); /* the answer takes some work */
		mailbox_put(&t->conn->reply, question + 1);
	}
}

int main(void)
{
	pthread_t workers[WORKERS];
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("lostwake: %d coroutines, made by the main thread and run by %d others\n", 2 * CONNS, WORKERS);
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&workers[i], NULL, worker, NULL))
			return perror("lostwake"), 1;
	for (int i = 0; i < CONNS; i++) {
		struct conn *c = &conns[i];
		pthread_mutex_init(&c->request.lock, NULL);
		pthread_mutex_init(&c->reply.lock, NULL);
		task_spawn(&c->handler, "handler", c, 200 + (uint64_t)i, handler_step);
		task_spawn(&c->client, "client", c, 100 + (uint64_t)i, client_step);
	}
	sched_wait();
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);

	printf("lostwake: %d done, %d never resumed\n", 2 * CONNS - sched.alive, sched.alive);
	for (int i = 0; i < CONNS; i++) {
		if (!conns[i].client.done)
			printf("lostwake: lost client %d, probe_id %d\n", i, 100 + i);
		if (!conns[i].handler.done)
			printf("lostwake: lost handler %d, probe_id %d\n", i, 200 + i);
	}
	return 0;
}
