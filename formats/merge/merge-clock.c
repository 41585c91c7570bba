/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* merge-clock.c - from readings of both clocks to a map of times. */
#include "merge/merge-clock.h"

#include <assert.h>
#include <stdlib.h>

#include "analyse/roles.h"
#include "base/array.h"
#include "base/capped.h"
#include "base/compare.h"

enum {
	READINGS_MAX = 1 << 20,
	PACE = 1000, /* the rates of the two clocks differ by at most 1/PACE */
	SLEW = 8,    /* if they differ by more than 1/SLEW, somebody has set the wall clock */
};
#define APART_NS INT64_C(1000000000) /* nearer readings say nothing about the pace */

bool ctp_merge_clock_add(struct ctp_merge_clock *c, const struct ctp_merge_reading *r)
{
	if (c->n == READINGS_MAX || r->mono_ns > INT64_MAX || r->wall_ns > INT64_MAX)
		return true; /* no clock shows that, or a later reading is as good */
	if (!CTP_ARRAY_RESERVE(c->list, c->room, c->n + 1, READINGS_MAX))
		return false;
	c->list[c->n++] = *r;
	c->read |= r->read_ns > 0;
	return true;
}

void ctp_merge_clock_fini(struct ctp_merge_clock *c)
{
	free(c->boot);
	free(c->space);
	free(c->list);
}

bool ctp_merge_clock_read(const struct ctp_record *rec, struct ctp_merge_reading *r)
{
	const struct ctp_class *cls = rec->cls;
	int16_t wall = ctp_roles_named(cls, "wall_ns"), synced = ctp_roles_named(cls, "synced");
	if (cls->time_field < 0 || wall == CTP_ROLES_NONE)
		return false;
	*r = (struct ctp_merge_reading){
		.mono_ns = rec->val[cls->time_field],
		.wall_ns = rec->val[wall],
		.read_ns = ctp_roles_value(rec->val, ctp_roles_named(cls, "read_ns")),
		.error_ns = ctp_roles_value(rec->val, ctp_roles_named(cls, "error_ns")),
	};
	r->read_ns = ctp_most(r->read_ns, 1); /* 0 is for a reading that is from an attribute */
	r->synced = ctp_roles_value(rec->val, synced) && r->error_ns;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct ctp_merge_reading *p = a, *q = b;
	return p->mono_ns == q->mono_ns ? ctp_compare(p->wall_ns, q->wall_ns) : ctp_compare(p->mono_ns, q->mono_ns);
}

/* By how much the wall clock went on more than the other one, from p to q. */
static __int128 gain_ns(const struct ctp_merge_reading *p, const struct ctp_merge_reading *q)
{
	return (__int128)q->wall_ns - p->wall_ns - q->mono_ns + p->mono_ns;
}

static uint64_t clamped(__int128 ns, uint64_t most) { return ns < 1 ? 1 : ns > most ? most : (uint64_t)ns; }
static uint64_t size_of(__int128 ns) { return clamped(ns < 0 ? -ns : ns, UINT64_MAX) - (ns == 0); }

/* Whether the wall clock was set between the two. */
static bool was_set(const struct ctp_merge_reading *p, const struct ctp_merge_reading *q)
{
	uint64_t passed_ns = q->mono_ns - p->mono_ns, gain = size_of(gain_ns(p, q)), read_ns = p->read_ns;
	ctp_add_capped(&read_ns, q->read_ns);
	ctp_add_capped(&read_ns, passed_ns / PACE);
	return gain > read_ns || (passed_ns >= (uint64_t)APART_NS && gain > passed_ns / SLEW);
}

static bool is_better(const struct ctp_merge_reading *r, const struct ctp_merge_reading *best)
{
	return r->synced != best->synced ? r->synced : r->error_ns <= best->error_ns;
}

/*
 * Moves readings after a step to where the wall clock would have shown them, and all of them to where the best one is right.
 * Readings that are too near to the one before go.
 */
static void move(struct ctp_merge_clock *c, __int128 *stepped)
{
	struct ctp_merge_reading *list = c->list;
	size_t kept = 1, best = 0;
	__int128 sum = 0;
	stepped[0] = 0;
	for (size_t i = 1; i < c->n; i++) {
		struct ctp_merge_reading r = list[i], moved = r;
		moved.wall_ns = clamped(r.wall_ns - sum, INT64_MAX);
		__int128 gain = gain_ns(&list[kept - 1], &moved);
		bool set = was_set(&list[kept - 1], &moved);
		if (set) {
			c->steps++;
			ctp_add_capped(&c->step_ns, size_of(gain));
			sum += gain;
			moved.wall_ns = clamped(moved.wall_ns - gain, INT64_MAX);
		} else {
			c->off_ns = ctp_most(c->off_ns, size_of(gain));
		}
		c->off_ns = ctp_most(c->off_ns, r.read_ns);
		if (!set && moved.mono_ns - list[kept - 1].mono_ns < (uint64_t)APART_NS)
			continue;
		stepped[kept] = sum;
		list[kept] = moved;
		best = is_better(&r, &list[best]) ? kept : best;
		kept++;
	}
	c->n = kept;
	for (size_t i = 0; i < c->n; i++) {
		list[i].wall_ns = clamped(list[i].wall_ns + stepped[best], INT64_MAX);
		if (stepped[i] != stepped[best])
			continue;
		c->error_ns = ctp_most(c->error_ns, list[i].error_ns);
		c->synced &= list[i].synced;
	}
}

void ctp_merge_clock_settle(struct ctp_merge_clock *c)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->n; i++) /* where there are records, attributes have nothing to add */
		if (!c->read || c->list[i].read_ns)
			c->list[kept++] = c->list[i];
	c->n = kept;
	if (!c->n)
		return;
	__int128 *stepped = malloc(c->n * sizeof *stepped);
	qsort(c->list, c->n, sizeof *c->list, by_time);
	c->synced = true;
	c->off_ns = c->list[0].read_ns;
	if (!stepped)
		c->n = 1; /* less exact, and never wrong: errno has told */
	else
		move(c, stepped);
	free(stepped);
}

void ctp_merge_clock_note(struct ctp_merge_clock *c, const struct ctp_merge_reading *r)
{
	if (!c->n)
		return;
	uint64_t gain = size_of((__int128)r->wall_ns - ctp_merge_clock_wall(c, r->mono_ns));
	c->off_ns = ctp_most(c->off_ns, gain);
	c->off_ns = ctp_most(c->off_ns, r->read_ns);
	c->error_ns = ctp_most(c->error_ns, r->error_ns);
	c->synced = r->synced && (c->synced || !c->read);
	c->read = true;
}

uint64_t ctp_merge_clock_wall(const struct ctp_merge_clock *c, uint64_t ts_ns)
{
	size_t i;
	assert(c->n);
	if (!ts_ns)
		return 0;
	CTP_ARRAY_FIRST(i, c->n, c->list[i].mono_ns > ts_ns);
	const struct ctp_merge_reading *p = &c->list[i ? i - 1 : 0];
	__int128 passed = (__int128)ts_ns - p->mono_ns;
	if (!i || i == c->n)
		return clamped(p->wall_ns + passed, UINT64_MAX);
	const struct ctp_merge_reading *q = p + 1;
	__int128 gone = (__int128)q->wall_ns - p->wall_ns;
	return clamped(p->wall_ns + passed * gone / (q->mono_ns - p->mono_ns), UINT64_MAX);
}
