/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * digits.h - eight digits of a text at once: a word has the first byte of the text in its lowest byte.
 */
#ifndef CTP_DIGITS_H
#define CTP_DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const uint64_t CTP_DIGITS_ZEROS = 0x3030303030303030; /* "00000000": a word of digits xor this has their values */

static inline uint64_t ctp_digits_load(const char *p)
{
	uint64_t word;
	memcpy(&word, p, 8);
	return le64toh(word);
}

/* 0 where values are all those of digits; else bits are set in the first byte that is not, and perhaps in bytes after that. */
static inline uint64_t ctp_digits_others(uint64_t values) { return (values | (values + 0x0606060606060606)) & 0xf0f0f0f0f0f0f0f0; }

/* The number of eight values: pairs are joined, then fours, then all. */
static inline uint32_t ctp_digits_join(uint64_t values)
{
	values = (values * 10 + (values >> 8)) & 0x00ff00ff00ff00ff;
	values = (values * 100 + (values >> 16)) & 0x0000ffff0000ffff;
	return (uint32_t)(values * 10000 + (values >> 32));
}

/* The hexadecimal digits for bytes of 0 to 15: '0' or 'a' - 10 is added to each. */
static inline uint64_t ctp_digits_spell_hex(uint64_t values)
{
	uint64_t letter = (values + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return values + CTP_DIGITS_ZEROS + letter * ('a' - 10 - '0');
}

/* The number of eight hexadecimal digits. False: a byte is no digit, or a capital. */
static inline bool ctp_digits_join_hex(uint64_t word, uint32_t *v)
{
	uint64_t letter = word >> 6 & 0x0101010101010101, x = (word & 0x0f0f0f0f0f0f0f0f) + 9 * letter;
	/* A letter after f gives a byte above 15; any other byte was a digit if it is spelled the same again. */
	bool digits = !(x & 0xf0f0f0f0f0f0f0f0) && ctp_digits_spell_hex(x) == word;
	x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ff;
	x = (x | x >> 8) & 0x0000ffff0000ffff;
	*v = __builtin_bswap32((uint32_t)(x | x >> 16));
	return digits;
}

#endif
