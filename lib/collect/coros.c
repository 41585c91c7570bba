/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coros.c - from entries to records; births, deaths, and which stations are free.
 *
 * A station's header is written in this order: generation, release fence, the rest, is_dead = 0 with release; and at the end
 * events, death_ts, is_dead = 1 with release. From then on no probe touches it until we have freed it. So a ref with the generation
 * that stands there proves the header. A reader without a ref reads generation, the rest, an acquire fence, and generation again.
 */
#include "collect/coros.h"

#include <assert.h>
#include <sys/mman.h>

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

enum {
	ANCESTORS = 16,   /* unknown ancestors, emitted before the child */
	FREE_TRIES = 100, /* to put stations on the stack of the free, against all threads of the target */
};

enum ctp_status ctp_coros_init(struct ctp_coros *coros, struct ctp_rings *rings, struct ctp_rows *rows, struct ctp_err *err)
{
	*coros = (struct ctp_coros){.rings = rings, .rows = rows, .doubt_ns = UINT64_MAX};
	size_t bytes = rings->arena.geo.max_stations * sizeof *coros->life; /* pages come as stations do */
	void *life = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (life == MAP_FAILED)
		return ctp_err_sys(err, "memory for %u stations", rings->arena.geo.max_stations);
	coros->life = life;
	coros->notes = __atomic_load_n(&rings->arena.header->lost_notes, __ATOMIC_RELAXED);
	coros->events = __atomic_load_n(&rings->arena.header->lost_events, __ATOMIC_RELAXED);
	if (ctp_shm_texts_init(&coros->texts, &rings->arena, rows, err))
		return CTP_FAILED;
	return ctp_ring_gaps_init(&coros->gaps, err);
}

void ctp_coros_fini(struct ctp_coros *coros)
{
	ctp_ring_gaps_fini(&coros->gaps);
	ctp_shm_texts_fini(&coros->texts);
	ctp_coro_objects_fini(&coros->objects);
	if (coros->life)
		munmap(coros->life, coros->rings->arena.geo.max_stations * sizeof *coros->life);
	coros->life = NULL;
}

/* --- births --------------------------------------------------------------------------------------------------------------- */

/* False: it is not of one generation, or of no coroutine with rings. Proved in t/proof: header_is_its_own, for ctp_life_header. */
static bool read_header(const struct ctp_coros *coros, uint32_t i, struct ctp_life_header *head)
{
	const struct ctp_shm_station *shm = &coros->rings->arena.stations[i];
	uint32_t generation = __atomic_load_n(&shm->generation, __ATOMIC_ACQUIRE);
	/* Pairs with the release store of is_dead at birth, and at death: the header is whole, and what is added at the end. */
	uint8_t is_dead = __atomic_load_n(&shm->is_dead, __ATOMIC_ACQUIRE);
	uint64_t announce = __atomic_load_n(&shm->announce, __ATOMIC_ACQUIRE); /* the same for the first generation */
	bool raw = CTP_ANNOUNCE_FLAGS(announce) & CTP_ANNOUNCE_RAW;
	uint64_t birth = __atomic_load_n(&shm->birth_ts, __ATOMIC_RELAXED);
	uint64_t death = __atomic_load_n(&shm->death_ts, __ATOMIC_RELAXED);
	*head = (struct ctp_life_header){
		.generation = generation,
		.is_dead = is_dead,
		.flags = CTP_ANNOUNCE_FLAGS(announce),
		.pid = __atomic_load_n(&shm->pid, __ATOMIC_RELAXED),
		.site = __atomic_load_n(&shm->spawn_site, __ATOMIC_RELAXED),
		.probe_id = __atomic_load_n(&shm->probe_id, __ATOMIC_RELAXED),
		.birth_ns = birth ? ctp_rings_ns(coros->rings, birth, raw) : 0,
		.death_ns = is_dead ? ctp_rings_ns(coros->rings, death, raw) : 0,
		.parent = __atomic_load_n(&shm->parent, __ATOMIC_RELAXED),
		.first = __atomic_load_n(&shm->first, __ATOMIC_RELAXED),
		.events = __atomic_load_n(&shm->events, __ATOMIC_RELAXED),
		.newborn = birth && ctp_rings_newer(coros->rings, birth, raw),
		.just_dead = is_dead && ctp_rings_newer(coros->rings, death, raw),
	};
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with the release fence after the next generation's number */
	return generation && CTP_ANNOUNCE_IS(announce) && head->flags & CTP_ANNOUNCE_ANNEX &&
	       __atomic_load_n(&shm->generation, __ATOMIC_RELAXED) == generation;
}

