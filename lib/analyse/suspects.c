/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * suspects.c - waits that stand out, and the excuse that keeps each from being a finding.
 *
 * A wait stands out by one of three comparisons. At a place whose waits coroutines end: it is ten times as long as the longest that
 * ended there, and this coroutine has returned from there before. At any other place: it is thirty times the 99th percentile, this
 * coroutine has returned from there at least once, the rest of the program still runs, and at most half of the coroutines at the
 * place stand out, for else the place is only quiet; or this coroutine usually waits far longer at another place, so that it does
 * not rest here; or it has returned from here often, and no wait that ended took a tenth of the time. At a place where hardly a
 * wait has ended: it is as long as half of the trace, and the coroutine is missed (is_missed). Of coroutines that wait once and
 * end, none has returned before: there it is enough that many have ended, and that this one is ten times as old as any of them
 * became. A coroutine that was woken stands out if it has been ready for ten times as long as any was that was resumed; where
 * hardly one was, for half of the trace as well.
 *
 * A coroutine that awaits a living one is no suspect: the coroutine at the end of the chain is, and if that one still moves, there
 * is none. The same holds for a parent at a place where children end the waits. A place that a finding names already needs no
 * suspect.
 */
#include "analyse/suspects.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/findings.h"
#include "analyse/judge-wakers.h"
#include "analyse/judge-object.h"
#include "analyse/judge-own.h"
#include "analyse/judge-rest.h"
#include "analyse/judge-why.h"
#include "analyse/judge-words.h"
#include "base/array.h"

#define NO_CAUSE UINT32_MAX

enum {
	FEW_ENDED = 3,      /* fewer waits that ended are no history */
	FACTOR_INSIDE = 10, /* times the longest wait that ended, where coroutines end them */
	FACTOR_OUTSIDE = 30, /* times the 99th percentile, where something else may */
	RATIO_MAX = 100,    /* a larger ratio says no more */
	CHAIN = 64,         /* awaits that are followed */
	FACTOR_DEPENDENT = 3, /* times the longest wait that ended, where only suspects have ended waits */
	PLACES = 3,         /* of coroutines that wait for a suspect, which are named */
};

/* Suspects at one place; in a program with one or two places, of one spawn place too. */
struct suspicion {
	struct ctp_group group;
	uint32_t number;                /* in the list when it was made, from 1 on: visit of the members */
	bool ready;                     /* the members were woken, and not resumed */
	uint64_t ratio;                 /* the largest of a member */
	uint64_t far;                   /* coroutines that stand out, and await a member */
	uint64_t waiting;               /* all that await a member, or one that does; */
	uint32_t waits_at[PLACES];      /* places of these, the ones that await a member themselves first */
	const struct ctp_coroutine *co; /* the member with that ratio */
	uint64_t dependents, dependents_ns; /* coroutines at a place where only members have ended waits, and the longest of their waits */
	uint32_t dependents_at;         /* that place; 0: there is none */
};

struct suspects {
	struct ctp_judge *j;
	uint64_t *open, *far;    /* by place: coroutines that wait there; those that the ratio makes stand out */
	bool *found;             /* by place: a coroutine that waits there is in a finding, or the finding growth names the place */
	uint32_t *cause;         /* by place: number + 1 in list of the one whose members ended all waits there; 0: none ended; or NO_CAUSE */
	uint32_t *number;        /* by place or habit, and whether its members are ready: number + 1 in list; 0: none yet */
	struct suspicion *list;
	uint32_t count;
	size_t room;
	uint32_t one;            /* the place that nearly all suspensions have; 0: there is none */
};

/* In a gap that goes on to the end, a coroutine may have run on. */
static bool waits_still(const struct ctp_coroutine *co) { return ctp_wait_is(co) && !(co->flags & CTP_CO_TAIL); }

/* --- what stands out ------------------------------------------------------------------------------------------------------ */

