/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-bits.h - the encodings of Parquet's pages that are made of bits. Each returns the address after the last byte. */
#ifndef CTP_PARQUET_BITS_H
#define CTP_PARQUET_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTP_PARQUET_BLOCK = 128, CTP_PARQUET_MINIBLOCK = 32 };

/* Bytes that are enough for n values of each. */
static inline size_t ctp_parquet_delta_bound(size_t n) { return 64 + (n / CTP_PARQUET_BLOCK + 1) * (CTP_PARQUET_BLOCK * 8 + 16); }
static inline size_t ctp_parquet_codes_bound(size_t n) { return 64 + n * 4 + n / 2; }

/* DELTA_BINARY_PACKED of n >= 1 numbers; narrow: of 32 bits, sign-extended or not. */
uint8_t *ctp_parquet_delta(uint8_t *p, const uint64_t *v, size_t n, bool narrow);

/* The hybrid of runs and packed bits, for codes below 2^width, width 1 to 31. */
uint8_t *ctp_parquet_codes(uint8_t *p, const uint32_t *code, size_t n, unsigned width);

/* PLAIN of truth values, a bit each. */
uint8_t *ctp_parquet_bools(uint8_t *p, const uint64_t *v, size_t n);

#endif
