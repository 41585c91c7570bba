/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-object.c - see judge-object.h. */
#include "analyse/judge-object.h"

#include <poll.h>

#include "analyse/judge-wakers.h"
#include "analyse/judge-own.h"
#include "analyse/judge-why.h"
#include "analyse/judge.h"

#define FAR_OFF_NS UINT64_C(3600000000000)

enum {
	FAR_OFF = 1000,
	DEEP = 8,            /* how far a chain of waiting coroutines is followed to see whether the last one is idle */
	PASSES = 64,         /* over all coroutines, at most, to find circles of holders */
	BARS_PROOF = CTP_REASON_TIMED | CTP_REASON_CANCELLABLE | CTP_REASON_RESTS | CTP_REASON_SHARED,
};

static struct ctp_object *object_of(const struct ctp_judge *j, const struct ctp_reasons *r, uint32_t i)
{
	return ctp_objects_wanted(j->follow->objects, r, i);
}

/* The same; or the object as it was when it was destroyed, during the wait of the coroutine. */
static struct ctp_object *last_object_of(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_reasons *r, uint32_t i)
{
	return ctp_objects_waited(j->follow->objects, r, i, co->suspended_ns);
}

/* Coroutines hold what the reason is for, and give it back. */
static bool is_held(const struct ctp_reason_of *r) { return r->what == CTP_WAITS_LOCK || r->what == CTP_WAITS_PERMITS; }

/* The same, while the object was there: nothing is due from one that was destroyed. */
static uint64_t since_of(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_object *ob, uint64_t due_ns)
{
	uint64_t end_ns = ctp_judge_end_ns(j, co);
	return ctp_follow_ns(j->follow, ctp_most(due_ns, co->suspended_ns), ob->gone_ns ? ctp_least(ob->gone_ns, end_ns) : end_ns);
}

/* --- idle ----------------------------------------------------------------------------------------------------------------- */

bool ctp_wait_is_far_off(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_reasons *r = ctp_wait_reasons(j, co);
	struct ctp_timers t = ctp_objects_timers(j->follow->objects, ctp_follow_place(j->follow, co));
	bool timer = r && r->n == 1 && r->list[0].what == CTP_WAITS_TIMER && !(r->list[0].marks & CTP_REASON_RESTS);
	uint64_t asked_ns = timer ? ctp_span_ns(co->suspended_ns, r->list[0].value) : 0;
	return asked_ns >= FAR_OFF_NS && t.count >= CTP_JUDGE_HISTORY && asked_ns / FAR_OFF > t.asked_ns;
}

static bool is_for_idle(struct ctp_judge *j, const struct ctp_coroutine *co, unsigned deep);

/* All coroutines that have ended waits for the object are alive, and each runs now and then or is idle itself. */
static bool makers_are_idle(struct ctp_judge *j, const struct ctp_object *ob, const struct ctp_coroutine *co, unsigned deep)
{
	if (!ob->nmakers || ob->more_makers)
		return false;
	for (uint32_t i = 0; i < ob->nmakers; i++) {
		const struct ctp_coroutine *maker = ctp_judge_living(j, ob->makers[i]);
		if (!maker || maker == co)
			return false;
		bool recent = maker->state == CTP_RUNNING ||
		              ctp_judge_is_recent(j, maker->resumed_ns, co->suspended_ns, ctp_judge_end_ns(j, co));
		if (!recent && !ctp_wait_is_quiet(j, maker) && !is_for_idle(j, maker, deep + 1))
			return false;
	}
	return true;
}

static bool is_for_idle(struct ctp_judge *j, const struct ctp_coroutine *co, unsigned deep)
{
	const struct ctp_reasons *r = deep < DEEP ? ctp_wait_reasons(j, co) : NULL;
	for (uint32_t i = 0; r && i < r->n; i++) {
		if (ctp_wait_empty(j, co, r->pid, &r->list[i]))
			return true;
		const struct ctp_object *ob = object_of(j, r, i);
		if (ob && !is_held(&r->list[i]) && !ob->closed_ns && ctp_reason_is_short(ob, &r->list[i]) && makers_are_idle(j, ob, co, deep))
			return true;
	}
	return false;
}

