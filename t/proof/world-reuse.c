/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-reuse.c - births, events and deaths of coroutines that share two or three stations, against lib/collect/coros.c and what
 * belongs to it: no station has two owners; a row is of the coroutine that wrote it; each event is a row or lost, once; and each
 * coroutine is traced, or counted as untraced, once.
 *
 *	rings, fenced   a collector from the beginning to the end
 *	attach          one that comes in the middle, with a snapshot (coros-snapshot.c)
 *	leave           one that leaves in the middle; then each station of an ended coroutine is free, once
 *	snapshot        one that looks and does not say so: nothing makes it see what is newest
 */
#include <stdlib.h>
#include <string.h>

#include "collect/coros.h"
#include "real-probe.h"
#include "small-arena.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

enum { RINGS, FENCED, ATTACH, LEAVE, SNAPSHOT };
enum { WRITERS = 2, SPAWNED = 4, EVENTS = 4, LOOKS = 5, NAME = 24, IDS = WRITERS * SPAWNED + 1 };
enum { FOLLOWED = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER, KEPT = CTP_MODE_RECORD | CTP_MODE_KEEP };

static struct ctp_arena arena;
static struct ctp_rings rings;
static struct ctp_rows rows;
static struct ctp_coros coros;
static unsigned kind, thread_of[WRITERS];
static bool kept; /* the program goes on recording after the collector has left */
static uint64_t judged, awaited;
static uint32_t judged_rows;

/* The truth, by id of a coroutine from 1 on; and what the rows say. */
static struct {
	uint64_t written, next, lost;
	bool traced, ended, born, dead;
} of[IDS];
static uint64_t lost_of_nobody;
static unsigned owner[SMALL_STATIONS];

static uint64_t addr_of(uint64_t id, uint64_t k) { return k % 2 ? 0 : world_word(k, (unsigned)id); }

/* --- the program ---------------------------------------------------------------------------------------------------------- */

/* All characters are the same, and each name has others than the one before. */
static void name(unsigned co, unsigned id)
{
	char text[NAME + 1] = {0};
	memset(text, (int)('A' + id + view_random(2) * 32), NAME);
	real_name(co, text);
}

static void live(unsigned co, unsigned id)
{
	if (!real_new(co, id))
		return;
	uint32_t i = CTP_REF_INDEX(real_ref(co));
	if (owner[i])
		view_fail("coroutines %u and %u have the same station", owner[i], id);
	owner[i] = id;
	of[id].traced = true;
	for (uint64_t n = view_random(EVENTS), k = 0; k < n; k++) {
		if (view_chance(4))
			name(co, id);
		real_event(co, addr_of(id, k));
		of[id].written++;
	}
	owner[i] = 0;
	of[id].ended = true;
	real_death(co);
}

static void write_events(void *arg)
{
	unsigned w = (unsigned)(uintptr_t)arg;
	for (unsigned n = 0; n < SPAWNED; n++)
		live(w, 1 + w * SPAWNED + n);
}

static bool all_ended(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < WRITERS; i++)
		if (!view_ended(thread_of[i]))
			return false;
	return true;
}

/* --- what the rows say ---------------------------------------------------------------------------------------------------- */

static void see_transition(const uint64_t *val)
{
	uint64_t id = val[CTP_TRANSITION_PROBE], k = val[CTP_TRANSITION_INDEX];
	if (!id || id >= IDS || val[CTP_TRANSITION_ADDR] != addr_of(id, k))
		view_fail("a row that nobody wrote: event %llu of coroutine %llu", (unsigned long long)k, (unsigned long long)id);
	if (!of[id].born)
		view_fail("coroutine %llu has an event before its birth", (unsigned long long)id);
	if (k >= of[id].written + !of[id].ended)
		view_fail("coroutine %llu has event %llu, and wrote %llu", (unsigned long long)id, (unsigned long long)k,
		          (unsigned long long)of[id].written);
	of[id].next++;
}

static void see_name(const uint64_t *val)
{
	const char *text = ctp_str_val(val[CTP_NAME_TEXT])->data;
	for (unsigned i = 0; i < NAME; i++)
		if (text[i] != text[0] || text[i] % 32 != (char)('A' + val[CTP_NAME_PROBE]) % 32)
			view_fail("coroutine %llu has a name that nobody gave it: %.*s", (unsigned long long)val[CTP_NAME_PROBE], NAME, text);
}

