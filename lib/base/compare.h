/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* compare.h - two numbers: their order, the smaller and the larger. */
#ifndef CTP_COMPARE_H
#define CTP_COMPARE_H

#include <stdint.h>

/* For qsort and bsearch. In a chain `a ?: b`, b decides where a finds no difference. */
static inline int ctp_compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static inline uint64_t ctp_least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t ctp_most(uint64_t a, uint64_t b) { return a > b ? a : b; }

#endif
