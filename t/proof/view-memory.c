/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-memory.c - locations, their histories, and what each sort of access does to the views: see view-machine.h.
 *
 * The bytes themselves always have the value that is last in the order of modification. A location is made at its first access in
 * a run, with that access's size; later ones may be narrower loads. While nothing was stored there, a wider one makes it anew.
 * Timestamps leave room between two stores, for one that comes between them in the order of modification although it is done later.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view-parts.h"

enum { COPIES_BYTES = 32 << 20, PENDING = 64, WHOLES = 32, ABSENCES = 8 };

struct message {
	uint64_t value;
	const struct view *view; /* that it releases; null: nothing */
	uint32_t stamp;
	bool followed; /* an exchange has read it, and so is the next one in any case */
};

struct location {
	unsigned char *at;
	unsigned bytes;
	uint64_t before; /* the run */
	const struct region *region;
	struct message *messages; /* in the order of modification */
	uint32_t count, room;
	/* By thread: the step of its last access. */
	uint32_t reads[VIEW_THREADS], writes[VIEW_THREADS], plain_reads[VIEW_THREADS], plain_writes[VIEW_THREADS];
};

static struct region {
	const char *name;
	unsigned char *at;
	size_t bytes;
	uint16_t *location; /* of each byte: its number + 1, or 0 */
} regions[VIEW_REGIONS];
static unsigned nregions;

static struct whole {
	unsigned char *at;
	size_t bytes;
} wholes[WHOLES];
static unsigned nwholes;

static struct absence {
	const char *what;
	const unsigned char *at;
	size_t bytes;
	unsigned threads;            /* a bit for each that it is absent for */
	uint32_t made[VIEW_THREADS]; /* the step in which the thread made it; 0: it did not */
} absences[ABSENCES];
static unsigned nabsences;

static struct location locations[VIEW_LOCATIONS];
static unsigned nlocations;
static uint32_t pending[PENDING]; /* plain stores of the thread that runs: locations */
static unsigned npending;
static struct view global; /* of the seq_cst fences */
static unsigned char *copies;
static size_t copied;

bool view_running;
uint64_t view_steps;

/* --- views ---------------------------------------------------------------------------------------------------------------- */

void view_clear(struct view *v)
{
	memset(v->clock, 0, sizeof v->clock);
	memset(v->at, 0, v->n * sizeof *v->at);
	v->n = 0;
}

static void join_stamps(struct view *to, const struct view *from)
{
	uint32_t n = from->n;
	for (uint32_t i = 0; i < n; i++)
		to->at[i] = to->at[i] > from->at[i] ? to->at[i] : from->at[i];
	to->n = to->n > n ? to->n : n;
}

void view_join(struct view *to, const struct view *from)
{
	if (!from)
		return;
	join_stamps(to, from);
	for (unsigned t = 0; t < VIEW_THREADS; t++)
		to->clock[t] = to->clock[t] > from->clock[t] ? to->clock[t] : from->clock[t];
}

const struct view *view_copy(const struct view *v)
{
	size_t bytes = (offsetof(struct view, at) + v->n * sizeof *v->at + 15) & ~(size_t)15;
	if (!copies)
		copies = malloc(COPIES_BYTES);
	if (!copies || copied + bytes > COPIES_BYTES)
		view_fail("the run is too long for the memory of the machine");
	struct view *copy = (struct view *)(void *)(copies + copied);
	copied += bytes;
	memcpy(copy, v, offsetof(struct view, at) + v->n * sizeof *v->at);
	return copy;
}

static const struct view *joined(const struct view *a, const struct view *b)
{
	static struct view both;
	if (!a || !b)
		return a ? a : b;
	view_clear(&both);
	view_join(&both, a);
	view_join(&both, b);
	return view_copy(&both);
}

static void set(struct view *v, uint32_t location, uint32_t stamp)
{
	v->n = v->n > location + 1 ? v->n : location + 1;
	v->at[location] = v->at[location] > stamp ? v->at[location] : stamp;
}

void view_fence_full(struct view_three *v)
{
	join_stamps(&global, &v->acq);
	join_stamps(&v->acq, &global);
	view_join(&v->cur, &v->acq);
	v->rel = view_copy(&v->cur);
}

