/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coros-snapshot.c - what the memory remembers of a program that was not followed until now: the coroutines that are alive, and those that ended and
 * whose stations were not reused since. The ended ones show how long such coroutines usually take.
 *
 * An item for each birth, name, wake and event is gathered first and then sorted, for records come in the order of time and
 * stations have none. The coroutines go on meanwhile. What they do after our look at the rings, which were in use already when
 * it began, is in the rings too, at its own time, and is left to them.
 *
 * The target that a suspension, event k, waits for, and its reasons, are written before it and overwritten after event k + 1 at the
 * earliest. So k's slot is copied first, which makes all visible that was written before it (slots.c); then the target; then comes
 * a membarrier, or the fence that pairs with the writer's after the odd seq of k + 1. If the slot of k + 1 does not show that
 * event yet, the target and the reasons were k's.
 *
 * A free station may be about to have another coroutine, with half of a new header. So it is looked for on the stack of the
 * free. A probe that takes it from there changes the stack's tag first, then the generation, then the rest. If the tag is the
 * same after the walk as it was before, the generations that were seen are those of ended coroutines; and if the generation is the same
 * after a header was copied, the header is that of the ended coroutine.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/compare.h"
#include "collect/coros.h"
#include "shm/slots.h"

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

enum {
	BIRTH, EVENT, NAME, WAKE, AWAIT, REASON, DEATH, FACT,
	ITEMS = CTP_SHM_SLOTS + CTP_SHM_WAKES + CTP_SHM_REASONS + 4, /* of one station */
	WALKS = 3,                 /* to find the free ones, while the program goes on */
	FREED = 16384,             /* of them that are looked at, those that died last: nothing else is looked at meanwhile */
	GROUP = 64,                /* stations whose slots are copied together */
	BLOCK = 16384,             /* items that are paid for at a time */
	PENDING = ITEMS + 2 * GROUP * CTP_SHM_SLOTS, /* that one station can add, with those whose slots are not copied yet */
};

struct item {
	uint64_t ts_ns;
	uint32_t order; /* of two at the same time: the one that was gathered first */
	uint32_t station;
	uint64_t kind, number, value, tid, what;
};

struct snapshot {
	struct ctp_coros *coros;
	struct item *items;
	size_t count, most;
	size_t room;     /* items that the budget has paid for */
	uint32_t used;
	uint64_t since_ns; /* what slots and wakes have from before it is followed by a time without; 0: nothing is */
	uint32_t *freed; /* by station: the generation of the coroutine that ended there; 0: the station is not free */
	struct ctp_pick picks[GROUP * CTP_SHM_SLOTS];
	uint32_t station[GROUP * CTP_SHM_SLOTS]; /* of each pick */
	uint64_t awaits[GROUP * CTP_SHM_SLOTS];  /* CTP_REF, or 0 */
	uint32_t marks[GROUP * CTP_SHM_SLOTS];   /* of that */
	struct reasons {
		uint32_t n; /* more than CTP_SHM_REASONS: not all are known */
		uint32_t what[CTP_SHM_REASONS];
		uint64_t value[CTP_SHM_REASONS];
	} reasons[GROUP * CTP_SHM_SLOTS];
	unsigned npicks;
};

static struct item *add(struct snapshot *s, unsigned kind, uint32_t station, uint64_t ts_ns)
{
	assert(s->count < s->most); /* ITEMS and CTP_OBJECT_FACTS are upper bounds */
	struct item *item = &s->items[s->count];
	*item = (struct item){.ts_ns = ts_ns, .order = (uint32_t)s->count, .station = station, .kind = kind};
	s->count++;
	return item;
}

/* Whether the event is a suspension, and the last event of its coroutine. */
static bool is_wait(const struct snapshot *s, unsigned k)
{
	const struct ctp_pick *pick = &s->picks[k];
	bool last = k + 1 == s->npicks || s->station[k + 1] != s->station[k];
	bool dead = s->coros->life[s->station[k]].flags & CTP_LIFE_DEAD;
	return pick->whole && last && !dead && CTP_ENTRY_KIND(pick->what) == CTP_ENTRY_SUSPEND;
}

