/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-names.h - the names of members, from debug information. */
#ifndef CTP_MEM_NAMES_H
#define CTP_MEM_NAMES_H

#include "memory/mem-layout.h"
#include "memory/mem.h"

/* After ctp_mem_end: finds the layouts of the types in the file, divides accesses by them, and names the members. */
enum ctp_status ctp_mem_name(struct ctp_mem *m, struct ctp_mem_layouts *l, const char *path, struct ctp_err *err);

#endif
