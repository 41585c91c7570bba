/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-lines.h - the lines of a structure that a picture has: all of them, or of a large structure those that cost most. */
#ifndef CTP_MEM_LINES_H
#define CTP_MEM_LINES_H

#include "memory/mem.h"

enum { CTP_MEM_LINES_MAX = 32 };

struct ctp_mem_lines {
	uint32_t n, all;                  /* chosen, and how many there are */
	uint32_t bytes;                   /* of a line, as sharing has them */
	uint32_t from[CTP_MEM_LINES_MAX]; /* offsets, in their order */
};

/* Of a structure with more than CTP_MEM_LINES_MAX lines, those without accesses are not chosen. */
void ctp_mem_lines_choose(struct ctp_mem_lines *lines, const struct ctp_mem *m, uint32_t type);

/* The first of the chosen lines that ends after an offset; n: none. */
uint32_t ctp_mem_lines_at(const struct ctp_mem_lines *lines, uint32_t offset);

/* Whether an offset is in a chosen line. */
bool ctp_mem_lines_have(const struct ctp_mem_lines *lines, uint32_t offset);

#endif
