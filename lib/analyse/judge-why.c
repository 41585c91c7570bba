/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-why.c - why a wait is not in order.
 *
 * A wait proves nothing, however long: an idle server waits everywhere. A wait is looked at if it is far longer than any that ended
 * at the same place, or if hardly any ended there. It is not in order if one of the CTP_WHY reasons holds. Most reasons need that
 * no waker may still come (judge-wakers.c), and that the coroutine does not rest: it waits neither where something from outside
 * mostly wakes it, nor where it and its siblings suspended first.
 *
 * Rows without an end record stop with their last event, and most coroutines have waited for an instant then. If such rows have no
 * places either, there is nothing to compare with, and the reason is that nearly all of many coroutines are suspended.
 */
#include "analyse/judge-why.h"

#include "analyse/judge-rest.h"
#include "analyse/judge-wakers.h"

enum {
	SIBLINGS_MIN = 3,
	STANDSTILL_PERCENT = 90,
	STANDSTILL_MEMBERS = 20, /* fewer coroutines may all be suspended by chance */
	STANDSTILL_NS = 1000000, /* the longest of their waits, at least */
	FEW_WAITS = 3,           /* ended waits that are a history too, for a wait that is out of all proportion: */
	FAR_FACTOR = 100,        /* times the longest, */
	FARTHEST_FACTOR = 1000,  /* or that */
	FARTHEST_NS = 2000000000,
	FRESH_WAITS = 3,         /* fewer ended waits of a habit do not tell how its waits end */
	FRESH_RESUMES = 100,     /* of a coroutine that came back from all earlier waits */
	RHYTHM_EVENTS = 100,     /* fewer events are no activity that could end */
	REST_FACTOR = 10,        /* a coroutine that waits this many times as long elsewhere does not rest */
};

bool ctp_wait_is_too_long(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	struct ctp_judge_place p = ctp_judge_history(j, co);
	uint64_t ns = ctp_wait_own_ns(j, co);
	if (j->facts_only)
		return false;
	if (p.waits < CTP_JUDGE_HISTORY)
		return p.waits >= FEW_WAITS && ns >= CTP_JUDGE_QUIET_NS && ns / FAR_FACTOR >= p.max_ns;
	return ns >= CTP_JUDGE_FLOOR_NS && ns / CTP_JUDGE_FACTOR >= p.max_ns;
}

/* --- siblings ------------------------------------------------------------------------------------------------------------- */

bool ctp_spawn_has_siblings(const struct ctp_tally_spawn *s)
{
	uint64_t ended = s->died - s->destroyed;
	return ended >= SIBLINGS_MIN && ended >= s->born / 2;
}

/* Overtaken: waits of the habit have ended that began when a wait since from_ns was already far too long. */
static bool is_overtaken(const struct ctp_judge *j, uint32_t habit, uint64_t from_ns)
{
	const struct ctp_habit *h = &j->tally->habits.list[habit];
	bool fits = h->max_ns < UINT64_MAX / (2 * CTP_JUDGE_FACTOR);
	uint64_t too_long_ns = fits ? CTP_JUDGE_FACTOR * h->max_ns : UINT64_MAX / 2;
	return ctp_habit_overtook(h, from_ns + ctp_most(too_long_ns, CTP_JUDGE_FLOOR_NS), j->follow->attached_ns);
}

/* The coroutines of a spawn place come to one place again and again. */
static bool lives_on(const struct ctp_judge *j, uint32_t spawn)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, spawn);
	uint32_t main = j->spawns[spawn].main;
	return main && j->tally->habits.list[main].waits >= j->visits * (s->born > s->died ? s->born : s->died);
}

bool ctp_spawn_is_at_rest(const struct ctp_judge *j, uint32_t spawn, uint32_t place)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, spawn);
	if (!lives_on(j, spawn))
		return false;
	if (s->rest_votes)
		return s->rest == place;
	const struct ctp_habit *list = j->tally->habits.list, *main = &list[j->spawns[spawn].main];
	return 2 * list[ctp_habits_number(&j->tally->habits, spawn, place)].waits >= main->waits;
}

