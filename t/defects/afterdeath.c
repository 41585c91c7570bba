/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * afterdeath.c - a timer that should have been stopped resumes a coroutine that is over.
 */
#include "scheduler.h"

enum { TASKS = 50, LATE = 20 };

static struct ctp_coro stale;

static void worker(struct task *self)
{
	for (int i = 0; i < 3; i++)
		task_sleep(self, MS);
	if (self->number == LATE)
		stale = self->trace; /* what the timer has */
}

int main(int argc, char **argv)
{
	sched_start(2);
	for (int i = 0; i < TASKS; i++) {
		task_spawn(worker, i);
		sched_wait(0);
		if (i == LATE && bug_wanted(argc, argv)) {
			block_ns(100 * MS); /* so that the collector knows that it is over */
			ctp_coro_resume(&stale); /* the bug */
			ctp_coro_suspend(&stale, CTP_HERE);
		}
	}
	return 0;
}
