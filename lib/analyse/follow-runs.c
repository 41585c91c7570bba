/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * follow-runs.c - rows of several runs of a program in one file, with no mark between them.
 *
 * After a long silence, a row of a new thread begins another run. Without one, a row of a new thread and a new
 * coroutine only may: rows are kept from there on, and followed later. If a row of an earlier thread or coroutine
 * comes, it was the same run. If none comes until the end, or for as long as there is room, all threads and
 * coroutines are others: after a pause that is another run. With less of a pause, or if a coroutine does not begin with
 * its first event, that is doubtful: it stays one run, and nothing is certain about coroutines from before.
 */
#include "analyse/follow-own.h"

#include <stdlib.h>

#include "base/array.h"

enum {
	ROWS_MAX = 1 << 16,      /* rows that are kept */
	PAUSE_NS = 100000000,    /* the least between two runs: a program has to end and start */
};

struct ctp_kept_rows {
	struct ctp_kept_row {
		const struct ctp_class *cls;
		size_t at; /* of its values in val */
	} *rows;
	uint64_t *val, *probes;
	uint32_t n, nprobes;
	size_t nval, rows_room, val_room, probes_room;
	struct ctp_map map; /* of probes */
	uint64_t pause_ns, first_ns, last_ns;
	bool doubtful; /* a probe of theirs does not begin with its first event */
};

static bool is_probe(const void *probes, uint32_t number, const void *probe)
{
	return ((const uint64_t *)probes)[number - 1] == *(const uint64_t *)probe;
}

static uint64_t hash_probe(const void *probes, uint32_t number) { return ((const uint64_t *)probes)[number - 1]; }

void ctp_follow_kept_free(struct ctp_kept_rows *k)
{
	if (!k)
		return;
	ctp_map_fini(&k->map);
	free(k->rows);
	free(k->val);
	free(k->probes);
	free(k);
}

/* A run is over, and the rows of another follow. */
static void next_run(struct ctp_follow *f)
{
	ctp_follow_finish(f, &(struct ctp_section_end){.complete = false});
	ctp_follow_clear(f);
	f->priv->runs++;
	if (f->ops->section)
		f->ops->section(f->arg, NULL);
}

/* Follows rows that were kept. may_have_others: another run may begin among them. */
static void follow_kept(struct ctp_follow *f, struct ctp_kept_rows *k, bool may_have_others)
{
	for (uint32_t i = 0; i < k->n; i++) {
		const struct ctp_record rec = {.cls = k->rows[i].cls, .val = k->val + k->rows[i].at};
		const struct ctp_roles *roles = &f->priv->shapes[rec.cls->id];
		if (!may_have_others || !ctp_follow_keeps(f, roles, &rec))
			ctp_follow_take(f, roles, &rec);
	}
	ctp_follow_kept_free(k);
}

/* What goes on after the last of the rows is from before the first: none of them began another run. */
static void is_same_run(struct ctp_follow *f)
{
	struct ctp_kept_rows *k = f->priv->kept;
	f->priv->kept = NULL;
	follow_kept(f, k, false);
}

void ctp_follow_decide(struct ctp_follow *f)
{
	while (f->priv->kept) { /* there may be a third run */
		struct ctp_kept_rows *k = f->priv->kept;
		bool other = !k->doubtful && k->pause_ns >= PAUSE_NS;
		f->priv->kept = NULL;
		if (other)
			next_run(f);
		else
			f->other_run_ns = k->first_ns;
		follow_kept(f, k, other);
	}
}

static bool keep(struct ctp_kept_rows *k, const struct ctp_record *rec, uint64_t ts)
{
	uint32_t nval = rec->cls->nfields;
	if (k->n == ROWS_MAX || !CTP_ARRAY_RESERVE(k->rows, k->rows_room, k->n + 1, ROWS_MAX) ||
	    !CTP_ARRAY_RESERVE(k->val, k->val_room, k->nval + nval, (size_t)ROWS_MAX * CTP_FIELDS_MAX))
		return false;
	k->rows[k->n++] = (struct ctp_kept_row){rec->cls, k->nval};
	for (uint32_t i = 0; i < nval; i++)
		k->val[k->nval++] = rec->val[i];
	k->last_ns = ts;
	return true;
}

/* A loss of one of the coroutines, or of one from before, has its place among the rows. */
static bool keep_loss(struct ctp_follow *f, const struct ctp_record *rec)
{
	if (keep(f->priv->kept, rec, f->priv->kept->last_ns))
		return true;
	ctp_follow_decide(f);
	return false;
}

