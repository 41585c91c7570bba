/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coro-gaps.c - what the rings did not tell, or not yet: events that may come from another ring, those that only a slot has, and
 * those that are lost; births and deaths that had no room in a ring. Proved in t/proof: accounting, accounting_at_the_end, told_is_lost,
 * of this file, ring-gaps.c, and find_place in coros.c. told_too_early_with_one_round is what fewer ROUNDS would do.
 */
#include "collect/coros.h"

#include <assert.h>

#include "base/capped.h"
#include "shm/slots.h"

enum {
	PICKS = 512, /* slots that are copied at a time */
	ROUNDS = 2,  /* that a hole waits for: see coros.h */
};

/* --- gaps ---------------------------------------------------------------------------------------------------------------- */

static void put_loss(struct ctp_coros *coros, const struct ctp_ring_gap *hole, uint64_t from, uint64_t to, uint64_t after_ns,
                     uint64_t ts_ns)
{
	if (from == to)
		return;
	struct ctp_loss loss = {.probe_id = hole->probe_id, .coro = hole->coro, .index = from - hole->first,
	                        .count = to - from, .after_ns = after_ns, .ts_ns = ts_ns};
	ctp_rows_lost(coros->rows, &loss);
	ctp_add_capped(&coros->rows->stats.lost, to - from);
	coros->accounted += to - from;
}

/* What the slots had of a hole, and what is lost between. */
static void close_hole(struct ctp_coros *coros, const struct ctp_ring_gap *hole, const struct ctp_pick *picks, unsigned n)
{
	uint64_t from = hole->from, after_ns = hole->after_ns;
	if (hole->unsure)
		return;
	for (unsigned k = 0; k < n; k++) {
		if (!picks[k].whole)
			continue;
		uint64_t ts_ns = picks[k].ts_ns < hole->ts_ns ? picks[k].ts_ns : hole->ts_ns;
		ts_ns = ts_ns > after_ns ? ts_ns : after_ns;
		put_loss(coros, hole, from, picks[k].number, after_ns, ts_ns);
		ctp_coros_row(coros, &(struct ctp_who){hole->probe_id, hole->coro, hole->first}, picks[k].number,
		        &(struct ctp_ring_entry){.ts_ns = ts_ns, .value = picks[k].addr, .what = picks[k].what}, picks[k].tid);
		coros->accounted++;
		from = picks[k].number + 1;
		after_ns = ts_ns;
	}
	put_loss(coros, hole, from, hole->to, after_ns, hole->ts_ns);
}

/* Of a hole's events, those that can still be in their slots. */
static unsigned pick_slots(const struct ctp_coros *coros, const struct ctp_ring_gap *hole, struct ctp_pick *picks)
{
	const struct ctp_shm_station *shm = &coros->rings->arena.stations[hole->station];
	uint64_t next = coros->life[hole->station].next, from = hole->from;
	uint32_t flags = CTP_ANNOUNCE_FLAGS(__atomic_load_n(&shm->announce, __ATOMIC_RELAXED));
	unsigned n = 0;
	if (next > CTP_SHM_SLOTS && from < next - CTP_SHM_SLOTS)
		from = next - CTP_SHM_SLOTS;
	for (; from < hole->to && n < CTP_SHM_SLOTS && !hole->unsure; from++)
		picks[n++] = (struct ctp_pick){.slot = &shm->slots[from % CTP_SHM_SLOTS], .number = from, .flags = flags};
	assert(n <= CTP_SHM_SLOTS); /* close_some keeps as many free */
	return n;
}

/* The oldest gaps, as many as go at once, are waited for no longer. Returns how many of the first n that were. */
static uint32_t close_some(struct ctp_coros *coros, uint32_t n)
{
	struct ctp_pick picks[PICKS];
	uint8_t share[PICKS];
	unsigned used = 0;
	uint32_t gaps = 0;
	for (; gaps < n && gaps < PICKS && used + CTP_SHM_SLOTS <= PICKS; gaps++)
		used += share[gaps] = (uint8_t)pick_slots(coros, ctp_ring_gaps_nth(&coros->gaps, gaps), &picks[used]);
	ctp_slots_copy(coros->rings, picks, used);
	used = 0;
	for (uint32_t k = 0; k < gaps; used += share[k++])
		close_hole(coros, ctp_ring_gaps_nth(&coros->gaps, k), &picks[used], share[k]);
	ctp_ring_gaps_drop(&coros->gaps, gaps);
	assert(gaps && gaps <= n); /* or ctp_coros_close would not end */
	return gaps;
}

