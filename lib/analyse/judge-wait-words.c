/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-wait-words.c - what a finding about waiting coroutines says. */
#include <stdio.h>

#include "analyse/judge-wakers.h"
#include "analyse/judge-object.h"
#include "analyse/judge-own.h"
#include "analyse/judge-why.h"
#include "analyse/judge-words.h"
#include "analyse/judge.h"

enum {
	CIRCLE_LISTED = 6, /* members of a circle that have a line of their own */
	WAKERS_MAX = 32,   /* of all habits of a place */
	WAKERS_NAMED = 3,
	FEW = 3,           /* fewer waits do not tell how waits end */
};

/*
 * The habit in which coroutines of a spawn site wait for something from outside. A spawn site may make coroutines of several sorts, so
 * one that this coroutine has itself comes first. 0: none.
 */
static uint32_t rest_of(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint32_t best = 0, most = 0;
	for (const struct ctp_visits *v = ctp_coro_visits(co); v < ctp_coro_visits(co) + CTP_CO_VISITS; v++) {
		bool outside = v->place && 10 * (uint32_t)v->outside >= 9 * (uint32_t)v->back;
		if (!outside || v->outside <= most)
			continue;
		most = v->outside;
		best = ctp_habits_number(&j->tally->habits, co->spawn, v->place);
	}
	return best && best != co->habit ? best : j->spawns[co->spawn].outside;
}

/* The place where the siblings of the members rest. */
static void say_rest(struct ctp_words *w)
{
	const struct ctp_judge *j = w->j;
	const struct ctp_coroutine *co = ctp_words_first(w);
	uint32_t outside = co ? rest_of(j, co) : 0;
	const struct ctp_habit *h = &j->tally->habits.list[outside];
	uint32_t rest = co ? ctp_tally_spawn(j->tally, co->spawn)->rest : 0;
	uint32_t at = outside ? h->place : rest;
	const char *place = at ? ctp_follow_text(j->follow, at) : "another place";
	const char *idle = ctp_words_they(w, "it is not idle: idle coroutines from the same spawn site wait",
	                                  "they are not idle: idle coroutines from the same spawn site wait");
	if (outside)
		ctp_words_evidence(w, "%s at %s, until something from outside, such as a timer, ends that (%s); here, only coroutines end waits",
		                   idle, place, ctp_words_counted(w, h->woken - h->inside, "time", "times"));
	else
		ctp_words_evidence(w, "%s at %s, where each began; here, only coroutines end waits", idle, place);
}

/* "is suspended too, at pool.c:90:pool_get" */
static const char *state_of(struct ctp_words *w, uint64_t id)
{
	static const char *const states[CTP_STATES] = {"", "has not run yet", "is running", "is suspended too", "is ready to run",
	                                               "has ended"};
	const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, id);
	const char *place = ctp_wait_is(co) ? ctp_follow_text(w->j->follow, ctp_follow_place(w->j->follow, co)) : NULL;
	snprintf(w->places, sizeof w->places, "%s%s%s", states[co ? co->state : CTP_DEAD], place ? ", at " : "", place ? place : "");
	return w->places;
}

/* The coroutines that ended the other waits at the suspend place. */
struct wakers {
	uint64_t id[WAKERS_MAX], ended[WAKERS_MAX];
	uint64_t inside; /* waits that coroutines ended */
	uint32_t n;
	bool more;       /* there are others, and the counts are not known */
};

static void find_wakers(const struct ctp_words *w, struct wakers *to)
{
	const struct ctp_habits *habits = &w->j->tally->habits;
	for (uint32_t i = 1; i < habits->count; i++) {
		const struct ctp_habit *h = &habits->list[i];
		if (h->place != w->g->place || (w->g->spawn && h->spawn != w->g->spawn))
			continue;
		to->inside += h->inside;
		to->more |= h->more_wakers;
		for (uint32_t k = 0; k < h->nwakers; k++) {
			uint32_t at = 0;
			while (at < to->n && to->id[at] != h->wakers[k])
				at++;
			to->more |= at == WAKERS_MAX;
			if (at == WAKERS_MAX)
				break;
			to->n += at == to->n;
			to->id[at] = h->wakers[k];
			to->ended[at] += h->ended[k];
		}
	}
}

