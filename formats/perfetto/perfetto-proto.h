/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto-proto.h - the wire format of protobuf: a field is its number and its type, then a varint, eight bytes, or a length and
 * bytes. A message inside a message is such bytes.
 *
 * A message is built in memory of fixed size. It must have room for what is put: texts are cut before.
 */
#ifndef CTP_PERFETTO_PROTO_H
#define CTP_PERFETTO_PROTO_H

#include <assert.h>
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ctp_proto {
	uint8_t *start, *p, *end;
};

enum { CTP_PROTO_VARINT_MAX = 10, CTP_PROTO_TAG_MAX = 2, CTP_PROTO_HEAD_MAX = CTP_PROTO_TAG_MAX + CTP_PROTO_VARINT_MAX };

static inline void ctp_proto_init(struct ctp_proto *m, uint8_t *room, size_t bytes)
{
	*m = (struct ctp_proto){room, room, room + bytes};
}

static inline size_t ctp_proto_bytes(const struct ctp_proto *m) { return (size_t)(m->p - m->start); }

static inline void ctp_proto_raw(struct ctp_proto *m, uint64_t v)
{
	assert(m->end - m->p >= CTP_PROTO_VARINT_MAX);
	for (; v >= 0x80; v >>= 7)
		*m->p++ = (uint8_t)(v | 0x80);
	*m->p++ = (uint8_t)v;
}

static inline void ctp_proto_number(struct ctp_proto *m, uint32_t field, uint64_t v)
{
	ctp_proto_raw(m, field << 3);
	ctp_proto_raw(m, v);
}

static inline void ctp_proto_fixed64(struct ctp_proto *m, uint32_t field, uint64_t v)
{
	ctp_proto_raw(m, field << 3 | 1);
	assert(m->end - m->p >= 8);
	v = htole64(v);
	memcpy(m->p, &v, 8);
	m->p += 8;
}

static inline void ctp_proto_put(struct ctp_proto *m, uint32_t field, const void *data, size_t len)
{
	ctp_proto_raw(m, field << 3 | 2);
	ctp_proto_raw(m, len);
	assert((size_t)(m->end - m->p) >= len);
	memcpy(m->p, data, len);
	m->p += len;
}

static inline void ctp_proto_text(struct ctp_proto *m, uint32_t field, const char *text)
{
	ctp_proto_put(m, field, text, strlen(text));
}

static inline void ctp_proto_message(struct ctp_proto *m, uint32_t field, const struct ctp_proto *in)
{
	ctp_proto_put(m, field, in->start, ctp_proto_bytes(in));
}

#endif
