/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* tally-wakes.c - what the tally counts at a wake: who woke whom, from where, how late, and how often in a row. */
#include "analyse/coro-own.h"
#include "analyse/follow-step.h"
#include "analyse/objects.h"
#include "analyse/tally-own.h"
#include "base/compare.h"

enum {
	FROM_ALL = 256, /* wakes of a habit whose waker is looked at; after these, each FROM_SOME-th */
	FROM_SOME = 16,
};

/*
 * A coroutine has woken itself CTP_TALLY_STORM times in a row, or a multiple of that. Runs of other coroutines on its thread count
 * as long as it stays there. The longest storm of each coroutine is kept.
 */
static void storm(struct ctp_tally *t, const struct ctp_change *ch)
{
	const struct ctp_coroutine *co = ch->co;
	struct ctp_tally_case *c = NULL;
	for (uint32_t i = 0; i < t->storms.count && !c; i++)
		if (t->storms.cases[i].id == co->id)
			c = &t->storms.cases[i];
	struct ctp_tally_case mine = {.from_ns = ch->ts_ns, .place = ctp_follow_place_of(t->follow, co), .whole = ch->whole};
	uint32_t n = c ? 0 : ctp_tally_put(t, &t->storms, co, mine);
	c = n ? &t->storms.cases[n - 1] : c;
	if (!c)
		return;
	const struct ctp_thread *th = &t->follow->threads->list[co->thread];
	uint64_t others_then = th->resumes - co->resumes; /* less than nothing, if the coroutine has run on other threads, too */
	if (co->streak == CTP_TALLY_STORM) {
		c->since_ns = ch->ts_ns;
		c->others_now = 0;
	} else if (c->tid == th->tid && (int64_t)(others_then - c->others_then) > 0) {
		c->others_now += others_then - c->others_then;
	}
	c->others_then = others_then;
	c->tid = th->tid;
	uint64_t ns = ctp_span_ns(c->since_ns, ch->ts_ns);
	if (!c->since_ns || ns < c->ns) /* the beginning is not known, or the storm is not the longest */
		return;
	c->from_ns = c->since_ns;
	c->ns = ns;
	c->count = co->streak;
	c->others = c->others_now;
}

/* The habit that the waker came from, for the first wakes of a habit and some of the later ones. */
static void woken_from(struct ctp_tally *t, const struct ctp_change *ch)
{
	struct ctp_habit *habit = &t->habits.list[ch->co->habit];
	if (!ch->by || ch->by == ch->co->id || (habit->woken >= FROM_ALL && habit->woken % FROM_SOME))
		return;
	const struct ctp_coroutine *waker = ctp_follow_find(t->follow, ch->by);
	uint32_t from = !waker ? 0 : waker->state == CTP_RUNNING ? waker->habit : waker->habit_was;
	if (from)
		ctp_habit_woken_from(habit, from);
	habit->asked += waker != NULL;
	habit->children += waker && waker->parent == ch->co->id;
}

/* A wake after a long wait: the machine may have kept the thread of the waker since the waker's run began. */
static void woken_late(struct ctp_tally *t, const struct ctp_change *ch)
{
	const struct ctp_coroutine *waker = ch->by ? ctp_follow_find(t->follow, ch->by) : NULL;
	bool runs = waker && waker->state == CTP_RUNNING && waker->thread == ch->thread;
	if (runs)
		ctp_machine_woke(&t->machine, (struct ctp_machine_wake){ch->co->id, ch->ts_ns, waker->since_ns, ch->thread});
}

/*
 * A time-out ended the wait although what it was for had been there for long: if nobody else takes it either, a wake was lost. The
 * case has for how long.
 */
static void timed_out(struct ctp_tally *t, const struct ctp_change *ch)
{
	const struct ctp_objects *objects = t->follow->objects;
	const struct ctp_coroutine *co = ch->co;
	const struct ctp_reasons *r = co->next ? ctp_objects_reasons(objects, co->id, co->next - 1) : NULL;
	const struct ctp_object *ob = r && r->n && !r->more ? ctp_objects_wanted(objects, r, 0) : NULL;
	const struct ctp_stock *stock = ob ? ctp_object_stock(ob, &r->list[0]) : NULL;
	if (!ob || !(r->list[0].marks & CTP_REASON_TIMED) || !stock->known || !stock->available)
		return;
	bool exact, enough = ctp_object_available(ob, stock, &exact) >= (r->list[0].count ? r->list[0].count : 1);
	uint64_t from_ns = ctp_most(stock->since_ns, co->suspended_ns), ns = ctp_span_ns(from_ns, ch->ts_ns);
	if (!enough || ob->closed_ns || (ob->holders_known && ob->nholders && ob->what == CTP_WAITS_LOCK) || ns < CTP_TALLY_LATE_NS)
		return;
	ctp_tally_put(t, &t->masked, co, (struct ctp_tally_case){.from_ns = from_ns, .ns = ns, .whole = true,
	                                                         .place = ctp_follow_place_of(t->follow, co)});
}

/* Counts the wakes of a coroutine that came from one waker in a row. */
static void pair_up(struct ctp_tally *t, const struct ctp_change *ch)
{
	struct ctp_tally_pair *pair = &t->pairs[ch->co->id % CTP_TALLY_PAIRS];
	if (pair->coro == ch->co->id && pair->partner == ch->by)
		pair->streak++;
	else
		*pair = (struct ctp_tally_pair){ch->co->id, ch->by, 1, ch->ts_ns};
}

void ctp_tally_woken(struct ctp_tally *t, const struct ctp_change *ch)
{
	struct ctp_coroutine *co = ch->co;
	pair_up(t, ch);
	if (!ch->by && co->state == CTP_RUNNABLE && ctp_objects_any(t->follow->objects))
		timed_out(t, ch);
	if (co->habit && co->state == CTP_RUNNABLE && !ch->gap)
		woken_from(t, ch);
	if (co->state == CTP_RUNNABLE && ctp_span_ns(co->suspended_ns, ch->ts_ns) >= CTP_MACHINE_NS)
		woken_late(t, ch);
	if (co->streak >= CTP_TALLY_STORM && co->streak % CTP_TALLY_STORM == 0)
		storm(t, ch);
}
