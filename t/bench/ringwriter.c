/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ringwriter.c - one thread writes rings as fast as asked, another harvests them into a stream that is discarded.
 *
 *	ringwriter EVENTS_PER_SECOND COROUTINES SECONDS [RING_BITS]
 *
 * A rate of 0 is as fast as it can. The writer is the one of the tests (rawring.h), with the processor's counter for a clock;
 *the coroutines take turns. Prints what was lost and what an event cost the collector.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "rawring.h"
#include "collect/harvest.h"
#include "collect/pace.h"
#include "shm/arena.h"
#include "shm/rawclock.h"

struct job {
	struct rawmem mem;
	struct rawring ring;
	uint64_t rate, seconds, written;
	uint32_t coros;
	bool done;
};

static uint64_t clock_of(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t counter(void)
{
#if defined __aarch64__
	uint64_t raw;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(raw));
	return raw;
#elif defined __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return clock_of(CLOCK_MONOTONIC);
#endif
}

static void pin(unsigned cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *write_rings(void *arg)
{
	struct job *j = arg;
	struct rawcoro *co = calloc(j->coros, sizeof(*co));
	pin(1);
	raw_claim(&j->ring, &j->mem, 0, 1, 2);
	for (uint32_t i = 0; i < j->coros; i++)
		raw_birth(&j->ring, &co[i], 1000 + i, 0);
	uint64_t start = clock_of(CLOCK_MONOTONIC), stop = start + j->seconds * 1000000000;
	for (uint32_t i = 0;; i = i + 1 < j->coros ? i + 1 : 0) {
		raw_event(&j->ring, &co[i], co[i].events % 2, 0x400000 + i * 64, 0, true);
		if (++j->written % 64)
			continue;
		uint64_t now = clock_of(CLOCK_MONOTONIC);
		while (j->rate && (now - start) * j->rate / 1000000000 < j->written && now < stop)
			now = clock_of(CLOCK_MONOTONIC);
		if (now >= stop)
			break;
	}
	__atomic_store_n(&j->done, true, __ATOMIC_RELEASE);
	free(co);
	return NULL;
}

static bool discard(void *arg, const void *packet, size_t len)
{
	(void)packet;
	*(uint64_t *)arg += len;
	return true;
}

/* As the collector does it: looks, and rests in between. Returns the fullest that a ring was, of 256. */
static unsigned collect(struct ctp_harvest *h, const bool *done)
{
	struct ctp_pace pace = {0};
	struct ctp_look look;
	unsigned fill = 0;
	while (!__atomic_load_n(done, __ATOMIC_ACQUIRE)) {
		ctp_harvest_scan(h, &look);
		fill = look.fill > fill ? look.fill : fill;
		uint64_t now = clock_of(CLOCK_MONOTONIC);
		ctp_pace_found(&pace, &look, now);
		struct ctp_rest rest = ctp_pace_next(&pace, true, now);
		if (rest.ns)
			nanosleep(&(struct timespec){.tv_nsec = (long)(rest.ns % 1000000000)}, NULL);
	}
	ctp_harvest_last(h, true);
	return fill;
}

int main(int argc, char **argv)
{
	static struct job j;
	struct ctp_err err = {0};
	uint64_t bytes = 0;
	if (argc < 4) {
		fprintf(stderr, "usage: ringwriter EVENTS_PER_SECOND COROUTINES SECONDS [RING_BITS]\n");
		return 2;
	}
	j.rate = strtoull(argv[1], NULL, 10);
	j.coros = (uint32_t)strtoul(argv[2], NULL, 10);
	j.seconds = strtoull(argv[3], NULL, 10);
	struct ctp_geometry geo = {j.coros < 65536 ? 65536 : j.coros, 64, 4,
	                           argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 20, 0};
	size_t size = ctp_arena_bytes(&geo);
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct ctp_arena arena;
	if (base == MAP_FAILED || (ctp_arena_make(base, &geo), ctp_arena_find(&arena, base, size, &err)))
		return fprintf(stderr, "ringwriter: no memory: %s\n", err.text), 1;
	ctp_arena_open(&arena, CTP_MODE_RECORD | CTP_MODE_RINGS, 0, NULL);
	rawmem_plan(&j.mem, geo.max_stations, geo.max_rings, geo.ring_bits);
	j.mem.base = base;
	j.ring.clock = counter;
	put64((unsigned char *)base + j.mem.rings_at + 0x20, arena.clock);
	struct ctp_writer *writer = ctp_writer_new(discard, &bytes, &err);
	struct ctp_section sec;
	ctp_section_init(&sec);
	ctp_writer_begin(writer, &sec);
	ctp_section_fini(&sec);
	struct ctp_harvest_conf conf = {.shm = base, .bytes = size, .max_stations = geo.max_stations, .writer = writer};
	struct ctp_harvest *h = ctp_harvest_new(&conf, &err);
	pthread_t thread;
	if (!h || pthread_create(&thread, NULL, write_rings, &j))
		return fprintf(stderr, "ringwriter: %s\n", err.text), 1;
	pin(0);
	uint64_t cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID);
	unsigned fill = collect(h, &j.done);
	cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	pthread_join(thread, NULL);
	const struct ctp_harvest_stats *s = ctp_harvest_stats(h);
	printf("%10.0f events/s, %6u coroutines: %11llu written, %9llu lost, %5.1f ns each of the collector, ring %3.0f %% "
	       "full, %.2f bytes each%s\n",
	       (double)j.written / (double)j.seconds, j.coros, (unsigned long long)j.written, (unsigned long long)s->lost,
	       (double)cpu_ns / (double)(s->events ? s->events : 1), fill / 2.56,
	       (double)bytes / (double)(s->events ? s->events : 1), s->events + s->lost == j.written ? "" : " NOT EXACT");
	return 0;
}
