/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * filter-coros.c - which coroutines are selected, and which of their records are written.
 *
 * A coroutine is shown when its birth is written, with its name and what else is held of it: at its birth if nothing but
 * coroutines are selected, else with the first of its records that is. What is held before since_ns is the state that the
 * coroutine has then: its last transition, and the records about its next or present wait.
 */
#include "filter/filter-own.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "stream/events.h"

#define SLOT(name) (1u << CTP_FILTER_##name)

void ctp_filter_release_coro(struct ctp_filter_entry *e)
{
	ctp_filter_drop_all(&((struct ctp_filter_coro *)e)->held);
	free(e);
}

static void forget(struct ctp_filter *f, struct ctp_filter_coro *co)
{
	ctp_filter_table_remove(&f->coros, &co->entry);
	ctp_filter_release_coro(&co->entry);
}

static struct ctp_filter_coro *find(const struct ctp_filter *f, uint64_t id)
{
	return (struct ctp_filter_coro *)ctp_filter_table_find(&f->coros, id, 0);
}

/* --- selection ------------------------------------------------------------------------------------------------------------ */

static void choose(struct ctp_filter *f, struct ctp_filter_coro *co)
{
	f->stats->selected += !co->chosen;
	f->stats->unknown_parents -= co->orphan; /* by its name it is known after all */
	co->chosen = true;
	co->orphan = false;
}

/* By what is known before its name. birth: its record; null: there was none. */
static bool fits(struct ctp_filter *f, uint64_t id, const struct ctp_filter_class *cls, const struct ctp_record *birth)
{
	const struct ctp_filter_options *o = f->options;
	uint64_t pid = birth ? ctp_roles_value(birth->val, cls->roles.pid) : 0;
	bool spawned = !o->spawns.n || (birth && ctp_filter_places_match(f->places, &o->spawns, birth));
	return spawned && ctp_filter_has(&o->coros, id) && ctp_filter_has_own(f, &o->processes, birth, pid ? pid : f->pid);
}

static void look_at_birth(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_filter_class *cls,
                          const struct ctp_record *rec)
{
	const struct ctp_filter_coro *parent = NULL;
	co->fits = fits(f, co->entry.key[0], cls, rec);
	if (f->options->descendants) {
		parent = find(f, ctp_roles_value(rec->val, cls->roles.parent));
	}
	if ((co->fits && !f->options->names.n) || (parent && parent->chosen))
		choose(f, co);
	if (f->options->descendants && !parent && !co->chosen && !co->orphan) {
		f->stats->unknown_parents++;
		co->orphan = true;
	}
}

static void look_at_name(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_filter_class *cls,
                         const struct ctp_record *rec)
{
	const struct ctp_str *name = cls->roles.text == CTP_ROLES_NONE ? NULL : ctp_str_val(rec->val[cls->roles.text]);
	if (name && co->fits && !co->chosen && f->options->names.n && ctp_filter_matches(&f->options->names, name->data, true))
		choose(f, co);
}

/* Null: there is no room for it. */
static struct ctp_filter_coro *coro_of(struct ctp_filter *f, uint64_t id)
{
	struct ctp_filter_coro *co = find(f, id);
	if (co || f->coros.count >= CTP_FILTER_COROS_MAX)
		return co;
	if (!(co = calloc(1, sizeof *co))) {
		f->failed = true;
		ctp_err_memory(&f->why);
		return NULL;
	}
	ctp_filter_table_add(&f->coros, &co->entry, id, 0);
	co->fits = fits(f, id, NULL, NULL);
	if (co->fits && !f->options->names.n)
		choose(f, co);
	return co;
}

/* --- what is held --------------------------------------------------------------------------------------------------------- */

static bool is_about(unsigned kind)
{
	return kind == CTP_KIND_BIRTH || kind == CTP_KIND_NAME || kind == CTP_KIND_FUNCTION || kind == CTP_KIND_CONFLICT;
}

static bool is_gap(unsigned kind) { return kind == CTP_KIND_LOSS || kind == CTP_KIND_LEFT_OUT; }

static void leave_out(struct ctp_filter_coro *co, const struct ctp_filter_class *cls, uint64_t ts_ns)
{
	if (cls->roles.kind != CTP_KIND_TRANSITION || co->left)
		return;
	co->left = true;
	co->left_ns = ts_ns;
}

