/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * probe [-c] [EVENTS] - what a call of the C probe costs, in ns, beside the least that any probe needs: to read the counter,
 * write a line of 64 bytes in a ring, and publish it by one release store (the floor). "name value" lines.
 *
 * All are measured alike: batches of 61 calls, for as many coroutines, between two readings of the clock, less what a batch of
 * nothing takes; the mean of them, but for the slowest hundredth, in which the system did something else. Rings have as many
 * bytes, were written once before, and are drained by the same thread, which sleeps for a millisecond between two looks as a
 * collector does. So this program is its own collector, and says by itself what is to be recorded. With -c a real one has
 * started it; then calls come in bursts that fit into the ring, with pauses to drain it.
 */
#include "ctp.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "wait.h"

/* An odd number of calls, or of two kinds that take turns it would always be the same that comes to a new page of the ring. */
enum { COROS = 61, PAIRS_MAX = 1 << 20 };
enum { RING_EVENTS = 1 << 20, RING_WORDS = 4 * RING_EVENTS };
enum { NAP_NS = 1000000, BURST_EVENTS = 1 << 18, PAUSE_NS = 100000000 };

static struct ctp_coro coros[COROS];

/* --- the reader ---------------------------------------------------------------------------------------------------------- */

/* Whatever has a head that counts things of some words each. */
struct drained {
	uint64_t *head, *tail;
	const uint64_t *words;
	uint64_t mask, each;
};

static int drain_stop;
static uint64_t drain_sum; /* so that the words are really read */

static void *drain(void *arg)
{
	const struct drained *d = arg;
	uint64_t tail = *d->tail, sum = 0;
	for (int last = 0; !last;) {
		last = __atomic_load_n(&drain_stop, __ATOMIC_RELAXED);
		uint64_t head = __atomic_load_n(d->head, __ATOMIC_ACQUIRE); /* pairs with the writer's release of what is before it */
		for (; tail != head; tail++)
			for (uint64_t i = 0; i < d->each; i++)
				sum += d->words[(tail & d->mask) * d->each + i];
		__atomic_store_n(d->tail, tail, __ATOMIC_RELEASE); /* pairs with the probe's acquire when it looks for room */
		clock_sleep(NAP_NS);
	}
	drain_sum += sum;
	return NULL;
}

static void drain_start(pthread_t *thread, struct drained *d)
{
	__atomic_store_n(&drain_stop, 0, __ATOMIC_RELAXED);
	if (pthread_create(thread, NULL, drain, d)) {
		fputs("probe: no thread\n", stderr);
		exit(1);
	}
}

