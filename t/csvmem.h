/*
 * csvmem.h - CSV to a stream and back, both in memory.
 */
#ifndef CTP_T_CSVMEM_H
#define CTP_T_CSVMEM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../formats/csv.h"

struct csvmem {
	uint8_t *data;
	size_t len, cap;
};

static inline bool csvmem_append(void *arg, const void *data, size_t len)
{
	struct csvmem *m = arg;
	if (len > m->cap - m->len && !(m->data = realloc(m->data, m->cap = 2 * m->cap + len)))
		abort();
	memcpy(m->data + m->len, data, len);
	m->len += len;
	return true;
}

static inline void csvmem_must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

/* False: it is no CSV that makes a stream, which err says. */
static inline bool csvmem_from(const void *csv, size_t size, struct csvmem *stream, struct ctp_source_stats *stats,
                               struct ctp_err *err)
{
	struct ctp_input in;
	struct ctp_writer *w = ctp_writer_new(csvmem_append, stream, err);
	struct ctp_source *source = ctp_csv_source("test", NULL, err);
	csvmem_must(w && source, "no memory");
	stream->len = 0;
	ctp_input_mem(&in, csv, size);
	in.name = "x";
	bool done = source->ops->read(source, &in, w, NULL, err) == CTP_OK;
	*stats = source->stats;
	source->ops->free(source);
	ctp_writer_free(w);
	return done;
}

/* The full form. */
static inline void csvmem_to(const struct csvmem *stream, struct csvmem *csv)
{
	static const struct ctp_csv_options all = {.all = true};
	static int fd = -1;
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_output out;
	struct ctp_convert_stats stats = {0};
	if (fd < 0)
		fd = memfd_create("out", 0);
	csvmem_must(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET) && !ctp_output_fd(&out, fd, "out", &err), "no output");
	ctp_input_mem(&in, stream->data, stream->len);
	struct ctp_sink *sink = ctp_csv_sink(&out, &all, &err);
	csvmem_must(sink && !ctp_convert(&in, sink, NULL, NULL, &stats, &err) && !sink->ops->finish(sink, &err), err.text);
	sink->ops->free(sink);
	csvmem_must(!stats.reader.damaged_packets && !stats.reader.missing_packets, "the stream is damaged");
	csv->len = 0;
	char part[4096];
	lseek(fd, 0, SEEK_SET);
	for (ssize_t n; (n = read(fd, part, sizeof part)) > 0;)
		csvmem_append(csv, part, (size_t)n);
}

#endif
