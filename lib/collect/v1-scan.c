/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * v1-scan.c - which stations to look at now, and what of it to write.
 *
 * Hot stations had something in the last HOT_NS; they are looked at in each scan. New ones are hot. The cold ones are looked at
 * by a sweep that goes round in buckets, at a pace of one round in SWEEP_NS as long as that costs no more than SWEEP_SHARE
 * of the time. The dead are looked at when everything is (ctp_v1_scan_all): one that has an event after all, because another
 * process went on with a copy of the coroutine, is hot again. Memory at or beyond allocated_count is never touched, because
 * touching is what allocates it.
 *
 * A station whose writer keeps rings says so by its generation, which is not 0. The writer stores that first, and a release
 * fence after it: a reader that sees anything of such a station, and then loads generation (after an acquire), knows. Most
 * such stations are known at the first look, and then never looked at again.
 *
 * Rows that are not proved yet are v1-doubt.c's.
 */
#include "base/capped.h"
#include "base/clock.h"
#include "base/compare.h"
#include "collect/v1-doubt.h"
#include "collect/v1-scan.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

#define HOT_NS UINT64_C(100000000)
#define SWEEP_NS UINT64_C(2000000)
#define SAVED_NS UINT64_C(20000000) /* the longest pause that pays for sweeping */
#define HOLD_NS UINT64_C(100000000)

enum {
	BUCKET = 256,     /* stations that the sweep takes at once */
	SWEEP_SHARE = 70, /* it may cost one part in SWEEP_SHARE of the time */
	AHEAD = 8,        /* stations that are prefetched */
	GROUP = 64,       /* hot stations that are glanced at together */
	VISITS_MAX = 64,  /* to a station that died, or at the end; more than 8 slots can need, so that a liar cannot hold us */
	ROWS_SPARE = CTP_STATION_ROWS + 8, /* rows for one visit and what goes with it */
};
_Static_assert(ROWS_SPARE <= (int)CTP_ROWS_SPARE, "what the rows keeps free is enough");

/* A hot station, and all that a scan needs to know of it as long as it is quiet: a scan of many begins with a cold cache. */
struct ctp_hot {
	const uint64_t *seq; /* of the slot where the next event is due; null: it must be looked at more closely */
	uint64_t idle;       /* what stands there until then */
	uint32_t station, active_ms;
};

static uint32_t ms_of(uint64_t ns) { return (uint32_t)(ns >> 20); } /* near enough */

/* --- records that are not transitions ------------------------------------------------------------------------------------- */

/* seen_ns: it was there by then. Where the target's own word on its birth cannot be right, bounds take its place. */
static void push_birth(struct ctp_v1_scan *scan, uint32_t i, uint64_t seen_ns)
{
	struct ctp_v1_station *st = &scan->st[i];
	bool said = st->birth_ns && (st->birth_ns <= scan->rows->now_ns || st->birth_ns <= ctp_clock_ns());
	uint64_t before = said ? st->birth_ns : seen_ns, after = said ? st->birth_ns : st->last_ns;
	struct ctp_birth birth = {
		.probe_id = st->probe_id, .coro = st->coro, .station = i, .after_ns = after, .before_ns = before};
	ctp_rows_birth(scan->rows, &birth);
	st->birth_ns = before;
	st->flags |= CTP_STATION_BORN;
}

/* The gap before event number next. */
static void push_lost(struct ctp_v1_scan *scan, struct ctp_v1_station *st, uint64_t next, uint64_t ts_ns)
{
	uint64_t index = next > st->gap ? next - st->gap : 0;
	struct ctp_loss loss = {.probe_id = st->probe_id, .coro = st->coro, .index = index, .count = st->gap,
	                        .unverified = st->gap_unverified, .after_ns = st->last_ns, .ts_ns = ts_ns};
	ctp_rows_lost(scan->rows, &loss);
	st->gap = 0;
	st->gap_unverified = 0;
}

/* It was alive at after, and dead at before. */
static void push_death(struct ctp_v1_scan *scan, struct ctp_v1_station *st, uint64_t after, uint64_t before)
{
	after = ctp_most(after, ctp_most(st->last_ns, st->birth_ns));
	ctp_rows_death(scan->rows, st->probe_id, st->coro, after, before);
	st->flags |= CTP_STATION_DEAD;
	if (!(st->flags & CTP_STATION_HOT))
		scan->ncold--;
}

