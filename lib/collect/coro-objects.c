/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* coro-objects.c - see coro-objects.h. */
#include "collect/coro-objects.h"

#include <assert.h>
#include <stdlib.h>

#include "base/compare.h"
#include "collect/coros.h"
#include "shm/object-copy.h"

enum {
	TRIES = 3,
	/* Kinds of entries that no ring has. ref is a number in the stream. */
	ENDED_BIRTH = 240, /* of a coroutine that is known only by what it holds; value: its station */
	ENDED_DEATH,
	ENDED_HOLDS,
};

#define READ(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

void ctp_coro_objects_fini(struct ctp_coro_objects *o) { free(o->kept); }

static int by_key(const void *a, const void *b)
{
	const struct ctp_object_kept *x = a, *y = b;
	return ctp_compare(x->key, y->key);
}

/* Places of the table that may have an object. */
static uint32_t places(const struct ctp_arena *arena)
{
	uint32_t used = READ(arena->header->objects_used);
	if (!arena->geo.max_objects || !used)
		return 0;
	return used > 1 ? arena->geo.max_objects : CTP_SHM_OBJECTS_FEW;
}

uint32_t ctp_coro_objects_find(struct ctp_coros *coros)
{
	const struct ctp_arena *arena = &coros->rings->arena;
	struct ctp_coro_objects *o = &coros->objects;
	uint32_t n = places(arena), count = 0;
	struct ctp_object_kept *kept = n ? malloc(n * sizeof *kept) : NULL;
	for (uint32_t i = 0; kept && i < n; i++) {
		uint64_t key = __atomic_load_n(&arena->keys[i], __ATOMIC_ACQUIRE); /* pairs with the release store of the key: its object is made */
		if (key)
			kept[count++] = (struct ctp_object_kept){.key = key, .index = i};
	}
	assert(count <= n);
	if (count)
		qsort(kept, count, sizeof *kept, by_key);
	free(o->kept);
	o->kept = kept;
	return o->count = count;
}

/* An object that has two places has a part of its facts in each. */
static bool is_twice(const struct ctp_coro_objects *o, const struct ctp_object_kept *kept)
{
	return (kept > o->kept && kept[-1].key == kept->key) || (kept + 1 < o->kept + o->count && kept[1].key == kept->key);
}

/* A copy of an object, and the facts made of it. */
struct copy {
	struct ctp_shm_object o;
	struct ctp_ring_entry *facts;
	unsigned n;
	struct ctp_coros *coros;
	uint64_t since_ns;
};

static uint64_t ns_of(const struct copy *c, uint64_t ts) { return ctp_rings_ns(c->coros->rings, ts, c->o.what & CTP_OBJECT_RAW); }

static void add(struct copy *c, uint64_t ts_ns, uint64_t ref, uint64_t what)
{
	assert(c->n < CTP_OBJECT_FACTS);
	c->facts[c->n++] = (struct ctp_ring_entry){.ts_ns = ts_ns, .value = c->o.object, .ref = ref, .what = what};
}

static uint32_t number_of(const struct copy *c, uint32_t what, uint32_t marks)
{
	return CTP_REASON(what, marks | (CTP_REASON_MARKS(c->o.what) & CTP_MARK_OWNED), 0);
}

/* The time of a fact of the object; UINT64_MAX: there is no such fact, or it is older than since_ns. */
static uint64_t fact_ns(const struct copy *c, uint64_t ts)
{
	uint64_t ts_ns = ts ? ns_of(c, ts) : 0;
	return ts && ts_ns >= c->since_ns ? ts_ns : UINT64_MAX;
}

/* The first time that is known of it. */
static uint64_t first_ns(const struct copy *c)
{
	const uint64_t times[] = {c->o.made_ts, c->o.available_ts, c->o.room_ts, c->o.held_ts, c->o.closed_ts};
	uint64_t first_ns = c->coros->rings->now_ns;
	for (unsigned i = 0; i < sizeof times / sizeof *times; i++)
		first_ns = ctp_least(first_ns, fact_ns(c, times[i]));
	return first_ns;
}