/* The reasons of that suspension. False: none were said. */
static bool copy_reasons(struct snapshot *s, unsigned k)
{
	const struct ctp_shm_station *shm = &s->coros->rings->arena.stations[s->station[k]];
	struct reasons *r = &s->reasons[k];
	bool said = is_wait(s, k) && __atomic_load_n(&shm->reason_event, __ATOMIC_RELAXED) == s->picks[k].number &&
	            __atomic_load_n(&shm->reason_generation, __ATOMIC_RELAXED) == s->coros->life[s->station[k]].generation;
	r->n = said ? __atomic_load_n(&shm->nreasons, __ATOMIC_RELAXED) : 0;
	for (uint32_t i = 0; i < r->n && i < CTP_SHM_REASONS; i++) {
		r->value[i] = __atomic_load_n(&shm->reasons[i], __ATOMIC_RELAXED);
		r->what[i] = __atomic_load_n(&shm->reason_whats[i], __ATOMIC_RELAXED);
	}
	return r->n;
}

/* The target of that suspension, if that was said. */
static uint64_t target_of(struct snapshot *s, unsigned k)
{
	const struct ctp_pick *pick = &s->picks[k];
	const struct ctp_shm_station *shm = &s->coros->rings->arena.stations[s->station[k]];
	if (!is_wait(s, k))
		return 0;
	uint64_t target = __atomic_load_n(&shm->awaits, __ATOMIC_RELAXED);
	bool said = __atomic_load_n(&shm->await_event, __ATOMIC_RELAXED) == pick->number &&
	            __atomic_load_n(&shm->await_generation, __ATOMIC_RELAXED) == s->coros->life[s->station[k]].generation;
	uint32_t marks = __atomic_load_n(&shm->await_marks, __ATOMIC_RELAXED);
	s->marks[k] = CTP_MARKS_OF(marks, s->coros->life[s->station[k]].generation);
	return said ? target : 0;
}

static void find_targets(struct snapshot *s)
{
	bool any = false;
	for (unsigned k = 0; k < s->npicks; k++)
		any |= (s->awaits[k] = target_of(s, k)) | copy_reasons(s, k);
	bool barrier = any && ctp_membarrier();
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with the fence of a writer that announces ORDERED */
	for (unsigned k = 0; any && k < s->npicks; k++) {
		const struct ctp_shm_station *shm = &s->coros->rings->arena.stations[s->station[k]];
		uint64_t next = s->picks[k].number + 1;
		uint64_t seq = __atomic_load_n(&shm->slots[next % CTP_SHM_SLOTS].seq, __ATOMIC_RELAXED);
		if (seq > ctp_slot_seq(next) - 2 || !(barrier || s->picks[k].flags & CTP_ANNOUNCE_ORDERED))
			s->awaits[k] = s->reasons[k].n = 0;
	}
}

static void add_reasons(struct snapshot *s, unsigned k, uint64_t ts_ns)
{
	const struct reasons *r = &s->reasons[k];
	for (uint32_t i = 0; i < r->n && i < CTP_SHM_REASONS; i++) {
		struct item *item = add(s, REASON, s->station[k], ts_ns);
		item->value = r->value[i];
		item->what = r->what[i];
		item->number = r->n > CTP_SHM_REASONS;
		item->tid = __atomic_load_n(&s->coros->rings->arena.stations[s->station[k]].pid, __ATOMIC_RELAXED);
	}
}

/*
 * Whether the coroutine has died since, and another has the station and may have written to the slots. After the acquire fence of
 * ctp_slots_copy, or its membarrier: a reader that sees an event of the next one sees the next generation.
 */
static bool is_gone(const struct ctp_coros *coros, uint32_t i)
{
	struct ctp_life *life = &coros->life[i];
	if (life->flags & CTP_LIFE_DEAD ||
	    __atomic_load_n(&coros->rings->arena.stations[i].generation, __ATOMIC_RELAXED) == life->generation)
		return false;
	life->flags |= CTP_LIFE_UNSURE;
	return true;
}

