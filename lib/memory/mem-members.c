/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-members.c - see mem-members.h. */
#include "memory/mem-members.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

enum { MEMBERS_MAX = 2 * CTP_MEM_SPANS_MAX };

/* The end of a span: what is after the element is no member of it. */
static uint32_t end_of(const struct ctp_mem_type *t, const struct ctp_mem_span *s)
{
	return s->size < t->element_size - s->offset ? s->offset + s->size : t->element_size;
}

/* A member, which ends the one before. Accesses reach up to `reach`. */
static bool add(struct ctp_mem_types *t, uint32_t type, uint32_t offset, uint32_t reach, uint32_t access)
{
	struct ctp_mem_type *of = &t->type[type];
	if (!CTP_ARRAY_RESERVE(t->member, t->member_room, t->nmembers + 1, MEMBERS_MAX))
		return false;
	struct ctp_mem_member *m = &t->member[t->nmembers++];
	*m = (struct ctp_mem_member){.type = type, .offset = offset, .size = reach - offset, .access = access};
	if (of->nmembers++ && m[-1].size > offset - m[-1].offset)
		m[-1].size = offset - m[-1].offset;
	return true;
}

/* Bit fields, once. */
static bool add_bits(struct ctp_mem_types *t, const struct ctp_mem_start *bits)
{
	if (t->type[bits->type].nmembers && t->member[t->nmembers - 1].offset == bits->offset)
		return true;
	if (!add(t, bits->type, bits->offset, bits->offset + bits->bits, 0))
		return false;
	t->member[t->nmembers - 1].bits = true;
	return true;
}

/* Spans and starts are in the order of offsets. */
static bool divide(struct ctp_mem_types *t, uint32_t type, const struct ctp_mem_start *start, uint32_t nstarts)
{
	struct ctp_mem_type *of = &t->type[type];
	if (!of->nspans || of->unknown)
		return true;
	const struct ctp_mem_span *s = t->span + of->first_span, *end = s + of->nspans;
	struct ctp_mem_start held = {.bits = 0}; /* the last */
	uint32_t reach = 0;
	of->first = t->nmembers;
	while (s < end || nstarts) {
		bool begins = s < end && (!nstarts || s->offset <= start->offset);
		uint32_t offset = begins ? s->offset : start->offset, access = 0;
		for (; s < end && s->offset == offset; s++) {
			reach = end_of(of, s) > reach ? end_of(of, s) : reach;
			access = s->size;
		}
		for (; nstarts && start->offset == offset; nstarts--)
			held = *start++;
		bool bits = offset - held.offset < held.bits;
		if (!(begins || offset < reach))
			continue;
		if (bits ? !add_bits(t, &held) : !add(t, type, offset, reach, access))
			return false;
	}
	return true;
}

static void count(struct ctp_mem_types *t, uint32_t type)
{
	struct ctp_mem_type *of = &t->type[type];
	uint64_t touched = 0;
	for (uint32_t i = of->first; i < of->first + of->nmembers; i++) {
		struct ctp_mem_member *m = &t->member[i];
		m->counts = ctp_mem_types_between(t, type, m->offset, m->offset + m->size);
		touched += ctp_mem_accesses(&m->counts);
	}
	of->repeats = of->nmembers ? touched - (ctp_mem_accesses(&of->counts) - of->unplaced) : 0;
}

bool ctp_mem_members_make(struct ctp_mem_types *t, const struct ctp_mem_start *start, uint32_t nstarts)
{
	ctp_mem_types_clear_members(t);
	for (uint32_t i = 0, from = 0, upto; i < t->ntypes; i++, from = upto) {
		for (upto = from; upto < nstarts && start[upto].type == i;)
			upto++;
		if (!divide(t, i, start ? start + from : NULL, upto - from))
			return false;
		count(t, i);
	}
	return true;
}

bool ctp_mem_members_are_parts(const struct ctp_mem_types *t, uint32_t type)
{
	const struct ctp_mem_type *of = &t->type[type];
	return of->nmembers > 1 || (of->nmembers && t->member[of->first].size < of->element_size);
}

const struct ctp_mem_member *ctp_mem_members_at(const struct ctp_mem_types *t, uint32_t type, uint32_t offset)
{
	assert(type < t->ntypes && t->type[type].nmembers <= t->nmembers);
	size_t first = t->type[type].first, n;
	CTP_ARRAY_FIRST(n, t->type[type].nmembers, t->member[first + n].offset > offset);
	const struct ctp_mem_member *m = n ? &t->member[first + n - 1] : NULL;
	return m && (m->offset == offset || (m->bits && offset - m->offset < m->size)) ? m : NULL;
}