static void push_conflict(struct ctp_v1_scan *scan, struct ctp_v1_station *st)
{
	ctp_rows_conflict(scan->rows, st->probe_id, st->coro, scan->rows->now_ns);
	st->flags |= CTP_STATION_FLAGGED;
}

static void push_untraced(struct ctp_v1_scan *scan)
{
	uint64_t untraced = scan->rows->stats.untraced;
	if (untraced == scan->untraced_said)
		return;
	scan->untraced_said = untraced;
	CTP_ROWS_PUT(scan->rows, CTP_UNTRACED, scan->rows->now_ns, [CTP_UNTRACED_COUNT] = untraced);
}

/* --- rings or slots ------------------------------------------------------------------------------------------------------- */

/* To be called after something of the station was seen. */
static bool has_ring(const struct ctp_v1_scan *scan, uint32_t i)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with the probe's release fence after its store of generation */
	return scan->annexed && __atomic_load_n(&scan->shm[i].generation, __ATOMIC_RELAXED);
}

/* It has a ring: no more of it here. */
static void disown(struct ctp_v1_scan *scan, uint32_t i)
{
	if (!(scan->st[i].flags & (CTP_STATION_HOT | CTP_STATION_DEAD)))
		scan->ncold--;
	scan->st[i].flags |= CTP_STATION_RINGS | CTP_STATION_DEAD;
}

/* --- one station ---------------------------------------------------------------------------------------------------------- */

/* Where the station's next event will be seen. If it is visited by another way meanwhile, that place shows a change too. */
static void watch(const struct ctp_v1_scan *scan, struct ctp_hot *hot)
{
	const struct ctp_v1_station *st = &scan->st[hot->station];
	hot->seq = NULL;
	if ((st->flags & (CTP_STATION_KNOWN | CTP_STATION_CONFLICT)) == CTP_STATION_KNOWN) {
		hot->seq = &scan->shm[hot->station].slots[ctp_v1_station_slot(st, st->next)].seq;
		hot->idle = ctp_v1_station_idle(st, st->next);
	}
}

static void heat(struct ctp_v1_scan *scan, uint32_t i)
{
	struct ctp_v1_station *st = &scan->st[i];
	if (st->flags & CTP_STATION_HOT)
		return;
	if (!(st->flags & CTP_STATION_DEAD))
		scan->ncold--;
	st->flags |= CTP_STATION_HOT;
	assert(scan->nhot < scan->count); /* each station is hot once */
	scan->hot[scan->nhot] = (struct ctp_hot){.station = i, .active_ms = ms_of(scan->rows->now_ns)};
	watch(scan, &scan->hot[scan->nhot++]);
}

/* Asks for the code of a suspension that has an address, from row `at` on. */
static void ask_function(struct ctp_v1_scan *scan, uint32_t i, uint32_t at)
{
	struct ctp_v1_station *st = &scan->st[i];
	const struct ctp_row_sort *sort = &scan->rows->sort;
	for (; at < sort->count && !st->asked; at++) {
		const uint64_t *val = sort->rows[at].val;
		struct ctp_frame frame = {.station = &scan->shm[i], .coro = st->coro, .probe_id = st->probe_id,
		                          .tid = val[CTP_TRANSITION_TID], .addr = val[CTP_TRANSITION_ADDR]};
		st->asked = !val[CTP_TRANSITION_ACTIVE] && frame.addr && ctp_frame_queue_ask(&scan->rows->frames, &frame);
	}
}

