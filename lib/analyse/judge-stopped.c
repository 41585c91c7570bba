/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-stopped.c - most of the coroutines that worked have stopped, and no rule about a single wait says why.
 *
 * When the load of a server ends, its coroutines stop together, too, and that is healthy. What tells the two apart is where work comes
 * from. A wait among equals is one that only coroutines of the same spawn place have ever ended, as waits for a lock, a permit or a
 * turn are: nothing from outside and no other sort of coroutine brings work there. So nobody is idle there; who waits there far
 * longer than ever before has stopped. A coroutine that waits elsewhere has stopped if it waits for a lock, for permits or for room
 * as the program says; or not where it rests; or if all coroutines that used to wake it have stopped.
 *
 * The finding needs that half of those that worked have stopped, and that one of them waits among equals. If fewer have stopped,
 * they may only have bad luck with their turns; if none waits among equals, they may just have nothing to do.
 */
#include "analyse/judge.h"

#include <stdlib.h>

#include "analyse/judge-object.h"
#include "analyse/judge-own.h"
#include "analyse/judge-wakers.h"
#include "analyse/judge-why.h"
#include "analyse/judge-words.h"

enum {
	STOPPED_MIN = 3, /* fewer are no hang of everything */
	PASSES = 16,     /* over all coroutines, at most, to find those that wait for stopped ones */
};

/* In visit. */
enum { GOES_ON, STOPPED };

/* By spawn place. */
struct spawned {
	uint64_t alive, stopped;
};

/* Only coroutines of its own spawn place end the waits of a habit, and each of these wakes is in the trace. */
static bool is_among_equals(const struct ctp_judge *j, const struct ctp_habit *h)
{
	bool closed = h->waits >= CTP_JUDGE_HISTORY && h->woken == h->waits && h->inside == h->woken;
	bool peers = closed && h->different >= CTP_HABIT_DIFFERENT && h->nfrom && !h->more_from && !ctp_habit_is_for_children(h);
	for (uint32_t i = 0; peers && i < h->nfrom; i++)
		peers = j->tally->habits.list[h->from[i]].spawn == h->spawn;
	return peers;
}

/* It has waited for a second or longer, and far longer than anything ever waited there. */
static bool waits_too_long(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint64_t ns = ctp_wait_own_ns(j, co);
	struct ctp_judge_place p = ctp_judge_history(j, co);
	return p.waits >= CTP_JUDGE_HISTORY && ns >= CTP_JUDGE_QUIET_NS && ns / CTP_JUDGE_FACTOR >= p.max_ns;
}

/* Its wait may have stopped, as far as only that is looked at. */
static bool may_have_stopped(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	bool known = ctp_wait_is(co) && ctp_has_run(co) && !ctp_judge_in_doubt(j, co) && !(co->flags & CTP_CO_TAIL);
	bool in_order = !known || ctp_habit_is_called(ctp_habit_of(j, co)) || ctp_wait_is_quiet(j, co) || ctp_wait_may_rest(j, co);
	bool idle = in_order || (ctp_wait_is_for_silence(j, co) && !ctp_wait_is_unanswered(j, co));
	return !idle && waits_too_long(j, co);
}

static bool is_at_rest(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return j->spawns[co->spawn].outside == co->habit || ctp_spawn_is_at_rest(j, co->spawn, ctp_follow_place(j->follow, co));
}

/* Whether the wait says by itself that the coroutine has stopped. */
static bool has_stopped(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	if (!may_have_stopped(j, co))
		return false;
	if (is_among_equals(j, ctp_habit_of(j, co)) || ctp_wait_is_for_turn(j, co))
		return true;
	return !co->awaits && !is_at_rest(j, co);
}

/* All coroutines that used to end its waits have stopped: of each of their spawn places, all that are alive. */
static bool have_wakers_stopped(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct spawned *by)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	const struct ctp_coroutine *target = ctp_judge_living(j, co->awaits);
	if (target)
		return ctp_judged(target)->visit == STOPPED;
	bool all = h->inside == h->waits && h->nfrom && !h->more_from;
	for (uint32_t i = 0; all && i < h->nfrom; i++) {
		const struct spawned *s = &by[j->tally->habits.list[h->from[i]].spawn];
		all = s->alive && s->stopped == s->alive;
	}
	return all;
}

static void stop(struct ctp_coroutine *co, struct spawned *by)
{
	ctp_judged(co)->visit = STOPPED;
	by[co->spawn].stopped++;
}

static void find_stopped(struct ctp_judge *j, struct spawned *by)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) {
		ctp_judged(co)->visit = GOES_ON;
		by[co->spawn].alive += co->state != CTP_DEAD;
	}
	CTP_EACH_COROUTINE(j, co)
		if (has_stopped(j, co))
			stop(co, by);
	bool again = true;
	for (unsigned pass = 0; again && pass < PASSES; pass++) {
		again = false;
		CTP_EACH_COROUTINE(j, co)
			if (ctp_judged(co)->visit == GOES_ON && may_have_stopped(j, co) && have_wakers_stopped(j, co, by)) {
				stop(co, by);
				again = true;
			}
	}
}

