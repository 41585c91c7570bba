/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-wait.c - the rules about waiting coroutines: for good, for one another, or for their first run. A coroutine that waits
 * because of another one has no finding of its own.
 */
#include <assert.h>

#include "analyse/judge-circle.h"
#include "analyse/judge-wakers.h"
#include "analyse/judge-object.h"
#include "analyse/judge-own.h"
#include "analyse/judge-why.h"
#include "analyse/judge.h"

enum {
	LEAKED_MIN = 3, /* coroutines in one place; fewer may wait there for good reason */
	STARVED_FACTOR = 50, /* times as long as any other was ready: too long also on a busy thread */
	FEW = 3,        /* fewer ended waits do not tell how waits end there */
};

/* That something did not happen is never proved. */
static enum ctp_certainty likely_at_most(enum ctp_certainty sure)
{
	return sure == CTP_CERTAIN_PROVED ? CTP_CERTAIN_LIKELY : sure;
}

static enum ctp_certainty likely(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_judge_in_doubt(j, co) ? CTP_CERTAIN_UNKNOWN : ctp_judge_at_most(j, co, CTP_CERTAIN_LIKELY);
}

/* --- waits for each other ------------------------------------------------------------------------------------------------- */

/* The awaited coroutine, if it is alive; or null. */
static struct ctp_coroutine *awaited(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_wait_is(co) ? ctp_judge_living(j, co->awaits) : NULL;
}

/* A wait that is no longer than waits usually are; without a clock, any. */
static bool is_usual(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	bool has_history = ctp_judge_history(j, co).waits >= CTP_JUDGE_HISTORY;
	return j->ordinal || ctp_wait_ns(j, co) < CTP_JUDGE_FLOOR_NS || (has_history && !ctp_wait_is_too_long(j, co));
}

/* The same number for circles that look alike, and are as certain: one bug makes many of them, and these are one finding. Not 0. */
static uint64_t key_of(struct ctp_judge *j, const struct ctp_coroutine *first, enum ctp_certainty certainty)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	const struct ctp_coroutine *co = first;
	uint64_t sum = certainty;
	do {
		uint64_t sites = (uint64_t)co->spawn << 32 | ctp_follow_place(j->follow, co);
		sum += ((sites + 1) * odd) ^ (sites >> 7);
		co = awaited(j, co);
	} while (co != first);
	return sum ? sum : 1;
}

/*
 * Coroutines await one another in a circle. If each joins the next, nothing can ever wake them: that is proved, unless events of
 * theirs are missing. Other targets may be out of date, as when a lock was handed on, or the wait may have a time-out.
 */
static void cycle(struct ctp_judge *j, struct ctp_coroutine *co)
{
	enum ctp_certainty certainty = CTP_CERTAIN_PROVED;
	struct ctp_coroutine *next = co, *first = co;
	bool any_usual = false, joins = true;
	do {
		assert(ctp_wait_is(next));
		enum ctp_certainty sure = ctp_judge_sure(j, next, true);
		if (sure < certainty)
			certainty = sure;
		if (next->id < first->id)
			first = next;
		joins &= !!(next->flags & CTP_CO_JOINS);
		any_usual |= is_usual(j, next);
		next = awaited(j, next);
	} while (next != co);
	if ((any_usual || j->filtered) && !joins)
		return;
	if (!joins)
		certainty = likely_at_most(certainty);
	struct ctp_group *g = ctp_judge_circle(j, CTP_RULE_WAIT_CYCLE, first, key_of(j, first, certainty));
	if (g)
		g->circles++;
	do {
		ctp_judge_add(j, g, next, certainty, next->suspended_ns, ctp_wait_ns(j, next));
		next = awaited(j, next);
	} while (next != co);
}

static const struct ctp_judge_ways awaits = {.next = awaited, .closed = cycle, .ends = true};

/*
 * The awaited coroutine has died, and a wake would have come by now. A target that is forgotten was alive when the wait began, and
 * so has died. Without wakes in the stream, the waiting coroutine may have been woken, and be in a queue: it needs more time.
 */
