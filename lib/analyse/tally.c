/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tally.c - the counting. Most of it is done for each event, so rare cases are in functions of their own.
 */
#include "analyse/tally.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/coro-own.h"
#include "analyse/follow-step.h"
#include "analyse/objects.h"
#include "analyse/tally-own.h"
#include "base/compare.h"

enum {
	LONG_RUN_NS = 50000000, /* the shortest run that is a case */
	MOVER_RESUMES = 1000,   /* a coroutine with fewer says nothing about threads */
	LATE_FACTOR = 10,
};

#define RARE __attribute__((noinline)) /* callers save no registers where they do not call it */

static inline struct ctp_tally_place *place_of(struct ctp_tally *t, uint32_t place)
{
	return t->places[place] ? t->places[place] : ctp_tally_place_new(t, place);
}

/* --- by time -------------------------------------------------------------------------------------------------------------- */

/* Slices and levels begin when the collector came: of the time before, only remnants are known. */
static uint64_t start_of(const struct ctp_tally *t, uint64_t ts)
{
	return ts > t->follow->attached_ns ? ts : t->follow->attached_ns;
}

/* Halves the number of slices: two become one. */
static RARE void slices_merge(struct ctp_tally *t)
{
	for (uint32_t i = 0; i < CTP_TALLY_SLICES / 2; i++)
		t->slices[i] = t->slices[2 * i] + t->slices[2 * i + 1];
	memset(t->slices + CTP_TALLY_SLICES / 2, 0, sizeof t->slices / 2);
	t->slice_bits++;
}

static inline void slice_add(struct ctp_tally *t, uint64_t ts)
{
	if (ts < t->start_ns) {
		if (t->start_ns != UINT64_MAX)
			return; /* late */
		t->start_ns = start_of(t, ts);
		if (ts < t->start_ns)
			return;
	}
	uint64_t at;
	while ((at = (ts - t->start_ns) >> t->slice_bits) >= CTP_TALLY_SLICES)
		slices_merge(t);
	t->slices[at]++;
}

/* Halves the number of levels of all spawn places: two become one. */
static void levels_merge(struct ctp_tally *t)
{
	for (uint32_t n = 0; n < t->follow->places->count; n++) {
		struct ctp_tally_spawn *s = t->spawns[n];
		if (!s)
			continue;
		for (uint32_t i = 0; i <= s->level / 2; i++) {
			uint64_t second = 2 * i + 1 <= s->level ? s->low[2 * i + 1] : UINT64_MAX;
			s->low[i] = s->low[2 * i] < second ? s->low[2 * i] : second;
		}
		s->level /= 2;
	}
	t->level_bits++;
}

/* The number of living coroutines of a spawn place changes at ts. Time in which the process was stopped is left out. */
static void level_put(struct ctp_tally *t, struct ctp_tally_spawn *s, uint64_t ts, uint64_t alive)
{
	uint64_t at;
	if (t->start_ns == UINT64_MAX)
		t->start_ns = start_of(t, ts);
	uint64_t stopped_ns = t->follow->seen.total_ns;
	while ((at = ctp_span_ns(t->start_ns + stopped_ns, ts) >> t->level_bits) >= CTP_TALLY_LEVELS)
		levels_merge(t);
	assert(s->level < CTP_TALLY_LEVELS);
	for (; s->level < at; s->low[s->level] = s->alive)
		s->level++;
	s->alive = alive;
	s->low[at] = ctp_least(s->low[at], alive);
}

/* --- by coroutine --------------------------------------------------------------------------------------------------------- */

