/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-moved.c - coroutines that go from one thread to another, one after the other in one station, against a snapshot
 * (coros-snapshot.c) at any time: what is said of a coroutine is its own, and not the next one's.
 *
 *	ends    they end on another thread than they were spawned on
 *	wakes   they are woken there
 *	waits   they await others, until times that each of their suspensions has for itself
 *	late    one was spawned before there was recording, and gets its station with its first event
 *
 * The first coroutine has lived before the threads begin. A lock passes each of the others on; what is not ordered by that lock, or by
 * the stack of free stations, the collector may see in any order. It has no lock.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/coros.h"
#include "real-probe.h"
#include "small-arena.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

enum { ENDS, WAKES, WAITS, LATE };
enum { IDS = 4, EVENTS = 5, LOOK_STEPS = 150, TARGETS = 2, TARGET = 100 };
enum { KEPT = CTP_MODE_RECORD | CTP_MODE_KEEP };

static struct ctp_arena arena;
static struct ctp_rings rings;
static struct ctp_rows rows;
static struct ctp_coros coros;
static unsigned kind, first_tid, collector;
static uint64_t judged, looks_after, steps_done, goes_on;

/* By id from 1 on. */
static struct {
	uint64_t written, taken, from_ns, to_ns; /* it ended between these two */
	uint64_t woken_from_ns, woken_to_ns;     /* and was woken between these */
	uint64_t target[EVENTS], deadline[EVENTS]; /* of its suspensions */
	uint64_t said_target, said_deadline; /* by the rows, of its next suspension; 0: nothing yet */
	bool spawned, born, dead;
} of[IDS + 1];
static uint64_t target_coro[TARGETS]; /* of those that are awaited; the first of them is who wakes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned handed; /* the coroutine that the other thread has to do something with */
static bool ends_there, finished;

static uint64_t addr_of(uint64_t id, uint64_t k) { return k % 2 ? 0 : world_word(k, (unsigned)id); }

/* --- the program ---------------------------------------------------------------------------------------------------------- */

static void end(unsigned id)
{
	of[id].from_ns = view_clock();
	real_death(id);
	of[id].to_ns = view_clock();
}

static void wake(unsigned id)
{
	of[id].woken_from_ns = view_clock();
	for (unsigned n = 0; n < CTP_SHM_WAKES; n++)
		real_wake(id);
	of[id].woken_to_ns = view_clock();
}

static void write_event(unsigned id)
{
	uint64_t k = of[id].written;
	if (kind == WAITS && addr_of(id, k)) {
		of[id].target[k] = 1 + view_random(TARGETS);
		of[id].deadline[k] = world_word(k, 10 + id);
		real_await(id, real_ref((unsigned)(IDS + of[id].target[k])));
		real_wait_until(id, of[id].deadline[k]);
	}
	of[id].written++;
	real_event(id, addr_of(id, k));
}

/* An event that a reader acquires shows all before it: so there is none beside wakes. */
static uint64_t few_events(void) { return kind == WAKES ? 0 : view_random(EVENTS); }

static bool spawn(unsigned id)
{
	of[id].spawned = true; /* the collector may see it before the call returns */
	return real_new(id, id);
}

static bool is_handed(void *unused) { return (void)unused, handed || finished; }
static bool is_done(void *unused) { return (void)unused, !handed; }

static void other(void *unused)
{
	(void)unused;
	if (kind == WAKES)
		real_event(IDS + 1, 0);
	for (;;) {
		view_wait(is_handed, NULL);
		pthread_mutex_lock(&lock);
		unsigned id = handed;
		bool ends = ends_there;
		pthread_mutex_unlock(&lock);
		if (!id)
			return;
		(void)(ends ? end(id) : wake(id));
		steps_done++;
		pthread_mutex_lock(&lock);
		handed = 0;
		pthread_mutex_unlock(&lock);
	}
}

