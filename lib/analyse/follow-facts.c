/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* follow-facts.c - reads records of reasons, objects and holders into objects.h. */
#include "analyse/follow-own.h"

#include "stream/events.h"

/* The reasons of a coroutine's present wait, or of the one that it is about to begin. */
static const struct ctp_reasons *reasons_of(const struct ctp_follow *f, const struct ctp_coroutine *co)
{
	return ctp_objects_reasons(f->objects, co->id, co->state == CTP_RUNNING ? co->next : co->next - 1);
}

/*
 * A program that ends in order destroys locks and what coroutines hold before it destroys the coroutines. So what is recorded
 * after an object has ended, or after a coroutine that does not run has given one back, is undone if only deaths follow it.
 */
static void keep_if_done(struct ctp_follow *f, bool destroys)
{
	uint64_t now = f->counts.events + f->counts.births;
	if (!f->priv->destroys || (!f->priv->nheld && f->priv->facts_at != now)) {
		ctp_objects_keep(f->objects);
		f->priv->destroys = false;
	}
	f->priv->destroys |= destroys;
	f->priv->facts_at = now;
}

void ctp_follow_woken(struct ctp_follow *f, const struct ctp_coroutine *co, const struct ctp_change *ch)
{
	const struct ctp_reasons *r = reasons_of(f, co);
	f->priv->woken.coro = co->id;
	f->priv->woken.ts_ns = ch->ts_ns;
	ctp_follow_judge_gives(f);
	keep_if_done(f, false);
	if (!r)
		return;
	uint64_t until = co->next + (co->state == CTP_RUNNING ? 3 : 2); /* after the suspension, the resume and the next suspension */
	ctp_objects_woken(f->objects, r, until, ch->by, ch->ts_ns);
	for (uint32_t i = 0; i < r->n; i++)
		if (r->list[i].what == CTP_WAITS_TIMER && r->list[i].value < ch->ts_ns)
			ctp_objects_rang(f->objects, ctp_follow_place(f, co), ctp_span_ns(co->suspended_ns, r->list[i].value),
			                 ch->ts_ns - r->list[i].value);
}

static void take_reason(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	uint64_t what = ctp_roles_value(val, roles->what), marks = ctp_roles_value(val, roles->marks);
	if (!co || co->state == CTP_DEAD || !what || what >= CTP_WAITS_COUNT)
		return;
	int16_t value = what == CTP_WAITS_TIMER ? roles->deadline : what == CTP_WAITS_DESCRIPTOR ? roles->fd : roles->object;
	ctp_objects_reason(f->objects, &(struct ctp_reason_record){
		.coro = co->id, .event = co->next, .pid = ctp_roles_value(val, roles->pid), .ts_ns = ts,
		.place = co->state == CTP_RUNNING ? co->place : 0,
		.of = {.value = ctp_roles_value(val, value), .count = ctp_roles_value(val, roles->count),
		       .what = (uint8_t)what, .marks = (uint8_t)marks},
	});
}

/* The place that a record names; 0: none. */
static uint32_t site_of(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val)
{
	uint64_t site = ctp_roles_value(val, roles->site);
	return site ? ctp_places_number(f->places, (struct ctp_spot){.site = site}, 0, 0) : 0;
}

/* How much the last record said; 0: none has. */
static uint64_t available_now(const struct ctp_object *ob, uint8_t what)
{
	const struct ctp_stock *stock = what == CTP_WAITS_ROOM ? &ob->room : &ob->stock;
	return stock->known ? stock->available : 0;
}

/* There is more of it than before, or less: the coroutine that runs on the thread gave or took some, or the thread itself did. */
static void take_change(struct ctp_follow *f, const struct ctp_object_record *record, uint64_t before, uint64_t tid)
{
	const struct ctp_thread *th = &f->threads->list[ctp_threads_number(f->threads, tid)];
	const struct ctp_coroutine *co = th->current ? ctp_coro_table_find(&f->priv->table, th->current) : NULL;
	if (record->available < before)
		ctp_follow_got(f, co, record->pid, record->at, record->what == CTP_WAITS_ROOM, record->ts_ns);
	else if (co && record->available > before)
		ctp_follow_give(f, co, ctp_objects_find(f->objects, record->pid, record->at), record->what, record->available - before,
		                record->ts_ns);
}