bool ctp_life_header(const struct ctp_coros *coros, uint32_t i, struct ctp_life_header *head)
{
	/* A station that is free may have another coroutine already, of which only half is written. */
	return read_header(coros, i, head) && head->is_dead < 2;
}

bool ctp_life_header_of(const struct ctp_coros *coros, uint32_t i, uint32_t generation, struct ctp_life_header *head)
{
	return read_header(coros, i, head) && head->generation == generation && head->is_dead == 2;
}

void ctp_life_begin(struct ctp_coros *coros, uint32_t i, const struct ctp_life_header *head)
{
	assert(i < coros->rings->arena.geo.max_stations && head->generation);
	struct ctp_life *life = &coros->life[i];
	uint64_t coro = ++coros->rows->coros, back = coro - life->coro, events = head->first - life->first;
	bool follows = life->coro && head->generation == life->generation + 1;
	if (life->held)
		ctp_coro_objects_ended(&coros->objects, CTP_REF(life->generation, i), life->coro);
	life->held = 0;
	life->back = follows && back <= UINT32_MAX && events <= UINT32_MAX ? (uint32_t)back : 0;
	life->events_before = (uint32_t)events;
	life->coro = coro;
	life->next = life->first = head->first;
	life->probe_id = head->probe_id;
	life->generation = head->generation;
	life->last_ns = head->birth_ns;
	life->name = 0;
	life->flags &= CTP_LIFE_QUEUED;
}

static uint64_t coro_of(struct ctp_coros *coros, uint64_t ref, uint64_t seen_ns, unsigned depth);
static void emit_pending_death(struct ctp_coros *coros, struct ctp_life *life);

static void birth(struct ctp_coros *coros, uint32_t i, const struct ctp_life_header *head, uint64_t seen_ns, unsigned depth)
{
	uint64_t before_ns = head->birth_ns ? head->birth_ns : seen_ns;
	uint64_t parent = coro_of(coros, head->parent, before_ns, depth);
	struct ctp_birth record = {
		.probe_id = head->probe_id,
		.coro = coros->life[i].coro,
		.station = i,
		.after_ns = head->birth_ns,
		.before_ns = before_ns,
		.parent = parent,
		.site = head->site ? ctp_shm_texts_site(&coros->texts, head->site, before_ns) : 0,
		.pid = head->pid,
		.by_hand = head->flags & CTP_ANNOUNCE_HAND,
	};
	ctp_rows_birth(coros->rows, &record);
}

void ctp_life_birth(struct ctp_coros *coros, uint32_t i, const struct ctp_life_header *head, uint64_t seen_ns)
{
	birth(coros, i, head, seen_ns, ANCESTORS);
}

/* The coroutine of this header becomes the one that has the station. */
static void adopt(struct ctp_coros *coros, uint32_t i, const struct ctp_life_header *head, uint64_t seen_ns, unsigned depth)
{
	struct ctp_life *life = &coros->life[i];
	/*
	 * If the death of the coroutine before is not known, a probe has freed the station. How many events it had is known
	 * only if this is the next generation.
	 */
	if (life->generation)
		ctp_life_die(coros, i, head->generation == life->generation + 1 ? head->first : life->next, head->birth_ns);
	emit_pending_death(coros, life);
	ctp_life_begin(coros, i, head);
	if (head->birth_ns < coros->rows->begin_ns) /* it had events that were not for us */
		life->flags |= CTP_LIFE_UNSURE;
	life->last_ns = head->birth_ns ? head->birth_ns : seen_ns;
	birth(coros, i, head, seen_ns, depth);
}

/* The same for the coroutine that ref names. False: the station has another generation. */
static bool adopt_ref(struct ctp_coros *coros, uint64_t ref, uint64_t seen_ns, unsigned depth)
{
	struct ctp_life_header head;
	uint32_t i = CTP_REF_INDEX(ref);
	if (!ctp_life_header(coros, i, &head) || head.generation != CTP_REF_GENERATION(ref))
		return false;
	adopt(coros, i, &head, seen_ns, depth);
	return true;
}

