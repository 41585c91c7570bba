/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-reasons.c - see judge-reasons.h. */
#include "analyse/judge-reasons.h"

const struct ctp_reasons *ctp_wait_reasons(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	if (!ctp_wait_is(co) || !co->next)
		return NULL;
	const struct ctp_reasons *r = ctp_objects_reasons(j->follow->objects, co->id, co->next - 1);
	return r && !r->more ? r : NULL;
}

const struct ctp_reason_of *ctp_reason_only(const struct ctp_reasons *r, uint32_t *i, bool *timed)
{
	const struct ctp_reason_of *one = NULL;
	*timed = false;
	for (uint32_t k = 0; r && k < r->n; k++) {
		bool is_timer = r->list[k].what == CTP_WAITS_TIMER;
		*timed |= is_timer || r->list[k].marks & CTP_REASON_TIMED;
		if (is_timer)
			continue;
		if (one)
			return NULL;
		one = &r->list[k];
		*i = k;
	}
	return one;
}

uint64_t ctp_reason_wanted(const struct ctp_reason_of *r) { return r->count ? r->count : 1; }

/* A lock that has a holder is not available, whatever its last count says. */
bool ctp_reason_is_enough(const struct ctp_object *ob, const struct ctp_reason_of *r)
{
	const struct ctp_stock *stock = ctp_object_stock(ob, r);
	bool held = r->what == CTP_WAITS_LOCK && ob->holders_known && ob->nholders;
	bool exact;
	return stock->known && ctp_object_available(ob, stock, &exact) >= ctp_reason_wanted(r) && !held;
}

bool ctp_reason_is_short(const struct ctp_object *ob, const struct ctp_reason_of *r)
{
	const struct ctp_stock *stock = ctp_object_stock(ob, r);
	bool exact;
	return stock->known && ctp_object_available(ob, stock, &exact) < ctp_reason_wanted(r) && exact;
}

/* How long a wait is overdue: since due_ns, or since it began. */
uint64_t ctp_wait_since_due(const struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t due_ns)
{
	return ctp_follow_ns(j->follow, ctp_most(due_ns, co->suspended_ns), ctp_judge_end_ns(j, co));
}

bool ctp_wait_is_quiet(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_reasons *r = j->ordinal ? NULL : ctp_wait_reasons(j, co);
	for (uint32_t i = 0; r && i < r->n; i++) {
		const struct ctp_object *ob = ctp_objects_wanted(j->follow->objects, r, i);
		if (r->list[i].what == CTP_WAITS_TIMER && ctp_wait_since_due(j, co, r->list[i].value) < CTP_JUDGE_LATE_NS)
			return true;
		if (r->list[i].marks & CTP_REASON_RESTS && !(ob && (ob->closed_ns || ctp_reason_is_enough(ob, &r->list[i]))))
			return true;
	}
	return false;
}

bool ctp_wait_is_for_objects(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_reasons *r = ctp_wait_reasons(j, co);
	bool all = r && r->n;
	for (uint32_t i = 0; r && i < r->n; i++)
		all &= ctp_reason_is_object(&r->list[i]) && !(r->list[i].marks & (CTP_REASON_TIMED | CTP_REASON_RESTS));
	return all;
}

bool ctp_wait_is_for_turn(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint32_t i;
	bool timed;
	const struct ctp_reasons *all = ctp_wait_reasons(j, co);
	const struct ctp_reason_of *r = ctp_reason_only(all, &i, &timed);
	if (!r)
		return false;
	/* A semaphore that nobody holds counts events: who waits for it waits for work. */
	const struct ctp_object *ob = r->what == CTP_WAITS_PERMITS ? ctp_objects_waited(j->follow->objects, all, i, co->suspended_ns) : NULL;
	return r->what == CTP_WAITS_LOCK || r->what == CTP_WAITS_ROOM || (ob && (ob->owned || ob->hold_ns));
}