static void see(unsigned event, const uint64_t *val)
{
	judged++;
	if (event == CTP_TRANSITION) {
		see_transition(val);
	} else if (event == CTP_BIRTH) {
		uint64_t id = val[CTP_BIRTH_PROBE];
		if (!id || id >= IDS || of[id].born)
			view_fail("coroutine %llu is born twice, or does not exist", (unsigned long long)id);
		of[id].born = true;
	} else if (event == CTP_DEATH) {
		uint64_t id = val[CTP_DEATH_PROBE];
		if (!id || id >= IDS || !of[id].born || of[id].dead || !of[id].ended)
			view_fail("coroutine %llu dies twice, too early, or was not born", (unsigned long long)id);
		of[id].dead = true;
	} else if (event == CTP_LOST) {
		uint64_t id = val[CTP_LOST_PROBE];
		if (id >= IDS)
			view_fail("a loss of a coroutine that does not exist");
		*(id && val[CTP_LOST_CORO] ? &of[id].lost : &lost_of_nobody) += val[CTP_LOST_COUNT];
	} else if (event == CTP_NAME) {
		see_name(val);
	} else if (event == CTP_CONFLICT) {
		view_fail("a conflict, and there is none");
	}
}

static void judge(void)
{
	for (; judged_rows < rows.sort.count; judged_rows++)
		see(rows.sort.event[judged_rows], rows.sort.rows[judged_rows].val);
}

/* --- the collector: harvest.c without its stations of the field ------------------------------------------------------------ */

static void look(bool all)
{
	struct ctp_ring_entry entries[CTP_RINGS_CHUNK];
	struct ctp_ring *ring;
	ctp_rows_look(&rows, view_clock());
	ctp_look_limit_begin(&rows.limit);
	ctp_rings_look(&rings, all);
	while (ctp_rings_slice(&rings)) {
		ctp_ring_gaps_rest(&coros.gaps);
		for (unsigned n; (n = ctp_rings_take(&rings, &ring, entries));)
			ctp_coros_take(&coros, ring, entries, n);
		ctp_coros_release_dead(&coros);
	}
	ctp_rings_finish(&rings);
	ctp_coros_settle(&coros, false);
	judge();
}

static uint32_t used(void)
{
	uint32_t count = real_load32(&arena.header->allocated_count);
	return count < arena.geo.max_stations ? count : arena.geo.max_stations;
}

static void look_last(bool gone)
{
	coros.left = !gone;
	for (unsigned looks = 0; looks < 3; looks++)
		look(true);
	ctp_coros_audit(&coros, used(), true, gone);
	ctp_coros_settle(&coros, true);
	judge();
}

static void find_rings(void)
{
	struct ctp_err err;
	rows.begin_ns = view_clock();
	if (ctp_rings_init(&rings, small_arena, sizeof small_arena, &err) || ctp_coros_init(&coros, &rings, &rows, &err))
		view_fail("no rings were found");
}

/* Nobody tells the collector that they have. */
static bool some_ended(void *unused)
{
	unsigned n = 0;
	(void)unused;
	for (unsigned id = 1; id < IDS; id++)
		n += of[id].ended;
	return n >= awaited || all_ended(NULL);
}

static void collect(void *unused)
{
	(void)unused;
	awaited = view_random(IDS - 1);
	if (kind == ATTACH || kind == SNAPSHOT)
		view_wait(some_ended, NULL);
	if (kind == ATTACH)
		ctp_arena_open(&arena, FOLLOWED, 0, NULL);
	if (kind == ATTACH || kind == SNAPSHOT) {
		find_rings();
		ctp_coros_snapshot(&coros, used());
		judge();
	}
	if (kind == SNAPSHOT)
		return;
	for (uint64_t n = view_random(LOOKS); n; n--) {
		look(false);
		if (view_chance(4) && ctp_coros_audit_due(&coros))
			ctp_coros_audit(&coros, used(), false, false);
	}
	if (kind == LEAVE) {
		kept = view_chance(2);
		ctp_arena_close(&arena, kept ? KEPT : 0);
		look_last(false);
		ctp_coros_release(&coros, used());
		return;
	}
	view_wait(all_ended, NULL);
	for (unsigned i = 0; i < WRITERS; i++)
		view_join_thread(thread_of[i]);
	look_last(true);
}

