/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-pool.c - objects that can never serve again: a pool or a lock of which coroutines hold most that have ended, a queue whose
 * takers have all ended.
 *
 * judge-object.c judges waits. A wait with a time-out ends before it is long, and the coroutine tries again: no single wait stands out.
 * So here the object is judged. Nobody has taken or given back anything for a second, coroutines wanted it in that second, and none
 * of those that could give something back moves.
 */
#include "analyse/judge-object.h"

#include "analyse/judge-why.h"
#include "analyse/judge-words.h"
#include "analyse/judge.h"
#include "analyse/wait-texts.h"

/* Of ctp_object.spent. */
enum { NOT_LOOKED, CAN_SERVE, SPENT };

/* The last second before the end. */
static uint64_t lately_ns(const struct ctp_judge *j) { return j->end_ns - ctp_least(j->end_ns, CTP_JUDGE_QUIET_NS); }

/* Whether the holder has ended, and not just now. */
static bool has_ended(const struct ctp_judge *j, const struct ctp_holder *h)
{
	const struct ctp_coroutine *by = ctp_follow_find(j->follow, h->coro);
	return !by || (by->state == CTP_DEAD && by->since_ns <= lately_ns(j));
}

static uint64_t held_by_ended(const struct ctp_judge *j, const struct ctp_object *ob)
{
	uint64_t sum = 0;
	for (const struct ctp_holder *h = ob->holders; h < ob->holders + ob->nholders; h++)
		sum += has_ended(j, h) ? (uint64_t)h->count : 0;
	return sum;
}

/* Whether each holder has ended, or waits. One that runs may be about to give back what it has. */
static bool none_moves(const struct ctp_judge *j, const struct ctp_object *ob)
{
	for (const struct ctp_holder *h = ob->holders; h < ob->holders + ob->nholders; h++)
		if (!has_ended(j, h) && !ctp_wait_is(ctp_follow_find(j->follow, h->coro)))
			return false;
	return true;
}

/* Coroutines that have ended hold half of what is held, or more, and nobody has taken or given back any for a second. */
static bool is_spent(const struct ctp_judge *j, const struct ctp_object *ob)
{
	bool settled = ob->hold_ns && ob->hold_ns <= lately_ns(j) && !ob->closed_ns;
	bool known = ob->holders_known && ob->nholders && !ob->others;
	return settled && known && none_moves(j, ob) && 2 * held_by_ended(j, ob) >= ctp_object_held(ob);
}

static bool is_pool_spent(const struct ctp_judge *j, const struct ctp_reason_of *r, struct ctp_object *ob)
{
	bool owned = ob && (r->what == CTP_WAITS_LOCK || (r->what == CTP_WAITS_PERMITS && ob->owned));
	bool taken = owned && (ctp_reason_is_short(ob, r) || (r->what == CTP_WAITS_LOCK && ob->nholders));
	if (!taken)
		return false;
	if (ob->spent == NOT_LOOKED)
		ob->spent = is_spent(j, ob) ? SPENT : CAN_SERVE;
	return ob->spent == SPENT;
}

/* The queue has no room, and the coroutines that ever took from it have all ended, a second before the end or earlier. */
static bool is_queue_spent(const struct ctp_judge *j, uint64_t pid, const struct ctp_reason_of *r, const struct ctp_object *ob)
{
	const struct ctp_queue_end *takers = r->what == CTP_WAITS_ROOM ? ctp_wait_other_end(j, pid, r) : NULL;
	bool open = !ob || (!ob->closed_ns && !(ob->room.known && ob->room.available));
	return takers && open && ctp_queue_end_is_over(j, takers, lately_ns(j));
}

/* The rule that the object of a reason breaks. */
static enum ctp_rule rule_of(const struct ctp_judge *j, uint64_t pid, const struct ctp_reason_of *r)
{
	struct ctp_object *ob = ctp_reason_is_object(r) ? ctp_objects_find(j->follow->objects, pid, r->value) : NULL;
	if (r->marks & CTP_REASON_RESTS)
		return CTP_RULES;
	if (is_pool_spent(j, r, ob))
		return CTP_RULE_HELD_BY_DEAD;
	return is_queue_spent(j, pid, r, ob) ? CTP_RULE_PEER_ENDED : CTP_RULES;
}

/* The place of the last suspension of a coroutine, if that was the wait for these reasons; else 0. */
static uint32_t place_of(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_reasons *r)
{
	uint64_t last = co->next - (co->state == CTP_SUSPENDED ? 1 : 2);
	return r->event == last ? ctp_follow_place(j->follow, co) : 0;
}

/* Adds the coroutine to a group if the object that it wanted breaks a rule. False: it breaks none. */
static bool add_if_spent(struct ctp_judge *j, struct ctp_coroutine *co, const struct ctp_wanted *wanted)
{
	enum ctp_rule rule = rule_of(j, wanted->pid, &wanted->of);
	if (rule == CTP_RULES)
		return false;
	const struct ctp_object *ob = ctp_objects_find(j->follow->objects, wanted->pid, wanted->of.value);
	struct ctp_group *g = ctp_judge_object_group(j, rule, wanted->pid, &wanted->of);
	enum ctp_certainty sure = ctp_judge_sure(j, co, true);
	uint64_t from_ns = ctp_most(wanted->ts_ns, rule == CTP_RULE_HELD_BY_DEAD && ob ? ob->hold_ns : 0);
	if (g && !g->wanted_at)
		g->wanted_at = wanted->place;
	j->objects_found |= sure >= CTP_CERTAIN_LIKELY;
	ctp_judge_add(j, g, co, sure == CTP_CERTAIN_PROVED ? CTP_CERTAIN_LIKELY : sure, from_ns, ctp_follow_ns(j->follow, from_ns, j->end_ns));
	return true;
}