static bool awaits_dead(struct ctp_judge *j, struct ctp_coroutine *co)
{
	const struct ctp_coroutine *target = ctp_follow_find(j->follow, co->awaits);
	assert(!target || target->state == CTP_DEAD);
	bool has_wakes = j->tally->ready.count >= CTP_JUDGE_HISTORY;
	uint64_t died_ns = target ? target->since_ns : j->follow->forgotten_ns;
	uint64_t from_ns = died_ns > co->suspended_ns ? died_ns : co->suspended_ns;
	uint64_t ns = ctp_judge_own_ns(j, from_ns, ctp_judge_end_ns(j, co));
	bool late = ns >= (has_wakes ? CTP_JUDGE_FLOOR_NS : CTP_JUDGE_QUIET_NS);
	if (!late || ns / CTP_JUDGE_FACTOR < j->tally->ready_ns)
		return false;
	ctp_judge_add(j, ctp_judge_group(j, CTP_RULE_AWAITS_DEAD, co->spawn, ctp_follow_place(j->follow, co)), co,
	              likely_at_most(ctp_judge_sure(j, co, true)), co->suspended_ns, ctp_wait_ns(j, co));
	return true;
}

/* --- for good ------------------------------------------------------------------------------------------------------------- */

/* The stream has the wakes there, and none is missing: so a wake that it does not have did not come. */
static bool wakes_known(const struct ctp_judge *j, struct ctp_judge_place p, const struct ctp_coroutine *co)
{
	return p.woken && 10 * p.woken >= 9 * p.waits && j->follow->missed_ns <= co->suspended_ns;
}

/* In a program with one or two suspend places, groups are by spawn place too. */
static struct ctp_group *group_of(struct ctp_judge *j, enum ctp_rule rule, const struct ctp_coroutine *co)
{
	uint32_t place = ctp_follow_place(j->follow, co);
	bool by_place = j->nplaces > 2 && place && rule == CTP_RULE_NEVER_WOKEN;
	return ctp_judge_group(j, rule, by_place ? 0 : co->spawn, place);
}

static void never_woken(struct ctp_judge *j, struct ctp_coroutine *co)
{
	bool known = wakes_known(j, ctp_judge_history(j, co), co);
	struct ctp_group *g = group_of(j, known ? CTP_RULE_NEVER_WOKEN : CTP_RULE_SUSPENDED, co);
	if (g)
		g->why |= ctp_judged(co)->why;
	ctp_judge_add(j, g, co, likely(j, co), co->suspended_ns, ctp_wait_ns(j, co));
}

/* --- causes of waits ------------------------------------------------------------------------------------------------------ */

/* A coroutine that explains the waits of others: its wait is not in order, or it holds a thread. */
static bool is_cause(const struct ctp_coroutine *co)
{
	bool holds_thread = co->state == CTP_RUNNING && co->flags & CTP_CO_STUCK;
	bool is_found = ctp_wait_is(co) && co->flags & CTP_CO_FOUND;
	return ctp_judged(co)->why || holds_thread || is_found;
}

/* The waker of the last wait of a coroutine at its place, if that is alive; or null. */
static struct ctp_coroutine *last_waker(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	if (co->before_at != co->place || co->before == co->id)
		return NULL;
	return ctp_judge_living(j, co->before);
}

/* The awaited coroutine, if that or the end of its chain is a cause. */
static struct ctp_coroutine *blames_target(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	struct ctp_coroutine *target = awaited(j, co), *last = ctp_judged(co)->leads_to; /* the end of the chain */
	if (!target)
		return NULL;
	bool by_target = is_cause(target) || target->flags & CTP_CO_FOUND;
	bool by_last = is_cause(last) || last->flags & CTP_CO_FOUND;
	return by_target || by_last ? target : NULL;
}

/* Whether waker is a cause, and stopped before co began to wait, at another habit. */
static bool could_not_wake(const struct ctp_coroutine *waker, const struct ctp_coroutine *co)
{
	if (!waker || waker == co || ctp_judged(waker)->blames == co || waker->state == CTP_DEAD)
		return false;
	bool stopped_before = waker->since_ns < co->suspended_ns || ctp_judged(waker)->why == CTP_WHY_FRESH;
	return is_cause(waker) && waker->habit != co->habit && stopped_before;
}

