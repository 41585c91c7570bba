/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coro-facts.c - records of what a suspension waits for, how much of it is available, and which coroutines hold it.
 *
 * An object is known by its process and its address. An address may be reused: the records are in the order of time, so a
 * reader knows which object is meant.
 */
#include "collect/coros.h"

void ctp_life_reason(struct ctp_coros *coros, const struct ctp_reason *r)
{
	uint64_t probe_id, coro = ctp_life_number(coros, r->ref, r->ts_ns, &probe_id);
	uint32_t what = CTP_REASON_WHAT(r->number);
	if (!coro || !what || what >= CTP_WAITS_COUNT)
		return;
	if (what == CTP_FOR_FD && (int32_t)r->value >= 0)
		ctp_waited_fds_add(&coros->fds, r->pid, (int32_t)r->value, r->ts_ns);
	CTP_ROWS_PUT(coros->rows, CTP_REASON_TOLD, r->ts_ns, [CTP_REASON_PROBE] = probe_id, [CTP_REASON_CORO] = coro,
	             [CTP_REASON_PID] = r->pid, [CTP_REASON_FOR] = what,
	             [CTP_REASON_DEADLINE] = what == CTP_FOR_TIMER ? r->value : 0,
	             [CTP_REASON_FD] = (uint64_t)(int64_t)(what == CTP_FOR_FD ? (int32_t)r->value : -1),
	             [CTP_REASON_OBJECT] = what > CTP_FOR_FD ? r->value : 0,
	             [CTP_REASON_N] = CTP_REASON_COUNT(r->number),
	             [CTP_REASON_SAID] = (CTP_REASON_MARKS(r->number) & (CTP_REASON_MORE - 1)) | (r->more ? CTP_REASON_MORE : 0));
}

static uint64_t object_marks(uint32_t marks)
{
	return (marks & CTP_MARK_OWNED ? CTP_OBJECT_OWNED : 0u) | (marks & CTP_MARK_CLOSED ? CTP_OBJECT_CLOSED : 0u) |
	       (marks & CTP_MARK_GONE ? CTP_OBJECT_GONE : 0u) | (marks & CTP_MARK_MADE ? CTP_OBJECT_MADE : 0u);
}

static void take_object(struct ctp_coros *coros, uint64_t pid, uint64_t tid, const struct ctp_ring_entry *e)
{
	uint32_t number = CTP_ENTRY_NUMBER(e->what), what = CTP_REASON_WHAT(number), site = CTP_ENTRY_SITE(e->what);
	uint64_t site_val = site ? ctp_shm_texts_site(&coros->texts, site, e->ts_ns) : 0;
	CTP_ROWS_PUT(coros->rows, CTP_OBJECT, e->ts_ns, [CTP_OBJECT_PID] = pid, [CTP_OBJECT_AT] = e->value,
	             [CTP_OBJECT_KIND] = what < CTP_WAITS_COUNT ? what : 0, [CTP_OBJECT_AVAILABLE] = e->ref,
	             [CTP_OBJECT_SITE] = site_val, [CTP_OBJECT_MARKS] = object_marks(CTP_REASON_MARKS(number)),
	             [CTP_OBJECT_TID] = tid);
}

static void take_label(struct ctp_coros *coros, uint64_t pid, const struct ctp_ring_entry *e)
{
	char text[CTP_SHM_TEXT_MAX];
	uint32_t len = ctp_shm_texts_function(&coros->texts, CTP_ENTRY_SITE(e->what), text);
	if (!len)
		return;
	ctp_rows_reserve(coros->rows, len);
	uint64_t name = ctp_rows_string(coros->rows, text, len);
	CTP_ROWS_PUT(coros->rows, CTP_OBJECT_NAME, e->ts_ns, [CTP_OBJECT_NAME_PID] = pid,
	             [CTP_OBJECT_NAME_AT] = e->value, [CTP_OBJECT_NAME_TEXT] = name);
}

