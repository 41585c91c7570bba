/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * stream.c - the reader of the raw stream survives any bytes.
 *
 * The first byte says how the rest is taken: as a stream, or as payloads that are given headers with the right checksums, since
 * no fuzzer would get past those. Everything that is delivered is touched, and written again through the writer.
 * Covers: lib/stream
 */
#include <stdlib.h>

#include "stream/order.h"
#include "stream/writer.h"
#include "wrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool put(void *arg, const void *packet, size_t len) { (void)packet; *(size_t *)arg += len; return true; }

static unsigned touch(const struct ctp_record *rec)
{
	unsigned sum = 0;
	for (uint32_t i = 0; i < rec->cls->nfields; i++)
		if (ctp_type_is_text(rec->cls->fields[i].type)) {
			const struct ctp_str *s = ctp_str_val(rec->val[i]);
			for (uint32_t j = 0; j <= s->len; j++)
				sum += (unsigned char)s->data[j];
		} else {
			sum += (unsigned)rec->val[i];
		}
	return sum;
}

static void read_stream(const uint8_t *data, size_t size)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	size_t written = 0;
	unsigned sum = 0;
	ctp_input_mem(&in, data, size);
	struct ctp_reader *r = ctp_reader_new(&in, 0, &err);
	struct ctp_order *o = ctp_order_new(r, 1 << 20, &err);
	struct ctp_writer *w = ctp_writer_new(put, &written, &err);
	if (!r || !o || !w)
		abort();
	while (!ctp_order_next(o, &item, &err)) {
		if (item.kind == CTP_ITEM_RECORDS) {
			for (uint32_t i = 0; i < item.batch.n; i++)
				sum += touch(&item.batch.rec[i]);
			ctp_writer_records(w, &item.batch);
		} else if (item.kind == CTP_ITEM_SECTION) {
			ctp_writer_begin(w, item.section);
		} else if (item.kind == CTP_ITEM_END) {
			ctp_writer_end(w, true);
		}
	}
	__asm__ volatile("" : : "r"(sum)); /* so that the compiler keeps the reads */
	ctp_writer_free(w);
	ctp_order_free(o);
	ctp_reader_free(r);
	ctp_input_close(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1) {
		read_stream(data + 1, size - 1);
		return 0;
	}
	uint8_t *out = malloc(wrap_room(size));
	if (!out)
		return 0;
	size_t n = wrap(data + 1, size - 1, out);
	read_stream(out, n);
	free(out);
	return 0;
}
