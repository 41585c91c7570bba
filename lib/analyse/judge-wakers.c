/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-wakers.c - whether a waker of a waiting coroutine may still come.
 *
 * A habit has its wakers, and the habits that these came from. A coroutine that waits far too long is not stuck while one of its
 * possible wakers has been active for half of that time: the waker runs, or something from outside may wake it. So a client waits
 * for a server that waits for its disk, and a subscriber for a publisher without news. A waker that did something else meanwhile
 * does not count.
 */
#include "analyse/judge-wakers.h"

#include <assert.h>
#include <stdlib.h>

/* Whether something from outside ended more waits of a than of b; if about as many, whether those of a took more time. */
static bool ends_more_from_outside(const struct ctp_habit *a, const struct ctp_habit *b)
{
	uint64_t of_a = a->woken - a->inside, of_b = b->woken - b->inside;
	if (10 * of_a < 9 * of_b || 10 * of_b < 9 * of_a)
		return of_a > of_b;
	return a->total_ns > b->total_ns;
}

bool ctp_judge_places(struct ctp_judge *j)
{
	uint32_t n = j->follow->places->count, habits = j->tally->habits.count;
	j->history = j->follow->attached_ns ? 3 : CTP_JUDGE_HISTORY;
	j->visits = j->follow->attached_ns ? 1 : CTP_JUDGE_VISITS;
	j->places = calloc(n, sizeof *j->places);
	j->spawns = calloc(n, sizeof *j->spawns);
	j->active_ns = malloc(CTP_HABITS_MAX * sizeof *j->active_ns);
	if (!j->places || !j->spawns || !j->active_ns)
		return false;
	for (uint32_t i = 0; i < CTP_HABITS_MAX; i++)
		j->active_ns[i] = UINT64_MAX;
	j->any_active_ns = UINT64_MAX;
	for (uint32_t i = 1; i < habits; i++) {
		const struct ctp_habit *h = &j->tally->habits.list[i];
		assert(h->inside <= h->woken && h->woken <= h->waits); /* as ctp_habit_waited counts */
		struct ctp_judge_place *p = &j->places[h->place];
		p->waits += h->waits;
		p->woken += h->woken;
		p->inside += h->inside;
		p->self += h->self;
		p->max_ns = h->max_ns > p->max_ns ? h->max_ns : p->max_ns;
		p->gross_ns = ctp_most(p->gross_ns, h->gross_ns);
		p->different += h->different;
		struct ctp_judge_spawn *s = &j->spawns[h->spawn];
		uint64_t outside = h->woken - h->inside;
		s->waits += h->waits;
		s->max_ns = h->max_ns > s->max_ns ? h->max_ns : s->max_ns;
		if (outside >= j->history && (!s->outside || ends_more_from_outside(h, &j->tally->habits.list[s->outside]))) {
			s->outside = i;
			s->outside_waits = outside;
		}
		if (h->waits >= j->history && (!s->main || h->waits > j->tally->habits.list[s->main].waits))
			s->main = i;
		j->nplaces += h->waits && p->waits == h->waits;
	}
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) { /* these members share their memory with times */
		ctp_judged(co)->leads_to = ctp_judged(co)->blames = NULL;
		ctp_judged(co)->depth = ctp_judged(co)->visit = ctp_judged(co)->group = ctp_judged(co)->why = 0;
		/* Its address may have become a place since, when a second coroutine was there. */
		if (co->state == CTP_SUSPENDED)
			co->habit = ctp_habits_number(&j->tally->habits, co->spawn, ctp_follow_place(j->follow, co));
	}
	return true;
}

struct ctp_judge_place ctp_judge_history(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = &j->tally->habits.list[co->habit];
	if (h->waits < CTP_JUDGE_HISTORY && h->place)
		return j->places[h->place];
	return (struct ctp_judge_place){.waits = h->waits, .woken = h->woken, .inside = h->inside, .max_ns = h->max_ns,
	                                .different = h->different};
}

