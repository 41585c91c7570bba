/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* plain-gaps.c - gaps in the numbers of coroTracer's rows become loss records. */
#include "common/plain-gaps.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/threads.h"
#include "base/array.h"
#include "base/capped.h"
#include "base/map.h"
#include "base/pages.h"
#include "common/plain.h"
#include "stream/sequence.h"

enum { SLOTS = CTP_SEQUENCE_SLOTS, TRACKS_MIN = 1024, RUN = 64 }; /* RUN: rows that are written at once */

/* The rows of a probe so far, in one cache line. */
struct track {
	uint64_t probe;
	struct ctp_sequence numbers;
	uint64_t last_ns;
	uint32_t rows[SLOTS]; /* entries of the rows that have the last number */
};

struct entry {
	uint64_t val[CTP_PLAIN_FIELDS]; /* a mark has its time alone */
	uint64_t after_ns;
	struct ctp_sequence before; /* the row, for the size of the gap, if counted */
	bool mark, gap, counted, conflict; /* gap, conflict: such a record is written before the row */
	bool perhaps; /* the gap is one only if numbers turn out to count events */
};

struct ctp_plain_gaps {
	struct ctp_class *plain, *lost_class, *conflict_class;
	const struct ctp_class *cls;     /* of the rows that are held; null: no row has come yet */
	struct entry *held;              /* entries [next - count, next), each at its number modulo the size */
	uint32_t next, count;
	struct track *tracks;
	struct ctp_map map;              /* of the tracks, by probe */
	uint32_t ntracks;
	size_t room;
	struct ctp_dialect dialect;
	struct ctp_threads threads;
	uint64_t last_ns, lost, conflicts;
	bool through, full;              /* through: a row of another class came, and all rows from there on pass */
};

enum { LOST_TS, LOST_PROBE, LOST_COUNT, LOST_AFTER, LOST_FIELDS };

static const struct ctp_field lost_fields[LOST_FIELDS] = {
	[LOST_TS] = {.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME, .unit = "ns"},
	[LOST_PROBE] = {.name = "probe_id", .type = CTP_U64, .role = CTP_ROLE_PROBE, .pred = CTP_PRED_KEY},
	[LOST_COUNT] = {.name = "count", .type = CTP_U64, .role = CTP_ROLE_COUNT, .pred = CTP_PRED_NONE},
	[LOST_AFTER] = {.name = "after", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_NONE, .unit = "ns"},
};

/* --- probes --------------------------------------------------------------------------------------------------------------- */

static bool is_track(const void *tracks, uint32_t number, const void *probe)
{
	return ((const struct track *)tracks)[number - 1].probe == *(const uint64_t *)probe;
}

static uint64_t hash_track(const void *tracks, uint32_t number) { return ((const struct track *)tracks)[number - 1].probe; }

static uint32_t *slot_of(const struct ctp_plain_gaps *g, uint64_t probe)
{
	return ctp_map_slot(&g->map, probe, is_track, g->tracks, &probe);
}

static bool has_room(struct ctp_plain_gaps *g)
{
	return CTP_ARRAY_RESERVE(g->tracks, g->room, g->ntracks + 1, CTP_PLAIN_GAPS_PROBES) &&
	       ctp_map_reserve(&g->map, g->ntracks, hash_track, g->tracks);
}

/* Null: there are too many probes. */
static struct track *track_of(struct ctp_plain_gaps *g, uint64_t probe)
{
	uint32_t *slot = slot_of(g, probe);
	if (*slot)
		return &g->tracks[*slot - 1];
	g->full |= !has_room(g);
	if (g->full)
		return NULL;
	g->tracks[g->ntracks] = (struct track){.probe = probe};
	*slot_of(g, probe) = ++g->ntracks;
	return &g->tracks[g->ntracks - 1];
}

static void forget(struct ctp_plain_gaps *g)
{
	g->ntracks = 0;
	ctp_map_clear(&g->map);
	g->dialect = (struct ctp_dialect){0};
	ctp_threads_clear(&g->threads);
	g->last_ns = 0;
}

/* --- what is held --------------------------------------------------------------------------------------------------------- */

static struct entry *entry_at(struct ctp_plain_gaps *g, uint32_t number) { return &g->held[number % CTP_PLAIN_GAPS_HELD]; }

static bool is_held(const struct ctp_plain_gaps *g, uint32_t number) { return g->next - number <= g->count; }