bool ctp_wait_is_for_idle(struct ctp_judge *j, const struct ctp_coroutine *co) { return !j->ordinal && is_for_idle(j, co, 0); }

/* --- holders -------------------------------------------------------------------------------------------------------------- */

/*
 * The object that a coroutine waits for, if that is its only reason, but for a time-out, and all holders are known. If the object
 * was closed, its holders do not matter: whoever closed it ends the waits.
 */
static struct ctp_object *held_object(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint32_t i = 0;
	bool timed;
	const struct ctp_reasons *r = ctp_wait_reasons(j, co);
	const struct ctp_reason_of *reason = ctp_reason_only(r, &i, &timed);
	struct ctp_object *ob = reason ? last_object_of(j, co, r, i) : NULL;
	if (!ob || ob->closed_ns || !is_held(reason) || ctp_reason_is_enough(ob, reason))
		return NULL;
	return ob->holders_known && ob->nholders && !ob->others ? ob : NULL;
}

/* The reason for that object. */
static const struct ctp_reason_of *held_reason(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint32_t i;
	bool timed;
	return ctp_reason_only(ctp_wait_reasons(j, co), &i, &timed);
}

/*
 * Whether a holder had what it holds before its wait began. If not, it was handed that since, and is about to be
 * woken. In a trace that began later, the reason has the time of the suspension, and only what it held before its
 * last run is certain.
 */
static bool held_before(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_holder *h)
{
	const struct ctp_reasons *r = ctp_wait_reasons(j, co);
	return h->got_ns < (r->ts_ns > j->follow->attached_ns ? r->ts_ns : co->resumed_ns);
}

/*
 * Whether the wait lasts as long as the known holders hold what they have. Others may hold the rest: threads,
 * coroutines without a station, and those that did not record it yet. So the rest must be too little to end the wait.
 * The count of what is available says nothing about that if it is derived from the holds. What the waiting coroutine
 * holds is in its way, unless it got that during the wait, or a reader of a lock waits to become its writer.
 */
static bool is_held_enough(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_object *ob)
{
	const struct ctp_reason_of *r = held_reason(j, co);
	uint64_t held = 0;
	for (const struct ctp_holder *h = ob->holders; h < ob->holders + ob->nholders; h++)
		held += h->coro != co->id || held_before(j, co, h) ? (uint64_t)h->count : 0;
	if (ob->what && ob->what != r->what)
		return false;
	if (r->what == CTP_WAITS_LOCK) /* one holder may have locked it several times */
		return held && ob->nholders == 1 && (ob->holders[0].coro != co->id || ob->total == 1);
	bool fits = ctp_object_held(ob) + ctp_stock_recorded(&ob->stock) <= ob->all;
	return fits && !ob->grew && held + ctp_reason_wanted(r) > ob->all;
}

/* The program says that only the holders can end the wait. */
static bool only_holders(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_object *ob)
{
	const struct ctp_reasons *all = ctp_wait_reasons(j, co);
	const struct ctp_reason_of *r = &all->list[0];
	bool promised = all->n == 1 && (r->what == CTP_WAITS_LOCK || ob->owned) && !(r->marks & BARS_PROOF);
	return promised && !j->follow->objects->gaps && !ob->gone_ns && is_held_enough(j, co, ob);
}

static struct ctp_coroutine *holder(const struct ctp_judge *j, const struct ctp_object *ob, uint32_t i)
{
	return ob->holders[i].count > 0 ? ctp_judge_living(j, ob->holders[i].coro) : NULL;
}

/*
 * Whether all holders of an object have visit 1. Many coroutines may wait for an object that has many holders, so these are looked at
 * once in each pass.
 */
static bool all_are_closed(const struct ctp_judge *j, struct ctp_object *ob, uint32_t pass)
{
	if (ob->looked == pass)
		return ob->all_closed;
	ob->looked = pass;
	ob->all_closed = false;
	for (uint32_t i = 0; i < ob->nholders; i++)
		if (!holder(j, ob, i) || !ctp_judged(holder(j, ob, i))->visit)
			return false;
	return ob->all_closed = true;
}