/*
 * The same by the entry alone: when we have left, the probes free stations themselves, and another may have this one before we read
 * of its birth.
 */
static void adopt_late(struct ctp_coros *coros, const struct ctp_ring *ring, const struct ctp_ring_entry *e)
{
	uint32_t i = CTP_REF_INDEX(e->ref);
	uint64_t next = coros->life[i].next;
	struct ctp_life_header head = {
		.generation = CTP_REF_GENERATION(e->ref),
		.pid = (uint32_t)(ring->owner >> 32),
		.site = CTP_ENTRY_SITE(e->what),
		.probe_id = e->value,
		.birth_ns = e->ts_ns,
		.first = next + (uint64_t)(int64_t)(int32_t)(CTP_ENTRY_NUMBER(e->what) - (uint32_t)next),
	};
	if (coros->left && head.generation && (int32_t)(head.generation - coros->life[i].generation) > 0)
		adopt(coros, i, &head, e->ts_ns, 0);
}

bool ctp_life_adopt(struct ctp_coros *coros, uint32_t i, uint32_t generation)
{
	return adopt_ref(coros, CTP_REF(generation, i), coros->rings->now_ns, 0);
}

/* The number of a coroutine in the stream; 0: not known. */
static uint64_t coro_of(struct ctp_coros *coros, uint64_t ref, uint64_t seen_ns, unsigned depth)
{
	uint32_t i = CTP_REF_INDEX(ref), generation = CTP_REF_GENERATION(ref);
	if (i >= coros->rings->arena.geo.max_stations || !generation)
		return 0;
	const struct ctp_life *life = &coros->life[i];
	if (life->generation == generation)
		return life->coro;
	if (depth < ANCESTORS && adopt_ref(coros, ref, seen_ns, depth + 1))
		return life->coro;
	return life->generation == generation + 1 && life->back ? life->coro - life->back : 0;
}

uint64_t ctp_life_number(struct ctp_coros *coros, uint64_t ref, uint64_t ts_ns, uint64_t *probe_id)
{
	uint64_t coro = coro_of(coros, ref, ts_ns, 0);
	*probe_id = coro && coro == coros->life[CTP_REF_INDEX(ref)].coro ? coros->life[CTP_REF_INDEX(ref)].probe_id : 0;
	return coro;
}

/* --- deaths --------------------------------------------------------------------------------------------------------------- */

/* Queues its station for release: at once, or when its gaps are settled. */
static void queue_release(struct ctp_coros *coros, uint32_t i)
{
	struct ctp_life *life = &coros->life[i];
	uint32_t *list = life->flags & CTP_LIFE_PENDING ? &coros->pending : &coros->dead;
	assert(life->flags & CTP_LIFE_DEAD); /* a living coroutine keeps its station */
	if (life->flags & CTP_LIFE_QUEUED)
		return;
	life->flags |= CTP_LIFE_QUEUED;
	life->link = *list;
	*list = i + 1;
	coros->ndead++;
}

void ctp_life_skip(struct ctp_coros *coros, uint32_t i, const struct ctp_life_header *head)
{
	struct ctp_life *life = &coros->life[i];
	life->flags |= CTP_LIFE_DEAD;
	if (head->is_dead != 1)
		return;
	if (life->generation != head->generation) {
		life->flags |= CTP_LIFE_UNKNOWN;
		life->events_before = head->generation;
	}
	queue_release(coros, i);
}

void ctp_life_die(struct ctp_coros *coros, uint32_t i, uint64_t events, uint64_t ts_ns)
{
	struct ctp_life *life = &coros->life[i];
	assert(life->generation); /* it was adopted */
	if (life->flags & CTP_LIFE_DEAD)
		return;
	if (events >= life->next && ts_ns < life->last_ns) /* what is numbered from events on came after its end */
		ts_ns = life->last_ns;
	if (events > life->next && events - life->next < CTP_LIFE_AHEAD_MAX)
		ctp_coros_hole(coros, i, events, ts_ns);
	life->flags |= CTP_LIFE_DEAD;
	life->last_ns = ts_ns;
	if (ctp_ring_gaps_any(&coros->gaps, i, life->hole))
		life->flags |= CTP_LIFE_PENDING; /* or a loss would come after the death */
	else
		ctp_rows_death(coros->rows, life->probe_id, life->coro, ts_ns, ts_ns);
	queue_release(coros, i);
}