static void heavy_put(struct ctp_tally *t, const struct ctp_coroutine *co, int kind, uint64_t ns)
{
	struct ctp_report_heavy *h = t->heavy[kind];
	uint32_t n = t->nheavy[kind];
	if (!ns || (n == CTP_REPORT_TOP && h[n - 1].ns >= ns))
		return;
	if (n == CTP_REPORT_TOP)
		free(h[--n].name);
	uint32_t at = n;
	for (; at > 0 && h[at - 1].ns < ns; at--) {
		h[at] = h[at - 1];
		t->heavy_spawn[kind][at] = t->heavy_spawn[kind][at - 1];
	}
	h[at] = (struct ctp_report_heavy){.id = co->id, .ns = ns, .name = co->name ? strdup(co->name) : NULL};
	t->heavy_spawn[kind][at] = co->spawn;
	t->nheavy[kind] = n + 1;
}

/* The coroutine or the section has ended: adds the coroutine's times. */
static void sum_up(struct ctp_tally *t, const struct ctp_coroutine *co)
{
	const uint64_t ns[CTP_HEAVY_KINDS] = {[CTP_HEAVY_RUNNING] = co->run_ns, [CTP_HEAVY_RUNNABLE] = co->ready_ns,
	                                      [CTP_HEAVY_SUSPENDED] = co->wait_ns, [CTP_HEAVY_UNKNOWN] = co->unknown_ns};
	for (int kind = 0; kind < CTP_HEAVY_KINDS; kind++) {
		t->total_ns[kind] += ns[kind];
		heavy_put(t, co, kind, ns[kind]);
	}
	if (co->resumes >= MOVER_RESUMES) {
		struct ctp_tally_spawn *s = ctp_tally_spawn_of(t, co->spawn);
		s->movers += co->migrations >= co->resumes / 2;
		s->moves += co->migrations;
		s->move_resumes += co->resumes;
	}
}

static RARE void ran_long(struct ctp_tally *t, const struct ctp_change *ch, uint32_t place, uint64_t ns)
{
	const struct ctp_thread *th = &t->follow->threads->list[ch->co->thread];
	struct ctp_tally_case c = {.from_ns = ch->was_ns, .ns = ns, .place = place, .whole = true,
	                           .elsewhere = t->last_resume_ns > ch->was_ns, .seen.before = th->delay.last};
	if (th->seen.samples)
		c.seen = th->seen;
	t->last_long[ch->co->thread] = ctp_tally_put(t, &t->runs, ch->co, c);
}

/*
 * The longest of a kind, without the machine's part. run_ns: since when a stall of the thread made the span longer; to_ns: not at
 * all.
 */
static RARE void long_span(struct ctp_tally *t, uint64_t *longest_ns, struct ctp_stall span, uint64_t ns, uint32_t thread,
                           uint64_t run_ns)
{
	ctp_machine_span(&t->machine, (struct ctp_machine_span){longest_ns, span.from_ns, span.to_ns, ns, run_ns, thread});
}

/* Short spans count at once: they are too short to have a part of the machine's. */
static CTP_ALWAYS void longest(struct ctp_tally *t, uint64_t *longest_ns, uint64_t from_ns, uint64_t to_ns, uint64_t ns,
                               uint32_t thread)
{
	if (__builtin_expect(ns <= *longest_ns, 1))
		return;
	if (ns < CTP_MACHINE_NS)
		*longest_ns = ns;
	else
		long_span(t, longest_ns, (struct ctp_stall){from_ns, to_ns}, ns, thread, thread ? from_ns : to_ns);
}

void ctp_tally_sampled(struct ctp_tally *t)
{
	struct ctp_threads *threads = t->follow->threads;
	for (uint32_t i = 0; i < t->runs.count; i++) {
		struct ctp_tally_case *c = &t->runs.cases[i];
		const struct ctp_thread *th = &threads->list[ctp_threads_number(threads, c->tid)];
		if (!c->seen.after.ts_ns && th->delay.last.ts_ns >= c->from_ns + c->ns)
			c->seen.after = th->delay.last;
	}
	ctp_machine_settle(&t->machine, t->follow->seen.looked_ns);
}

