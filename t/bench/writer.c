/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * writer - a traced program that does nothing but publish events, written from the protocol document and sharing no code with
 * the collector or the SDK.
 *
 *	writer [-s] [-m] [-n EVENTS] [-c STATIONS] [-i IDLE] [-r EVENTS_PER_SECOND] [-R REPORT]
 *
 * IDLE stations are allocated first, publish one event each and are then silent. A second later EVENTS go to the other
 * STATIONS, in turn or (-m) as the workload `mix` has them, at an even pace or (-r 0) flat out. The dialect is the document's,
 * or (-s) the seqlock of today's SDKs. REPORT gets "name value" lines: what was published, the time and CPU time it took, and
 * the peak memory of the process that started this one, which under ctp-collect is the collector.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "mix.h"

enum { BLOCK_BYTES = 1024, SLOTS = 8 };

struct slot {
	_Atomic uint64_t timestamp, tid, addr, seq;
	_Atomic uint8_t reserved[31], is_active;
};

struct station {
	_Atomic uint64_t probe_id, birth_ts;
	_Atomic uint8_t is_dead, pad[47];
	struct slot slots[SLOTS];
	uint8_t flexible[448];
};

struct header {
	uint64_t magic;
	uint32_t version, max_stations;
	_Atomic uint32_t allocated, sleeping;
	uint8_t reserved[1000];
};

_Static_assert(sizeof(struct slot) == 64 && sizeof(struct station) == BLOCK_BYTES && sizeof(struct header) == BLOCK_BYTES,
               "the layout is the protocol document's");