/* A waker that could not wake co; or null. If one coroutine has ended all waits of co there, no other waker of the habit counts. */
static struct ctp_coroutine *blames_waker(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	struct ctp_coroutine *waker = last_waker(j, co);
	const struct ctp_visits *own = ctp_own_visits(co, ctp_follow_place(j->follow, co));
	bool is_only_one = own->back >= j->visits && !own->several && waker;
	for (uint32_t i = 0; !is_only_one && i < h->nwakers && !could_not_wake(waker, co); i++)
		waker = ctp_follow_find(j->follow, h->wakers[i]);
	return could_not_wake(waker, co) ? waker : NULL;
}

/*
 * Waits of the habit have ended that began after that of co: what it awaits, a lock say, has gone to others meanwhile. The target
 * must be one that waits for the lock too: a sibling, or one that has waited at this place. Another sort of coroutine, such as one
 * that fills a cache, has nothing to hand on.
 */
static bool is_handed_on(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	const struct ctp_coroutine *target = awaited(j, co);
	bool waits_too = target->spawn == co->spawn || ctp_own_visits(target, h->place)->back;
	if (ctp_wait_is_held(j, co) || !waits_too || co->flags & CTP_CO_JOINS)
		return false;
	uint32_t n = h->nback < CTP_HABIT_BACK ? h->nback : CTP_HABIT_BACK;
	for (uint32_t i = 0; i < n; i++)
		if (h->back[i].from_ns > co->suspended_ns && h->back[i].id != co->id)
			return true;
	return false;
}

/*
 * A coroutine that awaits a living one is not the cause: the one at the end of the chain is. If that one ran in the last tenth of
 * the wait, there is no cause.
 */
static void look_at_chain(struct ctp_judge *j, struct ctp_coroutine *co)
{
	enum { LAST_PART = 10 };
	struct ctp_coroutine *end = ctp_judged(co)->leads_to;
	if (!ctp_judged(co)->why || !awaited(j, co) || !end || end == co || is_handed_on(j, co))
		return;
	uint64_t idle_ns = ctp_follow_ns(j->follow, end->resumed_ns, ctp_judge_end_ns(j, end));
	bool recent = idle_ns <= ctp_wait_ns(j, co) / LAST_PART;
	bool runs = recent && end->state != CTP_BORN && !(end->flags & CTP_CO_STUCK);
	/* Such as one that sleeps, and holds a lock meanwhile; or one that reads for co the next request, if there will be one. */
	bool rests = ctp_wait_is_quiet(j, end) || ctp_wait_may_rest(j, end) || ctp_wait_may_be_idle(j, end, ctp_judge_history(j, end));
	if (runs || rests)
		ctp_judged(co)->why = 0;
	else if (ctp_wait_is(end) && ctp_has_run(end) && !ctp_judged(end)->why)
		ctp_judged(end)->why = CTP_WHY_AWAITED;
}

/* A parent waits too long for its children: a child that waits far too long is to blame. */
static void look_at_child(struct ctp_judge *j, struct ctp_coroutine *child)
{
	struct ctp_coroutine *parent = ctp_judge_living(j, child->parent);
	if (!ctp_wait_is(child) || !ctp_wait_is(parent) || !ctp_judged(parent)->why || awaited(j, parent))
		return;
	if (ctp_habit_is_for_children(ctp_habit_of(j, parent)) && ctp_wait_is_too_long(j, child)) {
		ctp_judged(child)->why |= CTP_WHY_NEEDED;
		ctp_judged(parent)->blames = child;
	}
}

/* The coroutine that has held the thread of the last run of co ever since co was ready; or null. */
static struct ctp_coroutine *holds_thread_of(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_judge_holds_thread(j, co, co->since_ns);
}

static struct ctp_coroutine *blames(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	if (co->state == CTP_RUNNABLE || co->state == CTP_BORN)
		return holds_thread_of(j, co);
	if (!ctp_wait_is(co) || co->flags & CTP_CO_FOUND)
		return NULL;
	if (ctp_judged(co)->blames)
		return ctp_judged(co)->blames;
	struct ctp_coroutine *target = blames_target(j, co);
	if (!target && !j->facts_only && ctp_wait_is_too_long(j, co))
		target = blames_waker(j, co);
	return target;
}