/* Whether a coroutine may be in a circle of holders; visit is 1 as long as that is so. */
static bool may_be_closed(const struct ctp_judge *j, const struct ctp_coroutine *co, uint32_t pass)
{
	struct ctp_object *ob = held_object(j, co);
	if (co->awaits && co->flags & CTP_CO_JOINS) {
		const struct ctp_coroutine *target = ctp_follow_find(j->follow, co->awaits);
		return ctp_wait_is(co) && target && ctp_judged(target)->visit;
	}
	return ob && all_are_closed(j, ob, pass) && only_holders(j, co, ob);
}

/* Leaves visit 1 for coroutines that only others with visit 1 can wake. */
static void find_closed(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	bool changed = true;
	CTP_EACH_COROUTINE(j, co)
		ctp_judged(co)->visit = ctp_wait_is(co) && !ctp_judge_in_doubt(j, co);
	for (uint32_t pass = 1; changed && pass <= PASSES; pass++) {
		changed = false;
		CTP_EACH_COROUTINE(j, co)
			if (ctp_judged(co)->visit && !may_be_closed(j, co, pass)) {
				ctp_judged(co)->visit = 0;
				changed = true;
			}
	}
	for (uint32_t at = 0; changed && (co = ctp_follow_each(j->follow, &at));)
		ctp_judged(co)->visit = 0;
}

/*
 * The waiter alone holds something of the object, and that is not in its way: it got it during the wait, or the rest
 * is enough.
 */
static bool is_own_only(const struct ctp_judge *j, const struct ctp_object *ob, const struct ctp_coroutine *waiter)
{
	const struct ctp_reason_of *r = held_reason(j, waiter);
	const struct ctp_holder *h = &ob->holders[0];
	bool rest = r->what == CTP_WAITS_PERMITS && (uint64_t)h->count + ctp_reason_wanted(r) <= ob->all;
	return ob->nholders == 1 && h->coro == waiter->id && (rest || !held_before(j, waiter, h));
}

/*
 * The holder that has waited longest, another one than waiter if there is one. Null: one of several does not wait, or
 * has ended; or there is none but waiter, and what that holds is not in its way.
 */
static struct ctp_coroutine *longest_holder(const struct ctp_judge *j, const struct ctp_object *ob,
                                            const struct ctp_coroutine *waiter)
{
	struct ctp_coroutine *longest = NULL;
	if (is_own_only(j, ob, waiter))
		return NULL;
	for (uint32_t i = 0; i < ob->nholders; i++) {
		struct ctp_coroutine *co = holder(j, ob, i);
		if (!co || (ob->nholders > 1 && !ctp_wait_is(co)))
			return NULL;
		if (!longest || longest == waiter || (co != waiter && co->suspended_ns < longest->suspended_ns))
			longest = co;
	}
	return longest;
}

void ctp_judge_holders(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	if (!ctp_objects_any(j->follow->objects))
		return;
	find_closed(j);
	CTP_EACH_COROUTINE(j, co) {
		/* The await record names the holder at the start of the wait. The lock may have another holder since. */
		const struct ctp_object *ob = co->awaits && co->flags & CTP_CO_JOINS ? NULL : held_object(j, co);
		struct ctp_coroutine *by = ob ? longest_holder(j, ob, co) : NULL;
		if (!by)
			continue;
		co->awaits = by->id;
		co->flags = (uint16_t)(ctp_judged(co)->visit ? co->flags | CTP_CO_JOINS : co->flags & ~CTP_CO_JOINS);
	}
}

bool ctp_wait_is_held(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_object *ob = co->awaits ? held_object(j, co) : NULL;
	for (uint32_t i = 0; ob && i < ob->nholders; i++)
		if (ob->holders[i].coro == co->awaits)
			return true;
	return false;
}

bool ctp_wait_is_in_queue(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_reasons *r = ctp_wait_reasons(j, co);
	const struct ctp_object *ob = r && r->n == 1 && is_held(&r->list[0]) ? last_object_of(j, co, r, 0) : NULL;
	return ob && ctp_reason_is_short(ob, &r->list[0]);
}