static void take_object(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	uint64_t what = ctp_roles_value(val, roles->what);
	struct ctp_object_record record = {
		.pid = ctp_roles_value(val, roles->pid), .at = ctp_roles_value(val, roles->object), .ts_ns = ts,
		.available = ctp_roles_value(val, roles->available), .what = (uint8_t)(what < CTP_WAITS_COUNT ? what : 0),
		.marks = (uint8_t)ctp_roles_value(val, roles->marks),
	};
	record.site = site_of(f, roles, val);
	keep_if_done(f, record.marks & CTP_OBJECT_GONE);
	if (!record.at)
		return;
	uint64_t tid = record.what && !(record.marks & CTP_OBJECT_MADE) ? ctp_roles_value(val, roles->tid) : 0;
	const struct ctp_object *ob = tid ? ctp_objects_find(f->objects, record.pid, record.at) : NULL;
	uint64_t before = ob ? available_now(ob, record.what) : 0;
	ctp_objects_take(f->objects, &record);
	if (tid)
		take_change(f, &record, before, tid);
}

static void take_label(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	(void)ts;
	const struct ctp_str *name = roles->text == CTP_ROLES_NONE ? NULL : ctp_str_val(val[roles->text]);
	uint64_t at = ctp_roles_value(val, roles->object);
	keep_if_done(f, false);
	if (name && at)
		ctp_objects_name(f->objects, ctp_roles_value(val, roles->pid), at, name->data, name->len);
}

static void take_hold(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	const struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	uint64_t at = ctp_roles_value(val, roles->object);
	int64_t count = (int64_t)ctp_roles_value(val, roles->count);
	keep_if_done(f, co && co->state != CTP_RUNNING && count < 0);
	if (!co || !at)
		return;
	uint64_t pid = ctp_roles_value(val, roles->pid);
	uint32_t site = site_of(f, roles, val);
	ctp_objects_hold(f->objects, pid, at, &(struct ctp_holder){.coro = co->id, .count = count, .site = site}, ts);
	ctp_objects_order(f->objects, &(struct ctp_objects_held){pid, at, co->id, ts, count, co->spawn, site, ctp_follow_place(f, co)});
	const struct ctp_object *ob = count < 0 ? ctp_objects_find(f->objects, pid, at) : NULL;
	if (count > 0)
		ctp_follow_got(f, co, pid, at, false, ts);
	else if (ob && (ob->what == CTP_WAITS_LOCK || ob->what == CTP_WAITS_PERMITS))
		ctp_follow_give(f, co, ob, ob->what, (uint64_t)-count, ts);
}

static void take_wake_for(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	const struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	uint64_t at = ctp_roles_value(val, roles->object);
	/* Without its wake nothing is known. */
	if (co && at && f->priv->woken.coro == co->id && f->priv->woken.ts_ns == ts)
		ctp_objects_woken_for(f->objects, reasons_of(f, co), ctp_roles_value(val, roles->pid), at, co->id, ts);
}

static void take_descriptor(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	const struct ctp_descriptor seen = {
		.pid = ctp_roles_value(val, roles->pid), .fd = (int32_t)ctp_roles_value(val, roles->fd), .ts_ns = ts,
		.type = (uint8_t)ctp_roles_value(val, roles->type), .unread = ctp_roles_value(val, roles->unread),
		.unsent = ctp_roles_value(val, roles->unsent), .ended = ctp_roles_value(val, roles->ended) != 0,
		.side = (uint8_t)ctp_roles_value(val, roles->side), .last = (uint8_t)ctp_roles_value(val, roles->last),
	};
	ctp_objects_look(f->objects, &seen);
}

void ctp_follow_fact(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	static void (*const take[CTP_KIND_COUNT])(struct ctp_follow *, const struct ctp_roles *, const uint64_t *, uint64_t) = {
		[CTP_KIND_REASON] = take_reason, [CTP_KIND_OBJECT] = take_object, [CTP_KIND_LABEL] = take_label,
		[CTP_KIND_HOLD] = take_hold, [CTP_KIND_CAUSE] = take_wake_for, [CTP_KIND_DESCRIPTOR] = take_descriptor,
	};
	ctp_follow_judge_gives(f);
	if (roles->kind < CTP_KIND_COUNT && take[roles->kind])
		take[roles->kind](f, roles, val, ts);
}
