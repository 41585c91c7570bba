/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-holds.c - see sql-holds.h. An entry stays in the map after its hold has ended, until the list is full.
 */
#include "sql/sql-holds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/objects.h"
#include "base/array.h"
#include "base/compare.h"
#include "stream/sink.h"

enum { ROOM_MIN = 64 };
enum sort { HOLD, OBJECT, MISSED, NO_SORT };

/* --- entries ------------------------------------------------------------------------------------------------------------- */

static bool is_entry(const void *items, uint32_t number, const void *key)
{
	const struct ctp_sql_hold *e = &((const struct ctp_sql_holds *)items)->list[number], *k = key;
	return e->coro == k->coro && e->at == k->at && e->pid == k->pid;
}

static uint64_t hash_key(const struct ctp_sql_holds *h, const struct ctp_sql_hold *k)
{
	return ctp_map_pair(&h->map, ctp_map_pair(&h->map, k->at, k->coro), k->pid);
}

static uint64_t hash_entry(const void *items, uint32_t number)
{
	const struct ctp_sql_holds *h = items;
	return hash_key(h, &h->list[number]);
}

static uint32_t *slot_of(const struct ctp_sql_holds *h, const struct ctp_sql_hold *key)
{
	return ctp_map_slot(&h->map, hash_key(h, key), is_entry, h, key);
}

static void compact(struct ctp_sql_holds *h)
{
	uint32_t kept = 0;
	ctp_map_clear(&h->map);
	for (uint32_t i = 1; i <= h->count; i++)
		if (h->list[i].count) {
			h->list[++kept] = h->list[i];
			*slot_of(h, &h->list[kept]) = kept;
		}
	h->count = kept;
}

/* A new one has ended. Null: out of memory, or too many. */
static struct ctp_sql_hold *entry_of(struct ctp_sql_holds *h, const struct ctp_sql_hold *key)
{
	uint32_t number = *slot_of(h, key);
	if (number)
		return &h->list[number];
	if (h->count + 1 == h->room) {
		compact(h);
		bool grows = h->count >= h->room / 2 && h->room <= CTP_SQL_HOLDS_MAX;
		h->failed |= grows && !CTP_ARRAY_RESERVE(h->list, h->room, h->room + 1, CTP_SQL_HOLDS_MAX + 1);
	}
	if (h->count + 1 >= h->room || !ctp_map_reserve(&h->map, h->count, hash_entry, h))
		return NULL;
	h->list[++h->count] = *key;
	h->list[h->count].count = 0;
	*slot_of(h, key) = h->count;
	return &h->list[h->count];
}

/* --- ends ---------------------------------------------------------------------------------------------------------------- */

static void put_oldest(struct ctp_sql_holds *h)
{
	struct ctp_sql_hold *e = &h->kept[h->nput++ % CTP_SQL_HOLDS_KEPT];
	h->put_ns = ctp_most(h->put_ns, e->stop_ns);
	h->put(h->arg, e);
	free(e->name);
}

/* The hold ends at ts, or is cut there: then its end is not known. */
static void end_hold(struct ctp_sql_holds *h, struct ctp_sql_hold *e, const struct ctp_object *ob, uint64_t ts, bool stopped)
{
	if (h->nkept - h->nput == CTP_SQL_HOLDS_KEPT)
		put_oldest(h);
	struct ctp_sql_hold *kept = &h->kept[h->nkept++ % CTP_SQL_HOLDS_KEPT];
	*kept = *e;
	kept->stop_ns = ctp_most(ts, e->start_ns);
	kept->stopped = stopped;
	kept->sure &= stopped;
	kept->name = ob && ob->name ? strdup(ob->name) : NULL;
	e->count = 0;
}

/* All holds of an object end; of any, if ob is null. */
static void end_all(struct ctp_sql_holds *h, struct ctp_object *ob, uint64_t ts, bool stopped)
{
	for (uint32_t i = 1; i <= h->count; i++) {
		struct ctp_sql_hold *e = &h->list[i];
		struct ctp_object *of = e->count ? ctp_objects_find(h->follow->objects, e->pid, e->at) : NULL;
		if (!e->count || (ob && of != ob))
			continue;
		end_hold(h, e, of, ts, stopped);
		if (of)
			of->nholds = 0;
	}
}

/* When the holders of an object become unknown, or are known again, those that were seen to hold it may have given it back. */
static void note_known(struct ctp_sql_holds *h, struct ctp_object *ob, uint64_t ts)
{
	if (ob->holds_known != ob->holders_known && ob->nholds)
		end_all(h, ob, ts, false);
	ob->holds_known = ob->holders_known;
}

