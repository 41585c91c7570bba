/*
 * harvest.c - all stations: which to look at now, what of it to write, and what can be promised about time.
 *
 * Hot stations had something in the last HOT_NS; they are looked at in each scan. New ones are hot. The cold ones are looked at
 * by a sweep that goes round in buckets, at a pace of one round in SWEEP_NS as long as that costs no more than SWEEP_SHARE
 * of the time. The dead are looked at when everything is (ctp_harvest_sweep): one that has an event after all, because another
 * process went on with a copy of the coroutine, is hot again. Memory at or beyond allocated_count is never touched, because
 * touching is what allocates it.
 *
 * The mark. It promises that no record before it is still to come, so it may not be later than the oldest look at any station
 * that is alive: the start of the last complete scan for the hot ones, for the cold ones the start of the last pass over the
 * bucket that the sweep comes to next, which has waited longest. That holds marks back by about one round of the sweep, 2 ms,
 * and keeps in order what a coroutine does that wakes after a long rest. Two limits: a probe reads the clock before it
 * publishes, so looks count as INFLIGHT_NS earlier than they were; and where the sweep is slow (a great many stations) a mark
 * is not held back by more than HOLD_NS, because live readers wait for it. What comes later than that is late.
 *
 * Rows in doubt (ctp_station_doubtful) are in the batch already when they are asked about again. They wait in two groups, so
 * that the wait costs nothing while there is more to harvest; the end of a scan waits for what is left. Where one turns out to
 * be spoilt, a record of the loss takes its place.
 */
#include "harvest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "batch.h"
#include "station.h"
#include "tids.h"

#define HOT_NS UINT64_C(100000000)
#define SWEEP_NS UINT64_C(2000000)
#define SAVED_NS UINT64_C(20000000) /* the longest pause that pays for sweeping */
#define HOLD_NS UINT64_C(100000000)
#define INFLIGHT_NS UINT64_C(1000000)
#define AHEAD_NS UINT64_C(1000000000) /* a time that is further ahead of ours is wrong, and no mark needs to reach it */
#define SETTLE_NS UINT64_C(1000000) /* the oldest that waits for a settle, after a scan */

enum {
	BUCKET = 256,     /* stations that the sweep takes at once */
	SWEEP_SHARE = 70, /* it may cost one part in so many of the time */
	AHEAD = 8,        /* stations that are prefetched */
	GROUP = 64,       /* hot stations that are glanced at together */
	VISITS_MAX = 64,  /* to a station that died, or at the end; more than 8 slots can need, so that a liar cannot hold us */
	DOUBTS = 64,      /* runs of rows in a group of those in doubt */
	SPOILT = CTP_EVENT_COUNT, /* in place of a row's event: nothing */
	ROWS_SPARE = CTP_STATION_ROWS + 8, /* room in the batch for one visit and what goes with it */
};

/* Rows of one visit that are in doubt. */
struct run {
	uint64_t base, after_ns; /* number of the first event; time of the one before */
	uint32_t station, row, n;
};

struct doubt {
	struct run runs[DOUBTS];
	uint32_t count;
	uint64_t full_ns; /* when the last was added */
};

/* A hot station, and all that a scan needs to know of it as long as it is quiet: a scan of many begins with a cold cache. */
struct hot {
	const uint64_t *seq; /* of the slot where the next event is due; null: it must be looked at more closely */
	uint64_t idle;       /* what stands there until then */
	uint32_t station, active_ms;
};

struct ctp_harvest {
	struct ctp_harvest_conf conf;
	const struct ctp_shm_header *header;
	const struct ctp_shm_station *shm; /* these four: max_stations of each, of which used are in use */
	struct ctp_station *st;
	struct ctp_station_seen *seen;
	struct hot *hot;
	uint64_t *passed_ns; /* when the sweep last began with this bucket */
	size_t map_bytes;
	uint32_t used, nhot, ncold;

	uint64_t now_ns;    /* when the current look began */
	uint64_t lives_ns;  /* when the last look at all lives began */
	uint64_t sweep_owed, sweep_credit_ns; /* stations to look at; time it may take */
	uint32_t bucket;    /* the sweep's next */
	uint64_t promise_ns, marked_ns, newest_ns, oldest_look_ns;
	uint64_t untraced_said;
	bool gone;

