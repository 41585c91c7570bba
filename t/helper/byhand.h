/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * byhand.h - records of the classes that ctp-collect writes, made by hand, one call for each.
 *
 * give() receives them. Transitions have the next index, unless the test has changed next[coro].
 */
#ifndef CTP_T_BYHAND_H
#define CTP_T_BYHAND_H

#include <stdlib.h>
#include <string.h>

#include "stream/events.h"
#include "stream/record.h"

enum { BYHAND_COROS = 1 << 17, BYHAND_PID = 100 };

struct byhand {
	void (*give)(void *to, const struct ctp_batch *batch);
	void *to;
	struct ctp_class *cls[CTP_EVENT_COUNT];
	uint64_t next[BYHAND_COROS];
	bool late; /* the records given are late */
};

static inline void byhand_init(struct byhand *h, void (*give)(void *to, const struct ctp_batch *batch), void *to)
{
	*h = (struct byhand){.give = give, .to = to};
	for (uint32_t i = 0; i < CTP_EVENT_COUNT; i++) {
		if (!(h->cls[i] = ctp_event_class((enum ctp_event)i)))
			abort();
		h->cls[i]->id = i;
	}
}

static inline void byhand_fini(struct byhand *h)
{
	for (uint32_t i = 0; i < CTP_EVENT_COUNT; i++)
		ctp_class_free(h->cls[i]);
}

static inline void byhand_give(struct byhand *h, enum ctp_event event, const uint64_t *val)
{
	const struct ctp_record rec = {.cls = h->cls[event], .val = val};
	h->give(h->to, &(struct ctp_batch){.rec = &rec, .n = 1, .late = h->late});
}

/* A record with these values, by the names of events.h; the others are 0. */
#define BYHAND(h, event, ...) byhand_give((h), (event), (const uint64_t[CTP_FIELDS_MAX]){__VA_ARGS__})

static inline void transition(struct byhand *h, uint64_t ts, uint64_t co, uint64_t tid, uint64_t site, bool active)
{
	uint64_t n = h->next[co]++;
	BYHAND(h, CTP_TRANSITION, [CTP_TRANSITION_PROBE] = co + 1000, [CTP_TRANSITION_TID] = tid, [CTP_TRANSITION_SEQ] = n + 1,
	       [CTP_TRANSITION_ACTIVE] = active, [CTP_TRANSITION_TS] = ts, [CTP_TRANSITION_CORO] = co,
	       [CTP_TRANSITION_INDEX] = n, [CTP_TRANSITION_SITE] = site);
}

static inline void resumes(struct byhand *h, uint64_t ts, uint64_t co, uint64_t tid) { transition(h, ts, co, tid, 0, true); }

static inline void suspends(struct byhand *h, uint64_t ts, uint64_t co, uint64_t tid, uint64_t site)
{
	transition(h, ts, co, tid, site, false);
}

/* parent: the coroutine that spawned it; hand: it is traced by hand. */
static inline void is_made(struct byhand *h, uint64_t ts, uint64_t co, uint64_t site, uint64_t parent, bool hand)
{
	BYHAND(h, CTP_BIRTH, [CTP_BIRTH_TS] = ts, [CTP_BIRTH_PROBE] = co + 1000, [CTP_BIRTH_CORO] = co, [CTP_BIRTH_AFTER] = ts,
	       [CTP_BIRTH_BEFORE] = ts, [CTP_BIRTH_SITE] = site, [CTP_BIRTH_PID] = BYHAND_PID, [CTP_BIRTH_PARENT] = parent,
	       [CTP_BIRTH_HAND] = hand);
}

static inline void is_born(struct byhand *h, uint64_t ts, uint64_t co, uint64_t site) { is_made(h, ts, co, site, 0, false); }

static inline void dies(struct byhand *h, uint64_t ts, uint64_t co)
{
	BYHAND(h, CTP_DEATH, [CTP_DEATH_TS] = ts, [CTP_DEATH_PROBE] = co + 1000, [CTP_DEATH_CORO] = co, [CTP_DEATH_AFTER] = ts,
	       [CTP_DEATH_BEFORE] = ts);
}

static inline void is_woken_so(struct byhand *h, uint64_t ts, uint64_t co, uint64_t tid, uint64_t by, enum ctp_wake_how how)
{
	BYHAND(h, CTP_WAKE, [CTP_WAKE_TS] = ts, [CTP_WAKE_CORO] = co, [CTP_WAKE_TID] = tid, [CTP_WAKE_BY] = by, [CTP_WAKE_HOW] = how);
}

static inline void is_woken(struct byhand *h, uint64_t ts, uint64_t co, uint64_t tid, uint64_t by)
{
	is_woken_so(h, ts, co, tid, by, CTP_WAKE_CALL);
}

static inline void joins(struct byhand *h, uint64_t ts, uint64_t co, uint64_t target)
{
	BYHAND(h, CTP_AWAIT, [CTP_AWAIT_TS] = ts, [CTP_AWAIT_CORO] = co, [CTP_AWAIT_TARGET] = target, [CTP_AWAIT_JOINS] = true);
}