/* --- other waits ---------------------------------------------------------------------------------------------------------- */

/*
 * Several coroutines wait where hardly any wait ended, while others of the same spawn place have ended, and soon. A spawn place may
 * make coroutines of several sorts: the first suspension of this one must be a place with a history.
 */
static void leaked(struct ctp_judge *j, struct ctp_coroutine *co)
{
	uint32_t place = ctp_follow_place(j->follow, co);
	const struct ctp_habit *h = ctp_habit_of(j, co);
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	uint64_t age_ns = ctp_follow_ns(j->follow, co->born_ns, ctp_judge_end_ns(j, co));
	const struct ctp_judge_place *first = &j->places[co->first_at ? co->first_at : place];
	bool hardly_any_ended = j->places[place].waits < CTP_JUDGE_HISTORY;
	bool first_has_history = first->waits >= CTP_JUDGE_HISTORY && first->different >= CTP_HABIT_DIFFERENT;
	bool outlives = ctp_spawn_has_siblings(s) && ctp_judge_too_long(&s->life, s->life_ns, age_ns);
	if (ctp_wait_may_rest(j, co)) /* such as a client that only listens from now on */
		return;
	if (co->flags & CTP_CO_BIRTH && h->here >= LEAKED_MIN && hardly_any_ended && first_has_history && outlives)
		ctp_judge_add(j, ctp_judge_group(j, CTP_RULE_LEAKED, co->spawn, place), co, likely(j, co), co->born_ns, age_ns);
}

/*
 * Woken, and not resumed for far longer than that ever took, while threads were idle: else other coroutines may come first by
 * design.
 */
static void not_resumed(struct ctp_judge *j, struct ctp_coroutine *co)
{
	uint64_t ns = ctp_judge_ready_ns(j, co);
	bool is_new = !(co->flags & (CTP_CO_BIRTH | CTP_CO_RAN)) && !co->suspended_ns; /* or dead and forgotten */
	bool starved = ns >= CTP_JUDGE_QUIET_NS && ns / STARVED_FACTOR >= j->tally->ready_ns;
	if (is_new || !ctp_judge_too_long(&j->tally->ready, j->tally->ready_ns, ns) || holds_thread_of(j, co))
		return;
	if (!starved && ctp_judge_is_crowded(j, co->since_ns))
		return;
	/* With lost wakes, other coroutines may have been ready for as long; with one in a gap, a thread may not have been idle. */
	bool may_be_usual = j->follow->counts.missed || j->in_gap;
	enum ctp_certainty sure = may_be_usual ? CTP_CERTAIN_UNKNOWN : ctp_judge_sure(j, co, false);
	ctp_judge_add(j, ctp_judge_group(j, CTP_RULE_NOT_RESUMED, co->spawn, ctp_follow_place(j->follow, co)), co,
	              likely_at_most(sure), co->since_ns, ns);
}

/* A coroutine that never ran, of a spawn place where none was ever destroyed before its first run. */
static void never_started(struct ctp_judge *j, struct ctp_coroutine *co)
{
	uint64_t ns = ctp_judge_own_ns(j, co->born_ns, ctp_judge_end_ns(j, co));
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	bool never_ran = co->flags & CTP_CO_BIRTH && !ctp_has_run(co);
	if (never_ran && !s->unstarted && ctp_judge_too_long(&s->start, s->start_ns, ns) && !ctp_judge_is_crowded(j, co->born_ns))
		ctp_judge_add(j, ctp_judge_group(j, CTP_RULE_NEVER_STARTED, co->spawn, 0), co, likely(j, co), co->born_ns, ns);
}

/* --- the whole program ---------------------------------------------------------------------------------------------------- */

/* The coroutine rests, a waker of it is gone, and no other coroutine awaits it. */
static bool is_parked(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	bool gone = h->more_wakers || (!h->woken && !ctp_follow_has_wakes(&j->follow->counts));
	for (uint32_t i = 0; i < h->nwakers && !gone; i++)
		gone = !ctp_judge_living(j, h->wakers[i]);
	return gone && !ctp_judged(co)->depth && ctp_spawn_is_at_rest(j, co->spawn, h->place);
}