bool ctp_habit_is_passing(const struct ctp_judge *j, uint32_t habit, uint64_t from_ns, uint64_t ns)
{
	uint32_t spawn = j->tally->habits.list[habit].spawn;
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, spawn);
	bool outlives = ns >= CTP_JUDGE_QUIET_NS && s->life.count >= SIBLINGS_MIN && ns / CTP_JUDGE_FACTOR >= s->life_ns;
	bool last = 10 * (s->died - s->destroyed) >= 9 * s->born;
	return ctp_spawn_has_siblings(s) && (!lives_on(j, spawn) || outlives || last || is_overtaken(j, habit, from_ns));
}

bool ctp_habit_is_away(const struct ctp_judge *j, uint32_t habit)
{
	const struct ctp_habit *h = &j->tally->habits.list[habit];
	uint32_t outside = j->spawns[h->spawn].outside;
	bool on = lives_on(j, h->spawn);
	/* In a program that was attached to, too little is known of where coroutines rest that do not live on. */
	if (ctp_spawn_is_at_rest(j, h->spawn, h->place) || (!on && j->follow->attached_ns))
		return false;
	if (outside)
		return h->place != j->tally->habits.list[outside].place;
	return on && ctp_tally_spawn(j->tally, h->spawn)->rest_votes;
}

/* --- the program ---------------------------------------------------------------------------------------------------------- */

/* Rows without births, wakes and an end record. */
static bool is_bare(const struct ctp_judge *j)
{
	return j->end->cut && !j->follow->counts.births && !ctp_follow_has_wakes(&j->follow->counts);
}

/* Nearly all coroutines wait, and there are no places to compare by. */
static bool is_standstill(const struct ctp_judge *j)
{
	return is_bare(j) && j->nowhere >= STANDSTILL_MEMBERS && j->nowhere_ns >= STANDSTILL_NS &&
	       100 * j->nowhere >= STANDSTILL_PERCENT * (j->waiting + j->running);
}

/* The program was active before: several coroutines have died, or one was resumed again and again. */
static bool has_rhythm(const struct ctp_judge *j)
{
	const struct ctp_coroutine *co = NULL;
	bool again = j->follow->counts.deaths >= CTP_JUDGE_HISTORY;
	for (uint32_t at = 0; !again && (co = ctp_follow_each(j->follow, &at));)
		again = co->resumes >= CTP_JUDGE_HISTORY;
	return again && j->follow->counts.events >= RHYTHM_EVENTS;
}

bool ctp_judge_stands_still(const struct ctp_judge *j)
{
	const struct ctp_proc_seen *seen = &j->follow->seen;
	const struct ctp_follow_counts *c = &j->follow->counts;
	bool after_all_events = seen->still_to_ns && seen->still_from_ns >= c->last_ns && seen->still_to_ns <= j->end_ns;
	bool asleep = after_all_events && ctp_span_ns(seen->still_from_ns, seen->still_to_ns) >= CTP_JUDGE_QUIET_NS;
	/* A program that was attached to may have had a rhythm before. */
	uint64_t quiet_ns = ctp_judge_own_ns(j, j->tally->last_resume_ns, j->end_ns);
	bool unusual = j->follow->attached_ns || (has_rhythm(j) && quiet_ns / CTP_JUDGE_FACTOR >= j->tally->pause_ns);
	return asleep && unusual && !c->missed && !c->untraced && !c->lost;
}

/* --- one wait ------------------------------------------------------------------------------------------------------------- */

/* The coroutine came back from several waits; in a program that was attached to, fewer are known. */
static bool has_come_back(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return co->resumes >= (j->history < CTP_JUDGE_VISITS ? j->history : CTP_JUDGE_VISITS);
}

