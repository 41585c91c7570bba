/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge-ids.h - numbers of coroutines, threads, processes, probes and sites, unique among all inputs.
 *
 * The number x of section i becomes x * stride + i. The stride is a power of ten above all i, so the last digits of a number are
 * its section. 0 stays 0. No section is 0, so multiples of the stride are free: they are given, in turn, to the few numbers that
 * are too large for that.
 */
#ifndef CTP_MERGE_IDS_H
#define CTP_MERGE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct ctp_merge_ids {
	uint64_t stride;
	bool failed; /* more numbers that are too large than there is room for, or out of memory */
	struct ctp_merge_big {
		uint64_t id, section;
	} *big; /* from 1 on */
	uint32_t nbig;
	size_t room;
	struct ctp_map map;
};

bool ctp_merge_ids_init(struct ctp_merge_ids *ids, uint64_t sections); /* false: out of memory */
void ctp_merge_ids_fini(struct ctp_merge_ids *ids);
uint64_t ctp_merge_ids_big(struct ctp_merge_ids *ids, uint64_t section, uint64_t id);

static inline uint64_t ctp_merge_id(struct ctp_merge_ids *ids, uint64_t section, uint64_t id)
{
	uint64_t product, sum;
	if (!id)
		return 0;
	if (__builtin_expect(__builtin_mul_overflow(id, ids->stride, &product) || __builtin_add_overflow(product, section, &sum), 0))
		return ctp_merge_ids_big(ids, section, id);
	return sum;
}

#endif
