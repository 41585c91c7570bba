/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * objects.c - see objects.h.
 *
 * An entry is never removed from a map. When a table is full, entries that are no longer used are dropped and the map is built
 * again. The table grows only if that frees less than half of it.
 */
#include "analyse/objects-own.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/places.h"
#include "base/array.h"
#include "base/compare.h"

enum { ROOM_MIN = 64 };

struct key {
	uint64_t pid, at;
};

static bool is_object(const void *items, uint32_t number, const void *key)
{
	const struct ctp_object *ob = &((const struct ctp_objects *)items)->list[number];
	const struct key *k = key;
	return ob->at == k->at && ob->pid == k->pid;
}

static uint64_t hash_object(const void *items, uint32_t number)
{
	const struct ctp_objects *o = items;
	return ctp_map_pair(&o->map, o->list[number].at, o->list[number].pid);
}

bool ctp_objects_init(struct ctp_objects *o)
{
	*o = (struct ctp_objects){.room = ROOM_MIN, .reasons_room = ROOM_MIN, .list = calloc(ROOM_MIN, sizeof *o->list),
	                          .reasons = calloc(ROOM_MIN, sizeof *o->reasons),
	                          .descriptors = calloc(CTP_DESCRIPTORS_MAX, sizeof *o->descriptors)};
	return ctp_queues_init(&o->queues) && ctp_gives_init(&o->gives) && ctp_map_init(&o->map, ROOM_MIN) && ctp_map_init(&o->reasons_map, ROOM_MIN) && o->list &&
	       o->reasons && o->descriptors;
}

/* --- holders -------------------------------------------------------------------------------------------------------------- */

/* The holders are not known any more. */
static void forget_holders(struct ctp_object *ob)
{
	ob->holders_known = false;
	ob->nholders = 0;
	ob->others = 0;
}

/* Room for n holders. False: there is none. */
static bool holders_reserve(struct ctp_objects *o, struct ctp_object *ob, uint32_t n)
{
	size_t before = ob->holders_room;
	if (n > before && o->holders_room >= CTP_HOLDERS_MAX)
		return false;
	bool done = CTP_ARRAY_RESERVE(ob->holders, ob->holders_room, n, CTP_OBJECT_HOLDERS);
	o->holders_room += ob->holders_room - before;
	return done;
}

static void holders_free(struct ctp_objects *o, struct ctp_object *ob)
{
	assert(o->holders_room >= ob->holders_room);
	o->holders_room -= ob->holders_room;
	free(ob->holders);
	ob->holders = NULL;
	ob->holders_room = 0;
}

/* Makes an object like another one, but for its name, and with holders of its own. Without room they are not known. */
static void copy_all_but_name(struct ctp_objects *o, struct ctp_object *to, const struct ctp_object *from)
{
	struct ctp_object copy = *from;
	copy.name = to->name;
	copy.holders = to->holders;
	copy.holders_room = to->holders_room;
	*to = copy;
	if (!from->nholders)
		return;
	if (holders_reserve(o, to, from->nholders))
		memcpy(to->holders, from->holders, from->nholders * sizeof *to->holders);
	else
		forget_holders(to);
}

/* Another object is at the address, or none: it has the room of the holders that were there before. */
static void renew_with(struct ctp_object *ob, const struct ctp_object *as)
{
	struct ctp_object fresh = *as;
	fresh.holders = ob->holders;
	fresh.holders_room = ob->holders_room;
	free(ob->name);
	*ob = fresh;
}

static void forget(struct ctp_objects *o, struct ctp_object *ob)
{
	holders_free(o, ob);
	renew_with(ob, &(struct ctp_object){.pid = ob->pid, .at = ob->at, .gap = ob->gap, .saved = ob->saved});
}

void ctp_objects_clear(struct ctp_objects *o)
{
	ctp_objects_keep(o);
	for (uint32_t i = 1; o->list && i <= o->count; i++)
		forget(o, &o->list[i]);
	ctp_map_clear(&o->map);
	ctp_map_clear(&o->reasons_map);
	ctp_queues_clear(&o->queues);
	ctp_gives_clear(&o->gives);
	ctp_lock_orders_clear(&o->orders);
	o->count = o->nreasons = o->ndescriptors = o->gaps = 0;
	o->ntimers = 0;
	o->unfollowed = 0;
	o->attached_ns = 0;
}

