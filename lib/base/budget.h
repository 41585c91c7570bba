/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * budget.h - how much memory may be taken for a target, or because of it, and how much has been.
 *
 * One thread takes and gives back. Its signal handlers may, too (memory-guard.c): so each change is one atomic step.
 */
#ifndef CTP_BUDGET_H
#define CTP_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct ctp_budget {
	uint64_t limit_bytes;
	uint64_t taken_bytes;
	bool refused; /* once something was */
};

static inline void ctp_budget_give(struct ctp_budget *b, uint64_t bytes)
{
	if (b)
		__atomic_fetch_sub(&b->taken_bytes, bytes, __ATOMIC_RELAXED);
}

/* Where there is none (null), there is no limit. */
static inline bool ctp_budget_take(struct ctp_budget *b, uint64_t bytes)
{
	if (!b || __atomic_add_fetch(&b->taken_bytes, bytes, __ATOMIC_RELAXED) <= b->limit_bytes)
		return true;
	ctp_budget_give(b, bytes);
	__atomic_store_n(&b->refused, true, __ATOMIC_RELAXED);
	return false;
}

static inline bool ctp_budget_refused(const struct ctp_budget *b) { return __atomic_load_n(&b->refused, __ATOMIC_RELAXED); }

#endif
