/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* objects-reasons.c - what each coroutine waits for, or waited for last; and the wakes that end such a wait. */
#include "analyse/objects-own.h"

#include "base/array.h"

enum { REASONS_MAX = 1 << 23 };

static bool is_of(const void *items, uint32_t number, const void *key)
{
	return ((const struct ctp_objects *)items)->reasons[number].coro == *(const uint64_t *)key;
}

static uint64_t hash_of(const void *items, uint32_t number) { return ((const struct ctp_objects *)items)->reasons[number].coro; }

static uint32_t *reasons_slot(const struct ctp_objects *o, uint64_t coro)
{
	return ctp_map_slot(&o->reasons_map, coro, is_of, o, &coro);
}

const struct ctp_reasons *ctp_objects_last_reasons(const struct ctp_objects *o, uint64_t coro)
{
	uint32_t number = o->nreasons ? *reasons_slot(o, coro) : 0;
	const struct ctp_reasons *r = number ? &o->reasons[number] : NULL;
	return r && r->n ? r : NULL;
}

const struct ctp_reasons *ctp_objects_reasons(const struct ctp_objects *o, uint64_t coro, uint64_t event)
{
	const struct ctp_reasons *r = ctp_objects_last_reasons(o, coro);
	return r && r->event == event ? r : NULL;
}

/* Their wait is over. */
static void leave(struct ctp_objects *o, struct ctp_reasons *r, uint64_t ts_ns)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->list[i].end)
			ctp_gives_leave(&o->gives, r->list[i].end, ts_ns);
		r->list[i].end = 0;
	}
}

void ctp_objects_died(struct ctp_objects *o, uint64_t coro, uint64_t ts_ns)
{
	uint32_t number = o->nreasons ? *reasons_slot(o, coro) : 0;
	if (!number)
		return;
	leave(o, &o->reasons[number], ts_ns);
	o->reasons[number] = (struct ctp_reasons){.n = 0}; /* no coroutine has the number 0 */
}

/* Drops the reasons of coroutines that have ended. */
static void compact_reasons(struct ctp_objects *o)
{
	uint32_t kept = 0;
	ctp_map_clear(&o->reasons_map);
	for (uint32_t i = 1; i <= o->nreasons; i++)
		if (o->reasons[i].coro) {
			o->reasons[++kept] = o->reasons[i];
			*reasons_slot(o, o->reasons[kept].coro) = kept;
		}
	o->nreasons = kept;
}

static bool reasons_room(struct ctp_objects *o)
{
	if (o->nreasons + 1 == o->reasons_room) {
		compact_reasons(o);
		bool grows = o->nreasons >= o->reasons_room / 2 && o->reasons_room <= REASONS_MAX;
		o->failed |= grows && !CTP_ARRAY_RESERVE(o->reasons, o->reasons_room, o->reasons_room + 1, REASONS_MAX + 1);
	}
	return o->nreasons + 1 < o->reasons_room && ctp_map_reserve(&o->reasons_map, o->nreasons, hash_of, o);
}

/* What the last wait for something that may never be free again was for; or that of an earlier wait. */
static struct ctp_wanted last_wanted(const struct ctp_reasons *r, const struct ctp_reason_record *next)
{
	for (uint32_t i = 0; i < r->n; i++) {
		bool finite = r->list[i].what == CTP_WAITS_LOCK || r->list[i].what == CTP_WAITS_PERMITS || r->list[i].what == CTP_WAITS_ROOM;
		uint32_t place = r->event + 2 == next->event ? next->place : 0; /* a resume is between the two suspensions */
		if (finite && !r->more)
			return (struct ctp_wanted){.of = r->list[i], .pid = r->pid, .ts_ns = r->ts_ns, .place = place};
	}
	return r->earlier;
}

void ctp_objects_reason(struct ctp_objects *o, const struct ctp_reason_record *record)
{
	const struct ctp_reason_of *of = &record->of;
	uint32_t *slot = reasons_slot(o, record->coro);
	if (!record->coro)
		return;
	if (of->what == CTP_WAITS_ITEM || of->what == CTP_WAITS_ROOM)
		ctp_queues_use(&o->queues, record->pid, of->value, record->coro, of->what == CTP_WAITS_ROOM);
	if (!*slot) {
		if (!reasons_room(o))
			return;
		slot = reasons_slot(o, record->coro); /* the map may have been built again */
		*slot = ++o->nreasons;
		o->reasons[*slot] = (struct ctp_reasons){.coro = record->coro};
	}
	struct ctp_reasons *r = &o->reasons[*slot];
	if (!r->n || r->event != record->event) {
		leave(o, r, record->ts_ns);
		*r = (struct ctp_reasons){.coro = record->coro, .event = record->event, .ts_ns = record->ts_ns,
		                          .earlier = last_wanted(r, record)};
	}
	r->pid = record->pid;
	r->more |= r->n == CTP_REASONS_MAX || of->marks & CTP_REASON_MORE;
	if (r->n == CTP_REASONS_MAX)
		return;
	r->list[r->n] = *of;
	if (ctp_reason_is_object(of))
		r->list[r->n].end = ctp_gives_wait(&o->gives, record->pid, of->value, of->what == CTP_WAITS_ROOM, of->count);
	r->n++;
}

/* A timer among the reasons is due: the wake may be because of that. */
static bool is_timers(const struct ctp_reasons *r, uint64_t ts_ns)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->list[i].what == CTP_WAITS_TIMER && r->list[i].value <= ts_ns)
			return true;
	return false;
}

void ctp_objects_woken(struct ctp_objects *o, const struct ctp_reasons *r, uint64_t until, uint64_t by, uint64_t ts_ns)
{
	bool by_timer = is_timers(r, ts_ns);
	for (uint32_t i = 0; i < r->n; i++) {
		struct ctp_object *ob = ctp_objects_save(o, ctp_objects_wanted(o, r, i));
		if (r->list[i].end)
			ctp_gives_woken(&o->gives, r->list[i].end, r->coro, until, by, by_timer, ts_ns);
		if (!ob)
			continue;
		ob->woken = r->coro;
		ob->woken_ns = ts_ns;
		bool outside = !by || by == r->coro;
		ob->more_makers |= outside || !CTP_ARRAY_NOTE(ob->makers, ob->nmakers, by);
	}
	leave(o, &o->reasons[r - o->reasons], ts_ns);
}

void ctp_objects_woken_for(struct ctp_objects *o, const struct ctp_reasons *r, uint64_t pid, uint64_t at, uint64_t coro,
                           uint64_t ts_ns)
{
	struct ctp_object *ob = ctp_objects_save(o, ctp_objects_find(o, pid, at));
	bool meant = !r || r->more;
	for (uint32_t i = 0; r && i < r->n; i++)
		meant |= ctp_reason_is_object(&r->list[i]) && r->list[i].value == at;
	if (!ob)
		return;
	ob->strayed = meant ? 0 : coro;
	ob->strayed_ns = ts_ns;
}
