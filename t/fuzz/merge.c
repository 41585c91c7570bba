/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge.c - whatever records come, in whatever classes and with whatever clocks, what ctp-merge makes of up to three streams is a
 * whole stream, in time order, without a record missing; and so is what it makes of that one. Its origins can be parted again, and
 * one of them can be cut out.
 * Covers: formats/merge formats/common/split.c
 */
#include <sys/mman.h>
#include <unistd.h>

#include "common/split.h"
#include "filter/filter.h"
#include "merge/merge.h"
#include "steps.h"
#include "stream/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUTS = 3 };

/* A sink that writes a stream to a file in memory. */
struct recorder {
	struct ctp_sink sink; /* first */
	struct ctp_output out;
	struct ctp_writer *writer;
	uint8_t clocks;
	uint64_t records, sections, attributes, last_ns;
};

static uint64_t ids;

static enum ctp_status section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct recorder *r = (struct recorder *)sink;
	struct ctp_section own;
	(void)err;
	ctp_section_init(&own);
	own.id = ++ids;
	if (r->clocks & 1) {
		ctp_section_add(&own, "clock", "monotonic");
		ctp_section_add(&own, "boot_id", r->clocks & 2 ? "a" : "b");
	}
	ctp_section_add(&own, "wall_offset_ns", r->clocks & 4 ? "-1000" : "1700000000000000000");
	for (uint32_t i = 0; i < sec->nattrs; i++)
		ctp_section_add(&own, sec->attrs[i].name, sec->attrs[i].value);
	ctp_writer_begin(r->writer, &own);
	ctp_writer_mark(r->writer, 0);
	r->sections++;
	r->attributes += own.nattrs;
	ctp_section_fini(&own);
	return CTP_OK;
}

static enum ctp_status records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct recorder *r = (struct recorder *)sink;
	(void)err;
	if (batch->late)
		ctp_writer_mark(r->writer, r->last_ns);
	ctp_writer_records(r->writer, batch);
	r->last_ns = batch->late ? r->last_ns : batch->rec[batch->n - 1].ts_ns;
	r->records += batch->n;
	return CTP_OK;
}

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	(void)err;
	ctp_writer_end(((struct recorder *)sink)->writer, how->complete);
	((struct recorder *)sink)->last_ns = 0;
	return CTP_OK;
}

static void release(struct ctp_sink *sink) { ctp_writer_free(((struct recorder *)sink)->writer); }

/* A file in memory, and its path. */
static int memory(struct ctp_output *out, char path[32])
{
	struct ctp_err err;
	int fd = memfd_create("ctp", 0);
	must(fd >= 0 && !ctp_output_fd(out, fd, "memory", &err), "no memory");
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

/* Some of the bytes become a stream. */
static int record(struct recorder *r, const uint8_t *data, size_t size, char path[32])
{
	static const struct ctp_sink_ops ops = {.section = section, .records = records, .end = end, .free = release};
	struct steps s;
	*r = (struct recorder){.sink.ops = &ops};
	int fd = memory(&r->out, path);
	steps_start(&s, data, size);
	r->clocks = steps_byte(&s);
	r->writer = ctp_writer_to(&r->out, &s.err);
	must(r->writer, "no writer");
	steps_run(&s, &r->sink);
	must(steps_finish(&s), "the recorder fails");
	must(!ctp_output_close(&r->out, &s.err), "the output fails");
	steps_fini(&s);
	return fd;
}

/* The records of a stream, which must be whole and in order. */
static uint64_t read_back(const char *path)
{
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err err;
	enum ctp_status status;
	uint64_t n = 0, last_ns = 0;
	must(!ctp_input_open(&in, path, &err), "no input");
	struct ctp_reader *reader = ctp_reader_new(&in, NULL, &err);
	struct ctp_order *order = reader ? ctp_order_new(reader, 0, &err) : NULL;
	must(order, "no reader");
	while (!(status = ctp_order_next(order, &item, &err))) {
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++) {
			must(item.batch.late || item.batch.rec[i].ts_ns >= last_ns, "not in order");
			last_ns = item.batch.late ? last_ns : item.batch.rec[i].ts_ns;
		}
		n += item.kind == CTP_ITEM_RECORDS ? item.batch.n : 0;
	}
	const struct ctp_reader_stats *stats = ctp_reader_stats(reader);
	must(status == CTP_EOF && stats->sections == 1, "no section");
	must(!stats->damaged_packets && !stats->missing_packets && !stats->skipped_bytes, "what was written is damaged");
	ctp_order_free(order);
	ctp_reader_free(reader);
	ctp_input_close(&in);
	return n;
}

