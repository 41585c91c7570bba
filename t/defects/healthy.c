/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * healthy.c - programs without a defect that look as if they had one. `healthy NAME` runs one; the table is at the end.
 */
#include "scheduler.h"

#include <sys/wait.h>

static struct box jobs, conns[50], hello;

static void job_taker(struct task *self)
{
	for (;;) {
		box_get(self, &jobs);
		task_sleep(self, MS);
	}
}

static void ticker(struct task *self)
{
	for (int i = 0; i < self->number; i++)
		task_sleep(self, 2 * MS);
}

/* By a signal that a shell may have told us to ignore. */
static void interrupt(void)
{
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
}

static void spawn_job_takers(int n)
{
	for (int i = 0; i < n; i++)
		task_spawn(job_taker, i);
}

/* --- 50 connections come at once, then none for long, while these are served ---------------------------------------------- */

static void conn_client(struct task *self)
{
	for (int i = 0; i < 100 + self->number * 2; i++) {
		box_put(&conns[self->number]);
		task_sleep(self, 5 * MS);
	}
	box_put(&conns[self->number]);
}

static void conn_handler(struct task *self)
{
	for (int i = 0; i < 101 + self->number * 2; i++)
		box_get(self, &conns[self->number]);
}

static void acceptor(struct task *self)
{
	for (int i = 0;; i++) {
		box_get(self, &hello);
		task_spawn(conn_handler, i);
		task_spawn(conn_client, i);
	}
}

static void run_accept(void)
{
	task_spawn(acceptor, 0);
	sched_start(2);
	for (int i = 0; i < 50; i++) {
		box_put(&hello);
		block_ns(MS / 10);
	}
	sched_wait(0);
}

/* --- a pool that has nothing to do ---------------------------------------------------------------------------------------- */

static void run_pool(void)
{
	spawn_job_takers(8);
	sched_start(2);
	for (int i = 0; i < 200; i++) {
		box_put(&jobs);
		block_ns(MS);
	}
	task_spawn(ticker, 300);
	sched_wait(0);
}

/* --- a timer with a long sleep -------------------------------------------------------------------------------------------- */

static void janitor(struct task *self)
{
	for (int i = 0; i < 10; i++)
		task_sleep(self, 5 * MS);
	task_sleep(self, (int64_t)3600 * 1000 * MS);
}

static void run_timer(void)
{
	task_spawn(janitor, 0);
	for (int i = 0; i < 10; i++)
		task_spawn(ticker, 400);
	sched_start(2);
	sched_wait(1);
}

/* --- a server in service that is killed by a signal ----------------------------------------------------------------------- */

static void run_service(void)
{
	task_spawn(acceptor, 0);
	sched_start(2);
	for (int i = 0; i < 5; i++)
		box_put(&hello);
	block_ns(200 * MS);
	interrupt();
}

/* --- connections that come and go, and two whose clients think for long --------------------------------------------------- */

enum { SHORT = 48, WORDS = 10 };

static void served(struct task *self)
{
	for (int i = 0; i < WORDS; i++)
		box_get(self, &conns[self->number]);
}

static void run_keepalive(void)
{
	for (int i = 0; i < SHORT + 2; i++)
		task_spawn(served, i);
	sched_start(2);
	for (int word = 0; word < WORDS; word++) { /* from outside */
		for (int i = 0; i < SHORT + 2; i++)
			if (i < SHORT || word < WORDS / 2)
				box_put(&conns[i]);
		block_ns(2 * MS);
	}
	task_spawn(ticker, 300);
	sched_wait(0);
	interrupt();
}

/* --- more and more connections, all of them in service -------------------------------------------------------------------- */

static void never_ends(struct task *self)
{
	for (;;)
		task_sleep(self, 5 * MS);
}

static void run_rampup(void)
{
	sched_start(2);
	for (int i = 0; i < 300; i++) {
		task_spawn(never_ends, i);
		block_ns(2 * MS);
	}
	interrupt();
}

/* --- one function makes all coroutines, those that end soon and those that wait for the end ------------------------------- */

static struct box stop;

static void waits_for_stop(struct task *self) { box_get(self, &stop); }

static void run_onesite(void)
{
	void (*const bodies[])(struct task *) = { acceptor, job_taker, waits_for_stop };
	sched_start(2);
	for (int i = 0; i < 303; i++) {
		task_spawn(i < 3 ? bodies[i] : ticker, 2); /* as a spawn() of a library does */
		if (i > 2)
			block_ns(2 * MS);
		if (i > 10 && i < 15)
			box_put(&jobs);
	}
	sched_wait(3);
	exit(0);
}