/* It has waited at several places, or among equals: it did more than to wait for work. */
static bool has_worked(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint32_t places = 0;
	for (const struct ctp_visits *v = ctp_coro_visits(co); v < ctp_coro_visits(co) + CTP_CO_VISITS; v++)
		places += v->place && v->back;
	return co->state != CTP_DEAD && (places > 1 || (ctp_wait_is(co) && is_among_equals(j, ctp_habit_of(j, co))));
}

/* Whether a finding says already what stopped. */
static bool is_explained(const struct ctp_judge *j)
{
	for (uint32_t i = 0; i < j->ngroups; i++) {
		const struct ctp_group *g = &j->groups[i];
		if (ctp_rule_stops(g->rule) && g->by_certainty[CTP_CERTAIN_LIKELY] + g->by_certainty[CTP_CERTAIN_PROVED])
			return true;
	}
	return false;
}

/* The place where most of them wait among equals. */
static uint32_t main_place(struct ctp_judge *j)
{
	uint64_t *at = calloc(j->follow->places->count, sizeof *at);
	uint32_t most = 0;
	struct ctp_coroutine *co;
	j->failed |= !at;
	for (uint32_t i = 0; at && (co = ctp_follow_each(j->follow, &i));) {
		if (ctp_judged(co)->visit != STOPPED || !is_among_equals(j, ctp_habit_of(j, co)))
			continue;
		uint32_t place = ctp_follow_place(j->follow, co);
		most = ++at[place] > at[most] ? place : most;
	}
	free(at);
	return most;
}

static void add_stopped(struct ctp_judge *j, uint64_t worked)
{
	struct ctp_coroutine *co;
	struct ctp_group *g = ctp_judge_group(j, CTP_RULE_WORK_STOPPED, 0, main_place(j));
	if (!g)
		return;
	g->count = worked;
	CTP_EACH_COROUTINE(j, co) {
		if (ctp_judged(co)->visit != STOPPED || !has_worked(j, co) || co->flags & CTP_CO_FOUND)
			continue;
		enum ctp_certainty sure = ctp_judge_sure(j, co, true);
		g->there += ctp_follow_place(j->follow, co) == g->place;
		ctp_judge_add(j, g, co, sure == CTP_CERTAIN_PROVED ? CTP_CERTAIN_LIKELY : sure, co->suspended_ns, ctp_wait_ns(j, co));
	}
}

void ctp_judge_stopped(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	struct spawned *by = calloc(j->follow->places->count, sizeof *by);
	uint64_t worked = 0, stopped = 0, equals = 0;
	j->failed |= !by;
	if (!by || is_explained(j) || !ctp_follow_has_wakes(&j->follow->counts)) {
		free(by);
		return;
	}
	find_stopped(j, by);
	CTP_EACH_COROUTINE(j, co) {
		bool counts = has_worked(j, co);
		worked += counts;
		stopped += counts && ctp_judged(co)->visit == STOPPED;
		equals += counts && ctp_judged(co)->visit == STOPPED && is_among_equals(j, ctp_habit_of(j, co));
	}
	if (stopped >= STOPPED_MIN && 2 * stopped >= worked && equals)
		add_stopped(j, worked);
	free(by);
}

/* --- words ---------------------------------------------------------------------------------------------------------------- */

/* The member that has waited longest. */
static const struct ctp_coroutine *first_stopped(const struct ctp_words *w) { return ctp_words_first(w); }

void ctp_say_stopped(struct ctp_words *w)
{
	const struct ctp_group *g = w->g;
	const struct ctp_coroutine *first = first_stopped(w);
	ctp_words_title(w, "%s of %s that worked %s stopped, at %s, for up to %s", ctp_words_count(w, w->f->members),
	                ctp_words_counted(w, g->count, "coroutine", "coroutines"), ctp_words_they(w, "has", "have"),
	                ctp_words_where(w), ctp_words_duration(w, g->longest_ns));
	ctp_words_evidence(w, "%s there, where only coroutines of the same spawn site have ever ended waits",
	                   ctp_words_counted(w, g->there, "waits", "wait"));
	ctp_words_history(w);
	if (first)
		ctp_words_evidence(w, "the first that stopped is %s, at %s, %s; it need not be the cause", ctp_words_any(w, first->id),
		                   ctp_words_named(ctp_follow_text(w->j->follow, ctp_follow_place(w->j->follow, first))),
		                   ctp_words_when(w, ctp_span_ns(w->j->start_ns, first->suspended_ns)));
	ctp_words_next(w, "what %s wait for at %s? If that is a lock or a pool, tell it with ctp_coro_waits_for, ctp_object and"
	               " ctp_coro_holds: then the report says who has it", ctp_words_they(w, "does it", "do they"), ctp_words_where(w));
}