	struct ctp_harvest_stats stats;
	struct ctp_class *cls[CTP_EVENT_COUNT];
	struct ctp_batch batch;
	struct doubt doubt[2]; /* the older, the newer */
	struct ctp_tids tids;
};

static uint64_t clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint32_t ms_of(uint64_t ns) { return (uint32_t)(ns >> 20); } /* near enough */

/* --- records that are not transitions ------------------------------------------------------------------------------------ */

static uint64_t *push(struct ctp_harvest *h, enum ctp_event event, uint64_t ts_ns)
{
	struct ctp_batch *b = &h->batch;
	if (b->count > CTP_BATCH_ROWS - ROWS_SPARE)
		ctp_harvest_settle(h);
	if (!b->count)
		h->oldest_look_ns = h->now_ns;
	b->event[b->count] = (uint8_t)event;
	b->ts_ns[b->count] = ts_ns;
	return b->rows[b->count++].val;
}

/* seen_ns: it was there by then. Where the target's own word on its birth cannot be right, bounds take its place. */
static void push_birth(struct ctp_harvest *h, uint32_t i, uint64_t seen_ns)
{
	struct ctp_station *st = &h->st[i];
	bool said = st->birth_ns && (st->birth_ns <= h->now_ns || st->birth_ns <= clock_ns());
	uint64_t before = said ? st->birth_ns : seen_ns, after = said ? st->birth_ns : st->last_ns;
	uint64_t *val = push(h, CTP_BIRTH, before);
	val[CTP_BIRTH_TS] = before;
	val[CTP_BIRTH_PROBE] = st->probe_id;
	val[CTP_BIRTH_CORO] = st->coro;
	val[CTP_BIRTH_STATION] = i;
	val[CTP_BIRTH_AFTER] = after < before ? after : before;
	val[CTP_BIRTH_BEFORE] = before;
	st->birth_ns = before;
	st->flags |= CTP_STATION_BORN;
	h->stats.births++;
}

static void fill_lost(uint64_t *val, const struct ctp_station *st, uint64_t index, uint64_t count, uint64_t unverified,
                      uint64_t after_ns, uint64_t ts_ns)
{
	val[CTP_LOST_TS] = ts_ns;
	val[CTP_LOST_PROBE] = st->probe_id;
	val[CTP_LOST_CORO] = st->coro;
	val[CTP_LOST_INDEX] = index;
	val[CTP_LOST_COUNT] = count;
	val[CTP_LOST_UNVERIFIED] = unverified;
	val[CTP_LOST_AFTER] = after_ns < ts_ns ? after_ns : ts_ns;
}

/* The gap before event number next. */
static void push_lost(struct ctp_harvest *h, struct ctp_station *st, uint64_t next, uint64_t ts_ns)
{
	uint64_t index = next > st->gap ? next - st->gap : 0;
	fill_lost(push(h, CTP_LOST, ts_ns), st, index, st->gap, st->gap_unverified, st->last_ns, ts_ns);
	st->gap = 0;
	st->gap_unverified = 0;
}

static void push_death(struct ctp_harvest *h, struct ctp_station *st)
{
	uint64_t before = clock_ns(), after = h->lives_ns;
	after = after > st->last_ns ? after : st->last_ns;
	after = after > st->birth_ns ? after : st->birth_ns;
	uint64_t *val = push(h, CTP_DEATH, before);
	val[CTP_DEATH_TS] = before;
	val[CTP_DEATH_PROBE] = st->probe_id;
	val[CTP_DEATH_CORO] = st->coro;
	val[CTP_DEATH_AFTER] = after < before ? after : before;
	val[CTP_DEATH_BEFORE] = before;
	st->flags |= CTP_STATION_DEAD;
	if (!(st->flags & CTP_STATION_HOT))
		h->ncold--;
	h->stats.deaths++;
}

static void push_conflict(struct ctp_harvest *h, struct ctp_station *st)
{
	uint64_t *val = push(h, CTP_CONFLICT, h->now_ns);
	val[CTP_CONFLICT_TS] = h->now_ns;
	val[CTP_CONFLICT_PROBE] = st->probe_id;
	val[CTP_CONFLICT_CORO] = st->coro;
	st->flags |= CTP_STATION_FLAGGED;
	h->stats.conflicts++;
}

