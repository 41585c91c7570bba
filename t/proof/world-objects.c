/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-objects.c - the objects that the probe keeps in the memory, against lib/shm/object-copy.c: a copy that is whole has that
 * number of changes, and no part of another one.
 *
 *	one   a thread makes one object after the other; each has the place of the one before
 *	each  the same with two threads, and an object of each; what was before is known to the second by that place alone
 *	both  the same, but two threads make the second one at the same time
 *	all   several threads change what an object's holders have, at the same time
 *
 * The table is allocated piece by piece as it is needed: no thread may touch what is not there yet.
 */
#include <stdlib.h>
#include <string.h>

#include "real-probe.h"
#include "shm/object-copy.h"
#include "small-arena.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

enum { ONE, EACH, BOTH, ALL };
enum { WRITERS = 3, CHANGES = 12, OBJECTS = 3, LOOKS = 6, PLACE = 0 };

static struct ctp_arena arena;
static unsigned kind, alive, writers;
static uint64_t judged, changes, looks_after;
static uint64_t address[OBJECTS]; /* all have the same places in the table */

/* By the number of changes that the place has had: of one writer. */
static struct state {
	uint64_t object, available;
	uint32_t all, what;
	int held;
	bool closed;
} states[CHANGES + 2 * OBJECTS + 1];

/* --- the threads ---------------------------------------------------------------------------------------------------------- */

static void change(struct state next, uint32_t what, uint64_t available, uint32_t marks)
{
	states[++changes] = next;
	real_object(next.object, what, available, marks);
}

static void live(unsigned i)
{
	uint64_t object = address[i];
	struct state s = {.object = object, .available = 1 + view_random(9), .what = CTP_FOR_LOCK + i};
	s.all = (uint32_t)s.available;
	change(s, s.what, s.available, CTP_MARK_MADE);
	for (uint64_t n = view_random(CHANGES / OBJECTS); n; n--) {
		switch (view_random(3)) {
		case 0:
			s.available = view_random(9);
			change(s, s.what, s.available, 0);
			break;
		case 1:
			s.held++;
			states[++changes] = s;
			real_holds(kind == EACH ? i : 0, object, 1);
			break;
		default:
			s.closed = true;
			change(s, 0, 0, CTP_MARK_CLOSED);
		}
	}
	if (kind == BOTH || i + 1 < (kind == ONE ? OBJECTS : 2u) || view_chance(2))
		change((struct state){.object = object, .available = s.available}, 0, 0, CTP_MARK_GONE);
}

static void write_one(void *unused)
{
	(void)unused;
	real_new(0, 0);
	for (unsigned i = 0; i < OBJECTS; i++)
		live(i);
}

static bool is_gone(void *unused) { return (void)unused, alive; }
static bool is_next(void *arg) { return alive == (unsigned)(uintptr_t)arg; }

static void write_next(void *arg)
{
	view_wait(is_next, arg);
	real_new((unsigned)(uintptr_t)arg, 0);
	live((unsigned)(uintptr_t)arg);
	alive++;
}

static void write_both(void *arg)
{
	unsigned co = (unsigned)(uintptr_t)arg;
	if (!co) {
		write_next(arg);
		return;
	}
	view_wait(is_gone, NULL);
	for (uint64_t n = 1 + view_random(CHANGES / OBJECTS); n; n--)
		real_object(address[1], CTP_FOR_LOCK + 1, view_random(9), 0);
}

static void write_some(void *arg)
{
	unsigned co = (unsigned)(uintptr_t)arg;
	real_new(co, 0);
	for (uint64_t n = view_random(CHANGES); n; n--)
		real_holds(co, address[0], 1);
}

static int64_t held(const struct ctp_shm_object *o)
{
	int64_t sum = o->others;
	for (unsigned i = 0; i < CTP_SHM_HOLDERS; i++)
		sum += (int64_t)(o->holders[i] & 0xffff);
	return sum;
}