/* --- long runs that delay no other coroutine --------------------------------------------------------------------------------- */

static void computes(struct task *self)
{
	for (int i = 0; i < 5; i++) {
		int64_t until = now_ns() + 40 * MS;
		while (now_ns() < until)
			;
		task_yield(self);
	}
}

static void run_compute(void)
{
	for (int i = 0; i < 4; i++)
		task_spawn(computes, i);
	sched_start(2);
	sched_wait(0);
}

/* --- exit(3) while all wait ----------------------------------------------------------------------------------------------- */

static void run_exit(void)
{
	spawn_job_takers(8);
	sched_start(4);
	for (int i = 0; i < 100; i++) {
		box_put(&jobs);
		block_ns(MS);
	}
	exit(0);
}

/* --- much at once, then nothing ------------------------------------------------------------------------------------------- */

static void run_burst(void)
{
	spawn_job_takers(4);
	for (int i = 0; i < 500; i++) {
		task_spawn(ticker, 5);
		box_put(&jobs);
	}
	sched_start(2);
	sched_wait(0);
	block_ns(600 * MS);
}

/* --- nothing new, where who tells and who listens have last woken each other ---------------------------------------------- */

enum { SUBSCRIBERS = 20 };
static struct box news[SUBSCRIBERS], inbox;
static int unread; /* of those in the inbox that are not acknowledgements; with the lock */

static void publisher(struct task *self)
{
	for (;;) {
		box_get(self, &inbox);
		sched_lock();
		bool is_news = unread > 0;
		unread -= is_news;
		sched_unlock();
		for (int i = 0; is_news && i < SUBSCRIBERS; i++)
			box_put(&news[i]);
	}
}

static void subscriber(struct task *self)
{
	for (;;) {
		box_get(self, &news[self->number]);
		task_sleep(self, MS / 10 * (1 + self->number));
		box_put(&inbox); /* it was read */
	}
}

static void run_news(void)
{
	task_spawn(publisher, 0);
	for (int i = 0; i < SUBSCRIBERS; i++)
		task_spawn(subscriber, i);
	sched_start(2);
	for (int i = 0; i < 50; i++) {
		sched_lock();
		unread++;
		sched_unlock();
		box_put(&inbox);
		block_ns(4 * MS);
	}
	task_spawn(ticker, 300);
	sched_wait(0);
}

/* --- one connection and nothing else, on a thread that polls -------------------------------------------------------------- */

enum { REQUESTS = 20000 };
static int to_server[2], to_client[2];

static void *remote_client(void *arg)
{
	char byte = 0;
	for (int i = 0; i < REQUESTS; i++)
		if (write(to_server[1], &byte, 1) != 1 || read(to_client[0], &byte, 1) != 1)
			abort();
	return arg;
}

static void run_reactor(void)
{
	pthread_t client;
	struct ctp_coro conn;
	if (pipe(to_server) || pipe(to_client) || pthread_create(&client, NULL, remote_client, NULL))
		abort();
	ctp_coro_new(&conn, 1);
	ctp_coro_resume(&conn);
	for (int i = 0; i < REQUESTS; i++) {
		char byte;
		ctp_coro_suspend(&conn, CTP_HERE);
		if (read(to_server[0], &byte, 1) != 1) /* the reactor's part */
			abort();
		ctp_coro_wake(&conn);
		ctp_coro_resume(&conn);
		if (write(to_client[1], &byte, 1) != 1)
			abort();
	}
	ctp_coro_death(&conn);
	pthread_join(client, NULL);
}

/* --- two processes -------------------------------------------------------------------------------------------------------- */

static void run_fork(void)
{
	ctp_init();
	pid_t child = fork();
	for (int i = 0; i < 20; i++)
		task_spawn(ticker, 50);
	sched_start(2);
	sched_wait(0);
	if (child > 0)
		waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
		{ "accept", run_accept }, { "pool", run_pool },   { "timer", run_timer },     { "service", run_service },
		{ "exit", run_exit },     { "burst", run_burst }, { "compute", run_compute }, { "reactor", run_reactor },
		{ "news", run_news },     { "fork", run_fork },   { "keepalive", run_keepalive }, { "rampup", run_rampup },
		{ "onesite", run_onesite },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (argc == 2 && !strcmp(argv[1], all[i].name)) {
			all[i].run();
			return 0;
		}
	}
	fputs("usage: healthy NAME\n", stderr);
	return 2;
}
