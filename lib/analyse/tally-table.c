/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* tally-table.c - the tables of a tally: places, spawn places and lists of the worst cases. */
#include <stdlib.h>
#include <string.h>

#include "analyse/places.h"
#include "analyse/tally-own.h"
#include "analyse/threads.h"
#include "base/pages.h"

enum { SLICE_BITS = 10 }; /* at first: slices and levels double as time goes on */

struct ctp_tally_place *ctp_tally_place_new(struct ctp_tally *t, uint32_t place)
{
	if (t->nplaces < CTP_TALLY_PLACES && (t->places[place] = calloc(1, sizeof *t->places[place]))) {
		t->nplaces++;
		return t->places[place];
	}
	return t->places[0];
}

struct ctp_tally_spawn *ctp_tally_spawn_of(struct ctp_tally *t, uint32_t place)
{
	if (t->spawns[place])
		return t->spawns[place];
	if (t->nspawns < CTP_TALLY_PLACES && (t->spawns[place] = calloc(1, sizeof *t->spawns[place]))) {
		t->nspawns++;
		return t->spawns[place];
	}
	return t->spawns[0];
}

uint32_t ctp_tally_put(struct ctp_tally *t, struct ctp_tally_list *l, const struct ctp_coroutine *co, struct ctp_tally_case c)
{
	if (!l->cases && !(l->cases = calloc(CTP_TALLY_WORST, sizeof *l->cases))) {
		t->failed = true;
		return 0;
	}
	uint32_t at = l->count;
	if (at == CTP_TALLY_WORST) {
		at = 0;
		for (uint32_t i = 1; i < CTP_TALLY_WORST; i++)
			if (l->cases[i].ns < l->cases[at].ns)
				at = i;
		if (l->cases[at].ns >= c.ns)
			return 0;
		free(l->cases[at].name);
	} else {
		l->count++;
	}
	c.id = co->id;
	c.probe = co->probe;
	c.spawn = co->spawn;
	c.habit = co->habit;
	c.waker = co->waker;
	c.tid = t->follow->threads->list[co->thread].tid;
	c.name = co->name ? strdup(co->name) : NULL;
	l->cases[at] = c;
	return at + 1;
}

struct ctp_tally *ctp_tally_new(struct ctp_follow *follow)
{
	struct ctp_tally *t = ctp_pages_new(sizeof *t);
	if (!t)
		return NULL;
	t->follow = follow;
	t->last_long = ctp_pages_new(CTP_THREADS_MAX * sizeof *t->last_long);
	t->places[0] = calloc(1, sizeof *t->places[0]);
	t->spawns[0] = calloc(1, sizeof *t->spawns[0]);
	if (!ctp_habits_init(&t->habits) || !t->last_long || !t->places[0] || !t->spawns[0]) {
		ctp_tally_free(t);
		return NULL;
	}
	ctp_tally_clear(t);
	return t;
}

void ctp_tally_clear(struct ctp_tally *t)
{
	for (uint32_t i = 1; i < t->follow->places->count; i++) {
		free(t->places[i]);
		free(t->spawns[i]);
		t->places[i] = NULL;
		t->spawns[i] = NULL;
	}
	*t->places[0] = (struct ctp_tally_place){0};
	*t->spawns[0] = (struct ctp_tally_spawn){0};
	t->nplaces = t->nspawns = 1;
	ctp_habits_clear(&t->habits);
	t->ready = t->run = (struct ctp_hist){0};
	t->last_resume_ns = t->longest_pause_ns = t->pause_ns = t->ready_ns = t->run_ns = 0;
	ctp_machine_clear(&t->machine, t->follow->threads);
	memset(t->pairs, 0, sizeof t->pairs);
	t->start_ns = UINT64_MAX;
	memset(t->slices, 0, sizeof t->slices);
	t->nslices = 0;
	t->slice_bits = t->level_bits = SLICE_BITS;
	for (struct ctp_tally_list *l = t->lists; l < t->lists + CTP_TALLY_LISTS; l++)
		while (l->count)
			free(l->cases[--l->count].name);
	for (int k = 0; k < CTP_HEAVY_KINDS; k++) {
		while (t->nheavy[k])
			free(t->heavy[k][--t->nheavy[k]].name);
		t->total_ns[k] = 0;
	}
	memset(t->last_long, 0, CTP_THREADS_MAX * sizeof *t->last_long);
}

void ctp_tally_free(struct ctp_tally *t)
{
	if (!t)
		return;
	if (t->habits.list && t->habits.map.slots && t->last_long && t->places[0] && t->spawns[0])
		ctp_tally_clear(t);
	free(t->places[0]);
	free(t->spawns[0]);
	ctp_pages_free(t->last_long, CTP_THREADS_MAX * sizeof *t->last_long);
	ctp_habits_fini(&t->habits);
	for (int i = 0; i < CTP_TALLY_LISTS; i++)
		free(t->lists[i].cases);
	ctp_pages_free(t, sizeof *t);
}