/* The length of a span without stops. CTP_FOLLOW_ALL: there were none. */
static inline uint64_t span_ns(const struct ctp_tally *t, uint64_t from_ns, uint64_t to_ns, enum ctp_follow_time time)
{
	return time == CTP_FOLLOW_ALL ? ctp_span_ns(from_ns, to_ns) : ctp_follow_ns(t->follow, from_ns, to_ns);
}

/* The loop over transitions has no listener, and is not slowed down by one. */
static CTP_ALWAYS void tell_span(const struct ctp_tally *t, struct ctp_coroutine *co, enum ctp_state state, uint32_t place, uint64_t ns,
                                 enum ctp_follow_time time)
{
	if (time == CTP_FOLLOW_ASKED && t->span)
		t->span(t->span_arg, co, state, place, ns);
}

/* A run that began after a suspension at place has ended. */
static CTP_ALWAYS void ran(struct ctp_tally *t, const struct ctp_change *ch, uint32_t place, enum ctp_follow_time time)
{
	if (ch->was != CTP_RUNNING || !ch->whole)
		return;
	uint64_t ns = span_ns(t, ch->was_ns, ch->ts_ns, time);
	struct ctp_tally_place *p = place_of(t, place);
	ctp_hist_add(&p->run, ns);
	longest(t, &p->run_ns, ch->was_ns, ch->ts_ns, ns, ch->co->thread);
	longest(t, &t->run_ns, ch->was_ns, ch->ts_ns, ns, ch->co->thread);
	tell_span(t, ch->co, CTP_RUNNING, place, ns, time);
	if (__builtin_expect(ns >= LONG_RUN_NS, 0)) {
		struct ctp_change copy = *ch; /* only the copy has an address outside, so that *ch need not be in memory */
		ran_long(t, &copy, place, ns);
	}
}

/*
 * A long run may have kept a coroutine from running that runs on the same thread now. Either the coroutine was ready during the
 * run, or something from outside woke it right after the run: a thread that both runs coroutines and polls for events could not
 * wake it before.
 */
static RARE void kept_waiting(struct ctp_tally *t, const struct ctp_change *ch)
{
	assert(t->last_long[ch->thread] && t->last_long[ch->thread] <= t->runs.count);
	struct ctp_tally_case *c = &t->runs.cases[t->last_long[ch->thread] - 1]; /* or a worse case that took its place */
	uint64_t stop_ns = c->from_ns + c->ns, from_ns = ch->was_ns > c->from_ns ? ch->was_ns : c->from_ns;
	if (ch->ts_ns > stop_ns + c->ns / 10 || c->tid != t->follow->threads->list[ch->thread].tid)
		t->last_long[ch->thread] = 0;
	else if (from_ns >= stop_ns)
		c->late += !ch->co->waker && ch->co->suspended_ns <= c->from_ns + c->ns / 2;
	else if (stop_ns - from_ns >= c->ns / 2) {
		c->count++;
		c->most_ns = stop_ns - from_ns > c->most_ns ? stop_ns - from_ns : c->most_ns;
	}
}

/*
 * A wait that ended far too late, and by something from outside, where coroutines end the waits. A lost wake looks like this when
 * a time-out repairs it.
 */
static bool is_repaired(const struct ctp_habit *habit, uint64_t ns)
{
	return habit->waits >= CTP_TALLY_HISTORY && ns / LATE_FACTOR >= habit->gross_ns && habit->inside &&
	       10 * habit->inside >= 9 * habit->woken;
}

/* A late wait is a case, and not part of the habit: other waits are compared with those that were in time. */
static RARE void repaired(struct ctp_tally *t, const struct ctp_coroutine *co, uint64_t ns)
{
	const struct ctp_habit *habit = &t->habits.list[co->habit];
	struct ctp_tally_case c = {.from_ns = co->suspended_ns, .ns = ns, .most_ns = habit->gross_ns, .whole = true,
	                           .place = ctp_follow_place_of(t->follow, co),
	                           .elsewhere = ctp_habit_overtook(habit, co->suspended_ns, false)};
	ctp_tally_put(t, &t->late, co, c);
}