static void hold_transition(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_filter_class *cls,
                            const struct ctp_record *rec)
{
	const struct ctp_filter_held *before = ctp_filter_held_in(&co->held, CTP_FILTER_TRANSITION);
	if (before)
		leave_out(co, cls, before->rec.ts_ns);
	ctp_filter_drop(&co->held, SLOT(LOSS) | SLOT(GAP));
	if (ctp_roles_value(rec->val, cls->roles.active)) {
		ctp_filter_drop(&co->held, SLOT(WAKE) | SLOT(CAUSE) | SLOT(AWAIT) | SLOT(REASON));
		co->reasons = 0;
	}
	if (!ctp_filter_keep(f, &co->held, rec, CTP_FILTER_TRANSITION, true))
		leave_out(co, cls, rec->ts_ns);
}

/* What the state of a coroutine is made of. */
static void hold_state(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_filter_class *cls,
                       const struct ctp_record *rec)
{
	static const uint8_t slots[CTP_KIND_COUNT] = {
		[CTP_KIND_BIRTH] = CTP_FILTER_BIRTH, [CTP_KIND_NAME] = CTP_FILTER_NAME, [CTP_KIND_FUNCTION] = CTP_FILTER_FUNCTION,
		[CTP_KIND_CONFLICT] = CTP_FILTER_CONFLICT, [CTP_KIND_LOSS] = CTP_FILTER_LOSS, [CTP_KIND_WAKE] = CTP_FILTER_WAKE,
		[CTP_KIND_CAUSE] = CTP_FILTER_CAUSE, [CTP_KIND_AWAIT] = CTP_FILTER_AWAIT, [CTP_KIND_LEFT_OUT] = CTP_FILTER_GAP,
	};
	unsigned kind = cls->roles.kind;
	if (is_about(kind) || (is_gap(kind) && f->lazy)) {
		ctp_filter_keep(f, &co->held, rec, slots[kind], true);
	} else if (f->lazy) { /* only records that are selected are written */
		leave_out(co, cls, rec->ts_ns);
	} else if (kind == CTP_KIND_TRANSITION) {
		hold_transition(f, co, cls, rec);
	} else if (kind == CTP_KIND_REASON && co->reasons < CTP_FILTER_REASONS) {
		co->reasons++;
		ctp_filter_keep(f, &co->held, rec, CTP_FILTER_REASON, false);
	} else if (kind < CTP_KIND_COUNT && slots[kind]) {
		if (kind == CTP_KIND_WAKE)
			ctp_filter_drop(&co->held, SLOT(CAUSE));
		ctp_filter_keep(f, &co->held, rec, slots[kind], true);
	}
}

/* --- what is written ------------------------------------------------------------------------------------------------------ */

static bool is_numbered(const struct ctp_filter_class *cls)
{
	return cls->roles.kind == CTP_KIND_TRANSITION && cls->roles.numbered;
}

static bool has_number(const struct ctp_filter_class *cls)
{
	return (cls->roles.kind == CTP_KIND_TRANSITION || cls->roles.kind == CTP_KIND_LOSS) && cls->roles.numbered;
}

/* A record of the coroutine is about to be written. If its number does not show what is left out before it, a record says so. */
static void put(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_record *rec)
{
	const struct ctp_filter_class *cls = &f->classes[rec->cls->id];
	bool transition = cls->roles.kind == CTP_KIND_TRANSITION;
	if (co->left && !co->told && !has_number(cls) && !is_about(cls->roles.kind)) {
		ctp_filter_put_left_out(f, co, rec->ts_ns, co->left_ns);
		co->told = true;
	}
	if (transition)
		co->left = co->told = false;
	ctp_filter_put(f, rec);
}

void ctp_filter_release_jump(struct ctp_filter *f)
{
	if (f->jump.first)
		ctp_filter_put(f, &f->jump.first->rec);
	ctp_filter_drop_all(&f->jump);
}

/* Notes how far the coroutine is. Returns whether numbers are missing before this transition. */
static bool note_last(struct ctp_filter_coro *co, const struct ctp_filter_class *cls, const struct ctp_record *rec)
{
	uint64_t due = co->next, number = is_numbered(cls) ? rec->val[cls->roles.index] : 0;
	if (cls->roles.kind == CTP_KIND_TRANSITION || cls->roles.kind == CTP_KIND_BIRTH)
		co->last_ns = ctp_most(co->last_ns, rec->ts_ns);
	if (is_numbered(cls) && number >= due)
		co->next = number + 1;
	return number > due;
}

