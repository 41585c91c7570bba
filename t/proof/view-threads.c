/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-threads.c - the threads of the machine: one runs at a time, with a stack of its own, and before each of its steps another
 * may go on. All choices come from here.
 *
 * Choices have a style, which each run draws: how often threads change, and whether loads prefer the newest or the oldest message.
 * Most mistakes show in one style a hundred times more often than in the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "view-parts.h"

enum { STACK_BYTES = 256 << 10, PRIVATE_BYTES = 1024, OWNS = 4, NEWEST = 1, OLDEST = 2 };

static struct thread {
	const char *name;
	void (*main)(void *);
	void *arg;
	struct view_three views;
	uint32_t turn;
	bool registered, started, ended;
	bool (*ready)(void *); /* null: it does not wait */
	void *ready_arg;
	unsigned fences; /* that membarriers of these threads still ask for: a bit for each */
	jmp_buf at;
	unsigned char own[PRIVATE_BYTES];
	_Alignas(16) char stack[STACK_BYTES];
} threads[VIEW_THREADS];
static unsigned nthreads, self;

static jmp_buf at_run;
static char failure[512];
static struct own {
	unsigned char *at;
	size_t bytes;
} owns[OWNS];
static unsigned nowns;
static unsigned char own_before[PRIVATE_BYTES];
static uint64_t state, now;
static unsigned steps, change_one_in, prefers;
static bool stuck, in_thread;

bool view_trace;
unsigned view_steps_most = 20000;

/* --- choices -------------------------------------------------------------------------------------------------------------- */

static uint64_t next(void) /* splitmix64 */
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t view_random(uint64_t below) { return below < 2 ? 0 : (uint64_t)((unsigned __int128)next() * below >> 64); }
bool view_chance(unsigned one_in) { return one_in < 2 || !view_random(one_in); }
bool view_early(void) { return view_chance(4); }

static void draw_style(void)
{
	static const unsigned changes[] = {1, 2, 4, 8, 24, 60};
	change_one_in = changes[view_random(sizeof changes / sizeof *changes)];
	prefers = (unsigned)view_random(3);
}

unsigned view_pick(unsigned n)
{
	if (n < 2)
		return 0;
	if (prefers && !view_chance(3))
		return prefers == NEWEST ? 0 : n - 1;
	return (unsigned)view_random(n);
}

uint64_t view_clock(void) { return now += view_random(2); }

/* --- from thread to thread ------------------------------------------------------------------------------------------------ */

static void save(unsigned char *to)
{
	for (unsigned i = 0; i < nowns; to += owns[i++].bytes)
		memcpy(to, owns[i].at, owns[i].bytes);
}

static void restore(const unsigned char *from)
{
	for (unsigned i = 0; i < nowns; from += owns[i++].bytes)
		memcpy(owns[i].at, from, owns[i].bytes);
}

void view_private(void *at, size_t bytes)
{
	size_t all = bytes;
	for (unsigned i = 0; i < nowns; i++)
		all += owns[i].bytes;
	if (nowns == OWNS || all > PRIVATE_BYTES)
		abort();
	owns[nowns++] = (struct own){at, bytes};
	save(own_before);
}

static void end_thread(void);

static void begin_thread(void)
{
	threads[self].main(threads[self].arg);
	end_thread();
}

__attribute__((noinline, noreturn)) static void enter(unsigned to)
{
	struct thread *t = &threads[to];
	static ucontext_t context;
	self = to;
	restore(t->own);
	if (t->started)
		_longjmp(t->at, 1);
	t->started = true;
	getcontext(&context);
	context.uc_stack.ss_sp = t->stack;
	context.uc_stack.ss_size = sizeof t->stack;
	context.uc_link = NULL;
	makecontext(&context, begin_thread, 0);
	setcontext(&context);
	abort();
}

__attribute__((noinline)) static void change(unsigned to)
{
	struct thread *me = &threads[self];
	save(me->own);
	if (!_setjmp(me->at))
		enter(to);
}

static bool can_go_on(struct thread *t) { return !t->ended && (!t->ready || t->ready(t->ready_arg)); }

/* The thread that goes on; nthreads: none can. Fences that membarriers ask for happen here. */
static unsigned choose(void)
{
	for (;;) {
		unsigned able[VIEW_THREADS], fenced[VIEW_THREADS], n = 0, f = 0;
		for (unsigned i = 0; i < nthreads; i++) {
			if (threads[i].fences)
				fenced[f++] = i;
			if (can_go_on(&threads[i]))
				able[n++] = i;
		}
		if (!n && !f)
			return nthreads;
		if (f && (!n || view_random(n + f) < f)) {
			struct thread *t = &threads[fenced[view_random(f)]];
			unsigned by = (unsigned)__builtin_ctz(t->fences);
			t->fences &= t->fences - 1;
			view_fence_full(&t->views);
			view_steps++;
			if (view_trace)
				printf("%6u %-10s fence seq_cst by the membarrier of %s\n", steps, t->name, threads[by].name);
			continue;
		}
		return able[view_random(n)];
	}
}

