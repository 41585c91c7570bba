/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-svg.h - a picture of structures: a row for each line of cache, a cell for each member, the warmer the more it costs. */
#ifndef CTP_MEM_SVG_H
#define CTP_MEM_SVG_H

#include "mem/mem-print.h"
#include "memory/mem-names.h"

/* False: out of memory. */
bool ctp_mem_svg(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l,
                 const struct ctp_mem_style *style);

#endif
