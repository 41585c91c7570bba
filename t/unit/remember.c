/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * remember.c - collectors attach, look once and leave, while a program spawns coroutines and ends them.
 *
 * Each record of a coroutine must be its own; a recently ended coroutine has all events that its slots can hold, up to its end.
 */
#include "onemap.h"
#include "stream/events.h"

#include <pthread.h>
#include <sched.h>

#include "memstream.h"
#include "tap.h"

enum {
	STATIONS = 64,
	THREADS = 2,
	LIVES = 1000000,
	LOOKS = 400,
	EVENTS = 20, /* of one at most */
	HELD = 24,   /* most coroutines of a thread at the same time */
	SLOTS = 8,
};

/* --- the program that is traced ------------------------------------------------------------------------------------------- */

static uint8_t events[LIVES + 1]; /* number of events at its death, plus 1; 0: it lives */
static uint32_t begun, enough;

static uint64_t word(uint64_t id, uint64_t k) { return id << 32 | k; }

struct coro {
	struct ctp_coro co;
	uint64_t id;
	uint8_t events;
};

static void end(struct coro *c)
{
	__atomic_store_n(&events[c->id], (uint8_t)(c->events + 1), __ATOMIC_RELEASE); /* pairs with the load in judge */
	ctp_coro_death(&c->co);
	c->id = 0;
}

static void turn(struct coro *c)
{
	if (c->events % 2)
		ctp_coro_suspend(&c->co, (void *)(uintptr_t)word(c->id, c->events));
	else
		ctp_coro_resume(&c->co);
	c->events++;
}

/* In waves, so that there are many free stations at times, and few at others. */
static void *thread(void *arg)
{
	struct coro held[HELD] = {{.id = 0}};
	uint32_t random = (uint32_t)(uintptr_t)arg;
	for (unsigned n = 0; !__atomic_load_n(&enough, __ATOMIC_RELAXED); n++) {
		random = random * 1664525 + 1013904223;
		struct coro *c = &held[(random >> 8) % (n / 4096 % 2 ? HELD : 2)];
		if (c->id && (c->events == EVENTS || (random >> 20) % 8 == 0)) {
			end(c);
		} else if (c->id) {
			turn(c);
		} else {
			c->id = __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
			if (c->id > LIVES)
				break;
			c->events = 0;
			ctp_coro_new(&c->co, c->id);
		}
		if (n % 512 == 0)
			sched_yield();
	}
	return NULL;
}

/* --- the stream of one look ----------------------------------------------------------------------------------------------- */

static struct {
	struct told {
		uint64_t id, next;
		uint8_t rows, births, deaths;
	} by[2 * STATIONS + 1];
	uint64_t coros, dead, wrong;
} look;
static uint64_t living, dead, wrong;

/* Counts an error, and prints the first few. */
static void count_wrong(bool is, const char *what, const struct told *t, uint64_t a, uint64_t b)
{
	look.wrong += is;
	if (is && wrong + look.wrong <= 8)
		note("wrong: %s: %" PRIu64 " and %" PRIu64 "; coroutine %" PRIu64 " with %u rows up to %" PRIu64 ", %u births, %u deaths",
		     what, a, b, t->id, t->rows, t->next, t->births, t->deaths);
}

static void see(void *arg, const char *cls, const uint64_t *val)
{
	(void)arg;
	bool birth = !strcmp(cls, "birth"), death = !strcmp(cls, "death"), row = !strcmp(cls, "transition");
	if (!birth && !death && !row)
		return;
	uint64_t id = val[birth ? CTP_BIRTH_PROBE : death ? CTP_DEATH_PROBE : CTP_TRANSITION_PROBE];
	uint64_t coro = val[birth ? CTP_BIRTH_CORO : death ? CTP_DEATH_CORO : CTP_TRANSITION_CORO];
	bool known = id && id <= LIVES && coro && coro <= 2 * STATIONS;
	struct told *t = &look.by[known ? coro : 0];
	count_wrong(!known, "no such id or number", t, id, coro);
	if (!known)
		return;
	look.coros = coro > look.coros ? coro : look.coros;
	count_wrong(!birth && (t->id != id || t->deaths), "another's, or a dead one's", t, id, (uint64_t)(unsigned char)*cls);
	t->id = id;
	t->births += birth;
	t->deaths += death;
	if (!row)
		return;
	uint64_t k = val[CTP_TRANSITION_INDEX];
	count_wrong(t->rows && k != t->next, "not the next event", t, k, t->next);
	count_wrong(val[CTP_TRANSITION_ADDR] != (k % 2 ? word(id, k) : 0), "another's word", t, k, val[CTP_TRANSITION_ADDR]);
	count_wrong(val[CTP_TRANSITION_ACTIVE] == k % 2, "a suspend for a resume, or the other way", t, k, val[CTP_TRANSITION_ACTIVE]);
	t->next = k + 1;
	t->rows++;
}

static void judge(void)
{
	for (uint64_t coro = 1; coro <= look.coros; coro++) {
		const struct told *t = &look.by[coro];
		count_wrong(t->births != 1 || t->deaths > 1, "not one birth and at most one death", t, coro, 0);
		if (!t->deaths) {
			living++;
			continue;
		}
		unsigned n = __atomic_load_n(&events[t->id], __ATOMIC_ACQUIRE); /* pairs with the store before its death */
		/* Its station may have been reused while its slots were copied: then the oldest events are another's. */
		unsigned most = n - 1 < SLOTS ? n - 1 : SLOTS;
		count_wrong(!n || (t->rows && t->next + 1 != n) || t->rows > most, "not its last events", t, n, coro);
		look.dead += n && t->rows == most;
	}
	wrong += look.wrong;
	dead += look.dead;
}

int main(void)
{
	pthread_t threads[THREADS];
	if (!ctp_membarrier())
		skip_all("the kernel has no membarrier(2)");
	onemap_open(STATIONS, CTP_MODE_RECORD | CTP_MODE_KEEP);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)i))
			abort();
	unsigned whole = 0, looks = 0;
	for (; looks < LOOKS || (!dead && looks < 100 * LOOKS); looks++) {
		struct memstream m;
		memset(&look, 0, sizeof(look));
		memstream_start(&m, &(struct ctp_harvest_conf){
		                        .shm = onemap_base, .bytes = onemap_bytes, .max_stations = STATIONS, .attach = true});
		ctp_harvest_scan(m.harvest, NULL);
		ctp_harvest_settle(m.harvest);
		m.bytes = 0; /* so that it stays mapped */
		whole += memstream_close(&m, see, NULL);
		judge();
	}
	__atomic_store_n(&enough, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_u64(whole, looks, "each look gives a complete stream");
	is_u64(wrong, 0, "each record of a coroutine is its own");
	ok(dead, "ended coroutines are among them");
	note("%u looks, %" PRIu64 " living, %" PRIu64 " ended, of %u", looks, living, dead, begun);
	return done_testing();
}
