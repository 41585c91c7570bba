/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem-cells.h - the lines of a type as rows of cells, from their first byte to their last: its members as tables have them, and what debug
 * information has between them, or else gaps. A cell ends where its line does, and what is left of a member is another.
 */
#ifndef CTP_MEM_CELLS_H
#define CTP_MEM_CELLS_H

#include "mem/mem-lines.h"
#include "memory/mem-names.h"

enum { CTP_MEM_CELLS_MAX = 1 << 14, CTP_MEM_CELL_NAME = 80 };

enum ctp_mem_cell_kind {
	CTP_CELL_MEMBER,
	CTP_CELL_PADDING, /* no member of the layout */
	CTP_CELL_GAP,     /* there is no layout, and no access */
};

struct ctp_mem_cell {
	uint32_t offset, size;
	enum ctp_mem_cell_kind kind;
	char name[CTP_MEM_CELL_NAME]; /* "": not known */
	struct ctp_mem_counts counts;
	const struct ctp_shared_line *shared; /* the worst falsely shared line that is written here; null: none */
};

/* The cells of some lines of a type, for free(). Null: out of memory, or more than CTP_MEM_CELLS_MAX. */
struct ctp_mem_cell *ctp_mem_cells(const struct ctp_mem *m, const struct ctp_mem_layouts *l, uint32_t type,
                                   const struct ctp_mem_lines *lines, uint32_t *n);

#endif
