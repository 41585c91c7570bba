/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* packets.h - a stream in memory, packet by packet, as a writer makes it. */
#ifndef T_PACKETS_H
#define T_PACKETS_H

#include <stdlib.h>
#include <string.h>

#include "stream/events.h"
#include "stream/writer.h"

static uint64_t seed = 0x2545f4914f6cdd1d;

static inline uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

struct mem {
	uint8_t *data;
	size_t len, cap;
	size_t packets[256], npackets; /* where each starts */
};

static inline bool mem_put(void *arg, const void *packet, size_t len)
{
	struct mem *m = arg;
	if (m->len + len > m->cap)
		m->data = realloc(m->data, m->cap = 2 * (m->len + len));
	if (m->npackets < 256)
		m->packets[m->npackets++] = m->len;
	memcpy(m->data + m->len, packet, len);
	m->len += len;
	return true;
}

static inline struct ctp_writer *begin(struct mem *m, const char *host)
{
	struct ctp_err err;
	struct ctp_section sec;
	struct ctp_writer *w = ctp_writer_new(mem_put, m, &err);
	ctp_section_init(&sec);
	ctp_section_add(&sec, "host", host);
	ctp_section_add(&sec, "argv[]", "./app");
	ctp_section_add(&sec, "argv[]", "");
	ctp_section_add(&sec, "wall_offset_ns", "-12345");
	ctp_writer_begin(w, &sec);
	ctp_section_fini(&sec);
	return w;
}

static inline void put_event(struct ctp_writer *w, const struct ctp_class *cls, uint64_t ts, uint64_t index)
{
	uint64_t v[CTP_TRANSITION_FIELDS] = { [CTP_TRANSITION_TS] = ts, [CTP_TRANSITION_INDEX] = index };
	ctp_writer_record(w, cls, v);
}

#endif