static uint64_t ratio_of(uint64_t ns, uint64_t usual_ns)
{
	uint64_t ratio = usual_ns ? ns / usual_ns : RATIO_MAX;
	return ratio < RATIO_MAX ? ratio : RATIO_MAX;
}

/* The coroutine has returned from there often, and each wait took less than a tenth of this one. */
static bool is_stopped(const struct ctp_judge *j, const struct ctp_coroutine *co, uint32_t place)
{
	uint64_t ns = ctp_wait_own_ns(j, co);
	return ctp_own_visits(co, place)->back >= j->visits && ns >= CTP_JUDGE_QUIET_NS && ns / FACTOR_INSIDE >= j->places[place].max_ns;
}

/*
 * For a place where hardly a wait has ended. Whether another coroutine waits for this one, or this one has run often, or coroutines
 * of its spawn place have often passed the place without a wait. A coroutine for which none of this holds may be an accept loop, or
 * wait for a timer of an hour.
 */
static bool is_missed(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return co->flags & CTP_CO_NEEDED || ctp_judged(co)->depth || ctp_habit_of(j, co)->self >= j->history ||
	       co->resumes >= j->history;
}

/* Many coroutines made at the same place have ended, and this one is far older than any of them became: a stuck request, say. */
static bool outlives(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_hist *life = &ctp_tally_spawn(j->tally, co->spawn)->life;
	uint64_t age_ns = ctp_follow_ns(j->follow, co->born_ns, ctp_judge_end_ns(j, co));
	return life->count >= j->history && age_ns / FACTOR_INSIDE >= ctp_tally_spawn(j->tally, co->spawn)->life_ns;
}

static bool is_half_of_trace(const struct ctp_judge *j, uint64_t ns)
{
	return ns >= CTP_JUDGE_QUIET_NS && ns >= ctp_follow_ns(j->follow, j->start_ns, j->end_ns) / 2;
}

/* How many times as long as usual the wait of a coroutine is, by its place alone; 0: not far longer. */
static uint64_t how_far(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint32_t place = ctp_follow_place(j->follow, co);
	const struct ctp_judge_place *p = &j->places[place];
	uint64_t ns = ctp_wait_own_ns(j, co), returned = ctp_own_visits(co, place)->back;
	if (!place || ns < CTP_JUDGE_FLOOR_NS || ctp_habit_is_called(ctp_habit_of(j, co)))
		return 0;
	if (p->waits < FEW_ENDED)
		return is_half_of_trace(j, ns) && is_missed(j, co) ? 1 : 0;
	if (ctp_place_is_inside(*p))
		return ns / FACTOR_INSIDE >= p->max_ns && returned >= j->visits ? ratio_of(ns, p->max_ns) : 0;
	uint64_t p99_ns = ctp_hist_quantile(&ctp_tally_place(j->tally, place)->wait, 0.99);
	bool far = (ns / FACTOR_OUTSIDE >= p99_ns && (returned || outlives(j, co))) || is_stopped(j, co, place);
	return far ? ratio_of(ns, p99_ns) : 0;
}

/* How long a coroutine has been ready, or else has waited. */
static uint64_t open_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return co->state == CTP_RUNNABLE ? ctp_judge_ready_ns(j, co) : ctp_wait_ns(j, co);
}

/* How many times as long as any other a coroutine has been ready; 0: not far longer. */
static uint64_t how_late(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_hist *ready = &j->tally->ready;
	uint64_t ns = open_ns(j, co), longest_ns = j->tally->ready_ns;
	if (ready->count >= CTP_JUDGE_HISTORY)
		return ctp_judge_too_long(ready, longest_ns, ns) ? ratio_of(ns, longest_ns) : 0;
	/* Hardly one was woken and resumed, as in a trace of one moment. */
	return is_half_of_trace(j, ns) && ns / FACTOR_INSIDE >= longest_ns ? 1 : 0;
}

/*
 * The place that nearly all suspensions have, as in a program whose one park function records its own place; 0: there is none.
 * Coroutines end some of the waits there, and something else ends others: so they wait for various things, and cannot be compared.
 */
