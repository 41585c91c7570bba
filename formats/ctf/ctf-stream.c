/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-stream.c - reads a stream file as ctp-toctf writes it: packets, heads of events, payloads.
 *
 * Each packet is checked: its head must be as ctp-toctf writes it, and its events must end within the packet.
 */
#include "ctf/ctf-own.h"

#include <inttypes.h>

#include "base/varint.h"

static const uint64_t COMPACT_TIME = (UINT64_C(1) << CTP_CTF_COMPACT_TIME_BITS) - 1;

static enum ctp_status damaged(const struct ctp_ctf_stream *st, const char *what, struct ctp_err *err)
{
	return ctp_err_set(err, "%s: packet at 0x%" PRIx64 ": %s", st->in.name, st->in.offset, what);
}

static enum ctp_status next_packet(struct ctp_ctf_stream *st, struct ctp_err *err)
{
	struct ctp_input *in = &st->in;
	ctp_input_skip(in, st->packet_bytes);
	st->packet_bytes = 0;
	size_t n = ctp_input_fill(in, CTP_CTF_HEAD_BYTES);
	if (in->failed || in->harmed) {
		*err = in->err;
		return CTP_FAILED;
	}
	if (!n)
		return CTP_EOF;
	if (n < CTP_CTF_HEAD_BYTES)
		return damaged(st, "cut short", err);
	uint64_t bits = ctp_load_u64(in->ptr + CTP_CTF_HEAD_PACKET);
	if (ctp_load_u32(in->ptr) != CTP_CTF_MAGIC || memcmp(in->ptr + CTP_CTF_HEAD_UUID, st->uuid, 16) ||
	    ctp_load_u32(in->ptr + CTP_CTF_HEAD_CLASS) || bits != ctp_load_u64(in->ptr + CTP_CTF_HEAD_CONTENT) || bits % 8 ||
	    bits < 8 * CTP_CTF_HEAD_BYTES || bits / 8 > CTP_INPUT_MAX)
		return damaged(st, "is not one of this trace", err);
	if (ctp_input_fill(in, bits / 8) < bits / 8)
		return damaged(st, "cut short", err);
	st->packet_bytes = bits / 8;
	st->p = in->ptr + CTP_CTF_HEAD_BYTES;
	st->end = in->ptr + st->packet_bytes;
	st->now_ns = ctp_load_u64(in->ptr + CTP_CTF_HEAD_BEGIN);
	return CTP_OK;
}

enum ctp_status ctp_ctf_stream_next(struct ctp_ctf_stream *st, struct ctp_err *err)
{
	while (st->p == st->end) {
		enum ctp_status status = next_packet(st, err);
		if (status)
			return status;
	}
	size_t left = (size_t)(st->end - st->p);
	uint64_t now_ns;
	if (left >= sizeof(uint32_t) && (*st->p & CTP_CTF_COMPACT_IDS) != CTP_CTF_COMPACT_IDS) {
		uint32_t head = ctp_load_u32(st->p);
		st->id = head & CTP_CTF_COMPACT_IDS;
		now_ns = st->now_ns + (((head >> CTP_CTF_COMPACT_ID_BITS) - st->now_ns) & COMPACT_TIME);
		st->p += sizeof head;
	} else if (left >= CTP_CTF_EXTENDED_BYTES) {
		st->id = ctp_load_u32(st->p + 1);
		now_ns = ctp_load_u64(st->p + 1 + sizeof(uint32_t));
		st->p += CTP_CTF_EXTENDED_BYTES;
	} else {
		return damaged(st, "ends within an event", err);
	}
	if (now_ns < st->now_ns)
		return damaged(st, "goes back in time", err);
	st->now_ns = now_ns;
	return CTP_OK;
}

/* A signed number is not sign-extended here; the writer does that by the field's type. */
static inline uint64_t get_number(const uint8_t *p, unsigned bytes)
{
	switch (bytes) {
	case 1:
		return *p;
	case 2:
		return (uint64_t)(p[0] | p[1] << 8);
	case 4:
		return ctp_load_u32(p);
	default:
		return ctp_load_u64(p);
	}
}

/* The text at p: len bytes at *data. Returns the end of the text; null: it does not end before `end`. */
static const uint8_t *get_text(const uint8_t *p, const uint8_t *end, unsigned form, const uint8_t **data, size_t *len)
{
	if (form != CTP_CTF_FORM_SEQUENCE) {
		const uint8_t *nul = memchr(p, 0, (size_t)(end - p));
		*data = p;
		*len = nul ? (size_t)(nul - p) : 0;
		return nul ? nul + 1 : NULL;
	}
	if (end - p < (ptrdiff_t)sizeof(uint32_t) || ctp_load_u32(p) > (size_t)(end - p) - sizeof(uint32_t))
		return NULL;
	*len = ctp_load_u32(p);
	*data = p + sizeof(uint32_t);
	return *data + *len;
}

enum ctp_status ctp_ctf_stream_take(struct ctp_ctf_stream *st, const struct ctp_ctf_layout *layout, const struct ctp_class *cls,
                                    struct ctp_ctf_values *v, struct ctp_err *err)
{
	const uint8_t *p = st->p, *end = st->end;
	for (const struct ctp_ctf_op *op = layout->ops, *last = op + layout->nops; op < last; op++) {
		uint64_t *val = &v->val[op->index];
		if (op->form == CTP_CTF_FORM_NUMBER) {
			if (end - p < op->bytes)
				return damaged(st, "ends within an event", err);
			*val = get_number(p, op->bytes);
			p += op->bytes;
			if (ctp_ctf_has_top(op)) {
				v->val[op->top] = *val >> 31;
				*val &= INT32_MAX;
			}
			continue;
		}
		const uint8_t *data;
		size_t len;
		p = get_text(p, end, op->form, &data, &len);
		if (!p)
			return damaged(st, "ends within an event", err);
		if (op->form != CTP_CTF_FORM_SPELLING && !ctp_ctf_values_text(v, val, data, len))
			return ctp_err_memory(err);
	}
	st->p = p;
	ctp_ctf_values_done(v, cls);
	return CTP_OK;
}