/* --- rules ---------------------------------------------------------------------------------------------------------------- */

static bool is_overdue(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_reason_of *r)
{
	uint64_t late_ns = r->what == CTP_WAITS_TIMER ? ctp_wait_since_due(j, co, r->value) : 0;
	bool usual = late_ns / 2 < ctp_objects_timers(j->follow->objects, ctp_follow_place(j->follow, co)).late_ns;
	return late_ns >= CTP_JUDGE_LATE_NS && !usual && !ctp_judge_holds_thread(j, co, r->value + CTP_JUDGE_LATE_NS);
}

/* The last coroutine that was woken for the object has not suspended since, and may take what is there. */
static bool somebody_comes(const struct ctp_judge *j, const struct ctp_object *ob, uint64_t since_ns)
{
	const struct ctp_coroutine *woken = ob->woken && ob->woken_ns >= since_ns ? ctp_follow_find(j->follow, ob->woken) : NULL;
	return woken && (woken->state == CTP_RUNNABLE || woken->state == CTP_RUNNING);
}

/* Enough is available, also for the coroutine that has waited longest, which may be served first. */
static bool is_unserved(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_object *ob,
                        const struct ctp_reason_of *r)
{
	const struct ctp_stock *stock = ctp_object_stock(ob, r);
	bool exact, counted = r->what != CTP_WAITS_BARRIER && r->what != CTP_WAITS_OTHER;
	bool enough = counted && ctp_reason_is_enough(ob, r) && ob->first_count <= ctp_object_available(ob, stock, &exact);
	return enough && since_of(j, co, ob, stock->since_ns) >= CTP_JUDGE_LATE_NS && !somebody_comes(j, ob, stock->since_ns);
}

/* A holder has ended, and every holder that is alive waits, and has for half of this wait. */
static bool is_with_dead(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_object *ob,
                         const struct ctp_reason_of *r)
{
	bool owned = r->what == CTP_WAITS_LOCK || (r->what == CTP_WAITS_PERMITS && ob->owned), dead = false;
	if (!owned || !ob->holders_known || ctp_reason_is_enough(ob, r) || since_of(j, co, ob, 0) < CTP_JUDGE_LATE_NS)
		return false;
	for (uint32_t i = 0; i < ob->nholders; i++) {
		const struct ctp_coroutine *by = ctp_follow_find(j->follow, ob->holders[i].coro);
		if (by && by->state != CTP_DEAD && !ctp_wait_is(by))
			return false;
		if (by && by->state != CTP_DEAD && ctp_follow_ns(j->follow, by->resumed_ns, j->end_ns) < ctp_wait_ns(j, co) / 2)
			return false;
		dead |= !by || (by->state == CTP_DEAD && since_of(j, co, ob, by->since_ns) >= CTP_JUDGE_LATE_NS);
	}
	return dead && !ob->others;
}

/*
 * Too few are available, and no coroutine holds any: the one that took it, or was given it, forgot it. The program records its holds, and
 * neither a hold nor a wake for the object was recorded in the last second, so nobody is about to record one.
 */
static bool is_forgotten(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_object *ob,
                         const struct ctp_reason_of *r)
{
	const struct ctp_stock *stock = ctp_object_stock(ob, r);
	bool owned = r->what == CTP_WAITS_LOCK || (r->what == CTP_WAITS_PERMITS && ob->owned);
	bool unheld = ob->holders_known && ob->hold_ns && !ob->nholders && !ob->others;
	uint64_t changed_ns = ctp_most(ctp_most(ob->hold_ns, ob->woken_ns), stock->since_ns);
	bool lacks = owned && unheld && stock->known && !ctp_reason_is_enough(ob, r);
	return lacks && since_of(j, co, ob, changed_ns) >= CTP_JUDGE_QUIET_NS && !somebody_comes(j, ob, 0);
}

/*
 * The coroutine already holds as many permits as it waits for, and has waited far too long. It was given them when it was about to
 * wait, so the wake came too early.
 */