/* A loss is left out that ended before since_ns. What the coroutine did after it is not known up to the next transition. */
static void leave_out_loss(struct ctp_filter_coro *co, const struct ctp_filter_class *cls, const struct ctp_record *rec)
{
	uint64_t after_ns = ctp_roles_value(rec->val, cls->roles.after);
	if (co->left || (cls->roles.numbered ? rec->val[cls->roles.index] < co->next : rec->ts_ns <= co->last_ns))
		return;
	co->left = true;
	co->left_ns = after_ns ? after_ns : rec->ts_ns;
}

/*
 * The record of a loss often comes right after the transition that ends the gap. Where a filter leaves out others, a reader cannot
 * know at such a transition that some are lost, so the two change places.
 */
static void put_jump(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_record *rec)
{
	co->left = co->told = false;
	if (!ctp_filter_keep(f, &f->jump, rec, 0, false))
		ctp_filter_put(f, rec);
}

void ctp_filter_show(struct ctp_filter *f, struct ctp_filter_coro *co, uint64_t ts_ns)
{
	if (co->shown)
		return;
	co->shown = true;
	bool any = co->held.first;
	for (struct ctp_filter_held *h = co->held.first; h; h = h->next)
		if (h->slot == CTP_FILTER_LOSS && f->asked_ns && h->rec.ts_ns < f->since_ns)
			leave_out_loss(co, &f->classes[h->rec.cls->id], &h->rec);
		else
			put(f, co, &h->rec);
	ctp_filter_drop_all(&co->held);
	if (any && !co->chosen) {
		ctp_filter_put_left_out(f, co, ts_ns, 0);
		co->told = true;
	}
}

void ctp_filter_show_other(struct ctp_filter *f, uint64_t id, uint64_t ts_ns)
{
	enum { DEEPEST = 64 }; /* ancestors that are not written yet: a stream from outside may have any number */
	struct ctp_filter_coro *co = id && f->depth < DEEPEST ? find(f, id) : NULL;
	f->depth++;
	if (co && !co->shown)
		ctp_filter_show(f, co, ts_ns);
	f->depth--;
}

static int by_number(const void *a, const void *b)
{
	const struct ctp_filter_coro *const *x = a, *const *y = b;
	uint64_t m = (*x)->held.first->number, n = (*y)->held.first->number;
	return (m > n) - (m < n);
}

/* The coroutines that are alive, with the states that they have then. The reader sorts their records: no mark was written yet. */
void ctp_filter_start(struct ctp_filter *f)
{
	struct ctp_filter_coro **list = f->coros.count && !f->lazy ? calloc(f->coros.count, sizeof(struct ctp_filter_coro *)) : NULL;
	uint32_t at = 0, n = 0;
	f->started = true;
	if (f->coros.count && !f->lazy && !list) {
		f->failed = true;
		ctp_err_memory(&f->why);
	}
	for (struct ctp_filter_entry *e = NULL; list && (e = ctp_filter_table_each(&f->coros, &at, e));) {
		struct ctp_filter_coro *co = (struct ctp_filter_coro *)e;
		if (co->chosen && !co->shown && co->held.first)
			list[n++] = co;
	}
	if (n)
		qsort(list, n, sizeof *list, by_number);
	for (uint32_t i = 0; i < n; i++)
		ctp_filter_show(f, list[i], f->since_ns);
	free(list);
}

void ctp_filter_tell_left(struct ctp_filter *f)
{
	uint32_t at = 0;
	for (struct ctp_filter_entry *e = NULL; (e = ctp_filter_table_each(&f->coros, &at, e));) {
		struct ctp_filter_coro *co = (struct ctp_filter_coro *)e;
		bool unsure = co->chosen && co->origin && co->last_ns < co->origin->unsure_ns;
		if (!co->shown || !(co->left || unsure) || co->told)
			continue;
		ctp_filter_put_left_out(f, co, f->now_ns, co->left ? co->left_ns : co->last_ns);
		co->told = true;
	}
}

/* --- records -------------------------------------------------------------------------------------------------------------- */

