/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-sdk-race.c - sdk/ppt/ppt.h with threads that save while an agent reads, attaches and detaches.
 *
 * The first part reads the memory that is written, at the same address, so that TSan sees both sides.
 */
#include "ppt.h"
#include "ppt-agent.h"
#include "tap.h"
#include <pthread.h>
#include <sched.h>

PPT_BUFFER(Race, 64, monotonic, (mark, (int, n), (double, x), (int, thread), (byte, b), (double, y), (double, z)));

enum { THREADS = 3, SLOTS = 64, SLOT = sizeof(union ppt_Race_any_), AT = 464 + 464 % SLOT };

static int rounds = 50, frames = 20000;
static int done; /* threads that have ended */
static int stop;

static void fill(struct ppt_Race_mark *m, int thread, int n)
{
	*m = (struct ppt_Race_mark){.n = n, .x = n / 2.0, .thread = thread, .b = (uint8_t)n, .y = n + thread, .z = -n};
}

static bool whole(const union ppt_Race_any_ *f)
{
	const struct ppt_Race_mark *m = &f->mark;
	return m->x == m->n / 2.0 && m->b == (uint8_t)m->n && m->y == m->n + m->thread && m->z == -m->n && m->thread < THREADS;
}

static void *save_some(void *arg)
{
	struct ppt_Race_mark m;
	for (int i = 0; i < frames; i++) {
		fill(&m, (int)(intptr_t)arg, i);
		ppt_Race_mark_save(&m);
	}
	__atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *save_on(void *arg)
{
	struct ppt_Race_mark m;
	for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		fill(&m, (int)(intptr_t)arg, i);
		ppt_Race_mark_save(&m);
	}
	return NULL;
}

static void start(pthread_t *threads, void *(*fn)(void *))
{
	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, fn, (void *)i))
			exit(1);
}

static void end(pthread_t *threads)
{
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Frames in the order of their numbers, as an agent reads them. */
struct reader {
	const char *slots;
	uint32_t first, next;
	uint64_t got, lost, torn;
};

static bool read_next(struct reader *r, bool last)
{
	union ppt_Race_any_ f;
	int is = slot_read(r->slots + (r->next - r->first) % SLOTS * SLOT, SLOT, r->next, &f);
	if (is == 1) {
		r->torn += !whole(&f);
		r->got++;
	} else if (is == -1 && !last) { /* begin with the oldest that may be left, half a ring before that one */
		uint32_t front = (uint32_t)f.mark.ppt_front_, to = front - SLOTS / 2;
		if ((int32_t)(to - r->next) <= 0)
			to = r->next + 1;
		r->lost += to - r->next;
		r->next = to;
		return true;
	} else if (last) {
		r->lost++;
	} else {
		return false;
	}
	r->next++;
	return true;
}

static void test_read(void)
{
	struct agent a;
	pthread_t threads[THREADS];
	struct ppt_Race_mark m;
	agent_prepare(&a, &ppt_buffer_Race_, AT + SLOTS * SLOT, 464);
	agent_ask(&a);
	fill(&m, 0, 0);
	ppt_Race_mark_save(&m);
	is_u64(a.control->data_block_sz, SLOTS, "the ring has 64 slots");
	struct reader r = {.slots = (const char *)(uintptr_t)a.control->data_block, .first = 1, .next = 1};
	start(threads, save_some);
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < THREADS)
		if (!read_next(&r, false))
			sched_yield();
	end(threads);
	while (r.next != (uint32_t)(1 + 1 + THREADS * frames))
		read_next(&r, true);
	is_u64(r.got + r.lost, 1 + THREADS * (uint64_t)frames, "each frame is read or lost");
	is_u64(r.torn, 0, "no frame is torn");
	ok(r.got >= SLOTS / 2, "many frames are read");
	note("%d read, %d lost", (int)r.got, (int)r.lost);
	agent_leave(&a);
	ppt_Race_mark_save(&m);
	is_u64(segment_users(a.id), 1, "no agent is attached any more");
	agent_free(&a);
}

/* Counts wrong slots of a block that is no longer written, and finds its highest number. Slot 0 may have any number, or none. */
static int faults(const char *slots, uint64_t count, uint32_t *highest)
{
	int wrong = 0;
	uint32_t first = *(const uint32_t *)(const void *)slots;
	for (uint64_t i = 0; i < count; i++) {
		union ppt_Race_any_ f;
		memcpy(&f, slots + i * SLOT, SLOT);
		uint32_t front = (uint32_t)f.mark.ppt_front_, back;
		memcpy(&back, slots + (i + 1) * SLOT - 4, 4);
		if (front == 0 && back == 0)
			continue;
		int64_t turn = (int32_t)(front - first) % (int64_t)count;
		wrong += front != back || !whole(&f) || (uint64_t)(turn < 0 ? turn + (int64_t)count : turn) != i;
		if ((int32_t)(front - *highest) > 0)
			*highest = front;
	}
	return wrong;
}

static void test_rounds(void)
{
	pthread_t threads[THREADS];
	int wrong = 0, late = 0;
	uint32_t highest = 0;
	start(threads, save_on);
	for (int round = 0; round < rounds; round++) {
		struct agent a;
		agent_prepare(&a, &ppt_buffer_Race_, 4096 + (size_t)round * SLOT, 464);
		agent_ask(&a);
		while (!agent_attached(&a))
			sched_yield();
		const char *slots = a.base + AT;
		uint64_t count = a.control->data_block_sz;
		while (!__atomic_load_n((const uint32_t *)(const void *)(slots + (count - 1) * SLOT), __ATOMIC_ACQUIRE))
			sched_yield();
		if (round % 3 == 0) { /* from one segment to another, without a pause */
			struct agent next;
			agent_prepare(&next, &ppt_buffer_Race_, 8192, 464);
			agent_ask(&next);
			while (!agent_attached(&next))
				sched_yield();
			agent_leave(&next);
			while (segment_users(next.id) > 1)
				sched_yield();
			agent_free(&next);
		}
		agent_leave(&a);
		while (segment_users(a.id) > 1)
			sched_yield();
		uint32_t before = highest, now = highest;
		wrong += faults(slots, count, &now);
		late += (int32_t)(now - before) <= 0;
		highest = now;
		agent_free(&a);
	}
	end(threads);
	is_u64((uint64_t)wrong, 0, "agents attach and detach while threads save: no frame is torn or in a wrong slot");
	is_u64((uint64_t)late, 0, "numbers continue across attachments");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	test_read();
	test_rounds();
	return done_testing();
}