static void push_untraced(struct ctp_harvest *h)
{
	if (h->stats.untraced == h->untraced_said)
		return;
	uint64_t *val = push(h, CTP_UNTRACED, h->now_ns);
	val[CTP_UNTRACED_TS] = h->now_ns;
	val[CTP_UNTRACED_COUNT] = h->untraced_said = h->stats.untraced;
}

/* --- rows in doubt ------------------------------------------------------------------------------------------------------- */

static void recheck(struct ctp_harvest *h, const struct run *run)
{
	struct ctp_station *st = &h->st[run->station];
	struct ctp_batch *b = &h->batch;
	unsigned unverified, bad = ctp_station_recheck(st, &h->shm[run->station], run->base, run->n, &unverified);
	if (!bad)
		return;
	h->stats.events -= bad;
	h->stats.lost += bad;
	h->stats.unverified += unverified;
	memset(&b->event[run->row], SPOILT, bad);
	if (bad == run->n && st->next == run->base + bad) {
		st->gap += bad; /* the record stands before the next row, as always */
		st->gap_unverified += unverified;
		st->last_ns = run->after_ns;
		return;
	}
	uint32_t at = run->row + bad - 1;
	uint64_t ts_ns = bad < run->n ? b->ts_ns[at + 1] : h->now_ns;
	b->event[at] = CTP_LOST;
	b->ts_ns[at] = ts_ns;
	fill_lost(b->rows[at].val, st, run->base, bad, unverified, run->after_ns, ts_ns);
}

static void resolve(struct ctp_harvest *h, struct doubt *d)
{
	while (d->count && clock_ns() - d->full_ns < CTP_STATION_DRAIN_NS)
		;
	for (uint32_t k = 0; k < d->count; k++)
		recheck(h, &d->runs[k]);
	d->count = 0;
}

static void resolve_all(struct ctp_harvest *h)
{
	if (h->doubt[1].count)
		h->doubt[1].full_ns = clock_ns();
	resolve(h, &h->doubt[0]);
	resolve(h, &h->doubt[1]);
}

static void doubt(struct ctp_harvest *h, const struct run *run)
{
	struct doubt *d = &h->doubt[1];
	if (d->count == DOUBTS) {
		d->full_ns = clock_ns();
		resolve(h, &h->doubt[0]);
		h->doubt[0] = *d;
		d->count = 0;
	}
	d->runs[d->count++] = *run;
}

/* --- one station --------------------------------------------------------------------------------------------------------- */

/* Where the station's next event will be seen. If it is visited by another way meanwhile, that place shows a change too. */
static void watch(const struct ctp_harvest *h, struct hot *hot)
{
	const struct ctp_station *st = &h->st[hot->station];
	hot->seq = NULL;
	if ((st->flags & (CTP_STATION_KNOWN | CTP_STATION_CONFLICT)) == CTP_STATION_KNOWN) {
		hot->seq = &h->shm[hot->station].slots[ctp_station_slot(st, st->next)].seq;
		hot->idle = ctp_station_idle(st, st->next);
	}
}

static void heat(struct ctp_harvest *h, uint32_t i)
{
	struct ctp_station *st = &h->st[i];
	if (st->flags & CTP_STATION_HOT)
		return;
	if (!(st->flags & CTP_STATION_DEAD))
		h->ncold--;
	st->flags |= CTP_STATION_HOT;
	h->hot[h->nhot] = (struct hot){.station = i, .active_ms = ms_of(h->now_ns)};
	watch(h, &h->hot[h->nhot++]);
}

/* n rows of a station stand behind the batch's end, not yet counted: takes them in, after what has to stand before them. */
static void take_rows(struct ctp_harvest *h, uint32_t i, unsigned n)
{
	struct ctp_station *st = &h->st[i];
	struct ctp_batch *b = &h->batch;
	if (!(st->flags & CTP_STATION_BORN) || st->gap) {
		struct ctp_row rows[CTP_STATION_ROWS];
		memcpy(rows, &b->rows[b->count], n * sizeof(*rows));
		uint64_t first_ns = rows[0].val[CTP_TRANSITION_TS];
		if (!(st->flags & CTP_STATION_BORN))
			push_birth(h, i, first_ns < h->now_ns ? first_ns : h->now_ns);
		if (st->gap)
			push_lost(h, st, rows[0].val[CTP_TRANSITION_INDEX], first_ns);
		memcpy(&b->rows[b->count], rows, n * sizeof(*rows));
	}
	if (!b->count)
		h->oldest_look_ns = h->now_ns;
	if (ctp_station_doubtful(st) && !h->gone && !(st->flags & CTP_STATION_CONFLICT))
		doubt(h, &(struct run){st->next - n, st->last_ns, i, b->count, n});
	for (unsigned r = 0; r < n; r++) {
		b->event[b->count] = CTP_TRANSITION;
		b->ts_ns[b->count] = b->rows[b->count].val[CTP_TRANSITION_TS];
		b->count++;
	}
	st->last_ns = b->ts_ns[b->count - 1];
	h->stats.events += n;
}