/* A place that the coroutine has no entry for. The place with the fewest waits loses one of them; if none is left, its entry. */
static RARE void visit_new(struct ctp_coroutine *co, struct ctp_visits visit)
{
	struct ctp_visits *least = ctp_coro_visits(co);
	for (struct ctp_visits *v = ctp_coro_visits(co); v < ctp_coro_visits(co) + CTP_CO_VISITS; v++)
		least = v->back < least->back ? v : least;
	assert(least->outside <= least->back);
	if (least->back) {
		least->outside -= least->outside == least->back;
		least->back--;
	}
	if (!least->back)
		*least = visit;
}

/* A wait of the coroutine itself at a place has ended. */
static inline void visited(struct ctp_coroutine *co, uint32_t place, bool outside, uint64_t waker)
{
	struct ctp_visits *v = ctp_coro_visits(co);
	if (!place)
		return;
	while (v < ctp_coro_visits(co) + CTP_CO_VISITS && v->place != place)
		v++;
	if (__builtin_expect(v == ctp_coro_visits(co) + CTP_CO_VISITS, 0)) {
		visit_new(co, (struct ctp_visits){.waker = waker, .place = place, .back = 1, .outside = outside});
	} else {
		v->several |= v->waker != waker;
		v->waker = waker;
		if (__builtin_expect(v->back < UINT16_MAX, 1)) {
			v->back++;
			v->outside += outside;
		}
	}
}

static RARE void waited_long(struct ctp_tally *t, struct ctp_coroutine *co, uint64_t *longest_ns, uint64_t to_ns, uint64_t ns);

static CTP_ALWAYS void waited(struct ctp_tally *t, struct ctp_coroutine *co, uint64_t to_ns, bool woken,
                              enum ctp_follow_time time)
{
	struct ctp_habit *habit = &t->habits.list[co->habit];
	uint64_t ns = span_ns(t, co->suspended_ns, to_ns, time);
	uint32_t place = ctp_follow_place_of(t->follow, co);
	ctp_hist_add(&place_of(t, place)->wait, ns);
	tell_span(t, co, CTP_SUSPENDED, place, ns, time);
	if (co->resumes == 1 && (co->flags & (CTP_CO_BIRTH | CTP_CO_BEFORE)) == CTP_CO_BIRTH)
		return; /* the first resume of a lazy coroutine ends no wait */
	if (__builtin_expect(ns >= CTP_TALLY_LATE_NS, 0) && woken && !co->waker && co->habit && is_repaired(habit, ns))
		repaired(t, co, ns);
	else if (woken && co->waker == co->id)
		habit->self++; /* the coroutine only gave way, or did not wait at all */
	else {
		ctp_habit_waited(habit, co->id, co->suspended_ns, ns, woken, woken ? co->waker : 0);
		if (__builtin_expect(ns > habit->max_ns && ns >= CTP_MACHINE_NS, 0))
			waited_long(t, co, &habit->max_ns, to_ns, ns);
		else if (ns > habit->max_ns)
			habit->max_ns = ns;
	}
	if (!woken || co->waker != co->id)
		visited(co, place, woken && !co->waker, woken ? co->waker : 0);
}

/* The longest wait of a habit: a stall of the thread that ended it counts since the run began in which it did so. */
static RARE void waited_long(struct ctp_tally *t, struct ctp_coroutine *co, uint64_t *longest_ns, uint64_t to_ns, uint64_t ns)
{
	const struct ctp_machine_wake *wake = ctp_machine_wake(&t->machine, co->id, to_ns);
	struct ctp_stall span = {co->suspended_ns, to_ns};
	long_span(t, longest_ns, span, ns, wake ? wake->thread : 0, wake ? wake->run_ns : to_ns);
}

