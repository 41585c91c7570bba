/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sharing.c - see sharing.h. */
#include "memory/sharing.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/compare.h"

static const uint32_t SHARED = UINT32_C(1) << 31, NOBODY = UINT32_MAX;

void ctp_sharing_fini(struct ctp_sharing *s)
{
	ctp_addrs_fini(&s->lines);
	for (uint32_t i = 0; i < s->nshared; i++) {
		free(s->shared[i]->place);
		free(s->shared[i]->guest);
		free(s->shared[i]);
	}
	free(s->shared);
	free(s->owner);
	*s = (struct ctp_sharing){.line = s->line};
}

void ctp_sharing_section(struct ctp_sharing *s, uint32_t section)
{
	ctp_addrs_clear(&s->lines);
	s->nowners = s->shared_here = s->last_owner = 0;
	s->section = section;
}

/* --- masks --------------------------------------------------------------------------------------------------------------- */

static struct ctp_bytes_mask mask_of(uint32_t first, uint32_t n)
{
	struct ctp_bytes_mask m = {{0}};
	if (n && first + n <= 64)
		m.bits[0] = UINT64_MAX >> (64 - n) << first;
	else
		for (uint32_t i = first; i < first + n; i++)
			m.bits[i / 64] |= UINT64_C(1) << i % 64;
	return m;
}

static bool has_all(const struct ctp_bytes_mask *m, const struct ctp_bytes_mask *of)
{
	uint64_t rest = 0;
	for (int i = 0; i < CTP_SHARING_WORDS; i++)
		rest |= of->bits[i] & ~m->bits[i];
	return !rest;
}

static void add_mask(struct ctp_bytes_mask *to, const struct ctp_bytes_mask *m)
{
	for (int i = 0; i < CTP_SHARING_WORDS; i++)
		to->bits[i] |= m->bits[i];
}

static bool has_some(const struct ctp_bytes_mask *m, const struct ctp_bytes_mask *of)
{
	uint64_t some = 0;
	for (int i = 0; i < CTP_SHARING_WORDS; i++)
		some |= of->bits[i] & m->bits[i];
	return some;
}

/* --- handovers ----------------------------------------------------------------------------------------------------------- */

/* The number of a thread, or how many there are. */
static uint32_t find_guest(const struct ctp_shared_line *l, uint32_t thread)
{
	uint32_t i = 0;
	while (i < l->nguests && l->guest[i].thread != thread)
		i++;
	return i;
}

static struct ctp_sharing_guest *add_guest(struct ctp_shared_line *l, uint32_t thread)
{
	if (!CTP_ARRAY_RESERVE(l->guest, l->guest_room, l->nguests + 1, CTP_SHARING_GUESTS))
		return NULL;
	l->guest[l->nguests] = (struct ctp_sharing_guest){.thread = thread};
	return &l->guest[l->nguests++];
}

/* All others lose what the last thread has written; another one has the line now. Whether something was. */
static bool go_on(struct ctp_shared_line *l, uint32_t thread)
{
	static const struct ctp_bytes_mask none;
	bool written = !has_all(&none, &l->dirty);
	for (uint32_t i = 0; written && i < l->nguests; i++)
		if (l->guest[i].thread != l->at) {
			l->guest[i].lost = true;
			add_mask(&l->guest[i].coming, &l->dirty);
		}
	l->dirty = none;
	l->at = thread;
	l->guest_at = find_guest(l, thread);
	return written;
}

/* The thread has the line again. */
static void come_back(struct ctp_shared_line *l, struct ctp_sharing_guest *g)
{
	g->news = g->coming;
	g->coming = (struct ctp_bytes_mask){{0}};
	g->lost = false;
	g->needless = true;
	g->needless_handovers++;
	l->handovers[CTP_HANDOVER_NEEDLESS]++;
}

static void note_handover(struct ctp_shared_line *l, uint32_t thread, const struct ctp_bytes_mask *bytes, bool write)
{
	if (l->at != thread) {
		bool written = go_on(l, thread), is_new = l->guest_at == l->nguests;
		if (is_new)
			l->handovers[CTP_HANDOVER_FIRST] += add_guest(l, thread) != NULL;
		if (is_new && l->guest_at == l->nguests)
			l->handovers[CTP_HANDOVER_OTHER] += written;
	}
	bool is_guest = l->guest_at < l->nguests && l->guest[l->guest_at].thread == thread;
	struct ctp_sharing_guest *g = is_guest ? &l->guest[l->guest_at] : NULL;
	if (g && g->lost)
		come_back(l, g);
	if (g && g->needless && has_some(&g->news, bytes)) {
		g->needless = false;
		g->needless_handovers--;
		g->needed_handovers++;
		l->handovers[CTP_HANDOVER_NEEDLESS]--;
		l->handovers[CTP_HANDOVER_NEEDED]++;
	}
	if (write)
		add_mask(&l->dirty, bytes);
}