static bool is_own(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_object *ob, const struct ctp_reason_of *r)
{
	bool own = false;
	for (uint32_t i = 0; ob->holders_known && i < ob->nholders; i++)
		own |= ob->holders[i].coro == co->id && ob->holders[i].count >= (int64_t)ctp_reason_wanted(r);
	return own && is_held(r) && since_of(j, co, ob, 0) >= CTP_JUDGE_QUIET_NS && ctp_wait_is_too_long(j, co);
}

/* The collector saw unread data for the descriptor, or its end, during the wait, CTP_JUDGE_LATE_NS before its end or earlier. */
static bool is_unread(const struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t pid, const struct ctp_reason_of *r)
{
	const struct ctp_descriptor *d = ctp_wait_look(j, co, pid, r);
	bool readable = d && (d->unread || d->ended) && r->count & POLLIN;
	bool late = readable && ctp_wait_since_due(j, co, d->unread_ns) >= CTP_JUDGE_LATE_NS;
	return late && !ctp_judge_holds_thread(j, co, d->unread_ns + CTP_JUDGE_LATE_NS);
}

const struct ctp_queue_end *ctp_wait_other_end(const struct ctp_judge *j, uint64_t pid, const struct ctp_reason_of *r)
{
	bool gives = r->what == CTP_WAITS_ROOM, takes = r->what == CTP_WAITS_ITEM;
	const struct ctp_queue *queue = gives || takes ? ctp_queues_find(&j->follow->objects->queues, pid, r->value) : NULL;
	if (!queue)
		return NULL;
	const struct ctp_queue_end *own = gives ? &queue->gives : &queue->takes, *other = gives ? &queue->takes : &queue->gives;
	bool often = other->uses >= CTP_JUDGE_HISTORY && 10 * other->uses >= 9 * own->uses;
	return often && other->n && !other->more ? other : NULL;
}

/* A coroutine that rests where it waits for items has no work left when those that gave items have ended. Others are at work. */
static bool is_at_work(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_reason_of *r)
{
	uint32_t place = ctp_follow_place(j->follow, co);
	bool elsewhere = false;
	for (const struct ctp_visits *v = ctp_coro_visits(co); v < ctp_coro_visits(co) + CTP_CO_VISITS; v++)
		elsewhere |= v->place && v->place != place && v->back >= j->visits;
	return r->what == CTP_WAITS_ROOM || (elsewhere && !ctp_spawn_is_at_rest(j, co->spawn, place));
}

bool ctp_queue_end_is_over(const struct ctp_judge *j, const struct ctp_queue_end *end, uint64_t by_ns)
{
	for (uint32_t k = 0; k < end->n; k++) {
		const struct ctp_coroutine *user = ctp_follow_find(j->follow, end->users[k].coro);
		if (user && (user->state != CTP_DEAD || user->since_ns > by_ns))
			return false;
	}
	return true;
}

/*
 * The coroutines at the other end of the queue have all ended, and no other coroutine is known to have used that end. A time-out ends
 * a wait for an item, as that of a worker whose work has come to its end; but nobody will ever take what a wait for room wants to give.
 */
static bool has_no_peer(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_reasons *r, uint32_t i)
{
	uint32_t one = 0;
	bool timed;
	const struct ctp_reason_of *reason = ctp_reason_only(r, &one, &timed);
	const struct ctp_queue_end *other = reason && i == one ? ctp_wait_other_end(j, r->pid, reason) : NULL;
	const struct ctp_object *ob = object_of(j, r, i);
	bool ends = other && timed && reason->what == CTP_WAITS_ITEM;
	bool may_end = ends || (other && reason->marks & CTP_REASON_RESTS) || (other && ob && ctp_reason_is_enough(ob, reason));
	if (!other || may_end || ctp_wait_ns(j, co) < CTP_JUDGE_QUIET_NS || !is_at_work(j, co, reason))
		return false;
	uint64_t end_ns = ctp_judge_end_ns(j, co);
	return ctp_wait_since_due(j, co, 0) >= CTP_JUDGE_LATE_NS && ctp_queue_end_is_over(j, other, end_ns - CTP_JUDGE_LATE_NS);
}

