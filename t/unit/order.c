/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* order.c - a stream in time order: marks, late records, records without a time, memory that is short. */
#include <inttypes.h>
#include <stdlib.h>

#include "packets.h"
#include "stream/order.h"
#include "stream/runs.h"
#include "tap.h"

/* Reads the stream in order; writes "ts/index" (with a ! where late) of each record into text. */
static uint64_t order_text(struct mem *m, size_t limit, char *text, size_t size)
{
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err err;
	ctp_input_mem(&in, m->data, m->len);
	struct ctp_reader *r = ctp_reader_new(&in, 0, &err);
	struct ctp_order *o = ctp_order_new(r, limit, &err);
	size_t n = 0;
	text[0] = 0;
	while (!ctp_order_next(o, &item, &err)) {
		if (item.kind != CTP_ITEM_RECORDS) {
			n += (size_t)snprintf(text + n, size - n, item.kind == CTP_ITEM_SECTION ? " {" : " }");
			continue;
		}
		for (const struct ctp_record *rec = item.batch.rec; rec < item.batch.rec + item.batch.n; rec++)
			n += rec->cls->time_field < 0 ? (size_t)snprintf(text + n, size - n, " -") :
			     (size_t)snprintf(text + n, size - n, " %" PRIu64 "/%" PRIu64 "%s", rec->val[CTP_TRANSITION_TS],
			                      rec->val[CTP_TRANSITION_INDEX], item.batch.late ? "!" : "");
	}
	uint64_t late = ctp_reader_stats(r)->late;
	ctp_order_free(o);
	ctp_reader_free(r);
	free(m->data);
	*m = (struct mem){ 0 };
	return late;
}

static void test_order(void)
{
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	static const struct ctp_field plain = { .name = "x", .type = CTP_STRING }, number = { .name = "n", .type = CTP_U64 };
	struct ctp_err err;
	struct ctp_class *timeless = ctp_class_new("note", 0, &plain, 1, &err), *counter = ctp_class_new("count", 0, &number, 1, &err);
	struct mem m = { 0 };
	char text[512];

	struct ctp_writer *w = begin(&m, "a");
	put_event(w, cls, 30, 0), put_event(w, cls, 10, 1), put_event(w, cls, 20, 2), put_event(w, cls, 10, 3);
	ctp_writer_mark(w, 20);
	put_event(w, cls, 25, 4), put_event(w, cls, 15, 5), put_event(w, cls, 20, 6), put_event(w, cls, 30, 7);
	ctp_writer_mark(w, 31);
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	is_u64(order_text(&m, 0, text, sizeof text), 1, "one record is late");
	is(text, " { 10/1 10/3 15/5! 20/2 20/6 25/4 30/0 30/7 }", "held back to the mark, equal times as they came, late ones at once");

	w = begin(&m, "a");
	static const union {
		struct ctp_str s;
		char bytes[sizeof(struct ctp_str) + 8];
	} text_of_note = { .s.len = 3 };
	uint64_t note = ctp_val_str(&text_of_note.s);
	put_event(w, cls, 20, 0), ctp_writer_record(w, timeless, &note), put_event(w, cls, 10, 1);
	ctp_writer_end(w, true);
	struct ctp_section sec;
	ctp_section_init(&sec);
	ctp_writer_begin(w, &sec);
	put_event(w, cls, 5, 2);
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	order_text(&m, 0, text, sizeof text);
	is(text, " { 10/1 20/0 - } { 5/2 }",
	   "without marks all is sorted at the end; a record without a time stays after the one before it");

	w = begin(&m, "a");
	ctp_writer_record(w, counter, &(uint64_t){ 5 });
	put_event(w, cls, 10, 0), put_event(w, cls, 20, 1), put_event(w, cls, 40, 2), put_event(w, cls, 30, 3);
	ctp_writer_record(w, counter, &(uint64_t){ 6 });
	put_event(w, cls, 15, 4), ctp_writer_record(w, timeless, &note), put_event(w, cls, 35, 5);
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	order_text(&m, 0, text, sizeof text);
	is(text, " { - 10/0 15/4 - 20/1 30/3 - 35/5 40/2 }",
	   "a record without a time follows the one before it, with a string or without");

	w = begin(&m, "a");
	for (uint64_t i = 1; i <= 8; i++)
		put_event(w, cls, i % 8, i);
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	is_u64(order_text(&m, 3 * 80, text, sizeof text), 1,
	       "a record is late if memory was short and later ones were already written");

	w = begin(&m, "a");
	for (uint64_t i = 0; i < 8; i++)
		put_event(w, cls, i ^ 1, i);
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	is_u64(order_text(&m, 3 * 80, text, sizeof text), 0, "order within what the memory holds is no lateness");
	is(text, " { 0/1 1/0 2/3 3/2 4/5 5/4 6/7 7/6 }", "where memory is short, order reaches as far as it holds");
	ctp_class_free(cls);
	ctp_class_free(timeless);
	ctp_class_free(counter);
}