/* The slots that wait to be copied. Whether a coroutine is gone is asked once: all of its events are written, or none. */
static void add_events(struct snapshot *s)
{
	bool gone = false;
	ctp_slots_copy(s->coros->rings, s->picks, s->npicks);
	find_targets(s);
	for (unsigned k = 0; k < s->npicks; k++) {
		const struct ctp_pick *pick = &s->picks[k];
		struct ctp_life *life = &s->coros->life[s->station[k]];
		if (!k || s->station[k] != s->station[k - 1])
			gone = is_gone(s->coros, s->station[k]);
		if (pick->whole && pick->newer && pick->number < life->next)
			life->next = pick->number; /* the rings have it, and all after it, whatever their times are */
		if (!pick->whole || pick->number >= life->next || pick->ts_ns < s->since_ns || gone)
			continue;
		life->last_ns = pick->ts_ns > life->last_ns ? pick->ts_ns : life->last_ns; /* as of all events: see coros.c */
		struct item *item;
		if (s->awaits[k]) {
			item = add(s, AWAIT, s->station[k], life->last_ns);
			item->value = s->awaits[k];
			item->what = s->marks[k];
		}
		add_reasons(s, k, life->last_ns);
		item = add(s, EVENT, s->station[k], life->last_ns);
		item->number = pick->number;
		item->value = pick->addr;
		item->tid = pick->tid;
		item->what = pick->what;
	}
	s->npicks = 0;
}

static void pick_events(struct snapshot *s, uint32_t i, const struct ctp_life_header *head)
{
	const struct ctp_shm_station *shm = &s->coros->rings->arena.stations[i];
	/* One that has just died may have events in the rings alone (CTP_MODE_BARE). */
	uint64_t next = head->is_dead && !head->just_dead ? head->events : ctp_slots_next(shm);
	uint64_t from = next > CTP_SHM_SLOTS ? next - CTP_SHM_SLOTS : 0;
	from = from > head->first ? from : head->first; /* what was before is another's */
	if (s->npicks + CTP_SHM_SLOTS > sizeof s->picks / sizeof *s->picks)
		add_events(s);
	for (uint64_t k = from; k < next; k++) {
		s->station[s->npicks] = i;
		s->picks[s->npicks++] =
			(struct ctp_pick){.slot = &shm->slots[k % CTP_SHM_SLOTS], .number = k, .flags = head->flags};
	}
	assert(s->npicks <= sizeof s->picks / sizeof *s->picks);
	s->coros->life[i].next = next > head->first ? next : head->first;
}

/*
 * A time by which it was there, where its birth is not known: that of the oldest event which its slots remember. A writer without
 * fences may show the number of an event before its time: then there is none yet.
 */
static uint64_t seen_ns(const struct snapshot *s, uint32_t i, const struct ctp_life_header *head)
{
	const struct ctp_coros *coros = s->coros;
	const struct ctp_shm_station *shm = &coros->rings->arena.stations[i];
	uint64_t next = ctp_slots_next(shm), from = next > CTP_SHM_SLOTS ? next - CTP_SHM_SLOTS : 0;
	from = from > head->first ? from : head->first;
	uint64_t ts = __atomic_load_n(&shm->slots[from % CTP_SHM_SLOTS].timestamp, __ATOMIC_RELAXED);
	uint64_t ns = from < next && ts ? ctp_rings_ns(coros->rings, ts, head->flags & CTP_ANNOUNCE_RAW) : coros->rings->now_ns;
	/* It was not born while there was recording. */
	return s->since_ns && s->since_ns < ns ? s->since_ns : ns;
}

/* Whether there was a time without slots since its newest, so that it need not be its last. */
static bool is_old(const struct snapshot *s, uint32_t i, const struct ctp_life_header *head)
{
	const struct ctp_shm_station *shm = &s->coros->rings->arena.stations[i];
	uint64_t next = ctp_slots_next(shm);
	if (!s->since_ns || head->birth_ns >= s->since_ns)
		return false;
	if (next <= head->first)
		return true;
	uint64_t ts = __atomic_load_n(&shm->slots[(next - 1) % CTP_SHM_SLOTS].timestamp, __ATOMIC_RELAXED);
	return ctp_rings_ns(s->coros->rings, ts, head->flags & CTP_ANNOUNCE_RAW) < s->since_ns;
}