/* --- runs ----------------------------------------------------------------------------------------------------------------- */

static void judge_accounts(void)
{
	uint64_t wrote = 0, told = lost_of_nobody;
	for (unsigned id = 1; id < IDS; id++) {
		wrote += of[id].written;
		told += of[id].next + of[id].lost;
		if (of[id].next + of[id].lost > of[id].written)
			view_fail("coroutine %u wrote %llu events; %llu came, %llu were told lost", id, (unsigned long long)of[id].written,
			          (unsigned long long)of[id].next, (unsigned long long)of[id].lost);
		if (of[id].born && !of[id].dead)
			view_fail("coroutine %u ended, and its death is not known", id);
	}
	if (wrote != told)
		view_fail("%llu events were written, %llu accounted for", (unsigned long long)wrote, (unsigned long long)told);
}

/* Each station of an ended coroutine is on the stack of the free once. */
static void judge_stack(void)
{
	unsigned seen[SMALL_STATIONS] = {0};
	uint32_t link = (uint32_t)arena.header->free;
	for (unsigned n = 0; link && n < SMALL_STATIONS + 1; n++) {
		if (link > arena.geo.max_stations || seen[link - 1]++)
			view_fail("the stack of free stations is broken");
		link = arena.stations[link - 1].next_free;
	}
	for (unsigned i = 0; i < arena.geo.max_stations && i < arena.header->allocated_count; i++)
		if (arena.stations[i].is_dead != 2 || !seen[i])
			view_fail("station %u is of an ended coroutine, and was never freed", i);
}

/* Each coroutine is traced, or counted as untraced, once. */
static void judge_births(void)
{
	uint32_t traced = 0, taken = arena.header->allocated_count, most = arena.geo.max_stations;
	uint32_t untraced = (taken > most ? taken - most : 0) + arena.header->refused;
	for (unsigned id = 1; id < IDS; id++)
		traced += of[id].traced;
	if (traced + untraced != IDS - 1)
		view_fail("%u coroutines are traced, and %u are counted as untraced, of %u", traced, untraced, IDS - 1);
}

static void after(void)
{
	if (kind != LEAVE || kept)
		judge_births();
	if (kind == LEAVE)
		judge_stack();
	else if (kind < ATTACH)
		judge_accounts();
}

static void init(void)
{
	struct ctp_err err;
	small_arena_share();
	if (ctp_rows_init(&rows, &err))
		abort();
}

static void begin(unsigned dialect)
{
	kind = dialect;
	bool fenced = kind == FENCED || (kind > FENCED && view_random(2));
	uint32_t bits = 2 + (uint32_t)view_random(3);
	ctp_coros_fini(&coros); /* of the run before */
	ctp_rings_fini(&rings);
	coros = (struct ctp_coros){.life = NULL};
	view_has_membarrier = !fenced || view_random(2);
	view_syscall = NULL;
	small_arena_open(&arena, 2 + (uint32_t)view_random(2), WRITERS, bits, kind == ATTACH || kind == SNAPSHOT ? KEPT : FOLLOWED);
	real_probe_attach(arena.header, bits, fenced, !fenced && arena.clock == CTP_CLOCK_RAW);
	memset(of, 0, sizeof of);
	memset(owner, 0, sizeof owner);
	memset(&rows.stats, 0, sizeof rows.stats);
	lost_of_nobody = 0;
	rows.coros = rows.written = rows.text_bytes = 0;
	rows.sort.event[0] = CTP_ROWS_SPOILT; /* while a row waits, none is written at once */
	rows.sort.count = judged_rows = 1;
	if (kind != ATTACH && kind != SNAPSHOT)
		find_rings();
	for (unsigned i = 0; i < WRITERS; i++)
		thread_of[i] = view_spawn(i ? "writer 1" : "writer 0", write_events, (void *)(uintptr_t)i,
		                          fenced ? VIEW_UNREGISTERED : VIEW_REGISTERED);
	view_spawn("collector", collect, NULL, VIEW_UNREGISTERED);
}

static uint64_t found(void) { return judged; }

static const char *const dialects[] = {"rings", "fenced", "attach", "leave", "snapshot", NULL};
const struct world world_reuse = {"reuse", dialects, init, begin, after, found};
