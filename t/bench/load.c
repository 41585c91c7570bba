/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * load - a program with the C probe that does nothing but be traced.
 *
 *	load [-t THREADS] [-c COROUTINES] [-n EVENTS] [-r EVENTS_PER_SECOND] [-i IDLE] [-s] [-R REPORT]
 *
 * IDLE coroutines are spawned first, and are silent from then on. Then each thread has its share of the COROUTINES, and
 * when the collector is quiet, all begin at once: each thread resumes and suspends its own in turn, EVENTS times, at its share
 * of an even pace or (-r 0) flat out. With -s they are short-lived: each is born, runs, is suspended, runs and dies, COROUTINES
 * of them alive at any time.
 *
 * REPORT gets "name value" lines: what was published, the time it took, the CPU time of this process from beginning to end, and
 * that of the process that started it, which under ctp-collect is the collector, during the events.
 */
#include "ctp.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "wait.h"

enum { THREADS_MAX = 64, QUIET_LOOKS_MAX = 200, LOOK_NS = 100000000, QUIET_NS = 2000000 };

static struct {
	uint32_t threads, coros, idle;
	uint64_t events; /* of a thread */
	uint64_t rate;   /* of all threads */
	bool brief;
	const char *report;
	pthread_barrier_t ready, go, done;
} load = { .threads = 1, .coros = 1, .events = 1000000 };

/* For some events at once where the clock would take too much of the time that there is. */
static void keep_pace(uint64_t start_ns, uint64_t event)
{
	uint64_t rate = load.rate / load.threads;
	if (rate && event % (rate > 500000 ? 16 : 1) == 0)
		clock_wait_until(start_ns + (uint64_t)((double)event * 1e9 / (double)rate));
}

static void transition(struct ctp_coro *co, bool resumed)
{
	if (resumed)
		ctp_coro_resume(co);
	else
		ctp_coro_suspend(co, CTP_HERE);
}

static void run_long(struct ctp_coro *coros, uint32_t n)
{
	uint64_t start_ns = ctp_clock_ns();
	for (uint64_t i = 0; i < load.events; i++) {
		keep_pace(start_ns, i);
		transition(&coros[i / 2 % n], i % 2 == 0);
	}
}

/* Three events for each; the last n have only two. */
static void run_brief(struct ctp_coro *coros, uint32_t n)
{
	uint64_t start_ns = ctp_clock_ns();
	for (uint64_t i = 0; i < load.events / 3; i++) {
		struct ctp_coro *co = &coros[i % n];
		keep_pace(start_ns, i * 3);
		if (i >= n) {
			transition(co, true);
			ctp_coro_death(co);
		}
		ctp_coro_new(co, (uintptr_t)co);
		transition(co, true);
		transition(co, false);
	}
}

static void *run(void *arg)
{
	(void)arg;
	uint32_t n = load.coros / load.threads ? load.coros / load.threads : 1;
	struct ctp_coro *coros = calloc(n, sizeof *coros);
	if (!coros)
		abort();
	for (uint32_t i = 0; i < n && !load.brief; i++)
		ctp_coro_new(&coros[i], (uintptr_t)&coros[i]);
	pthread_barrier_wait(&load.ready);
	pthread_barrier_wait(&load.go);
	if (load.brief)
		run_brief(coros, n);
	else
		run_long(coros, n);
	pthread_barrier_wait(&load.done);
	for (uint32_t i = 0; i < n; i++)
		ctp_coro_death(&coros[i]);
	free(coros);
	return NULL;
}

static uint64_t published(void)
{
	if (!load.brief)
		return load.threads * load.events;
	uint64_t made = load.events / 3, n = load.coros / load.threads ? load.coros / load.threads : 1;
	return load.threads * (3 * made - (made < n ? made : n));
}

/* CPU time of the parent, read after the births, which must not count. */
static uint64_t parent_ns(void)
{
	clockid_t clock;
	return clock_getcpuclockid(getppid(), &clock) ? 0 : ctp_clock_of(clock);
}

static void wait_for_quiet(void)
{
	for (int look = 0; look < QUIET_LOOKS_MAX; look++) {
		uint64_t before_ns = parent_ns();
		clock_sleep(LOOK_NS);
		if (parent_ns() - before_ns < QUIET_NS)
			return;
	}
}

static int report(uint64_t took_ns, uint64_t collector_ns)
{
	FILE *f = load.report ? fopen(load.report, "w") : stderr;
	if (!f) {
		perror(load.report);
		return 1;
	}
	fprintf(f, "published %llu\nwriting_s %.6f\n", (unsigned long long)published(), (double)took_ns * 1e-9);
	fprintf(f, "writer_cpu_s %.6f\n", (double)ctp_clock_of(CLOCK_PROCESS_CPUTIME_ID) * 1e-9);
	fprintf(f, "collector_cpu_s %.6f\n", (double)collector_ns * 1e-9);
	return f != stderr && fclose(f) ? 1 : 0;
}

static int usage(void)
{
	fputs("usage: load [-t THREADS] [-c COROUTINES] [-n EVENTS] [-r EVENTS_PER_SECOND] [-i IDLE] [-s] [-R REPORT]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	for (int opt; (opt = getopt(argc, argv, "t:c:n:r:i:sR:")) != -1;) {
		switch (opt) {
		case 't': load.threads = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'c': load.coros = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'n': load.events = strtoull(optarg, NULL, 10); break;
		case 'r': load.rate = strtoull(optarg, NULL, 10); break;
		case 'i': load.idle = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 's': load.brief = true; break;
		case 'R': load.report = optarg; break;
		default: return usage();
		}
	}
	if (!load.threads || load.threads > THREADS_MAX)
		return usage();
	if (!ctp_init()) {
		fputs("load: not traced\n", stderr);
		return 1;
	}
	struct ctp_coro *idle = calloc(load.idle + 1, sizeof *idle);
	if (!idle)
		return 1;
	for (uint32_t i = 0; i < load.idle; i++)
		ctp_coro_new(&idle[i], (uintptr_t)&idle[i]);

	pthread_barrier_t *const barriers[] = { &load.ready, &load.go, &load.done };
	for (int i = 0; i < 3; i++)
		pthread_barrier_init(barriers[i], NULL, load.threads + 1);
	for (uint32_t i = 0; i < load.threads; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	pthread_barrier_wait(&load.ready);
	wait_for_quiet();
	uint64_t parent = parent_ns(), start_ns = ctp_clock_ns();
	pthread_barrier_wait(&load.go);
	pthread_barrier_wait(&load.done);
	uint64_t took_ns = ctp_clock_ns() - start_ns;
	parent = parent_ns() - parent;
	for (uint32_t i = 0; i < load.threads; i++)
		pthread_join(threads[i], NULL);
	free(idle);
	return report(took_ns, parent);
}
