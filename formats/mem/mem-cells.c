/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-cells.c - see mem-cells.h. */
#include "mem/mem-cells.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

enum { ELEMENTS_MAX = 64 }; /* of an array that have cells of their own */

struct cells {
	struct ctp_mem_cell *cell;
	size_t room;
	uint32_t n, at, bytes, line; /* at: what is before has cells, or is in no line that is asked for */
	const struct ctp_mem_lines *lines;
	const struct ctp_mem_member *member; /* with accesses: those that have no cells yet */
	uint32_t left;
	bool failed;
};

static void add_part(struct cells *c, uint32_t offset, uint32_t size, enum ctp_mem_cell_kind kind, const char *name)
{
	if (!CTP_ARRAY_RESERVE(c->cell, c->room, c->n + 1, CTP_MEM_CELLS_MAX)) {
		c->failed = true;
		return;
	}
	c->cell[c->n] = (struct ctp_mem_cell){.offset = offset, .size = size, .kind = kind};
	snprintf(c->cell[c->n++].name, CTP_MEM_CELL_NAME, "%s", name);
}

/* The first place from an offset on that is in a line; none: the end. */
static uint32_t place_from(const struct cells *c, uint32_t offset)
{
	uint32_t i = ctp_mem_lines_at(c->lines, offset);
	return i == c->lines->n ? c->bytes : c->lines->from[i] > offset ? c->lines->from[i] : offset;
}

/* From an offset on, a cell for each line. */
static void add(struct cells *c, uint32_t offset, uint32_t size, enum ctp_mem_cell_kind kind, const char *name)
{
	uint32_t end = offset < c->bytes && size < c->bytes - offset ? offset + size : c->bytes;
	for (uint32_t upto; (offset = place_from(c, offset)) < end && !c->failed; offset = upto) {
		upto = end - offset < c->line - offset % c->line ? end : offset - offset % c->line + c->line;
		add_part(c, offset, upto - offset, kind, name);
	}
	c->at = end;
}

static bool is_short(const struct ctp_member *m) { return m->stride && m->size / m->stride <= ELEMENTS_MAX; }

/* The name of some of a part. */
static void add_named(struct cells *c, const struct ctp_mem_part *part, uint32_t offset, uint32_t size)
{
	struct ctp_mem_part some = {offset, size, part->member};
	if (place_from(c, offset) - offset >= size)
		return;
	char *name = ctp_mem_part_name(&some);
	add(c, offset, size, CTP_CELL_MEMBER, name ? name : "");
	c->failed |= !name;
	free(name);
}

/* Of a part, what has no accesses: a member, elements of an array, or the padding between; of an array, a cell in each line. */
static void add_rest(struct cells *c, const struct ctp_mem_part *part, uint32_t at, uint32_t end)
{
	const struct ctp_member *m = part->member;
	if (!m && at < end)
		add(c, at, end - at, CTP_CELL_PADDING, "");
	if (m && !m->stride && at < end)
		add_named(c, part, at, end - at);
	for (uint32_t upto; m && m->stride && (at = place_from(c, at)) < end; at = upto) {
		upto = end - at < c->line - at % c->line ? end : at + c->line - at % c->line;
		add_named(c, part, at, upto - at);
	}
}

/* A cell for each member that has accesses, as tables have rows, and for the rest; of a long array, for each line. */
static void add_cells(struct cells *c, const struct ctp_mem_part *part)
{
	uint32_t at = part->offset, end = part->offset + part->size;
	for (; c->left && c->member->offset < end; c->member++, c->left--) {
		if (part->member && part->member->stride && !is_short(part->member))
			continue;
		const struct ctp_mem_member *m = c->member;
		add_rest(c, part, at, m->offset);
		add(c, m->offset, m->size, m->padding ? CTP_CELL_PADDING : CTP_CELL_MEMBER, m->name ? m->name : "");
		at = m->offset + m->size;
	}
	add_rest(c, part, at, end);
}

static struct ctp_mem_cell *cell_at(const struct cells *c, uint32_t offset)
{
	uint32_t i;
	CTP_ARRAY_FIRST(i, c->n, c->cell[i].offset > offset);
	return i && offset - c->cell[i - 1].offset < c->cell[i - 1].size ? &c->cell[i - 1] : NULL;
}

/* Lines come the worst first. */
static void mark(struct cells *c, const struct ctp_shared_line *l, uint32_t type)
{
	for (uint32_t i = 0; i < l->nplaces; i++) {
		const struct ctp_sharing_place *p = &l->place[i];
		struct ctp_mem_cell *cell = p->type == type && p->accesses[1] ? cell_at(c, p->offset) : NULL;
		if (cell && !cell->shared)
			cell->shared = l;
	}
}

struct ctp_mem_cell *ctp_mem_cells(const struct ctp_mem *m, const struct ctp_mem_layouts *l, uint32_t type,
                                   const struct ctp_mem_lines *lines, uint32_t *n)
{
	const struct ctp_mem_type *t = &m->types.type[type];
	struct cells c = {.bytes = t->element_size, .line = lines->bytes, .lines = lines, .member = m->types.member + t->first,
	                  .left = t->nmembers};
	struct ctp_mem_parts parts;
	struct ctp_mem_part part;
	ctp_mem_parts_of(&parts, l, type, c.bytes);
	bool known = parts.left;
	while (ctp_mem_parts_next(&parts, &part))
		add_cells(&c, &part);
	for (; !known && c.left; c.left--, c.member++) { /* without a layout, what was accessed */
		if (c.member->offset > c.at)
			add(&c, c.at, c.member->offset - c.at, CTP_CELL_GAP, "");
		add(&c, c.member->offset, c.member->size, CTP_CELL_MEMBER, "");
	}
	if (c.at < c.bytes)
		add(&c, c.at, c.bytes - c.at, CTP_CELL_GAP, "");
	if (c.failed) {
		free(c.cell);
		return NULL;
	}
	for (uint32_t i = 0; i < c.n; i++)
		c.cell[i].counts = ctp_mem_types_between(&m->types, type, c.cell[i].offset, c.cell[i].offset + c.cell[i].size);
	for (uint32_t i = 0; i < m->sharing.nshared; i++)
		if (ctp_sharing_is_false(m->sharing.shared[i]))
			mark(&c, m->sharing.shared[i], type);
	*n = c.n;
	return c.cell;
}
