/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * objects.c - for t/pipe/objects-once.t: objects that change at random, and coroutines that hold them, on several threads. The program
 * keeps its own list of all that, and writes it to a file; then it prints "ready", and continues at each line of stdin until its
 * end.
 *
 *	objects SEED STEPS BOOK [RARE]
 *
 * With RARE, only one in RARE coroutines that could end does: a collector that is slow to attach then does not run out of stations.
 *
 * The list has a line for each object: address, name, available, room, closed, and how much each coroutine holds.
 */
#include "ctp.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 48, COROS = 24, HOLDERS = 12, THREADS = 3, PERMITS = 20 };

static struct coro {
	struct ctp_coro co;
	char name[16];
	int born;
} coros[COROS];

/* Each is changed under its lock, as a program would. */
static struct object {
	pthread_mutex_t lock;
	struct thing {
		char at[8];
	} *thing;
	char name[16];
	unsigned what, available, told, room, is_there, has_room, closed;
	struct {
		char name[16];
		unsigned n;
	} holders[HOLDERS];
} objects[OBJECTS];

static unsigned first_seed, steps, rare = 1;
static pthread_mutex_t coros_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned born;

static unsigned draw(unsigned *seed, unsigned n) { return (unsigned)rand_r(seed) / 7 % n; }

static void born_anew(struct coro *c)
{
	if (c->born)
		ctp_coro_death(&c->co);
	snprintf(c->name, sizeof c->name, "coro %u", ++born);
	ctp_coro_new(&c->co, 0);
	ctp_coro_name(&c->co, c->name);
	ctp_coro_suspend(&c->co, CTP_HERE);
	c->born = 1;
}

static void make(struct object *o, unsigned *seed)
{
	static const char *const names[] = {"pool", "queue", "lock", "gate", NULL};
	unsigned kind = draw(seed, 4);
	const char *name = names[draw(seed, 5)];
	bool moves = !o->thing || !draw(seed, 2); /* else the next has the same address, and the end of this one may not be recorded */
	if (o->is_there && (moves || draw(seed, 3)))
		ctp_object_end(o->thing);
	if (moves)
		o->thing = (struct thing *)malloc(sizeof *o->thing);
	o->what = kind == 0 ? CTP_FOR_LOCK : kind == 1 ? CTP_FOR_PERMITS : kind == 2 ? CTP_FOR_ITEM : CTP_FOR_EVENT;
	o->available = kind == 0 ? 1 : kind == 1 ? PERMITS : 0;
	o->told = o->available;
	o->is_there = 1;
	o->closed = o->room = o->has_room = 0;
	memset(o->holders, 0, sizeof o->holders);
	snprintf(o->name, sizeof o->name, "%s", name ? name : "-");
	ctp_object_new(o->thing, o->what, o->available, name, draw(seed, 2) ? CTP_MARK_OWNED : 0);
}

/* What is left of a lock or of permits when some are taken or given back; recorded if necessary. */
static void left(struct object *o, int less, unsigned *seed)
{
	unsigned before = o->available;
	if (o->what != CTP_FOR_LOCK && o->what != CTP_FOR_PERMITS)
		return;
	o->available -= (unsigned)less;
	if (!before != !o->available || draw(seed, 2)) {
		o->told = o->available;
		ctp_object(o->thing, o->what, o->available);
	}
}

