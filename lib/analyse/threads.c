/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * threads.c - a hash table of numbers; and when each thread was busy.
 *
 * Most runs begin after all earlier spans, but not all do. So the last spans are kept, to see which part of a run or of a gap is
 * new. Older spans are summed up.
 */
#include "analyse/threads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/pages.h"

#define LIST_BYTES (CTP_THREADS_MAX * sizeof(struct ctp_thread))

bool ctp_threads_init(struct ctp_threads *t)
{
	*t = (struct ctp_threads){
		.list = ctp_pages_new(LIST_BYTES), .map = ctp_map_new(CTP_THREADS_MAX)};
	return t->list && t->map;
}

void ctp_threads_fini(struct ctp_threads *t)
{
	for (uint32_t i = 0; i < t->most; i++)
		free(t->list[i].spans);
	ctp_pages_free(t->list, LIST_BYTES);
	ctp_map_free(t->map);
}

/* Makes the entry another thread's, which keeps the room for spans. */
static void renew(struct ctp_thread *th, uint64_t tid) { *th = (struct ctp_thread){.tid = tid, .spans = th->spans, .room = th->room}; }

void ctp_threads_clear(struct ctp_threads *t)
{
	if (t->count > 1)
		ctp_map_clear(t->map);
	memset(t->recent, 0, sizeof t->recent);
	renew(&t->list[0], 0);
	t->count = 1;
	t->stalled_ns = 0;
	t->most = t->most ? t->most : 1;
}

static bool is_thread(const void *list, uint32_t number, const void *tid)
{
	return ((const struct ctp_thread *)list)[number].tid == *(const uint64_t *)tid;
}

static uint32_t *slot_of(const struct ctp_threads *t, uint64_t tid) { return ctp_map_slot(t->map, tid, is_thread, t->list, &tid); }

bool ctp_threads_has(const struct ctp_threads *t, uint64_t tid) { return *slot_of(t, tid); }

uint32_t ctp_threads_add(struct ctp_threads *t, uint64_t tid)
{
	uint32_t *slot = slot_of(t, tid);
	if (!*slot) {
		if (!tid || t->count == CTP_THREADS_MAX)
			return 0;
		renew(&t->list[t->count], tid);
		*slot = t->count++;
		t->most = t->count > t->most ? t->count : t->most;
	}
	return t->recent[tid % CTP_THREADS_RECENT] = *slot;
}

/* --- runs and gaps -------------------------------------------------------------------------------------------------------- */

static void count(struct ctp_thread *th, uint64_t ns, bool unknown, int sign)
{
	*(unknown ? &th->unknown_ns : &th->busy_ns) += sign > 0 ? ns : -ns;
}

/* Twice the room. False: it stays. */
static bool grow(struct ctp_thread *th)
{
	uint32_t room = th->room ? 2 * th->room : CTP_THREAD_SPANS;
	assert(!(room & (room - 1))); /* ctp_thread_span masks with room - 1 */
	struct ctp_thread_span *spans = room <= CTP_THREAD_SPANS_MAX ? malloc(room * sizeof *spans) : NULL;
	for (uint32_t i = 0; spans && i < th->nspans; i++)
		spans[i] = *ctp_thread_span(th, i);
	if (spans) {
		free(th->spans);
		th->spans = spans;
		th->room = room;
		th->first_span = 0;
	}
	return spans;
}

/* Adds a part after all spans; to the newest, if that is of the same kind and ends there. */
static void add_part(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns, bool unknown)
{
	struct ctp_thread_span *last = th->nspans ? ctp_thread_span(th, th->nspans - 1) : NULL;
	if (from_ns >= to_ns)
		return;
	assert(!last || last->to_ns <= from_ns);
	count(th, to_ns - from_ns, unknown, 1);
	if (last && last->to_ns == from_ns && last->unknown == unknown) {
		last->to_ns = to_ns;
		return;
	}
	if (th->nspans == th->room && !grow(th))
		ctp_thread_retire(th);
	assert(th->nspans < th->room);
	*ctp_thread_span(th, th->nspans++) = (struct ctp_thread_span){from_ns, to_ns, unknown};
}

