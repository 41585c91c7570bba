/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-bits.c - see parquet-bits.h. */
#include "parquet/parquet-bits.h"

#include <string.h>

#include "parquet/parquet-thrift.h"

enum { RUN_MIN = 24 }; /* equal codes that are worth a run of their own */

static unsigned bits_of(uint64_t v) { return v ? 64 - (unsigned)__builtin_clzll(v) : 0; }

static uint8_t *put_word(uint8_t *p, uint64_t v)
{
	ctp_store_u64(p, v);
	return p + 8;
}

/* --- delta ---------------------------------------------------------------------------------------------------------------- */

/* 32 values of width 1 to 63: half as many words. */
static uint8_t *pack(uint8_t *p, const uint64_t *v, unsigned width)
{
	uint64_t word = 0;
	unsigned at = 0;
	for (unsigned i = 0; i < CTP_PARQUET_MINIBLOCK; i++) {
		word |= v[i] << at;
		at += width;
		if (at >= 64) {
			p = put_word(p, word);
			at -= 64;
			word = at ? v[i] >> (width - at) : 0;
		}
	}
	return at ? ctp_parquet_le(p, word, 4) : p;
}

static uint8_t *pack_miniblock(uint8_t *p, const uint64_t *v, unsigned width)
{
	if (width == 64) {
		for (unsigned i = 0; i < CTP_PARQUET_MINIBLOCK; i++)
			p = put_word(p, v[i]);
		return p;
	}
	return width ? pack(p, v, width) : p;
}

/* n differences, of which those beyond are the smallest. */
static uint8_t *put_block(uint8_t *p, uint64_t delta[CTP_PARQUET_BLOCK], size_t n)
{
	int64_t least = INT64_MAX;
	for (size_t i = 0; i < n; i++)
		least = (int64_t)delta[i] < least ? (int64_t)delta[i] : least;
	p = ctp_parquet_varint(p, ctp_fold(least));
	uint8_t *widths = p;
	p += CTP_PARQUET_BLOCK / CTP_PARQUET_MINIBLOCK;
	for (size_t i = 0; i < CTP_PARQUET_BLOCK; i++)
		delta[i] = i < n ? delta[i] - (uint64_t)least : 0;
	for (size_t i = 0; i < CTP_PARQUET_BLOCK; i += CTP_PARQUET_MINIBLOCK) {
		uint64_t all = 0;
		for (size_t k = i; k < i + CTP_PARQUET_MINIBLOCK; k++)
			all |= delta[k];
		*widths++ = (uint8_t)bits_of(all);
		p = pack_miniblock(p, delta + i, bits_of(all));
	}
	return p;
}

uint8_t *ctp_parquet_delta(uint8_t *p, const uint64_t *v, size_t n, bool narrow)
{
	assert(n >= 1);
	p = ctp_parquet_varint(p, CTP_PARQUET_BLOCK);
	p = ctp_parquet_varint(p, CTP_PARQUET_BLOCK / CTP_PARQUET_MINIBLOCK);
	p = ctp_parquet_varint(p, n);
	p = ctp_parquet_varint(p, ctp_fold(narrow ? (int32_t)v[0] : (int64_t)v[0]));
	for (size_t i = 1; i < n; i += CTP_PARQUET_BLOCK) {
		uint64_t delta[CTP_PARQUET_BLOCK];
		size_t here = n - i < CTP_PARQUET_BLOCK ? n - i : CTP_PARQUET_BLOCK;
		for (size_t k = 0; k < here; k++)
			delta[k] = v[i + k] - v[i + k - 1];
		for (size_t k = 0; narrow && k < here; k++)
			delta[k] = (uint64_t)(int32_t)delta[k];
		p = put_block(p, delta, here);
	}
	return p;
}

/* --- codes ---------------------------------------------------------------------------------------------------------------- */

static uint8_t *put_packed(uint8_t *p, const uint32_t *code, size_t n, unsigned width)
{
	if (!n)
		return p;
	size_t padded = (n + 7) & ~(size_t)7;
	p = ctp_parquet_varint(p, padded / 8 << 1 | 1);
	if (width == 8) {
		for (size_t i = 0; i < n; i++)
			p[i] = (uint8_t)code[i];
		memset(p + n, 0, padded - n);
		return p + padded;
	}
	uint64_t word = 0;
	unsigned at = 0;
	for (size_t i = 0; i < padded; i++) {
		uint64_t v = i < n ? code[i] : 0;
		word |= v << at;
		at += width;
		if (at >= 64) {
			p = put_word(p, word);
			at -= 64;
			word = v >> (width - at);
		}
	}
	return ctp_parquet_le(p, word, at / 8);
}

static uint8_t *put_run(uint8_t *p, uint32_t code, size_t n, unsigned width)
{
	return ctp_parquet_le(ctp_parquet_varint(p, n << 1), code, (width + 7) / 8);
}

/* The end of the codes that are as the one at i. */
static size_t run_end(const uint32_t *code, size_t i, size_t n)
{
	uint32_t first = code[i];
	while (++i < n && code[i] == first)
		;
	return i;
}

uint8_t *ctp_parquet_codes(uint8_t *p, const uint32_t *code, size_t n, unsigned width)
{
	size_t packed = 0; /* from here up to i, a multiple of 8 */
	assert(width >= 1 && width <= 31);
	for (size_t i = 0; i < n;) {
		size_t end = i + 1 < n && code[i] != code[i + 1] ? i + 1 : run_end(code, i, n);
		if (end - i >= RUN_MIN || (end == n && packed == i)) {
			p = put_packed(p, code + packed, i - packed, width);
			p = put_run(p, code[i], end - i, width);
			packed = i = end;
		} else {
			i += 8;
		}
	}
	return put_packed(p, code + packed, n - packed, width);
}

uint8_t *ctp_parquet_bools(uint8_t *p, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		unsigned byte = 0;
		for (size_t k = i; k < i + 8 && k < n; k++)
			byte |= (unsigned)(v[k] != 0) << (k - i);
		*p++ = (uint8_t)byte;
	}
	return p;
}
