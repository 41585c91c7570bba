/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-layout.c - see mem-layout.h. */
#include "memory/mem-layout.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

void ctp_mem_layouts_fini(struct ctp_mem_layouts *l)
{
	free(l->member);
	*l = (struct ctp_mem_layouts){.member = NULL};
}

void ctp_mem_layouts_take(void *layouts, const struct ctp_member *member)
{
	struct ctp_mem_layouts *l = layouts;
	if (CTP_ARRAY_RESERVE(l->member, l->room, l->n + 1, CTP_MEMBERS_MAX))
		l->member[l->n++] = *member;
	else
		l->full = true;
}

const struct ctp_member *ctp_mem_layout(const struct ctp_mem_layouts *l, uint32_t type, uint32_t *n)
{
	size_t from;
	CTP_ARRAY_FIRST(from, l->n, l->member[from].want >= type);
	for (*n = 0; from + *n < l->n && l->member[from + *n].want == type;)
		++*n;
	return l->member ? l->member + from : NULL;
}

/* --- parts --------------------------------------------------------------------------------------------------------------- */

void ctp_mem_parts_of(struct ctp_mem_parts *p, const struct ctp_mem_layouts *l, uint32_t type, uint32_t bytes)
{
	*p = (struct ctp_mem_parts){.bytes = bytes};
	p->next = ctp_mem_layout(l, type, &p->left);
	if (!p->left)
		p->bytes = 0;
}

bool ctp_mem_parts_next(struct ctp_mem_parts *p, struct ctp_mem_part *part)
{
	while (p->left && p->next->offset <= p->at && p->next->size <= p->at - p->next->offset) {
		p->next++;
		p->left--;
	}
	const struct ctp_member *m = p->left && p->next->offset <= p->at ? p->next : NULL;
	uint64_t end = m ? (uint64_t)m->offset + m->size : p->left ? p->next->offset : p->bytes;
	end = end < p->bytes ? end : p->bytes;
	if (p->at >= end)
		return false;
	*part = (struct ctp_mem_part){p->at, (uint32_t)end - p->at, m};
	p->at = (uint32_t)end;
	return true;
}

char *ctp_mem_part_name(const struct ctp_mem_part *part)
{
	const struct ctp_member *m = part->member;
	char index[CTP_MEMBER_INDEX_MAX] = "", last[CTP_MEMBER_INDEX_MAX] = "", rest[16] = "", *text;
	uint32_t in = part->offset - m->offset, element = 0, end = part->size < m->size - in ? in + part->size : m->size;
	if (m->stride) {
		element = in / m->stride;
		ctp_member_index(index, m, element);
		in %= m->stride;
	}
	if (in)
		snprintf(rest, sizeof rest, "+%u", in);
	else if (m->stride && (end - 1) / m->stride > element)
		ctp_member_index(last, m, (end - 1) / m->stride);
	return asprintf(&text, "%s%s%s%s%s", m->name, index, rest, *last ? ".." : "", last) < 0 ? NULL : text;
}