/* --- locations ------------------------------------------------------------------------------------------------------------ */

void view_memory_share(const char *name, void *at, size_t bytes)
{
	if (nregions == VIEW_REGIONS)
		abort();
	regions[nregions++] = (struct region){name, at, bytes, calloc(bytes, sizeof(uint16_t))};
}

static struct region *region_of(const volatile void *at)
{
	for (unsigned i = 0; i < nregions; i++)
		if ((uintptr_t)at - (uintptr_t)regions[i].at < regions[i].bytes)
			return &regions[i];
	return NULL;
}

bool view_shared(const volatile void *at) { return view_running && region_of(at); }

static uint64_t value_at(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;
	memcpy(&value, at, bytes); /* little-endian, as the protocol is */
	return value;
}

static uint64_t masked(uint64_t value, unsigned bytes) { return bytes == 8 ? value : value & ((UINT64_C(1) << bytes * 8) - 1); }

static struct message *insert(struct location *l, uint32_t i, struct message m)
{
	if (l->count == l->room) {
		l->room = l->room ? l->room * 2 : 16;
		l->messages = realloc(l->messages, l->room * sizeof m);
		if (!l->messages)
			abort();
	}
	memmove(&l->messages[i + 1], &l->messages[i], (l->count - i) * sizeof m);
	l->messages[i] = m;
	l->count++;
	if (i + 1 == l->count)
		memcpy(l->at, &m.value, l->bytes);
	return &l->messages[i];
}

void view_whole(void *at, size_t bytes)
{
	if (nwholes == WHOLES)
		abort();
	wholes[nwholes++] = (struct whole){at, bytes};
}

static uint32_t make(struct region *r, unsigned char *at, unsigned bytes)
{
	for (unsigned i = 0; i < nwholes; i++) {
		if ((size_t)(at - wholes[i].at) >= wholes[i].bytes)
			continue;
		at = wholes[i].at;
		bytes = (unsigned)wholes[i].bytes;
	}
	size_t offset = (size_t)(at - r->at);
	if (nlocations == VIEW_LOCATIONS)
		view_fail("more than %d locations", VIEW_LOCATIONS);
	for (unsigned i = 0; i < bytes; i++)
		if (r->location[offset + i] && locations[r->location[offset + i] - 1].count > 1)
			view_fail("%s+0x%zx: an access of %u bytes is wider than one before", r->name, offset, bytes);
	struct location *l = &locations[nlocations];
	struct message *messages = l->messages;
	uint32_t room = l->room;
	*l = (struct location){.at = at, .bytes = bytes, .before = value_at(at, bytes), .region = r, .messages = messages, .room = room};
	insert(l, 0, (struct message){.value = l->before});
	for (unsigned i = 0; i < bytes; i++)
		r->location[offset + i] = (uint16_t)(nlocations + 1);
	return nlocations++;
}

static uint32_t find(const volatile void *where, unsigned bytes, bool load)
{
	unsigned char *at = (unsigned char *)(uintptr_t)where;
	struct region *r = region_of(at);
	uint32_t number = r->location[at - r->at];
	if (!number)
		return make(r, at, bytes);
	const struct location *l = &locations[number - 1];
	if (bytes > l->bytes && l->count == 1)
		return make(r, at, bytes);
	if (at + bytes > l->at + l->bytes || (!load && bytes != l->bytes))
		view_fail("%s+0x%zx: an access of %u bytes to a location of %u", r->name, (size_t)(at - r->at), bytes, l->bytes);
	return number - 1;
}

uint32_t view_location(const volatile void *at, unsigned bytes) { return find(at, bytes, true); }
uint32_t view_messages(uint32_t location) { return locations[location].count; }

void view_memory_begin(void)
{
	copied = 0;
	npending = 0;
	view_clear(&global);
	view_running = true;
}

void view_memory_end(void)
{
	for (unsigned i = 0; i < nlocations; i++) {
		struct location *l = &locations[i];
		memcpy(l->at, &l->before, l->bytes);
		memset(&l->region->location[l->at - l->region->at], 0, l->bytes * sizeof *l->region->location);
	}
	nlocations = nabsences = 0;
}