/* The coroutine is a member of a standstill, if there is one. */
static bool is_still(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	bool rests = ctp_wait_is_quiet(j, co) || ctp_wait_may_rest(j, co);
	return ctp_wait_is(co) && !is_parked(j, co) && !ctp_habit_is_called(ctp_habit_of(j, co)) && !rests;
}

/* The place has no history, and no coroutine needs this one: it may wait for a timer or for another program. */
static bool is_alone(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_judge_history(j, co).waits < FEW && !ctp_judged(co)->depth && !(co->flags & CTP_CO_NEEDED);
}

static bool all_is_still(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	uint64_t members = 0, alone = 0;
	if (!ctp_judge_stands_still(j))
		return false;
	CTP_EACH_COROUTINE(j, co) {
		struct ctp_judge_place p = ctp_judge_history(j, co);
		bool from_outside = ctp_wait_is(co) && p.woken && !ctp_place_is_inside(p) && !co->awaits;
		if (co->state == CTP_RUNNABLE || from_outside)
			return false; /* this coroutine may go on */
		bool member = is_still(j, co) && !awaited(j, co);
		members += member;
		alone += member && is_alone(j, co);
	}
	return members > 1 || members > alone;
}

/* The awaited coroutine, if the end of its chain is a member of the standstill; or null. */
static struct ctp_coroutine *leads_to_still(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	enum { CHAIN = 16 };
	struct ctp_coroutine *target = awaited(j, co), *last = target;
	for (int i = 0; i < CHAIN && last && awaited(j, last); i++)
		last = awaited(j, last);
	bool is_member = last && !ctp_judged(last)->why && is_still(j, last) && !awaited(j, last);
	return is_member ? target : NULL;
}

static void standstill(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	struct ctp_group *g = NULL;
	CTP_EACH_COROUTINE(j, co) {
		if (!is_still(j, co) || co->flags & CTP_CO_FOUND || ctp_judged(co)->leads_to)
			continue;
		ctp_judged(co)->leads_to = awaited(j, co);
		if (ctp_judged(co)->leads_to)
			continue; /* the awaited coroutine is to be looked at */
		if (!g)
			g = ctp_judge_group(j, CTP_RULE_STANDSTILL, 0, 0);
		j->still |= g != NULL;
		ctp_judge_add(j, g, co, likely(j, co), co->suspended_ns, ctp_wait_ns(j, co));
		if (g && !g->place)
			g->place = ctp_follow_place(j->follow, co);
	}
}

static void judge_one(struct ctp_judge *j, struct ctp_coroutine *co)
{
	if (co->flags & CTP_CO_FOUND)
		return;
	if (co->state == CTP_RUNNABLE) {
		not_resumed(j, co);
	} else if (co->state == CTP_BORN) {
		never_started(j, co);
	} else if (ctp_wait_is(co)) {
		if (!awaited(j, co) && co->awaits && awaits_dead(j, co))
			return;
		if (!ctp_has_run(co) && co->flags & CTP_CO_BIRTH)
			never_started(j, co);
		else if (ctp_judged(co)->why && !ctp_judged(co)->leads_to)
			never_woken(j, co);
		else if (!ctp_judged(co)->leads_to && !awaited(j, co))
			leaked(j, co);
	}
}

/* Whether waker stopped before the wait of co was far too long: else it could have woken co. */
static bool stopped_in_time(const struct ctp_judge *j, const struct ctp_coroutine *waker, const struct ctp_coroutine *co)
{
	uint64_t ns = ctp_span_ns(co->suspended_ns, waker->since_ns);
	return ns <= CTP_JUDGE_FLOOR_NS || ns / CTP_JUDGE_FACTOR <= ctp_judge_history(j, co).max_ns;
}

static void needs_waker(struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t id)
{
	struct ctp_coroutine *waker = ctp_follow_find(j->follow, id);
	if (waker && waker != co && stopped_in_time(j, waker, co))
		waker->flags |= CTP_CO_NEEDED;
}

/* Marks the awaited coroutine as needed, and the wakers of the habit, if the coroutine has come there more than once or twice. */
static void needs(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	bool has_history = h->waits + h->self >= FEW;
	needs_waker(j, co, co->awaits);
	for (uint32_t i = 0; has_history && i < h->nwakers; i++)
		needs_waker(j, co, h->wakers[i]);
}

