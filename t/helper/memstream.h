/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * memstream.h - a harvest of a memory of the test, whose stream is kept in memory and read again.
 */
#ifndef CTP_T_MEMSTREAM_H
#define CTP_T_MEMSTREAM_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/harvest.h"
#include "stream/events.h"
#include "stream/reader.h"

struct memstream {
	unsigned char *shm;
	size_t bytes;
	unsigned threads; /* that were announced as new */
	struct ctp_writer *writer;
	struct ctp_harvest *harvest;
	char *data;
	size_t len, cap;
	uint64_t mark_ns; /* after the close: the last */
};

static inline bool memstream_put(void *arg, const void *packet, size_t len)
{
	struct memstream *m = arg;
	if (m->len + len > m->cap && !(m->data = realloc(m->data, m->cap = 2 * (m->len + len))))
		abort();
	memcpy(m->data + m->len, packet, len);
	m->len += len;
	return true;
}

static inline void memstream_thread(void *arg, uint64_t tid)
{
	(void)tid;
	((struct memstream *)arg)->threads++;
}

/* The harvest of conf->shm, which is of conf->bytes and ours to unmap. The rest of conf is filled in. */
static inline void memstream_start(struct memstream *m, struct ctp_harvest_conf *conf)
{
	struct ctp_err err;
	struct ctp_section sec;
	*m = (struct memstream){.shm = conf->shm, .bytes = conf->bytes};
	m->writer = ctp_writer_new(memstream_put, m, &err);
	ctp_section_init(&sec);
	ctp_writer_begin(m->writer, &sec);
	ctp_section_fini(&sec);
	conf->writer = m->writer;
	conf->new_thread = memstream_thread;
	conf->arg = m;
	m->harvest = conf->shm == MAP_FAILED ? NULL : ctp_harvest_new(conf, &err);
	if (!m->writer || !m->harvest)
		abort();
}

/* Memory of version 1: a header and stations. */
static inline void memstream_open(struct memstream *m, uint32_t max_stations)
{
	struct ctp_harvest_conf conf = {.max_stations = max_stations, .bytes = 1024 * (1 + (size_t)max_stations)};
	conf.shm = mmap(NULL, conf.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memstream_start(m, &conf);
}

static inline unsigned char *memstream_station(struct memstream *m, uint32_t i) { return m->shm + 1024 + 1024 * (size_t)i; }

static inline void memstream_allocate(struct memstream *m, uint32_t count)
{
	__atomic_store_n((uint32_t *)(void *)(m->shm + 0x10), count, __ATOMIC_RELEASE);
}

/* Ends the stream and gives each record to see(). Returns false if the stream is not whole. */
static inline bool memstream_close(struct memstream *m, void (*see)(void *arg, const char *cls, const uint64_t *val), void *arg)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	ctp_harvest_free(m->harvest);
	ctp_writer_end(m->writer, true);
	ctp_writer_free(m->writer);
	munmap(m->shm, m->bytes);
	ctp_input_mem(&in, m->data, m->len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	while (ctp_reader_next(r, &item, &err) == CTP_OK)
		if (item.kind == CTP_ITEM_MARK)
			m->mark_ns = item.mark_ns;
		else
			for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && see && i < item.batch.n; i++)
				see(arg, item.batch.rec[i].cls->name, item.batch.rec[i].val);
	bool whole = !ctp_reader_harmed(r);
	ctp_reader_free(r);
	ctp_input_close(&in);
	free(m->data);
	return whole;
}

#endif
