/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-remedy.c - see mem-remedy.h. */
#include "memory/mem-remedy.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS_MAX = 1024, PARTED_MAX = 4, RARE = 32 }; /* of a type that are searched; that have to be aligned; one of RARE handovers */

static const uint32_t NOBODY = UINT32_MAX;

struct touched {
	const struct ctp_shared_line *line;
	uint32_t bytes; /* of the line */
	uint32_t type, size; /* of an element */
	uint64_t base;  /* the first byte of an element, be it in the line or not */
	uint32_t owner[CTP_CACHE_LINE_MAX]; /* of each byte: the thread that touches it */
};

/* The element of an array that a byte is in: its member's name up to the last index, and the number in that. */
struct element {
	const char *name;
	size_t array, len; /* of the name: without and with the index */
	uint32_t number;
};

static bool is_touched(const struct touched *w, uint32_t byte) { return w->owner[byte] != NOBODY; }

/* Whether a thread is of no weight: it writes little, as one that only begins, and comes seldom for no need. */
static bool is_rare(const struct ctp_shared_line *l, uint32_t thread)
{
	const struct ctp_sharing_guest *g = ctp_sharing_guest(l, thread);
	uint64_t weight = g ? g->needless_handovers : 0;
	for (uint32_t i = 0; i < l->nplaces; i++)
		weight += l->place[i].thread == thread ? l->place[i].accesses[1] : 0;
	return weight < l->handovers[CTP_HANDOVER_NEEDLESS] / RARE;
}

/* Whether what is done at a place has to be parted: writes, and reads of a thread that comes for no need, but those that came for data. */
static bool is_apart(const struct ctp_shared_line *l, const struct ctp_sharing_place *p)
{
	const struct ctp_sharing_guest *g = ctp_sharing_guest(l, p->thread);
	if (is_rare(l, p->thread))
		return false;
	return p->accesses[1] || (g && g->needless_handovers && p->accesses[0] > g->needed_handovers);
}

/* Two threads or more, and each byte is of one; one that wrote it first, as main does, and never again is none. */
static bool find_owners(struct touched *w)
{
	const struct ctp_shared_line *l = w->line;
	bool two = false;
	uint32_t any = NOBODY;
	for (uint32_t b = 0; b < w->bytes; b++) {
		if (l->shared.bits[b / 64] >> b % 64 & 1)
			return false;
		bool written = l->written.bits[b / 64] >> b % 64 & 1;
		w->owner[b] = written && !is_rare(l, l->byte_of[b]) ? l->byte_of[b] : NOBODY;
	}
	for (uint32_t i = 0; i < l->nplaces; i++) {
		const struct ctp_sharing_place *p = &l->place[i];
		if (p->accesses[1] || !is_apart(l, p))
			continue;
		if (is_touched(w, p->byte) && w->owner[p->byte] != p->thread)
			return false;
		w->owner[p->byte] = p->thread;
	}
	for (uint32_t b = 0; b < w->bytes; b++) {
		two |= is_touched(w, b) && any != NOBODY && w->owner[b] != any;
		any = is_touched(w, b) ? w->owner[b] : any;
	}
	return two;
}

/* The element of the type that a byte of the line is in, from that at base on. */
static int64_t element_of(const struct touched *w, uint32_t byte)
{
	int64_t at = (int64_t)(w->line->address + byte - w->base), size = w->size;
	return at >= 0 ? at / size : -((size - 1 - at) / size);
}

/* All places that are to be parted are of one type, and none is of an access that begins in the line before. */
static bool find_type(struct touched *w, const struct ctp_mem *m)
{
	const struct ctp_shared_line *l = w->line;
	const struct ctp_sharing_place *first = NULL;
	for (uint32_t i = 0; i < l->nplaces; i++) {
		const struct ctp_sharing_place *p = &l->place[i];
		if (!is_apart(l, p))
			continue;
		if (first && p->type != first->type)
			return false;
		first = !first || p->byte ? p : first; /* one that begins in the line */
	}
	if (!first || !first->byte || first->type <= CTP_MEM_OTHERS || !m->types.type[first->type].element_size)
		return false;
	w->type = first->type;
	w->size = m->types.type[first->type].element_size;
	w->base = l->address + first->byte - first->offset;
	for (uint32_t i = 0; i < l->nplaces; i++)
		if (is_apart(l, &l->place[i]) && (int64_t)(l->address + l->place[i].byte - l->place[i].offset - w->base) % (int64_t)w->size)
			return false;
	return true;
}

/* No element is of two threads. one: all are in one element. */
static bool are_elements_apart(const struct touched *w, bool *one)
{
	bool apart = true, any = false;
	int64_t before = 0;
	uint32_t thread = 0;
	*one = true;
	for (uint32_t b = 0; b < w->bytes; b++) {
		if (!is_touched(w, b))
			continue;
		int64_t element = element_of(w, b);
		apart &= !any || element != before || w->owner[b] == thread;
		*one &= !any || element == before;
		any = true;
		before = element;
		thread = w->owner[b];
	}
	return apart;
}