void ctp_objects_fini(struct ctp_objects *o)
{
	ctp_objects_clear(o);
	ctp_map_fini(&o->map);
	ctp_map_fini(&o->reasons_map);
	ctp_queues_fini(&o->queues);
	ctp_gives_fini(&o->gives);
	ctp_lock_orders_fini(&o->orders);
	free(o->list);
	free(o->reasons);
	free(o->descriptors);
	for (uint32_t i = 0; i < o->nsaved_most; i++)
		free(o->saved[i].was.holders);
	free(o->saved);
	free(o->timers);
}

/* --- the moment before the end -------------------------------------------------------------------------------------------- */

void ctp_objects_keep(struct ctp_objects *o)
{
	for (uint32_t i = 0; i < o->nsaved; i++) {
		free(o->saved[i].was.name);
		o->saved[i].was.name = NULL;
	}
	o->nsaved = 0;
	o->moment++;
}

void ctp_objects_undo(struct ctp_objects *o)
{
	for (uint32_t i = 0; i < o->nsaved; i++) { /* each is saved once */
		assert(o->saved[i].number && o->saved[i].number <= o->count);
		struct ctp_object *ob = &o->list[o->saved[i].number];
		copy_all_but_name(o, ob, &o->saved[i].was);
		free(ob->name);
		ob->name = o->saved[i].was.name;
		o->saved[i].was.name = NULL;
	}
	o->nsaved = 0;
	o->moment++;
}

uint64_t ctp_objects_first_close(const struct ctp_objects *o, uint64_t from_ns)
{
	uint64_t first_ns = UINT64_MAX;
	for (uint32_t i = 1; i <= o->count; i++)
		if (o->list[i].closed_ns && o->list[i].closed_ns >= from_ns)
			first_ns = ctp_least(first_ns, o->list[i].closed_ns);
	return first_ns;
}

void ctp_objects_reopen(struct ctp_objects *o, uint64_t from_ns)
{
	for (uint32_t i = 1; i <= o->count; i++)
		if (o->list[i].closed_ns >= from_ns)
			o->list[i].closed_ns = 0;
}

struct ctp_object *ctp_objects_save(struct ctp_objects *o, struct ctp_object *ob)
{
	if (!ob || ob->saved == o->moment)
		return ob;
	assert(ob > o->list && ob <= o->list + o->count);
	if (!CTP_ARRAY_RESERVE(o->saved, o->saved_room, o->nsaved + 1, CTP_OBJECTS_MAX))
		return ob;
	ob->saved = o->moment;
	struct ctp_object_saved *saved = &o->saved[o->nsaved++];
	if (o->nsaved > o->nsaved_most) {
		o->nsaved_most = o->nsaved;
		*saved = (struct ctp_object_saved){.number = 0};
	}
	saved->number = (uint32_t)(ob - o->list);
	copy_all_but_name(o, &saved->was, ob);
	saved->was.name = ob->name ? strdup(ob->name) : NULL;
	return ob;
}

/* --- objects -------------------------------------------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct ctp_objects *o, uint64_t pid, uint64_t at)
{
	struct key key = {pid, at};
	return ctp_map_slot(&o->map, ctp_map_pair(&o->map, at, pid), is_object, o, &key);
}

/* Drops objects that are gone. */
static void compact(struct ctp_objects *o)
{
	uint32_t kept = 0;
	ctp_objects_keep(o); /* their numbers change */
	ctp_map_clear(&o->map);
	for (uint32_t i = 1; i <= o->count; i++) {
		if (!o->list[i].is_there) {
			forget(o, &o->list[i]);
			continue;
		}
		struct ctp_object ob = o->list[i]; /* with its name and its holders: the entry that had them is dropped */
		o->list[++kept] = ob;
		*slot_of(o, ob.pid, ob.at) = kept;
	}
	o->count = kept;
}

/* Room for one more object. Without memory, there may still be room where objects were dropped. */
static bool has_room(struct ctp_objects *o)
{
	if (o->count + 1 == o->room) {
		compact(o);
		bool grows = o->count >= o->room / 2 && o->room <= CTP_OBJECTS_MAX;
		o->failed |= grows && !CTP_ARRAY_RESERVE(o->list, o->room, o->room + 1, CTP_OBJECTS_MAX + 1);
	}
	return o->count + 1 < o->room && ctp_map_reserve(&o->map, o->count, hash_object, o);
}