uint64_t view_last(const volatile void *at, unsigned bytes)
{
	return value_at((const unsigned char *)(uintptr_t)at, bytes);
}

/* --- memory that is absent ------------------------------------------------------------------------------------------------ */

void view_absent(const char *what, const void *at, size_t bytes, unsigned threads)
{
	if (nabsences == ABSENCES)
		abort();
	absences[nabsences++] = (struct absence){.what = what, .at = at, .bytes = bytes, .threads = threads};
}

void view_present(const char *what, const void *at, size_t bytes)
{
	struct view_three *v = view_step();
	unsigned self = view_self();
	uint32_t now = v->cur.clock[self] = v->acq.clock[self] = view_turn();
	for (unsigned i = 0; i < nabsences; i++) {
		struct absence *a = &absences[i];
		uintptr_t after = (uintptr_t)a->at - (uintptr_t)at;
		if (!strcmp(a->what, what) && after < bytes && a->bytes <= bytes - after && !a->made[self])
			a->made[self] = now;
	}
	view_tell("%zu bytes are %s", bytes, what);
}

void view_undo(const char *what, const void *at, size_t bytes)
{
	for (unsigned i = 0; i < nabsences; i++)
		if (!strcmp(absences[i].what, what) && (uintptr_t)absences[i].at - (uintptr_t)at < bytes)
			absences[i].made[view_self()] = 0;
}

/* One that the thread, or another before it, has made is there. */
static void need(const struct location *l, const struct view_three *v)
{
	for (unsigned i = 0; i < nabsences; i++) {
		const struct absence *a = &absences[i];
		bool there = !(a->threads >> view_self() & 1) || (size_t)(l->at - a->at) >= a->bytes;
		for (unsigned t = 0; t < VIEW_THREADS && !there; t++)
			there = a->made[t] && (t == view_self() || a->made[t] <= v->cur.clock[t]);
		if (!there)
			view_fail("an access to %s+0x%zx, which need not be %s yet", l->region->name, (size_t)(l->at - l->region->at), a->what);
	}
}

/* --- data races ----------------------------------------------------------------------------------------------------------- */

static void race(const struct location *l, const char *mine, unsigned other, const char *theirs)
{
	view_fail("data race at %s+0x%zx: a %s, and a %s of thread %u that does not happen before it", l->region->name,
	          (size_t)(l->at - l->region->at), mine, theirs, other);
}

static void check(const struct location *l, const struct view_three *v, bool write, bool plain)
{
	unsigned self = view_self();
	const char *mine = plain ? write ? "plain store" : "plain load" : write ? "store" : "load";
	for (unsigned t = 0; t < VIEW_THREADS; t++) {
		uint32_t seen = v->cur.clock[t];
		if (t == self)
			continue;
		if (l->plain_writes[t] > seen || (plain && l->writes[t] > seen))
			race(l, mine, t, "store");
		if (write && (l->plain_reads[t] > seen || (plain && l->reads[t] > seen)))
			race(l, mine, t, "load");
	}
}

static void note(struct location *l, struct view_three *v, bool read, bool write, bool plain)
{
	unsigned self = view_self();
	need(l, v);
	check(l, v, write, plain);
	uint32_t now = v->cur.clock[self] = v->acq.clock[self] = view_turn();
	if (read)
		l->reads[self] = now;
	if (read && plain)
		l->plain_reads[self] = now;
	if (write)
		l->writes[self] = now;
	if (write && plain)
		l->plain_writes[self] = now;
}

/* --- loads and stores ----------------------------------------------------------------------------------------------------- */

static const char *order_name(int order)
{
	static const char *const names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
	return order >= 0 && order <= __ATOMIC_SEQ_CST ? names[order] : "none";
}

static bool acquires(int order) { return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL; }
static bool releases(int order) { return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL; }

static void need_order(int order)
{
	if (order == __ATOMIC_SEQ_CST)
		view_fail("the machine has no seq_cst accesses, only fences");
}