static uint32_t one_site(const struct suspects *all)
{
	const struct ctp_judge *j = all->j;
	uint64_t waits = 0;
	uint32_t most = 0;
	for (uint32_t i = 0; i < j->follow->places->count; i++) {
		waits += j->places[i].waits;
		most = j->places[i].waits > j->places[most].waits ? i : most;
	}
	const struct ctp_judge_place *p = &j->places[most];
	bool nearly_all = p->waits >= CTP_JUDGE_HISTORY && 10 * p->waits >= 9 * waits && all->open[most];
	bool various = !p->woken || (10 * p->inside >= p->woken && 10 * p->inside < 9 * p->woken);
	return nearly_all && various ? most : 0;
}

/* How many times as long as usual, with what the place and the program say against it. */
static uint64_t stands_out(const struct suspects *all, const struct ctp_coroutine *co)
{
	const struct ctp_judge *j = all->j;
	if (co->state == CTP_RUNNABLE)
		return how_late(j, co);
	uint32_t place = ctp_follow_place(j->follow, co);
	const struct ctp_judge_place *p = &j->places[place];
	uint64_t ratio = how_far(j, co);
	/* Waits there cannot be compared; but where the whole program stands still, one of them is the reason. */
	if (!ratio && place && place == all->one && ctp_wait_ns(j, co) >= CTP_JUDGE_QUIET_NS && ctp_judge_stands_still(j))
		return 1;
	if (!ratio || p->waits < FEW_ENDED || ctp_place_is_inside(*p))
		return ratio;
	bool quiet = 2 * all->far[place] > all->open[place];
	bool runs = ctp_judge_is_recent(j, j->tally->last_resume_ns, co->suspended_ns, ctp_judge_end_ns(j, co));
	return (!quiet && runs) || is_stopped(j, co, place) || outlives(j, co) || ctp_own_rests_elsewhere(j, co, place) ? ratio : 0;
}

/* The living coroutine that a waiting one waits for, as the trace or earlier waits at the place tell; or null. */
static struct ctp_coroutine *waits_for(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	if (co->awaits)
		return ctp_judge_living(j, co->awaits);
	bool for_child = ctp_habit_is_for_children(ctp_habit_of(j, co)) && ctp_judged(co)->blames;
	return for_child && ctp_judged(co)->blames->state != CTP_DEAD ? ctp_judged(co)->blames : NULL;
}

/* The coroutine at the end of the chain of such waits, or co itself; null: that coroutine still moves, and so the wait may end. */
static struct ctp_coroutine *end_of_chain(struct ctp_judge *j, struct ctp_coroutine *co)
{
	struct ctp_coroutine *end = co, *next;
	for (int i = 0; i < CHAIN && ctp_wait_is(end) && (next = waits_for(j, end)) && next != co; i++)
		end = next;
	bool stays = end->state == CTP_RUNNABLE ? how_late(j, end) : waits_still(end);
	bool moves = !stays || ctp_judge_is_recent(j, end->resumed_ns, co->suspended_ns, ctp_judge_end_ns(j, co));
	return end != co && moves ? NULL : end;
}

/* --- suspicions ----------------------------------------------------------------------------------------------------------- */

/* Null: out of memory. */
static struct suspicion *suspicion_of(struct suspects *all, const struct ctp_coroutine *co)
{
	struct ctp_judge *j = all->j;
	bool ready = co->state == CTP_RUNNABLE;
	uint32_t place = ctp_follow_place(j->follow, co), *number = &all->number[2 * (j->nplaces > 2 ? place : co->habit) + ready];
	if (*number)
		return &all->list[*number - 1];
	if (!CTP_ARRAY_RESERVE(all->list, all->room, all->count + 1, CTP_FOLLOW_MAX))
		return NULL;
	all->list[all->count] = (struct suspicion){.ready = ready,
		.group = {.place = place, .spawn = co->spawn, .shortest_ns = UINT64_MAX, .from_ns = UINT64_MAX}};
	all->list[all->count].number = all->count + 1;
	*number = ++all->count;
	return &all->list[all->count - 1];
}

