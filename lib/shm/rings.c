/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rings.c - reads the rings, each against one writer that never waits (or for a while, where it was asked to).
 *
 *	writer                                          reader
 *	store entry (relaxed)                           load head (acquire)              pairs with 1
 *	store head + 1 (release)                1       copy entries (relaxed)
 *	load tail (acquire), if it seems full   2       store tail (release)             pairs with 2
 *
 * A reader that sees a head sees the entries below it; a writer that sees a tail knows that the copies below it are done.
 *
 * An entry must not come out before one on another thread that caused it. All heads are loaded when a look begins, one after
 * the other, so that the later ones know more. A probe reads the clock before it publishes: an entry that is not newer than the
 * beginning of the look was caused by nothing that the look could miss. So a look takes the entries that are not newer than
 * itself, and leaves the rest for the next. (That is only as exact as the clocks are. A caller that must not be wrong asks again when
 * two more rounds are over.) A writer whose clock is ahead is not waited for: what was there at the look before is taken.
 *
 * A skip is numbers that the writer leaves out, to go back to the beginning of its ring, or over entries that we have not taken
 * there (ctp.h). Its two words are stored before a head after them, and stored again only when the writer has seen our tail
 * after them. So a pair of words that lies between tail and head is one skip; any other pair, half or wholly, is past or to
 * come. Proved in t/proof (ring.v): ring_race_free, ring_fifo, ring_all, ring_never_anew; told_no_more, of the counts of losses, which
 * are loaded after the head. t/model/skips.pml also has what comes from a thread to the next owner of its ring.
 *
 * A ring whose numbers make no sense has a hostile writer. The ring begins anew where its head is, and what it held is dropped.
 */
#include "shm/rings.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"

enum {
	SHARE_MIN = 8,    /* of a slice, for each ring */
	MANY = 64,        /* rings */
	WIDEN_TRIES = 24, /* to find where a slice ends */
};

static void read_clock(struct ctp_rings *r)
{
	if (r->arena.clock == CTP_CLOCK_RAW) {
		ctp_rawclock_take(&r->clock);
		const struct ctp_rawline *line = ctp_rawclock_newest(&r->clock);
		r->now_raw = line->stop_raw;
		r->now_ns = line->stop_ns;
		r->line = line;
	} else {
		r->now_ns = ctp_clock_ns();
	}
}

/* --- looking -------------------------------------------------------------------------------------------------------------- */

static bool is_raw(const struct ctp_rings *r, const struct ctp_shm_ring *shm)
{
	return __atomic_load_n(&shm->clock, __ATOMIC_RELAXED) == CTP_CLOCK_RAW && r->arena.clock == CTP_CLOCK_RAW;
}

static void adopt(const struct ctp_rings *r, const struct ctp_shm_ring *shm, struct ctp_ring *ring)
{
	ring->owner = __atomic_load_n(&shm->owner, __ATOMIC_RELAXED);
	ring->raw = is_raw(r, shm);
	ring->tail = ring->told = ring->head = ring->round = __atomic_load_n(&shm->tail, __ATOMIC_RELAXED);
	ring->told_events = __atomic_load_n(&shm->said_events, __ATOMIC_RELAXED);
	ring->told_notes = __atomic_load_n(&shm->said_notes, __ATOMIC_RELAXED);
	ring->known = true;
}

static const struct ctp_skip none = {0, 0};
static bool is_skip(const struct ctp_skip *s) { return s->from != s->to; }

static struct ctp_skip see_skip(const struct ctp_ring *ring, uint64_t first, const uint64_t *from, const uint64_t *to)
{
	struct ctp_skip s = {__atomic_load_n(from, __ATOMIC_RELAXED), __atomic_load_n(to, __ATOMIC_RELAXED)};
	return s.from - first < s.to - first && s.to - first <= ring->head - first ? s : none;
}

static void see_skips(struct ctp_ring *ring, const struct ctp_shm_ring *shm)
{
	struct ctp_skip back = see_skip(ring, ring->tail, &shm->back_from, &shm->back_to);
	struct ctp_skip over = see_skip(ring, is_skip(&back) ? back.to : ring->tail, &shm->over_from, &shm->over_to);
	ring->skips[0] = is_skip(&back) ? back : over;
	ring->skips[1] = is_skip(&back) ? over : none;
}

/* The number of the entry that comes `after` entries after the next to be taken. */
static uint64_t number_after(const struct ctp_ring *ring, uint64_t after)
{
	uint64_t number = ring->tail + after;
	for (unsigned k = 0; k < 2; k++)
		if (number - ring->tail >= ring->skips[k].from - ring->tail)
			number += ring->skips[k].to - ring->skips[k].from;
	return number;
}