static void add_wakes(struct snapshot *s, uint32_t i, const struct ctp_life_header *head)
{
	const struct ctp_shm_station *shm = &s->coros->rings->arena.stations[i];
	bool raw = head->flags & CTP_ANNOUNCE_RAW;
	for (unsigned k = 0; k < CTP_SHM_WAKES; k++) {
		const struct ctp_shm_wake *wake = &shm->wakes[k];
		/* Acquire: what follows is not of a coroutine before this one. Pairs with the release store of a waker. */
		if (__atomic_load_n(&wake->generation, __ATOMIC_ACQUIRE) != head->generation)
			continue;
		uint64_t ts = __atomic_load_n(&wake->ts, __ATOMIC_RELAXED), by = __atomic_load_n(&wake->waker, __ATOMIC_RELAXED);
		uint32_t tid = __atomic_load_n(&wake->tid, __ATOMIC_RELAXED);
		uint32_t marks = __atomic_load_n(&wake->marks, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE); /* as in coros.c, read_header: the wake is not the next coroutine's */
		if (__atomic_load_n(&shm->generation, __ATOMIC_RELAXED) != head->generation ||
		    ctp_rings_newer(s->coros->rings, ts, raw) || __atomic_load_n(&wake->ts, __ATOMIC_RELAXED) != ts)
			continue;
		uint64_t ts_ns = ctp_rings_ns(s->coros->rings, ts, raw);
		if (ts_ns < s->since_ns)
			continue;
		struct item *item = add(s, WAKE, i, ts_ns);
		item->value = by;
		item->tid = tid;
		item->what = marks;
	}
}

/* Whether the slots have the last events of a coroutine that ended. */
static bool is_remembered(const struct snapshot *s, uint32_t i, const struct ctp_life_header *head)
{
	return head->birth_ns && !is_old(s, i, head) && ctp_slots_next(&s->coros->rings->arena.stations[i]) == head->events;
}

static void gather(struct snapshot *s, uint32_t i)
{
	const struct ctp_shm_station *shm = &s->coros->rings->arena.stations[i];
	struct ctp_life_header head;
	if (!(s->freed[i] ? ctp_life_header_of(s->coros, i, s->freed[i], &head) : ctp_life_header(s->coros, i, &head)))
		return;
	bool dead = head.is_dead && !head.just_dead;
	if (head.newborn || (!dead && head.is_dead == 2))
		return;
	bool known = !dead || is_remembered(s, i, &head);
	if (known)
		ctp_life_begin(s->coros, i, &head);
	if (dead)
		ctp_life_skip(s->coros, i, &head);
	if (!known)
		return;
	uint64_t born_ns = head.birth_ns ? head.birth_ns : seen_ns(s, i, &head);
	struct item *birth = add(s, BIRTH, i, born_ns);
	birth->number = head.birth_ns;
	birth->value = head.parent;
	birth->tid = head.pid;
	birth->what = (uint64_t)head.flags << 32 | head.site;
	if (__atomic_load_n(&shm->name_bytes, __ATOMIC_RELAXED))
		add(s, NAME, i, born_ns);
	if (is_old(s, i, &head)) {
		s->coros->life[i].flags |= CTP_LIFE_UNSURE;
		return;
	}
	add_wakes(s, i, &head);
	pick_events(s, i, &head);
	if (dead)
		add(s, DEATH, i, head.death_ns);
}

/* Whether there is room for those of one more station, or object. */
static bool has_room(struct snapshot *s)
{
	if (s->count + PENDING <= s->room)
		return true;
	bool paid = ctp_budget_take(s->coros->budget, BLOCK * sizeof *s->items);
	s->room += paid ? BLOCK : 0;
	return paid;
}

/* What is known of the objects that coroutines wait for. Gathered last: what the coroutines do meanwhile is in the rings. */
static void gather_objects(struct snapshot *s)
{
	struct ctp_coro_objects *o = &s->coros->objects;
	struct ctp_ring_entry facts[CTP_OBJECT_FACTS];
	for (uint32_t i = 0; i < o->count && has_room(s); i++) {
		uint32_t pid = 0;
		unsigned n = ctp_coro_objects_facts(s->coros, &o->kept[i], s->since_ns, facts, &pid);
		for (unsigned k = 0; k < n; k++) {
			struct item *item = add(s, FACT, 0, facts[k].ts_ns);
			item->value = facts[k].value;
			item->number = facts[k].ref;
			item->what = facts[k].what;
			item->tid = pid;
		}
	}
	o->kept_ns = ctp_clock_ns();
}