/* Forgets what may have changed if records are missing since the last record of the object. */
static struct ctp_object *renew(const struct ctp_objects *o, struct ctp_object *ob)
{
	if (ob->gap == o->gaps)
		return ob;
	ob->gap = o->gaps;
	ob->stock.known = ob->room.known = false;
	forget_holders(ob);
	ob->woken = ob->strayed = 0;
	ob->more_makers = true;
	return ob;
}

struct ctp_object *ctp_objects_find(const struct ctp_objects *o, uint64_t pid, uint64_t at)
{
	uint32_t number = o->count && at ? *slot_of(o, pid, at) : 0;
	return number && o->list[number].is_there ? renew(o, &o->list[number]) : NULL;
}

struct ctp_object *ctp_objects_waited(const struct ctp_objects *o, const struct ctp_reasons *r, uint32_t i, uint64_t since_ns)
{
	struct ctp_object *ob = ctp_objects_wanted(o, r, i);
	if (ob && ob->made_ns > since_ns)
		return NULL;
	uint32_t number = !ob && ctp_reason_is_object(&r->list[i]) && o->count ? *slot_of(o, r->pid, r->list[i].value) : 0;
	bool meanwhile = number && o->list[number].gone_ns && o->list[number].gone_ns >= since_ns;
	return meanwhile ? &o->list[number] : ob;
}

/* The same as ctp_objects_find, but adds the object if it is new; null: there is no room. */
static struct ctp_object *object_at(struct ctp_objects *o, uint64_t pid, uint64_t at)
{
	uint32_t number = *slot_of(o, pid, at);
	struct ctp_object *ob = number ? &o->list[number] : NULL;
	if (ob && ob->is_there)
		return ctp_objects_save(o, renew(o, ob));
	if (!ob) {
		if (!has_room(o)) {
			o->unfollowed++;
			return NULL;
		}
		*slot_of(o, pid, at) = ++o->count;
		ob = &o->list[o->count];
		*ob = (struct ctp_object){.pid = pid, .at = at};
	}
	ctp_objects_save(o, ob);
	renew_with(ob, &(struct ctp_object){.pid = pid, .at = at, .gap = o->gaps, .is_there = true, .saved = ob->saved});
	if (!o->attached_ns && !o->gaps && !o->filtered) /* a holder from before would be in the trace */
		ob->holders_known = true;
	return ob;
}

uint64_t ctp_object_held(const struct ctp_object *ob)
{
	int64_t held = (int64_t)ob->others;
	for (uint32_t i = 0; i < ob->nholders; i++)
		held += ob->holders[i].count;
	return held > 0 ? (uint64_t)held : 0;
}

static void note_total(struct ctp_object *ob)
{
	uint64_t available = ob->stock.known ? ob->stock.available : 0;
	ob->total = ctp_most(ob->total, ctp_most(available, ctp_object_held(ob)));
}

uint64_t ctp_object_available(const struct ctp_object *ob, const struct ctp_stock *stock, bool *exact)
{
	uint64_t held = ctp_object_held(ob), available = stock->available;
	bool held_back = ob->what == CTP_WAITS_LOCK || ob->what == CTP_WAITS_PERMITS;
	bool holds = stock == &ob->stock && held_back && ob->holders_known && ob->hold_ns && ob->all;
	*exact = holds || stock->exact || !available;
	if (holds && available && !stock->exact)
		available = ob->all > held ? ob->all - held : 0;
	return *exact || !available ? available : 1;
}

/* seen: no earlier change is missing. */
static void put_stock(struct ctp_stock *stock, uint64_t available, uint64_t ts_ns, bool seen)
{
	if (!stock->known || !stock->available != !available)
		stock->since_ns = ts_ns;
	else if (seen && stock->available && stock->available != available)
		stock->exact = true;
	stock->available = available;
	stock->known = true;
}

/*
 * A destructor of a lock may give back what a coroutine holds, and then destroy the object. So the object gets the state that it had at
 * the last ctp_objects_keep, unless the give-back came much earlier.
 */