static void look_at(struct ctp_rings *r, uint32_t i)
{
	struct ctp_shm_ring *shm = &r->arena.rings[i];
	struct ctp_ring *ring = &r->rings[i];
	if (!ring->known)
		adopt(r, shm, ring);
	ring->due = ring->head;
	ring->head = __atomic_load_n(&shm->head, __ATOMIC_ACQUIRE); /* pairs with 1 above */
	ring->lost_events = __atomic_load_n(&shm->lost_events, __ATOMIC_RELAXED);
	ring->lost_notes = __atomic_load_n(&shm->lost_notes, __ATOMIC_RELAXED);
	r->lost += ring->lost_events + ring->lost_notes;
	see_skips(ring, shm);
	uint64_t there = ctp_ring_count(ring);
	if (there > UINT64_C(1) << r->arena.geo.ring_bits) {
		ring->tail = ring->told = ring->due = ring->round = ring->head;
		__atomic_store_n(&shm->tail, ring->tail, __ATOMIC_RELEASE); /* pairs with 2, if with anything */
		see_skips(ring, shm);
		there = 0;
	}
	if (!r->in_round)
		ring->round = ring->head;
	unsigned fill = (unsigned)(there << 8 >> r->arena.geo.ring_bits);
	r->fill = fill > r->fill ? fill : r->fill;
	r->left += there;
}

uint64_t ctp_rings_look(struct ctp_rings *r, bool all)
{
	uint32_t used = __atomic_load_n(&r->arena.header->rings_used, __ATOMIC_RELAXED); /* a ring's head orders the rest */
	used = used < r->arena.geo.max_rings ? used : r->arena.geo.max_rings;
	r->used = used > r->used ? used : r->used;
	read_clock(r);
	r->fill = 0;
	r->left = r->lost = 0;
	for (uint32_t i = 0; i < r->used; i++)
		look_at(r, i);
	r->in_round = true;
	r->all = all;
	r->took = true;
	r->horizon_ns = r->now_ns;
	assert(r->used <= r->arena.geo.max_rings);
	return r->left;
}

enum ctp_status ctp_rings_init(struct ctp_rings *r, void *shm, size_t bytes, struct ctp_err *err)
{
	*r = (struct ctp_rings){.used = 0};
	if (ctp_arena_find(&r->arena, shm, bytes, err))
		return CTP_EOF;
	if (r->arena.clock == CTP_CLOCK_RAW && !ctp_rawclock_usable())
		r->arena.clock = CTP_CLOCK_MONOTONIC; /* it was made in other circumstances: raw times have no meaning */
	if (r->arena.clock == CTP_CLOCK_RAW)
		ctp_rawclock_init(&r->clock, r->arena.made_raw, r->arena.made_ns);
	read_clock(r);
	r->rings = calloc(r->arena.geo.max_rings ? r->arena.geo.max_rings : 1, sizeof *r->rings);
	if (!r->rings)
		return ctp_err_memory(err);
	ctp_rings_look(r, false);
	for (uint32_t i = 0; i < r->used; i++) {
		struct ctp_ring *ring = &r->rings[i];
		ring->lost_before = ring->lost_events;
		ring->events_before = ring->lost_events - ring->told_events;
		ring->notes_before = ring->lost_notes - ring->told_notes;
		ring->told_events = ring->lost_events;
		ring->told_notes = ring->lost_notes;
	}
	return CTP_OK;
}

void ctp_rings_fini(struct ctp_rings *r)
{
	free(r->rings);
	r->rings = NULL;
}

/* --- taking --------------------------------------------------------------------------------------------------------------- */

static const struct ctp_shm_entry *entry_at(const struct ctp_rings *r, uint32_t i, uint64_t number)
{
	uint64_t mask = (UINT64_C(1) << r->arena.geo.ring_bits) - 1;
	return &r->arena.entries[((uint64_t)i << r->arena.geo.ring_bits) + (number & mask)];
}

/*
 * The time of an entry; UINT64_MAX: it is newer than the look, and can wait. line: of the counter, near the one that is needed.
 */
static inline uint64_t entry_ns(const struct ctp_rings *r, const struct ctp_ring *ring, uint64_t number, uint64_t ts,
                                const struct ctp_rawline **line)
{
	uint64_t ns = r->now_ns;
	if (__builtin_expect(ctp_rings_newer(r, ts, ring->raw), 0)) {
		if (!r->all && (int64_t)(number - ring->due) >= 0)
			return UINT64_MAX;
	} else if (ring->raw) {
		if (__builtin_expect(!ctp_rawline_has(*line, ts), 0))
			*line = ctp_rawclock_line(&r->clock, ts);
		ns = ctp_rawline_ns(*line, ts);
	} else {
		ns = ts;
	}
	return ns > ring->last_ns ? ns : ring->last_ns;
}