static void judge_one(const struct ctp_shm_object *o)
{
	const struct state *s = &states[o->done];
	if (o->done > changes)
		view_fail("an object has %u changes, and there were %llu", o->done, (unsigned long long)changes);
	if (o->all != s->all && s->all)
		view_fail("change %u of an object: of %u, and the copy has %u", o->done, s->all, o->all);
	if (o->available_ts && o->available != s->available)
		view_fail("change %u of an object: %llu are available, and the copy has %llu", o->done, (unsigned long long)s->available,
		          (unsigned long long)o->available);
	if (held(o) != s->held)
		view_fail("change %u of an object: %d are held, and the copy has %lld", o->done, s->held, (long long)held(o));
	if (!o->closed_ts != !s->closed)
		view_fail("change %u of an object: it is%s closed, and the copy is%s", o->done, s->closed ? "" : " not",
		          o->closed_ts ? "" : " not");
	if (CTP_REASON_WHAT(o->what) != s->what)
		view_fail("change %u of an object: it is of kind %u, and the copy of %u", o->done, s->what, CTP_REASON_WHAT(o->what));
	if (s->all && s->object != o->object)
		view_fail("change %u was of another object", o->done);
}

static bool all_ended(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < writers; i++)
		if (!view_ended(i))
			return false;
	return true;
}

static bool is_time(void *unused) { return changes >= looks_after || all_ended(unused); }

/* The second object, in any of its places. */
static void judge_both(const struct ctp_shm_object *o)
{
	uint32_t what = CTP_REASON_WHAT(o->what);
	if (o->object == address[1] && ((what && what != CTP_FOR_LOCK + 1) || held(o) || o->closed_ts))
		view_fail("an object has a part of the one before: kind %u, %lld held", what, (long long)held(o));
	if (o->begun && o->object == address[1] && !what && o->done == o->begun && o->available_ts)
		view_fail("an object has no kind");
}

static void judge(const struct ctp_shm_object *o, unsigned i)
{
	if (kind == BOTH)
		judge_both(o);
	else if (kind != ALL && !i)
		judge_one(o);
	else if (kind == ALL && held(o) != o->done)
		view_fail("an object has %u changes, and %lld are held", o->done, (long long)held(o));
}

static void read_objects(void *unused)
{
	view_wait(is_time, unused);
	for (uint64_t n = view_random(LOOKS) + 1; n; n--) {
		for (unsigned i = 0; i < 3; i++) {
			struct ctp_shm_object o;
			/* As ctp_coro_objects_find, which goes through the whole table. */
			uint64_t key = view_load(&arena.keys[PLACE + i], sizeof key, __ATOMIC_ACQUIRE);
			if (!key || !ctp_object_copy(&arena.objects[PLACE + i], &o) || CTP_OBJECT_KEY(o.pid, o.object) != key)
				continue;
			judged++;
			judge(&o, i);
		}
	}
}

/* --- runs ----------------------------------------------------------------------------------------------------------------- */

static void after(void)
{
	const struct ctp_shm_object *o = &arena.objects[PLACE];
	if (o->begun != o->done)
		view_fail("a change was begun and not done");
	judge(o, 0);
}

static void init(void)
{
	unsigned n = 0;
	small_arena_share();
	for (uint64_t at = 1; n < OBJECTS; at++)
		if (CTP_OBJECT_PLACE(CTP_OBJECT_KEY(VIEW_PID, at), CTP_SHM_OBJECTS_FEW) == PLACE)
			address[n++] = at;
}

static void begin(unsigned dialect)
{
	bool fenced = view_random(2);
	kind = dialect;
	view_has_membarrier = !fenced;
	view_syscall = NULL;
	changes = alive = 0;
	looks_after = view_random(CHANGES);
	memset(states, 0, sizeof states);
	small_arena_open(&arena, SMALL_STATIONS, 1, 2, CTP_MODE_RECORD | CTP_MODE_KEEP);
	real_probe_attach(arena.header, 2, fenced, !fenced && arena.clock == CTP_CLOCK_RAW);
	writers = kind < BOTH ? 1 + kind : WRITERS;
	static void (*const mains[])(void *) = {write_one, write_next, write_both, write_some};
	for (unsigned i = 0; i < writers; i++)
		view_spawn("writer", mains[kind], (void *)(uintptr_t)i, fenced ? VIEW_UNREGISTERED : VIEW_REGISTERED);
	view_spawn("reader", read_objects, NULL, VIEW_UNREGISTERED);
	view_absent("allocated", arena.keys, arena.geo.max_objects * sizeof *arena.keys, (1u << writers) - 1);
}

static uint64_t found(void) { return judged; }

static const char *const dialects[] = {"one", "each", "both", "all", NULL};
const struct world world_objects = {"objects", dialects, init, begin, after, found};
