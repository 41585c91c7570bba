/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-lines.c - see mem-lines.h. */
#include "mem/mem-lines.h"

#include <string.h>

struct choice {
	struct ctp_mem_lines *lines;
	uint64_t cost[CTP_MEM_LINES_MAX];
};

/* Of equals, the last. */
static uint32_t cheapest(const struct choice *c)
{
	uint32_t found = 0;
	for (uint32_t i = 1; i < c->lines->n; i++)
		found = c->cost[i] <= c->cost[found] ? i : found;
	return found;
}

/* Lines come in the order of their offsets. */
static void offer(struct choice *c, uint32_t from, uint64_t cost)
{
	struct ctp_mem_lines *l = c->lines;
	if (l->n == CTP_MEM_LINES_MAX) {
		uint32_t out = cheapest(c);
		if (cost <= c->cost[out])
			return;
		l->n--;
		memmove(l->from + out, l->from + out + 1, (l->n - out) * sizeof *l->from);
		memmove(c->cost + out, c->cost + out + 1, (l->n - out) * sizeof *c->cost);
	}
	l->from[l->n] = from;
	c->cost[l->n++] = cost;
}

static void choose_dearest(struct ctp_mem_lines *lines, const struct ctp_mem *m, uint32_t type)
{
	const struct ctp_mem_type *t = &m->types.type[type];
	struct choice c = {.lines = lines};
	uint64_t next = 0; /* lines before it were offered */
	for (uint32_t i = 0; i < t->nspans; i++) {
		const struct ctp_mem_span *s = &m->types.span[t->first_span + i];
		uint64_t line = s->offset / lines->bytes, end = ((uint64_t)s->offset + s->size + lines->bytes - 1) / lines->bytes;
		for (line = line < next ? next : line; line < end && line < lines->all; next = ++line) {
			uint64_t from = line * lines->bytes, upto = from + lines->bytes;
			struct ctp_mem_counts counts =
				ctp_mem_types_between(&m->types, type, (uint32_t)from, upto < UINT32_MAX ? (uint32_t)upto : UINT32_MAX);
			offer(&c, (uint32_t)from, ctp_mem_cost(&counts, m->levels));
		}
	}
}

void ctp_mem_lines_choose(struct ctp_mem_lines *lines, const struct ctp_mem *m, uint32_t type)
{
	uint32_t size = m->types.type[type].element_size, line = m->sharing.line;
	*lines = (struct ctp_mem_lines){.all = size / line + !!(size % line), .bytes = line};
	if (lines->all > CTP_MEM_LINES_MAX)
		choose_dearest(lines, m, type);
	else
		for (; lines->n < lines->all; lines->n++)
			lines->from[lines->n] = lines->n * line;
}

uint32_t ctp_mem_lines_at(const struct ctp_mem_lines *lines, uint32_t offset)
{
	uint32_t i = 0;
	while (i < lines->n && lines->from[i] <= offset && offset - lines->from[i] >= lines->bytes)
		i++;
	return i;
}

bool ctp_mem_lines_have(const struct ctp_mem_lines *lines, uint32_t offset)
{
	uint32_t i = ctp_mem_lines_at(lines, offset);
	return i < lines->n && lines->from[i] <= offset;
}