void ctp_v1_scan_take(struct ctp_v1_scan *scan, uint32_t i, unsigned n)
{
	struct ctp_v1_station *st = &scan->st[i];
	struct ctp_row_sort *sort = &scan->rows->sort;
	assert(n && n <= CTP_STATION_ROWS && sort->count + n <= CTP_ROW_SORT_ROWS);
	if (!(st->flags & CTP_STATION_BORN) || st->gap) {
		struct ctp_row rows[CTP_STATION_ROWS];
		memcpy(rows, &sort->rows[sort->count], n * sizeof *rows);
		uint64_t first_ns = rows[0].val[CTP_TRANSITION_TS];
		if (!(st->flags & CTP_STATION_BORN))
			push_birth(scan, i, first_ns < scan->rows->now_ns ? first_ns : scan->rows->now_ns);
		if (st->gap)
			push_lost(scan, st, rows[0].val[CTP_TRANSITION_INDEX], first_ns);
		memcpy(&sort->rows[sort->count], rows, n * sizeof *rows);
	}
	/* Eight rows of such a station were proved with a barrier, which is more. */
	bool again = n < CTP_STATION_ROWS && scan->proof != CTP_PROOF_GONE && !(st->flags & CTP_STATION_CONFLICT);
	if (again && ctp_v1_station_doubtful(st))
		ctp_v1_doubt_rows(scan, &(struct ctp_v1_doubt_run){st->next - n, st->last_ns, i, sort->count, n});
	for (unsigned r = 0; r < n; r++) {
		sort->event[sort->count] = CTP_TRANSITION;
		sort->ts_ns[sort->count] = sort->rows[sort->count].val[CTP_TRANSITION_TS];
		sort->count++;
	}
	st->last_ns = sort->ts_ns[sort->count - 1];
	scan->rows->stats.events += n;
	if (!st->asked)
		ask_function(scan, i, sort->count - n);
}

/* Returns what was found, lost events included. */
static unsigned visit(struct ctp_v1_scan *scan, uint32_t i)
{
	struct ctp_v1_station *st = &scan->st[i];
	if (st->doubt && !ctp_v1_station_quiet(st, &scan->shm[i]))
		ctp_v1_doubt_end(scan, i, false);
	if (scan->rows->sort.count > CTP_ROW_SORT_ROWS - ROWS_SPARE)
		ctp_rows_settle(scan->rows);
	uint64_t gap = st->gap, unverified = st->gap_unverified;
	bool known = st->flags & CTP_STATION_KNOWN;
	assert(scan->rows->sort.count + ROWS_SPARE <= CTP_ROW_SORT_ROWS);
	struct ctp_row *free_rows = &scan->rows->sort.rows[scan->rows->sort.count];
	unsigned n = ctp_v1_station_visit(st, &scan->shm[i], &scan->seen[i], scan->proof, free_rows);
	if (st->flags & CTP_STATION_KNOWN && !known && has_ring(scan, i)) {
		disown(scan, i);
		return 0;
	}
	uint64_t lost = st->gap - gap;
	ctp_add_capped(&scan->rows->stats.lost, lost);
	scan->rows->stats.overwritten += lost;
	scan->rows->stats.unverified += st->gap_unverified - unverified;
	if (st->doubt && n)
		ctp_v1_doubt_station(scan, i, lost);
	else if (n)
		ctp_v1_scan_take(scan, i, n);
	if ((st->flags & (CTP_STATION_CONFLICT | CTP_STATION_FLAGGED)) == CTP_STATION_CONFLICT)
		push_conflict(scan, st);
	return n + (lost < UINT32_MAX / 2 ? (unsigned)lost : UINT32_MAX / 2);
}

static void visit_all(struct ctp_v1_scan *scan, uint32_t i)
{
	for (unsigned tries = 0; tries < VISITS_MAX && visit(scan, i); tries++)
		;
}

/*
 * Without an event nothing orders the header before what we see. What the target announces was written after it; else it is
 * believed when both words are there and are the same at two looks.
 */
static bool header_whole(struct ctp_v1_scan *scan, uint32_t i)
{
	struct ctp_v1_station *st = &scan->st[i];
	const struct ctp_shm_station *shm = &scan->shm[i];
	uint64_t announce = __atomic_load_n(&shm->announce, __ATOMIC_ACQUIRE);
	uint64_t probe_id = __atomic_load_n(&shm->probe_id, __ATOMIC_RELAXED);
	uint64_t birth_ns = __atomic_load_n(&shm->birth_ts, __ATOMIC_RELAXED);
	bool same = probe_id && birth_ns && probe_id == st->probe_id && birth_ns == st->birth_ns;
	st->probe_id = probe_id;
	st->birth_ns = birth_ns;
	if (has_ring(scan, i)) {
		disown(scan, i);
		return false;
	}
	return same || CTP_ANNOUNCE_IS(announce);
}