/* The wait is in order, because of what it is for. */
static bool is_quiet(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_wait_may_rest(j, co) || (ctp_wait_is_quiet(j, co) && !ctp_wait_is_far_off(j, co));
}

/* A finding explains the wait: it has the coroutine, its place, or the child that it waits for. */
static bool is_explained(const struct suspects *all, const struct ctp_coroutine *co)
{
	const struct ctp_coroutine *child = ctp_judged(co)->blames;
	bool by_child = child && child->flags & CTP_CO_FOUND && ctp_own_is_for(co, child);
	return co->flags & CTP_CO_FOUND || all->found[ctp_follow_place(all->j->follow, co)] || by_child;
}

static bool suspect(struct suspects *all, struct ctp_coroutine *co)
{
	struct ctp_judge *j = all->j;
	bool passing = ctp_habit_is_passing(j, co->habit, co->suspended_ns, ctp_wait_own_ns(j, co)); /* it was meant to end, too */
	bool rests = !passing && !ctp_wait_is_for_turn(j, co) && ctp_spawn_is_at_rest(j, co->spawn, ctp_follow_place(j->follow, co));
	bool idle = is_quiet(j, co) || (rests && ctp_wait_is_for_idle(j, co) && !ctp_wait_is_out_of_rhythm(j, co));
	uint64_t ratio = idle ? 0 : stands_out(all, co);
	struct ctp_coroutine *end = ratio ? end_of_chain(j, co) : NULL;
	if (!end || is_quiet(j, end) || is_explained(all, end))
		return true;
	struct suspicion *s = suspicion_of(all, end);
	if (!s)
		return false;
	s->far += end != co;
	if (ratio > s->ratio) {
		s->ratio = ratio;
		s->co = end;
	}
	if (ctp_judged(end)->visit) /* a coroutine that awaits this one was looked at before */
		return true;
	ctp_judged(end)->visit = s->number;
	bool unknown = ctp_judge_sure(j, end, true) == CTP_CERTAIN_UNKNOWN;
	ctp_group_add(j, &s->group, end, unknown ? CTP_CERTAIN_UNKNOWN : CTP_CERTAIN_POSSIBLE,
	              s->ready ? end->since_ns : ctp_coroutine_waits_since(end), open_ns(j, end));
	return !j->failed;
}

/* Counts a coroutine that waits for a suspect, and keeps its place. It need not stand out itself. */
static void add_waiting(struct suspects *all, struct ctp_coroutine *co)
{
	struct ctp_coroutine *end = end_of_chain(all->j, co);
	struct suspicion *s = end && end != co && ctp_judged(end)->visit ? suspicion_of(all, end) : NULL;
	uint32_t place = ctp_follow_place(all->j->follow, co), i = 0;
	if (!s)
		return;
	s->waiting++;
	while (i < PLACES && s->waits_at[i] && s->waits_at[i] != place)
		i++;
	if (waits_for(all->j, co) == end) { /* the nearest come first */
		i = i < PLACES ? i : PLACES - 1;
		memmove(s->waits_at + 1, s->waits_at, i * sizeof *s->waits_at);
		i = 0;
	}
	if (i < PLACES)
		s->waits_at[i] = place;
}

/* The suspicion that has all coroutines that have ended waits of the habit; or null. */
static struct suspicion *wakers_of(struct suspects *all, const struct ctp_habit *h)
{
	size_t one = 0; /* its number, from 1: the list may move */
	for (uint32_t i = 0; i < h->nwakers && !h->more_wakers; i++) {
		const struct ctp_coroutine *waker = ctp_judge_living(all->j, h->wakers[i]);
		struct suspicion *s = waker && ctp_wait_is(waker) && ctp_judged(waker)->visit ? suspicion_of(all, waker) : NULL;
		size_t number = s ? (size_t)(s - all->list) + 1 : 0;
		if (!number || (one && number != one))
			return NULL;
		one = number;
	}
	return one && !h->more_wakers ? &all->list[one - 1] : NULL;
}