/* One coroutine ended nearly all of these waits. */
static void say_one_waker(struct ctp_words *w, uint64_t id, uint64_t ended)
{
	const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, id), *first = ctp_words_first(w);
	bool all = ended == ctp_tally_place(w->j->tally, w->g->place)->wait.count;
	bool active = co && co->state != CTP_DEAD && first &&
	              ctp_judge_is_recent(w->j, ctp_most(co->resumed_ns, co->suspended_ns), first->suspended_ns,
	                                  ctp_judge_end_ns(w->j, first));
	ctp_words_evidence(w, "%s%s of these were ended by %s, which %s", all ? "all " : "", ctp_words_count(w, ended),
	                   ctp_words_any(w, id), active ? "still runs now and then" : state_of(w, id));
}

/*
 * Which coroutines ended the other waits there: one of them may have forgotten this one. Those that are alive are named.
 */
static void say_wakers(struct ctp_words *w)
{
	struct wakers all = {.n = 0};
	char names[WAKERS_NAMED * (sizeof w->label[0] + 2)] = "";
	size_t len = 0;
	uint32_t most = 0, named = 0;
	if (w->g->place)
		find_wakers(w, &all);
	for (uint32_t i = 1; i < all.n; i++)
		most = all.ended[i] > all.ended[most] ? i : most;
	if (all.inside < FEW || !all.n)
		return;
	if (!all.more && 10 * all.ended[most] >= 9 * all.inside) {
		say_one_waker(w, all.id[most], all.ended[most]);
		return;
	}
	for (uint32_t i = 0; i < all.n && named < WAKERS_NAMED; i++)
		if (ctp_judge_living(w->j, all.id[i]))
			len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", named++ ? ", " : "", ctp_words_any(w, all.id[i]));
	const char *every = all.inside == ctp_tally_place(w->j->tally, w->g->place)->wait.count ? "all " : "";
	if (named && (all.more || all.n > named))
		ctp_words_evidence(w, "%s%s of these were ended by coroutines: %s and %s%s", every, ctp_words_count(w, all.inside), names,
		                   all.more ? "more than " : "", ctp_words_counted(w, all.n - named, "other", "others"));
	else if (named)
		ctp_words_evidence(w, "%s%s of these were ended by coroutines: %s", every, ctp_words_count(w, all.inside), names);
}

/* If one member is listed: the coroutine that it awaits, and its last waker. */
static void say_last_waker(struct ctp_words *w)
{
	const struct ctp_report_member *m = w->f->nwho == 1 ? &w->f->who[0] : NULL;
	const struct ctp_coroutine *co = m ? ctp_follow_find(w->j->follow, m->id) : NULL;
	char at[CTP_SITE_TEXT_MAX + 8] = "";
	if (co && co->state == CTP_SUSPENDED && co->awaits)
		ctp_words_evidence(w, "it awaits %s, which %s", ctp_words_any(w, co->awaits), state_of(w, co->awaits));
	bool elsewhere = co && co->before == m->waker && co->before_at && co->before_at != co->place;
	if (elsewhere) /* so that waker need not be the one that should end this wait */
		snprintf(at, sizeof at, ", at %s,", ctp_words_named(ctp_follow_text(w->j->follow, co->before_at)));
	if (m && m->waker && m->waker != m->id)
		ctp_words_evidence(w, "its previous wait%s was ended by %s, which %s", at, ctp_words_any(w, m->waker), state_of(w, m->waker));
}