static void add_stock(struct copy *c, uint32_t what, uint64_t available, uint64_t ts)
{
	if (fact_ns(c, ts) != UINT64_MAX)
		add(c, fact_ns(c, ts), available, CTP_ENTRY(CTP_ENTRY_OBJECT, 0, number_of(c, what, 0)));
}

/* The ref of a holder: its generation is the last with these bits that the station has had. */
static uint64_t ref_of(const struct ctp_coros *coros, uint64_t holder)
{
	uint32_t index = CTP_HOLDER_INDEX(holder), low = CTP_HOLDER_GENERATION(holder);
	if (index >= coros->rings->arena.geo.max_stations)
		return 0;
	uint32_t now = READ(coros->rings->arena.stations[index].generation);
	return CTP_REF(now - ((now - low) & 0x3ffffff), index);
}

/*
 * Whether a coroutine has ended and was not gathered: its station may have had others since. *before_ns: it had
 * ended by then.
 */
static bool has_ended(const struct ctp_coros *coros, uint64_t ref, uint64_t *before_ns)
{
	uint32_t station = CTP_REF_INDEX(ref), generation = CTP_REF_GENERATION(ref);
	struct ctp_life_header head;
	if (coros->life[station].generation == generation)
		return false;
	*before_ns = coros->rings->now_ns;
	if (!ctp_life_header(coros, station, &head))
		return true;
	uint64_t ns = head.generation == generation ? head.death_ns : head.birth_ns;
	*before_ns = ns && ns < *before_ns ? ns : *before_ns;
	return head.generation != generation || head.is_dead;
}

void ctp_coro_objects_ended(struct ctp_coro_objects *o, uint64_t ref, uint64_t coro)
{
	o->ended[o->nended++ % (sizeof o->ended / sizeof *o->ended)] = (struct ctp_ended_holder){ref, coro};
}

uint64_t ctp_coro_objects_ended_number(const struct ctp_coro_objects *o, uint64_t ref)
{
	const uint32_t room = sizeof o->ended / sizeof *o->ended;
	for (uint32_t i = 0; i < o->nended && i < room; i++)
		if (o->ended[i].ref == ref)
			return o->ended[i].coro;
	return 0;
}

/* Its number in the stream, where it is born for this. */
static uint64_t ended_number(struct copy *c, uint64_t ref, uint64_t held_ns, uint64_t before_ns)
{
	uint64_t coro = ctp_coro_objects_ended_number(&c->coros->objects, ref);
	if (coro)
		return coro;
	coro = ++c->coros->rows->coros;
	ctp_coro_objects_ended(&c->coros->objects, ref, coro);
	add(c, held_ns, coro, CTP_ENTRY(ENDED_BIRTH, 0, CTP_REF_INDEX(ref)));
	add(c, before_ns, coro, CTP_ENTRY(ENDED_DEATH, 0, 0));
	return coro;
}

static void add_holders(struct copy *c)
{
	uint64_t held_ns = ns_of(c, c->o.held_ts), before_ns;
	for (unsigned i = 0; i < CTP_SHM_HOLDERS; i++) {
		uint64_t word = c->o.holders[i], ref = word ? ref_of(c->coros, word >> 16) : 0;
		uint32_t count = word & 0xffff;
		if (!ref)
			continue;
		if (!has_ended(c->coros, ref, &before_ns)) {
			add(c, held_ns, ref, CTP_ENTRY(CTP_ENTRY_HOLDS, 0, count));
			continue;
		}
		uint64_t ts_ns = held_ns < before_ns ? held_ns : before_ns;
		uint64_t coro = ended_number(c, ref, ts_ns, before_ns);
		add(c, ts_ns, coro, CTP_ENTRY(ENDED_HOLDS, 0, count));
	}
}