static void find_causes(struct suspects *all)
{
	const struct ctp_habits *habits = &all->j->tally->habits;
	for (uint32_t i = 1; i < habits->count; i++) {
		const struct ctp_habit *h = &habits->list[i];
		struct suspicion *s = h->waits ? wakers_of(all, h) : NULL;
		uint32_t number = s ? (uint32_t)(s - all->list) + 1 : NO_CAUSE, *cause = &all->cause[h->place];
		if (h->waits)
			*cause = !*cause || *cause == number ? number : NO_CAUSE;
	}
}

/*
 * Counts a coroutine whose wait only suspects could end, as far as is known, and which is longer than any that ended there. By itself it
 * does not stand out: it may be idle.
 */
static void add_dependent(struct suspects *all, const struct ctp_coroutine *co)
{
	struct ctp_judge *j = all->j;
	uint32_t place = ctp_follow_place(j->follow, co);
	const struct ctp_judge_place *p = &j->places[place];
	uint64_t ns = ctp_wait_own_ns(j, co);
	bool longer = ns >= CTP_JUDGE_FLOOR_NS && ns / FACTOR_DEPENDENT >= p->max_ns;
	if (!place || ctp_judged(co)->visit || p->waits < j->history || !ctp_place_is_closed(*p) || !longer || is_quiet(j, co))
		return;
	struct suspicion *s = co->awaits || !all->cause[place] || all->cause[place] == NO_CAUSE ? NULL : &all->list[all->cause[place] - 1];
	if (!s || (s->dependents_at && s->dependents_at != place))
		return;
	s->dependents_at = place;
	s->dependents++;
	s->dependents_ns = ns > s->dependents_ns ? ns : s->dependents_ns;
}

static uint64_t members_of(const struct suspicion *s)
{
	return s->group.by_certainty[CTP_CERTAIN_POSSIBLE] + s->group.by_certainty[CTP_CERTAIN_UNKNOWN];
}

/* The more coroutines, and the farther from what is usual, the more a suspicion stands out. */
static uint64_t weight(const struct suspicion *s) { return (members_of(s) + s->far) * s->ratio; }

static int by_weight(const void *a, const void *b) { return ctp_most_first(weight(a), weight(b)); }

/* --- words ---------------------------------------------------------------------------------------------------------------- */

static void say_lost(struct ctp_words *w)
{
	const struct ctp_follow_counts *c = &w->j->follow->counts;
	if (c->lost)
		ctp_words_excuse(w, "%s lost, and what ended the wait may be among them",
		                   ctp_words_counted(w, c->lost, "event was", "events were"));
	else if (c->missed)
		ctp_words_excuse(w, "%s lost, and the one that ended the wait may be among them",
		                   ctp_words_counted(w, c->missed, "wake or await was", "wakes or awaits were"));
	else
		ctp_words_excuse(w, "events are missing from the trace, and what ended the wait may be among them");
}

static void say_nothing_ended(struct ctp_words *w, const struct ctp_judge_place *p)
{
	char yields[80] = "";
	if (p->self)
		snprintf(yields, sizeof yields, ", and coroutines only yielded there %s",
		         ctp_words_counted(w, p->self, "time", "times"));
	ctp_words_excuse(w, "there is nothing to compare with: %s has ended there%s", p->waits ? "hardly a wait" : "no wait", yields);
}

/* It waits where its coroutines rest, and does not say that it needs something there. */
static bool may_be_idle(const struct ctp_judge *j, const struct ctp_coroutine *co, uint32_t place)
{
	return !ctp_wait_is_for_turn(j, co) && !ctp_own_rests_elsewhere(j, co, place) && ctp_spawn_is_at_rest(j, co->spawn, place);
}