/* A coroutine that waits where something from outside ends waits may go on by itself. */
static bool may_go_on(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	struct ctp_judge_place p = ctp_judge_history(j, co);
	if (co->awaits)
		return false; /* the awaited coroutine decides */
	return p.waits >= j->history && p.woken - p.inside >= j->history;
}

void ctp_judge_look(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) {
		if (co->state == CTP_DEAD)
			continue;
		j->tally->habits.list[co->habit].here++;
		struct ctp_coroutine *parent = co->parent ? ctp_follow_find(j->follow, co->parent) : NULL;
		if (parent)
			parent->flags |= CTP_CO_PARENT;
		bool runs = co->state == CTP_RUNNING && co->flags & CTP_CO_OURS;
		bool active = runs || (co->state == CTP_SUSPENDED && may_go_on(j, co));
		if (!active || co->flags & CTP_CO_STUCK)
			continue;
		j->active_ns[co->habit] = ctp_least(j->active_ns[co->habit], co->since_ns);
		j->any_active_ns = ctp_least(j->any_active_ns, co->since_ns);
	}
}

/* Whether a coroutine has been active since since_ns: it runs, or may go on by itself. */
static bool is_active(const struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t since_ns)
{
	if (co->flags & CTP_CO_STUCK || co->since_ns > since_ns)
		return false;
	return co->state == CTP_RUNNING || (co->state == CTP_SUSPENDED && may_go_on(j, co));
}

bool ctp_judge_waker_may_come(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	enum { CHAIN = 16 };
	const struct ctp_habit *h = &j->tally->habits.list[co->habit];
	uint64_t half_ns = ctp_span_ns(co->suspended_ns, ctp_judge_end_ns(j, co)) / 2, since_ns = co->suspended_ns + half_ns;
	const struct ctp_coroutine *target = co;
	for (int i = 0; i < CHAIN && target && target->state == CTP_SUSPENDED && target->awaits; i++)
		target = ctp_follow_find(j->follow, target->awaits);
	if (target && target != co && target->state != CTP_DEAD)
		return is_active(j, target, since_ns);
	if (h->more_from)
		return j->any_active_ns <= since_ns;
	for (uint32_t i = 0; i < h->nfrom; i++)
		if (h->from[i] != co->habit && j->active_ns[h->from[i]] <= since_ns)
			return true;
	for (uint32_t i = 0; i < h->nwakers; i++) {
		const struct ctp_coroutine *waker = ctp_judge_living(j, h->wakers[i]);
		if (waker && waker != co && is_active(j, waker, since_ns))
			return true;
	}
	return false;
}

/* --- closed sets ---------------------------------------------------------------------------------------------------------- */

/* Whether a possible waker of a stuck coroutine is not stuck. others: there are living coroutines that are not stuck. */
static bool has_way_out(struct ctp_judge *j, const struct ctp_coroutine *co, bool others)
{
	const struct ctp_habit *list = j->tally->habits.list, *h = &list[co->habit];
	const struct ctp_coroutine *target = ctp_judge_living(j, co->awaits);
	if (target)
		return !(target->flags & CTP_CO_STUCK);
	if (h->more_from)
		return others;
	for (uint32_t i = 0; i < h->nfrom; i++) {
		const struct ctp_habit *from = &list[h->from[i]];
		const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, from->spawn);
		if (from->here > from->stuck || (s->died && others))
			return true;
	}
	for (uint32_t i = 0; i < h->nwakers; i++) {
		const struct ctp_coroutine *waker = ctp_judge_living(j, h->wakers[i]);
		if (waker && !(waker->flags & CTP_CO_STUCK))
			return true;
	}
	return false;
}