static void finish(void) { _longjmp(at_run, 1); }

static void pass_on(void)
{
	unsigned to = choose();
	if (to == nthreads) {
		stuck = true;
		finish();
	}
	if (to != self)
		change(to);
}

static void end_thread(void)
{
	struct thread *me = &threads[self];
	view_memory_settle(&me->views);
	me->ended = true;
	for (unsigned i = 0; i < nthreads; i++)
		if (!threads[i].ended)
			pass_on();
	finish();
}

/* --- for the machine ------------------------------------------------------------------------------------------------------ */

struct view_three *view_step(void)
{
	struct thread *me = &threads[self];
	view_memory_settle(&me->views);
	view_steps++;
	if (++steps > view_steps_most)
		view_fail("the run has no end: %u steps", steps);
	now += view_chance(8);
	if (me->fences || view_chance(change_one_in))
		pass_on();
	return &me->views;
}

uint32_t view_turn(void) { return ++threads[self].turn; }

void view_tell(const char *fmt, ...)
{
	if (!view_trace)
		return;
	va_list ap;
	va_start(ap, fmt);
	printf("%6u %-10s ", steps, threads[self].name);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
}

void view_wait(bool (*ready)(void *), void *arg)
{
	struct thread *me = &threads[self];
	view_memory_settle(&me->views);
	me->ready = ready;
	me->ready_arg = arg;
	if (!ready(arg) || view_chance(2))
		pass_on();
	me->ready = NULL;
}

bool view_always(void *unused) { return (void)unused, true; }

static bool fences_of_done(void *arg)
{
	unsigned bit = 1u << (unsigned)(uintptr_t)arg;
	for (unsigned i = 0; i < nthreads; i++)
		if (threads[i].fences & bit)
			return false;
	return true;
}

/* A thread that has ended has left the processor, which is a fence too: it has what it asks for, at the latest now. */
void view_all_fences(bool all)
{
	for (unsigned i = 0; i < nthreads; i++)
		if (i != self && (all || threads[i].registered))
			threads[i].fences |= 1u << self;
	view_wait(fences_of_done, (void *)(uintptr_t)self);
}

/* --- runs ----------------------------------------------------------------------------------------------------------------- */

void view_share(const char *name, void *at, size_t bytes) { view_memory_share(name, at, bytes); }

unsigned view_spawn(const char *name, void (*main)(void *), void *arg, enum view_barrier registered)
{
	if (nthreads == VIEW_THREADS)
		abort();
	struct thread *t = &threads[nthreads];
	t->name = name;
	t->main = main;
	t->arg = arg;
	t->registered = registered == VIEW_REGISTERED;
	t->started = t->ended = false;
	t->ready = NULL;
	t->fences = 0;
	t->turn = 0;
	view_clear(&t->views.cur);
	view_clear(&t->views.acq);
	t->views.rel = NULL;
	if (in_thread) {
		view_join(&t->views.cur, &threads[self].views.cur);
		view_join(&t->views.acq, &threads[self].views.cur);
	}
	memcpy(t->own, own_before, sizeof t->own);
	return nthreads++;
}

const char *view_run(uint64_t seed, void (*begin)(void), void (*after)(void))
{
	state = seed;
	now = 1000;
	steps = 0;
	stuck = false;
	failure[0] = 0;
	draw_style();
	begin();
	view_memory_begin();
	view_locks_begin();
	in_thread = true;
	if (!_setjmp(at_run))
		enter((unsigned)view_random(nthreads));
	view_running = false;
	if (!failure[0] && after && !_setjmp(at_run))
		after();
	in_thread = false;
	view_memory_end();
	nthreads = 0;
	restore(own_before);
	return failure[0] ? failure : NULL;
}

bool view_stuck(void) { return stuck; }
unsigned view_self(void) { return self; }
bool view_ended(unsigned thread) { return threads[thread].ended; }
void view_register(void) { threads[self].registered = true; }

void view_join_thread(unsigned thread)
{
	view_join(&threads[self].views.cur, &threads[thread].views.cur);
	view_join(&threads[self].views.acq, &threads[thread].views.cur);
}

void view_fail(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(failure, sizeof failure, fmt, ap);
	va_end(ap);
	if (!in_thread) {
		fprintf(stderr, "%s\n", failure);
		abort();
	}
	finish();
	abort();
}