static struct {
	struct header *header;
	struct station *stations;
	uint32_t max_stations;
	int sock;
	bool seqlock;
	uint64_t published;
} shm;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void attach(void)
{
	const char *path = getenv("CTP_SHM_PATH"), *sock = getenv("CTP_SOCK_PATH"), *max = getenv("CTP_MAX_STATIONS");
	if (!path || !sock || !max) {
		fputs("writer: not traced\n", stderr);
		exit(1);
	}
	shm.max_stations = (uint32_t)strtoul(max, NULL, 10);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die(path);
	uint8_t *map = mmap(NULL, BLOCK_BYTES * (1 + (size_t)shm.max_stations), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap");
	close(fd);
	shm.header = (struct header *)(void *)map;
	shm.stations = (struct station *)(void *)(map + BLOCK_BYTES);

	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s", sock);
	shm.sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (shm.sock < 0 || connect(shm.sock, (struct sockaddr *)&sun, sizeof sun) < 0)
		die(sock);
	fcntl(shm.sock, F_SETFL, O_NONBLOCK);
}

static uint32_t allocate(uint32_t count)
{
	uint32_t first = atomic_fetch_add_explicit(&shm.header->allocated, count, memory_order_relaxed);
	if (first > shm.max_stations || count > shm.max_stations - first) {
		fputs("writer: too few stations\n", stderr);
		exit(1);
	}
	for (uint32_t i = first; i < first + count; i++) {
		atomic_store_explicit(&shm.stations[i].probe_id, mix_addr(i) - 32, memory_order_relaxed);
		atomic_store_explicit(&shm.stations[i].birth_ts, now_ns(CLOCK_MONOTONIC), memory_order_relaxed);
	}
	return first;
}

static void publish(uint32_t station, const struct mix_event *e)
{
	uint64_t seq = shm.seqlock ? 2 * (uint64_t)(e->index / SLOTS + 1) : (uint64_t)e->index + 1;
	struct slot *slot = &shm.stations[station].slots[(shm.seqlock ? e->index : seq) % SLOTS];
	if (shm.seqlock) {
		atomic_store_explicit(&slot->seq, seq - 1, memory_order_relaxed);
		atomic_thread_fence(memory_order_release);
	}
	atomic_store_explicit(&slot->timestamp, e->ts, memory_order_relaxed);
	atomic_store_explicit(&slot->tid, e->tid, memory_order_relaxed);
	atomic_store_explicit(&slot->addr, e->addr, memory_order_relaxed);
	atomic_store_explicit(&slot->is_active, e->active, memory_order_relaxed);
	atomic_store_explicit(&slot->seq, seq, memory_order_release);
	shm.published++;

	/* Today's SDKs have a fence here, the document has none: such a writer may miss that the collector went to sleep. */
	if (shm.seqlock)
		atomic_thread_fence(memory_order_seq_cst);
	bool sleeping = atomic_load_explicit(&shm.header->sleeping, memory_order_relaxed) == 1;
	if (sleeping && atomic_exchange(&shm.header->sleeping, 0) == 1)
		(void)!send(shm.sock, "1", 1, MSG_NOSIGNAL);
}

/* Waits for the time of the next event: on the clock where that is near, asleep where it is not. */
static uint64_t wait_until(uint64_t due_ns)
{
	uint64_t t = now_ns(CLOCK_MONOTONIC);
	if (due_ns > t + 100000) {
		struct timespec at = { .tv_sec = (time_t)(due_ns / 1000000000), .tv_nsec = (long)(due_ns % 1000000000) };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	while ((t = now_ns(CLOCK_MONOTONIC)) < due_ns)
		;
	return t;
}

/* The clock costs more than all the rest of an event, so flat out it is read for one event in 16. */
static uint64_t hasty_ns(uint64_t i)
{
	static uint64_t t;
	t = i % 16 ? t + 1 : now_ns(CLOCK_MONOTONIC);
	return t;
}

static void run(uint32_t first, uint32_t stations, uint64_t events, uint64_t rate, bool random)
{
	static struct mix m;
	mix_init(&m);
	uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < events; i++) {
		struct mix_event e;
		if (random) {
			e = mix_step(&m);
		} else {
			e = (struct mix_event){ .coro = (uint32_t)(i % stations), .index = (uint32_t)(i / stations) };
			e.tid = 41200 + e.coro % MIX_THREADS;
			e.addr = mix_addr(e.coro);
			e.active = e.index % 2 == 0;
		}
		e.ts = rate ? wait_until(start_ns + (uint64_t)((double)i * 1e9 / (double)rate)) : hasty_ns(i);
		publish(first + e.coro, &e);
	}
}

static unsigned long parent_peak_kb(void)
{
	char path[64], line[256];
	unsigned long kb = 0;
	snprintf(path, sizeof path, "/proc/%d/status", getppid());
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %lu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

int main(int argc, char **argv)
{
	uint32_t stations = MIX_COROS, idle = 0;
	uint64_t events = MIX_EVENTS, rate = 0;
	const char *report = NULL;
	bool random = false;
	for (int opt; (opt = getopt(argc, argv, "smn:c:i:r:R:")) != -1;) {
		switch (opt) {
		case 's': shm.seqlock = true; break;
		case 'm': random = true; break;
		case 'n': events = strtoull(optarg, NULL, 10); break;
		case 'c': stations = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'i': idle = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'r': rate = strtoull(optarg, NULL, 10); break;
		case 'R': report = optarg; break;
		default: return 2;
		}
	}
	attach();
	uint32_t quiet = allocate(idle), first = allocate(random ? MIX_COROS : stations);
	for (uint32_t i = 0; i < idle; i++)
		publish(quiet + i, &(struct mix_event){ .ts = now_ns(CLOCK_MONOTONIC), .tid = 41200, .addr = mix_addr(i) });
	if (idle)
		wait_until(now_ns(CLOCK_MONOTONIC) + 1000000000);
	uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
	run(first, stations, events, rate, random);
	uint64_t stop_ns = now_ns(CLOCK_MONOTONIC);

	FILE *f = report ? fopen(report, "w") : stderr;
	if (!f)
		die(report);
	fprintf(f, "published %llu\nwriting_s %.6f\n", (unsigned long long)shm.published, (double)(stop_ns - start_ns) * 1e-9);
	fprintf(f, "writer_cpu_s %.6f\n", (double)now_ns(CLOCK_PROCESS_CPUTIME_ID) * 1e-9);
	fprintf(f, "parent_rss_kb %lu\n", parent_peak_kb());
	return f != stderr && fclose(f) ? 1 : 0;
}