static void say_excuse(struct ctp_words *w, const struct suspicion *s, uint32_t one)
{
	struct ctp_judge *j = w->j;
	const struct ctp_coroutine *co = s->co, *waker = ctp_own_active_waker(j, co);
	const struct ctp_judge_place *p = &j->places[s->group.place];
	if (!s->group.by_certainty[CTP_CERTAIN_POSSIBLE])
		say_lost(w);
	else if (s->group.place == one && s->ratio == 1)
		ctp_words_excuse(w, "nearly all suspensions have this site, so these waits cannot be compared with others");
	else if (s->ready)
		ctp_words_excuse(w, "threads were busy with other coroutines, which may come first by design");
	else if (p->waits < FEW_ENDED)
		say_nothing_ended(w, p);
	else if (waker)
		ctp_words_excuse(w, "%s, which has ended such a wait before, still runs now and then", ctp_words_any(w, waker->id));
	else if (!ctp_follow_has_wakes(&j->follow->counts))
		ctp_words_excuse(w, "the trace has no wakes (ctp_coro_wake): a coroutine that is only idle looks the same");
	else if (may_be_idle(j, co, s->group.place))
		ctp_words_excuse(w, "%s may have nothing to do: coroutines spawned at the same place %s", ctp_words_they(w, "it", "they"),
		                   ctp_tally_spawn(j->tally, co->spawn)->rest_votes ? "suspend there first" : "return there again and again");
	else if (!ctp_place_is_inside(*p))
		ctp_words_excuse(w, "something other than a coroutine, such as a timer or a socket, may still end the wait");
	else
		ctp_words_excuse(w, "the trace does not show which coroutine should have ended the wait");
}

struct ended {
	uint64_t count, max_ns, p99_ns;
};

/*
 * What the members are compared with: waits at the place that ended; or the times from all wakes to their resumes. The
 * times of a place include yields, so they are left out where hardly anything else has ended.
 */
static struct ended ended_at(const struct ctp_judge *j, const struct suspicion *s)
{
	const struct ctp_judge_place *p = &j->places[s->group.place];
	const struct ctp_hist *hist = s->ready ? &j->tally->ready : &ctp_tally_place(j->tally, s->group.place)->wait;
	if (!s->ready && p->waits < FEW_ENDED)
		return (struct ended){p->waits, p->max_ns, p->max_ns};
	return (struct ended){hist->count, hist->max_ns, ctp_hist_quantile(hist, 0.99)};
}

/* others: that wait at the same place, but do not stand out. */
static void say_title(struct ctp_words *w, const struct suspicion *s, uint64_t others)
{
	const struct ended those = ended_at(w->j, s);
	uint64_t ended = those.count;
	const char *for_ns = ctp_words_duration(w, s->group.longest_ns), *upto = w->f->members > 1 ? "for up to" : "for";
	bool most = those.max_ns > s->group.longest_ns; /* some waits took longer, and so they do not show that this one stands out */
	const char *within = ctp_words_duration(w, most ? those.p99_ns : those.max_ns);
	char too[2 * CTP_TEXT_MAX + 32] = "";
	if (others)
		snprintf(too, sizeof too, ", and %s there, too", ctp_words_counted(w, others, "other waits", "others wait"));
	if (s->ready && !ended)
		ctp_words_title(w, "%s woken at %s and not resumed %s %s; no other resume came after a wake",
		                ctp_words_counted(w, w->f->members, "coroutine was", "coroutines were"), ctp_words_where(w), upto, for_ns);
	else if (s->ready)
		ctp_words_title(w, "%s woken at %s and not resumed %s %s; %s within %s of the wake",
		                ctp_words_counted(w, w->f->members, "coroutine was", "coroutines were"), ctp_words_where(w), upto,
		                for_ns, ctp_words_counted(w, ended, "other resume came", "other resumes came"), within);
	else if (w->j->places[s->group.place].waits)
		ctp_words_title(w, "%s at %s %s %s%s; %s%s ended within %s",
		                ctp_words_counted(w, w->f->members, "coroutine waits", "coroutines wait"), ctp_words_where(w), upto,
		                for_ns, too, most ? "99 in 100 of " : "",
		                ctp_words_counted(w, ended, "other wait there", "other waits there"), within);
	else
		ctp_words_title(w, "%s at %s %s %s%s; no other wait there has ended",
		                ctp_words_counted(w, w->f->members, "coroutine waits", "coroutines wait"), ctp_words_where(w), upto,
		                for_ns, too);
}

