/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * longrun.c - thousands of short runs on one thread. With the bug one of them takes half a second, and all others, who are
 * ready, wait for their turn.
 */
#include "scheduler.h"

enum { TASKS = 20, ROUNDS = 200, LONG_TASK = 7, LONG_ROUND = 120 };

static bool bug;

static void worker(struct task *self)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (bug && self->number == LONG_TASK && i == LONG_ROUND)
			block_ns(500 * MS); /* the bug */
		task_yield(self);
	}
}

int main(int argc, char **argv)
{
	bug = bug_wanted(argc, argv);
	for (int i = 0; i < TASKS; i++)
		task_spawn(worker, i);
	sched_start(1);
	return sched_wait(0);
}
