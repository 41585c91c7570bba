/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-names.c - see mem-names.h. */
#include "memory/mem-names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "memory/mem-arrays.h"
#include "memory/mem-members.h"

enum { NEAR = 64 }; /* members that may hold an offset */

/* The larger first where several begin at an offset. */
static int compare(const void *a, const void *b)
{
	const struct ctp_member *x = a, *y = b;
	return ctp_compare(x->want, y->want) ?: ctp_compare(x->offset, y->offset) ?: ctp_compare(y->size, x->size);
}

/*
 * The member at an offset: of several, in a union, the one with the size of the access; else the first of those that hold the offset
 * and begin last. Debug information may have any number of them: only the last few are looked at.
 */
static const struct ctp_member *member_at(const struct ctp_member *list, uint32_t n, uint32_t offset, uint32_t size)
{
	const struct ctp_member *found = NULL;
	size_t upto;
	CTP_ARRAY_FIRST(upto, n, list[upto].offset > offset);
	for (size_t from = upto > NEAR ? upto - NEAR : 0; upto-- > from;) {
		const struct ctp_member *m = &list[upto];
		if (offset - m->offset >= m->size)
			continue;
		if (m->offset == offset && m->size == size)
			return m;
		if (!found || m->offset == found->offset)
			found = m;
	}
	return found;
}

static void name_members(struct ctp_mem *m, const struct ctp_mem_layouts *l, uint32_t type)
{
	const struct ctp_mem_type *t = &m->types.type[type];
	uint32_t n;
	const struct ctp_member *list = ctp_mem_layout(l, type, &n);
	for (uint32_t i = 0; n && i < t->nmembers; i++) {
		struct ctp_mem_member *member = &m->types.member[t->first + i];
		const struct ctp_member *at = member_at(list, n, member->offset, member->access ? member->access : member->size);
		struct ctp_mem_part part = {member->offset, member->size, at};
		member->name = at ? ctp_mem_part_name(&part) : NULL;
		member->padding = !at;
	}
}

/* Where parts begin. For free(); null: out of memory. */
static struct ctp_mem_start *starts_of(const struct ctp_mem *m, const struct ctp_mem_layouts *l, uint32_t *n)
{
	struct ctp_mem_start *list = calloc(2 * (size_t)l->n + m->types.ntypes, sizeof *list);
	struct ctp_mem_parts parts;
	struct ctp_mem_part part;
	*n = 0;
	for (uint32_t i = 0; list && i < m->types.ntypes; i++) {
		ctp_mem_parts_of(&parts, l, i, m->types.type[i].element_size);
		while (ctp_mem_parts_next(&parts, &part))
			list[(*n)++] = (struct ctp_mem_start){i, part.offset, part.member && part.member->bits ? part.size : 0};
	}
	return list;
}

static enum ctp_status divide(struct ctp_mem *m, const struct ctp_mem_layouts *l, struct ctp_err *err)
{
	uint32_t n;
	struct ctp_mem_start *starts = starts_of(m, l, &n);
	bool done = starts && ctp_mem_members_make(&m->types, starts, n);
	free(starts);
	return done ? CTP_OK : ctp_err_memory(err);
}

static void note_layout(struct ctp_mem_type *t, const struct ctp_members_want *want)
{
	t->layout = want->found ? CTP_LAYOUT_FOUND : want->other_size ? CTP_LAYOUT_OTHER : CTP_LAYOUT_ABSENT;
	t->other_size = want->other_size;
	const char *first = want->near[0], *second = want->near[1];
	if ((*first || *second) && asprintf(&t->near, "%s%s%s", first, *first && *second ? ", " : "", second) < 0)
		t->near = NULL;
}

enum ctp_status ctp_mem_name(struct ctp_mem *m, struct ctp_mem_layouts *l, const char *path, struct ctp_err *err)
{
	uint32_t ntypes = m->types.ntypes;
	struct ctp_members_want *want = calloc(ntypes, sizeof *want);
	if (!want)
		return ctp_err_memory(err);
	for (uint32_t i = 0; i < ntypes; i++)
		want[i] = (struct ctp_members_want){
			.type = m->types.type[i].name ? m->types.type[i].name : "", .size = m->types.type[i].element_size,
		};
	enum ctp_status status = ctp_members_find(path, want, ntypes, ctp_mem_layouts_take, l, err);
	status = status ? status : ctp_mem_arrays_fold(m, l, path, want, err);
	if (l->n)
		qsort(l->member, l->n, sizeof *l->member, compare);
	status = status ? status : divide(m, l, err);
	for (uint32_t i = CTP_MEM_OTHERS + 1; !status && i < ntypes; i++) {
		note_layout(&m->types.type[i], &want[i]);
		name_members(m, l, i);
	}
	free(want);
	return status;
}