/* A line of evidence for each reason against the waits. */
static void say_why(struct ctp_words *w)
{
	const struct ctp_group *g = w->g;
	if (g->why & CTP_WHY_PASSING)
		ctp_words_siblings(w);
	if (g->why & CTP_WHY_AWAY)
		say_rest(w);
	if (g->why & CTP_WHY_CIRCLE)
		ctp_words_evidence(w, "every living coroutine that has ended such a wait before waits for far too long, too");
	if (g->why & CTP_WHY_RHYTHM)
		ctp_words_evidence(w, "coroutines that began to wait there later have returned, again and again,"
		                   " in a hundredth of the time");
	if (g->why & CTP_WHY_FORGOTTEN)
		ctp_words_evidence(w, "a hundred times as long as any other wait there, and %s elsewhere",
		                   ctp_words_they(w, "it rests", "they rest"));
	if (g->why & CTP_WHY_FRESH)
		ctp_words_evidence(w, "hardly a coroutine from the same spawn site has ever returned from there");
	if (g->why & CTP_WHY_CHILDREN)
		ctp_words_evidence(w, "children of the waiting coroutine ended such waits before, and %s no living child",
		                   ctp_words_they(w, "it has", "they have"));
	if (g->why & CTP_WHY_AWAITED)
		ctp_words_evidence(w, "others that await %s have waited for far longer than ever before", ctp_words_it(w));
	if (g->why & CTP_WHY_NEEDED)
		ctp_words_evidence(w, "%s for %s, far longer than for any other child", ctp_words_they(w, "its parent waits",
		                   "their parents wait"), ctp_words_it(w));
	if (g->why & CTP_WHY_OVERTAKEN && !(g->why & CTP_WHY_PASSING) && !(g->why & CTP_WHY_CIRCLE))
		ctp_words_evidence(w, "coroutines that began to wait there later have returned, again and again");
}

void ctp_say_waiting(struct ctp_words *w)
{
	const struct ctp_group *g = w->g;
	bool woken = g->rule == CTP_RULE_NEVER_WOKEN;
	ctp_words_title(w, woken ? "%s suspended at %s for %s%s and not woken" : "%s suspended at %s for %s%s", ctp_words_those(w),
	                ctp_words_where(w), ctp_words_they(w, "", "up to "), ctp_words_duration(w, g->longest_ns));
	if (woken)
		ctp_words_giver(w);
	if (g->why == CTP_WHY_STANDSTILL)
		ctp_words_evidence(w, "where the trace ends, %s of %s %s suspended, and nobody is left who could wake %s",
		                   ctp_words_count(w, w->j->waiting),
		                   ctp_words_counted(w, w->j->waiting + w->j->running, "coroutine", "coroutines"),
		                   ctp_word(w->j->waiting, "is", "are"), ctp_word(w->j->waiting, "it", "them"));
	else
		ctp_words_history(w);
	if (g->why != CTP_WHY_STANDSTILL)
		say_wakers(w);
	if (woken)
		ctp_words_evidence(w, "the trace has every wake, and none is for %s", ctp_words_it(w));
	say_why(w);
	const struct ctp_coroutine *first = ctp_words_first(w);
	ctp_words_reasons(w, first);
	say_last_waker(w);
	if (first && w->f->nwho > 1)
		ctp_words_dead_waker(w, first);
	if (g->why & CTP_WHY_QUIET && !(g->why & CTP_WHY_PASSING) && !(g->why & CTP_WHY_CIRCLE))
		ctp_words_evidence(w, "nothing has run since, for far longer than ever before");
	if (first && ctp_wait_is_for_silence(w->j, first))
		ctp_words_next(w, "look at the other side of the connection: is it slow, does it wait for more than it got, or was a request"
		               " not sent whole?");
	else if (w->f->place)
		ctp_words_next(w, "look at whatever ends a wait at %s: does an error, an early return or a close leave a waiter"
		               " without its wake?", ctp_words_where(w));
	else
		ctp_words_next(w, "a probe that gives the place (CTP_HERE, a site) would say where to look");
	if (!woken && !ctp_follow_has_wakes(&w->j->follow->counts))
		ctp_words_next(w, "with wakes in the trace (ctp_coro_wake and the like) it could be told whether anybody woke %s",
		               ctp_words_it(w));
}

void ctp_say_not_resumed(struct ctp_words *w)
{
	const struct ctp_hist *ready = &w->j->tally->ready;
	ctp_words_title(w, "%s woken at %s and not resumed", ctp_words_those(w), ctp_words_where(w));
	ctp_words_evidence(w, "ready to run for %s%s, where %s came %s after the wake at most", ctp_words_they(w, "", "up to "),
	                   ctp_words_duration(w, w->g->longest_ns),
	                   ctp_words_counted(w, ready->count, "other resume", "other resumes"),
	                   ctp_words_duration(w, ready->max_ns));
	ctp_words_stalls(w, ready->max_ns, w->j->tally->ready_ns);
	say_last_waker(w);
	if (ctp_judge_is_crowded(w->j, w->g->from_ns)) {
		ctp_words_evidence(w, "threads ran other coroutines for most of that time, and these always came first");
		ctp_words_next(w, "look at the order of the run queue: can %s come to the front while others are woken again and again?",
		               ctp_words_they(w, "it", "they"));
	} else {
		ctp_words_evidence(w, "threads that run coroutines were idle for most of that time");
		ctp_words_next(w, "look at the run queue: did the wake put %s there, and does a thread still take coroutines from it?",
		               ctp_words_it(w));
	}
}