static void hand(unsigned id, bool ends)
{
	pthread_mutex_lock(&lock);
	handed = id;
	ends_there = ends;
	pthread_mutex_unlock(&lock);
	view_wait(is_done, NULL);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void live(unsigned id)
{
	if (!spawn(id))
		return;
	for (uint64_t n = few_events() + (kind == WAITS); n; n--)
		write_event(id);
	if (kind != WAITS)
		hand(id, kind == ENDS);
	else if (view_chance(2))
		end(id);
	steps_done++;
}

/* The collector has begun, or ended: the one that waits goes on while the collector looks at it. */
static bool is_time(void *unused) { return (void)unused, view_steps >= goes_on || view_ended(collector); }

static void spawn_all(void *unused)
{
	(void)unused;
	if (kind >= WAITS) {
		if (kind == WAITS)
			view_wait(is_time, NULL);
		for (uint64_t n = view_random(EVENTS); n; n--)
			write_event(1);
		if (kind == WAITS)
			end(1);
	}
	for (unsigned id = 2; id <= (kind == ENDS ? IDS : 2) && kind != LATE; id++)
		live(id);
	pthread_mutex_lock(&lock);
	finished = true;
	pthread_mutex_unlock(&lock);
}

/* --- what the rows say ---------------------------------------------------------------------------------------------------- */

static bool is_target(uint64_t probe) { return probe > TARGET; }

static unsigned id_of(uint64_t probe)
{
	if (!probe || probe > IDS || !of[probe].spawned)
		view_fail("a row of coroutine %llu, which does not exist", (unsigned long long)probe);
	return (unsigned)probe;
}

static void see_transition(uint64_t probe, const uint64_t *val)
{
	if (is_target(probe))
		return;
	unsigned id = id_of(probe);
	uint64_t k = val[CTP_TRANSITION_INDEX];
	if (k >= of[id].written || val[CTP_TRANSITION_ADDR] != addr_of(id, k))
		view_fail("coroutine %u has an event that it did not write: number %llu", id, (unsigned long long)k);
	if (of[id].said_target && of[id].said_target != target_coro[of[id].target[k] - 1])
		view_fail("coroutine %u awaits another one than it said before event %llu", id, (unsigned long long)k);
	if (of[id].said_deadline && of[id].said_deadline != of[id].deadline[k])
		view_fail("coroutine %u has another reason than it gave for event %llu", id, (unsigned long long)k);
	of[id].said_target = of[id].said_deadline = 0;
	of[id].taken++;
}

static void see_birth(const uint64_t *val)
{
	if (is_target(val[CTP_BIRTH_PROBE])) {
		target_coro[val[CTP_BIRTH_PROBE] - TARGET - 1] = val[CTP_BIRTH_CORO];
		return;
	}
	unsigned id = id_of(val[CTP_BIRTH_PROBE]);
	if (of[id].born)
		view_fail("coroutine %u is born twice", id);
	if (kind == LATE && val[CTP_BIRTH_BEFORE] < arena.header->since_ns)
		view_fail("coroutine %u was there at %llu, when nothing was recorded", id, (unsigned long long)val[CTP_BIRTH_BEFORE]);
	of[id].born = true;
}

static void see_death(unsigned id, const uint64_t *val)
{
	if (val[CTP_DEATH_TS] < of[id].from_ns || !of[id].from_ns || (of[id].to_ns && val[CTP_DEATH_TS] > of[id].to_ns))
		view_fail("coroutine %u died at %llu, and not between %llu and %llu", id, (unsigned long long)val[CTP_DEATH_TS],
		          (unsigned long long)of[id].from_ns, (unsigned long long)of[id].to_ns);
	of[id].dead = true;
}

/* The first was woken before the threads began, by no coroutine; the others by one that runs on the other thread. */
static void see_wake(unsigned id, const uint64_t *val)
{
	if ((id == 1) != (val[CTP_WAKE_TID] == first_tid))
		view_fail("coroutine %u was woken by another thread than the row says", id);
	if (val[CTP_WAKE_BY] != (id == 1 ? 0 : target_coro[0]))
		view_fail("coroutine %u was woken by another coroutine than the row says", id);
	if (val[CTP_WAKE_TS] < of[id].woken_from_ns || !of[id].woken_from_ns ||
	    (of[id].woken_to_ns && val[CTP_WAKE_TS] > of[id].woken_to_ns))
		view_fail("coroutine %u was woken at %llu, and not between %llu and %llu", id, (unsigned long long)val[CTP_WAKE_TS],
		          (unsigned long long)of[id].woken_from_ns, (unsigned long long)of[id].woken_to_ns);
}

static void see(unsigned event, const uint64_t *val)
{
	judged++;
	switch (event) {
	case CTP_BIRTH: see_birth(val); break;
	case CTP_TRANSITION: see_transition(val[CTP_TRANSITION_PROBE], val); break;
	case CTP_DEATH: see_death(id_of(val[CTP_DEATH_PROBE]), val); break;
	case CTP_AWAIT: of[id_of(val[CTP_AWAIT_PROBE])].said_target = val[CTP_AWAIT_TARGET]; break;
	case CTP_REASON_TOLD: of[id_of(val[CTP_REASON_PROBE])].said_deadline = val[CTP_REASON_DEADLINE]; break;
	case CTP_WAKE: see_wake(id_of(val[CTP_WAKE_PROBE]), val); break;
	}
}

/* --- the collector -------------------------------------------------------------------------------------------------------- */

static bool some_done(void *unused) { return (void)unused, steps_done >= looks_after || finished; }

static void collect(void *unused)
{
	struct ctp_err err;
	(void)unused;
	looks_after = kind >= WAITS ? 0 : view_chance(2) ? UINT64_MAX : view_random(IDS * 2);
	view_wait(kind == LATE ? is_time : some_done, NULL);
	rows.begin_ns = view_clock();
	if (ctp_rings_init(&rings, small_arena, sizeof small_arena, &err) || ctp_coros_init(&coros, &rings, &rows, &err))
		view_fail("no rings were found");
	ctp_coros_snapshot(&coros, arena.geo.max_stations);
	for (uint32_t k = 1; k < rows.sort.count; k++)
		see(rows.sort.event[k], rows.sort.rows[k].val);
	uint64_t written = 0;
	for (unsigned id = 1; id <= IDS; id++)
		written += of[id].written;
	for (unsigned id = 1; id <= IDS && written <= CTP_SHM_SLOTS; id++)
		if (of[id].dead && of[id].taken != of[id].written)
			view_fail("coroutine %u ended with %llu events, and %llu are known", id, (unsigned long long)of[id].written,
			          (unsigned long long)of[id].taken);
}

/* --- runs ----------------------------------------------------------------------------------------------------------------- */

static void init(void)
{
	struct ctp_err err;
	small_arena_share();
	if (ctp_rows_init(&rows, &err))
		abort();
}

static unsigned targets(void) { return kind == WAITS ? TARGETS : kind == WAKES; }

/* All that was before: those that are awaited, or wake others; and the first, which has ended and left a free station, or waits. */
static void live_before(void)
{
	for (unsigned i = 1; i <= targets(); i++)
		real_new(IDS + i, TARGET + i);
	if (kind == LATE) {
		arena.header->mode = 0;
		spawn(1);
		arena.header->mode = KEPT;
		return;
	}
	spawn(1);
	if (kind == WAKES)
		wake(1);
	for (uint64_t n = kind == WAITS ? 1 : few_events(); n; n--)
		write_event(1);
	if (kind != WAITS)
		end(1);
}

static void begin(unsigned dialect)
{
	kind = dialect;
	bool fenced = view_random(2);
	enum view_barrier barrier = fenced ? VIEW_UNREGISTERED : VIEW_REGISTERED;
	ctp_coros_fini(&coros); /* of the run before */
	ctp_rings_fini(&rings);
	coros = (struct ctp_coros){.life = NULL};
	view_has_membarrier = !fenced || view_random(2);
	view_syscall = NULL;
	small_arena_open(&arena, 1 + targets(), 1, 2, KEPT);
	real_probe_attach(arena.header, 2, fenced, !fenced && arena.clock == CTP_CLOCK_RAW);
	memset(of, 0, sizeof of);
	memset(target_coro, 0, sizeof target_coro);
	memset(&rows.stats, 0, sizeof rows.stats);
	rows.coros = rows.written = rows.text_bytes = 0;
	rows.sort.event[0] = CTP_ROWS_SPOILT; /* while a row waits, none is written at once */
	rows.sort.count = 1;
	steps_done = 0;
	handed = 0;
	first_tid = (unsigned)gettid();
	finished = ends_there = false;
	live_before();
	view_spawn("spawner", spawn_all, NULL, barrier);
	view_spawn("other", other, NULL, barrier);
	goes_on = view_steps + view_random(LOOK_STEPS);
	collector = view_spawn("collector", collect, NULL, VIEW_UNREGISTERED);
}

static uint64_t found(void) { return judged; }

static const char *const dialects[] = {"ends", "wakes", "waits", "late", NULL};
const struct world world_moved = {"moved", dialects, init, begin, NULL, found};