static unsigned look(struct ctp_v1_scan *scan, uint32_t i, bool quiet)
{
	struct ctp_v1_station *st = &scan->st[i];
	unsigned found = quiet ? 0 : visit(scan, i);
	if (!(st->flags & (CTP_STATION_BORN | CTP_STATION_KNOWN)) && header_whole(scan, i))
		push_birth(scan, i, scan->rows->now_ns);
	return found;
}

/* --- looking at many ------------------------------------------------------------------------------------------------------ */

static void prefetch(const struct ctp_v1_scan *scan, uint32_t i)
{
	const struct ctp_v1_station *st = &scan->st[i];
	__builtin_prefetch(&scan->shm[i].slots[ctp_v1_station_slot(st, st->next)]);
}

/* All that there can be of a station that is ours, besides what it has in its bucket. */
static size_t station_bytes(const struct ctp_v1_scan *scan)
{
	return sizeof *scan->st + sizeof *scan->seen + sizeof *scan->full + sizeof *scan->hot + sizeof *scan->ours * 2;
}

/* So many stations are looked at, whatever the count says. */
static void close_at(struct ctp_v1_scan *scan, uint32_t max, uint32_t count)
{
	uint64_t refused = scan->annexed ? __atomic_load_n(&scan->header->refused, __ATOMIC_RELAXED) : 0;
	uint64_t untraced = refused + (count > max ? count - max : 0);
	scan->max = max;
	if (untraced > scan->rows->stats.untraced) {
		scan->rows->stats.untraced = untraced;
		scan->rows->stats.refused = refused;
	}
}

/* Takes in the stations that were allocated since the last look. */
static void adopt(struct ctp_v1_scan *scan, uint64_t before_ns)
{
	uint32_t count = __atomic_load_n(&scan->header->allocated_count, __ATOMIC_ACQUIRE);
	close_at(scan, scan->max, count);
	uint32_t upto = count < scan->max ? count : scan->max;
	for (; scan->used < upto && !ctp_look_limit_over_at(&scan->rows->limit, scan->used); scan->used++) {
		uint32_t i = scan->used;
		struct ctp_v1_station *st = &scan->st[i];
		if (has_ring(scan, i))
			continue;
		if (!ctp_budget_take(scan->budget, station_bytes(scan))) {
			close_at(scan, scan->used, count);
			break;
		}
		if (scan->count % BUCKET == 0)
			scan->passed_ns[scan->count / BUCKET] = scan->rows->now_ns;
		scan->ours[scan->count++] = i;
		st->dialect = (uint8_t)scan->dialect;
		st->coro = ++scan->rows->coros;
		st->last_ns = before_ns;
		scan->ncold++;
		heat(scan, i);
		if (header_whole(scan, i))
			push_birth(scan, i, scan->rows->now_ns);
	}
	scan->rows->stats.stations = scan->used;
}

/*
 * In groups: first one load for each station, then the visits. A visit has barriers, and after each of them a load that the
 * writer's cache must answer would be waited for by itself; without barriers between them many are under way at once.
 */
static void glance(const struct ctp_v1_scan *scan, const struct ctp_hot *hot, uint32_t n, bool *quiet)
{
	for (uint32_t k = 0; k < n; k++)
		quiet[k] = hot[k].seq && __atomic_load_n(hot[k].seq, __ATOMIC_RELAXED) == hot[k].idle;
	for (uint32_t k = 0; k < n; k++) {
		if (quiet[k])
			continue;
		const struct ctp_v1_station *st = &scan->st[hot[k].station];
		const struct ctp_shm_slot *slots = scan->shm[hot[k].station].slots; /* two that the visit will look at besides */
		__builtin_prefetch(&slots[ctp_v1_station_slot(st, st->next + 1)]);
		__builtin_prefetch(&slots[ctp_v1_station_slot(st, st->next + CTP_SHM_SLOTS - 1)]);
	}
}

