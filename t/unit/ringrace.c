/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ringrace.c - the probe against the reader of its rings: short-lived threads, coroutines that move between them, signal
 * handlers that trace, and rings of a page that overflow all the time.
 *
 * Every event has its own number as address. None may be read twice, changed, or in the wrong order in its ring; those that are
 * missing must be as many as the probe had no room for, and the ring has gaps where they are missing. Meanwhile the
 * slots of the stations are read with nothing but membarrier(2): what is accepted must be a whole event.
 */
#define CTP_TURN_BITS_ 4 /* of a page with 128 entries, so that writers turn back in it */
#include "onemap.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>

#include "shm/rings.h"
#include "tap.h"

enum {
	THREADS = 3,
	MOVING = 12,               /* coroutines that any thread may run */
	COROS = MOVING + THREADS,  /* and those of the signal handlers, one for each thread */
	ROUNDS = 12,               /* of threads */
	TURNS = 6000,              /* of a thread in a round */
	EVENTS = 1 << 20,          /* that are remembered of one coroutine */
	MODE = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER | CTP_MODE_SKIPS,
};

/* --- the program that is traced ------------------------------------------------------------------------------------------- */

static struct coro {
	struct ctp_coro co;
	uint32_t busy;   /* a thread runs it */
	uint64_t events; /* so far */
} coros[COROS];
static __thread struct coro *handler_coro;
static uint32_t running; /* threads */

/* Events come in pairs: even numbers are resumes, odd ones suspends. */
static uint64_t word(uint64_t coro, uint64_t k) { return k % 2 ? (coro + 1) << 32 | k : 0; }

static void turn(struct coro *c)
{
	uint64_t k = c->events;
	ctp_coro_resume(&c->co);
	ctp_coro_suspend(&c->co, (void *)(uintptr_t)word((uint64_t)(c - coros), k + 1));
	c->events = k + 2;
}

static void handle(int sig)
{
	(void)sig;
	if (handler_coro)
		turn(handler_coro);
}

