/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * unstarted.c - jobs are made and run at once. With the bug a few are made, and never given to the scheduler.
 */
#include "scheduler.h"

enum { JOBS = 200, FORGOTTEN = 60 };

static bool bug;

static void job(struct task *self) { task_sleep(self, MS); }

static void make_jobs(struct task *self)
{
	for (int i = 0; i < JOBS; i++) {
		struct task *t = task_new(job, i);
		if (!bug || i % FORGOTTEN != FORGOTTEN / 2) { /* the bug */
			sched_lock();
			task_wake(t);
			sched_unlock();
		}
		task_sleep(self, 2 * MS);
	}
}

int main(int argc, char **argv)
{
	bug = bug_wanted(argc, argv);
	task_spawn(make_jobs, 0);
	sched_start(2);
	if (sched_wait(0))
		sched_hang(500 * MS);
	return 0;
}
