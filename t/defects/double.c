/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * double.c - with the bug a coroutine is in the run queue twice, and another thread resumes it while it runs.
 */
#include "scheduler.h"

enum { TASKS = 20, ROUNDS = 50, TWICE = 5, TWICE_ROUND = 20 };

static bool bug;

static void *resume_again(void *arg)
{
	struct task *t = arg;
	ctp_coro_resume(&t->trace);
	return NULL;
}

static void worker(struct task *self)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t other;
		if (bug && self->number == TWICE && i == TWICE_ROUND && !pthread_create(&other, NULL, resume_again, self))
			pthread_join(other, NULL); /* the probe allows one call at a time */
		task_sleep(self, MS);
	}
}

int main(int argc, char **argv)
{
	bug = bug_wanted(argc, argv);
	for (int i = 0; i < TASKS; i++)
		task_spawn(worker, i);
	sched_start(2);
	return sched_wait(0);
}