static void tell(const char *what, const struct location *l, uint64_t value, int order, const struct message *m)
{
	if (view_trace)
		view_tell("%s %s %s+0x%zx = 0x%llx @%u of %u", what, order_name(order), l->region->name, (size_t)(l->at - l->region->at),
		          (unsigned long long)value, m->stamp, l->messages[l->count - 1].stamp);
}

/* The oldest message that the thread may still read. */
static uint32_t oldest(const struct location *l, uint32_t stamp)
{
	uint32_t i = l->count - 1;
	while (l->messages[i].stamp > stamp)
		i--;
	return i;
}

static void read(struct view_three *v, uint32_t number, const struct message *m, int order)
{
	set(&v->cur, number, m->stamp);
	set(&v->acq, number, m->stamp);
	view_join(&v->acq, m->view);
	if (acquires(order))
		view_join(&v->cur, m->view);
}

uint64_t view_load(const volatile void *at, unsigned bytes, int order)
{
	need_order(order);
	struct view_three *v = view_step();
	uint32_t number = find(at, bytes, true);
	struct location *l = &locations[number];
	note(l, v, true, false, false);
	uint32_t from = oldest(l, v->cur.at[number]);
	const struct message *m = &l->messages[l->count - 1 - view_pick(l->count - from)];
	read(v, number, m, order);
	unsigned shift = (unsigned)((const unsigned char *)(uintptr_t)at - l->at) * 8;
	tell("load", l, m->value, order, m);
	return masked(m->value >> shift, bytes);
}

/* Makes the message that comes after message i, which is not followed. */
static void write_after(struct view_three *v, uint32_t number, uint32_t i, struct message m, int order)
{
	struct location *l = &locations[number];
	uint32_t before = l->messages[i].stamp;
	m.stamp = i + 1 == l->count ? before + VIEW_SPACING : before + (l->messages[i + 1].stamp - before) / 2;
	set(&v->cur, number, m.stamp);
	set(&v->acq, number, m.stamp);
	m.view = joined(m.view, releases(order) ? view_copy(&v->cur) : v->rel);
	insert(l, i + 1, m);
}

static bool has_place(const struct location *l, uint32_t i)
{
	return i + 1 == l->count || (!l->messages[i].followed && l->messages[i + 1].stamp - l->messages[i].stamp > 1);
}

void view_store(volatile void *at, unsigned bytes, uint64_t value, int order)
{
	need_order(order);
	struct view_three *v = view_step();
	uint32_t number = find(at, bytes, false);
	struct location *l = &locations[number];
	note(l, v, false, true, false);
	uint32_t from = oldest(l, v->cur.at[number]), i = l->count - 1;
	if (from < i && view_early()) {
		i = from + (uint32_t)view_random(l->count - from);
		while (!has_place(l, i))
			i++;
	}
	write_after(v, number, i, (struct message){.value = masked(value, bytes)}, order);
	tell("store", l, value, order, &l->messages[i + 1]);
}

static uint64_t result(enum view_rmw what, uint64_t old, uint64_t value)
{
	switch (what) {
	case VIEW_ADD: return old + value;
	case VIEW_SUB: return old - value;
	case VIEW_AND: return old & value;
	case VIEW_OR: return old | value;
	case VIEW_XOR: return old ^ value;
	default: return value;
	}
}

/* Any message that may be read and has none right after it. */
static uint32_t pick_for_exchange(const struct location *l, uint32_t stamp)
{
	if (!view_early())
		return l->count - 1;
	uint32_t i = l->count - 1 - view_pick(l->count - oldest(l, stamp));
	while (!has_place(l, i))
		i++;
	return i;
}

static void exchange(struct view_three *v, uint32_t number, uint32_t i, uint64_t value, int order)
{
	struct location *l = &locations[number];
	const struct view *view = l->messages[i].view;
	read(v, number, &l->messages[i], order);
	write_after(v, number, i, (struct message){.value = masked(value, l->bytes), .view = view}, order);
	l->messages[i].followed = true;
}

uint64_t view_rmw(volatile void *at, unsigned bytes, enum view_rmw what, uint64_t value, int order)
{
	need_order(order);
	struct view_three *v = view_step();
	uint32_t number = find(at, bytes, false);
	struct location *l = &locations[number];
	note(l, v, true, true, false);
	uint32_t i = pick_for_exchange(l, v->cur.at[number]);
	uint64_t old = l->messages[i].value;
	exchange(v, number, i, result(what, old, value), order);
	tell("exchange", l, result(what, old, value), order, &l->messages[i + 1]);
	return old;
}

