/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sums.h - CRC-32C of ranges of an input that overlap, each byte summed about once.
 *
 * A header that holds may claim any payload, and inside of that another header claims the next: a reader that sums each payload anew
 * reads 4 MiB for each 64 bytes. So sums keep the CRC of what lies before each block of the input, and the CRC of a range follows
 * from two of them. Only the blocks at both ends of a range are summed again.
 */
#ifndef CTP_SUMS_H
#define CTP_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "stream/packet.h"

enum { CTP_SUMS_BLOCK = 1 << 10, CTP_SUMS_KEPT = 2 * CTP_PAYLOAD_MAX / CTP_SUMS_BLOCK };

/* All zeros at first. */
struct ctp_sums {
	uint64_t first, last; /* blocks: before[] holds for these and those between; none before the first range */
	uint32_t before[CTP_SUMS_KEPT]; /* of a block's number modulo CTP_SUMS_KEPT: the CRC from the beginning of some block up to it */
};

/* ctp_crc32c(0, data, len) of the bytes that begin at offset of the input; at most CTP_PAYLOAD_MAX. Offsets do not go back. */
uint32_t ctp_sums_range(struct ctp_sums *s, uint64_t offset, const uint8_t *data, size_t len);

#endif
