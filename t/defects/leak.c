/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * leak.c - requests come and go within milliseconds. Those that fail wait for somebody who tries them again; with the bug there
 * is nobody, and they stay for ever.
 */
#include "scheduler.h"

enum { REQUESTS = 300, FAILS = 70 };

static struct box again;
static bool bug;

static void request(struct task *self)
{
	task_sleep(self, MS);
	if (self->number % FAILS == FAILS / 2)
		box_get(self, &again); /* stuck here */
	task_sleep(self, MS);
}

static void accept_all(struct task *self)
{
	for (int i = 0; i < REQUESTS; i++) {
		task_spawn(request, i);
		task_sleep(self, MS);
		if (!bug && i % FAILS == FAILS / 2)
			box_put(&again);
	}
}

int main(int argc, char **argv)
{
	bug = bug_wanted(argc, argv);
	task_spawn(accept_all, 0);
	sched_start(2);
	if (sched_wait(0))
		sched_hang(500 * MS);
	return 0;
}
