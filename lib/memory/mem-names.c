/* mem-names.c - see mem-names.h. */
#include "memory/mem-names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/mem-members.h"
#include "memory/room.h"

enum { NEAR = 64 }; /* members that may hold an offset */

void ctp_mem_layouts_fini(struct ctp_mem_layouts *l)
{
	free(l->member);
	*l = (struct ctp_mem_layouts){.member = NULL};
}

static void take(void *arg, const struct ctp_member *member)
{
	struct ctp_mem_layouts *l = arg;
	if (ctp_room_more(&l->member, &l->room, l->n, CTP_MEMBERS_MAX, sizeof *l->member))
		l->member[l->n++] = *member;
	else
		l->full = true;
}

/* The larger first where several begin at an offset. */
static int compare(const void *a, const void *b)
{
	const struct ctp_member *x = a, *y = b;
	if (x->want != y->want)
		return x->want < y->want ? -1 : 1;
	return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : (x->size < y->size) - (x->size > y->size);
}

const struct ctp_member *ctp_mem_layout(const struct ctp_mem_layouts *l, uint32_t type, uint32_t *n)
{
	uint32_t from = 0, upto = l->n;
	while (from < upto) {
		uint32_t middle = from + (upto - from) / 2;
		if (l->member[middle].want < type)
			from = middle + 1;
		else
			upto = middle;
	}
	for (*n = 0; from + *n < l->n && l->member[from + *n].want == type;)
		++*n;
	return l->member ? l->member + from : NULL;
}

/* How many members begin at an offset or before. */
static uint32_t begun(const struct ctp_member *list, uint32_t n, uint32_t offset)
{
	uint32_t from = 0;
	while (from < n) {
		uint32_t middle = from + (n - from) / 2;
		if (list[middle].offset <= offset)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

/*
 * The member at an offset: of several, in a union, the one with the size of the access; else the first of those that hold the offset
 * and begin last. Debug information may have any number of them: only the last few are looked at.
 */
static const struct ctp_member *member_at(const struct ctp_member *list, uint32_t n, uint32_t offset, uint32_t size)
{
	const struct ctp_member *found = NULL;
	uint32_t upto = begun(list, n, offset), from = upto > NEAR ? upto - NEAR : 0;
	while (upto-- > from) {
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

/* "next", "slot[3]", "slot[3]+4", "slot[3]..[6]", "flags+1"; for free(). */
static char *spell(const struct ctp_member *m, const struct ctp_mem_member *at)
{
	char index[CTP_MEMBER_INDEX_MAX] = "", last[CTP_MEMBER_INDEX_MAX] = "", rest[16] = "", *text;
	uint32_t in = at->offset - m->offset, element = 0, end = at->size < m->size - in ? in + at->size : m->size;
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

static void name_members(struct ctp_mem *m, const struct ctp_mem_layouts *l, uint32_t type)
{
	const struct ctp_mem_type *t = &m->types.type[type];
	uint32_t n;
	const struct ctp_member *list = ctp_mem_layout(l, type, &n);
	for (uint32_t i = 0; n && i < t->nmembers; i++) {
		struct ctp_mem_member *member = &m->types.member[t->first + i];
		const struct ctp_member *at = member_at(list, n, member->offset, member->access ? member->access : member->size);
		member->name = at ? spell(at, member) : NULL;
	}
}

/* Where members begin; of those that overlap, in a union, the first. For free(); null: out of memory. */
static struct ctp_mem_start *starts_of(const struct ctp_mem_layouts *l, uint32_t *n)
{
	struct ctp_mem_start *list = calloc(l->n + 1, sizeof *list);
	uint64_t end = 0;
	*n = 0;
	for (uint32_t i = 0; list && i < l->n; i++) {
		const struct ctp_member *m = &l->member[i];
		if (*n && list[*n - 1].type == m->want && m->offset < end)
			continue;
		list[(*n)++] = (struct ctp_mem_start){m->want, m->offset, m->bits ? m->size : 0};
		end = (uint64_t)m->offset + m->size;
	}
	return list;
}

static enum ctp_status divide(struct ctp_mem *m, const struct ctp_mem_layouts *l, struct ctp_err *err)
{
	uint32_t n;
	struct ctp_mem_start *starts = starts_of(l, &n);
	bool done = starts && ctp_mem_members_make(&m->types, starts, n);
	free(starts);
	return done ? CTP_OK : ctp_err_set(err, "out of memory");
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
		return ctp_err_set(err, "out of memory");
	for (uint32_t i = 0; i < ntypes; i++)
		want[i] = (struct ctp_members_want){
			.type = m->types.type[i].name ? m->types.type[i].name : "", .size = m->types.type[i].element_size,
		};
	enum ctp_status status = ctp_members_find(path, want, ntypes, take, l, err);
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