/* Returns what was found, lost events included. */
static unsigned visit(struct ctp_harvest *h, uint32_t i)
{
	struct ctp_station *st = &h->st[i];
	if (h->batch.count > CTP_BATCH_ROWS - ROWS_SPARE)
		ctp_harvest_settle(h);
	uint64_t gap = st->gap, unverified = st->gap_unverified;
	unsigned n = ctp_station_visit(st, &h->shm[i], &h->seen[i], h->gone, &h->batch.rows[h->batch.count]);
	uint64_t lost = st->gap - gap;
	h->stats.lost += lost;
	h->stats.unverified += st->gap_unverified - unverified;
	if (n)
		take_rows(h, i, n);
	if ((st->flags & (CTP_STATION_CONFLICT | CTP_STATION_FLAGGED)) == CTP_STATION_CONFLICT)
		push_conflict(h, st);
	return n + (lost < UINT32_MAX / 2 ? (unsigned)lost : UINT32_MAX / 2);
}

static void visit_all(struct ctp_harvest *h, uint32_t i)
{
	for (unsigned tries = 0; tries < VISITS_MAX && visit(h, i); tries++)
		;
}

/*
 * Without an event nothing orders the header before what we see. What the target announces was written after it; else it is
 * believed when both words are there and are the same at two looks.
 */
static bool header_whole(struct ctp_station *st, const struct ctp_shm_station *shm)
{
	uint64_t announce = __atomic_load_n(&shm->announce, __ATOMIC_ACQUIRE);
	uint64_t probe_id = __atomic_load_n(&shm->probe_id, __ATOMIC_RELAXED);
	uint64_t birth_ns = __atomic_load_n(&shm->birth_ts, __ATOMIC_RELAXED);
	bool same = probe_id && birth_ns && probe_id == st->probe_id && birth_ns == st->birth_ns;
	st->probe_id = probe_id;
	st->birth_ns = birth_ns;
	return same || CTP_ANNOUNCE_IS(announce);
}

static unsigned look(struct ctp_harvest *h, uint32_t i, bool quiet)
{
	struct ctp_station *st = &h->st[i];
	unsigned found = quiet ? 0 : visit(h, i);
	if (!(st->flags & (CTP_STATION_BORN | CTP_STATION_KNOWN)) && header_whole(st, &h->shm[i]))
		push_birth(h, i, h->now_ns);
	return found;
}

/* --- looking at many ----------------------------------------------------------------------------------------------------- */

static void prefetch(const struct ctp_harvest *h, uint32_t i)
{
	const struct ctp_station *st = &h->st[i];
	__builtin_prefetch(&h->shm[i].slots[ctp_station_slot(st, st->next)]);
}

/* Takes in the stations that were allocated since the last look. */
static void adopt(struct ctp_harvest *h, uint64_t before_ns)
{
	uint32_t count = __atomic_load_n(&h->header->allocated_count, __ATOMIC_ACQUIRE);
	uint32_t max = h->conf.max_stations;
	if (count > max && count - max > h->stats.untraced)
		h->stats.untraced = count - max;
	count = count < max ? count : max;
	for (; h->used < count; h->used++) {
		uint32_t i = h->used;
		struct ctp_station *st = &h->st[i];
		if (i % BUCKET == 0)
			h->passed_ns[i / BUCKET] = h->now_ns;
		st->dialect = (uint8_t)h->conf.dialect;
		st->coro = i + 1;
		st->last_ns = before_ns;
		h->ncold++;
		heat(h, i);
		if (header_whole(st, &h->shm[i]))
			push_birth(h, i, h->now_ns);
	}
	h->stats.stations = h->used;
}

/*
 * In groups: first one load for each station, then the visits. A visit has barriers, and behind each of them a load that the
 * writer's cache must answer would be waited for by itself; without barriers between them many are under way at once.
 */