static void write_item(struct snapshot *s, const struct item *item)
{
	struct ctp_coros *coros = s->coros;
	uint32_t i = item->station;
	const struct ctp_life *life = &coros->life[i];
	struct ctp_life_header head = {.probe_id = life->probe_id, .birth_ns = item->number, .parent = item->value,
	                               .pid = (uint32_t)item->tid, .site = (uint32_t)item->what,
	                               .flags = (uint32_t)(item->what >> 32)};
	struct ctp_who who = {life->probe_id, life->coro, life->first};
	struct ctp_wake wake = {CTP_REF(life->generation, i), item->value, item->tid, item->ts_ns, (uint32_t)item->what};
	struct ctp_ring_entry entry = {.ts_ns = item->ts_ns, .value = item->value, .ref = item->number, .what = item->what};
	switch (item->kind) {
	case BIRTH: ctp_life_birth(coros, i, &head, item->ts_ns); break;
	case EVENT: ctp_coros_row(coros, &who, item->number, &entry, item->tid); break;
	case NAME: ctp_life_name(coros, i, item->ts_ns); break;
	case AWAIT: ctp_life_await(coros, wake.ref, item->value, wake.marks, item->ts_ns); break;
	case REASON:
		ctp_life_reason(coros, &(struct ctp_reason){wake.ref, item->value, item->tid, item->ts_ns, wake.marks,
		                                            item->number});
		break;
	case DEATH: ctp_rows_death(coros->rows, life->probe_id, life->coro, item->ts_ns, item->ts_ns); break;
	case WAKE: ctp_life_wake(coros, &wake); break;
	case FACT: ctp_coro_objects_write(coros, item->tid, &entry); break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return ctp_compare(x->ts_ns, y->ts_ns) ?: ctp_compare(x->order, y->order);
}

/* A death, when the events are known: not before them, and after them where it has the same time. */
static void come_last(const struct snapshot *s, struct item *death)
{
	uint64_t last_ns = s->coros->life[death->station].last_ns;
	death->ts_ns = death->ts_ns > last_ns ? death->ts_ns : last_ns;
	death->order = UINT32_MAX;
}

/* One walk over the stack of the free. False: it changed meanwhile, and nothing is known. */
static bool walk(struct snapshot *s)
{
	const struct ctp_arena *arena = &s->coros->rings->arena;
	const uint64_t *stack = &arena->header->free;
	uint64_t top = __atomic_load_n(stack, __ATOMIC_ACQUIRE); /* pairs with the release that put one there: its link */
	uint32_t link = (uint32_t)top;
	for (uint32_t n = 0; link && link <= arena->geo.max_stations && n < s->used && n < FREED; n++) {
		const struct ctp_shm_station *shm = &arena->stations[link - 1];
		/* Pairs with the release store of the next generation: a reader of that sees below that the tag is another. */
		uint32_t generation = __atomic_load_n(&shm->generation, __ATOMIC_ACQUIRE);
		if (link <= s->used)
			s->freed[link - 1] = generation;
		/* The same of a link that was stored after a change of the stack. t/proof: header_of_another. */
		link = __atomic_load_n(&shm->next_free, __ATOMIC_ACQUIRE);
	}
	return __atomic_load_n(stack, __ATOMIC_RELAXED) == top;
}

static void find_freed(struct snapshot *s)
{
	for (unsigned walks = 0; walks < WALKS; walks++) {
		if (walk(s))
			return;
		memset(s->freed, 0, s->used * sizeof *s->freed);
	}
}

uint64_t ctp_coros_snapshot(struct ctp_coros *coros, uint32_t used)
{
	struct snapshot s = {.coros = coros, .used = used};
	size_t items = (size_t)used * ITEMS + (size_t)ctp_coro_objects_find(coros) * CTP_OBJECT_FACTS;
	size_t bytes = items * sizeof *s.items + used * sizeof *s.freed;
	if (!bytes)
		return 0;
	s.items = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s.items == MAP_FAILED)
		return 0; /* then births come when they are needed, and what was before counts as lost */
	s.most = items;
	s.freed = (uint32_t *)(void *)(s.items + items);
	s.since_ns = __atomic_load_n(&coros->rings->arena.header->since_ns, __ATOMIC_RELAXED);
	find_freed(&s);
	uint32_t gathered = 0;
	for (; gathered < used && has_room(&s) && !ctp_look_limit_over_at(&coros->rows->limit, gathered); gathered++)
		gather(&s, gathered);
	coros->rows->stats.untraced += used - gathered;
	add_events(&s);
	gather_objects(&s);
	for (size_t k = 0; k < s.count; k++)
		if (s.items[k].kind == DEATH)
			come_last(&s, &s.items[k]);
	qsort(s.items, s.count, sizeof *s.items, by_time);
	size_t written = 0;
	for (; written < s.count && !ctp_look_limit_over_at(&coros->rows->limit, written); written++)
		write_item(&s, &s.items[written]);
	munmap(s.items, bytes);
	ctp_budget_give(coros->budget, s.room * sizeof *s.items);
	return s.count - written;
}
