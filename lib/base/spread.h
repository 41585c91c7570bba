/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * spread.h - the place of a number in a hash table. Numbers come from outside, and may be chosen to collide: each table has
 * a salt of its own.
 */
#ifndef CTP_SPREAD_H
#define CTP_SPREAD_H

#include <stdint.h>

uint64_t ctp_spread_salt(void); /* odd; for a table, which keeps it */

/*
 * A place in a table of n, a power of two: the upper bits of a product, to which all bits of the number give. One product is not
 * enough: numbers in a row, as most are, would crowd wherever the salt is close to a simple part of 2^64.
 */
static inline uint32_t ctp_spread(uint64_t number, uint64_t salt, uint32_t n)
{
	uint64_t mixed = (number ^ number >> 32) * salt;
	return (uint32_t)(((mixed ^ mixed >> 32) * salt >> 32) * n >> 32);
}

#endif
