/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * varint.h - numbers in as few bytes as they need, without a branch for each byte.
 *
 * A number of up to 7n bits takes n bytes, n from 1 to 8: the little-endian word of n bytes holds the number shifted left by n,
 * with a one at bit n - 1 and zeros below, so that the count of trailing zeros of the first byte says how many bytes follow it.
 * Larger ones: a zero byte, then eight bytes. Signed differences are folded first: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
 */
#ifndef CTP_VARINT_H
#define CTP_VARINT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { CTP_VARINT_MAX = 9 }; /* bytes. Both sides may touch that many, whatever the number's size */

static inline uint64_t ctp_load_u64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return le64toh(v);
}

static inline void ctp_store_u64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, 8);
}

static inline uint32_t ctp_load_u32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, 4);
	return le32toh(v);
}

static inline void ctp_store_u32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, 4);
}

static inline uint32_t ctp_load_u24(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16; }

static inline void ctp_store_u24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
}

static inline uint8_t *ctp_varint_put(uint8_t *p, uint64_t v)
{
	unsigned zeros = (unsigned)__builtin_clzll(v | 1);
	if (__builtin_expect(zeros < 8, 0)) {
		*p = 0;
		ctp_store_u64(p + 1, v);
		return p + 9;
	}
	unsigned n = (2590 - 37 * zeros) >> 8; /* = (64 - zeros + 6) / 7, for 8 <= zeros <= 63 */
	ctp_store_u64(p, (v << n) | (uint64_t)1 << (n - 1));
	return p + n;
}

static inline const uint8_t *ctp_varint_get(const uint8_t *p, uint64_t *v)
{
	uint64_t word = ctp_load_u64(p);
	if (__builtin_expect((word & 0xff) == 0, 0)) {
		*v = ctp_load_u64(p + 1);
		return p + 9;
	}
	unsigned n = (unsigned)__builtin_ctzll(word) + 1;
	unsigned above = -8 * n % 64; /* bits of the word that are not the number's */
	*v = word << above >> above >> n; /* two shifts, so that n = 8 needs no case of its own */
	return p + n;
}

/* A text: its length and its bytes. */
static inline uint8_t *ctp_put_text(uint8_t *p, const char *s)
{
	size_t len = strlen(s);
	p = ctp_varint_put(p, len);
	memcpy(p, s, len);
	return p + len;
}

static inline uint64_t ctp_fold(int64_t d) { return ((uint64_t)d << 1) ^ (uint64_t)(d >> 63); }
static inline int64_t ctp_unfold(uint64_t v) { return (int64_t)(v >> 1) ^ -(int64_t)(v & 1); }

#endif