/* Sorting against a reference: many runs, many equal times. */
static void test_order_random(void)
{
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	struct mem m = { 0 };
	struct ctp_writer *w = begin(&m, "a");
	enum { N = 20000 };
	uint64_t mark = 0, n = 0;
	for (uint64_t i = 0; i < N; i++) {
		put_event(w, cls, mark + rnd() % 500, i);
		if (rnd() % 100 == 0)
			ctp_writer_mark(w, mark += rnd() % 300);
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err err;
	uint64_t last_ts = 0, last_index = 0, wrong = 0;
	ctp_input_mem(&in, m.data, m.len);
	struct ctp_reader *r = ctp_reader_new(&in, 0, &err);
	struct ctp_order *o = ctp_order_new(r, 0, &err);
	while (!ctp_order_next(o, &item, &err)) {
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++) {
			const struct ctp_record *rec = &item.batch.rec[i];
			uint64_t ts = rec->val[CTP_TRANSITION_TS], index = rec->val[CTP_TRANSITION_INDEX];
			n++;
			wrong += item.batch.late || ts != rec->ts_ns || ts < last_ts || (ts == last_ts && n > 1 && index < last_index);
			last_ts = ts;
			last_index = index;
		}
	}
	is_u64(n, N, "nothing is lost in ordering");
	is_u64(wrong, 0, "and all is in order, stably");
	ctp_order_free(o);
	ctp_reader_free(r);
	free(m.data);
	ctp_class_free(cls);
}

/* Records of any class after a batch that filled the room to the last record, for all sizes near those at which room grows. */
static void test_room(void)
{
	struct ctp_class *quick = ctp_event_class(CTP_TRANSITION), *other = ctp_event_class(CTP_DEATH), *slow = ctp_event_class(CTP_NAME);
	uint64_t wrong = 0;
	for (uint64_t before = 5 * CTP_BATCH_MAX - 4; before < 5 * CTP_BATCH_MAX + 2; before++) {
		struct mem m = {0};
		struct ctp_input in;
		struct ctp_item item;
		struct ctp_err err;
		uint64_t ts = 1, n = 0;
		struct ctp_writer *w = begin(&m, "a");
		ctp_writer_record(w, slow, (uint64_t[CTP_NAME_FIELDS]){[CTP_NAME_TS] = ts++});
		for (uint64_t i = 0; i < before; i++)
			put_event(w, quick, ts++, i);
		for (uint64_t i = 0; i < CTP_BATCH_MAX; i++)
			ctp_writer_record(w, other, (uint64_t[CTP_DEATH_FIELDS]){[CTP_DEATH_TS] = ts++, [CTP_DEATH_CORO] = i});
		ctp_writer_record(w, slow, (uint64_t[CTP_NAME_FIELDS]){[CTP_NAME_TS] = ts++});
		ctp_writer_end(w, true);
		ctp_writer_free(w);
		ctp_input_mem(&in, m.data, m.len);
		struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
		struct ctp_order *o = ctp_order_new(r, 0, &err);
		while (!ctp_order_next(o, &item, &err))
			n += item.kind == CTP_ITEM_RECORDS ? item.batch.n : 0;
		wrong += n != ts - 1;
		ctp_order_free(o);
		ctp_reader_free(r);
		free(m.data);
	}
	is_u64(wrong, 0, "a record has room after a batch that filled all room");
	ctp_class_free(quick);
	ctp_class_free(other);
	ctp_class_free(slow);
}

/* Records of which a batch is far more than there is memory for, as a thread that reads ahead has them. */
static void test_large(void)
{
	enum { N = 40, BYTES = 1 << 20 };
	static const struct ctp_field fields[] = {
		{.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME}, {.name = "text", .type = CTP_BYTES},
	};
	struct ctp_err err;
	struct ctp_class *cls = ctp_class_new("large", CTP_KIND_OTHER, fields, 2, &err);
	struct ctp_str *text = calloc(1, sizeof *text + BYTES + 1);
	struct mem m = {0};
	struct ctp_writer *w = begin(&m, "a");
	for (uint64_t i = 0; i < N; i++) {
		text->len = BYTES;
		text->data[0] = (char)i;
		ctp_writer_record(w, cls, (uint64_t[]){i ^ 1, ctp_val_str(text)});
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_batch batch;
	uint64_t n = 0, wrong = 0;
	ctp_input_mem(&in, m.data, m.len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	struct ctp_order *o = ctp_order_new(r, 4 * BYTES, &err);
	struct ctp_runs *runs = ctp_runs_new(4 * BYTES, &err);
	for (enum ctp_status status = CTP_OK; !status;) {
		status = ctp_order_gather(o, &runs, &item, &err);
		while (ctp_runs_next(runs, &batch))
			for (uint32_t i = 0; i < batch.n; i++, n++)
				wrong += batch.rec[i].ts_ns != n || ctp_str_val(batch.rec[i].val[1])->data[0] != (char)(n ^ 1);
	}
	is_u64(n, N, "records that are large all go");
	is_u64(wrong, 0, "in order");
	ctp_runs_free(runs);
	ctp_order_free(o);
	ctp_reader_free(r);
	free(m.data);
	free(text);
	ctp_class_free(cls);
}

int main(void)
{
	test_order();
	test_large();
	test_room();
	test_order_random();
	return done_testing();
}