static void *thread(void *arg)
{
	uint32_t random = (uint32_t)(uintptr_t)arg;
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	handler_coro = &coros[MOVING + (uintptr_t)arg % THREADS];
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	for (unsigned i = 0; i < TURNS;) {
		random = random * 1664525 + 1013904223;
		struct coro *c = &coros[(random >> 8) % MOVING];
		if (__atomic_exchange_n(&c->busy, 1, __ATOMIC_ACQUIRE))
			continue;
		for (unsigned n = (random >> 20) % 16; n; n--, i++)
			turn(c);
		if (random & 0x10000)
			sched_yield();
		__atomic_store_n(&c->busy, 0, __ATOMIC_RELEASE);
		i++;
	}
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* --- the reader ----------------------------------------------------------------------------------------------------------- */

static struct {
	uint8_t seen[COROS][EVENTS / 8];
	uint64_t next[ONEMAP_RINGS][COROS]; /* the smallest number that may follow in this ring */
	uint64_t entries, told, twice, wrong, disorder;
	uint64_t slots, slots_wrong;
} sum;

static void see(uint32_t ring, const struct ctp_ring_entry *e)
{
	unsigned kind = CTP_ENTRY_KIND(e->what);
	uint64_t k = CTP_ENTRY_NUMBER(e->what), c = CTP_REF_INDEX(e->ref);
	if (kind == CTP_ENTRY_GAP) {
		sum.told += e->value;
		return;
	}
	if (kind == CTP_ENTRY_BIRTH)
		return;
	if (c >= COROS || k >= EVENTS || e->ref != coros[c].co.ref_ || kind != (k % 2 ? CTP_ENTRY_SUSPEND : CTP_ENTRY_RESUME) ||
	    e->value != word(c, k)) {
		sum.wrong++;
		return;
	}
	sum.disorder += k < sum.next[ring][c];
	sum.next[ring][c] = k + 1;
	sum.twice += sum.seen[c][k / 8] >> k % 8 & 1;
	sum.seen[c][k / 8] |= (uint8_t)(1 << k % 8);
	sum.entries++;
}

static void drain(struct ctp_rings *r, bool all)
{
	struct ctp_ring_entry entries[CTP_RINGS_CHUNK];
	struct ctp_ring *ring;
	unsigned n;
	ctp_rings_look(r, all);
	while (ctp_rings_slice(r))
		while ((n = ctp_rings_take(r, &ring, entries)))
			for (unsigned i = 0; i < n; i++)
				see((uint32_t)(ring - r->rings), &entries[i]);
}

/* One slot of each station, as in barrier_accepted of t/proof/seqlock.v. */
static void look_at_slots(struct ctp_arena *arena, unsigned slot)
{
	struct ctp_shm_slot copy[COROS];
	for (unsigned c = 0; c < COROS; c++)
		copy[c].seq = __atomic_load_n(&arena->stations[c].slots[slot].seq, __ATOMIC_ACQUIRE);
	ctp_membarrier();
	for (unsigned c = 0; c < COROS; c++) {
		copy[c].addr = __atomic_load_n(&arena->stations[c].slots[slot].addr, __ATOMIC_RELAXED);
		copy[c].what = __atomic_load_n(&arena->stations[c].slots[slot].what, __ATOMIC_RELAXED);
	}
	ctp_membarrier();
	for (unsigned c = 0; c < COROS; c++) {
		uint64_t seq = __atomic_load_n(&arena->stations[c].slots[slot].seq, __ATOMIC_RELAXED);
		uint64_t k = (seq / 2 - 1) * 8 + slot;
		if (!seq || seq % 2 || seq != copy[c].seq)
			continue;
		sum.slots++;
		sum.slots_wrong += copy[c].addr != word(c, k) || CTP_ENTRY_NUMBER(copy[c].what) != (uint32_t)k;
	}
}

static uint64_t lost_so_far(const struct ctp_arena *arena)
{
	uint64_t lost = 0;
	for (unsigned i = 0; i < arena->geo.max_rings; i++)
		lost += __atomic_load_n(&arena->rings[i].lost_events, __ATOMIC_RELAXED);
	return lost;
}

/* The reader begins when a ring is full, so that each round has losses, however fast it is from then on. */
static void race(struct ctp_arena *arena, struct ctp_rings *rings, unsigned round)
{
	uint64_t lost = lost_so_far(arena);
	pthread_t threads[THREADS];
	running = THREADS;
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)(round * THREADS + i)))
			abort();
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) && lost_so_far(arena) == lost)
		sched_yield();
	for (unsigned i = 0; __atomic_load_n(&running, __ATOMIC_ACQUIRE); i++) {
		drain(rings, false);
		if (i % 4 == 0)
			look_at_slots(arena, i / 4 % 8);
		if (round % 3 == 0)
			sched_yield();
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void judge(struct ctp_arena *arena)
{
	uint64_t written = 0, missing = 0, lost = 0, said = 0, stale = 0, back = 0, over = 0;
	for (unsigned c = 0; c < COROS; c++) {
		written += coros[c].events;
		for (uint64_t k = 0; k < coros[c].events; k++)
			missing += !(sum.seen[c][k / 8] >> k % 8 & 1);
		for (uint64_t k = coros[c].events < 8 ? 0 : coros[c].events - 8; k < coros[c].events; k++)
			stale += arena->stations[c].slots[k % 8].addr != word(c, k);
	}
	for (unsigned i = 0; i < arena->header->rings_used; i++) {
		lost += arena->rings[i].lost_events;
		said += arena->rings[i].said_events;
		back += !!arena->rings[i].back_to;
		over += !!arena->rings[i].over_to;
	}
	is_u64(sum.wrong, 0, "every entry is an event that was written");
	is_u64(sum.twice, 0, "no event is read twice");
	is_u64(sum.disorder, 0, "events of a coroutine are in order in each ring");
	is_u64(sum.entries + missing, written, "all events are read or missing");
	is_u64(missing, lost, "the probe has counted all missing events");
	is_u64(sum.told, said, "the gaps add up to the losses that the probe wrote");
	is_u64(sum.slots_wrong, 0, "a slot that does not change between two membarriers is whole");
	is_u64(stale, 0, "the slots have the last eight events of each coroutine");
	ok(sum.entries > written / 100 && lost && sum.slots, "it was a race");
	ok(back && over, "writers went back in their rings, and skipped unread entries");
	note("%" PRIu64 " written, %" PRIu64 " read, %" PRIu64 " lost in %u rings; %" PRIu64 " slots accepted; %" PRIu64
	     " events of handlers", written, sum.entries, lost, arena->header->rings_used, sum.slots,
	     coros[MOVING].events + coros[MOVING + 1].events + coros[MOVING + 2].events);
}

/* A handler interrupts a thread that is about to claim a ring: it must not claim the same one. */
static void interrupt(void)
{
	onemap_interrupt = NULL;
	turn(&coros[1]);
}

static void test_claim(struct ctp_arena *arena)
{
	onemap_interrupt = interrupt;
	turn(&coros[0]);
	ok(!onemap_interrupt && arena->header->rings_used == 2 && ctp_self_.lanes[0].ring != ctp_self_.lanes[1].ring,
	   "a handler that interrupts the claim of a ring gets another one");
}

/* The reader stops when the writer is about to go back: nothing is lost before the ring is full but for what it goes over. */
static void test_room(struct ctp_rings *rings)
{
	const struct ctp_lane_ *lane = &ctp_self_.lanes[0];
	const uint64_t size = lane->mask + 1, step = 1 << CTP_TURN_BITS_;
	while (lane->ring->head % step < step * 3 / 4) {
		turn(&coros[0]);
		drain(rings, true);
	}
	uint64_t from = coros[0].events;
	while (!lane->ring->lost_events && coros[0].events - from < 4 * size)
		turn(&coros[0]);
	uint64_t room = coros[0].events - from - lane->ring->lost_events;
	ok(lane->ring->over_to && room >= size - step / 2 && room <= size,
	   "a writer that has gone back can still use nearly all of the ring");
	drain(rings, true);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : ROUNDS;
	struct ctp_rings rings;
	struct ctp_err err;
	if (!ctp_membarrier())
		skip_all("the kernel has no membarrier(2)");
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_RESTART}, NULL);

	struct ctp_arena arena = onemap_open(COROS, MODE);
	arena.header->mode = CTP_MODE_RECORD; /* no ring yet */
	for (unsigned c = 0; c < COROS; c++)
		ctp_coro_new(&coros[c].co, c + 1);
	arena.header->mode = MODE;
	if (ctp_rings_init(&rings, onemap_base, onemap_bytes, &err))
		return 1;
	test_claim(&arena);
	test_room(&rings);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 150}, {0, 150}}, NULL);
	for (unsigned round = 0; round < rounds; round++)
		race(&arena, &rings, round);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	drain(&rings, true);
	drain(&rings, true);
	judge(&arena);
	ctp_rings_fini(&rings);
	return done_testing();
}