bool ctp_wait_is_out_of_rhythm(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	struct ctp_judge_place p = ctp_judge_history(j, co);
	const struct ctp_habit *h = ctp_habit_of(j, co);
	uint64_t ns = ctp_wait_own_ns(j, co);
	bool elsewhere = j->spawns[co->spawn].outside != co->habit && (p.woken || !ctp_spawn_is_at_rest(j, co->spawn, h->place));
	bool far_longer = h->waits >= CTP_JUDGE_HISTORY && ns >= CTP_JUDGE_QUIET_NS && ns / FAR_FACTOR >= h->max_ns;
	return elsewhere && far_longer && !co->awaits && has_come_back(j, co) && !ctp_place_is_inside(p) &&
	       is_overtaken(j, co->habit, co->suspended_ns);
}

/* The whole program sleeps, and the coroutine rests elsewhere. In a stream without wakes, the second is enough. */
static bool is_forgotten(const struct ctp_judge *j, const struct ctp_coroutine *co, struct ctp_judge_place p, bool recorded)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	uint64_t ns = ctp_wait_own_ns(j, co);
	if (recorded) {
		bool farthest = ns >= FARTHEST_NS && ns / FARTHEST_FACTOR >= p.max_ns;
		return farthest && !ctp_place_is_inside(p) && ctp_habit_is_away(j, co->habit) && ctp_judge_stands_still(j);
	}
	bool far_longer = ns >= CTP_JUDGE_QUIET_NS && ns / FAR_FACTOR >= p.max_ns;
	bool elsewhere = lives_on(j, co->spawn) && !ctp_spawn_is_at_rest(j, co->spawn, h->place);
	return far_longer && elsewhere && h->place && j->follow->counts.births && has_come_back(j, co);
}

bool ctp_habit_is_for_children(const struct ctp_habit *h)
{
	return h->asked >= CTP_JUDGE_HISTORY && 10 * h->children >= 9 * h->asked;
}

/* Hardly a sibling ever waited there, so it is not known how waits end; but a coroutine waits that this one used to wake. */
static bool is_fresh(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	uint64_t ns = ctp_wait_own_ns(j, co);
	bool needed = co->flags & CTP_CO_NEEDED || (!ctp_follow_has_wakes(&j->follow->counts) && j->follow->counts.births);
	bool no_history = h->waits < FRESH_WAITS && j->places[h->place].waits < CTP_JUDGE_HISTORY;
	bool far_longer = ns >= CTP_JUDGE_QUIET_NS && ns / CTP_JUDGE_FACTOR >= j->spawns[co->spawn].max_ns;
	return needed && no_history && far_longer && !co->awaits && co->resumes >= FRESH_RESUMES && lives_on(j, co->spawn);
}

bool ctp_wait_is_suspect(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_coroutine *other)
{
	if (!ctp_wait_is(co) || co->awaits || ctp_habit_of(j, co)->waits >= FRESH_WAITS)
		return false;
	uint64_t ns = ctp_wait_own_ns(j, co);
	return ns >= CTP_JUDGE_QUIET_NS && ns >= ctp_wait_own_ns(j, other) / 10 * 9;
}

/*
 * The coroutine waits for an object of the program, for a hundred times as long as any wait there took and as any sibling lived. If
 * no coroutine ends the waits there, a callback or a cancellation does, and that is the program's as well. A coroutine that another
 * one awaits does not count: it may be a helper, through which the others wait for different things.
 */
static bool is_abandoned(struct ctp_judge *j, const struct ctp_coroutine *co, struct ctp_judge_place p)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	uint64_t ns = ctp_wait_own_ns(j, co);
	bool far_longer = ns >= CTP_JUDGE_QUIET_NS && ns / FAR_FACTOR >= p.max_ns;
	bool outlives = s->life.count >= CTP_JUDGE_HISTORY && ns / FAR_FACTOR >= s->life_ns;
	return far_longer && outlives && !ctp_judged(co)->depth && ctp_wait_is_for_objects(j, co) &&
	       !ctp_judge_waker_may_come(j, co);
}

static uint64_t mean_ns(const struct ctp_habit *h) { return h->waits ? h->total_ns / h->waits : 0; }

/*
 * Whether a coroutine is at work where it waits. One that rests there may be idle while others are not; unless something from
 * outside also ends its waits at another place, and those take about as long.
 */
