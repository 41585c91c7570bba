/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * reuse.c - the probe against the harvest: tens of thousands of short-lived coroutines reuse 64 stations.
 *
 * Coroutines are born on one thread, move to others, and die; signal handlers have some of their own. The rings are small, so
 * that births, deaths and events are lost all the time. For each coroutine with a station the stream must have one birth and
 * one death, and each of its events once: as a row with the right values, or as lost.
 */
#include "onemap.h"
#include "stream/events.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>

#include "memstream.h"
#include "tap.h"

enum {
	STATIONS = 64,
	THREADS = 3,
	LIVES = 20000,
	HANDS = 8,   /* coroutines between two threads */
	EVENTS = 60, /* of one at most */
};

/* --- the program that is traced ------------------------------------------------------------------------------------------- */

static struct coro {
	struct ctp_coro co;
	uint64_t events; /* so far */
	bool traced;
} coros[LIVES];
static uint32_t begun, running;
static struct coro *hands[HANDS];
static __thread bool handling;

static uint64_t word(uint64_t id, uint64_t k) { return k % 2 ? id << 32 | k : 0; }

/* Null: enough were spawned. It may wait until the reader has freed stations. */
static struct coro *bear(bool wait)
{
	uint32_t i = __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
	if (i >= LIVES)
		return NULL;
	struct coro *c = &coros[i];
	while (ctp_coro_new(&c->co, i + 1), !(c->traced = ctp_coro_traced(&c->co)) && wait)
		sched_yield();
	return c;
}

static void turn(struct coro *c)
{
	uint64_t id = (uint64_t)(c - coros) + 1;
	if (c->events + 2 > EVENTS)
		return;
	ctp_coro_resume(&c->co);
	ctp_coro_suspend(&c->co, (void *)(uintptr_t)word(id, c->events + 1));
	c->events += 2;
}

static void handle(int sig)
{
	(void)sig;
	struct coro *c = handling ? bear(false) : NULL;
	if (c) {
		turn(c);
		ctp_coro_death(&c->co);
	}
}