static void before_destructor(struct ctp_objects *o, struct ctp_object *ob, uint64_t gone_ns)
{
	enum { LAST_SAVED = 64, DESTRUCTOR_NS = 100000000 };
	uint32_t number = (uint32_t)(ob - o->list), least = o->nsaved > LAST_SAVED ? o->nsaved - LAST_SAVED : 0, i = o->nsaved;
	while (i > least && o->saved[i - 1].number != number)
		i--;
	const struct ctp_object *was = i > least ? &o->saved[i - 1].was : NULL;
	if (!was || !was->is_there || was->made_ns != ob->made_ns || gone_ns > ob->hold_ns + DESTRUCTOR_NS)
		return;
	uint32_t saved = ob->saved;
	copy_all_but_name(o, ob, was);
	ob->saved = saved;
}

void ctp_objects_take(struct ctp_objects *o, const struct ctp_object_record *t)
{
	if (t->marks & (CTP_OBJECT_MADE | CTP_OBJECT_GONE))
		ctp_queues_forget(&o->queues, t->pid, t->at);
	if (t->marks & CTP_OBJECT_MADE) { /* the object that was there before may have no end record */
		struct ctp_object *old = ctp_objects_save(o, ctp_objects_find(o, t->pid, t->at));
		if (old)
			forget(o, old);
	}
	struct ctp_object *ob = object_at(o, t->pid, t->at);
	if (!ob)
		return;
	if (t->marks & CTP_OBJECT_MADE) {
		if (!o->filtered)
			ob->holders_known = true;
		ob->made_ns = t->ts_ns;
	}
	ob->owned |= t->marks & CTP_OBJECT_OWNED;
	if (t->marks & CTP_OBJECT_CLOSED && !ob->closed_ns)
		ob->closed_ns = t->ts_ns;
	ob->site = t->site ? t->site : ob->site;
	if (t->what) {
		ob->what = ob->what ? ob->what : t->what;
		put_stock(t->what == CTP_WAITS_ROOM ? &ob->room : &ob->stock, t->available, t->ts_ns, t->ts_ns > o->attached_ns);
		if (t->marks & CTP_OBJECT_MADE || t->what == CTP_WAITS_LOCK)
			ob->all = t->what == CTP_WAITS_LOCK ? 1 : t->available;
		if (t->available > ob->all && t->what != CTP_WAITS_ROOM)
			ob->all = 0; /* the program added some: there may be more than that, too */
		if (t->what == CTP_WAITS_PERMITS && t->ts_ns > o->attached_ns)
			ob->grew |= ctp_object_held(ob) > ob->all - ctp_least(ob->all, t->available);
		if (!o->filtered && ob->all && t->what != CTP_WAITS_ROOM && t->available >= ob->all)
			ob->holders_known = true; /* all of it is available: there are no holders */
		note_total(ob);
	}
	if (t->marks & CTP_OBJECT_GONE) {
		before_destructor(o, ob, t->ts_ns);
		ob->is_there = false;
		ob->gone_ns = t->ts_ns;
	}
}

void ctp_objects_name(struct ctp_objects *o, uint64_t pid, uint64_t at, const char *name, uint32_t len)
{
	struct ctp_object *ob = object_at(o, pid, at);
	if (!ob)
		return;
	free(ob->name);
	ob->name = len ? strndup(name, len < CTP_OBJECT_NAME_MAX ? len : CTP_OBJECT_NAME_MAX) : NULL;
}

static void note_got(struct ctp_holder *h, const struct ctp_holder *by, uint64_t ts_ns)
{
	h->got_ns = ctp_most(h->got_ns, ts_ns);
	h->elsewhere |= h->site != by->site;
	h->site = by->site;
}