/* One that is not quiet, or not known to be. Returns what was found. */
static unsigned look_closely(struct ctp_v1_scan *scan, struct ctp_hot *hot)
{
	uint32_t i = hot->station;
	unsigned found = look(scan, i, !hot->seq && ctp_v1_station_quiet(&scan->st[i], &scan->shm[i]));
	if (found)
		hot->active_ms = ms_of(scan->rows->now_ns);
	watch(scan, hot);
	return found;
}

static size_t scan_hot(struct ctp_v1_scan *scan, unsigned *busiest)
{
	size_t total = 0;
	uint32_t kept = 0, n = scan->nhot, now_ms = ms_of(scan->rows->now_ns);
	bool quiet[GROUP];
	for (uint32_t k = 0; k < n; k++) {
		struct ctp_hot *hot = &scan->hot[k];
		if (k % GROUP == 0 && ctp_look_limit_over(&scan->rows->limit)) { /* the others stay as they are */
			memmove(&scan->hot[kept], hot, (n - k) * sizeof *hot);
			kept += n - k;
			break;
		}
		if (k % GROUP == 0)
			glance(scan, hot, n - k < GROUP ? n - k : GROUP, quiet);
		struct ctp_v1_station *st = &scan->st[hot->station];
		if (!quiet[k % GROUP] && !(st->flags & CTP_STATION_RINGS)) {
			unsigned found = look_closely(scan, hot);
			total += found;
			*busiest = found > *busiest ? found : *busiest;
		}
		if (now_ms - hot->active_ms > ms_of(HOT_NS) || st->flags & CTP_STATION_RINGS) {
			st->flags &= (uint8_t)~CTP_STATION_HOT;
			scan->ncold += !(st->flags & CTP_STATION_DEAD);
			continue;
		}
		if (kept != k)
			scan->hot[kept] = *hot;
		kept++;
	}
	scan->nhot = kept;
	return total;
}

/* One bucket of the sweep; with_dead: of everything that is not hot. */
static size_t sweep_bucket(struct ctp_v1_scan *scan, uint32_t bucket, bool with_dead, unsigned *busiest)
{
	size_t total = 0;
	unsigned skip = CTP_STATION_HOT | CTP_STATION_RINGS | (with_dead ? 0 : CTP_STATION_DEAD);
	uint32_t k = bucket * BUCKET, stop = scan->count - k < BUCKET ? scan->count : k + BUCKET;
	for (; k < stop; k++) {
		uint32_t i = scan->ours[k];
		if (k + AHEAD < stop && !(scan->st[scan->ours[k + AHEAD]].flags & skip))
			prefetch(scan, scan->ours[k + AHEAD]);
		if (scan->st[i].flags & skip)
			continue;
		unsigned found = look(scan, i, ctp_v1_station_quiet(&scan->st[i], &scan->shm[i]));
		if (found) {
			total += found;
			*busiest = found > *busiest ? found : *busiest;
			heat(scan, i);
		}
	}
	return total;
}

static uint32_t bucket_count(const struct ctp_v1_scan *scan) { return (scan->count + BUCKET - 1) / BUCKET; }

/* As much of the sweep as is due since the last scan and paid for. */
static size_t sweep_some(struct ctp_v1_scan *scan, uint64_t since_ns, unsigned *busiest)
{
	size_t total = 0;
	uint64_t elapsed = since_ns < SAVED_NS ? since_ns : SAVED_NS, start = 0;
	uint32_t chunk = scan->count < BUCKET ? scan->count : BUCKET;
	scan->sweep_due += scan->count * elapsed;
	scan->sweep_credit_ns += elapsed / SWEEP_SHARE;
	if (!scan->ncold) {
		scan->sweep_due = scan->sweep_credit_ns = 0;
		return 0;
	}
	while (scan->sweep_due >= chunk * SWEEP_NS && scan->sweep_credit_ns) {
		start = start ? start : ctp_clock_ns();
		scan->bucket = scan->bucket < bucket_count(scan) ? scan->bucket : 0;
		total += sweep_bucket(scan, scan->bucket, false, busiest);
		scan->passed_ns[scan->bucket] = start;
		scan->bucket = (scan->bucket + 1) % bucket_count(scan);
		scan->sweep_due -= chunk * SWEEP_NS;
		uint64_t stop = ctp_clock_ns(), cost = stop - start;
		scan->sweep_credit_ns -= cost < scan->sweep_credit_ns ? cost : scan->sweep_credit_ns;
		start = stop;
	}
	scan->sweep_due = ctp_least(scan->sweep_due, scan->count * SWEEP_NS);
	scan->sweep_credit_ns = ctp_least(scan->sweep_credit_ns, SAVED_NS / SWEEP_SHARE);
	return total;
}

