/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-thrift.h - numbers as Parquet has them, and the structures of Thrift's compact protocol, of which its headers are made. */
#ifndef CTP_PARQUET_THRIFT_H
#define CTP_PARQUET_THRIFT_H

#include "base/varint.h"
#include "common/bytes.h"

/* Little-endian, whatever the processor. */
static inline uint8_t *ctp_parquet_le(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (; bytes; bytes--, v >>= 8)
		*p++ = (uint8_t)v;
	return p;
}

static inline uint8_t *ctp_parquet_varint(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* --- Thrift -------------------------------------------------------------------------------------------------------------- */

enum ctp_thrift_type { CTP_THRIFT_TRUE = 1, CTP_THRIFT_FALSE, CTP_THRIFT_I8, CTP_THRIFT_I16, CTP_THRIFT_I32, CTP_THRIFT_I64,
                       CTP_THRIFT_DOUBLE, CTP_THRIFT_BINARY, CTP_THRIFT_LIST, CTP_THRIFT_SET, CTP_THRIFT_MAP, CTP_THRIFT_STRUCT };

static inline void ctp_thrift_varint(struct ctp_bytes *b, uint64_t v)
{
	uint8_t *to = ctp_bytes_reserve(b, 10);
	if (to)
		ctp_bytes_commit(b, ctp_parquet_varint(to, v));
}

/* *last is the number of the field before in the same struct, 0 at its beginning. */
static inline void ctp_thrift_field(struct ctp_bytes *b, int *last, int id, enum ctp_thrift_type type)
{
	ctp_bytes_byte(b, (uint8_t)((id - *last) << 4 | type)); /* no two are 16 apart */
	*last = id;
}

static inline void ctp_thrift_stop(struct ctp_bytes *b) { ctp_bytes_byte(b, 0); }

static inline void ctp_thrift_int(struct ctp_bytes *b, int *last, int id, enum ctp_thrift_type type, int64_t v)
{
	ctp_thrift_field(b, last, id, type);
	ctp_thrift_varint(b, ctp_fold(v));
}

static inline void ctp_thrift_bytes(struct ctp_bytes *b, const void *data, size_t len)
{
	ctp_thrift_varint(b, len);
	ctp_bytes_put(b, data, len);
}

static inline void ctp_thrift_binary(struct ctp_bytes *b, int *last, int id, const void *data, size_t len)
{
	ctp_thrift_field(b, last, id, CTP_THRIFT_BINARY);
	ctp_thrift_bytes(b, data, len);
}

static inline void ctp_thrift_list(struct ctp_bytes *b, int *last, int id, enum ctp_thrift_type of, size_t n)
{
	ctp_thrift_field(b, last, id, CTP_THRIFT_LIST);
	ctp_bytes_byte(b, (uint8_t)((n < 15 ? n : 15) << 4 | of));
	if (n >= 15)
		ctp_thrift_varint(b, n);
}

#endif