static inline void awaits(struct byhand *h, uint64_t ts, uint64_t co, uint64_t target)
{
	BYHAND(h, CTP_AWAIT, [CTP_AWAIT_TS] = ts, [CTP_AWAIT_CORO] = co, [CTP_AWAIT_TARGET] = target);
}

/* What its next suspension waits for. what is enum ctp_waits_for; value: the deadline, the descriptor, or the object. */
static inline void waits_so(struct byhand *h, uint64_t ts, uint64_t co, enum ctp_waits_for what, uint64_t value, uint64_t n, uint64_t marks)
{
	BYHAND(h, CTP_REASON_TOLD, [CTP_REASON_TS] = ts, [CTP_REASON_CORO] = co, [CTP_REASON_PID] = BYHAND_PID, [CTP_REASON_FOR] = what,
	       [CTP_REASON_DEADLINE] = what == CTP_WAITS_TIMER ? value : 0,
	       [CTP_REASON_FD] = what == CTP_WAITS_DESCRIPTOR ? value : UINT64_MAX,
	       [CTP_REASON_OBJECT] = what > CTP_WAITS_DESCRIPTOR ? value : 0, [CTP_REASON_N] = n, [CTP_REASON_SAID] = marks);
}

static inline void waits_for(struct byhand *h, uint64_t ts, uint64_t co, enum ctp_waits_for what, uint64_t value)
{
	waits_so(h, ts, co, what, value, 1, 0);
}

/* An object has this much available; marks are CTP_OBJECT_... */
static inline void has_so(struct byhand *h, uint64_t ts, uint64_t object, uint64_t what, uint64_t available, uint64_t marks)
{
	BYHAND(h, CTP_OBJECT, [CTP_OBJECT_TS] = ts, [CTP_OBJECT_PID] = BYHAND_PID, [CTP_OBJECT_AT] = object, [CTP_OBJECT_KIND] = what,
	       [CTP_OBJECT_AVAILABLE] = available, [CTP_OBJECT_MARKS] = marks);
}

static inline void has(struct byhand *h, uint64_t ts, uint64_t object, enum ctp_waits_for what, uint64_t available)
{
	has_so(h, ts, object, what, available, 0);
}

/* The same, recorded by that thread. */
static inline void has_on(struct byhand *h, uint64_t ts, uint64_t tid, uint64_t object, enum ctp_waits_for what, uint64_t available)
{
	BYHAND(h, CTP_OBJECT, [CTP_OBJECT_TS] = ts, [CTP_OBJECT_PID] = BYHAND_PID, [CTP_OBJECT_AT] = object, [CTP_OBJECT_KIND] = what,
	       [CTP_OBJECT_AVAILABLE] = available, [CTP_OBJECT_TID] = tid);
}

static inline void gets(struct byhand *h, uint64_t ts, uint64_t co, uint64_t object, int64_t count)
{
	BYHAND(h, CTP_HOLD, [CTP_HOLD_TS] = ts, [CTP_HOLD_CORO] = co, [CTP_HOLD_PID] = BYHAND_PID, [CTP_HOLD_OBJECT] = object,
	       [CTP_HOLD_COUNT] = (uint64_t)count);
}

static inline void gets_at(struct byhand *h, uint64_t ts, uint64_t co, uint64_t object, int64_t count, uint64_t site)
{
	BYHAND(h, CTP_HOLD, [CTP_HOLD_TS] = ts, [CTP_HOLD_CORO] = co, [CTP_HOLD_PID] = BYHAND_PID, [CTP_HOLD_OBJECT] = object,
	       [CTP_HOLD_COUNT] = (uint64_t)count, [CTP_HOLD_SITE] = site);
}

static inline void is_woken_for(struct byhand *h, uint64_t ts, uint64_t co, uint64_t tid, uint64_t by, uint64_t object)
{
	is_woken(h, ts, co, tid, by);
	BYHAND(h, CTP_WAKE_FOR, [CTP_WAKE_FOR_TS] = ts, [CTP_WAKE_FOR_CORO] = co, [CTP_WAKE_FOR_PID] = BYHAND_PID,
	       [CTP_WAKE_FOR_OBJECT] = object);
}

static inline void kernel_has_end(struct byhand *h, uint64_t ts, uint64_t fd)
{
	BYHAND(h, CTP_DESCRIPTOR, [CTP_DESCRIPTOR_TS] = ts, [CTP_DESCRIPTOR_PID] = BYHAND_PID, [CTP_DESCRIPTOR_FD] = fd,
	       [CTP_DESCRIPTOR_TYPE] = CTP_FD_PIPE, [CTP_DESCRIPTOR_ENDED] = 1);
}

