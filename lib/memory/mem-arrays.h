/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem-arrays.h - arrays that are recorded as one element, as Cacheray's pass records what malloc and realloc return: ten structures of 16
 * bytes are one element of 160.
 */
#ifndef CTP_MEM_ARRAYS_H
#define CTP_MEM_ARRAYS_H

#include "memory/mem-layout.h"
#include "memory/mem.h"

/*
 * Makes arrays of types that debug information has with another size, of which theirs are multiples; all types of a name, or none. want is what
 * was found of each type in the file, and what is found of them now. A structure that ends in an array of no length may have any
 * size, and is left.
 */
enum ctp_status ctp_mem_arrays_fold(struct ctp_mem *m, struct ctp_mem_layouts *l, const char *path, struct ctp_members_want *want,
                                    struct ctp_err *err);

#endif
