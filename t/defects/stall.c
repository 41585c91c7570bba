/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * stall.c - coroutines take a mutex of the thread, for a moment. With the bug somebody has ended without giving it back: who
 * takes it next never returns, and its thread is gone. The other threads go on.
 */
#include "scheduler.h"

enum { TASKS = 30, ROUNDS = 150, TAKES = 12, TAKE_ROUND = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void worker(struct task *self)
{
	for (int i = 0; i < ROUNDS; i++) {
		task_sleep(self, 2 * MS);
		if (self->number == TAKES && i == TAKE_ROUND) {
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
		}
	}
}

int main(int argc, char **argv)
{
	if (bug_wanted(argc, argv))
		pthread_mutex_lock(&mutex); /* the bug: for good */
	for (int i = 0; i < TASKS; i++)
		task_spawn(worker, i);
	sched_start(3);
	if (sched_wait(bug_wanted(argc, argv)))
		sched_hang(1500 * MS);
	return 0;
}
