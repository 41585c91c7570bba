/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * textmem.h - a text format to a stream and back, both in memory.
 */
#ifndef CTP_T_TEXTMEM_H
#define CTP_T_TEXTMEM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/output.h"
#include "must.h"
#include "stream/sink.h"

struct textmem {
	uint8_t *data;
	size_t len, cap;
};

static inline bool textmem_append(void *arg, const void *data, size_t len)
{
	struct textmem *m = arg;
	if (len > m->cap - m->len && !(m->data = realloc(m->data, m->cap = 2 * m->cap + len)))
		abort();
	memcpy(m->data + m->len, data, len);
	m->len += len;
	return true;
}

/* source is freed. False: the text gives no stream; err says why. */
static inline bool textmem_from(struct ctp_source *source, const void *text, size_t size, struct textmem *stream,
                                struct ctp_source_stats *stats, struct ctp_err *err)
{
	struct ctp_input in;
	struct ctp_writer *w = ctp_writer_new(textmem_append, stream, err);
	must(w && source, "no memory");
	stream->len = 0;
	ctp_input_mem(&in, text, size);
	in.name = "x";
	bool done = source->ops->read(source, &in, w, NULL, err) == CTP_OK;
	*stats = source->stats;
	source->ops->free(source);
	ctp_writer_free(w);
	return done;
}

/* An output into memory, one at a time; and what was written to it, once it is closed. */
static inline int textmem_fd(void)
{
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("out", 0);
	return fd;
}

static inline void textmem_open(struct ctp_output *out)
{
	struct ctp_err err;
	int fd = textmem_fd();
	must(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET) && !ctp_output_fd(out, fd, "out", &err), "no output");
}

static inline void textmem_take(struct textmem *text)
{
	char part[4096];
	text->len = 0;
	textmem_append(text, "", 1); /* so that there is memory, also of an empty text */
	text->len = 0;
	lseek(textmem_fd(), 0, SEEK_SET);
	for (ssize_t n; (n = read(textmem_fd(), part, sizeof part)) > 0;)
		textmem_append(text, part, (size_t)n);
}

/* to makes the sink that writes to an output. */
static inline void textmem_to(struct ctp_sink *(*to)(struct ctp_output *out, struct ctp_err *err), const struct textmem *stream,
                              struct textmem *text)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_output out;
	struct ctp_convert_stats stats = {0};
	textmem_open(&out);
	ctp_input_mem(&in, stream->data, stream->len);
	struct ctp_sink *sink = to(&out, &err);
	must(sink && !ctp_convert(&in, sink, NULL, NULL, &stats, &err) && !sink->ops->finish(sink, &err), err.text);
	sink->ops->free(sink);
	must(!stats.reader.damaged_packets && !stats.reader.missing_packets, "the stream is damaged");
	textmem_take(text);
}

#endif