/* During the wait, a wake for the object went to a coroutine that waited for something else. */
static bool has_strayed_wake(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_object *ob,
                             const struct ctp_reason_of *r)
{
	bool meanwhile = ob->strayed && ob->strayed_ns >= co->suspended_ns;
	return meanwhile && since_of(j, co, ob, ob->strayed_ns) >= CTP_JUDGE_LATE_NS && !ctp_reason_is_short(ob, r);
}

/* The rule that a wait breaks, by reason i; CTP_RULES: none. */
static enum ctp_rule broken_rule(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_reasons *r, uint32_t i)
{
	const struct ctp_reason_of *reason = &r->list[i];
	const struct ctp_object *ob = last_object_of(j, co, r, i);
	if (is_overdue(j, co, reason))
		return CTP_RULE_OVERDUE;
	if (is_unread(j, co, r->pid, reason))
		return CTP_RULE_UNREAD;
	if (!ob)
		return has_no_peer(j, co, r, i) ? CTP_RULE_PEER_ENDED : CTP_RULES;
	if (ob->closed_ns && since_of(j, co, ob, ob->closed_ns) >= CTP_JUDGE_LATE_NS)
		return CTP_RULE_CLOSED;
	if (has_strayed_wake(j, co, ob, reason))
		return CTP_RULE_STRAYED;
	if (is_unserved(j, co, ob, reason))
		return CTP_RULE_UNSERVED;
	if (is_own(j, co, ob, reason))
		return CTP_RULE_OWN;
	if (is_with_dead(j, co, ob, reason))
		return CTP_RULE_HELD_BY_DEAD;
	if (is_forgotten(j, co, ob, reason))
		return CTP_RULE_HELD_BY_NONE;
	return has_no_peer(j, co, r, i) ? CTP_RULE_PEER_ENDED : CTP_RULES;
}

/* Sets waiters, first_... and longest_ns of each object. Whether a coroutine in a gap still waits is not known. */
static void count_waiters(struct ctp_judge *j)
{
	const struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) {
		const struct ctp_reasons *r = co->flags & CTP_CO_TAIL ? NULL : ctp_wait_reasons(j, co);
		for (uint32_t i = 0; r && i < r->n; i++) {
			struct ctp_object *ob = last_object_of(j, co, r, i);
			if (!ob)
				continue;
			uint64_t ns = ctp_wait_ns(j, co);
			ob->waiters++;
			if (!ob->first_since_ns || co->suspended_ns < ob->first_since_ns) {
				ob->first_since_ns = co->suspended_ns;
				ob->first_count = ctp_reason_wanted(&r->list[i]);
				ob->longest_ns = ns;
			}
		}
	}
}

bool ctp_judge_count_waiters(struct ctp_follow *f, uint64_t end_ns)
{
	struct ctp_judge j = {.follow = f, .end_ns = end_ns};
	bool ok = ctp_judge_init(&j);
	if (ok)
		count_waiters(&j);
	ctp_judge_fini(&j);
	return ok;
}

void ctp_judge_objects(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	if (!ctp_objects_any(j->follow->objects))
		return;
	count_waiters(j);
	if (j->facts_only)
		return;
	CTP_EACH_COROUTINE(j, co) {
		const struct ctp_reasons *r = co->flags & CTP_CO_FOUND ? NULL : ctp_wait_reasons(j, co);
		enum ctp_rule rule = CTP_RULES;
		for (uint32_t i = 0; r && i < r->n && rule == CTP_RULES; i++)
			rule = broken_rule(j, co, r, i);
		if (rule == CTP_RULES)
			continue;
		enum ctp_certainty sure = ctp_judge_sure(j, co, true);
		j->objects_found |= sure >= CTP_CERTAIN_LIKELY;
		ctp_judge_add(j, ctp_judge_group(j, rule, 0, ctp_follow_place(j->follow, co)), co,
		              sure == CTP_CERTAIN_PROVED ? CTP_CERTAIN_LIKELY : sure, co->suspended_ns, ctp_wait_ns(j, co));
	}
}