/* Whether the coroutine waits at a place that is asked for, at this record. */
static bool is_at_place(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_filter_class *cls,
                        const struct ctp_record *rec)
{
	bool was = co->at_place;
	if (cls->roles.kind != CTP_KIND_TRANSITION)
		return was;
	co->at_place = !ctp_roles_value(rec->val, cls->roles.active) && ctp_filter_places_match(f->places, &f->options->places, rec);
	f->stats->of_place |= co->at_place;
	return was || co->at_place;
}

/* By the options that select records. */
static bool is_selected(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_filter_class *cls,
                        const struct ctp_record *rec)
{
	const struct ctp_filter_options *o = f->options;
	bool active = ctp_roles_value(rec->val, cls->roles.active), place = !o->places.n || is_at_place(f, co, cls, rec);
	bool thread = cls->roles.tid == CTP_ROLES_NONE || ctp_filter_on_thread(f, &cls->roles, rec);
	bool state = !o->states || o->states & (active ? CTP_FILTER_RUNNING : CTP_FILTER_SUSPENDED);
	return cls->wanted && place && thread && (state || cls->roles.kind != CTP_KIND_TRANSITION);
}

/* A record of a coroutine that is not selected. If another record has referred to it, its names and its end are written. */
static void take_other(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_filter_class *cls,
                       const struct ctp_record *rec)
{
	unsigned kind = cls->roles.kind;
	if (co->shown && (is_about(kind) || kind == CTP_KIND_DEATH)) {
		ctp_filter_put(f, rec);
	} else if (is_about(kind) || (co->fits && f->options->names.n)) {
		hold_state(f, co, cls, rec); /* another record may need it, or its name may come */
	}
	if (kind == CTP_KIND_DEATH)
		forget(f, co);
}

static void take_chosen(struct ctp_filter *f, struct ctp_filter_coro *co, const struct ctp_filter_class *cls,
                        const struct ctp_record *rec, bool jump)
{
	unsigned kind = cls->roles.kind;
	bool about = is_about(kind) || is_gap(kind), selected = !about && kind != CTP_KIND_DEATH && is_selected(f, co, cls, rec);
	if (!f->started) {
		hold_state(f, co, cls, rec);
	} else if (ctp_filter_is_before(f, cls, rec)) {
		leave_out_loss(co, cls, rec);
	} else if (kind == CTP_KIND_DEATH) {
		if (co->shown || !f->lazy) {
			ctp_filter_show(f, co, rec->ts_ns);
			put(f, co, rec);
		}
	} else if (about && f->lazy && !co->shown) {
		hold_state(f, co, cls, rec);
	} else if (about || selected) {
		ctp_filter_show(f, co, rec->ts_ns);
		(jump ? put_jump : put)(f, co, rec);
	} else {
		leave_out(co, cls, rec->ts_ns);
	}
}

/* Only its birth says that a coroutine is selected: this must be known for what comes after its end. */
static bool is_remembered(const struct ctp_filter *f)
{
	const struct ctp_filter_options *o = f->options;
	return o->spawns.n || o->names.n || o->processes.n || o->descendants;
}

void ctp_filter_take_coro(struct ctp_filter *f, const struct ctp_filter_class *cls, const struct ctp_record *rec, uint64_t id)
{
	struct ctp_filter_coro *co = coro_of(f, id);
	unsigned kind = cls->roles.kind;
	if (!co) {
		f->stats->unfollowed++;
		return;
	}
	bool jump = note_last(co, cls, rec);
	if (f->asked_ns)
		co->origin = ctp_filter_origin_of(f, rec);
	if (kind == CTP_KIND_BIRTH)
		look_at_birth(f, co, cls, rec);
	bool before = co->chosen;
	if (kind == CTP_KIND_NAME)
		look_at_name(f, co, cls, rec);
	if (!co->chosen) {
		take_other(f, co, cls, rec);
		return;
	}
	if (!before && co->shown)
		co->left = co->told = true; /* it was shown for another one's sake */
	take_chosen(f, co, cls, rec, jump);
	if (kind != CTP_KIND_DEATH)
		return;
	co->last_ns = UINT64_MAX;
	ctp_filter_drop_all(&co->held);
	co->shown = true; /* nothing comes that could be held */
	if (!is_remembered(f))
		forget(f, co);
}
