/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sorter.c - rows that are nearly in time order: the marks between them, and which rows are late. */
#include "stream/sorter.h"

#include "packets.h"
#include "stream/order.h"
#include "tap.h"

/* What goes out: to the writer, and noted. */
struct out {
	uint64_t rows, marks, mark_ns, before_mark;
};

static void note_records(void *arg, struct ctp_writer *w, const struct ctp_batch *batch)
{
	struct out *out = arg;
	for (uint32_t i = 0; i < batch->n; i++)
		out->before_mark += batch->rec[i].ts_ns < out->mark_ns;
	out->rows += batch->n;
	ctp_writer_records(w, batch);
}

static void note_mark(void *arg, struct ctp_writer *w, uint64_t ts_ns)
{
	struct out *out = arg;
	out->marks++;
	out->mark_ns = ts_ns;
	ctp_writer_mark(w, ts_ns);
}

static void put(struct ctp_sorter *sorter, struct ctp_writer *w, const struct ctp_class *cls, uint64_t ts)
{
	uint64_t v[CTP_TRANSITION_FIELDS] = {[CTP_TRANSITION_TS] = ts};
	if (!ctp_sorter_put(sorter, w, cls, v))
		exit(1);
}

/* Rows that a reader finds late in the stream. */
static uint64_t late_in(const struct mem *m)
{
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err err;
	ctp_input_mem(&in, m->data, m->len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	struct ctp_order *o = ctp_order_new(r, 0, &err);
	while (!ctp_order_next(o, &item, &err))
		;
	uint64_t late = ctp_reader_stats(r)->late;
	ctp_order_free(o);
	ctp_reader_free(r);
	return late;
}

int main(void)
{
	static const struct ctp_sorter_ops ops = {.records = note_records, .mark = note_mark};
	struct ctp_err err;
	struct mem m = {0};
	struct out out = {0};
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	struct ctp_writer *w = begin(&m, "a");
	struct ctp_sorter *sorter = ctp_sorter_new(&err);
	uint64_t ts = 1000;
	ctp_sorter_divert(sorter, &ops, &out);
	while (!out.rows) /* two at a time, in the wrong order */
		put(sorter, w, cls, ts ^ 1), ts++;
	ok(out.rows && out.rows < ts - 1000, "a sorter that is full writes its older half");
	ok(out.mark_ns >= 1000 && out.mark_ns < ts && !out.before_mark, "with a mark after it");
	uint64_t mark_ns = out.mark_ns, count = ts - 1000;
	put(sorter, w, cls, mark_ns);
	for (unsigned i = 1; i <= 3; i++)
		put(sorter, w, cls, mark_ns - i);
	ctp_sorter_flush(sorter, w);
	is_u64(out.rows, count + 4, "all rows are written in the end");
	is_u64(ctp_sorter_late(sorter), 3, "rows that are older than the mark are late, and one of the same time is not");
	ctp_writer_end(w, true);
	is_u64(late_in(&m), 3, "a reader finds the same rows late");
	ctp_sorter_free(sorter);
	ctp_writer_free(w);
	ctp_class_free(cls);
	free(m.data);
	return done_testing();
}