static void glance(const struct ctp_harvest *h, const struct hot *hot, uint32_t n, bool *quiet)
{
	for (uint32_t k = 0; k < n; k++)
		quiet[k] = hot[k].seq && __atomic_load_n(hot[k].seq, __ATOMIC_RELAXED) == hot[k].idle;
	for (uint32_t k = 0; k < n; k++) {
		if (quiet[k])
			continue;
		const struct ctp_station *st = &h->st[hot[k].station];
		const struct ctp_shm_slot *slots = h->shm[hot[k].station].slots; /* two that the visit will look at besides */
		__builtin_prefetch(&slots[ctp_station_slot(st, st->next + 1)]);
		__builtin_prefetch(&slots[ctp_station_slot(st, st->next + CTP_SHM_SLOTS - 1)]);
	}
}

/* One that is not quiet, or not known to be. Returns what was found. */
static unsigned look_closely(struct ctp_harvest *h, struct hot *hot)
{
	uint32_t i = hot->station;
	unsigned found = look(h, i, !hot->seq && ctp_station_quiet(&h->st[i], &h->shm[i]));
	if (found)
		hot->active_ms = ms_of(h->now_ns);
	watch(h, hot);
	return found;
}

static size_t scan_hot(struct ctp_harvest *h, unsigned *busiest)
{
	size_t total = 0;
	uint32_t kept = 0, n = h->nhot, now_ms = ms_of(h->now_ns);
	bool quiet[GROUP];
	for (uint32_t k = 0; k < n; k++) {
		struct hot *hot = &h->hot[k];
		if (k % GROUP == 0)
			glance(h, hot, n - k < GROUP ? n - k : GROUP, quiet);
		if (!quiet[k % GROUP]) {
			unsigned found = look_closely(h, hot);
			total += found;
			*busiest = found > *busiest ? found : *busiest;
		}
		if (now_ms - hot->active_ms > ms_of(HOT_NS)) {
			struct ctp_station *st = &h->st[hot->station];
			st->flags &= (uint8_t)~CTP_STATION_HOT;
			h->ncold += !(st->flags & CTP_STATION_DEAD);
			continue;
		}
		if (kept != k)
			h->hot[kept] = *hot;
		kept++;
	}
	h->nhot = kept;
	return total;
}

/* One bucket of the sweep; with_dead: of everything that is not hot. */
static size_t sweep_bucket(struct ctp_harvest *h, uint32_t bucket, bool with_dead, unsigned *busiest)
{
	size_t total = 0;
	unsigned skip = CTP_STATION_HOT | (with_dead ? 0 : CTP_STATION_DEAD);
	uint32_t i = bucket * BUCKET, stop = h->used - i < BUCKET ? h->used : i + BUCKET;
	for (; i < stop; i++) {
		if (i + AHEAD < stop && !(h->st[i + AHEAD].flags & skip))
			prefetch(h, i + AHEAD);
		if (h->st[i].flags & skip)
			continue;
		unsigned found = look(h, i, ctp_station_quiet(&h->st[i], &h->shm[i]));
		if (found) {
			total += found;
			*busiest = found > *busiest ? found : *busiest;
			heat(h, i);
		}
	}
	return total;
}

static uint32_t bucket_count(const struct ctp_harvest *h) { return (h->used + BUCKET - 1) / BUCKET; }

/* As much of the sweep as is due since the last scan and paid for. */
static size_t sweep_some(struct ctp_harvest *h, uint64_t since_ns, unsigned *busiest)
{
	size_t total = 0;
	uint64_t elapsed = since_ns < SAVED_NS ? since_ns : SAVED_NS, start = 0;
	uint32_t chunk = h->used < BUCKET ? h->used : BUCKET;
	h->sweep_owed += h->used * elapsed;
	h->sweep_credit_ns += elapsed / SWEEP_SHARE;
	if (!h->ncold) {
		h->sweep_owed = h->sweep_credit_ns = 0;
		return 0;
	}
	while (h->sweep_owed >= chunk * SWEEP_NS && h->sweep_credit_ns) {
		start = start ? start : clock_ns();
		h->bucket = h->bucket < bucket_count(h) ? h->bucket : 0;
		total += sweep_bucket(h, h->bucket, false, busiest);
		h->passed_ns[h->bucket] = start;
		h->bucket = (h->bucket + 1) % bucket_count(h);
		h->sweep_owed -= chunk * SWEEP_NS;
		uint64_t stop = clock_ns(), cost = stop - start;
		h->sweep_credit_ns -= cost < h->sweep_credit_ns ? cost : h->sweep_credit_ns;
		start = stop;
	}
	if (h->sweep_owed > h->used * SWEEP_NS)
		h->sweep_owed = h->used * SWEEP_NS;
	if (h->sweep_credit_ns > SAVED_NS / SWEEP_SHARE)
		h->sweep_credit_ns = SAVED_NS / SWEEP_SHARE;
	return total;
}

