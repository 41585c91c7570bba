/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sums.c - see sums.h. */
#include "stream/sums.h"

#include <assert.h>

#include "base/crc32c.h"

/* The CRC of b alone, from those of a and of a followed by b; b has this many bytes. */
static uint32_t without(uint32_t ab, uint32_t a, uint64_t b_bytes) { return ab ^ ctp_crc32c_shift(a, b_bytes); }

uint32_t ctp_sums_range(struct ctp_sums *s, uint64_t offset, const uint8_t *data, size_t len)
{
	uint64_t from = (offset + CTP_SUMS_BLOCK - 1) / CTP_SUMS_BLOCK, upto = (offset + len) / CTP_SUMS_BLOCK;
	assert(len <= CTP_PAYLOAD_MAX);
	if (from >= upto)
		return ctp_crc32c(0, data, len);
	if (from < s->first || from > s->last) {
		s->first = s->last = from;
		s->before[from % CTP_SUMS_KEPT] = 0;
	}
	for (; s->last < upto; s->last++)
		s->before[(s->last + 1) % CTP_SUMS_KEPT] =
			ctp_crc32c(s->before[s->last % CTP_SUMS_KEPT], data + (s->last * CTP_SUMS_BLOCK - offset), CTP_SUMS_BLOCK);
	if (s->last - s->first >= CTP_SUMS_KEPT)
		s->first = s->last - CTP_SUMS_KEPT + 1;
	assert(s->first <= from && upto <= s->last && upto - from < CTP_SUMS_KEPT); /* both sums are kept */
	size_t head = from * CTP_SUMS_BLOCK - offset, blocks = (upto - from) * CTP_SUMS_BLOCK;
	uint32_t middle = without(s->before[upto % CTP_SUMS_KEPT], s->before[from % CTP_SUMS_KEPT], blocks);
	uint32_t crc = ctp_crc32c_shift(ctp_crc32c(0, data, head), blocks) ^ middle;
	return ctp_crc32c(crc, data + head + blocks, len - head - blocks);
}