void ctp_coros_close(struct ctp_coros *coros, bool all)
{
	uint32_t due = 0, count = ctp_ring_gaps_count(&coros->gaps);
	while (due < count && (all || ctp_ring_gaps_nth(&coros->gaps, due)->round + ROUNDS <= coros->rings->rounds))
		due++;
	if (!due)
		return;
	while (due)
		due -= close_some(coros, due);
	coros->doubt_ns = UINT64_MAX;
	for (uint32_t k = 0; k < ctp_ring_gaps_count(&coros->gaps); k++) {
		uint64_t after_ns = ctp_ring_gaps_nth(&coros->gaps, k)->after_ns;
		coros->doubt_ns = after_ns < coros->doubt_ns ? after_ns : coros->doubt_ns;
	}
}

void ctp_coros_room(struct ctp_coros *coros)
{
	if (ctp_ring_gaps_count(&coros->gaps) == CTP_RING_GAPS_MAX)
		close_some(coros, CTP_RING_GAPS_MAX);
	assert(ctp_ring_gaps_count(&coros->gaps) < CTP_RING_GAPS_MAX); /* for ctp_ring_gaps_add and _fill */
}

void ctp_coros_hole(struct ctp_coros *coros, uint32_t i, uint64_t to, uint64_t ts_ns)
{
	struct ctp_life *life = &coros->life[i];
	ctp_coros_room(coros);
	struct ctp_ring_gap hole = {.from = life->next, .to = to, .first = life->first, .probe_id = life->probe_id,
	                            .coro = life->coro, .after_ns = life->last_ns < ts_ns ? life->last_ns : ts_ns, .ts_ns = ts_ns,
	                            .round = coros->rings->rounds, .station = i, .unsure = life->flags & CTP_LIFE_UNSURE};
	ctp_ring_gaps_add(&coros->gaps, &hole, &life->hole);
	coros->doubt_ns = hole.after_ns < coros->doubt_ns ? hole.after_ns : coros->doubt_ns;
	life->next = to;
	life->flags &= (uint8_t)~CTP_LIFE_UNSURE;
}

void ctp_coros_begin(struct ctp_coros *coros, uint32_t i, struct ctp_ring_entry *e)
{
	struct ctp_life *life = &coros->life[i];
	uint32_t before = CTP_ENTRY_NUMBER(e->what) - (uint32_t)life->next;
	if (before) {
		e->ts_ns = ctp_not_before(e->ts_ns, life->last_ns + 1); /* those that come late have a place then */
		ctp_coros_hole(coros, i, life->next + before, e->ts_ns);
	}
	life->flags &= (uint8_t)~CTP_LIFE_UNSURE;
}

/* --- what no entry has ---------------------------------------------------------------------------------------------------- */

void ctp_coros_missed(struct ctp_coros *coros, const struct ctp_missed *missed)
{
	if (!missed->notes && !missed->transitions)
		return;
	CTP_ROWS_PUT(coros->rows, CTP_MISSED, missed->ts_ns, [CTP_MISSED_TID] = missed->tid,
	             [CTP_MISSED_COUNT] = missed->notes, [CTP_MISSED_AFTER] = missed->after_ns,
	             [CTP_MISSED_TRANSITIONS] = missed->transitions);
	ctp_add_capped(&coros->rows->stats.missed, missed->notes);
}

/* How many of a ring's losses belong to this trace: those from before the collector attached do not. */
static uint64_t lost_since(uint64_t count, uint64_t *before)
{
	uint64_t theirs = count < *before ? count : *before;
	*before -= theirs;
	return count - theirs;
}

void ctp_coros_gap_begin(struct ctp_ring *ring, const struct ctp_ring_entry *e)
{
	/* The losses that a thread could not tell before it ended, the next owner of its ring tells first. */
	ring->gap_tid = (uint32_t)(ring->former ? ring->former : ring->owner);
	ring->former = 0;
	ring->gap_ns = e->ts_ns;
	ring->gap_notes = lost_since(CTP_ENTRY_NUMBER(e->what), &ring->notes_before);
	ring->gap_events = lost_since(e->value, &ring->events_before);
	ring->told_notes += ring->gap_notes;
	ring->told_events += ring->gap_events;
}