void ctp_rings_finish(struct ctp_rings *r)
{
	r->left = 0;
	bool over = true;
	for (uint32_t i = 0; i < r->used; i++) {
		const struct ctp_ring *ring = &r->rings[i];
		r->left += ctp_ring_count(ring);
		over &= (int64_t)(ring->tail - ring->round) >= 0;
	}
	if (over) {
		r->rounds++;
		r->in_round = false; /* the next one begins with the next look */
	}
}

/* Time of the entry that comes `after` entries after the next of ring i. */
static uint64_t ns_after(const struct ctp_rings *r, uint32_t i, uint64_t after)
{
	const struct ctp_ring *ring = &r->rings[i];
	const struct ctp_rawline *line = ctp_rawclock_newest(&r->clock);
	uint64_t number = number_after(ring, after);
	return entry_ns(r, ring, number, __atomic_load_n(&entry_at(r, i, number)->ts, __ATOMIC_RELAXED), &line);
}

/* How many entries of ring i are not later than ns, SLICE at most. If its times are not in order: any number. */
static uint64_t count_upto(const struct ctp_rings *r, uint32_t i, uint64_t ns)
{
	uint64_t n = ctp_ring_count(&r->rings[i]), k;
	CTP_ARRAY_FIRST(k, n < CTP_RINGS_SLICE ? n : CTP_RINGS_SLICE, ns_after(r, i, k) > ns);
	return k;
}

/* Whether a slice that ends at ns has no more than `most` entries. */
static bool fits(const struct ctp_rings *r, uint64_t ns, uint64_t most)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < r->used && sum <= most; i++)
		sum += count_upto(r, i, ns);
	return sum <= most;
}

/*
 * Where there are many rings, the one that is ahead with its share may leave the others nothing: then a slice has a few entries, and
 * to look at all rings for each is dear. So the horizon is moved as far as the slice has room, and the shares with it.
 */
static void widen(struct ctp_rings *r)
{
	uint64_t low = r->horizon_ns, high = r->now_ns;
	if (!fits(r, low, CTP_RINGS_SLICE / 2))
		return;
	if (fits(r, high, CTP_RINGS_SLICE))
		low = high;
	for (unsigned tries = 0; tries < WIDEN_TRIES && high - low > 1; tries++) {
		uint64_t middle = low + (high - low) / 2;
		*(fits(r, middle, CTP_RINGS_SLICE) ? &low : &high) = middle;
	}
	r->horizon_ns = low;
	for (uint32_t i = 0; i < r->used; i++) {
		uint64_t upto = count_upto(r, i, low);
		if (upto > r->rings[i].share)
			r->rings[i].share = (uint16_t)upto;
	}
}

bool ctp_rings_slice(struct ctp_rings *r)
{
	uint32_t busy = 0;
	for (uint32_t i = 0; i < r->used; i++)
		busy += r->rings[i].tail != r->rings[i].head;
	bool stuck = !r->took; /* the times go up and down, as no clock does, or all are newer than the look */
	if (!busy || (stuck && r->horizon_ns == r->now_ns))
		return false;
	r->busy = busy;
	uint16_t share = (uint16_t)(busy < CTP_RINGS_SLICE / SHARE_MIN ? CTP_RINGS_SLICE / busy : SHARE_MIN);
	assert(share);
	r->horizon_ns = r->now_ns;
	for (uint32_t i = 0; i < r->used; i++) {
		struct ctp_ring *ring = &r->rings[i];
		ring->share = share;
		if (stuck || ctp_ring_count(ring) <= share)
			continue;
		uint64_t ns = ns_after(r, i, share - 1);
		r->horizon_ns = ns < r->horizon_ns ? ns : r->horizon_ns;
	}
	if (!stuck && busy >= MANY && r->horizon_ns < r->now_ns)
		widen(r);
	r->at = 0;
	r->took = false;
	assert(r->horizon_ns <= r->now_ns && r->busy <= r->used);
	return true;
}

/* Another thread writes from here on, with its own sort of clock. */
static void take_thread(struct ctp_rings *r, uint32_t i, const struct ctp_shm_entry *entry)
{
	r->rings[i].former = r->rings[i].owner;
	r->rings[i].owner = __atomic_load_n(&entry->value, __ATOMIC_RELAXED);
	r->rings[i].raw = is_raw(r, &r->arena.rings[i]);
}

/* Whether there is another entry, at tail. */
static inline bool has_next(struct ctp_ring *ring)
{
	while (__builtin_expect(ring->tail == ring->skips[0].from, 0) && is_skip(&ring->skips[0])) {
		ring->skipped = ring->skips[0];
		ring->tail = ring->skips[0].to;
		ring->skips[0] = ring->skips[1];
		ring->skips[1] = none;
	}
	return ring->tail != ring->head;
}