/* Of the listed members, how many wait for what another coroutine holds, and how many for the end of another one. */
static void count_ways(const struct ctp_words *w, uint32_t *held, uint32_t *joins)
{
	*held = *joins = 0;
	for (uint32_t i = 0; i < w->f->nwho; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, w->f->who[i].id);
		bool is_held = co && ctp_wait_is_held(w->j, co);
		*held += is_held;
		*joins += co && !is_held && co->flags & CTP_CO_JOINS;
	}
}

/* A coroutine that waits for the end of another has nothing to take in an order. */
static void say_way_out(struct ctp_words *w)
{
	uint32_t held, joins;
	count_ways(w, &held, &joins);
	if (joins && held)
		ctp_words_next(w, "do not wait for the end of a coroutine while holding what it needs: give that back first");
	else if (joins && w->f->members == 1)
		ctp_words_next(w, "a coroutine must not wait for its own end");
	else if (joins)
		ctp_words_next(w, "each waits for another one to end: let one of them go on without that, or cancel it");
	else if (w->f->members == 1)
		ctp_words_next(w, "if this is a lock: find where it took the lock before, and release it there");
	else
		ctp_words_next(w, "if these are locks, take them in one order everywhere; else one of the waits must go");
}

static void say_in_circle(struct ctp_words *w, const struct ctp_coroutine *co)
{
	if (ctp_wait_is_held(w->j, co)) {
		ctp_words_reasons(w, co);
		return;
	}
	ctp_words_evidence(w, "%s awaits %s at %s", ctp_words_any(w, co->id), ctp_words_any(w, co->awaits),
	                   ctp_words_named(ctp_follow_text(w->j->follow, ctp_follow_place(w->j->follow, co))));
}

/* The longest wait comes first. */
static void say_circle(struct ctp_words *w)
{
	for (uint32_t i = 0; i < w->f->nwho && i < CIRCLE_LISTED; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, w->f->who[i].id);
		if (co)
			say_in_circle(w, co);
	}
}

/* Of several circles, the one with the longest wait, from member to member. */
static void say_first_circle(struct ctp_words *w)
{
	const struct ctp_coroutine *first = ctp_words_first(w), *co = first;
	for (uint32_t i = 0; co && i < CIRCLE_LISTED; i++) {
		say_in_circle(w, co);
		co = ctp_follow_find(w->j->follow, co->awaits);
		if (co == first)
			return;
	}
}

void ctp_say_cycle(struct ctp_words *w)
{
	uint64_t circles = w->g->circles;
	if (w->f->members == 1 || w->f->members == circles)
		ctp_words_title(w, "%s %s at %s", ctp_words_those(w), ctp_words_they(w, "waits for itself", "wait, each for itself,"),
		                ctp_words_places(w));
	else if (circles > 1)
		ctp_words_title(w, "%s wait for one another in %s circles, at %s", ctp_words_those(w), ctp_words_count(w, circles),
		                ctp_words_places(w));
	else
		ctp_words_title(w, "%s wait for one another in a circle, at %s", ctp_words_those(w), ctp_words_places(w));
	if (circles > 1)
		say_first_circle(w);
	else
		say_circle(w);
	if (w->f->members == 1)
		ctp_words_writer(w, ctp_words_first(w));
	if (circles > 1)
		ctp_words_evidence(w, "and so in %s", ctp_words_counted(w, circles - 1, "other circle", "other circles"));
	say_way_out(w);
}

