/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * shutdown.c - a server that is told to end, by SIGINT, when most of its connections have come to an end. It destroys the
 * handlers of the others, which are idle for a moment or two. With the bug some of these have been waiting in vain for most of
 * its life, and then nothing is left to show it but the trace.
 */
#include "scheduler.h"

enum { CONNS = 30, ROUNDS = 60, STUCK = 3, LOST_ROUND = 10, OPEN = 10 };

static struct box requests[CONNS];
static struct task *tasks[2 * CONNS];
static bool bug;

static void client(struct task *self)
{
	unsigned random = (unsigned)self->number;
	bool is_open = self->number < OPEN, forgets = bug && self->number < STUCK;
	for (int i = 0; is_open || i < ROUNDS; i++) {
		task_sleep(self, (int64_t)(random = random * 1103515245 + 12345) % (8 * MS));
		if (!forgets || i < LOST_ROUND)
			box_put(&requests[self->number]); /* the bug: not any more */
	}
}

static void handler(struct task *self)
{
	for (int i = 0; self->number < OPEN || i < ROUNDS; i++)
		box_get(self, &requests[self->number]); /* stuck here */
}

int main(int argc, char **argv)
{
	sigset_t interrupt;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	pthread_sigmask(SIG_BLOCK, &interrupt, NULL);
	bug = bug_wanted(argc, argv);
	for (int i = 0; i < CONNS; i++) {
		tasks[2 * i] = task_spawn(handler, i);
		tasks[2 * i + 1] = task_spawn(client, i);
	}
	sched_start(2);
	sched_wait(2 * OPEN);
	sched_linger(200 * MS);
	puts("ready");
	fflush(stdout);
	int signal;
	sigwait(&interrupt, &signal);
	sched_lock(); /* for ever, so that no destroyed coroutine runs */
	for (int i = 0; i < 2 * OPEN; i++)
		ctp_coro_death(&tasks[i]->trace);
	return 0;
}
