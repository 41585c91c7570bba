/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * collapse.c - clients that all need one coroutine, which asks another for each of them. With the bug one answer is lost, and
 * then nothing goes on.
 */
#include "scheduler.h"

enum { CLIENTS = 30, ROUNDS = 200, LOST = CLIENTS * ROUNDS / 2 };

static struct box requests, replies, reads, blocks;
static bool bug;

static void client(struct task *self)
{
	for (int i = 0; i < ROUNDS; i++) {
		box_put(&requests);
		box_get(self, &replies);
		task_sleep(self, MS);
	}
}

static void database(struct task *self)
{
	for (int i = 0; i < CLIENTS * ROUNDS; i++) {
		box_get(self, &requests);
		box_put(&reads);
		box_get(self, &blocks); /* stuck here */
		box_put(&replies);
	}
}

static void disk(struct task *self)
{
	for (int i = 0; i < CLIENTS * ROUNDS; i++) {
		box_get(self, &reads);
		if (!bug || i != LOST) /* the bug */
			box_put(&blocks);
	}
}

int main(int argc, char **argv)
{
	bug = bug_wanted(argc, argv);
	task_spawn(database, 0);
	task_spawn(disk, 0);
	for (int i = 0; i < CLIENTS; i++)
		task_spawn(client, i);
	sched_start(2);
	if (sched_wait(0))
		sched_hang(500 * MS);
	return 0;
}
