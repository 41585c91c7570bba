/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* capped.h - sums of numbers from outside, which may be anything. */
#ifndef CTP_CAPPED_H
#define CTP_CAPPED_H

#include <stdint.h>

/* Adds n; a sum stops at the largest number, and does not come round to 0. */
static inline void ctp_add_capped(uint64_t *sum, uint64_t n) { *sum = n > UINT64_MAX - *sum ? UINT64_MAX : *sum + n; }

#endif