/* Passes the entries that are for the reader of the ring alone. */
static void take_threads(struct ctp_rings *r, uint32_t i)
{
	struct ctp_ring *ring = &r->rings[i];
	for (; ring->share && has_next(ring); ring->tail++, ring->share--) {
		const struct ctp_shm_entry *entry = entry_at(r, i, ring->tail);
		if (CTP_ENTRY_KIND(__atomic_load_n(&entry->what, __ATOMIC_RELAXED)) != CTP_ENTRY_THREAD)
			return;
		take_thread(r, i, entry);
	}
}

/*
 * The line that most times of a ring are on, all of it not newer than the look. Where they are ns already, that is each of
 * these.
 */
static struct ctp_rawline usual_line(const struct ctp_rings *r, const struct ctp_ring *ring)
{
	if (ring->raw)
		return *r->line;
	return (struct ctp_rawline){.slope = UINT64_C(1) << 32, .stop_raw = r->now_ns, .stop_ns = r->now_ns};
}

static unsigned take_from(struct ctp_rings *r, uint32_t i, struct ctp_ring_entry *out)
{
	struct ctp_ring *ring = &r->rings[i];
	take_threads(r, i);
	const struct ctp_shm_entry *entries = entry_at(r, i, 0);
	const uint64_t mask = (UINT64_C(1) << r->arena.geo.ring_bits) - 1, tail = ring->tail, horizon_ns = r->horizon_ns;
	struct ctp_rawline usual = usual_line(r, ring);
	unsigned most = ring->share < CTP_RINGS_CHUNK ? ring->share : CTP_RINGS_CHUNK, n = 0;
	uint64_t upto = is_skip(&ring->skips[0]) ? ring->skips[0].from : ring->head; /* take_threads has passed what was at tail */
	assert(upto - tail <= ring->head - tail); /* a skip that is past or to come was not taken for one */
	most = upto - tail < most ? (unsigned)(upto - tail) : most;
	for (uint64_t last_ns = ring->last_ns; n < most; n++) {
		const struct ctp_shm_entry *entry = &entries[(tail + n) & mask];
		uint64_t what = __atomic_load_n(&entry->what, __ATOMIC_RELAXED), ts = __atomic_load_n(&entry->ts, __ATOMIC_RELAXED);
		uint64_t ns;
		if (__builtin_expect(CTP_ENTRY_KIND(what) == CTP_ENTRY_THREAD, 0))
			break; /* these were another's */
		if (__builtin_expect(ctp_rawline_has(&usual, ts), 1)) {
			ns = usual.ns + (uint64_t)((unsigned __int128)(ts - usual.raw) * usual.slope >> 32);
		} else {
			ns = entry_ns(r, ring, tail + n, ts, &r->line);
			usual = ring->raw ? *r->line : usual;
		}
		last_ns = ns > last_ns ? ns : last_ns;
		if (__builtin_expect(last_ns > horizon_ns, 0))
			break;
		out[n].ts_ns = last_ns;
		out[n].value = __atomic_load_n(&entry->value, __ATOMIC_RELAXED);
		out[n].ref = __atomic_load_n(&entry->ref, __ATOMIC_RELAXED);
		out[n].what = what;
	}
	if (n)
		ring->last_ns = out[n - 1].ts_ns;
	assert(n <= ring->share);
	ring->tail += n;
	ring->share = (uint16_t)(ring->share - n);
	return n;
}

unsigned ctp_rings_take(struct ctp_rings *r, struct ctp_ring **ring, struct ctp_ring_entry *out)
{
	for (; r->at < r->used; r->at++) {
		*ring = &r->rings[r->at];
		unsigned n = take_from(r, r->at, out);
		if (n)
			return n;
		if ((*ring)->told != (*ring)->tail) {
			r->took = true;
			(*ring)->told = (*ring)->tail;
			/* Release: what is copied may be overwritten. Pairs with 2 above. */
			__atomic_store_n(&r->arena.rings[r->at].tail, (*ring)->tail, __ATOMIC_RELEASE);
		}
	}
	return 0;
}

uint64_t ctp_rings_ns(const struct ctp_rings *r, uint64_t ts, bool raw)
{
	uint64_t ns = ts;
	if (raw && r->arena.clock == CTP_CLOCK_RAW)
		ns = ctp_rawline_ns(ctp_rawline_has(r->line, ts) ? r->line : ctp_rawclock_line(&r->clock, ts), ts);
	return ns < r->now_ns ? ns : r->now_ns;
}