/* Of the old spans only the sum is known. So a gap takes as large a share of their busy time as of their time. */
static void gap_in_old(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns)
{
	assert(th->old.busy_ns + th->old.unknown_ns <= th->old.to_ns - th->old.from_ns);
	uint64_t all_ns = th->old.to_ns - th->old.from_ns, free_ns = all_ns - th->old.busy_ns - th->old.unknown_ns;
	from_ns = from_ns > th->old.from_ns ? from_ns : th->old.from_ns;
	to_ns = to_ns < th->old.to_ns ? to_ns : th->old.to_ns;
	if (from_ns >= to_ns)
		return;
	double share = (double)(to_ns - from_ns) / (double)all_ns;
	uint64_t busy_ns = (uint64_t)(share * (double)th->old.busy_ns), gap_ns = busy_ns + (uint64_t)(share * (double)free_ns);
	th->old.busy_ns -= busy_ns;
	th->old.unknown_ns += gap_ns;
	count(th, busy_ns, false, -1);
	count(th, gap_ns, true, 1);
}

/*
 * A run adds only what no span has yet. A gap also replaces what it covers of busy spans. In the time of the old spans, a run
 * counts as known already, and a gap takes its share.
 */
static void put_part(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns, bool unknown)
{
	if (from_ns >= to_ns || to_ns >> 63 || (!th->room && !grow(th)))
		return;
	if (from_ns < th->old.to_ns) {
		if (unknown)
			gap_in_old(th, from_ns, to_ns);
		from_ns = th->old.to_ns;
	}
	uint32_t touched = 0;
	while (touched < th->nspans && ctp_thread_span(th, th->nspans - 1 - touched)->to_ns > from_ns)
		touched++;
	if (!touched) {
		add_part(th, from_ns, to_ns, unknown);
		return;
	}
	struct ctp_thread_span few[64], *away = touched <= 64 ? few : malloc(touched * sizeof *away);
	if (!away)
		return;
	th->nspans -= touched;
	for (uint32_t i = 0; i < touched; i++) {
		away[i] = *ctp_thread_span(th, th->nspans + i);
		count(th, away[i].to_ns - away[i].from_ns, away[i].unknown, -1);
	}
	for (uint32_t i = 0; i < touched; i++) {
		const struct ctp_thread_span s = away[i];
		uint64_t first_ns = s.from_ns > from_ns ? s.from_ns : from_ns, last_ns = s.to_ns < to_ns ? s.to_ns : to_ns;
		add_part(th, from_ns, s.from_ns < to_ns ? s.from_ns : to_ns, unknown);
		if (unknown && first_ns < last_ns) {
			add_part(th, s.from_ns, first_ns, s.unknown);
			add_part(th, first_ns, last_ns, true);
			add_part(th, last_ns, s.to_ns, s.unknown);
		} else {
			add_part(th, s.from_ns, s.to_ns, s.unknown);
		}
		from_ns = from_ns > s.to_ns ? from_ns : s.to_ns;
	}
	add_part(th, from_ns, to_ns, unknown);
	if (away != few)
		free(away);
}

void ctp_thread_ran_into(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns) { put_part(th, from_ns, to_ns, false); }
void ctp_thread_gap(struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns) { put_part(th, from_ns, to_ns, true); }

void ctp_thread_end(struct ctp_thread *th, uint64_t end_ns)
{
	while (th->nspans) {
		struct ctp_thread_span *last = ctp_thread_span(th, th->nspans - 1);
		if (last->to_ns <= end_ns)
			break;
		count(th, last->to_ns - (last->from_ns > end_ns ? last->from_ns : end_ns), last->unknown, -1);
		last->to_ns = end_ns;
		th->nspans -= last->from_ns >= end_ns;
	}
}

uint64_t ctp_thread_busy_ns(const struct ctp_thread *th, uint64_t from_ns)
{
	uint64_t ns = 0, old_ns = th->old.to_ns > from_ns ? th->old.to_ns - from_ns : 0;
	for (uint32_t i = th->nspans; i--;) {
		const struct ctp_thread_span *s = ctp_thread_span(th, i);
		if (s->to_ns <= from_ns)
			return ns;
		ns += s->unknown ? 0 : s->to_ns - (s->from_ns > from_ns ? s->from_ns : from_ns);
	}
	return ns + (old_ns < th->old.busy_ns ? old_ns : th->old.busy_ns);
}