/* Records are missing since after_ns. */
static void doubt(struct ctp_sql_holds *h, uint64_t after_ns, uint64_t ts)
{
	end_all(h, NULL, ts, false);
	for (uint64_t i = h->nput; i < h->nkept; i++) {
		struct ctp_sql_hold *e = &h->kept[i % CTP_SQL_HOLDS_KEPT];
		if (e->stop_ns >= after_ns)
			e->sure = e->stopped = false;
	}
	if (h->nput && h->put_ns >= after_ns)
		h->doubt_ns = ctp_most(h->doubt_ns, ts);
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

static enum sort sort_of(const struct ctp_class *cls)
{
	if (cls->kind == CTP_KIND_HOLD)
		return HOLD;
	if (cls->kind == CTP_KIND_OBJECT)
		return OBJECT;
	return cls->kind == CTP_KIND_LOSS && ctp_class_is_missed(cls) ? MISSED : NO_SORT;
}

bool ctp_sql_holds_wants(const struct ctp_class *cls) { return sort_of(cls) != NO_SORT; }

static const struct ctp_roles *roles_of(struct ctp_sql_holds *h, const struct ctp_class *cls, enum sort sort)
{
	if (h->known[sort] != cls) {
		h->roles[sort] = (struct ctp_roles){.known = false};
		ctp_roles_learn(&h->roles[sort], cls);
		h->known[sort] = cls;
	}
	return &h->roles[sort];
}

static struct ctp_object *object_of(const struct ctp_sql_holds *h, const struct ctp_roles *r, const uint64_t *val)
{
	return ctp_objects_find(h->follow->objects, ctp_roles_value(val, r->pid), ctp_roles_value(val, r->object));
}

void ctp_sql_holds_before(struct ctp_sql_holds *h, const struct ctp_record *rec)
{
	enum sort sort = sort_of(rec->cls);
	if (sort != OBJECT)
		return;
	const struct ctp_roles *r = roles_of(h, rec->cls, sort);
	uint64_t marks = ctp_roles_value(rec->val, r->marks);
	struct ctp_object *ob = marks & (CTP_OBJECT_MADE | CTP_OBJECT_GONE) ? object_of(h, r, rec->val) : NULL;
	if (ob && ob->nholds)
		end_all(h, ob, ctp_roles_value(rec->val, r->ts), marks & CTP_OBJECT_GONE);
}

static void take_hold(struct ctp_sql_holds *h, struct ctp_object *ob, const struct ctp_sql_hold *by)
{
	struct ctp_sql_hold *e = by->count && by->coro ? entry_of(h, by) : NULL;
	if (!e || (!e->count && by->count < 0)) /* it gives back what it had before */
		return;
	if (!e->count) {
		*e = *by;
		e->count = e->most = 0;
		e->sure = ob->holders_known;
		ob->nholds++;
	}
	e->count += by->count;
	e->most = e->count > e->most ? e->count : e->most;
	if (e->count > 0)
		return;
	e->sure &= ob->holders_known;
	ob->nholds--;
	end_hold(h, e, ob, by->start_ns, true);
}

void ctp_sql_holds_after(struct ctp_sql_holds *h, const struct ctp_record *rec)
{
	enum sort sort = sort_of(rec->cls);
	const struct ctp_roles *r = roles_of(h, rec->cls, sort);
	const uint64_t *val = rec->val;
	uint64_t ts = ctp_roles_value(val, r->ts);
	if (sort == MISSED) {
		if (ctp_record_lost(rec))
			doubt(h, ctp_roles_value(val, r->after), ts);
		return;
	}
	struct ctp_object *ob = object_of(h, r, val);
	if (!ob)
		return;
	const struct ctp_sql_hold by = {.pid = ob->pid, .at = ob->at, .coro = ctp_roles_value(val, r->id), .start_ns = ts,
	                                .probe = ctp_roles_value(val, r->probe), .site = ctp_roles_value(val, r->site),
	                                .count = (int64_t)ctp_roles_value(val, r->count)};
	note_known(h, ob, ts);
	if (sort == HOLD)
		take_hold(h, ob, &by);
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

bool ctp_sql_holds_init(struct ctp_sql_holds *h)
{
	h->room = ROOM_MIN;
	h->list = calloc(ROOM_MIN, sizeof *h->list);
	h->kept = calloc(CTP_SQL_HOLDS_KEPT, sizeof *h->kept);
	return ctp_map_init(&h->map, ROOM_MIN) && h->list && h->kept;
}

void ctp_sql_holds_clear(struct ctp_sql_holds *h)
{
	for (; h->nput < h->nkept; h->nput++)
		free(h->kept[h->nput % CTP_SQL_HOLDS_KEPT].name);
	h->nput = h->nkept = h->put_ns = h->doubt_ns = 0;
	h->count = 0;
	ctp_map_clear(&h->map);
	memset(h->known, 0, sizeof h->known);
}

void ctp_sql_holds_fini(struct ctp_sql_holds *h)
{
	if (h->kept)
		ctp_sql_holds_clear(h);
	ctp_map_fini(&h->map);
	free(h->list);
	free(h->kept);
}

void ctp_sql_holds_finish(struct ctp_sql_holds *h, const struct ctp_follow_end *end)
{
	if (end->missing) /* any record may be */
		doubt(h, 0, INT64_MAX);
	while (h->nput < h->nkept)
		put_oldest(h);
	for (uint32_t i = 1; i <= h->count; i++) {
		struct ctp_sql_hold *e = &h->list[i];
		const struct ctp_object *ob = e->count ? ctp_objects_find(h->follow->objects, e->pid, e->at) : NULL;
		if (!e->count)
			continue;
		e->open = true;
		e->sure &= ob && ob->holders_known;
		e->name = ob ? ob->name : NULL;
		h->put(h->arg, e);
	}
	if (h->doubt_ns)
		h->put(h->arg, &(struct ctp_sql_hold){.start_ns = h->doubt_ns});
	h->count = 0;
}