/* A wait that a wake ended. It counts at the resume, which shows that nothing is missing in between. */
static void wait_woken(struct ctp_tally *t, struct ctp_coroutine *co, uint64_t woken_ns)
{
	if (woken_ns > co->suspended_ns && co->suspended_ns)
		waited(t, co, woken_ns, true, CTP_FOLLOW_ASKED);
	else if (co->waker == co->id)
		t->habits.list[co->habit].yields++;
}

static RARE void started(struct ctp_tally *t, const struct ctp_coroutine *co, uint64_t ts_ns, uint32_t thread)
{
	struct ctp_tally_spawn *s = ctp_tally_spawn_of(t, co->spawn);
	uint64_t ns = ctp_span_ns(co->born_ns, ts_ns);
	ctp_hist_add(&s->start, ns);
	longest(t, &s->start_ns, co->born_ns, ts_ns, ns, thread);
}

/* No coroutine was resumed for a while. */
static RARE void paused(struct ctp_tally *t, uint64_t ts_ns, uint64_t ns)
{
	ctp_machine_pause(&t->machine, t->last_resume_ns, ts_ns);
	longest(t, &t->pause_ns, t->last_resume_ns, ts_ns, ns, 0);
}

static CTP_ALWAYS void resumed(struct ctp_tally *t, const struct ctp_change *ch, enum ctp_follow_time time)
{
	struct ctp_coroutine *co = ch->co;
	slice_add(t, ch->ts_ns);
	uint64_t pause_ns = t->last_resume_ns ? ctp_span_ns(t->last_resume_ns, ch->ts_ns) : 0;
	if (pause_ns > t->longest_pause_ns)
		t->longest_pause_ns = pause_ns;
	if (__builtin_expect(pause_ns >= CTP_MACHINE_NS, 0))
		paused(t, ch->ts_ns, pause_ns);
	else if (pause_ns > t->pause_ns)
		t->pause_ns = pause_ns;
	t->last_resume_ns = ch->ts_ns;
	if (!ch->whole)
		return;
	if (co->resumes == 1) /* a lazy coroutine is suspended until then */
		started(t, co, ch->ts_ns, ch->thread);
	if (ch->was == CTP_BORN || !co->suspended_ns)
		return;
	if (ch->was == CTP_SUSPENDED) {
		t->habits.list[co->habit].nested += ch->by != 0;
		if (t->follow->missed_ns <= ch->was_ns) /* else a lost wake may have ended the wait earlier */
			waited(t, co, ch->ts_ns, false, time);
	} else if (ch->was == CTP_RUNNABLE) {
		wait_woken(t, co, ch->was_ns);
		uint32_t place = ctp_follow_place_of(t->follow, co);
		uint64_t ns = span_ns(t, ch->was_ns, ch->ts_ns, time);
		ctp_hist_add(&place_of(t, place)->ready, ns);
		longest(t, &t->ready_ns, ch->was_ns, ch->ts_ns, ns, ch->thread);
		tell_span(t, co, CTP_RUNNABLE, place, ns, time);
		if (__builtin_expect(t->last_long[ch->thread], 0)) {
			struct ctp_change copy = *ch;
			kept_waiting(t, &copy);
		}
	}
}

void ctp_tally_gone(struct ctp_tally *t, const struct ctp_change *ch)
{
	struct ctp_coroutine *co = ch->co;
	struct ctp_tally_spawn *s = ctp_tally_spawn_of(t, co->spawn);
	uint32_t place = ctp_follow_place_of(t->follow, co);
	uint64_t life_ns = ctp_follow_ns(t->follow, co->born_ns, ch->ts_ns);
	s->died++;
	s->longest_ns = life_ns > s->longest_ns ? life_ns : s->longest_ns;
	s->unstarted += !ctp_has_run(co);
	level_put(t, s, ch->ts_ns, s->alive ? s->alive - 1 : 0);
	if (ch->was == CTP_SUSPENDED && !ch->gap) {
		s->destroyed++;
		if (ch->whole)
			ctp_tally_put(t, &t->destroyed, co,
			         (struct ctp_tally_case){.from_ns = ch->was_ns, .place = place, .whole = true,
			                                 .ns = ctp_follow_ns(t->follow, ch->was_ns, ch->ts_ns)});
	} else if (co->flags & CTP_CO_BIRTH && !ch->gap) { /* in a gap, the coroutine may have been suspended */
		ctp_hist_add(&s->life, life_ns);
		longest(t, &s->life_ns, co->born_ns, ch->ts_ns, life_ns, 0);
	}
	if (ch->ts_ns >= t->follow->since_ns)
		ran(t, ch, place, CTP_FOLLOW_ASKED);
	if (ch->ts_ns >= t->follow->since_ns && ch->was == CTP_RUNNABLE && ch->whole)
		wait_woken(t, co, ch->was_ns);
	sum_up(t, co);
}

