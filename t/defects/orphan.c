/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * orphan.c - coroutines wait until a child of theirs is over. One child is cancelled, and who cancels it forgets who waits.
 */
#include "scheduler.h"

enum { PARENTS = 40, CANCELLED = 11 };

static bool bug;

static void child(struct task *self)
{
	task_sleep(self, 5 * MS);
	if (bug && self->number == CANCELLED) {
		sched_lock();
		self->joiner = NULL; /* the bug */
		sched_unlock();
	}
}

static void parent(struct task *self)
{
	task_join(self, task_spawn(child, self->number)); /* stuck here */
}

static void main_loop(struct task *self)
{
	for (int i = 0; i < PARENTS; i++) {
		task_spawn(parent, i);
		task_sleep(self, 5 * MS);
	}
}

int main(int argc, char **argv)
{
	bug = bug_wanted(argc, argv);
	task_spawn(main_loop, 0);
	sched_start(2);
	if (sched_wait(0))
		sched_hang(500 * MS);
	return 0;
}
