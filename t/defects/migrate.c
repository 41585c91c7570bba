/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * migrate.c - coroutines on four threads that share a run queue, so that each runs here and there. With the bug there is one
 * more, without a scheduler: two threads take it from each other at every turn.
 */
#include "scheduler.h"

enum { TASKS = 16, ROUNDS = 500, PASSES = 20000 };

static struct ctp_coro ball;
static int turn;

static void worker(struct task *self)
{
	for (int i = 0; i < ROUNDS; i++)
		task_sleep(self, MS / 2);
}

static void *player(void *arg)
{
	int parity = *(int *)arg;
	pthread_mutex_lock(&sched.lock);
	while (turn < PASSES) {
		if (turn % 2 == parity) {
			ctp_coro_wake(&ball); /* the bug: it is not left to the other one */
			ctp_coro_resume(&ball);
			ctp_coro_suspend(&ball, CTP_HERE);
			turn++;
			pthread_cond_broadcast(&sched.change);
		} else {
			pthread_cond_wait(&sched.change, &sched.lock);
		}
	}
	pthread_cond_broadcast(&sched.change);
	pthread_mutex_unlock(&sched.lock);
	return NULL;
}

static void play(void)
{
	pthread_t players[2];
	int parity[2] = { 0, 1 };
	ctp_coro_new(&ball, 1);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&players[i], NULL, player, &parity[i]))
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(players[i], NULL);
	ctp_coro_death(&ball);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < TASKS; i++)
		task_spawn(worker, i);
	sched_start(4);
	sched_wait(0);
	if (bug_wanted(argc, argv))
		play();
	return 0;
}
