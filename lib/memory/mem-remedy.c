/* mem-remedy.c - see mem-remedy.h. */
#include "memory/mem-remedy.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS_MAX = 1024, PARTED_MAX = 4 }; /* of a type that are searched; that have to be aligned */

struct written {
	const struct ctp_shared_line *line;
	uint32_t bytes; /* of the line */
	uint32_t type, size; /* of an element */
	uint64_t base;  /* the first byte of an element, be it in the line or not */
};

/* The element of an array that a byte is in: its member's name up to the last index, and the number in that. */
struct element {
	const char *name;
	size_t array, len; /* of the name: without and with the index */
	uint32_t number;
};

static bool is_written(const struct written *w, uint32_t byte)
{
	return w->line->written.bits[byte / 64] >> byte % 64 & 1;
}

/* The element of the type that a byte of the line is in, from that at base on. */
static int64_t element_of(const struct written *w, uint32_t byte)
{
	int64_t at = (int64_t)(w->line->address + byte - w->base), size = w->size;
	return at >= 0 ? at / size : -((size - 1 - at) / size);
}

/* All places where something is written are of one type, and no access goes from one line or element to the next. */
static bool find_type(struct written *w, const struct ctp_mem *m)
{
	const struct ctp_shared_line *l = w->line;
	const struct ctp_sharing_place *first = NULL;
	for (uint32_t i = 0; i < l->nplaces; i++) {
		const struct ctp_sharing_place *p = &l->place[i];
		if (!p->accesses[1])
			continue;
		if (first && p->type != first->type)
			return false;
		first = !first || p->byte ? p : first; /* one that begins in the line */
	}
	if (!first || first->type <= CTP_MEM_OTHERS || !m->types.type[first->type].element_size || m->types.type[first->type].counts.straddles)
		return false;
	w->type = first->type;
	w->size = m->types.type[first->type].element_size;
	w->base = l->address + first->byte - first->offset;
	for (uint32_t i = 0; i < l->nplaces; i++)
		if (l->place[i].accesses[1] && (int64_t)(l->address + l->place[i].byte - l->place[i].offset - w->base) % (int64_t)w->size)
			return false;
	return true;
}

/* No element is written by two threads. one: all are in one element. */
static bool are_elements_apart(const struct written *w, bool *one)
{
	bool apart = true, any = false;
	int64_t before = 0;
	uint32_t thread = 0;
	*one = true;
	for (uint32_t b = 0; b < w->bytes; b++) {
		if (!is_written(w, b))
			continue;
		int64_t element = element_of(w, b);
		apart &= !any || element != before || w->line->first[b] == thread;
		*one &= !any || element == before;
		any = true;
		before = element;
		thread = w->line->first[b];
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
static bool part_members(char to[CTP_MEM_REMEDY_MAX], const struct written *w, const struct ctp_member *const at[])
{
	uint32_t thread = 0, n = 0;
	bool any = false;
	int len = snprintf(to, CTP_MEM_REMEDY_MAX, "alignas(%u) on ", w->bytes);
	for (uint32_t b = 0; b < w->bytes; b++) {
		if (!is_written(w, b))
			continue;
		uint32_t offset = (uint32_t)(w->line->address + b - w->base);
		if (any && w->line->first[b] != thread) {
			if (at[b]->offset != offset || !is_plain(at[b]) || n == PARTED_MAX)
				return false;
			len += snprintf(to + len, CTP_MEM_REMEDY_MAX - (size_t)len, "%s%s", n++ ? " and on " : "", at[b]->name);
		}
		any = true;
		thread = w->line->first[b];
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

/* All is in one array, and no element is written by two threads. */
static bool part_elements(char to[CTP_MEM_REMEDY_MAX], const struct written *w, const struct ctp_member *const at[])
{
	struct element e = {.name = ""}, before = {.name = NULL};
	uint32_t thread = 0;
	for (uint32_t b = 0; b < w->bytes; b++) {
		if (!is_written(w, b))
			continue;
		if (!find_element(&e, at[b], (uint32_t)(w->line->address + b - w->base)))
			return false;
		if (before.name && (e.array != before.array || memcmp(e.name, before.name, e.array)))
			return false;
		bool same = before.name && e.len == before.len && !memcmp(e.name, before.name, e.len) && e.number == before.number;
		if (same && w->line->first[b] != thread)
			return false;
		before = e;
		thread = w->line->first[b];
	}
	snprintf(to, CTP_MEM_REMEDY_MAX, "alignas(%u) on each element of %.*s", w->bytes, (int)e.array, e.name);
	return true;
}

static bool part_element(char to[CTP_MEM_REMEDY_MAX], const struct written *w, const struct ctp_mem_layouts *l)
{
	const struct ctp_member *at[CTP_CACHE_LINE_MAX];
	uint32_t n;
	const struct ctp_member *list = ctp_mem_layout(l, w->type, &n);
	for (uint32_t b = 0; b < w->bytes; b++) {
		int64_t offset = (int64_t)(w->line->address + b - w->base);
		if (!is_written(w, b))
			continue;
		if (n > MEMBERS_MAX || offset < 0 || offset >= w->size || !(at[b] = only_member(list, n, (uint32_t)offset)))
			return false;
	}
	return part_members(to, w, at) || part_elements(to, w, at);
}

bool ctp_mem_remedy(char to[CTP_MEM_REMEDY_MAX], const struct ctp_mem *m, const struct ctp_mem_layouts *l,
                    const struct ctp_shared_line *line)
{
	struct written w = {.line = line, .bytes = m->sharing.line};
	bool one;
	if (!ctp_sharing_is_false(line) || ctp_sharing_verdict(line) != CTP_SHARING_FALSE || line->more_writers || line->unplaced ||
	    !find_type(&w, m))
		return false;
	bool apart = are_elements_apart(&w, &one);
	if (one)
		return part_element(to, &w, l);
	if (apart)
		snprintf(to, CTP_MEM_REMEDY_MAX, "alignas(%u) on each element of type %.900s", w.bytes, m->types.type[w.type].name);
	return apart;
}
