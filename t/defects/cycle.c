/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cycle.c - each coroutine of a chain waits until the next one is over. With the bug the last of one chain waits for the first.
 */
#include "scheduler.h"

enum { CHAINS = 8, LINKS = 3, CLOSED = 2, ROUNDS = 60 };

static struct task *links[CHAINS][LINKS];
static bool bug;

static void link_of_chain(struct task *self)
{
	int chain = self->number / LINKS, place = self->number % LINKS;
	task_sleep(self, MS);
	if (place < LINKS - 1)
		task_join(self, links[chain][place + 1]);
	else if (bug && chain == CLOSED)
		task_join(self, links[chain][0]); /* the bug */
	else
		task_sleep(self, 10 * MS);
}

static void ticker(struct task *self)
{
	for (int i = 0; i < ROUNDS; i++)
		task_sleep(self, 5 * MS);
}

int main(int argc, char **argv)
{
	bug = bug_wanted(argc, argv);
	task_spawn(ticker, 0);
	for (int i = 0; i < CHAINS * LINKS; i++)
		links[i / LINKS][i % LINKS] = task_spawn(link_of_chain, i);
	sched_start(2);
	if (sched_wait(0))
		sched_hang(500 * MS);
	return 0;
}