const struct ctp_sharing_guest *ctp_sharing_guest(const struct ctp_shared_line *l, uint32_t thread)
{
	uint32_t i = find_guest(l, thread);
	return i < l->nguests ? &l->guest[i] : NULL;
}

/* --- lines --------------------------------------------------------------------------------------------------------------- */

static void own(struct ctp_sharing *s, uint64_t line, uint32_t thread, const struct ctp_bytes_mask *bytes)
{
	if (!CTP_ARRAY_RESERVE(s->owner, s->owner_room, s->nowners + 2, CTP_SHARING_LINES_MAX + 1) ||
	    !ctp_addrs_add(&s->lines, line, s->nowners + 1)) {
		s->unknown++;
		return;
	}
	s->owner[++s->nowners] = (struct ctp_sharing_owner){.thread = thread, .bytes = *bytes};
}

/* A line of one thread becomes a shared one; null: no room. */
static struct ctp_shared_line *share(struct ctp_sharing *s, struct ctp_addrs_slot *slot)
{
	const struct ctp_sharing_owner *o = &s->owner[slot->number];
	bool room = CTP_ARRAY_RESERVE(s->shared, s->shared_room, s->nshared + 1, CTP_SHARING_SHARED_MAX);
	struct ctp_shared_line *l = room ? calloc(1, sizeof *l) : NULL;
	if (!l || !add_guest(l, o->thread)) {
		free(l);
		s->unkept++;
		return NULL;
	}
	l->address = slot->key * s->line;
	l->section = s->section;
	l->last = l->at = o->thread;
	l->nwriters = 1;
	l->writer[0] = o->thread;
	for (uint32_t i = 0; i < s->line; i++)
		l->byte_of[i] = o->bytes.bits[i / 64] >> i % 64 & 1 ? o->thread : NOBODY;
	if (s->last_owner == slot->number)
		s->last_owner = 0;
	slot->number = SHARED | s->nshared;
	s->shared[s->nshared++] = l;
	s->shared_here++;
	return l;
}

static void note_write(struct ctp_shared_line *l, uint32_t thread, const struct ctp_bytes_mask *bytes, uint32_t first, uint32_t n)
{
	l->more_writers |= !CTP_ARRAY_NOTE(l->writer, l->nwriters, thread);
	l->alternations += thread != l->last;
	l->last = thread;
	if (has_all(&l->shared, bytes))
		return;
	for (uint32_t i = first; i < first + n; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;
		if (l->byte_of[i] != thread && l->byte_of[i] != NOBODY) {
			l->shared.bits[i / 64] |= l->changed.bits[i / 64] & bit;
			l->changed.bits[i / 64] |= bit;
		}
		l->byte_of[i] = thread;
	}
	add_mask(&l->written, bytes);
}

static void note_place(struct ctp_shared_line *l, const struct ctp_sharing_place *at, bool write)
{
	for (uint32_t i = 0; i < l->nplaces; i++) {
		struct ctp_sharing_place *p = &l->place[i];
		if (p->thread == at->thread && p->type == at->type && p->offset == at->offset && p->byte == at->byte) {
			p->accesses[write]++;
			return;
		}
	}
	if (!CTP_ARRAY_RESERVE(l->place, l->place_room, l->nplaces + 1, CTP_SHARING_PLACES)) {
		l->unplaced++;
		return;
	}
	l->place[l->nplaces] = *at;
	l->place[l->nplaces].accesses[write] = 1;
	l->place[l->nplaces++].accesses[!write] = 0;
}

static void access_line(struct ctp_sharing *s, uint64_t line, uint32_t first, uint32_t n, bool write, struct ctp_sharing_place *at)
{
	struct ctp_addrs_slot *slot = ctp_addrs_find(&s->lines, line);
	struct ctp_bytes_mask bytes = mask_of(first, n);
	struct ctp_shared_line *l = slot && slot->number & SHARED ? s->shared[slot->number & ~SHARED] : NULL;
	at->byte = first;
	if (!l && !write)
		return;
	if (!slot) {
		own(s, line, at->thread, &bytes);
		return;
	}
	if (!l && s->owner[slot->number].thread == at->thread) {
		add_mask(&s->owner[slot->number].bytes, &bytes);
		s->last_line = line;
		s->last_owner = slot->number;
		return;
	}
	if (!l && !(l = share(s, slot)))
		return;
	note_handover(l, at->thread, &bytes, write);
	if (write)
		note_write(l, at->thread, &bytes, first, n);
	note_place(l, at, write);
}