/* A place with more than half of the votes is rest in the end. */
static void vote(struct ctp_tally_spawn *s, uint32_t place)
{
	if (!s->rest_votes)
		s->rest = place;
	s->rest_votes += s->rest == place ? 1 : -1u;
}

static CTP_ALWAYS void suspended(struct ctp_tally *t, const struct ctp_change *ch, enum ctp_follow_time time)
{
	struct ctp_coroutine *co = ch->co;
	uint32_t place = ctp_follow_place_of(t->follow, co);
	ran(t, ch, ch->from, time);
	if (co->resumes == 1 && (co->flags & (CTP_CO_BIRTH | CTP_CO_BEFORE)) == CTP_CO_BIRTH)
		vote(ctp_tally_spawn_of(t, co->spawn), place);
	co->habit_was = co->habit;
	if (!ctp_habits_is(&t->habits, co->habit, co->spawn, place)) /* most coroutines suspend at the same place again */
		co->habit = ctp_habits_number(&t->habits, co->spawn, place);
}

/* Changes of all kinds but transitions. */
static RARE void other(struct ctp_tally *t, const struct ctp_change *ch)
{
	switch (ch->kind) {
	case CTP_CHANGE_WAKE:
		ctp_tally_woken(t, ch);
		break;
	case CTP_CHANGE_BORN: {
		struct ctp_tally_spawn *s = ctp_tally_spawn_of(t, ch->co->spawn);
		s->born++;
		level_put(t, s, ch->ts_ns, s->alive + 1);
		break;
	}
	case CTP_CHANGE_BROKEN:
		ctp_tally_put(t, &t->broken[ch->by], ch->co, (struct ctp_tally_case){.from_ns = ch->ts_ns, .whole = true,
		         .place = ctp_follow_place_of(t->follow, ch->co)});
		break;
	case CTP_CHANGE_SUSPEND:
	case CTP_CHANGE_RESUME:
	case CTP_CHANGE_AWAIT:
	case CTP_CHANGE_LOST:
	case CTP_CHANGE_DIED:
		break;
	}
}

void ctp_tally_change(struct ctp_tally *t, const struct ctp_change *ch)
{
	bool asked = ch->ts_ns >= t->follow->since_ns;
	if (ch->kind == CTP_CHANGE_SUSPEND && asked)
		suspended(t, ch, CTP_FOLLOW_ASKED);
	else if (ch->kind == CTP_CHANGE_RESUME && asked)
		resumed(t, ch, CTP_FOLLOW_ASKED);
	else if (asked || ch->kind == CTP_CHANGE_BORN) /* levels need all births and deaths */
		other(t, ch);
}