void ctp_say_awaits_dead(struct ctp_words *w)
{
	ctp_words_title(w, "%s %s at %s for %s", ctp_words_those(w), ctp_words_they(w, "waits", "wait"), ctp_words_where(w),
	                ctp_words_they(w, "a coroutine that is dead", "coroutines that are dead"));
	ctp_words_evidence(w, "suspended for %s%s", ctp_words_they(w, "", "up to "), ctp_words_duration(w, w->g->longest_ns));
	for (uint32_t i = 0; i < w->f->nwho && i < CTP_WORDS_LISTED; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, w->f->who[i].id);
		if (co)
			ctp_words_evidence(w, "%s awaits %s, which has ended and did not wake it",
			                   ctp_words_member(w, &w->f->who[i]), ctp_words_any(w, co->awaits));
	}
	ctp_words_next(w, "see that whatever ends what %s for, also an exception or destruction, wakes %s",
	               ctp_words_they(w, "it waits", "they wait"), ctp_words_it(w));
}

void ctp_say_leaked(struct ctp_words *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	ctp_words_title(w, "%s leaked: suspended at %s, where hardly any wait has ended", ctp_words_those(w), ctp_words_where(w));
	ctp_words_evidence(w, "alive for %s%s", ctp_words_they(w, "", "up to "), ctp_words_duration(w, w->g->longest_ns));
	ctp_words_evidence(w, "%s ended, after %s at most",
	                   ctp_words_counted(w, s->life.count, "spawned at the same place has", "spawned at the same place have"),
	                   ctp_words_duration(w, s->life.max_ns));
	ctp_words_stalls(w, s->life.max_ns, s->life_ns);
	ctp_words_next(w, "see how %s differ%s from those that ended, and what should resume or destroy %s",
	               ctp_words_they(w, "it", "they"), ctp_words_they(w, "s", ""), ctp_words_it(w));
}

void ctp_say_never_started(struct ctp_words *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	ctp_words_title(w, "%s spawned at %s and never run", ctp_words_those(w), ctp_words_made(w));
	ctp_words_evidence(w, "spawned %s%s ago; %s run after %s at most", ctp_words_they(w, "", "up to "),
	                   ctp_words_duration(w, w->g->longest_ns),
	                   ctp_words_counted(w, s->start.count, "other from the same place was", "others from the same place were"),
	                   ctp_words_duration(w, s->start.max_ns));
	ctp_words_stalls(w, s->start.max_ns, s->start_ns);
	ctp_words_next(w, "%s made and then neither awaited nor given to the scheduler?",
	               ctp_words_they(w, "was the task", "were the tasks"));
}

void ctp_say_standstill(struct ctp_words *w)
{
	const struct ctp_proc_seen *seen = &w->j->follow->seen;
	ctp_words_title(w, "the whole program stands still: %s at %s, and no thread runs",
	                ctp_words_counted(w, w->f->members, "coroutine waits", "coroutines wait"), ctp_words_places(w));
	ctp_words_evidence(w, "all threads were asleep %s and %s after the start, with no time on a processor in between",
	                   ctp_words_duration(w, ctp_span_ns(w->j->start_ns, seen->still_from_ns)),
	                   ctp_words_duration(w, ctp_span_ns(w->j->start_ns, seen->still_to_ns)));
	ctp_words_evidence(w, "before that, no pause between two resumes was longer than %s",
	                   ctp_words_duration(w, w->j->tally->longest_pause_ns));
	if (ctp_follow_has_wakes(&w->j->follow->counts))
		ctp_words_evidence(w, "nobody waits where something from outside is known to have woken anybody");
	struct ctp_coroutine *co;
	uint32_t shown = 0;
	for (uint32_t at = 0; (co = ctp_follow_each(w->j->follow, &at)) && shown < CTP_WORDS_LISTED;) {
		const char *place = ctp_follow_text(w->j->follow, ctp_follow_place(w->j->follow, co));
		if (!ctp_judge_blocks(w->j, co))
			continue;
		ctp_words_evidence(w, "%s is asleep on thread %ju, in the middle of a run%s%s", ctp_words_any(w, co->id),
		                   (uintmax_t)w->j->follow->threads->list[co->thread].tid, place ? " from " : "",
		                   place ? place : "");
		shown++;
	}
	ctp_words_next(w, "look for two locks taken in two orders, a queue that is full at both ends, or a wake that came when nobody"
	               " waited yet");
}