unsigned ctp_coro_objects_facts(struct ctp_coros *coros, struct ctp_object_kept *kept, uint64_t since_ns,
                                struct ctp_ring_entry facts[CTP_OBJECT_FACTS], uint32_t *pid)
{
	struct copy c = {.facts = facts, .coros = coros, .since_ns = since_ns};
	for (unsigned tries = 0; tries < TRIES && !kept->whole; tries++)
		kept->whole = ctp_object_copy(&coros->rings->arena.objects[kept->index], &c.o);
	if (CTP_OBJECT_KEY(c.o.pid, c.o.object) != kept->key)
		return 0; /* it is being made */
	kept->changes = c.o.done;
	kept->whole &= !is_twice(&coros->objects, kept);
	*pid = c.o.pid;
	if (!kept->whole)
		c.o = (struct ctp_shm_object){.pid = c.o.pid, .object = c.o.object};
	/* The holders are known if every change was recorded since the object was made. */
	bool known = fact_ns(&c, c.o.made_ts) != UINT64_MAX && !c.o.others;
	uint32_t what = CTP_REASON_WHAT(c.o.what), stock = what == CTP_FOR_ROOM ? CTP_FOR_ITEM : what;
	uint64_t begin_ns = first_ns(&c);
	if (known)
		add(&c, begin_ns, c.o.all, CTP_ENTRY(CTP_ENTRY_OBJECT, c.o.made, number_of(&c, what, CTP_MARK_MADE)));
	else
		add(&c, begin_ns, 0, CTP_ENTRY(CTP_ENTRY_OBJECT, c.o.made, number_of(&c, 0, 0)));
	if (c.o.label)
		add(&c, begin_ns, 0, CTP_ENTRY(CTP_ENTRY_LABEL, c.o.label, 0));
	add_stock(&c, stock, c.o.available, c.o.available_ts);
	add_stock(&c, CTP_FOR_ROOM, c.o.room, c.o.room_ts);
	if (known)
		add_holders(&c);
	if (fact_ns(&c, c.o.closed_ts) != UINT64_MAX)
		add(&c, fact_ns(&c, c.o.closed_ts), 0, CTP_ENTRY(CTP_ENTRY_OBJECT, 0, number_of(&c, 0, CTP_MARK_CLOSED)));
	return c.n;
}

void ctp_coro_objects_write(struct ctp_coros *coros, uint64_t pid, const struct ctp_ring_entry *fact)
{
	uint32_t number = CTP_ENTRY_NUMBER(fact->what);
	switch (CTP_ENTRY_KIND(fact->what)) {
	case ENDED_BIRTH:
		ctp_rows_birth(coros->rows, &(struct ctp_birth){.coro = fact->ref, .station = number, .before_ns = fact->ts_ns,
		                                                .pid = (uint32_t)pid});
		break;
	case ENDED_DEATH:
		ctp_rows_death(coros->rows, 0, fact->ref, fact->ts_ns, fact->ts_ns);
		break;
	case ENDED_HOLDS:
		ctp_life_hold(coros, &(struct ctp_hold_of){fact->ref, 0, pid, fact->value, fact->ts_ns, 0, (int32_t)number});
		break;
	default:
		ctp_coros_fact(coros, pid << 32, fact); /* the thread is not known */
		break;
	}
}

/* --- the rings ------------------------------------------------------------------------------------------------------------ */

bool ctp_coro_objects_is_written(const struct ctp_coro_objects *o, uint64_t pid, const struct ctp_ring_entry *e)
{
	uint32_t number = CTP_ENTRY_SITE(e->what);
	struct ctp_object_kept key = {.key = CTP_OBJECT_KEY(pid, e->value)};
	if (!number || !o->count || e->ts_ns > o->kept_ns)
		return false;
	const struct ctp_object_kept *kept = bsearch(&key, o->kept, o->count, sizeof key, by_key);
	/* Both are numbers of 24 bits, and near each other. */
	return kept && kept->whole && ((kept->changes - number) & 0xffffff) < 0x800000;
}
