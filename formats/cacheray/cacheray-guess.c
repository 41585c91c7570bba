/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacheray-guess.c - the byte order and the width of addresses that a trace is written in.
 *
 * Each spelling goes through the records as far as they are some. The right one goes farthest, and finds addresses that are aligned
 * as the accesses say, near each other and below 2^48, and threads with small numbers.
 */
#include "cacheray/cacheray-judge.h"

enum { NEAR = 1 << 24, CANONICAL_BITS = 48, SMALL_BITS = 32 };

/* What speaks for a record in this spelling. */
static unsigned points_of(struct ctp_cacheray_spelling sp, const uint8_t *p, uint64_t last)
{
	size_t after = ctp_cacheray_after_address(sp);
	uint64_t address = ctp_cacheray_get_address(sp, p), away = address > last ? address - last : last - address;
	bool access = (*p & CTP_CACHERAY_SORT) <= CTP_CACHERAY_WRITE;
	unsigned points = 1 + (away < NEAR) + !(address >> CANONICAL_BITS) + !(ctp_cacheray_u64(sp, p + after + access) >> SMALL_BITS);
	return points + (access && !(*p & CTP_CACHERAY_UNALIGNED) && !(address & (p[after] - 1u)));
}

static uint64_t points(struct ctp_cacheray_spelling sp, const uint8_t *p, size_t avail)
{
	struct ctp_cacheray_judge j;
	uint64_t sum = 0, last = 0;
	size_t bytes;
	ctp_cacheray_judge_init(&j, sp); /* knows no thread, and so doubts none */
	for (size_t at = 0; at < avail; at += bytes) {
		enum ctp_cacheray_verdict v = ctp_cacheray_judge_record(&j, p + at, avail - at, &bytes);
		if (v == CTP_RECORD_BAD || v == CTP_RECORD_SHORT)
			break;
		if (v == CTP_RECORD_WHOLE)
			sum += points_of(sp, p + at, last) * bytes;
		last = ctp_cacheray_get_address(sp, p + at);
	}
	ctp_cacheray_judge_fini(&j);
	return sum;
}

struct ctp_cacheray_spelling ctp_cacheray_guess(struct ctp_cacheray_spelling open, const uint8_t *p, size_t avail)
{
	static const struct ctp_cacheray_spelling all[] = {
		{CTP_CACHERAY_LITTLE, 8}, {CTP_CACHERAY_BIG, 8}, {CTP_CACHERAY_LITTLE, 4}, {CTP_CACHERAY_BIG, 4}};
	struct ctp_cacheray_spelling best = {open.order ? open.order : CTP_CACHERAY_LITTLE, open.address_bytes ? open.address_bytes : 8};
	uint64_t most = points(best, p, avail);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if ((open.order && open.order != all[i].order) || (open.address_bytes && open.address_bytes != all[i].address_bytes))
			continue;
		uint64_t n = points(all[i], p, avail);
		if (n > most) {
			most = n;
			best = all[i];
		}
	}
	return best;
}