void ctp_judge_close(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	uint64_t alive = 0, stuck = 0;
	CTP_EACH_COROUTINE(j, co) {
		bool is_stuck = co->state != CTP_DEAD && co->flags & CTP_CO_STUCK;
		alive += co->state != CTP_DEAD;
		stuck += is_stuck;
		j->tally->habits.list[co->habit].stuck += is_stuck;
	}
	enum { PASSES = 64 }; /* a longer chain of wakers is given up, and its coroutines are not stuck */
	bool again = stuck > 0;
	for (uint32_t pass = 0; again; pass++) {
		again = false;
		CTP_EACH_COROUTINE(j, co) {
			bool waits = co->flags & CTP_CO_STUCK && co->state == CTP_SUSPENDED;
			if (!waits || (pass < PASSES && !has_way_out(j, co, alive > stuck)))
				continue;
			struct ctp_habit *h = &j->tally->habits.list[co->habit];
			assert(stuck > 0 && h->stuck > 0);
			co->flags &= (uint16_t)~CTP_CO_STUCK;
			h->stuck--;
			stuck--;
			again = stuck > 0;
		}
	}
}

bool ctp_judge_needs_others(struct ctp_judge *j, const struct ctp_coroutine *co, bool at_rest)
{
	const struct ctp_habit *h = &j->tally->habits.list[co->habit];
	bool peers = !h->more_from;
	for (uint32_t i = 0; i < h->nfrom; i++)
		peers &= j->tally->habits.list[h->from[i]].spawn == co->spawn;
	for (uint32_t i = 0; at_rest && !peers && i < h->nwakers; i++)
		if (!ctp_judge_living(j, h->wakers[i]) || h->more_wakers)
			return false;
	for (uint32_t i = 0; i < h->nfrom; i++)
		if (h->from[i] != co->habit && j->tally->habits.list[h->from[i]].stuck)
			return true;
	for (uint32_t i = 0; i < h->nwakers; i++) {
		const struct ctp_coroutine *waker = ctp_judge_living(j, h->wakers[i]);
		if (waker && waker != co)
			return true;
	}
	return false;
}

/* How long a thread had no time for a coroutine since then: it ran others, or was on a processor, or ready and not on one. */
static uint64_t busy_ns_of(const struct ctp_judge *j, const struct ctp_thread *th, uint64_t since_ns)
{
	uint64_t ns = ctp_span_ns(since_ns, j->end_ns);
	struct ctp_stalls_used seen = ctp_stalls_used(&th->stalls, since_ns);
	uint64_t used_ns = seen.ns ? (uint64_t)((double)seen.used_ns / (double)seen.ns * (double)ns) : 0;
	return ctp_most(used_ns, ctp_thread_busy_ns(th, since_ns));
}

/* A thread that has hardly ever run a coroutine may do something else, and takes none from a queue. */
static uint64_t most_resumes(const struct ctp_judge *j)
{
	uint64_t most = 0;
	for (uint32_t i = 1; i < j->follow->threads->count; i++)
		most = ctp_most(most, j->follow->threads->list[i].resumes);
	return most;
}

bool ctp_judge_is_crowded(const struct ctp_judge *j, uint64_t since_ns)
{
	enum { RARELY = 100 }; /* times as often */
	uint64_t all_ns = 0, busy_ns = 0, most = most_resumes(j);
	for (uint32_t i = 1; i < j->follow->threads->count; i++) {
		const struct ctp_thread *th = &j->follow->threads->list[i];
		if (!th->resumes || th->resumes < most / RARELY)
			continue;
		all_ns += ctp_span_ns(since_ns, j->end_ns);
		busy_ns += busy_ns_of(j, th, since_ns);
	}
	return busy_ns > all_ns / 5 * 4;
}

uint64_t ctp_judge_ready_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint32_t n = j->tally->last_long[co->thread];
	const struct ctp_tally_case *run = n ? &j->tally->runs.cases[n - 1] : NULL;
	uint64_t from_ns = co->since_ns;
	if (run && run->tid == j->follow->threads->list[co->thread].tid && run->from_ns + run->ns > from_ns)
		from_ns = run->from_ns + run->ns;
	return ctp_judge_own_ns(j, from_ns, ctp_judge_end_ns(j, co));
}
