/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * crc32c.c - CRC-32C by instruction (SSE 4.2, ARMv8 CRC) or by table.
 *
 * The processor is asked at each call: that is one load, against the thousands of bytes that a packet has.
 */
#include "base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define CRC_TARGET __attribute__((target("sse4.2")))
#define CRC_U64(crc, v) ((uint32_t)_mm_crc32_u64((crc), (v)))
#define CRC_U8(crc, v) _mm_crc32_u8((crc), (v))
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define CRC_TARGET
#define CRC_U64(crc, v) __crc32cd((crc), (v))
#define CRC_U8(crc, v) __crc32cb((crc), (v))
#elif defined(__aarch64__)
#include <sys/auxv.h>
#define CRC_TARGET
/* By assembler: arm_acle.h offers these only where the whole file is compiled for a processor that has them. */
static inline uint32_t crc_u64(uint32_t crc, uint64_t v)
{
	__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(v));
	return crc;
}
static inline uint32_t crc_u8(uint32_t crc, uint8_t v)
{
	__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)v));
	return crc;
}
#define CRC_U64(crc, v) crc_u64((crc), (v))
#define CRC_U8(crc, v) crc_u8((crc), (v))
#endif

#ifdef CRC_TARGET
CRC_TARGET static uint32_t crc32c_insn(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	crc = ~crc;
	for (; len >= 8; p += 8, len -= 8) {
		uint64_t v;
		memcpy(&v, p, 8);
		crc = CRC_U64(crc, v);
	}
	for (; len; p++, len--)
		crc = CRC_U8(crc, *p);
	return ~crc;
}

static int have_insn(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("sse4.2");
#elif defined(__ARM_FEATURE_CRC32)
	return 1;
#else
	return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}
#endif

/* Sixteen entries, a nibble at a time: small, and only for machines without the instruction. */
static const uint32_t nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t ctp_crc32c_table(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	crc = ~crc;
	for (; len; p++, len--) {
		crc ^= *p;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}

uint32_t ctp_crc32c(uint32_t crc, const void *data, size_t len)
{
#ifdef CRC_TARGET
	if (have_insn())
		return crc32c_insn(crc, data, len);
#endif
	return ctp_crc32c_table(crc, data, len);
}

/* A CRC is a polynomial whose highest bit is the coefficient of 1: the product of two, modulo the one of CRC-32C. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;
	for (; b; b <<= 1) {
		product ^= b >> 31 ? a : 0;
		a = a >> 1 ^ (a & 1 ? 0x82f63b78 : 0);
	}
	return product;
}

uint32_t ctp_crc32c_shift(uint32_t crc, uint64_t bytes)
{
	uint32_t power = UINT32_C(1) << 23; /* x^8, for a byte; then for two, four ... */
	for (; bytes; bytes >>= 1, power = multiply(power, power))
		if (bytes & 1)
			crc = multiply(crc, power);
	return crc;
}