static void *thread(void *arg)
{
	uint32_t random = (uint32_t)(uintptr_t)arg;
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	handling = true;
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	for (struct coro *c; (c = bear(true));) {
		for (unsigned moves = 0; c && moves < 3; moves++) {
			random = random * 1664525 + 1013904223;
			for (unsigned n = (random >> 20) % 8; n; n--)
				turn(c);
			c = __atomic_exchange_n(&hands[(random >> 8) % HANDS], c, __ATOMIC_ACQ_REL);
		}
		if (c)
			ctp_coro_death(&c->co);
	}
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* --- the stream ----------------------------------------------------------------------------------------------------------- */

static struct {
	struct life {
		uint64_t coro;  /* number in the stream */
		uint64_t there; /* a bit for each event that is in it, or lost */
		uint8_t births, deaths;
	} lives[LIVES + 1];
	uint64_t strange, twice, wrong, rows, lost;
} sum;

/* Null: there was no such coroutine. */
static struct life *life_of(uint64_t id)
{
	sum.strange += !id || id > LIVES;
	return id && id <= LIVES ? &sum.lives[id] : NULL;
}

static void account(uint64_t id, uint64_t coro, uint64_t index, uint64_t count)
{
	struct life *life = life_of(id);
	if (!life || life->coro != coro || index > EVENTS || count > EVENTS - index) {
		sum.strange++;
		return;
	}
	uint64_t bits = ((UINT64_C(1) << count) - 1) << index;
	sum.twice += (life->there & bits) != 0;
	life->there |= bits;
}

static void see(void *arg, const char *cls, const uint64_t *val)
{
	(void)arg;
	struct life *life;
	if (!strcmp(cls, "birth") && (life = life_of(val[CTP_BIRTH_PROBE]))) {
		life->births++;
		life->coro = val[CTP_BIRTH_CORO];
	} else if (!strcmp(cls, "death") && (life = life_of(val[CTP_DEATH_PROBE]))) {
		life->deaths++;
		sum.strange += life->coro != val[CTP_DEATH_CORO];
	} else if (!strcmp(cls, "transition")) {
		uint64_t id = val[CTP_TRANSITION_PROBE], k = val[CTP_TRANSITION_INDEX];
		account(id, val[CTP_TRANSITION_CORO], k, 1);
		sum.wrong += val[CTP_TRANSITION_ADDR] != word(id, k) || val[CTP_TRANSITION_ACTIVE] == k % 2;
		sum.rows++;
	} else if (!strcmp(cls, "lost")) {
		account(val[CTP_LOST_PROBE], val[CTP_LOST_CORO], val[CTP_LOST_INDEX], val[CTP_LOST_COUNT]);
		sum.lost += val[CTP_LOST_COUNT];
	}
}

static uint64_t no_room(const struct ctp_arena *arena)
{
	uint64_t events = 0;
	for (uint32_t i = 0; i < arena->header->rings_used; i++)
		events += arena->rings[i].lost_events;
	return events;
}

/* dropped: events that found no room in a ring. Slots, if there are any, still have some of them. */
static void judge(uint64_t dropped, bool bare)
{
	uint64_t traced = 0, written = 0, births = 0, deaths = 0, incomplete = 0;
	for (uint64_t id = 1; id <= LIVES; id++) {
		const struct coro *c = &coros[id - 1];
		uint64_t expected = c->traced ? (UINT64_C(1) << c->events) - 1 : 0;
		traced += c->traced;
		written += c->traced ? c->events : 0;
		births += sum.lives[id].births != c->traced;
		deaths += sum.lives[id].deaths != c->traced;
		incomplete += sum.lives[id].there != expected;
	}
	is_u64(sum.strange, 0, "the stream has no coroutine that did not exist, or with another's number");
	is_u64(births, 0, "each coroutine has one birth");
	is_u64(deaths, 0, "each coroutine has one death");
	is_u64(incomplete, 0, "every event of each coroutine is a row or lost");
	is_u64(sum.twice, 0, "no event is both, or there twice");
	is_u64(sum.wrong, 0, "each row has the right values");
	is_u64(sum.rows + sum.lost, written, "rows and losses add up to what was written");
	ok(bare ? sum.lost == dropped : sum.lost <= dropped, "only events that found no room are lost");
	ok(traced > LIVES / 10 && sum.rows > written / 100 && sum.lost, "it was a race");
	note("%" PRIu64 " of %d lives traced in %d stations, %" PRIu64 " events, %" PRIu64 " rows, %" PRIu64 " lost of %" PRIu64
	     " that found no room", traced, LIVES, STATIONS, written, sum.rows, sum.lost, dropped);
}

static void race(uint32_t mode)
{
	struct memstream m;
	pthread_t threads[THREADS];
	struct ctp_arena arena = onemap_open(STATIONS, mode);
	memstream_start(&m, &(struct ctp_harvest_conf){.shm = onemap_base, .bytes = onemap_bytes, .max_stations = STATIONS});
	memset(coros, 0, sizeof(coros));
	memset(&sum, 0, sizeof(sum));
	begun = 0;
	running = THREADS;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)i))
			abort();
	for (unsigned i = 0; __atomic_load_n(&running, __ATOMIC_ACQUIRE); i++) {
		ctp_harvest_scan(m.harvest, NULL);
		if (i % 8 == 0)
			ctp_harvest_lives(m.harvest);
		ctp_harvest_settle(m.harvest);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < HANDS; i++) {
		if (hands[i])
			ctp_coro_death(&hands[i]->co);
		hands[i] = NULL;
	}
	ctp_harvest_last(m.harvest, true);
	uint64_t dropped = no_room(&arena);
	ok(memstream_close(&m, see, NULL), "the stream is complete%s", mode & CTP_MODE_BARE ? ", without slots too" : "");
	judge(dropped, mode & CTP_MODE_BARE);
}

int main(void)
{
	const uint32_t mode = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER;
	sigset_t alarm;
	if (!ctp_membarrier())
		skip_all("the kernel has no membarrier(2)");
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_RESTART}, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 300}, {0, 300}}, NULL);
	race(mode);
	race(mode | CTP_MODE_BARE);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	return done_testing();
}