/* Transitions of the standard class. While one is followed, the coroutines of those ahead are on their way to the cache. */
static void transitions(struct ctp_tally *t, const struct ctp_record *rec, uint32_t n)
{
	enum { AHEAD = 8 };
	struct ctp_follow *f = t->follow;
	const struct ctp_coro_table *table = &f->priv->table;
	struct ctp_coroutine *ahead[AHEAD];
	uint64_t first_ns = f->counts.first_ns, last_ns = f->counts.last_ns;
	for (uint32_t i = 0; i < AHEAD && i < n; i++)
		ahead[i] = ctp_coro_table_guess(table, rec[i].val[CTP_TRANSITION_CORO]);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *val = rec[i].val;
		uint64_t ts = val[CTP_TRANSITION_TS], id = val[CTP_TRANSITION_CORO];
		struct ctp_coroutine *co = ahead[i % AHEAD];
		if (i + AHEAD < n)
			ahead[i % AHEAD] = ctp_coro_table_guess(table, rec[i + AHEAD].val[CTP_TRANSITION_CORO]);
		if (__builtin_expect(!co || co->id != id || !id, 0))
			co = ctp_follow_whose(f, &ctp_roles_standard, val, ts);
		first_ns = ts < first_ns ? ts : first_ns;
		last_ns = ts > last_ns ? ts : last_ns;
		struct ctp_change ch;
		if (!ctp_follow_step(f, &ctp_roles_standard, co, val, ts, CTP_FOLLOW_ALL, &ch))
			continue;
		if (ch.kind == CTP_CHANGE_SUSPEND)
			suspended(t, &ch, CTP_FOLLOW_ALL);
		else
			resumed(t, &ch, CTP_FOLLOW_ALL);
	}
	f->counts.events += n;
	f->counts.first_ns = first_ns;
	f->counts.last_ns = last_ns;
}

uint32_t ctp_tally_transitions(struct ctp_tally *t, const struct ctp_record *rec, uint32_t n)
{
	const struct ctp_class *standard = t->follow->priv->standard;
	uint32_t usual = 0;
	while (usual < n && rec[usual].cls == standard)
		usual++;
	if (!usual || ctp_follow_time(t->follow) != CTP_FOLLOW_ALL)
		return 0;
	for (uint32_t i = 0; t->follow->priv->nheld && i < usual; i++)
		if (rec[i].val[CTP_TRANSITION_ACTIVE])
			ctp_follow_commit(t->follow);
	transitions(t, rec, usual);
	return usual;
}

static void still_ready(struct ctp_tally *t, struct ctp_coroutine *co, uint64_t end_ns)
{
	struct ctp_change ch = ctp_change_of(co, CTP_CHANGE_RESUME, end_ns); /* as if it were resumed now */
	ch.thread = co->thread;
	wait_woken(t, co, co->since_ns);
	if (t->last_long[ch.thread])
		kept_waiting(t, &ch);
}

void ctp_tally_finish(struct ctp_tally *t, const struct ctp_follow_end *end)
{
	if (t->last_resume_ns && end->judged_ns > t->last_resume_ns)
		ctp_machine_pause(&t->machine, t->last_resume_ns, end->judged_ns);
	ctp_machine_settle(&t->machine, UINT64_MAX);
	for (t->nslices = CTP_TALLY_SLICES; t->nslices && !t->slices[t->nslices - 1];)
		t->nslices--;
	for (uint32_t n = 0; n < t->follow->places->count; n++) {
		if (t->spawns[n])
			level_put(t, t->spawns[n], end->judged_ns, t->spawns[n]->alive);
		if (t->places[n]) {
			ctp_hist_merge(&t->run, &t->places[n]->run);
			ctp_hist_merge(&t->ready, &t->places[n]->ready);
		}
	}
	uint32_t at = 0;
	for (struct ctp_coroutine *co; (co = ctp_follow_each(t->follow, &at));) {
		if (co->state == CTP_DEAD)
			continue;
		bool whole = !(co->flags & (CTP_CO_TAIL | CTP_CO_CONFLICT));
		if (co->state == CTP_RUNNABLE && whole)
			still_ready(t, co, end->judged_ns);
		ctp_follow_account(t->follow, co, end->end_ns);
		sum_up(t, co);
	}
	for (uint32_t i = 0; i < end->destroyed; i++) /* their times up to their deaths are in them already */
		sum_up(t, t->follow->priv->held[i].co);
}
