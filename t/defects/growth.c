/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * growth.c - each connection has a coroutine that watches it. With the bug they are never ended, and accumulate.
 */
#include "scheduler.h"

enum { CONNS = 600 };

static struct box closed[CONNS];
static bool bug;

static void watcher(struct task *self)
{
	box_get(self, &closed[self->number]);
}

static void conn(struct task *self)
{
	task_spawn(watcher, self->number); /* grows here */
	task_sleep(self, 5 * MS);
	if (!bug)
		box_put(&closed[self->number]);
}

static void accept_all(struct task *self)
{
	for (int i = 0; i < CONNS; i++) {
		task_spawn(conn, i);
		task_sleep(self, 2 * MS);
	}
}

int main(int argc, char **argv)
{
	bug = bug_wanted(argc, argv);
	task_spawn(accept_all, 0);
	sched_start(2);
	sched_wait(0);
	return 0;
}