static inline void kernel_has(struct byhand *h, uint64_t ts, uint64_t fd, uint64_t unread)
{
	BYHAND(h, CTP_DESCRIPTOR, [CTP_DESCRIPTOR_TS] = ts, [CTP_DESCRIPTOR_PID] = BYHAND_PID, [CTP_DESCRIPTOR_FD] = fd,
	       [CTP_DESCRIPTOR_TYPE] = CTP_FD_TCP, [CTP_DESCRIPTOR_UNREAD] = unread);
}

/* A TCP connection with nothing to read. */
static inline void kernel_says(struct byhand *h, uint64_t ts, uint64_t fd, enum ctp_descriptor_side side, enum ctp_descriptor_last last)
{
	BYHAND(h, CTP_DESCRIPTOR, [CTP_DESCRIPTOR_TS] = ts, [CTP_DESCRIPTOR_PID] = BYHAND_PID, [CTP_DESCRIPTOR_FD] = fd,
	       [CTP_DESCRIPTOR_TYPE] = CTP_FD_TCP, [CTP_DESCRIPTOR_SIDE] = side, [CTP_DESCRIPTOR_LAST] = last);
}

/* count of its events are lost, from the next one on, between after and ts; co 0: of unknown coroutines. */
static inline void are_lost(struct byhand *h, uint64_t after, uint64_t ts, uint64_t co, uint64_t count)
{
	BYHAND(h, CTP_LOST, [CTP_LOST_TS] = ts, [CTP_LOST_CORO] = co, [CTP_LOST_INDEX] = h->next[co], [CTP_LOST_COUNT] = count,
	       [CTP_LOST_AFTER] = after);
	h->next[co] += count;
}

static inline void are_missed(struct byhand *h, uint64_t after, uint64_t ts, uint64_t tid)
{
	BYHAND(h, CTP_MISSED, [CTP_MISSED_TS] = ts, [CTP_MISSED_TID] = tid, [CTP_MISSED_COUNT] = 1, [CTP_MISSED_AFTER] = after);
}

/* This number of a thread's transitions between after and ts are missing. */
static inline void ring_lost(struct byhand *h, uint64_t after, uint64_t ts, uint64_t tid, uint64_t transitions)
{
	BYHAND(h, CTP_MISSED, [CTP_MISSED_TS] = ts, [CTP_MISSED_TID] = tid, [CTP_MISSED_AFTER] = after,
	       [CTP_MISSED_TRANSITIONS] = transitions);
}

/* after: when it was last seen executing; 0: unknown. */
static inline void is_over_since(struct byhand *h, uint64_t after, uint64_t ts, enum ctp_outcome outcome, int status)
{
	BYHAND(h, CTP_END, [CTP_END_TS] = ts, [CTP_END_OUTCOME] = outcome, [CTP_END_STATUS] = (uint64_t)status, [CTP_END_AFTER] = after,
	       [CTP_END_BEFORE] = after ? ts : 0);
}

static inline void is_over(struct byhand *h, uint64_t ts, enum ctp_outcome outcome) { is_over_since(h, 0, ts, outcome, 0); }

/* The process was seen in another state, and last in the former one at after. */
static inline void becomes(struct byhand *h, uint64_t after, uint64_t ts, enum ctp_process_state state)
{
	BYHAND(h, CTP_PROCESS, [CTP_PROCESS_TS] = ts, [CTP_PROCESS_PID] = BYHAND_PID, [CTP_PROCESS_AFTER] = after,
	       [CTP_PROCESS_STATE] = state);
}

static inline void is_sampled(struct byhand *h, uint64_t ts, uint64_t tid, uint64_t cpu, uint64_t delay, enum ctp_sample_state state)
{
	BYHAND(h, CTP_SAMPLE, [CTP_SAMPLE_TS] = ts, [CTP_SAMPLE_TID] = tid, [CTP_SAMPLE_PID] = BYHAND_PID, [CTP_SAMPLE_CPU] = cpu,
	       [CTP_SAMPLE_DELAY] = delay, [CTP_SAMPLE_STATE] = state);
}

/* The samples with this time were of all threads of the process; this is their number. */
static inline void round_ends(struct byhand *h, uint64_t ts, uint64_t threads)
{
	BYHAND(h, CTP_PROCESS, [CTP_PROCESS_TS] = ts, [CTP_PROCESS_PID] = BYHAND_PID, [CTP_PROCESS_AFTER] = ts,
	       [CTP_PROCESS_STATE] = CTP_PROCESS_EXECUTING, [CTP_PROCESS_THREADS] = threads);
}

static inline void is_named(struct byhand *h, uint64_t ts, uint64_t co, const char *name, size_t len)
{
	struct ctp_str *s = malloc(sizeof(*s) + len + 1);
	if (!s)
		abort();
	s->len = (uint32_t)len;
	memcpy(s->data, name, len);
	s->data[len] = '\0';
	BYHAND(h, CTP_NAME, [CTP_NAME_TS] = ts, [CTP_NAME_CORO] = co, [CTP_NAME_TEXT] = ctp_val_str(s));
	free(s);
}

#endif
