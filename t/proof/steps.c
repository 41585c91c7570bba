/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * steps.c - random steps of the machine of view-memory.c, for the one of machine.v to do again: replay.ml says in its README what a
 * line means, and ends at the first difference.
 *
 *	steps [RUNS [SEED]] | replay
 *
 * After each step the three views of its thread are given, of the location that was accessed. A store never comes before another
 * one here: machine.v appends.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view-parts.h"

enum { THREADS = 3, LOCATIONS = 4, STEPS = 60 };

static uint64_t memory[LOCATIONS], state;
static struct view_three threads[THREADS];
static uint32_t turn[THREADS];
static unsigned self;
static bool called[THREADS], registered[THREADS];
static unsigned reach[THREADS]; /* that a call has yet to reach */
static jmp_buf raced;
static bool over; /* there was a data race */

bool view_trace;

/* --- what view-threads.c is for the runtime ------------------------------------------------------------------------------- */

uint64_t view_random(uint64_t below)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return below < 2 ? 0 : (z ^ z >> 31) % below;
}

bool view_chance(unsigned one_in) { return !view_random(one_in); }
bool view_early(void) { return false; }
unsigned view_self(void) { return self; }
uint32_t view_turn(void) { return ++turn[self]; }
unsigned view_pick(unsigned n) { return (unsigned)view_random(n); }
struct view_three *view_step(void) { return &threads[self]; }
void view_tell(const char *fmt, ...) { (void)fmt; }
void view_all_fences(bool all) { (void)all; }
void view_fail(const char *fmt, ...)
{
	va_list ap;
	if (!strncmp(fmt, "data race", 9))
		longjmp(raced, 1);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	exit(2);
}

/* --- steps ---------------------------------------------------------------------------------------------------------------- */

static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE, __ATOMIC_RELEASE, __ATOMIC_ACQ_REL};
static const char *const names[] = {"rlx", "acq", "rel", "acqrel"};

static uint32_t bound(const struct view *v, unsigned l)
{
	uint32_t number = view_location(&memory[l], sizeof *memory);
	return v && number < v->n ? v->at[number] / VIEW_SPACING : 0;
}

static void print_bounds(unsigned l)
{
	const struct view_three *v = &threads[self];
	printf("bounds %u %u %u %u %u\n", self, l, bound(&v->cur, l), bound(&v->acq, l), bound(v->rel, l));
}

/* The newest message, its index and value: what an access that races has read here. */
static uint32_t newest(unsigned l) { return view_messages(view_location(&memory[l], sizeof *memory)) - 1; }

/* Each of these is one step; `races` is set if it was a data race, which ends the run. */
static void load(unsigned l, bool plain)
{
	unsigned o = (unsigned)view_random(2);
	volatile uint64_t value = memory[l], index = newest(l);
	volatile int races = 0;
	if (setjmp(raced))
		races = 1;
	if (!races && plain)
		view_plain_read(&memory[l], sizeof *memory);
	else if (!races)
		value = view_load(&memory[l], sizeof *memory, orders[o]), index = bound(&threads[self].cur, l);
	if (plain)
		printf("%u pld %u %" PRIu64 " %" PRIu64 " 1 %d\n", self, l, index, value, races);
	else
		printf("%u ld %s %u %" PRIu64 " %" PRIu64 " 1 %d\n", self, names[o], l, index, value, races);
	over |= races;
}

static void store(unsigned l, bool plain)
{
	unsigned o = (unsigned)view_random(2) * 2;
	uint64_t value = view_random(4);
	volatile int races = 0;
	if (setjmp(raced))
		races = 1;
	if (!races && plain) {
		view_plain_write(&memory[l], sizeof *memory);
		memory[l] = value;
		view_memory_settle(&threads[self]);
	} else if (!races) {
		view_store(&memory[l], sizeof *memory, value, orders[o]);
	}
	if (plain)
		printf("%u pst %u %" PRIu64 " 0 1 %d\n", self, l, value, races);
	else
		printf("%u st %s %u %" PRIu64 " 0 1 %d\n", self, names[o], l, value, races);
	over |= races;
}