static void add_holder(struct ctp_objects *o, struct ctp_object *ob, const struct ctp_holder *by, uint64_t ts_ns)
{
	const uint64_t coro = by->coro;
	const int64_t count = by->count;
	uint32_t i = 0;
	while (i < ob->nholders && ob->holders[i].coro != coro)
		i++;
	bool is_new = i == ob->nholders;
	if (is_new && ((count < 0 && ob->others) || !holders_reserve(o, ob, i + 1))) {
		/* This holder has no entry. */
		if (count > 0)
			ob->others += (uint64_t)count;
		else
			ob->others -= (uint64_t)-count < ob->others ? (uint64_t)-count : ob->others;
		return;
	}
	assert(i < CTP_OBJECT_HOLDERS);
	if (is_new)
		ob->holders[ob->nholders++] = (struct ctp_holder){.coro = coro, .since_ns = ts_ns, .site = by->site};
	struct ctp_holder *h = &ob->holders[i];
	h->count += count;
	if (count > 0)
		note_got(h, by, ts_ns);
	if (h->count < 0) { /* a part of what it held was added to others */
		uint64_t more = (uint64_t)-h->count < ob->others ? (uint64_t)-h->count : ob->others;
		h->count += (int64_t)more;
		ob->others -= more;
	}
	if (!h->count)
		*h = ob->holders[--ob->nholders];
	else if (h->count < 0)
		forget_holders(ob);
}

void ctp_objects_hold(struct ctp_objects *o, uint64_t pid, uint64_t at, const struct ctp_holder *by, uint64_t ts_ns)
{
	uint32_t number = by->count < 0 ? *slot_of(o, pid, at) : 0;
	if (number && o->list[number].gone_ns)
		return; /* given back when it was destroyed already: that is no new object */
	struct ctp_object *ob = object_at(o, pid, at);
	if (!ob || !ob->holders_known)
		return;
	ob->hold_ns = ts_ns;
	add_holder(o, ob, by, ts_ns);
	note_total(ob);
}

void ctp_objects_order(struct ctp_objects *o, const struct ctp_objects_held *held)
{
	const struct ctp_object *ob = ctp_objects_find(o, held->pid, held->at);
	if (!ob || ob->what != CTP_WAITS_LOCK || ob->total > 1) /* several hold it: readers, who do not exclude one another */
		return;
	ctp_lock_orders_gaps(&o->orders, o->gaps);
	struct ctp_lock lock = {held->pid, held->at, ob->made_ns};
	struct ctp_lock_taken taken = {lock, held->ts_ns, held->site ? held->site : held->place, held->site != 0};
	if (held->count > 0)
		ctp_lock_orders_take(&o->orders, held->coro, held->spawn, &taken);
	else
		ctp_lock_orders_give(&o->orders, held->coro, &taken.lock);
}

/* --- descriptors ---------------------------------------------------------------------------------------------------------- */

struct ctp_descriptor *ctp_objects_descriptor(const struct ctp_objects *o, uint64_t pid, int32_t fd)
{
	for (uint32_t i = 0; i < o->ndescriptors; i++)
		if (o->descriptors[i].fd == fd && o->descriptors[i].pid == pid)
			return &o->descriptors[i];
	return NULL;
}

void ctp_objects_look(struct ctp_objects *o, const struct ctp_descriptor *seen)
{
	struct ctp_descriptor *d = ctp_objects_descriptor(o, seen->pid, seen->fd);
	bool before = d && (d->unread || d->ended), now = seen->unread || seen->ended;
	uint64_t unread_ns = before && now ? d->unread_ns : seen->ts_ns;
	if (!d && o->ndescriptors < CTP_DESCRIPTORS_MAX)
		d = &o->descriptors[o->ndescriptors++];
	if (d) {
		*d = *seen;
		d->unread_ns = unread_ns;
	}
}

/* --- timers --------------------------------------------------------------------------------------------------------------- */

void ctp_objects_rang(struct ctp_objects *o, uint32_t place, uint64_t asked_ns, uint64_t late_ns)
{
	size_t before = o->ntimers;
	if (!CTP_ARRAY_RESERVE(o->timers, o->ntimers, place + 1, CTP_PLACES_MAX)) {
		o->failed = true;
		return;
	}
	if (o->ntimers > before)
		memset(o->timers + before, 0, (o->ntimers - before) * sizeof *o->timers);
	struct ctp_timers *t = &o->timers[place];
	t->count++;
	t->asked_ns = asked_ns > t->asked_ns ? asked_ns : t->asked_ns;
	t->late_ns = late_ns > t->late_ns ? late_ns : t->late_ns;
}

struct ctp_timers ctp_objects_timers(const struct ctp_objects *o, uint32_t place)
{
	return place < o->ntimers ? o->timers[place] : (struct ctp_timers){0};
}
