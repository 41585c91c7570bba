/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * targets.c - a program for t/pipe/attach.t and t/pipe/collect-rings.t: reads commands from stdin, a word and a number each, and
 * answers each on stdout.
 */
#include "ctp.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct ctp_coro co[1000];
static long n;

static void read_socket(struct ctp_coro *c)
{
	ctp_coro_suspend(c, CTP_HERE); /* the place that the tests look for */
}

static void make(void)
{
	char name[32];
	ctp_coro_new(&co[n], 1000 + (uint64_t)n);
	snprintf(name, sizeof name, "worker %ld", n);
	ctp_coro_name(&co[n], name);
	read_socket(&co[n++]);
}

static void run(long k)
{
	for (long i = 0; i < k; i++) {
		ctp_coro_resume(&co[i % n]);
		read_socket(&co[i % n]);
	}
}

static void hang(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&m);
	puts("hangs");
	fflush(stdout);
	pthread_mutex_lock(&m);
}

int main(void)
{
	char what[16];
	long k;
	while (scanf("%15s %ld", what, &k) == 2) {
		switch (*what) {
		case 'n':
			while (k--)
				make();
			break;
		case 'r':
			run(k);
			break;
		case 'w':
			ctp_coro_wake(&co[k]);
			break;
		case 'd':
			while (k--)
				ctp_coro_death(&co[--n]);
			break;
		case 'h':
			hang();
			break;
		case 'e':
			execlp("cat", "cat", (char *)NULL);
			return 99;
		case 'x':
			return (int)k;
		}
		printf("%s done\n", what);
		fflush(stdout);
	}
	return 0;
}