static void exchange(unsigned l, bool add)
{
	unsigned o = (unsigned)view_random(4);
	uint64_t value = view_random(4);
	volatile uint64_t old = memory[l];
	volatile int races = 0;
	if (setjmp(raced))
		races = 1;
	if (!races)
		old = view_rmw(&memory[l], sizeof *memory, add ? VIEW_ADD : VIEW_EXCHANGE, value, orders[o]);
	printf("%u %s %s %u %" PRIu64 " %" PRIu64 " 1 %d\n", self, add ? "add" : "xchg", names[o], l, value, old, races);
	over |= races;
}

static void compare(unsigned l)
{
	unsigned o = (unsigned)view_random(4), failure = (unsigned)view_random(2);
	bool weak = view_chance(2);
	uint64_t expected = view_random(4), value = view_random(4), found = expected;
	volatile bool done = memory[l] == expected;
	volatile uint64_t read = memory[l], choice = done ? 0 : newest(l) + 1;
	volatile int races = 0;
	if (setjmp(raced))
		races = 1;
	if (!races) {
		done = view_cas(&memory[l], sizeof *memory, &found, value, weak, orders[o], orders[failure]);
		read = done ? expected : found;
		choice = done ? 0 : bound(&threads[self].cur, l) + 1;
	}
	printf("%u cas %s %s %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %d\n", self, weak ? "weak" : "strong", names[o],
	       names[failure], l, expected, value, choice, read, done, races);
	over |= races;
}

static void fence(void)
{
	static const char *const fences[] = {"facq", "frel", "fsc"};
	static const int fence_orders[] = {__ATOMIC_ACQUIRE, __ATOMIC_RELEASE, __ATOMIC_SEQ_CST};
	unsigned f = (unsigned)view_random(3);
	view_fence(fence_orders[f]);
	printf("%u %s 0 1 0\n", self, fences[f]);
}

/* The membarrier of a thread goes on: it is called, reaches another thread, or returns. */
static void barrier(void)
{
	bool all = view_chance(2);
	if (!called[self]) {
		view_fence(__ATOMIC_SEQ_CST);
		for (unsigned t = 0; t < THREADS; t++)
			reach[self] |= (unsigned)(all || registered[t]) << t;
		printf("%u call %s 0 1 0\n", self, all ? "global" : "expedited");
		called[self] = true;
	} else if (reach[self]) {
		unsigned t = (unsigned)view_random(THREADS);
		while (!(reach[self] >> t & 1))
			t = (t + 1) % THREADS;
		reach[self] &= ~(1u << t);
		view_fence_full(&threads[t]);
		printf("%u reached %u\n", t, self);
	} else {
		view_fence(__ATOMIC_SEQ_CST);
		printf("%u return 0 1 0\n", self);
		called[self] = false;
	}
}

static void step(void)
{
	unsigned l = (unsigned)view_random(LOCATIONS), what = (unsigned)view_random(40);
	self = (unsigned)view_random(THREADS);
	if (called[self] || what < 5)
		barrier();
	else if (what < 14)
		load(l, false);
	else if (what < 24)
		store(l, false);
	else if (what < 28)
		exchange(l, view_chance(2));
	else if (what < 32)
		compare(l);
	else if (what < 37)
		fence();
	else if (l == LOCATIONS - 1) /* only there: most runs would end at once */
		what < 38 ? store(l, true) : load(l, true);
	if (!over)
		print_bounds(l);
}

static void run(void)
{
	printf("start %d %d", THREADS, LOCATIONS);
	for (unsigned t = 0; t < THREADS; t++) {
		view_clear(&threads[t].cur);
		view_clear(&threads[t].acq);
		threads[t].rel = NULL;
		turn[t] = reach[t] = 0;
		called[t] = false;
		printf(" %d", registered[t] = view_chance(2));
	}
	for (unsigned l = 0; l < LOCATIONS; l++)
		printf(" %" PRIu64, memory[l] = view_random(4));
	putchar('\n');
	view_memory_begin();
	over = false;
	for (unsigned n = 0; n < STEPS && !over; n++)
		step();
	view_memory_end();
}

int main(int argc, char **argv)
{
	uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000, seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	view_memory_share("memory", memory, sizeof memory);
	for (uint64_t r = 0; r < runs; r++) {
		state = seed + r;
		run();
	}
	return 0;
}