size_t ctp_v1_scan_some(struct ctp_v1_scan *scan, uint64_t before_ns, unsigned *busiest)
{
	adopt(scan, before_ns);
	size_t total = scan_hot(scan, busiest);
	total += sweep_some(scan, scan->rows->now_ns - before_ns, busiest);
	ctp_v1_doubt_pass(scan);
	return total;
}

size_t ctp_v1_scan_all(struct ctp_v1_scan *scan, uint64_t before_ns, unsigned *busiest)
{
	adopt(scan, before_ns);
	size_t total = scan_hot(scan, busiest);
	for (uint32_t b = 0; b < bucket_count(scan) && !ctp_look_limit_over(&scan->rows->limit); b++)
		total += sweep_bucket(scan, b, true, busiest);
	if (!scan->rows->limit.over) { /* else the sweep is where it was: no bucket may have waited longer than its next */
		for (uint32_t b = 0; b < bucket_count(scan); b++)
			scan->passed_ns[b] = scan->rows->now_ns;
		scan->bucket = 0;
		scan->sweep_due = 0;
	}
	ctp_v1_doubt_pass(scan);
	return total;
}

uint64_t ctp_v1_scan_oldest_ns(const struct ctp_v1_scan *scan)
{
	uint64_t now_ns = scan->rows->now_ns, oldest = now_ns, floor_ns = now_ns > HOLD_NS ? now_ns - HOLD_NS : 0;
	if (scan->ncold && scan->passed_ns[scan->bucket] < oldest)
		oldest = scan->passed_ns[scan->bucket];
	oldest = oldest > floor_ns ? oldest : floor_ns;
	return oldest < scan->doubt_ns ? oldest : scan->doubt_ns;
}

/* --- births and deaths, the end ------------------------------------------------------------------------------------------- */

void ctp_v1_scan_release(struct ctp_v1_scan *scan, uint32_t i, uint64_t after_ns, uint64_t before_ns)
{
	struct ctp_v1_station *st = &scan->st[i];
	if (!(st->flags & CTP_STATION_BORN))
		push_birth(scan, i, scan->rows->now_ns);
	if (st->gap)
		push_lost(scan, st, st->next, before_ns);
	push_death(scan, st, after_ns, before_ns);
}

/* What was published before its death was seen comes before it in the stream. */
static void see_death(struct ctp_v1_scan *scan, uint32_t i)
{
	visit_all(scan, i);
	if (scan->st[i].flags & CTP_STATION_DEAD) /* its death was known, and waited for the end of a doubt */
		return;
	uint64_t now_ns = ctp_clock_ns();
	if (scan->st[i].doubt) {
		ctp_v1_doubt_death(scan, i, scan->lives_ns, now_ns);
		return;
	}
	ctp_v1_doubt_drain(scan); /* or a loss could come to light after the death */
	ctp_v1_scan_release(scan, i, scan->lives_ns, now_ns);
}

void ctp_v1_scan_lives(struct ctp_v1_scan *scan)
{
	uint64_t start = ctp_clock_ns();
	for (uint32_t k = 0; k < scan->count && !ctp_look_limit_over_at(&scan->rows->limit, k); k++) {
		uint32_t i = scan->ours[k];
		struct ctp_v1_station *st = &scan->st[i];
		if (k + AHEAD < scan->count && !(scan->st[scan->ours[k + AHEAD]].flags & CTP_STATION_DEAD))
			__builtin_prefetch(&scan->shm[scan->ours[k + AHEAD]]);
		if (st->flags & CTP_STATION_DEAD)
			continue;
		/*
		 * Before the header, which is whole then, and says whether it has a ring: pairs with the release store of ctp.h. In
		 * the SDKs of the field it is a plain store, and only what we load is not older.
		 */
		bool dead = __atomic_load_n(&scan->shm[i].is_dead, __ATOMIC_ACQUIRE);
		bool born = st->flags & (CTP_STATION_BORN | CTP_STATION_KNOWN);
		bool whole = born || header_whole(scan, i);
		if (st->flags & CTP_STATION_RINGS)
			continue;
		if (dead)
			see_death(scan, i);
		else if (whole && !born)
			push_birth(scan, i, scan->rows->now_ns);
	}
	if (!scan->rows->limit.over)
		scan->lives_ns = start;
	push_untraced(scan);
}