static void say_waiting(struct ctp_words *w, const struct suspicion *s)
{
	char places[PLACES * (CTP_SITE_TEXT_MAX + 8)] = "";
	size_t len = 0;
	for (uint32_t i = 0; i < PLACES && s->waits_at[i]; i++) {
		bool last = i + 1 == PLACES || !s->waits_at[i + 1];
		len += (size_t)snprintf(places + len, sizeof places - len, "%s%s", !i ? " at " : last ? " and " : ", ",
		                        ctp_words_named(ctp_follow_text(w->j->follow, s->waits_at[i])));
		len = len < sizeof places ? len : sizeof places - 1;
	}
	ctp_words_evidence(w, "%s for %s%s", ctp_words_counted(w, s->waiting, "more coroutine waits", "more coroutines wait"),
	                   ctp_words_it(w), places);
}

static void say_dependents(struct ctp_words *w, const struct suspicion *s)
{
	const struct ctp_hist *hist = &ctp_tally_place(w->j->tally, s->dependents_at)->wait;
	ctp_words_evidence(w, "%s at %s for up to %s, where only %s ended waits: %s, within %s",
	                   ctp_words_counted(w, s->dependents, "more coroutine waits", "more coroutines wait"),
	                   ctp_words_named(ctp_follow_text(w->j->follow, s->dependents_at)), ctp_words_duration(w, s->dependents_ns),
	                   ctp_words_they(w, "this one has", "these have"), ctp_words_count(w, hist->count),
	                   ctp_words_duration(w, hist->max_ns));
}

static void make_suspect(struct suspects *all, struct suspicion *from, struct ctp_finding *to)
{
	struct ctp_judge *j = all->j;
	struct ctp_group *g = &from->group;
	assert(from->co && from->ratio > 0 && g->nwho <= members_of(from));
	const struct ended ended = ended_at(j, from);
	const uint64_t from_ns = ctp_span_ns(j->start_ns, g->from_ns);
	*to = (struct ctp_finding){
		.rule = CTP_RULE_NONE,
		.certainty = g->by_certainty[CTP_CERTAIN_POSSIBLE] ? CTP_CERTAIN_POSSIBLE : CTP_CERTAIN_UNKNOWN,
		.place = ctp_judge_copy(j, ctp_follow_text(j->follow, g->place)),
		.spawn = ctp_judge_copy(j, ctp_follow_text(j->follow, g->spawn)),
		.members = members_of(from),
		.from_ns = from_ns,
		.to_ns = from_ns + g->longest_ns,
		.who = g->who,
		.nwho = g->nwho,
		.waiting = from->waiting,
		.dependents = from->dependents,
		.open = all->open[g->place],
		.ended = ended.count,
		.longest_ns = ended.max_ns,
		.p99_ns = ended.p99_ns,
	};
	g->who = NULL;
	g->nwho = 0;
	struct ctp_words w = {.j = j, .g = g, .f = to};
	say_title(&w, from, to->open > to->members ? to->open - to->members : 0);
	say_excuse(&w, from, all->one);
	if (from->dependents > from->waiting)
		say_dependents(&w, from);
	else if (from->waiting)
		say_waiting(&w, from);
	else if (!from->ready && !ctp_words_dead_waker(&w, from->co) && ctp_own_dead_waker(j, from->co))
		ctp_words_evidence(&w, "%s has ended all earlier waits of %s there, and has died", ctp_words_any(&w, ctp_own_dead_waker(j, from->co)),
		                   ctp_words_any(&w, from->co->id));
}