/* What the coroutine waits for, or waited for in the last second. */
static void look_at(struct ctp_judge *j, struct ctp_coroutine *co, const struct ctp_reasons *r)
{
	bool waits = ctp_wait_is(co) && co->next == r->event + 1;
	bool recent = !r->more && (waits || r->ts_ns >= lately_ns(j));
	for (uint32_t i = 0; recent && i < r->n; i++)
		if (add_if_spent(j, co, &(struct ctp_wanted){.of = r->list[i], .pid = r->pid, .ts_ns = r->ts_ns, .place = place_of(j, co, r)}))
			return;
	if (r->earlier.of.what && r->earlier.ts_ns >= lately_ns(j))
		add_if_spent(j, co, &r->earlier);
}

void ctp_judge_pools(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	if (!ctp_objects_any(j->follow->objects) || j->facts_only)
		return;
	CTP_EACH_COROUTINE(j, co) {
		bool open = co->state != CTP_DEAD && !(co->flags & CTP_CO_FOUND);
		const struct ctp_reasons *r = open ? ctp_objects_last_reasons(j->follow->objects, co->id) : NULL;
		if (r)
			look_at(j, co, r);
	}
	for (uint32_t i = 0; i < j->ngroups; i++)
		if (j->groups[i].object.what)
			j->groups[i].place = j->groups[i].wanted_at;
}

/* --- words ---------------------------------------------------------------------------------------------------------------- */

static const struct ctp_object *object_of(const struct ctp_words *w)
{
	return ctp_objects_find(w->j->follow->objects, w->g->pid, w->g->object.value);
}

static const char *name_of(struct ctp_words *w)
{
	const struct ctp_reason_of *r = &w->g->object;
	return ctp_wait_object(w->j->follow, object_of(w), r->what, r->value, "'", w->places, sizeof w->places);
}

/* A line for each of the first holders that have ended. */
static void say_ended_holders(struct ctp_words *w, const struct ctp_object *ob)
{
	uint32_t listed = 0;
	for (const struct ctp_holder *h = ob->holders; h < ob->holders + ob->nholders && listed < CTP_WORDS_LISTED; h++) {
		const struct ctp_coroutine *by = ctp_follow_find(w->j->follow, h->coro);
		if (!has_ended(w->j, h))
			continue;
		listed++;
		const char *got = ctp_words_when(w, ctp_span_ns(w->j->start_ns, h->got_ns));
		const char *ended = by ? ctp_words_when(w, ctp_span_ns(w->j->start_ns, by->since_ns)) : "since";
		if (w->g->object.what == CTP_WAITS_LOCK)
			ctp_words_evidence(w, "%s locked it %s, and ended %s", ctp_words_any(w, h->coro), got, ended);
		else
			ctp_words_evidence(w, "%s took %s %s, and ended %s", ctp_words_any(w, h->coro),
			                   ctp_words_counted(w, (uint64_t)h->count, "permit", "permits"), got, ended);
	}
}

static void say_wanted(struct ctp_words *w, const char *what)
{
	ctp_words_evidence(w, "%s %s in the last second%s%s", ctp_words_counted(w, w->f->members, "coroutine wanted", "coroutines wanted"), what,
	                   w->f->place ? ", at " : "", w->f->place ? ctp_words_named(w->f->place) : "");
}

void ctp_say_spent_pool(struct ctp_words *w)
{
	const struct ctp_object *ob = object_of(w);
	uint64_t ns = ob ? ctp_span_ns(ob->hold_ns, w->j->end_ns) : 0, ended = ob ? held_by_ended(w->j, ob) : 0;
	if (!ob)
		return;
	if (w->g->object.what == CTP_WAITS_LOCK)
		ctp_words_title(w, "%s has been locked for %s by a coroutine that has ended", name_of(w), ctp_words_duration(w, ns));
	else
		ctp_words_title(w, "%s has been exhausted for %s: %s of %s held by %s", name_of(w), ctp_words_duration(w, ns),
		                ctp_words_count(w, ended), ctp_words_counted(w, ctp_object_held(ob), "permit is", "permits are"),
		                ended == 1 ? "a coroutine that has ended" : "coroutines that have ended");
	say_ended_holders(w, ob);
	ctp_words_evidence(w, "since then nobody has taken or given back any");
	say_wanted(w, w->g->object.what == CTP_WAITS_LOCK ? "it" : "a permit");
	ctp_words_next(w, "see that every way out of the coroutine that held it, also an error or a cancellation, gives it back");
}

void ctp_say_spent_queue(struct ctp_words *w)
{
	const struct ctp_queue_end *takers = ctp_wait_other_end(w->j, w->g->pid, &w->g->object);
	ctp_words_title(w, "all coroutines that ever took from %s have ended, and %s room in it", name_of(w),
	                ctp_words_counted(w, w->f->members, "coroutine wants", "coroutines want"));
	say_wanted(w, "room in it");
	for (uint32_t i = 0; takers && i < takers->n && i < CTP_WORDS_LISTED; i++)
		ctp_words_evidence(w, "%s has taken from it %s, and has ended", ctp_words_any(w, takers->users[i].coro),
		                   ctp_words_counted(w, takers->users[i].uses, "time", "times"));
	ctp_words_next(w, "did an error end the coroutine at the other end? When the last of those ends, the queue must be closed");
}
