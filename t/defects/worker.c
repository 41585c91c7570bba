/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * worker.c - a process, and a worker that it has made. In the end the worker waits for work from outside; with the bug some of
 * its clients leave in the middle, and those who serve them wait for good. The other process goes on.
 */
#include "scheduler.h"

#include <sys/prctl.h>

enum { CONNS = 40, ROUNDS = 40, LOST = 3, LEAVE = 8 };

static struct {
	struct box request, reply;
} conns[CONNS];
static struct box jobs;
static int lost;

static void client(struct task *self)
{
	int leave = self->number < lost ? LEAVE : ROUNDS;
	for (int i = 0; i < leave; i++) {
		box_put(&conns[self->number].request);
		box_get(self, &conns[self->number].reply);
	}
}

static void handler(struct task *self)
{
	for (int i = 0; i < ROUNDS; i++) {
		box_get(self, &conns[self->number].request); /* stuck here */
		task_sleep(self, 2 * MS);
		box_put(&conns[self->number].reply);
	}
}

static void job_taker(struct task *self)
{
	for (;;)
		box_get(self, &jobs);
}

/* Says when it has done nothing for long. */
static _Noreturn void work(int to_parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 4; i++)
		task_spawn(job_taker, i);
	for (int i = 0; i < CONNS; i++) {
		task_spawn(handler, i);
		task_spawn(client, i);
	}
	sched_start(2);
	for (int i = 0; i < 100; i++) {
		box_put(&jobs);
		block_ns(MS);
	}
	sched_wait(4 + lost);
	sched_linger(1500 * MS);
	if (write(to_parent, "", 1) != 1)
		abort();
	for (;;)
		pause();
}

static void ticker(struct task *self)
{
	for (;;)
		task_sleep(self, 5 * MS);
}

int main(int argc, char **argv)
{
	int to_parent[2];
	char byte;
	lost = bug_wanted(argc, argv) ? LOST : 0;
	ctp_init();
	if (pipe(to_parent))
		abort();
	if (!fork())
		work(to_parent[1]);
	for (int i = 0; i < 4; i++)
		task_spawn(ticker, i);
	sched_start(1);
	if (read(to_parent[0], &byte, 1) != 1)
		abort();
	sched_hang(2000 * MS); /* the collector looks at each process every second */
}
