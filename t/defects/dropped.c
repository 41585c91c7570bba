/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * dropped.c - jobs go round among a few coroutines. With the bug one of these is woken and put into a queue that no thread
 * looks at any more.
 */
#include "scheduler.h"

enum { RINGS = 10, MEMBERS = 4, ROUNDS = 60, DROP_RING = 3, DROP_ROUND = 9 };

static struct box boxes[RINGS][MEMBERS];
static struct queue abandoned; /* of a thread that has ended */
static bool bug;

static void put(struct box *b, struct queue *to)
{
	sched_lock();
	b->messages++;
	struct task *t = queue_pop(&b->waiting);
	if (t && to == &sched.ready) {
		task_wake(t);
	} else if (t) {
		ctp_coro_wake(&t->trace);
		queue_push(to, t); /* the bug */
	}
	sched_unlock();
}

static void member(struct task *self)
{
	int ring = self->number / MEMBERS, place = self->number % MEMBERS;
	for (int i = 0; i < ROUNDS; i++) {
		box_get(self, &boxes[ring][place]); /* stuck here */
		task_sleep(self, MS);
		bool drop = bug && ring == DROP_RING && place == MEMBERS - 2 && i == DROP_ROUND;
		put(&boxes[ring][(place + 1) % MEMBERS], drop ? &abandoned : &sched.ready);
	}
}

int main(int argc, char **argv)
{
	bug = bug_wanted(argc, argv);
	for (int i = 0; i < RINGS * MEMBERS; i++)
		task_spawn(member, i);
	sched_start(3);
	for (int i = 0; i < RINGS; i++)
		box_put(&boxes[i][0]);
	if (sched_wait(0))
		sched_hang(500 * MS);
	return 0;
}