/* Emits its death, if that had to wait for its gaps. */
static void emit_pending_death(struct ctp_coros *coros, struct ctp_life *life)
{
	assert(!(life->flags & CTP_LIFE_PENDING) || life->flags & CTP_LIFE_DEAD);
	if (life->flags & CTP_LIFE_PENDING)
		ctp_rows_death(coros->rows, life->probe_id, life->coro, life->last_ns, life->last_ns);
	life->flags &= (uint8_t)~CTP_LIFE_PENDING;
}

/* Stations that go on the stack of the free all at once; index + 1. */
struct chain {
	uint32_t first, last;
	uint32_t last_generation;
};

/*
 * The coroutine of this generation has ended. Its station is freed by whichever exchanges tenure: we, or a probe that has not heard
 * of us yet. By now another coroutine may have the station: then the generation is another, and nothing happens. Proved in t/proof:
 * reuse_unique_owner, of this and chain_push.
 */
static void chain_add(struct ctp_coros *coros, struct chain *c, uint32_t i, uint32_t generation)
{
	assert(i < coros->rings->arena.geo.max_stations);
	struct ctp_shm_station *shm = &coros->rings->arena.stations[i];
	uint64_t owned = CTP_TENURE(generation, CTP_OWNED), mine = CTP_TENURE(generation, c->first);
	if (__atomic_load_n(&shm->is_dead, __ATOMIC_ACQUIRE) != 1 || /* a death that only a ring tells of */
	    !__atomic_compare_exchange_n(&shm->tenure, &owned, mine, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&shm->is_dead, 2, __ATOMIC_RELAXED);
	c->last_generation = c->first ? c->last_generation : generation;
	c->last = c->first ? c->last : i + 1;
	c->first = i + 1;
}

static void chain_push(struct ctp_coros *coros, const struct chain *c)
{
	uint64_t *stack = &coros->rings->arena.header->free, top = __atomic_load_n(stack, __ATOMIC_RELAXED);
	assert(!c->first == !c->last);
	for (unsigned tries = 0; c->first && tries < FREE_TRIES; tries++) {
		/* Relaxed, where a probe has release: a collector that looks after us has the lock that we had. */
		__atomic_store_n(&coros->rings->arena.stations[c->last - 1].tenure, CTP_TENURE(c->last_generation, (uint32_t)top),
		                 __ATOMIC_RELAXED);
		uint64_t mine = ((top >> 32) + 1) << 32 | c->first;
		/* Release: the links, and our reads of the ended coroutines. Pairs with the acquire of the probe that takes one. */
		if (__atomic_compare_exchange_n(stack, &top, mine, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
}

/* Emits the pending deaths of coroutines whose gaps are settled; their stations are then queued for release. */
static void emit_pending_deaths(struct ctp_coros *coros)
{
	uint32_t link = coros->pending, next;
	for (coros->pending = 0; link; link = next) {
		struct ctp_life *life = &coros->life[link - 1];
		assert(life->flags & CTP_LIFE_QUEUED && coros->ndead);
		next = life->link;
		life->flags &= (uint8_t)~CTP_LIFE_QUEUED;
		coros->ndead--;
		if (!ctp_ring_gaps_any(&coros->gaps, link - 1, life->hole))
			emit_pending_death(coros, life);
		if (life->flags & CTP_LIFE_DEAD)
			queue_release(coros, link - 1);
	}
}

void ctp_coros_release_dead(struct ctp_coros *coros)
{
	struct chain chain = {0, 0, 0};
	for (uint32_t link = coros->dead; link; link = coros->life[link - 1].link) {
		struct ctp_life *life = &coros->life[link - 1];
		assert(life->flags & CTP_LIFE_QUEUED && coros->ndead);
		life->flags &= (uint8_t)~CTP_LIFE_QUEUED;
		coros->ndead--;
		emit_pending_death(coros, life);
		if (life->flags & CTP_LIFE_DEAD)
			chain_add(coros, &chain, link - 1, life->flags & CTP_LIFE_UNKNOWN ? life->events_before : life->generation);
	}
	coros->dead = 0;
	assert(coros->pending || !coros->ndead); /* as many as queue_release has counted */
	chain_push(coros, &chain);
}

void ctp_coros_settle(struct ctp_coros *coros, bool all)
{
	ctp_coros_close(coros, all);
	emit_pending_deaths(coros);
	ctp_coros_release_dead(coros);
}

void ctp_coros_release(struct ctp_coros *coros, uint32_t used)
{
	struct chain chain = {0, 0, 0};
	for (uint32_t i = 0; i < used; i++) {
		/* Acquire: an is_dead of 1 is not of a coroutine before this one. Pairs with the release store of tenure. */
		uint32_t generation = __atomic_load_n(&coros->rings->arena.stations[i].generation, __ATOMIC_ACQUIRE);
		if (generation)
			chain_add(coros, &chain, i, generation);
	}
	chain_push(coros, &chain);
}

/* --- entries -------------------------------------------------------------------------------------------------------------- */

void ctp_coros_row(struct ctp_coros *coros, const struct ctp_who *who, uint64_t number, const struct ctp_ring_entry *e,
                   uint64_t tid)
{
	uint32_t site = CTP_ENTRY_SITE(e->what);
	uint64_t site_val = site ? ctp_shm_texts_site(&coros->texts, site, e->ts_ns) : 0;
	uint64_t *val = ctp_rows_put(coros->rows, CTP_TRANSITION, e->ts_ns);
	ctp_transition_fill(val, who, number, e, tid, e->ts_ns, site_val);
	coros->rows->stats.events++;
}

/* The timestamp of an event that arrives after its successor: between its neighbours. */
static uint64_t between(uint64_t ts_ns, const struct ctp_ring_gap *hole)
{
	return ctp_not_before(ts_ns < hole->ts_ns ? ts_ns : hole->ts_ns - (hole->ts_ns > hole->after_ns), hole->after_ns);
}

/* A transition whose number is ahead of the one that is due, or before it. False: it was counted before. t/proof: accounting. */
static bool find_place(struct ctp_coros *coros, uint32_t i, int32_t ahead, uint64_t *ts_ns, uint64_t *number)
{
	struct ctp_life *life = &coros->life[i];
	if (ahead < 0 && (uint64_t)-(int64_t)ahead > life->next - life->first)
		return false;
	*number = life->next + (uint64_t)(int64_t)ahead;
	if (ahead > 0) {
		*ts_ns = ctp_not_before(*ts_ns, life->last_ns + 1); /* those that are missing have a place then */
		ctp_coros_hole(coros, i, *number, *ts_ns);
		life->next = *number + 1;
		return true;
	}
	ctp_coros_room(coros);
	struct ctp_ring_gap *hole = ctp_ring_gaps_find(&coros->gaps, i, life->hole, *number);
	if (!hole || hole->coro != life->coro) /* numbers that go back, as no probe's do, are in a gap of one before */
		return false;
	*ts_ns = between(*ts_ns, hole);
	ctp_ring_gaps_fill(&coros->gaps, hole, *number, *ts_ns, &life->hole);
	return true;
}

static void ask_function(struct ctp_coros *coros, uint32_t i, const struct ctp_ring_entry *e, uint64_t tid)
{
	struct ctp_life *life = &coros->life[i];
	struct ctp_frame frame = {.station = &coros->rings->arena.stations[i], .generation = life->generation, .coro = life->coro,
	                          .probe_id = life->probe_id, .tid = tid, .addr = e->value};
	if (!(life->flags & CTP_LIFE_ASKED) && ctp_frame_queue_ask(&coros->rows->frames, &frame))
		life->flags |= CTP_LIFE_ASKED;
}

/* Two have written to the slots of one: what these say of it is in doubt. */
static void put_conflict(struct ctp_coros *coros, struct ctp_life *life, uint64_t ts_ns)
{
	if (life->flags & CTP_LIFE_CONFLICT)
		return;
	ctp_rows_conflict(coros->rows, life->probe_id, life->coro, ts_ns);
	life->flags |= CTP_LIFE_CONFLICT;
}

/*
 * An event of a coroutine whose station another has: a handle was used after the end. The event becomes a row of the dead coroutine
 * where that is remembered, and else a conflict of the living one. Nothing is written of a coroutine that ended before we attached.
 */
static void take_stale(struct ctp_coros *coros, const struct ctp_ring *ring, const struct ctp_ring_entry *e)
{
	struct ctp_life *life = &coros->life[CTP_REF_INDEX(e->ref)];
	int32_t ago = (int32_t)(life->generation - CTP_REF_GENERATION(e->ref));
	int32_t after = (int32_t)(CTP_ENTRY_NUMBER(e->what) - (uint32_t)life->first);
	if (!life->generation || ago < 0)
		return;
	if (ago == 1 && life->back && after >= 0) {
		struct ctp_who who = {0, life->coro - life->back, life->first - life->events_before};
		ctp_coros_row(coros, &who, life->first + (uint32_t)after, e, (uint32_t)ring->owner);
	} else {
		put_conflict(coros, life, e->ts_ns);
	}
}

/* Any transition. Its time is made to fit those of its coroutine. */
static void take_transition(struct ctp_coros *coros, const struct ctp_ring *ring, struct ctp_ring_entry *e)
{
	uint32_t i = CTP_REF_INDEX(e->ref);
	struct ctp_life *life = &coros->life[i];
	if (life->generation != CTP_REF_GENERATION(e->ref) && !adopt_ref(coros, e->ref, e->ts_ns, 0)) {
		take_stale(coros, ring, e);
		return;
	}
	if (life->flags & CTP_LIFE_UNSURE)
		ctp_coros_begin(coros, i, e);
	uint64_t number = life->next;
	int32_t ahead = (int32_t)(CTP_ENTRY_NUMBER(e->what) - (uint32_t)number);
	if (!ahead) {
		life->next++;
		e->ts_ns = ctp_not_before(e->ts_ns, life->last_ns);
	} else if (!find_place(coros, i, ahead, &e->ts_ns, &number)) {
		return;
	}
	ctp_coros_row(coros, &(struct ctp_who){life->probe_id, life->coro, life->first}, number, e, (uint32_t)ring->owner);
	life->last_ns = ctp_not_before(life->last_ns, e->ts_ns);
	if (ctp_entry_is_unknown(e))
		ask_function(coros, i, e, (uint32_t)ring->owner);
}

void ctp_life_wake(struct ctp_coros *coros, const struct ctp_wake *wake)
{
	uint64_t probe_id, coro = ctp_life_number(coros, wake->ref, wake->ts_ns, &probe_id);
	if (!coro)
		return;
	uint64_t by_coro = coro_of(coros, wake->by, wake->ts_ns, 0);
	ctp_wake_fill(ctp_rows_put(coros->rows, CTP_WAKE, wake->ts_ns), wake, probe_id, coro, by_coro);
	coros->rows->stats.wakes++;
}

void ctp_life_await(struct ctp_coros *coros, uint64_t ref, uint64_t target, uint32_t marks, uint64_t ts_ns)
{
	uint64_t probe_id, coro = ctp_life_number(coros, ref, ts_ns, &probe_id), target_coro = coro_of(coros, target, ts_ns, 0);
	if (!coro)
		return;
	CTP_ROWS_PUT(coros->rows, CTP_AWAIT, ts_ns, [CTP_AWAIT_PROBE] = probe_id, [CTP_AWAIT_CORO] = coro,
	             [CTP_AWAIT_TARGET] = target_coro, [CTP_AWAIT_JOINS] = marks & CTP_MARK_JOIN);
}

void ctp_life_name(struct ctp_coros *coros, uint32_t i, uint64_t ts_ns)
{
	struct ctp_life *life = &coros->life[i];
	char name[sizeof(((struct ctp_shm_station *)0)->name)];
	uint16_t seq;
	const struct ctp_shm_station *shm = &coros->rings->arena.stations[i];
	uint32_t len = ctp_shm_texts_name(shm, name, &seq);
	/*
	 * After the acquire fence of that copy: the name is not that of the next coroutine in the station. Pairs as in
	 * ctp_life_header.
	 */
	if (!len || seq == life->name || __atomic_load_n(&shm->generation, __ATOMIC_RELAXED) != life->generation)
		return;
	life->name = seq;
	ctp_rows_reserve(coros->rows, len);
	uint64_t text = ctp_rows_string(coros->rows, name, len);
	CTP_ROWS_PUT(coros->rows, CTP_NAME, ts_ns, [CTP_NAME_PROBE] = life->probe_id, [CTP_NAME_CORO] = life->coro,
	             [CTP_NAME_TEXT] = text);
}

/* What is rarer than a transition. next_ns: the time of the entry after it, 0: not known yet. */
static void take_note(struct ctp_coros *coros, struct ctp_ring *ring, const struct ctp_ring_entry *e, uint64_t next_ns)
{
	unsigned kind = CTP_ENTRY_KIND(e->what);
	uint32_t i = CTP_REF_INDEX(e->ref);
	if (kind == CTP_ENTRY_GAP) {
		ctp_coros_gap_begin(ring, e);
		if (next_ns)
			ctp_coros_gap(coros, ring, next_ns);
		return;
	}
	if (kind == CTP_ENTRY_WAKE) {
		ctp_life_wake(coros, &(struct ctp_wake){e->ref, e->value, (uint32_t)ring->owner, e->ts_ns,
		                                        CTP_ENTRY_NUMBER(e->what)});
		return;
	}
	if (kind == CTP_ENTRY_AWAIT) {
		ctp_life_await(coros, e->ref, e->value, CTP_ENTRY_NUMBER(e->what), e->ts_ns);
		return;
	}
	if (ctp_coros_fact(coros, ring->owner, e) ||
	    (kind != CTP_ENTRY_BIRTH && kind != CTP_ENTRY_DEATH && kind != CTP_ENTRY_NAME))
		return;
	coro_of(coros, e->ref, e->ts_ns, 0); /* whatever it is about, it lives */
	if (i >= coros->rings->arena.geo.max_stations || !CTP_REF_GENERATION(e->ref)) /* a station that was never used has 0, too */
		return;
	if (coros->life[i].generation != CTP_REF_GENERATION(e->ref)) {
		if (kind == CTP_ENTRY_BIRTH)
			adopt_late(coros, ring, e);
		return;
	}
	if (kind == CTP_ENTRY_DEATH)
		ctp_life_die(coros, i, e->value, e->ts_ns);
	else if (kind == CTP_ENTRY_NAME)
		ctp_life_name(coros, i, e->ts_ns);
}

/*
 * The lives that the entries are about; of a birth the station's header, which is read, and of a death what is written to free
 * it. No other station is touched: the program writes to it. Inline, for a call of what has no effect is left out by the
 * compiler.
 */
static inline __attribute__((always_inline)) void prefetch(const struct ctp_coros *coros, const struct ctp_ring_entry *e,
                                                           unsigned n)
{
	const uint32_t max = coros->rings->arena.geo.max_stations;
	const struct ctp_life *const lives = coros->life;
	const struct ctp_shm_station *const stations = coros->rings->arena.stations;
	for (const struct ctp_ring_entry *end = e + n; e < end; e++) {
		uint32_t i = CTP_REF_INDEX(e->ref);
		if (i >= max)
			continue;
		__builtin_prefetch(&lives[i], 1);
		if (CTP_ENTRY_KIND(e->what) == CTP_ENTRY_BIRTH) {
			__builtin_prefetch(&stations[i]);
			__builtin_prefetch(&stations[i].announce);
		} else if (CTP_ENTRY_KIND(e->what) == CTP_ENTRY_DEATH) {
			__builtin_prefetch(&stations[i].is_dead, 1);
			__builtin_prefetch(&stations[i].next_free, 1);
		}
	}
}

void ctp_coros_take(struct ctp_coros *coros, struct ctp_ring *ring, struct ctp_ring_entry *entries, unsigned n)
{
	assert(n && n <= CTP_RINGS_CHUNK);
	uint32_t max = coros->rings->arena.geo.max_stations;
	if (CTP_ENTRY_KIND(entries[0].what) != CTP_ENTRY_GAP)
		ring->former = 0;
	ctp_coros_gap(coros, ring, entries[0].ts_ns);
	prefetch(coros, entries, n);
	for (unsigned k = 0; k < n;) {
		struct ctp_ring_entry *e = &entries[k];
		unsigned kind = CTP_ENTRY_KIND(e->what);
		unsigned due = kind <= CTP_ENTRY_RESUME || kind == CTP_ENTRY_WAKE ? ctp_coros_due(coros, ring, e, n - k) : 0;
		k += due ? due : 1;
		if (due)
			continue;
		if (kind > CTP_ENTRY_RESUME)
			take_note(coros, ring, e, k < n ? entries[k].ts_ns : 0);
		else if (CTP_REF_INDEX(e->ref) < max && CTP_REF_GENERATION(e->ref))
			take_transition(coros, ring, e);
	}
}
