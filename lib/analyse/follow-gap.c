/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * follow-gap.c - what a loss takes away: the state of a coroutine, its wakes since the last transition, the time of a thread.
 */
#include "analyse/follow-own.h"

#include "base/capped.h"
#include "base/compare.h"
#include "stream/sink.h"

/* Wakes since the last transition may belong to a wait in the gap. */
static void forget_wakes(struct ctp_coroutine *co)
{
	if (co->state == CTP_RUNNABLE || co->flags & CTP_CO_PENDING)
		co->before = co->before_at = 0;
	if (co->state == CTP_RUNNABLE) {
		co->since_ns = co->suspended_ns ? co->suspended_ns : co->born_ns;
		co->state = co->suspended_ns ? CTP_SUSPENDED : CTP_BORN;
	}
	co->waker = 0;
	co->streak = 0;
	co->flags &= (uint16_t)~(CTP_CO_PENDING | CTP_CO_AWAITS | CTP_CO_WOKEN);
}

void ctp_follow_lose(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t after_ns, uint64_t ts, uint64_t count)
{
	bool goes_on = co->flags & CTP_CO_TAIL;
	if (!goes_on)
		forget_wakes(co);
	after_ns = after_ns > co->since_ns ? after_ns : co->since_ns;
	after_ns = after_ns < ts ? after_ns : ts;
	struct ctp_change ch = ctp_change_of(co, CTP_CHANGE_LOST, ts);
	ch.gap_ns = after_ns;
	ch.by = count;
	if (ch.whole)
		ctp_follow_spend(f, co, &(struct ctp_change){.was = ch.was, .was_ns = ch.was_ns, .ts_ns = after_ns, .whole = true},
		                 CTP_FOLLOW_ASKED);
	struct ctp_thread *th = ctp_follow_running_on(f, co);
	if (th)
		th->current = 0;
	co->flags |= CTP_CO_TAIL | CTP_CO_GAP;
	co->since_ns = goes_on ? co->since_ns : after_ns;
	f->counts.gaps += count > 0;
	ctp_follow_tell(f, &ch);
}

/* Between two times, transitions are missing in the ring of a thread. */
static void thread_gap(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	uint64_t transitions = ctp_roles_value(val, roles->transitions), after = ctp_roles_value(val, roles->after);
	uint32_t thread = transitions ? ctp_threads_number(f->threads, ctp_roles_value(val, roles->tid)) : 0;
	struct ctp_thread *th = &f->threads->list[thread];
	ctp_add_capped(&f->counts.ring_lost, transitions);
	if (!thread || after > ts)
		return;
	ctp_thread_gap(th, ctp_asked_from(f, ctp_most(after, f->known_ns)), ctp_asked_to(f, ts));
	if (f->ops->thread_gap)
		f->ops->thread_gap(f->arg, thread, after, ts, transitions);
}

void ctp_follow_loss(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec, uint64_t ts)
{
	uint64_t count = ctp_record_lost(rec);
	uint64_t id = ctp_roles_value(rec->val, roles->id), after = ctp_roles_value(rec->val, roles->after);
	if (roles->missed) {
		ctp_add_capped(&f->counts.missed, count);
		if (count && ts > f->missed_ns)
			f->missed_ns = ts;
		if (count)
			ctp_objects_gap(f->objects);
		thread_gap(f, roles, rec->val, ts);
		return;
	}
	ctp_add_capped(&f->counts.lost, count);
	if (!id) {
		ctp_add_capped(&f->counts.lost_apart, count);
		f->unsure_ns = ts > f->unsure_ns ? ts : f->unsure_ns;
		return;
	}
	uint64_t from = roles->numbered ? rec->val[roles->index] : 0;
	uint64_t upto = roles->numbered && count < UINT64_MAX - from ? from + count : UINT64_MAX;
	struct ctp_coroutine *co = ctp_follow_whose(f, roles, rec->val, after && after < ts ? after : ts);
	if (!co || co->state == CTP_DEAD || (roles->numbered && upto <= co->next)) {
		f->counts.gaps += co && co->state != CTP_DEAD && f->filtered && count; /* which seemed to be left out */
		return;
	}
	bool is_next = !roles->numbered || from <= co->next; /* else the event at after is missing, too */
	ctp_follow_lose(f, co, is_next ? after : 0, ts, count);
}