void ctp_life_hold(struct ctp_coros *coros, const struct ctp_hold_of *hold)
{
	CTP_ROWS_PUT(coros->rows, CTP_HOLD, hold->ts_ns, [CTP_HOLD_PROBE] = hold->probe_id,
	             [CTP_HOLD_CORO] = hold->coro, [CTP_HOLD_PID] = hold->pid, [CTP_HOLD_OBJECT] = hold->object,
	             [CTP_HOLD_COUNT] = (uint64_t)(int64_t)hold->count, [CTP_HOLD_SITE] = hold->site);
}

/* A coroutine that ends while it holds something is remembered: another coroutine may release its permit or its lock. */
static void count_held(struct ctp_life *life, int32_t n)
{
	int64_t held = (int64_t)life->held + n;
	if (life->held < UINT8_MAX)
		life->held = (uint8_t)(held < 0 ? 0 : held < UINT8_MAX ? held : UINT8_MAX);
}

static struct ctp_hold_place *place_for(struct ctp_coros *coros, uint64_t ref)
{
	struct ctp_coro_objects *o = &coros->objects;
	return &o->places[ref % (sizeof o->places / sizeof *o->places)];
}

static void take_hold_place(struct ctp_coros *coros, const struct ctp_ring_entry *e)
{
	*place_for(coros, e->ref) = (struct ctp_hold_place){e->ref, e->value, e->ts_ns, CTP_ENTRY_SITE(e->what)};
}

/* The number in the stream of the place where a coroutine got what an entry says; 0: not known. */
static uint64_t hold_site(struct ctp_coros *coros, const struct ctp_ring_entry *e)
{
	const struct ctp_hold_place *at = place_for(coros, e->ref);
	bool its = at->site && at->ref == e->ref && at->object == e->value && at->ts_ns == e->ts_ns;
	return its ? ctp_shm_texts_site(&coros->texts, at->site, e->ts_ns) : 0;
}

static void take_hold(struct ctp_coros *coros, uint64_t pid, const struct ctp_ring_entry *e)
{
	uint64_t probe_id, coro = ctp_life_number(coros, e->ref, e->ts_ns, &probe_id);
	if (!coro)
		coro = ctp_coro_objects_ended_number(&coros->objects, e->ref);
	else if (coro == coros->life[CTP_REF_INDEX(e->ref)].coro)
		count_held(&coros->life[CTP_REF_INDEX(e->ref)], (int32_t)CTP_ENTRY_NUMBER(e->what));
	if (coro && !ctp_coro_objects_is_written(&coros->objects, pid, e))
		ctp_life_hold(coros, &(struct ctp_hold_of){coro, probe_id, pid, e->value, e->ts_ns, hold_site(coros, e),
		                                           (int32_t)CTP_ENTRY_NUMBER(e->what)});
}

static void take_wake_for(struct ctp_coros *coros, uint64_t pid, const struct ctp_ring_entry *e)
{
	uint64_t probe_id, coro = ctp_life_number(coros, e->ref, e->ts_ns, &probe_id);
	if (!coro)
		return;
	CTP_ROWS_PUT(coros->rows, CTP_WAKE_FOR, e->ts_ns, [CTP_WAKE_FOR_PROBE] = probe_id, [CTP_WAKE_FOR_CORO] = coro,
	             [CTP_WAKE_FOR_PID] = pid, [CTP_WAKE_FOR_OBJECT] = e->value);
}

bool ctp_coros_fact(struct ctp_coros *coros, uint64_t owner, const struct ctp_ring_entry *e)
{
	uint64_t pid = owner >> 32;
	switch (CTP_ENTRY_KIND(e->what)) {
	case CTP_ENTRY_REASON:
		ctp_life_reason(coros, &(struct ctp_reason){e->ref, e->value, pid, e->ts_ns, CTP_ENTRY_NUMBER(e->what), false});
		return true;
	case CTP_ENTRY_OBJECT:
		take_object(coros, pid, (uint32_t)owner, e);
		return true;
	case CTP_ENTRY_LABEL:
		take_label(coros, pid, e);
		return true;
	case CTP_ENTRY_HOLDS:
		take_hold(coros, pid, e);
		return true;
	case CTP_ENTRY_AT:
		take_hold_place(coros, e);
		return true;
	case CTP_ENTRY_FOR:
		take_wake_for(coros, pid, e);
		return true;
	default:
		return false;
	}
}
