/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * crc32c.h - CRC-32C (Castagnoli), the checksum of packets: with the processor's instruction where it has one.
 */
#ifndef CTP_CRC32C_H
#define CTP_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Of [data, data + len); pass 0 to start, or an earlier result to go on from there. */
uint32_t ctp_crc32c(uint32_t crc, const void *data, size_t len);

/*
 * For a CRC of two parts together: ctp_crc32c(0, ab) is ctp_crc32c_shift(ctp_crc32c(0, a), bytes of b) ^ ctp_crc32c(0, b). Takes as long as
 * the count of bytes has digits.
 */
uint32_t ctp_crc32c_shift(uint32_t crc, uint64_t bytes);

/* The same without special instructions: the fallback, and the judge of the others in tests. */
uint32_t ctp_crc32c_table(uint32_t crc, const void *data, size_t len);

#endif