static bool is_at_work(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	uint32_t outside = j->spawns[co->spawn].outside;
	if (!ctp_spawn_is_at_rest(j, co->spawn, h->place) || ctp_wait_is_for_turn(j, co))
		return true;
	return outside && mean_ns(&j->tally->habits.list[outside]) >= mean_ns(h) / REST_FACTOR;
}

/* What the reasons below compare. */
struct wait {
	struct ctp_judge_place place;
	bool recorded; /* wakes are recorded where the coroutine waits */
	bool bare;    /* nothing but transitions is recorded */
	bool several; /* enough coroutines have returned from there */
	bool lost;    /* only a coroutine ends such waits, and none may still come */
};

static bool is_passing(struct ctp_judge *j, const struct ctp_coroutine *co, const struct wait *w)
{
	bool not_woken = w->lost || (!w->recorded && !ctp_judge_waker_may_come(j, co)) || is_abandoned(j, co, w->place);
	return not_woken && w->several && ctp_habit_is_passing(j, co->habit, co->suspended_ns, ctp_wait_own_ns(j, co));
}

static bool is_in_circle(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	bool rests = !ctp_wait_is_for_turn(j, co) && ctp_spawn_is_at_rest(j, co->spawn, ctp_habit_of(j, co)->place);
	return co->flags & CTP_CO_STUCK && (ctp_judged(co)->depth || ctp_judge_needs_others(j, co, rests));
}

static bool is_in_silence(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct wait *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	return w->several && j->silent && !w->recorded && (w->bare || s->died - s->destroyed >= SIBLINGS_MIN);
}

static bool was_overtaken(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct wait *w)
{
	bool returned = w->bare ? co->resumes >= CTP_JUDGE_HISTORY : w->lost && is_at_work(j, co) && has_come_back(j, co);
	return returned && is_overtaken(j, co->habit, co->suspended_ns);
}

/* The reasons that compare a wait with others at the same place. */
static uint32_t why_too_long(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	struct wait w = {.place = ctp_judge_history(j, co), .bare = is_bare(j)};
	/* In a program that was attached to, only the last earlier wake of each coroutine is known. */
	w.recorded = w.place.woken || (ctp_follow_has_wakes(&j->follow->counts) && !j->follow->attached_ns);
	w.several = w.place.different >= CTP_HABIT_DIFFERENT;
	w.lost = ctp_place_is_inside(w.place) && !ctp_judge_waker_may_come(j, co);
	bool no_child = ctp_habit_is_for_children(ctp_habit_of(j, co)) && !(co->flags & CTP_CO_PARENT);
	uint32_t why = 0;
	if (is_passing(j, co, &w))
		why |= CTP_WHY_PASSING;
	/* What the program says outranks where the coroutine suspends first. */
	if (w.lost && co->resumes > 1 && (ctp_habit_is_away(j, co->habit) || ctp_wait_is_for_turn(j, co)))
		why |= CTP_WHY_AWAY;
	if (is_in_circle(j, co))
		why |= CTP_WHY_CIRCLE;
	if (is_in_silence(j, co, &w))
		why |= CTP_WHY_QUIET;
	if (was_overtaken(j, co, &w))
		why |= CTP_WHY_OVERTAKEN;
	if (w.lost && no_child)
		why |= CTP_WHY_CHILDREN;
	if (ctp_wait_is_out_of_rhythm(j, co) && !ctp_wait_may_be_idle(j, co, w.place))
		why |= CTP_WHY_RHYTHM;
	else if (is_forgotten(j, co, w.place, w.recorded))
		why |= CTP_WHY_FORGOTTEN;
	return why;
}

uint32_t ctp_wait_why(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	if (j->facts_only)
		return 0;
	if (!h->place && is_standstill(j))
		return CTP_WHY_STANDSTILL;
	if (ctp_habit_is_called(h) || ctp_wait_is_quiet(j, co) || ctp_wait_may_rest(j, co))
		return 0;
	if (is_fresh(j, co))
		return CTP_WHY_FRESH;
	return ctp_wait_is_too_long(j, co) ? why_too_long(j, co) : 0;
}