/* A mark, or a row that has other records before it. */
static void write_one(struct ctp_plain_gaps *g, struct ctp_writer *w, const struct entry *e)
{
	uint64_t ts = e->val[CTP_PLAIN_TS], probe = e->val[CTP_PLAIN_PROBE];
	if (e->mark) {
		ctp_writer_mark(w, ts);
		return;
	}
	g->conflicts += e->conflict;
	if (e->conflict)
		ctp_writer_record(w, g->conflict_class, (const uint64_t[]){[LOST_TS] = ts, [LOST_PROBE] = probe});
	if (e->gap) {
		uint64_t count = e->counted ? ctp_sequence_missing(&e->before, &g->dialect, e->val[CTP_PLAIN_SEQ]) : 0;
		ctp_add_capped(&g->lost, count);
		if (count || !e->perhaps)
			ctp_writer_record(w, g->lost_class, (const uint64_t[]){ts, probe, count, e->after_ns});
	}
	ctp_writer_record(w, g->cls, e->val);
}

/* Writes the oldest entry, and with a row the rows after it, up to RUN. */
static void write_oldest(struct ctp_plain_gaps *g, struct ctp_writer *w)
{
	struct ctp_record rec[RUN];
	uint32_t n = 0, first = g->next - g->count;
	const struct entry *e = entry_at(g, first);
	for (; n < RUN && n < g->count && !(e->mark | e->gap | e->conflict); e = entry_at(g, first + n))
		rec[n++] = (struct ctp_record){.cls = g->cls, .val = e->val};
	if (n)
		ctp_writer_records(w, &(struct ctp_batch){.rec = rec, .n = n});
	else
		write_one(g, w, e);
	g->count -= n ? n : 1;
}

static void write_all(struct ctp_plain_gaps *g, struct ctp_writer *w)
{
	while (g->count)
		write_oldest(g, w);
}

static struct entry *hold(struct ctp_plain_gaps *g, struct ctp_writer *w)
{
	if (g->count == CTP_PLAIN_GAPS_HELD)
		write_oldest(g, w);
	g->count++;
	struct entry *e = entry_at(g, g->next++);
	*e = (struct entry){0};
	return e;
}

/* --- rows ----------------------------------------------------------------------------------------------------------------- */

/* The rows of the round may be of several coroutines: the conflict is written before the first of them that is still held. */
static void mix(struct ctp_plain_gaps *g, const struct track *t, uint32_t rows, struct entry *e)
{
	for (uint32_t i = 0; i < rows; i++)
		if (is_held(g, t->rows[i])) {
			entry_at(g, t->rows[i])->conflict = true;
			return;
		}
	e->conflict = true;
}

static void look_at(struct ctp_plain_gaps *g, struct track *t, struct entry *e, uint32_t number)
{
	uint64_t ts = e->val[CTP_PLAIN_TS];
	uint32_t rows = t->numbers.rows;
	e->before = t->numbers;
	enum ctp_step step = ctp_sequence_step(&t->numbers, &g->dialect, e->val[CTP_PLAIN_SEQ], t->last_ns, ts);
	if (step == CTP_STEP_OLD)
		return;
	e->after_ns = !e->before.last || t->last_ns > ts ? ts : t->last_ns;
	e->perhaps = step == CTP_STEP_NEXT && !e->before.last && e->val[CTP_PLAIN_SEQ] == 2 && !g->dialect.repeated;
	e->gap = e->counted = step == CTP_STEP_GAP || e->perhaps;
	/* A round that is over has fewer rows than slots: the missing ones may be before, between or after its rows. */
	for (uint32_t i = 0; step == CTP_STEP_GAP && !g->dialect.odd && i < rows; i++)
		if (is_held(g, t->rows[i])) {
			entry_at(g, t->rows[i])->gap = true;
			entry_at(g, t->rows[i])->perhaps = false;
		}
	if (step == CTP_STEP_MIXED && rows != CTP_SEQUENCE_MIXED)
		mix(g, t, g->dialect.odd ? 1 : rows, e);
	if (t->numbers.rows && t->numbers.rows != CTP_SEQUENCE_MIXED)
		t->rows[t->numbers.rows - 1] = number;
	t->last_ns = ts;
}

/* A file may hold several runs, one after the other; follow.h has the rule. */
static bool is_next_run(const struct ctp_plain_gaps *g, uint64_t tid, uint64_t ts)
{
	return g->last_ns && ctp_sequence_silence(g->last_ns, ts) && !ctp_threads_has(&g->threads, tid);
}

