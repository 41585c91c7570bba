/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * program.c MODE - accesses memory in a way that is known by construction, for t/pipe/cacheray-sdk.t. Only `data` and memory from the
 * heap count, since a compiler may keep other things in memory.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctp-cacheray.h"

struct data {
	volatile unsigned char b;
	volatile unsigned short h;
	volatile unsigned int w;
	volatile unsigned long long d;
};
struct __attribute__((packed)) packed {
	char c;
	volatile unsigned int w;
};

/* 10 writes and 10 reads of each size. */
static void plain(struct data *p)
{
	for (int i = 0; i < 10; i++) {
		p->b = (unsigned char)i;
		p->h = p->b;
		p->w = p->h;
		p->d = p->w;
		(void)p->d;
	}
}

/* 13 atomic reads and 11 atomic writes: a store is no read, a load no write, and an exchange that fails is no write. */
#define ATOMICS(type) do { \
	type *p = (type *)calloc(1, sizeof *p), c = 7; \
	CACHERAY_ADD(p, type, 1); \
	__atomic_store_n(p, 1, __ATOMIC_RELEASE); \
	__atomic_store_n(p, 1, __ATOMIC_SEQ_CST); \
	__atomic_fetch_add(p, 4, __ATOMIC_RELAXED); \
	__atomic_fetch_sub(p, 2, __ATOMIC_ACQUIRE); \
	__atomic_fetch_and(p, 3, __ATOMIC_RELEASE); \
	__atomic_fetch_or(p, 4, __ATOMIC_ACQ_REL); \
	__atomic_fetch_xor(p, 1, __ATOMIC_SEQ_CST); \
	bad |= __atomic_exchange_n(p, 7, __ATOMIC_ACQ_REL) != 6; \
	__atomic_fetch_nand(p, 1, __ATOMIC_SEQ_CST); \
	bad |= __atomic_load_n(p, __ATOMIC_RELAXED) != (type)~1; \
	bad |= __atomic_compare_exchange_n(p, &c, 5, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || c != (type)~1; \
	bad |= !__atomic_compare_exchange_n(p, &c, 5, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); \
	c = 5; \
	bad |= !__atomic_compare_exchange_n(p, &c, 9, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED); \
	__atomic_thread_fence(__ATOMIC_SEQ_CST); \
	bad |= __atomic_load_n(p, __ATOMIC_ACQUIRE) != 9 || __atomic_load_n(p, __ATOMIC_SEQ_CST) != 9; \
	CACHERAY_FREE(p); \
} while (0)

static int atomics(void)
{
	int bad = 0;
	ATOMICS(unsigned char);
	ATOMICS(unsigned short);
	ATOMICS(unsigned);
	ATOMICS(unsigned long long);
#ifdef U128
	ATOMICS(unsigned __int128);
#endif
	return bad;
}

static _Atomic(struct data *) handed;

/* Writes what it is handed, and hands it back. */
static void *take(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++) {
		struct data *p;
		while (!(p = atomic_load(&handed)))
			sched_yield();
		p->d = 1;
		atomic_store(&handed, NULL);
	}
	return NULL;
}

/* Memory that comes and goes while another thread writes it. */
static void hand_over(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, take, NULL);
	for (int i = 0; i < 1000; i++) {
		struct data *p = CACHERAY_MALLOC(struct data, 1);
		atomic_store(&handed, p);
		while (atomic_load(&handed))
			sched_yield();
		CACHERAY_FREE(p);
	}
	pthread_join(thread, NULL);
}

static struct data shared[4];

static void *write_many(void *arg)
{
	for (int i = 0; i < 100000; i++)
		((struct data *)arg)->w = (unsigned)i;
	return NULL;
}

static void threads(void)
{
	pthread_t id[4];
	CACHERAY_ADD(shared, struct data, 4);
	for (int i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, write_many, &shared[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
}

static void *write_on(void *arg)
{
	for (;;)
		shared[0].w++;
	return arg;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct data *p = CACHERAY_CALLOC(struct data, 1);
	int status = 0;
	if (!strcmp(mode, "atomics"))
		return atomics();
	if (!strcmp(mode, "hand-over"))
		return hand_over(), 0;
	if (!strcmp(mode, "threads"))
		return threads(), 0;
	if (!strcmp(mode, "packed")) {
		struct packed *q = CACHERAY_CALLOC(struct packed, 1);
		q->w = 1;
		CACHERAY_FREE(q);
		return 0;
	}
	plain(p);
	if (!strcmp(mode, "segv"))
		*(volatile int *)16 = 0; /* one more */
	if (!strcmp(mode, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(mode, "_exit"))
		_exit(0);
	if (!strcmp(mode, "fork")) {
		if (!fork()) {
			plain(p);
			return 0;
		}
		wait(&status);
	}
	if (!strcmp(mode, "exec")) /* of itself, twice */
		execl(argv[0], argv[0], "exec-again", (char *)NULL);
	if (!strcmp(mode, "exec-again"))
		execl(argv[0], argv[0], (char *)NULL);
	if (!strcmp(mode, "slow")) {
		cacheray_flush();
		puts("ready");
		fflush(stdout);
		getchar();
	}
	if (!strcmp(mode, "busy")) {
		pthread_t thread;
		pthread_create(&thread, NULL, write_on, NULL);
		while (!shared[0].w)
			sched_yield();
		return 0; /* while the other goes on */
	}
	if (!strcmp(mode, "long"))
		write_many(p);
	CACHERAY_FREE(p);
	return status;
}