static int merge(char *const *paths, char path[32], struct ctp_merge_stats *stats, struct ctp_err *err)
{
	struct ctp_output out;
	int fd = memory(&out, path);
	if (!ctp_merge(paths, &out, NULL, NULL, stats, err)) {
		must(!ctp_output_close(&out, err), "the output fails");
		return fd;
	}
	must(err->text[0], "it fails without a reason");
	ctp_output_abandon(&out);
	close(fd);
	return -1;
}

static enum ctp_status count(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	(void)err;
	((struct recorder *)sink)->records += batch->n;
	return CTP_OK;
}

static void nothing(struct ctp_sink *sink) { (void)sink; }

static void part_again(const char *path)
{
	static const struct ctp_sink_ops ops = {.records = count, .free = nothing};
	static struct recorder counter;
	struct ctp_convert_stats stats = {0};
	struct ctp_input in;
	struct ctp_err err;
	counter = (struct recorder){.sink.ops = &ops};
	struct ctp_sink *sink = ctp_split_sink(&counter.sink, NULL, &err);
	must(sink && !ctp_input_open(&in, path, &err), "no sink");
	must(!ctp_convert(&in, sink, NULL, NULL, &stats, &err), "it cannot be parted");
	must(counter.records <= stats.reader.records, "there are more records");
	ctp_input_close(&in);
	sink->ops->free(sink);
}

/* What is from the first origin, or from a time of all of them. */
static void cut_out(const char *path, bool origin)
{
	struct ctp_filter_options options = {.said = "x", .no_symbols = true, .origin = origin, .since_ns = origin ? 0 : 1000};
	struct ctp_filter_stats stats = {0};
	struct ctp_convert_stats read = {0};
	struct ctp_output out;
	struct ctp_input in;
	struct ctp_err err;
	char part[32];
	int fd = memory(&out, part);
	struct ctp_sink *sink = ctp_filter_sink(&out, &options, &stats, &err);
	must(sink && !ctp_input_open(&in, path, &err), "no sink");
	bool done = !ctp_convert(&in, sink, NULL, NULL, &read, &err) && !sink->ops->finish(sink, &err);
	must(done || !origin, err.text);
	sink->ops->free(sink);
	ctp_input_close(&in);
	if (done) {
		must(read_back(part) <= read.reader.records + 8 * stats.kept + 100, "there is more than there was");
		part_again(part);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct recorder in[INPUTS];
	char paths[INPUTS][32], merged[32], again[32], *list[INPUTS + 1] = {NULL};
	int fds[INPUTS];
	struct ctp_merge_stats stats;
	struct ctp_err err = {.text = ""};
	uint64_t want = 0;
	ids = 0;
	unsigned n = size ? 1 + data[0] % INPUTS : 1;
	for (unsigned i = 0; i < n; i++) {
		size_t from = size * i / n, upto = size * (i + 1) / n;
		fds[i] = record(&in[i], data + from, upto - from, list[i] = paths[i]);
		want += in[i].records;
	}
	int fd = merge(list, merged, &stats, &err);
	if (fd >= 0) {
		uint64_t got = read_back(merged);
		must(stats.records == want && got >= want + 2 * stats.sections, "records are missing");
		part_again(merged);
		cut_out(merged, size & 1);
		int second = merge((char *const[]){merged, NULL}, again, &stats, &err);
		must(second >= 0 || strstr(err.text, "classes") || strstr(err.text, "numbers") || strstr(err.text, "is also in"),
		     err.text);
		if (second >= 0)
			must(read_back(again) >= got, "records are missing in the second merge");
		close(second);
	}
	close(fd);
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
	return 0;
}