/* After a complete look at the hot stations that began at h->now_ns. */
static void promise(struct ctp_harvest *h)
{
	uint64_t oldest = h->now_ns;
	if (h->ncold && h->passed_ns[h->bucket] < oldest)
		oldest = h->passed_ns[h->bucket];
	oldest = oldest > INFLIGHT_NS ? oldest - INFLIGHT_NS : 0;
	if (h->now_ns > HOLD_NS && oldest < h->now_ns - HOLD_NS)
		oldest = h->now_ns - HOLD_NS;
	h->promise_ns = oldest > h->promise_ns ? oldest : h->promise_ns;
}

size_t ctp_harvest_scan(struct ctp_harvest *h, unsigned *busiest)
{
	unsigned most = 0;
	uint64_t before_ns = h->now_ns;
	h->now_ns = clock_ns();
	adopt(h, before_ns);
	size_t total = scan_hot(h, &most);
	total += sweep_some(h, h->now_ns - before_ns, &most);
	resolve_all(h);
	promise(h);
	if (h->batch.count && h->now_ns - h->oldest_look_ns >= SETTLE_NS)
		ctp_harvest_settle(h);
	if (busiest)
		*busiest = most;
	return total;
}

size_t ctp_harvest_sweep(struct ctp_harvest *h)
{
	unsigned most = 0;
	uint64_t before_ns = h->now_ns;
	h->now_ns = clock_ns();
	adopt(h, before_ns);
	size_t total = scan_hot(h, &most);
	for (uint32_t b = 0; b < bucket_count(h); b++) {
		total += sweep_bucket(h, b, true, &most);
		h->passed_ns[b] = h->now_ns;
	}
	resolve_all(h);
	h->bucket = 0;
	h->sweep_owed = 0;
	promise(h);
	return total;
}

/* --- births and deaths, the end ------------------------------------------------------------------------------------------ */

void ctp_harvest_lives(struct ctp_harvest *h)
{
	uint64_t start = clock_ns();
	for (uint32_t i = 0; i < h->used; i++) {
		struct ctp_station *st = &h->st[i];
		if (i + AHEAD < h->used && !(st[AHEAD].flags & CTP_STATION_DEAD))
			__builtin_prefetch(&h->shm[i + AHEAD]);
		if (st->flags & CTP_STATION_DEAD)
			continue;
		bool born = st->flags & (CTP_STATION_BORN | CTP_STATION_KNOWN) || header_whole(st, &h->shm[i]);
		/* Pairs with nothing, for it is a plain store; but what we load behind it is not older. */
		if (__atomic_load_n(&h->shm[i].is_dead, __ATOMIC_ACQUIRE)) {
			visit_all(h, i);
			resolve_all(h); /* or a loss could come to light after the death */
			if (!(st->flags & CTP_STATION_BORN))
				push_birth(h, i, h->now_ns);
			if (st->gap)
				push_lost(h, st, st->next, clock_ns());
			push_death(h, st);
		} else if (born && !(st->flags & (CTP_STATION_BORN | CTP_STATION_KNOWN))) {
			push_birth(h, i, h->now_ns);
		}
	}
	h->lives_ns = start;
	push_untraced(h);
}

void ctp_harvest_last(struct ctp_harvest *h, bool gone)
{
	h->gone = gone;
	ctp_harvest_sweep(h);
	for (uint32_t i = 0; i < h->used; i++) {
		visit_all(h, i);
		ctp_station_audit(&h->st[i], &h->shm[i], &h->seen[i]);
		visit_all(h, i);
	}
	ctp_harvest_lives(h);
	for (uint32_t i = 0; i < h->used; i++) {
		struct ctp_station *st = &h->st[i];
		if (!(st->flags & CTP_STATION_BORN) && (st->probe_id || st->birth_ns || st->flags & CTP_STATION_KNOWN))
			push_birth(h, i, h->now_ns);
		if (st->gap)
			push_lost(h, st, st->next, clock_ns());
	}
	ctp_harvest_settle(h);
}

