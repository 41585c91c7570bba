/* parquet-buf.h - bytes that grow, and the structures of Thrift's compact protocol in them, of which Parquet's headers are made. */
#ifndef CTP_PARQUET_BUF_H
#define CTP_PARQUET_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Zeros are an empty one. After failed, which is sticky, puts do nothing. */
struct ctp_parquet_buf {
	uint8_t *data;
	size_t len, room;
	bool failed; /* out of memory */
};

/* Room for n more bytes, where the next put goes. Null: failed. */
static inline uint8_t *ctp_parquet_buf_reserve(struct ctp_parquet_buf *b, size_t n)
{
	if (b->room - b->len < n && !b->failed) {
		size_t room = b->room + b->room / 2 + n + 64;
		uint8_t *data = realloc(b->data, room);
		b->failed = !data;
		if (data) {
			b->data = data;
			b->room = room;
		}
	}
	return b->failed ? NULL : b->data + b->len;
}

static inline void ctp_parquet_buf_put(struct ctp_parquet_buf *b, const void *data, size_t n)
{
	uint8_t *to = n ? ctp_parquet_buf_reserve(b, n) : NULL;
	if (to) {
		memcpy(to, data, n);
		b->len += n;
	}
}

static inline void ctp_parquet_buf_byte(struct ctp_parquet_buf *b, uint8_t byte) { ctp_parquet_buf_put(b, &byte, 1); }

static inline void ctp_parquet_buf_fini(struct ctp_parquet_buf *b)
{
	free(b->data);
	*b = (struct ctp_parquet_buf){0};
}

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

static inline uint64_t ctp_parquet_zigzag(int64_t v) { return (uint64_t)v << 1 ^ (uint64_t)(v >> 63); }

/* --- Thrift -------------------------------------------------------------------------------------------------------------- */

enum ctp_thrift_type { CTP_THRIFT_TRUE = 1, CTP_THRIFT_FALSE, CTP_THRIFT_I8, CTP_THRIFT_I16, CTP_THRIFT_I32, CTP_THRIFT_I64,
                       CTP_THRIFT_DOUBLE, CTP_THRIFT_BINARY, CTP_THRIFT_LIST, CTP_THRIFT_SET, CTP_THRIFT_MAP, CTP_THRIFT_STRUCT };

static inline void ctp_thrift_varint(struct ctp_parquet_buf *b, uint64_t v)
{
	uint8_t *to = ctp_parquet_buf_reserve(b, 10);
	if (to)
		b->len = (size_t)(ctp_parquet_varint(to, v) - b->data);
}

/* *last is the number of the field before in the same struct, 0 at its beginning. */
static inline void ctp_thrift_field(struct ctp_parquet_buf *b, int *last, int id, enum ctp_thrift_type type)
{
	ctp_parquet_buf_byte(b, (uint8_t)((id - *last) << 4 | type)); /* no two are 16 apart */
	*last = id;
}

static inline void ctp_thrift_stop(struct ctp_parquet_buf *b) { ctp_parquet_buf_byte(b, 0); }

static inline void ctp_thrift_int(struct ctp_parquet_buf *b, int *last, int id, enum ctp_thrift_type type, int64_t v)
{
	ctp_thrift_field(b, last, id, type);
	ctp_thrift_varint(b, ctp_parquet_zigzag(v));
}

static inline void ctp_thrift_bytes(struct ctp_parquet_buf *b, const void *data, size_t len)
{
	ctp_thrift_varint(b, len);
	ctp_parquet_buf_put(b, data, len);
}

static inline void ctp_thrift_binary(struct ctp_parquet_buf *b, int *last, int id, const void *data, size_t len)
{
	ctp_thrift_field(b, last, id, CTP_THRIFT_BINARY);
	ctp_thrift_bytes(b, data, len);
}

static inline void ctp_thrift_list(struct ctp_parquet_buf *b, int *last, int id, enum ctp_thrift_type of, size_t n)
{
	ctp_thrift_field(b, last, id, CTP_THRIFT_LIST);
	ctp_parquet_buf_byte(b, (uint8_t)((n < 15 ? n : 15) << 4 | of));
	if (n >= 15)
		ctp_thrift_varint(b, n);
}

#endif