static void hold(struct object *o, unsigned *seed)
{
	pthread_mutex_lock(&coros_lock);
	struct coro *c = &coros[draw(seed, COROS)];
	bool limited = o->what == CTP_FOR_LOCK || o->what == CTP_FOR_PERMITS;
	unsigned at = HOLDERS, free = HOLDERS;
	for (unsigned i = 0; i < HOLDERS; i++) {
		if (o->holders[i].n && !strcmp(o->holders[i].name, c->name))
			at = i;
		else if (!o->holders[i].n)
			free = i;
	}
	if (at < HOLDERS && draw(seed, 2)) {
		unsigned n = 1 + draw(seed, o->holders[at].n);
		ctp_coro_holds(&c->co, o->thing, -(int)n);
		o->holders[at].n -= n;
		left(o, -(int)n, seed);
	} else if ((at < HOLDERS || free < HOLDERS) && (!limited || o->available)) {
		unsigned n = 1 + draw(seed, 2);
		n = limited && n > o->available ? o->available : n;
		at = at < HOLDERS ? at : free;
		snprintf(o->holders[at].name, sizeof o->holders[at].name, "%s", c->name);
		o->holders[at].n += n;
		left(o, (int)n, seed);
		ctp_coro_holds(&c->co, o->thing, (int)n);
	}
	pthread_mutex_unlock(&coros_lock);
}

static void step(unsigned *seed)
{
	struct object *o = &objects[draw(seed, OBJECTS)];
	unsigned what = draw(seed, 40);
	pthread_mutex_lock(&o->lock);
	if (!o->is_there || !what) {
		make(o, seed);
	} else if (what < 16) {
		if (!draw(seed, 6) || o->what != CTP_FOR_ITEM) /* most are held by few */
			hold(o, seed);
	} else if (what < 28 && o->what != CTP_FOR_LOCK && o->what != CTP_FOR_PERMITS) {
		o->told = o->available = draw(seed, 4);
		ctp_object(o->thing, o->what, o->available);
	} else if (what < 32 && o->what == CTP_FOR_ITEM) {
		o->room = draw(seed, 3);
		o->has_room = 1;
		ctp_object(o->thing, CTP_FOR_ROOM, o->room);
	} else if (what == 33) {
		ctp_object_close(o->thing);
		o->closed = 1;
	} else if (what == 34) {
		ctp_object_end(o->thing);
		o->is_there = 0;
	} else if (what < 37 && !draw(seed, rare)) {
		pthread_mutex_lock(&coros_lock);
		born_anew(&coros[draw(seed, COROS)]);
		pthread_mutex_unlock(&coros_lock);
	}
	pthread_mutex_unlock(&o->lock);
}

static void *work(void *arg)
{
	unsigned seed = first_seed * 16 + (unsigned)(uintptr_t)arg;
	for (unsigned i = 0; i < steps; i++)
		step(&seed);
	return NULL;
}

static void run(void)
{
	pthread_t threads[THREADS];
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	first_seed += 1000;
}

static void write_book(const char *path)
{
	FILE *book = fopen(path, "w");
	for (unsigned i = 0; book && i < OBJECTS; i++) {
		const struct object *o = &objects[i];
		if (!o->is_there)
			continue;
		fprintf(book, "%#lx|%s|%u|", (unsigned long)(uintptr_t)o->thing, o->name, o->told);
		if (o->has_room)
			fprintf(book, "%u|%u", o->room, o->closed);
		else
			fprintf(book, "-|%u", o->closed);
		for (unsigned k = 0; k < HOLDERS; k++)
			if (o->holders[k].n)
				fprintf(book, "|%s=%u", o->holders[k].name, o->holders[k].n);
		fputc('\n', book);
	}
	if (book)
		fclose(book);
}

int main(int argc, char **argv)
{
	char line[16];
	if (argc < 4)
		return 2;
	first_seed = (unsigned)atoi(argv[1]);
	steps = (unsigned)atoi(argv[2]);
	if (argc > 4)
		rare = (unsigned)atoi(argv[4]);
	for (unsigned i = 0; i < OBJECTS; i++)
		pthread_mutex_init(&objects[i].lock, NULL);
	for (unsigned i = 0; i < COROS; i++)
		born_anew(&coros[i]);
	do {
		run();
		write_book(argv[3]);
		puts("ready");
		fflush(stdout);
	} while (fgets(line, sizeof line, stdin));
	return 0;
}