/* There was no resume for far longer than ever before, no coroutine runs, and the program did not end by itself. */
static bool fell_silent(const struct ctp_judge *j)
{
	uint64_t quiet_ns = ctp_judge_own_ns(j, j->tally->last_resume_ns, j->end_ns);
	bool unusual = quiet_ns >= CTP_JUDGE_QUIET_NS && quiet_ns / CTP_JUDGE_FACTOR >= j->tally->pause_ns;
	return !ctp_judge_exited(j) && !j->busy && unusual;
}

static void count_all(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) {
		j->waiting += ctp_wait_is(co);
		j->in_gap |= co->state == CTP_RUNNING && co->flags & CTP_CO_TAIL;
		if (ctp_wait_is(co) && !ctp_follow_place(j->follow, co)) {
			uint64_t ns = ctp_wait_ns(j, co);
			j->nowhere++;
			j->nowhere_ns = ns > j->nowhere_ns ? ns : j->nowhere_ns;
		}
		j->running += co->state == CTP_RUNNING || co->state == CTP_RUNNABLE;
		j->busy += co->state == CTP_RUNNING && co->flags & CTP_CO_OURS;
	}
}

/* The coroutines that may be stuck: only coroutines have ever ended such a wait, and it is far too long. */
static void mark_stuck(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) {
		if (!ctp_wait_is(co) || !ctp_wait_is_too_long(j, co) || ctp_judge_in_doubt(j, co))
			continue;
		if (ctp_place_is_closed(ctp_judge_history(j, co)) && !ctp_habit_is_called(ctp_habit_of(j, co)))
			co->flags |= CTP_CO_STUCK;
	}
	ctp_judge_close(j);
}

/* Why each wait is not in order; then why that of its last waker is not, if that explains it. */
static void find_why(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co)
		ctp_judged(co)->why = ctp_wait_is(co) && ctp_has_run(co) ? ctp_wait_why(j, co) : 0;
	CTP_EACH_COROUTINE(j, co) {
		bool has_history = ctp_judged(co)->why & ~(uint32_t)CTP_WHY_FRESH;
		struct ctp_coroutine *waker = has_history ? last_waker(j, co) : NULL;
		if (waker && !ctp_judged(waker)->why && !ctp_wait_is_quiet(j, waker) && ctp_wait_is_suspect(j, waker, co))
			ctp_judged(waker)->why = CTP_WHY_FRESH;
	}
	CTP_EACH_COROUTINE(j, co)
		look_at_chain(j, co);
	CTP_EACH_COROUTINE(j, co)
		look_at_child(j, co);
}

/* The coroutine because of which each one waits. still: the whole program stands still. */
static void find_causes(struct ctp_judge *j, bool still)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co)
		ctp_judged(co)->blames = co->state == CTP_DEAD ? NULL : blames(j, co);
	CTP_EACH_COROUTINE(j, co) {
		if (!ctp_judged(co)->blames && still && !(co->flags & CTP_CO_FOUND))
			ctp_judged(co)->blames = leads_to_still(j, co);
		ctp_judged(co)->leads_to = ctp_judged(co)->blames;
	}
}

void ctp_judge_waits(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	count_all(j);
	ctp_judge_look(j);
	ctp_judge_holders(j);
	ctp_judge_circles(j, &awaits);
	ctp_judge_objects(j);
	ctp_judge_pools(j);
	CTP_EACH_COROUTINE(j, co) {
		assert(ctp_judged(co)->leads_to); /* awaits.ends: a coroutine that awaits none leads to itself */
		ctp_judged(ctp_judged(co)->leads_to)->depth += ctp_judged(co)->leads_to != co;
	}
	mark_stuck(j);
	CTP_EACH_COROUTINE(j, co)
		if (ctp_wait_is(co) && ctp_wait_ns(j, co) >= CTP_JUDGE_QUIET_NS)
			needs(j, co);
	j->silent = fell_silent(j);
	find_why(j);
	bool still = !j->facts_only && all_is_still(j);
	find_causes(j, still);
	if (!j->facts_only)
		CTP_EACH_COROUTINE(j, co)
			judge_one(j, co);
	if (still && !j->objects_found)
		standstill(j);
}