static void take_record(struct ctp_plain_gaps *g, struct ctp_writer *w, const struct ctp_record *rec)
{
	bool plain = rec->cls == g->cls || (rec->cls->decl_bytes == g->plain->decl_bytes &&
	                                    !memcmp(rec->cls->decl, g->plain->decl, g->plain->decl_bytes));
	if (!plain || g->through) {
		write_all(g, w);
		g->through = true;
		ctp_writer_record(w, rec->cls, rec->val);
		return;
	}
	if (g->cls && rec->cls != g->cls)
		write_all(g, w);
	g->cls = rec->cls;
	uint64_t tid = rec->val[CTP_PLAIN_TID], ts = rec->val[CTP_PLAIN_TS], probe = rec->val[CTP_PLAIN_PROBE];
	if (is_next_run(g, tid, ts)) {
		write_all(g, w);
		forget(g);
	}
	struct entry *e = hold(g, w);
	memcpy(e->val, rec->val, sizeof e->val);
	ctp_threads_number(&g->threads, tid);
	g->last_ns = ts > g->last_ns ? ts : g->last_ns;
	struct track *t = probe ? track_of(g, probe) : NULL; /* a row without a probe is no coroutine's */
	if (t)
		look_at(g, t, e, g->next - 1);
}

static void take_records(void *arg, struct ctp_writer *w, const struct ctp_batch *batch)
{
	enum { AHEAD = 8 }; /* the sorter holds more than a cache does: values are fetched before their turn */
	for (uint32_t i = 0; i < batch->n; i++) {
		if (batch->n - i > AHEAD)
			__builtin_prefetch(batch->rec[i + AHEAD].val);
		take_record(arg, w, &batch->rec[i]);
	}
}

static void take_mark(void *arg, struct ctp_writer *w, uint64_t ts_ns)
{
	struct ctp_plain_gaps *g = arg;
	if (g->through) {
		ctp_writer_mark(w, ts_ns);
		return;
	}
	struct entry *e = hold(g, w);
	e->mark = true;
	e->val[CTP_PLAIN_TS] = ts_ns;
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

struct ctp_plain_gaps *ctp_plain_gaps_new(struct ctp_err *err)
{
	struct ctp_plain_gaps *g = calloc(1, sizeof *g);
	if (!g)
		return ctp_err_memory(err), NULL;
	g->held = ctp_pages_new(CTP_PLAIN_GAPS_HELD * sizeof *g->held);
	g->plain = ctp_plain_class(err);
	g->lost_class = ctp_class_new("lost", CTP_KIND_LOSS, lost_fields, LOST_FIELDS, err);
	g->conflict_class = ctp_class_new("conflict", CTP_KIND_CONFLICT, lost_fields, LOST_COUNT, err);
	if (g->held && g->plain && g->lost_class && g->conflict_class && ctp_threads_init(&g->threads) &&
	    ctp_map_init(&g->map, TRACKS_MIN))
		return g;
	ctp_plain_gaps_free(g);
	ctp_err_memory(err);
	return NULL;
}

void ctp_plain_gaps_free(struct ctp_plain_gaps *g)
{
	if (!g)
		return;
	ctp_threads_fini(&g->threads);
	ctp_class_free(g->plain);
	ctp_class_free(g->lost_class);
	ctp_class_free(g->conflict_class);
	free(g->tracks);
	ctp_map_fini(&g->map);
	ctp_pages_free(g->held, CTP_PLAIN_GAPS_HELD * sizeof *g->held);
	free(g);
}

void ctp_plain_gaps_begin(struct ctp_plain_gaps *g, struct ctp_sorter *sorter)
{
	static const struct ctp_sorter_ops ops = {.records = take_records, .mark = take_mark};
	forget(g);
	g->cls = NULL;
	g->lost = g->conflicts = 0;
	g->through = g->full = false;
	ctp_sorter_divert(sorter, &ops, g);
}

void ctp_plain_gaps_end(struct ctp_plain_gaps *g, struct ctp_sorter *sorter, struct ctp_writer *w, struct ctp_source_stats *stats,
                        const struct ctp_notice *notice)
{
	write_all(g, w);
	ctp_sorter_divert(sorter, NULL, NULL);
	ctp_add_capped(&stats->lost, g->lost);
	stats->harmed |= g->lost || g->full || g->conflicts;
	if (g->full)
		ctp_notice_say(notice, "more than %d probes: what is missing of the others is not known", CTP_PLAIN_GAPS_PROBES);
}