/* Whether a write is to the line of the write before, which is of the same thread alone: what it writes is noted. */
static inline bool writes_again(struct ctp_sharing *s, uint64_t line, uint32_t first, uint32_t n, uint32_t thread)
{
	struct ctp_sharing_owner *o = s->last_owner ? &s->owner[s->last_owner] : NULL;
	if (!o || s->last_line != line || o->thread != thread || first + n > s->line)
		return false;
	struct ctp_bytes_mask bytes = mask_of(first, n);
	add_mask(&o->bytes, &bytes);
	return true;
}

void ctp_sharing_access(struct ctp_sharing *s, const struct ctp_mem_access *a, const struct ctp_sharing_place *where)
{
	struct ctp_sharing_place at = *where;
	unsigned bits = (unsigned)__builtin_ctz(s->line);
	uint64_t line = a->address >> bits, last_line = UINT64_MAX >> bits;
	uint32_t first = (uint32_t)a->address & (s->line - 1);
	if (a->write ? writes_again(s, line, first, a->size, where->thread) : !s->shared_here)
		return;
	for (uint32_t left = a->size; left; line++, first = 0) {
		uint32_t n = left < s->line - first ? left : s->line - first;
		access_line(s, line, first, n, a->write, &at);
		if (line == last_line)
			break;
		left -= n;
	}
}

/* --- the end ------------------------------------------------------------------------------------------------------------- */

enum ctp_sharing_verdict ctp_sharing_verdict(const struct ctp_shared_line *l)
{
	uint64_t needed = l->handovers[CTP_HANDOVER_NEEDED], needless = l->handovers[CTP_HANDOVER_NEEDLESS], most = (needed + needless) / 4;
	if (!needed && !needless)
		return CTP_SHARING_ONCE;
	return needed <= most ? CTP_SHARING_FALSE : needless <= most ? CTP_SHARING_TRUE : CTP_SHARING_MIXED;
}

bool ctp_sharing_is_false(const struct ctp_shared_line *l)
{
	enum ctp_sharing_verdict verdict = ctp_sharing_verdict(l);
	return verdict == CTP_SHARING_FALSE || verdict == CTP_SHARING_MIXED;
}

const char *ctp_sharing_verdict_name(enum ctp_sharing_verdict verdict)
{
	static const char *const names[] = {
		[CTP_SHARING_FALSE] = "false", [CTP_SHARING_MIXED] = "mixed", [CTP_SHARING_TRUE] = "true", [CTP_SHARING_ONCE] = "once",
	};
	return names[verdict];
}

uint64_t ctp_sharing_handovers(const struct ctp_shared_line *l)
{
	uint64_t sum = 0;
	for (int i = 0; i < CTP_HANDOVERS; i++)
		sum += l->handovers[i];
	return sum;
}

static int compare(const void *a, const void *b)
{
	const struct ctp_shared_line *x = *(struct ctp_shared_line *const *)a, *y = *(struct ctp_shared_line *const *)b;
	return ctp_compare(ctp_sharing_handovers(y), ctp_sharing_handovers(x)) ?: ctp_compare(x->section, y->section) ?:
	       ctp_compare(x->address, y->address);
}

static int compare_places(const void *a, const void *b)
{
	const struct ctp_sharing_place *x = a, *y = b;
	return ctp_compare(y->accesses[1], x->accesses[1]) ?: ctp_compare(y->accesses[0], x->accesses[0]) ?:
	       ctp_compare(x->thread, y->thread) ?: ctp_compare(x->byte, y->byte) ?: ctp_compare(x->type, y->type) ?:
	       ctp_compare(x->offset, y->offset);
}

void ctp_sharing_sort(struct ctp_sharing *s)
{
	for (uint32_t i = 0; i < s->nshared; i++)
		if (s->shared[i]->nplaces)
			qsort(s->shared[i]->place, s->shared[i]->nplaces, sizeof(struct ctp_sharing_place), compare_places);
	if (s->nshared)
		qsort(s->shared, s->nshared, sizeof(struct ctp_shared_line *), compare);
}