/* Whether a probe of kept rows is new to them; it is added. */
static bool is_new(struct ctp_kept_rows *k, uint64_t probe)
{
	if (!ctp_map_reserve(&k->map, k->nprobes, hash_probe, k->probes) ||
	    !CTP_ARRAY_RESERVE(k->probes, k->probes_room, k->nprobes + 1, ROWS_MAX))
		return true;
	uint32_t *slot = ctp_map_slot(&k->map, probe, is_probe, k->probes, &probe);
	if (*slot)
		return false;
	k->probes[k->nprobes++] = probe;
	*slot = k->nprobes;
	return true;
}

/* Whether the row is the first of a coroutine: of a new probe, or of one whose numbers begin again. */
static bool begins(const struct ctp_follow *f, uint64_t probe, uint64_t seq)
{
	const struct ctp_coroutine *co = ctp_coro_table_find(&f->priv->table, probe);
	return (seq == 1 || seq == 2) && (!co || co->next > seq);
}

/* A row without a process may begin another run, and is kept. */
static bool begin_keeping(struct ctp_follow *f, uint64_t ts)
{
	struct ctp_kept_rows *k = calloc(1, sizeof *k);
	if (!k || !ctp_map_init(&k->map, 64)) {
		ctp_follow_kept_free(k);
		return false;
	}
	k->pause_ns = ctp_span_ns(f->counts.last_ns, ts);
	k->first_ns = k->last_ns = ts;
	f->priv->kept = k;
	return true;
}

/* A class without texts: these do not outlive their batch. */
static bool is_of_numbers(const struct ctp_class *cls)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (ctp_type_is_text(cls->fields[i].type))
			return false;
	return true;
}

static bool may_begin(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec, uint64_t ts)
{
	bool whole = roles->id != CTP_ROLES_NONE && roles->index != CTP_ROLES_NONE && is_of_numbers(rec->cls);
	bool due = whole && !f->other_run_ns && begins(f, rec->val[roles->id], rec->val[roles->index]);
	return due && begin_keeping(f, ts);
}

/* A row of a thread that is new since the rows are kept. */
static bool keep_row(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec, uint64_t ts)
{
	struct ctp_kept_rows *k = f->priv->kept;
	uint64_t probe = rec->val[roles->id], seq = rec->val[roles->index];
	if (is_new(k, probe) && !begins(f, probe, seq)) {
		k->doubtful = true;
		if (ctp_coro_table_find(&f->priv->table, probe)) /* it runs on another thread now */
			is_same_run(f);
	}
	if (f->priv->kept && keep(f->priv->kept, rec, ts))
		return true;
	ctp_follow_decide(f);
	return false;
}

/* What comes ends the time in which the kept rows may be another run. A long silence has a rule of its own. */
static bool goes_on(const struct ctp_follow *f, bool row, uint64_t tid, uint64_t ts)
{
	bool silence = ctp_sequence_silence(f->priv->kept->last_ns, ts);
	return !row || ctp_threads_has(f->threads, tid) || silence;
}

bool ctp_follow_keeps(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec)
{
	bool timed = roles->tid != CTP_ROLES_NONE && roles->ts != CTP_ROLES_NONE;
	bool row = roles->kind == CTP_KIND_TRANSITION && !roles->numbered && timed;
	bool first = f->counts.first_ns > f->counts.last_ns;
	if (f->priv->runs == CTP_FOLLOW_RUNS || first || (!row && !f->priv->kept))
		return false;
	if (!row && roles->kind == CTP_KIND_LOSS && is_of_numbers(rec->cls))
		return keep_loss(f, rec);
	uint64_t ts = row ? rec->val[roles->ts] : 0, tid = row ? rec->val[roles->tid] : 0;
	if (f->priv->kept && goes_on(f, row, tid, ts))
		is_same_run(f);
	if (!row)
		return false;
	if (ctp_threads_has(f->threads, tid)) {
		const struct ctp_thread *th = &f->threads->list[ctp_threads_number(f->threads, tid)];
		if (th->last_ns < f->other_run_ns)
			f->other_run_ns = 0; /* a thread from before goes on */
		return false;
	}
	if (!f->priv->kept && ctp_sequence_silence(f->counts.last_ns, ts)) {
		next_run(f);
		return false;
	}
	return (f->priv->kept || may_begin(f, roles, rec, ts)) && keep_row(f, roles, rec, ts);
}