/* --- all ------------------------------------------------------------------------------------------------------------------ */

/* Of each parent, its child that has waited longest becomes the one that it blames. */
static void find_children(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co)
		ctp_judged(co)->blames = NULL;
	CTP_EACH_COROUTINE(j, co) {
		struct ctp_coroutine *parent = ctp_wait_is(co) ? ctp_own_parent(j, co) : NULL;
		if (parent && (!ctp_judged(parent)->blames || co->suspended_ns < ctp_judged(parent)->blames->suspended_ns))
			ctp_judged(parent)->blames = co;
	}
}

static bool look(struct suspects *all)
{
	struct ctp_judge *j = all->j;
	struct ctp_coroutine *co;
	find_children(j);
	for (uint32_t i = 0; i < j->ngroups; i++)
		all->found[j->groups[i].place] |= j->groups[i].rule == CTP_RULE_GROWTH && j->groups[i].place;
	CTP_EACH_COROUTINE(j, co) {
		ctp_judged(co)->visit = 0;
		if (!ctp_wait_is(co))
			continue;
		uint32_t place = ctp_follow_place(j->follow, co);
		all->found[place] |= place && ctp_judged(co)->group;
		all->open[place] += waits_still(co);
		all->far[place] += waits_still(co) && how_far(j, co) > 0;
	}
	all->one = one_site(all);
	CTP_EACH_COROUTINE(j, co)
		if ((waits_still(co) || co->state == CTP_RUNNABLE) && ctp_has_run(co) && !(co->flags & CTP_CO_FOUND) &&
		    !suspect(all, co))
			return false;
	CTP_EACH_COROUTINE(j, co)
		if (waits_still(co) && !(co->flags & CTP_CO_FOUND))
			add_waiting(all, co);
	find_causes(all);
	for (uint32_t at = 0; all->count && (co = ctp_follow_each(j->follow, &at));)
		if (waits_still(co) && !(co->flags & CTP_CO_FOUND))
			add_dependent(all, co);
	return true;
}

/* Members get the number of the finding as their group. */
static void put_members(struct ctp_judge *j, const struct suspicion *s, uint32_t group)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co)
		if (ctp_judged(co)->visit == s->number && !ctp_judged(co)->group)
			ctp_judged(co)->group = group;
}

bool ctp_suspects_find(struct ctp_judge *j, struct ctp_report *r, struct ctp_report_section *s)
{
	if (j->facts_only)
		return true;
	uint32_t n = j->follow->places->count;
	struct suspects all = {.j = j, .open = calloc(n, sizeof *all.open), .far = calloc(n, sizeof *all.far),
	                       .found = calloc(n, sizeof *all.found), .cause = calloc(n, sizeof *all.cause),
	                       .number = calloc(2 * (n > CTP_HABITS_MAX ? n : CTP_HABITS_MAX), sizeof *all.number)};
	bool done = all.open && all.far && all.found && all.cause && all.number && look(&all);
	s->one_site = all.one ? ctp_judge_copy(j, ctp_follow_text(j->follow, all.one)) : NULL;
	if (done && all.count)
		qsort(all.list, all.count, sizeof *all.list, by_weight);
	uint32_t given = 0;
	for (uint32_t i = 0; done && i < all.count && given < CTP_REPORT_SUSPECTS; i++) {
		struct ctp_finding to;
		make_suspect(&all, &all.list[i], &to);
		to.number = j->ngroups + given + 1;
		if (ctp_findings_add(r, s, &to))
			put_members(j, &all.list[i], j->ngroups + ++given);
	}
	for (uint32_t i = 0; i < all.count; i++) {
		for (uint32_t k = 0; k < all.list[i].group.nwho; k++)
			ctp_report_member_fini(&all.list[i].group.who[k]);
		free(all.list[i].group.who);
	}
	free(all.list);
	free(all.open);
	free(all.far);
	free(all.found);
	free(all.cause);
	free(all.number);
	return done && !j->failed;
}
