/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cursor.h - reading bytes from outside, checked: after a read past the end everything reads as zero and `bad` is set.
 */
#ifndef CTP_CURSOR_H
#define CTP_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/varint.h"

struct ctp_cursor {
	const uint8_t *p, *end;
	bool bad;
};

static inline const uint8_t *ctp_cursor_bytes(struct ctp_cursor *c, uint64_t n)
{
	if (c->bad || n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		return NULL;
	}
	const uint8_t *p = c->p;
	c->p += n;
	return p;
}

static inline uint8_t ctp_cursor_u8(struct ctp_cursor *c)
{
	const uint8_t *p = ctp_cursor_bytes(c, 1);
	return p ? *p : 0;
}

static inline uint64_t ctp_cursor_varint(struct ctp_cursor *c)
{
	uint8_t room[CTP_VARINT_MAX] = {1}; /* reads as zero */
	size_t left = (size_t)(c->end - c->p), n = left < sizeof room ? left : sizeof room;
	uint64_t v;
	if (!c->bad && n)
		memcpy(room, c->p, n);
	size_t used = (size_t)(ctp_varint_get(room, &v) - room);
	return ctp_cursor_bytes(c, used) ? v : 0;
}

#endif