/* The one member at an offset; null: there is none, or several. */
static const struct ctp_member *only_member(const struct ctp_member *list, uint32_t n, uint32_t offset)
{
	const struct ctp_member *found = NULL;
	for (uint32_t i = 0; i < n && list[i].offset <= offset; i++) {
		if (offset - list[i].offset >= list[i].size)
			continue;
		if (found)
			return NULL;
		found = &list[i];
	}
	return found;
}

static bool is_plain(const struct ctp_member *m) { return !m->stride && !m->bits && !strpbrk(m->name, "[("); }

/* Where another thread begins, a member does. */
static bool part_members(char to[CTP_MEM_REMEDY_MAX], const struct touched *w, const struct ctp_member *const at[])
{
	uint32_t thread = 0, n = 0;
	bool any = false;
	int len = snprintf(to, CTP_MEM_REMEDY_MAX, "alignas(%u) on ", w->bytes);
	for (uint32_t b = 0; b < w->bytes; b++) {
		if (!is_touched(w, b))
			continue;
		uint32_t offset = (uint32_t)(w->line->address + b - w->base);
		if (any && w->owner[b] != thread) {
			if (at[b]->offset != offset || !is_plain(at[b]) || n == PARTED_MAX)
				return false;
			len += snprintf(to + len, CTP_MEM_REMEDY_MAX - (size_t)len, "%s%s", n++ ? " and on " : "", at[b]->name);
		}
		any = true;
		thread = w->owner[b];
	}
	return n;
}

static bool find_element(struct element *e, const struct ctp_member *m, uint32_t offset)
{
	const char *index = strchr(m->name, '[');
	*e = (struct element){.name = m->name, .array = strlen(m->name), .len = strlen(m->name)};
	if (m->stride)
		e->number = (offset - m->offset) / m->stride;
	if (!index)
		return m->stride;
	e->array = (size_t)(index - m->name);
	while (*index == '[' && (index = strchr(index, ']')))
		index++;
	e->len = index ? (size_t)(index - m->name) : e->len;
	e->number = 0;
	return index;
}

/* All is in one array, and no element is of two threads. */
static bool part_elements(char to[CTP_MEM_REMEDY_MAX], const struct touched *w, const struct ctp_member *const at[])
{
	struct element e = {.name = ""}, before = {.name = NULL};
	uint32_t thread = 0;
	for (uint32_t b = 0; b < w->bytes; b++) {
		if (!is_touched(w, b))
			continue;
		if (!find_element(&e, at[b], (uint32_t)(w->line->address + b - w->base)))
			return false;
		if (before.name && (e.array != before.array || memcmp(e.name, before.name, e.array)))
			return false;
		bool same = before.name && e.len == before.len && !memcmp(e.name, before.name, e.len) && e.number == before.number;
		if (same && w->owner[b] != thread)
			return false;
		before = e;
		thread = w->owner[b];
	}
	snprintf(to, CTP_MEM_REMEDY_MAX, "alignas(%u) on each element of %.*s", w->bytes, (int)e.array, e.name);
	return true;
}

static bool part_element(char to[CTP_MEM_REMEDY_MAX], const struct touched *w, const struct ctp_mem_layouts *l)
{
	const struct ctp_member *at[CTP_CACHE_LINE_MAX];
	uint32_t n;
	const struct ctp_member *list = ctp_mem_layout(l, w->type, &n);
	for (uint32_t b = 0; b < w->bytes; b++) {
		int64_t offset = (int64_t)(w->line->address + b - w->base);
		if (!is_touched(w, b))
			continue;
		if (n > MEMBERS_MAX || offset < 0 || offset >= w->size || !(at[b] = only_member(list, n, (uint32_t)offset)))
			return false;
	}
	return part_members(to, w, at) || part_elements(to, w, at);
}

bool ctp_mem_remedy(char to[CTP_MEM_REMEDY_MAX], const struct ctp_mem *m, const struct ctp_mem_layouts *l,
                    const struct ctp_shared_line *line)
{
	struct touched w = {.line = line, .bytes = m->sharing.line};
	bool one;
	if (ctp_sharing_verdict(line) != CTP_SHARING_FALSE || line->more_writers || line->unplaced || !find_type(&w, m) || !find_owners(&w))
		return false;
	bool apart = are_elements_apart(&w, &one);
	if (one)
		return part_element(to, &w, l);
	if (apart)
		snprintf(to, CTP_MEM_REMEDY_MAX, "alignas(%u) on each element of type %.900s", w.bytes, m->types.type[w.type].name);
	return apart;
}
