/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mailbox.c - handlers answer clients, and a client that leaves in the middle forgets the handler that waits for its next word.
 * The others go on, then the program hangs.
 *
 *	mailbox [bug [LOST [THREADS]]]
 */
#include "scheduler.h"

enum { CONNS = 60, ROUNDS = 60, LEAVE = 8 };

static struct {
	struct box request, reply;
} conns[CONNS];
static int lost;

/* Leaves a word without telling who waits for it. */
static void forgetful_put(struct box *b)
{
	sched_lock();
	b->messages++;
	queue_pop(&b->waiting); /* the bug */
	sched_unlock();
}

static void client(struct task *self)
{
	int leave = self->number < lost ? LEAVE : ROUNDS;
	for (int i = 0; i < leave; i++) {
		box_put(&conns[self->number].request);
		box_get(self, &conns[self->number].reply);
	}
	if (leave == LEAVE) {
		task_sleep(self, 2 * MS);
		forgetful_put(&conns[self->number].request);
	}
}

static void handler(struct task *self)
{
	for (int i = 0; i < ROUNDS; i++) {
		box_get(self, &conns[self->number].request); /* stuck here */
		task_sleep(self, 2 * MS);
		box_put(&conns[self->number].reply);
	}
}

int main(int argc, char **argv)
{
	if (bug_wanted(argc, argv))
		lost = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 0; i < CONNS; i++) {
		task_spawn(handler, i);
		task_spawn(client, i);
	}
	sched_start(argc > 3 ? atoi(argv[3]) : 4);
	if (sched_wait(0))
		sched_hang(1500 * MS);
	return 0;
}
