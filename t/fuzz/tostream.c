/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tostream.c - whatever records come, in whatever classes, the stream that the writer makes of them is read with the same values in
 * the same order, by the order in the order of time; and what ctp-stat says of it is JSON, or lines for a terminal.
 * Covers: lib/stream lib/analyse/stat.c formats/stat
 */
#include "textmem.h"
#include "stat/stat-print.h"
#include "steps.h"
#include "stream/order.h"
#include "valid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sink that writes the stream, and remembers what it wrote. */
struct to {
	struct ctp_sink sink;
	struct ctp_writer *writer;
	uint64_t hash, sum, records, sections;
};

static uint64_t next_hash(uint64_t hash, const struct ctp_class *cls, const uint64_t *val)
{
	uint64_t of_record = steps_record_hash(cls, val);
	return steps_hash(hash, &of_record, sizeof of_record);
}

static enum ctp_status begin(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct to *t = (struct to *)sink;
	(void)err;
	t->sections++;
	ctp_writer_begin(t->writer, sec);
	return CTP_OK;
}

static enum ctp_status take(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct to *t = (struct to *)sink;
	(void)err;
	for (uint32_t i = 0; i < batch->n; i++, t->records++) {
		t->hash = next_hash(t->hash, batch->rec[i].cls, batch->rec[i].val);
		t->sum += steps_record_hash(batch->rec[i].cls, batch->rec[i].val);
	}
	ctp_writer_records(t->writer, batch);
	return CTP_OK;
}

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	(void)err, (void)how;
	return ctp_writer_end(((struct to *)sink)->writer, true) ? CTP_OK : CTP_FAILED;
}

static void release(struct ctp_sink *sink) { ctp_writer_free(((struct to *)sink)->writer); }

static void check_reader(const struct to *t, const struct textmem *stream)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	uint64_t hash = 0;
	ctp_input_mem(&in, stream->data, stream->len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	while (!ctp_reader_next(r, &item, &err))
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++)
			hash = next_hash(hash, item.batch.rec[i].cls, item.batch.rec[i].val);
	must(!ctp_reader_harmed(r) && ctp_reader_stats(r)->records == t->records && ctp_reader_stats(r)->sections == t->sections,
	           "the stream is not whole");
	must(hash == t->hash, "a value has changed, or the order");
	ctp_reader_free(r);
	ctp_input_close(&in);
}

static void check_order(const struct to *t, const struct textmem *stream)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	uint64_t sum = 0, last_ns = 0;
	ctp_input_mem(&in, stream->data, stream->len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	struct ctp_order *o = ctp_order_new(r, 1 << 20, &err);
	while (!ctp_order_next(o, &item, &err)) {
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++) {
			const struct ctp_record *rec = &item.batch.rec[i];
			sum += steps_record_hash(rec->cls, rec->val);
			must(!item.batch.late && rec->ts_ns >= last_ns, "not in order");
			last_ns = rec->ts_ns;
		}
		last_ns = item.kind == CTP_ITEM_RECORDS ? last_ns : 0;
	}
	must(sum == t->sum, "a value has changed");
	ctp_order_free(o);
	ctp_reader_free(r);
	ctp_input_close(&in);
}

static void check_stat(const struct textmem *stream, bool json)
{
	static struct textmem text;
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_output out;
	struct ctp_stat *stat = ctp_stat_new(&err);
	ctp_input_mem(&in, stream->data, stream->len);
	in.name = "x";
	must(stat && !ctp_stat_read(stat, &in, NULL, NULL, &err), err.text);
	textmem_open(&out);
	(json ? ctp_stat_print_json : ctp_stat_print_text)(&out, stat);
	must(!ctp_output_close(&out, &err), "no output");
	textmem_take(&text);
	if (json)
		must(valid_jsonl((const char *)text.data, text.len) == 1, "no JSON on a line");
	else
		valid_shown((const char *)text.data, text.len);
	ctp_stat_free(stat);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ctp_sink_ops ops = {.section = begin, .records = take, .end = end, .free = release};
	static struct textmem stream;
	struct to t = {.sink.ops = &ops};
	struct steps s;
	steps_start(&s, data, size);
	uint8_t how = steps_byte(&s);
	stream.len = 0;
	must((t.writer = ctp_writer_new(textmem_append, &stream, &s.err)), "no writer");
	steps_run(&s, &t.sink);
	must(steps_finish(&s), "the writer failed");
	steps_fini(&s);
	check_reader(&t, &stream);
	check_order(&t, &stream);
	check_stat(&stream, how & 1);
	return 0;
}