/* --- settling ------------------------------------------------------------------------------------------------------------ */

void ctp_harvest_settle(struct ctp_harvest *h)
{
	struct ctp_batch *b = &h->batch;
	struct ctp_writer *w = h->conf.writer;
	resolve_all(h);
	ctp_batch_sort(b, h->now_ns);
	for (uint32_t k = 0; k < b->count; k++) {
		if (k + AHEAD < b->count)
			__builtin_prefetch(&b->rows[ctp_batch_at(b, k + AHEAD)]);
		uint32_t r = ctp_batch_at(b, k);
		const uint64_t *val = b->rows[r].val;
		if (b->event[r] == SPOILT)
			continue;
		if (b->event[r] == CTP_TRANSITION && ctp_tids_add(&h->tids, val[CTP_TRANSITION_TID]) && h->conf.new_thread)
			h->conf.new_thread(h->conf.arg, val[CTP_TRANSITION_TID]);
		ctp_writer_record(w, h->cls[b->event[r]], val);
		if (b->ts_ns[r] > h->newest_ns && b->ts_ns[r] <= h->now_ns + AHEAD_NS)
			h->newest_ns = b->ts_ns[r];
	}
	b->count = 0;
	/* Once a mark is beyond all that was written, no reader waits for another. */
	if (h->promise_ns > h->marked_ns && h->newest_ns >= h->marked_ns) {
		ctp_writer_mark(w, h->promise_ns);
		h->marked_ns = h->promise_ns;
	}
}

size_t ctp_harvest_unsettled(const struct ctp_harvest *h) { return h->batch.count; }
const struct ctp_harvest_stats *ctp_harvest_stats(const struct ctp_harvest *h) { return &h->stats; }

/* --- making and freeing -------------------------------------------------------------------------------------------------- */

/* One mapping for all that there is of each station; pages come as stations do. */
static bool map_stations(struct ctp_harvest *h)
{
	size_t n = h->conf.max_stations, buckets = n / BUCKET + 1;
	h->map_bytes = n * (sizeof(*h->st) + sizeof(*h->seen) + sizeof(*h->hot)) + buckets * sizeof(*h->passed_ns);
	char *p = mmap(NULL, h->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	h->st = (struct ctp_station *)p;
	h->seen = (struct ctp_station_seen *)(h->st + n);
	h->passed_ns = (uint64_t *)(h->seen + n);
	h->hot = (struct hot *)(h->passed_ns + buckets);
	return true;
}

struct ctp_harvest *ctp_harvest_new(const struct ctp_harvest_conf *conf, struct ctp_err *err)
{
	static const enum ctp_event events[] = {CTP_TRANSITION, CTP_BIRTH, CTP_DEATH, CTP_LOST, CTP_UNTRACED, CTP_CONFLICT};
	struct ctp_harvest *h = calloc(1, sizeof(*h));
	if (!h) {
		ctp_err_set(err, "out of memory");
		return NULL;
	}
	h->conf = *conf;
	h->header = conf->shm;
	h->shm = (const struct ctp_shm_station *)((const char *)conf->shm + sizeof(*h->header));
	h->now_ns = clock_ns();
	if (!map_stations(h)) {
		ctp_err_sys(err, "memory for %u stations", conf->max_stations);
		goto fail;
	}
	if (ctp_batch_init(&h->batch, err) != CTP_OK)
		goto fail;
	for (unsigned e = 0; e < sizeof(events) / sizeof(*events); e++) {
		h->cls[events[e]] = ctp_event_class(events[e]);
		if (!h->cls[events[e]]) {
			ctp_err_set(err, "out of memory");
			goto fail;
		}
	}
	return h;
fail:
	ctp_harvest_free(h);
	return NULL;
}

void ctp_harvest_free(struct ctp_harvest *h)
{
	if (!h)
		return;
	for (unsigned e = 0; e < CTP_EVENT_COUNT; e++)
		if (h->cls[e])
			ctp_class_free(h->cls[e]);
	ctp_batch_fini(&h->batch);
	if (h->st)
		munmap(h->st, h->map_bytes);
	free(h);
}