uint32_t ctp_v1_scan_last(struct ctp_v1_scan *scan, bool gone)
{
	unsigned busiest = 0;
	uint32_t seen = 0;
	if (gone)
		scan->proof = CTP_PROOF_GONE;
	ctp_v1_scan_all(scan, scan->rows->now_ns, &busiest);
	if (scan->rows->limit.over)
		close_at(scan, scan->used, __atomic_load_n(&scan->header->allocated_count, __ATOMIC_RELAXED));
	for (; seen < scan->count && !ctp_look_limit_over_at(&scan->rows->limit, seen); seen++) {
		uint32_t i = scan->ours[seen];
		if (scan->st[i].flags & CTP_STATION_RINGS)
			continue;
		visit_all(scan, i);
		ctp_v1_station_audit(&scan->st[i], &scan->shm[i], &scan->seen[i]);
		visit_all(scan, i);
	}
	ctp_v1_doubt_finish(scan);
	ctp_v1_scan_lives(scan);
	for (uint32_t k = 0; k < scan->count; k++) {
		uint32_t i = scan->ours[k];
		struct ctp_v1_station *st = &scan->st[i];
		if (st->flags & CTP_STATION_RINGS)
			continue;
		if (!(st->flags & CTP_STATION_BORN) && (st->probe_id || st->birth_ns || st->flags & CTP_STATION_KNOWN))
			push_birth(scan, i, scan->rows->now_ns);
		if (st->gap)
			push_lost(scan, st, st->next, ctp_clock_ns());
	}
	return scan->count - seen;
}

/* --- making and freeing --------------------------------------------------------------------------------------------------- */

/* One mapping for all that there is of each station; pages come as stations do. */
enum ctp_status ctp_v1_scan_init(struct ctp_v1_scan *scan, const struct ctp_harvest_conf *conf, struct ctp_rows *rows,
                                 struct ctp_err *err)
{
	size_t n = conf->max_stations, buckets = n / BUCKET + 1;
	*scan = (struct ctp_v1_scan){.rows = rows, .header = conf->shm, .max = conf->max_stations, .dialect = conf->dialect,
	                          .budget = conf->budget};
	scan->shm = (const struct ctp_shm_station *)(scan->header + 1);
	scan->map_bytes = n * station_bytes(scan) + buckets * sizeof *scan->passed_ns;
	char *p = mmap(NULL, scan->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return ctp_err_sys(err, "memory for %u stations", conf->max_stations);
	scan->st = (struct ctp_v1_station *)p;
	scan->seen = (struct ctp_v1_station_seen *)(scan->st + n);
	scan->full = (struct ctp_full *)(scan->seen + n);
	scan->passed_ns = (uint64_t *)(scan->full + n);
	scan->hot = (struct ctp_hot *)(scan->passed_ns + buckets);
	scan->ours = (uint32_t *)(scan->hot + n);
	scan->doubted = scan->ours + n;
	scan->doubt_ns = UINT64_MAX;
	ctp_barrier_init(&scan->barrier);
	scan->proof = scan->barrier.usable ? CTP_PROOF_LATER : CTP_PROOF_NOW;
	rows->prove = ctp_v1_doubt_drain;
	rows->prove_arg = scan;
	return CTP_OK;
}

void ctp_v1_scan_fini(struct ctp_v1_scan *scan)
{
	if (!scan->st)
		return;
	ctp_barrier_fini(&scan->barrier);
	munmap(scan->st, scan->map_bytes);
	scan->st = NULL;
}
