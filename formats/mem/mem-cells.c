/* mem-cells.c - see mem-cells.h. */
#include "mem/mem-cells.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory/room.h"

enum { ELEMENTS_MAX = 64 }; /* of an array that have cells of their own */

struct cells {
	struct ctp_mem_cell *cell;
	uint32_t n, room, at, bytes, line; /* at: what is before has cells */
	bool failed;
};

static void add_part(struct cells *c, uint32_t offset, uint32_t size, enum ctp_mem_cell_kind kind, const char *name)
{
	if (!ctp_room_more(&c->cell, &c->room, c->n, CTP_MEM_CELLS_MAX, sizeof *c->cell)) {
		c->failed = true;
		return;
	}
	c->cell[c->n] = (struct ctp_mem_cell){.offset = offset, .size = size, .kind = kind};
	snprintf(c->cell[c->n++].name, CTP_MEM_CELL_NAME, "%s", name);
	c->at = offset + size;
}

/* From an offset on, a cell for each line. */
static void add(struct cells *c, uint32_t offset, uint32_t size, enum ctp_mem_cell_kind kind, const char *name)
{
	uint32_t end = offset < c->bytes && size < c->bytes - offset ? offset + size : c->bytes;
	for (uint32_t upto; offset < end && !c->failed; offset = upto) {
		upto = end - offset < c->line - offset % c->line ? end : offset - offset % c->line + c->line;
		add_part(c, offset, upto - offset, kind, name);
	}
}

/* The name of some of a part. */
static void add_named(struct cells *c, const struct ctp_mem_part *part, uint32_t offset, uint32_t size)
{
	struct ctp_mem_part some = {offset, size, part->member};
	char *name = ctp_mem_part_name(&some);
	add(c, offset, size, CTP_CELL_MEMBER, name ? name : "");
	c->failed |= !name;
	free(name);
}

/* A cell for each part: a member, each element of an array that has not too many, or the padding between. */
static void add_cells(struct cells *c, const struct ctp_mem_part *part)
{
	const struct ctp_member *m = part->member;
	uint32_t end = part->offset + part->size, step = m && m->stride && m->size / m->stride <= ELEMENTS_MAX ? m->stride : c->line;
	if (!m) {
		add(c, part->offset, part->size, CTP_CELL_PADDING, "");
		return;
	}
	if (!m->stride) {
		add_named(c, part, part->offset, part->size);
		return;
	}
	uint32_t from = step == m->stride ? m->offset : 0;
	for (uint32_t at = part->offset, upto; at < end; at = upto) {
		upto = end - at < step - (at - from) % step ? end : at + step - (at - from) % step;
		add_named(c, part, at, upto - at);
	}
}

/* Without a layout, what was accessed. */
static void add_access(struct cells *c, const struct ctp_mem_member *m)
{
	if (m->offset > c->at)
		add(c, c->at, m->offset - c->at, CTP_CELL_GAP, "");
	add(c, m->offset, m->size, CTP_CELL_MEMBER, "");
}

static struct ctp_mem_cell *cell_at(const struct cells *c, uint32_t offset)
{
	uint32_t from = 0, upto = c->n;
	while (upto - from > 1) {
		uint32_t middle = from + (upto - from) / 2;
		if (c->cell[middle].offset <= offset)
			from = middle;
		else
			upto = middle;
	}
	return offset < c->bytes && c->n ? &c->cell[from] : NULL;
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

struct ctp_mem_cell *ctp_mem_cells(const struct ctp_mem *m, const struct ctp_mem_layouts *l, uint32_t type, uint32_t bytes,
                                   uint32_t *n)
{
	const struct ctp_mem_type *t = &m->types.type[type];
	const struct ctp_mem_member *member = m->types.member + t->first;
	struct cells c = {.bytes = bytes, .line = m->sharing.line};
	struct ctp_mem_parts parts;
	struct ctp_mem_part part;
	ctp_mem_parts_of(&parts, l, type, bytes);
	bool known = parts.left;
	while (ctp_mem_parts_next(&parts, &part))
		add_cells(&c, &part);
	for (uint32_t i = 0; !known && i < t->nmembers; i++)
		add_access(&c, &member[i]);
	if (c.at < bytes)
		add(&c, c.at, bytes - c.at, CTP_CELL_GAP, "");
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
