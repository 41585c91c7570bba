/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-order.c - the rule about locks that were taken in both orders, and have not hung yet. */
#include "analyse/judge.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyse/judge-object.h"
#include "analyse/judge-words.h"

static struct ctp_tally_case case_of(struct ctp_judge *j, const struct ctp_lock_order *order)
{
	const struct ctp_coroutine *co = ctp_follow_find(j->follow, order->coro);
	return (struct ctp_tally_case){
		.id = order->coro,
		.probe = co ? co->probe : 0,
		.name = co ? co->name : NULL,
		.tid = co ? j->follow->threads->list[co->thread].tid : 0,
		.from_ns = order->taken.ts_ns,
		.spawn = order->spawn,
		.place = order->taken.place,
	};
}

/* One of the two is in a finding already, of a deadlock for example. */
static bool is_found(struct ctp_judge *j, const struct ctp_lock_order *order)
{
	const struct ctp_coroutine *co = ctp_follow_find(j->follow, order->coro);
	return co && co->flags & CTP_CO_FOUND;
}

static void add_orders(struct ctp_judge *j, const struct ctp_lock_order *a, const struct ctp_lock_order *b)
{
	struct ctp_group *g = ctp_judge_group(j, CTP_RULE_LOCK_ORDER, 0, a->taken.place);
	const struct ctp_tally_case cases[] = {case_of(j, a), case_of(j, b)};
	if (g && !g->order) {
		g->order = a;
		g->reverse = b;
	}
	for (int i = 0; i < 2; i++)
		ctp_judge_add_case(j, g, &cases[i], CTP_CERTAIN_POSSIBLE);
}

void ctp_judge_lock_order(struct ctp_judge *j)
{
	const struct ctp_lock_orders *o = &j->follow->objects->orders;
	for (uint32_t i = 1; i <= o->count; i++) {
		const struct ctp_lock_order *a = &o->list[i], *b = ctp_lock_orders_reverse(o, a);
		if (b && a < b && !is_found(j, a) && !is_found(j, b))
			add_orders(j, a, b);
	}
}

/* --- words -------------------------------------------------------------------------------------------------------------- */

enum { NAME_MAX = CTP_SITE_TEXT_MAX + 80, PLACE_MAX = CTP_SITE_TEXT_MAX + 48 };

/* The lock may be gone, and its address another object's. */
static const char *lock_name(struct ctp_words *w, const struct ctp_lock *lock, char *text)
{
	const struct ctp_object *ob = ctp_objects_find(w->j->follow->objects, lock->pid, lock->at);
	if (ob && ob->made_ns == lock->made_ns)
		return ctp_words_object(w, ob, text, NAME_MAX);
	snprintf(text, NAME_MAX, "the lock at 0x%" PRIx64, lock->at);
	return text;
}

/* "at pay.c:40:pay"; or "after a wait at" where it was last suspended. */
static const char *say_place(struct ctp_words *w, const struct ctp_lock_taken *taken, char *text)
{
	const char *place = ctp_words_named(ctp_follow_text(w->j->follow, taken->place));
	snprintf(text, PLACE_MAX, "%s %s", taken->exact ? "at" : "after its last suspension, at", place);
	return text;
}

static void say_order(struct ctp_words *w, const struct ctp_lock_order *order)
{
	char held[NAME_MAX], taken[NAME_MAX], places[2][PLACE_MAX];
	ctp_words_evidence(w, "%s took %s %s %s, while it held %s, taken %s", ctp_words_any(w, order->coro),
	                   lock_name(w, &order->taken.lock, taken), say_place(w, &order->taken, places[0]),
	                   ctp_words_when(w, ctp_span_ns(w->j->start_ns, order->taken.ts_ns)), lock_name(w, &order->held.lock, held),
	                   say_place(w, &order->held, places[1]));
}

void ctp_say_lock_order(struct ctp_words *w)
{
	char one[NAME_MAX] = "two locks", other[NAME_MAX] = "";
	const struct ctp_lock_order *order = w->g->order;
	if (order) {
		lock_name(w, &order->held.lock, one);
		lock_name(w, &order->taken.lock, other);
	}
	ctp_words_title(w, "%s %s %s%s%s in both orders, from %s on", ctp_words_those(w), ctp_words_they(w, "takes", "take"), one,
	                *other ? " and " : "", other, ctp_words_where(w));
	if (order) {
		say_order(w, order);
		say_order(w, w->g->reverse);
	}
	ctp_words_next(w, "take the two locks in one order everywhere: if two coroutines each take the first of theirs, both wait for ever");
	ctp_words_excuse(w, "it did not happen in this run, and something else may keep the two orders apart");
}
