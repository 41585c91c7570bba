/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * storm.c - a coroutine waits for a flag by yielding, that is, it wakes itself. With the bug the flag takes long, and it spins.
 */
#include "scheduler.h"

enum { SOME = 300, MANY = 400000 };

static int turns;

static void spinner(struct task *self)
{
	for (int i = 0; i < turns; i++)
		task_yield(self);
}

static void other(struct task *self)
{
	for (int i = 0; i < SOME; i++)
		task_sleep(self, MS);
}

int main(int argc, char **argv)
{
	turns = bug_wanted(argc, argv) ? MANY : SOME;
	for (int i = 0; i < 4; i++)
		task_spawn(other, i);
	task_spawn(spinner, 0);
	sched_start(2);
	return sched_wait(0);
}