bool view_cas(volatile void *at, unsigned bytes, uint64_t *expected, uint64_t value, bool weak, int order, int failure)
{
	need_order(order);
	need_order(failure);
	struct view_three *v = view_step();
	uint32_t number = find(at, bytes, false);
	struct location *l = &locations[number];
	uint32_t i = l->count - 1 - view_pick(l->count - oldest(l, v->cur.at[number]));
	if (l->messages[i].value == *expected && (!view_early() || !has_place(l, i)))
		i = l->count - 1;
	bool done = l->messages[i].value == *expected && !(weak && view_chance(8));
	note(l, v, true, done, false);
	if (done) {
		exchange(v, number, i, value, order);
		tell("exchange", l, value, order, &l->messages[i + 1]);
		return true;
	}
	read(v, number, &l->messages[i], failure);
	*expected = l->messages[i].value;
	tell("no exchange", l, *expected, failure, &l->messages[i]);
	return false;
}

void view_fence(int order)
{
	struct view_three *v = view_step();
	v->cur.clock[view_self()] = v->acq.clock[view_self()] = view_turn();
	if (order == __ATOMIC_SEQ_CST) {
		view_fence_full(v);
	} else {
		if (acquires(order))
			view_join(&v->cur, &v->acq);
		if (releases(order))
			v->rel = view_copy(&v->cur);
	}
	view_tell("fence %s", order_name(order));
}

void view_membarrier(bool all)
{
	view_fence(__ATOMIC_SEQ_CST);
	view_all_fences(all);
	view_fence(__ATOMIC_SEQ_CST);
}

/* --- plain accesses ------------------------------------------------------------------------------------------------------- */

/* The part of [at, at + bytes) that is one location, or can become one: at most a word. */
static unsigned part_of(const unsigned char *at, size_t bytes)
{
	const struct region *r = region_of(at);
	uint32_t number = r->location[at - r->at];
	if (number)
		return (unsigned)(locations[number - 1].at + locations[number - 1].bytes - at);
	unsigned n = 8 - (unsigned)((uintptr_t)at % 8);
	return bytes < n ? (unsigned)bytes : n;
}

void view_plain_read(const volatile void *where, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)(uintptr_t)where;
	struct view_three *v = view_step();
	for (size_t done = 0; done < bytes;) {
		unsigned n = part_of(at + done, bytes - done);
		n = n > bytes - done ? (unsigned)(bytes - done) : n;
		uint32_t number = find(at + done, n, true);
		struct location *l = &locations[number];
		note(l, v, true, false, true);
		set(&v->cur, number, l->messages[l->count - 1].stamp);
		set(&v->acq, number, l->messages[l->count - 1].stamp);
		tell("plain load", l, l->messages[l->count - 1].value, -1, &l->messages[l->count - 1]);
		done += n;
	}
}

void view_plain_write(volatile void *where, size_t bytes)
{
	unsigned char *at = (unsigned char *)(uintptr_t)where;
	struct view_three *v = view_step();
	for (size_t done = 0; done < bytes;) {
		unsigned n = part_of(at + done, bytes - done);
		n = n > bytes - done ? (unsigned)(bytes - done) : n;
		uint32_t number = find(at + done, n, true);
		note(&locations[number], v, false, true, true);
		if (npending == PENDING)
			view_fail("a plain store of too many bytes");
		pending[npending++] = number;
		done += n;
	}
}

void view_memory_settle(struct view_three *v)
{
	for (unsigned i = 0; i < npending; i++) {
		struct location *l = &locations[pending[i]];
		struct message m = {.value = value_at(l->at, l->bytes), .stamp = l->messages[l->count - 1].stamp + VIEW_SPACING};
		set(&v->cur, pending[i], m.stamp);
		set(&v->acq, pending[i], m.stamp);
		tell("plain store", l, m.value, -1, insert(l, l->count, m));
	}
	npending = 0;
}
