/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * follow-step.h - turns the record of a transition into a change. It is inline because it runs for each event, in two loops: that
 * of follow.c calls a listener, that of tally.c counts at once.
 */
#ifndef CTP_FOLLOW_STEP_H
#define CTP_FOLLOW_STEP_H

#include "analyse/follow-own.h"

#define CTP_ALWAYS inline __attribute__((always_inline))

enum ctp_follow_order { CTP_FOLLOW_NEXT, CTP_FOLLOW_GAP, CTP_FOLLOW_OLD };

/* Whether an event is the one that is due, by its number. */
static inline enum ctp_follow_order ctp_follow_numbered(struct ctp_coroutine *co, uint64_t number)
{
	if (number == co->next) {
		co->next++;
		return CTP_FOLLOW_NEXT;
	}
	if (number < co->next)
		return CTP_FOLLOW_OLD;
	co->next = number + 1;
	return CTP_FOLLOW_GAP;
}

/* The same by the sequence of its slot. A probe whose sequence begins again is another coroutine. */
enum ctp_follow_order ctp_follow_sequence(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t seq, uint64_t ts);

/* A coroutine was resumed while it ran, or after its death: calls the listener. */
__attribute__((cold)) void ctp_follow_broken(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t ts, uint32_t thread);

/* The coroutine suspends at another place than the last time. */
void ctp_follow_put_place(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t pid, uint64_t site, uint64_t addr);

/* A whole run on a thread. Remnants from before known_ns do not count. */
static inline void ctp_follow_ran(struct ctp_follow *f, struct ctp_thread *th, uint64_t from_ns, uint64_t to_ns,
                                  enum ctp_follow_time time)
{
	if (time == CTP_FOLLOW_ALL) {
		ctp_thread_ran(th, from_ns, to_ns);
		return;
	}
	from_ns = from_ns > f->known_ns ? from_ns : f->known_ns;
	ctp_thread_ran(th, ctp_asked_from(f, from_ns), ctp_asked_to(f, to_ns));
}

static CTP_ALWAYS void ctp_follow_suspend(struct ctp_follow *f, struct ctp_coroutine *co, struct ctp_thread *th,
                                          struct ctp_change *ch, uint64_t site, uint64_t addr, enum ctp_follow_time time)
{
	uint32_t flags = co->flags;
	uint64_t where = site ? ~site : addr; /* so that no number equals an address */
	ch->kind = CTP_CHANGE_SUSPEND;
	ch->from = ctp_follow_place_of(f, co);
	if (th->current == co->id || ch->was == CTP_RUNNING) { /* else it is lazy: its parent suspends it before its first run */
		th->current = th->current == co->id ? th->outer : 0;
		th->outer = 0;
	}
	if (!ch->whole || !(flags & CTP_CO_AWAITS))
		co->awaits = 0;
	if (__builtin_expect(where != co->where || !co->place, 0)) {
		co->where = where;
		ctp_follow_put_place(f, co, th->pid, site, addr);
	}
	if (__builtin_expect((flags & (CTP_CO_FIRST | CTP_CO_RAN)) == CTP_CO_RAN && co->place, 0)) {
		co->first_at = co->place;
		flags |= CTP_CO_FIRST;
	}
	co->suspended_ns = ch->ts_ns;
	co->state = flags & CTP_CO_PENDING ? CTP_RUNNABLE : CTP_SUSPENDED;
	if (!(flags & CTP_CO_PENDING))
		co->waker = 0;
	co->flags = (uint16_t)(flags & ~(uint32_t)(CTP_CO_PENDING | CTP_CO_AWAITS | CTP_CO_TAIL));
	if (ch->was == CTP_RUNNING && ch->whole && ch->thread == co->thread)
		ctp_follow_ran(f, th, ch->was_ns, ch->ts_ns, time);
}

static CTP_ALWAYS void ctp_follow_resume(struct ctp_coroutine *co, struct ctp_thread *th, struct ctp_change *ch)
{
	uint32_t flags = co->flags;
	uint64_t current = th->current;
	ch->kind = CTP_CHANGE_RESUME;
	ch->from = co->thread;
	ch->by = flags & CTP_CO_OURS && current != co->id ? current : 0; /* other probes do not record the end of a run */
	th->outer = ch->by;
	th->current = th->last = co->id;
	th->seen.samples = 0;
	th->resumes++;
	co->migrations += flags & CTP_CO_RAN && ch->from != ch->thread;
	co->resumes++;
	co->state = CTP_RUNNING;
	co->awaits = 0;
	co->resumed_ns = ch->ts_ns;
	co->thread = ch->thread;
	if (__builtin_expect(flags & CTP_CO_TAIL, 0)) { /* the last suspension may be missing */
		co->where = 0;
		co->place = 0;
	}
	flags &= ~(uint32_t)(CTP_CO_WOKEN | CTP_CO_TAIL);
	co->flags = (uint16_t)(flags | CTP_CO_RAN | (ch->was == CTP_RUNNABLE ? CTP_CO_WOKEN : 0));
}

/*
 * A transition of a coroutine; null: the table is full. True: *ch is a change to tell. *ch need not be in memory, as long as the
 * caller passes its address to inline functions only.
 */
static CTP_ALWAYS bool ctp_follow_step(struct ctp_follow *f, const struct ctp_roles *roles, struct ctp_coroutine *co,
                                       const uint64_t *val, uint64_t ts, enum ctp_follow_time time, struct ctp_change *ch)
{
	if (!co)
		return false;
	uint64_t due = co->next;
	enum ctp_follow_order order = roles->index == CTP_ROLES_NONE ? CTP_FOLLOW_NEXT :
	                              roles->numbered ? ctp_follow_numbered(co, val[roles->index]) :
	                                            ctp_follow_sequence(f, co, val[roles->index], ts);
	if (order == CTP_FOLLOW_OLD)
		return false;
	/* The record of the loss may come before this transition, after it, or not at all. */
	if (__builtin_expect(order == CTP_FOLLOW_GAP, 0) && co->state != CTP_DEAD && !(co->flags & CTP_CO_TAIL)) {
		bool counted = roles->numbered && !f->filtered && !(co->flags & CTP_CO_BEFORE && co->state == CTP_BORN);
		ctp_follow_lose(f, co, 0, ts, counted ? val[roles->index] - due : 0);
	}
	*ch = ctp_change_of(co, CTP_CHANGE_SUSPEND, ts);
	ch->thread = ctp_threads_number(f->threads, ctp_roles_value(val, roles->tid));
	struct ctp_thread *th = &f->threads->list[ch->thread];
	bool active = roles->active != CTP_ROLES_NONE && val[roles->active];
	bool dead = ch->was == CTP_DEAD;
	/* A transition from before a death may come after it in the stream. */
	bool twice = order == CTP_FOLLOW_NEXT && ch->was == CTP_RUNNING && co->flags & CTP_CO_OURS;
	if (active && ch->whole && (dead ? ts > co->since_ns : twice))
		ctp_follow_broken(f, co, ts, ch->thread);
	if (dead)
		return false;
	if (active)
		ctp_follow_resume(co, th, ch);
	else
		ctp_follow_suspend(f, co, th, ch, ctp_roles_value(val, roles->site), ctp_roles_value(val, roles->addr), time);
	th->last_ns = ts > th->last_ns ? ts : th->last_ns; /* rings are not in time order */
	ctp_follow_spend(f, co, ch, time);
	co->since_ns = ts;
	return true;
}

#endif
