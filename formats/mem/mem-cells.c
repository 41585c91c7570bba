/* mem-cells.c - see mem-cells.h. */
#include "mem/mem-cells.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory/room.h"

enum { ELEMENTS_MAX = 64 }; /* of an array that have cells of their own */

struct cells {
	struct ctp_mem_cell *cell;
	uint32_t n, room, at, bytes, line; /* at: what is before has cells */
	enum ctp_mem_cell_kind between;
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

/* A cell for each member; where several begin, or one lies in another, for the first of them. */
static void add_member(struct cells *c, const struct ctp_member *m)
{
	char name[CTP_MEMBER_NAME_MAX + CTP_MEMBER_INDEX_MAX], index[CTP_MEMBER_INDEX_MAX];
	if (m->offset < c->at)
		return;
	if (m->offset > c->at)
		add(c, c->at, m->offset - c->at, c->between, "");
	if (!m->stride || m->size / m->stride > ELEMENTS_MAX) {
		add(c, m->offset, m->size, CTP_CELL_MEMBER, m->name);
		return;
	}
	for (uint32_t i = 0; i < m->size / m->stride; i++) {
		snprintf(name, sizeof name, "%s%s", m->name, ctp_member_index(index, m, i));
		add(c, m->offset + i * m->stride, m->stride, CTP_CELL_MEMBER, name);
	}
}

/* Without a layout, what was accessed. */
static void add_access(struct cells *c, const struct ctp_mem_member *m)
{
	if (m->offset > c->at)
		add(c, c->at, m->offset - c->at, c->between, "");
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
	uint32_t nlayout;
	const struct ctp_member *layout = ctp_mem_layout(l, type, &nlayout);
	struct cells c = {.bytes = bytes, .line = m->sharing.line, .between = nlayout ? CTP_CELL_PADDING : CTP_CELL_GAP};
	for (uint32_t i = 0; i < nlayout; i++)
		add_member(&c, &layout[i]);
	for (uint32_t i = 0; !nlayout && i < t->nmembers; i++)
		add_access(&c, &member[i]);
	if (c.at < bytes)
		add(&c, c.at, bytes - c.at, c.between, "");
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
