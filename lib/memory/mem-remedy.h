/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem-remedy.h - what parts the threads of a falsely shared line, where that is certain.
 *
 * Every byte that is written there is known with its one writer, but for one that wrote it first. If all are of one type, and either
 * no element is of two threads, or all are in one element whose members are known, an alignment puts what the threads write, and what
 * they come to read for no need, into lines of their own.
 */
#ifndef CTP_MEM_REMEDY_H
#define CTP_MEM_REMEDY_H

#include "memory/mem-layout.h"
#include "memory/mem.h"

enum { CTP_MEM_REMEDY_MAX = 1024 };

/* "alignas(64) on tail"; false: none is certain. */
bool ctp_mem_remedy(char to[CTP_MEM_REMEDY_MAX], const struct ctp_mem *m, const struct ctp_mem_layouts *l,
                    const struct ctp_shared_line *line);

#endif