static void drain_end(pthread_t thread)
{
	__atomic_store_n(&drain_stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* --- what is measured: batches of COROS calls ---------------------------------------------------------------------------- */

static uint64_t *lines;       /* the floor's ring */
static uint64_t line_heads[16]; /* its head and tail, in lines of their own */

static void nothing(void)
{
	for (int i = 0; i < COROS; i++)
		__asm__ volatile("" ::"r"(&coros[i]));
}

static void clock_gettimes(void)
{
	for (int i = 0; i < COROS; i++)
		__asm__ volatile("" ::"r"(ctp_clock_ns()));
}

static inline __attribute__((always_inline)) void write_line(uint64_t value, uint64_t each)
{
	uint64_t head = line_heads[0];
	uint64_t *line = lines + head * each % RING_WORDS;
	line[0] = ctp_raw_();
	for (uint64_t i = 1; i < each; i++)
		line[i] = value;
	__atomic_store_n(&line_heads[0], head + 1, __ATOMIC_RELEASE); /* pairs with drain's acquire */
}

/* Calls, as the probe is one. */
static __attribute__((noinline)) void write_64(uint64_t value) { write_line(value, 8); }
static __attribute__((noinline)) void write_32(uint64_t value) { write_line(value, 4); }

static void floor_64(void)
{
	for (uint64_t i = 0; i < COROS; i++)
		write_64(i);
}

static void floor_32(void)
{
	for (uint64_t i = 0; i < COROS; i++)
		write_32(i);
}

static void resume_all(void)
{
	for (int i = 0; i < COROS; i++)
		ctp_coro_resume(&coros[i]);
}

/* The last one that was resumed is the one that runs. */
static void suspend_all(void)
{
	for (int i = COROS; i-- > 0;)
		ctp_coro_suspend(&coros[i], CTP_HERE);
}

/* With a reason in front of it, as a lock has one. */
static void suspend_all_for(void)
{
	for (int i = COROS; i-- > 0;) {
		ctp_coro_waits_for(&coros[i], &lines, CTP_FOR_LOCK, 1, 0);
		ctp_coro_suspend(&coros[i], CTP_HERE);
	}
}

/* --- measuring ----------------------------------------------------------------------------------------------------------- */

struct pair {
	double there_ns, back_ns; /* of one call */
};

static int by_time(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Of one call. */
static double mean(uint32_t *batch_ns, size_t n)
{
	uint64_t sum = 0;
	qsort(batch_ns, n, sizeof *batch_ns, by_time);
	n -= n / 100;
	for (size_t i = 0; i < n; i++)
		sum += batch_ns[i];
	return (double)sum / (double)n / COROS;
}

static struct pair measure(uint64_t events, void (*there)(void), void (*back)(void))
{
	static uint32_t there_ns[PAIRS_MAX], back_ns[PAIRS_MAX];
	size_t pairs = events / (2 * COROS) < PAIRS_MAX ? events / (2 * COROS) : PAIRS_MAX;
	uint64_t before = ctp_clock_ns();
	for (size_t i = 0; i < pairs; i++) {
		there();
		uint64_t between = ctp_clock_ns();
		back();
		uint64_t after = ctp_clock_ns();
		there_ns[i] = (uint32_t)(between - before);
		back_ns[i] = (uint32_t)(after - between);
		before = after;
	}
	return (struct pair){ mean(there_ns, pairs), mean(back_ns, pairs) };
}

static double nothing_ns;

static void print_pair(const char *name, struct pair p)
{
	printf("%s_resume_ns %.3f\n%s_suspend_ns %.3f\n", name, p.there_ns - nothing_ns, name, p.back_ns - nothing_ns);
}

static void print_one(const char *name, struct pair p)
{
	printf("%s_ns %.3f\n", name, (p.there_ns + p.back_ns) / 2 - nothing_ns);
}

static void measure_floor(const char *name, uint64_t events, uint64_t each, void (*batch)(void))
{
	memset(line_heads, 0, sizeof line_heads);
	struct drained d = { &line_heads[0], &line_heads[8], lines, RING_WORDS / each - 1, each };
	pthread_t thread;
	drain_start(&thread, &d);
	measure(RING_WORDS / each, batch, batch);
	print_one(name, measure(events, batch, batch));
	drain_end(thread);
}

/* What the probe records, as a collector would say. */
static void measure_mode(const char *name, uint64_t events, uint32_t mode)
{
	__atomic_store_n(&ctp_current_->shm->mode, mode, __ATOMIC_RELAXED);
	resume_all();
	suspend_all(); /* now there is a ring */
	struct ctp_lane_ *lane = &ctp_self_.lanes[0];
	if (!(mode & CTP_MODE_RINGS)) {
		print_pair(name, measure(events, resume_all, suspend_all));
		return;
	}
	struct drained d = { &lane->ring->head, &lane->ring->tail, (uint64_t *)lane->entries, lane->mask, 4 };
	pthread_t thread;
	drain_start(&thread, &d);
	measure(RING_EVENTS, resume_all, suspend_all);
	print_pair(name, measure(events, resume_all, suspend_all));
	printf("%s_reason_ns %.3f\n", name, measure(events, resume_all, suspend_all_for).back_ns - nothing_ns);
	drain_end(thread);
	printf("%s_lost %llu\n", name, (unsigned long long)CTP_GET_(&lane->ring->lost_events));
}

static void measure_all(uint64_t events)
{
	lines = mmap(NULL, RING_WORDS * sizeof *lines, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (lines == MAP_FAILED) {
		perror("probe");
		exit(1);
	}
	print_one("clock", measure(events / 8, clock_gettimes, clock_gettimes));
	print_pair("untraced", measure(events, resume_all, suspend_all));
	measure_floor("floor", events, 8, floor_64);
	measure_floor("floor_32", events, 4, floor_32);
	if (!ctp_record() || !ctp_current_->annex) {
		fputs("probe: no memory to record in\n", stderr);
		exit(1);
	}
	const uint32_t rings = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER;
	measure_mode("recorder", events, CTP_MODE_RECORD);
	measure_mode("rings", events, rings);
	measure_mode("bare", events, rings | CTP_MODE_BARE);
}

static void measure_collected(uint64_t events)
{
	struct pair sum = { 0, 0 };
	uint64_t before = RING_EVENTS / BURST_EVENTS + 1, bursts = events / BURST_EVENTS + 1;
	for (uint64_t i = 0; i < before + bursts; i++) {
		clock_sleep(PAUSE_NS);
		struct pair p = measure(BURST_EVENTS, resume_all, suspend_all);
		if (i >= before) {
			sum.there_ns += p.there_ns / (double)bursts;
			sum.back_ns += p.back_ns / (double)bursts;
		}
	}
	print_pair("collected", sum);
}

int main(int argc, char **argv)
{
	bool collected = argc > 1 && !strcmp(argv[1], "-c");
	uint64_t events = argc > 1 + collected ? strtoull(argv[1 + collected], NULL, 10) : 10000000;
	measure(events / 8, nothing, nothing); /* until the processor is awake */
	nothing_ns = measure(events / 8, nothing, nothing).there_ns;
	for (int i = 0; i < COROS; i++)
		ctp_coro_new(&coros[i], (uintptr_t)&coros[i]);
	if (collected != ctp_traced()) {
		fputs(collected ? "probe: not traced\n" : "probe: traced\n", stderr);
		return 1;
	}
	if (collected)
		measure_collected(events);
	else
		measure_all(events);
	for (int i = 0; i < COROS; i++)
		ctp_coro_death(&coros[i]);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