void ctp_coros_gap(struct ctp_coros *coros, struct ctp_ring *ring, uint64_t ts_ns)
{
	struct ctp_missed missed = {.tid = ring->gap_tid, .notes = ring->gap_notes, .transitions = ring->gap_events,
	                            .after_ns = ring->gap_ns, .ts_ns = ts_ns};
	ctp_coros_missed(coros, &missed);
	ring->gap_events = ring->gap_notes = 0;
}

static uint64_t notes_lost(const struct ctp_coros *coros)
{
	return __atomic_load_n(&coros->rings->arena.header->lost_notes, __ATOMIC_RELAXED);
}

bool ctp_coros_audit_due(const struct ctp_coros *coros)
{
	return coros->rings->lost != coros->lost || notes_lost(coros) != coros->notes;
}

static void audit_one(struct ctp_coros *coros, uint32_t i, bool last, bool gone)
{
	struct ctp_life_header head;
	struct ctp_life *life = &coros->life[i];
	if (!ctp_life_header(coros, i, &head) || (life->generation == head.generation && life->flags & CTP_LIFE_DEAD))
		return;
	if (life->generation != head.generation && ((last && !gone) || !ctp_life_adopt(coros, i, head.generation)))
		return;
	if (last && !gone && head.is_dead && head.death_ns > coros->rows->now_ns)
		return;
	ctp_life_name(coros, i, coros->rings->now_ns);
	if (head.is_dead) {
		ctp_life_die(coros, i, head.events, head.death_ns);
	} else if (gone && !(life->flags & CTP_LIFE_UNSURE)) {
		uint64_t next = ctp_slots_next(&coros->rings->arena.stations[i]);
		if (next > life->next && next - life->next < CTP_LIFE_AHEAD_MAX)
			ctp_coros_hole(coros, i, next, coros->rings->now_ns);
	}
}

/* The counts are the target's, and may be anything. */
static uint64_t more_than(uint64_t count, uint64_t told) { return count > told ? count - told : 0; }

/* The losses of the rings that no gap entry has, when nothing more will be in them. t/proof: ring_accounting_at_the_end. */
static void audit_rings(struct ctp_coros *coros)
{
	struct ctp_rings *r = coros->rings;
	uint64_t lost = __atomic_load_n(&r->arena.header->lost_events, __ATOMIC_RELAXED) - coros->events;
	for (uint32_t i = 0; i < r->used; i++) {
		struct ctp_ring *ring = &r->rings[i];
		ctp_coros_gap(coros, ring, r->now_ns);
		struct ctp_missed missed = {.tid = (uint32_t)ring->owner, .notes = more_than(ring->lost_notes, ring->told_notes),
		                            .transitions = more_than(ring->lost_events, ring->told_events),
		                            .after_ns = ring->last_ns, .ts_ns = r->now_ns};
		ctp_coros_missed(coros, &missed);
		ring->told_notes = ring->lost_notes;
		ring->told_events = ring->lost_events;
		ctp_add_capped(&lost, ring->lost_events - ring->lost_before);
	}
	ctp_coros_close(coros, true);
	if (lost > coros->accounted) { /* without slots (CTP_MODE_BARE) their coroutines cannot be known */
		struct ctp_loss loss = {.count = lost - coros->accounted, .ts_ns = r->now_ns};
		ctp_rows_lost(coros->rows, &loss);
		ctp_add_capped(&coros->rows->stats.lost, loss.count);
	}
}

void ctp_coros_audit(struct ctp_coros *coros, uint32_t used, bool last, bool gone)
{
	uint64_t notes = notes_lost(coros);
	coros->rows->stats.ringless = __atomic_load_n(&coros->rings->arena.header->lost_events, __ATOMIC_RELAXED) - coros->events;
	for (uint32_t i = 0; i < used && !ctp_look_limit_over_at(&coros->rows->limit, i); i++)
		audit_one(coros, i, last, gone);
	if (!last && coros->rows->limit.over)
		return; /* it stays due */
	ctp_coros_missed(coros, &(struct ctp_missed){.notes = notes - coros->notes, .ts_ns = coros->rings->now_ns});
	coros->notes = notes;
	coros->lost = coros->rings->lost;
	if (last)
		audit_rings(coros);
}
