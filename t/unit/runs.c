/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* runs.c - records that are held back, with texts as large as they come, and those that are larger. */
#include "stream/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/varint.h"
#include "stream/packet.h"
#include "stream/order.h"
#include "tap.h"

enum { LIMIT = 1 << 20, SMALL = 1000, LONG_TEXT = 1 << 20 };

static struct ctp_str *text_of(uint32_t len)
{
	struct ctp_str *s = calloc(1, sizeof(*s) + len + 1);
	if (!s)
		abort();
	s->len = len;
	memset(s->data, 'x', len);
	return s;
}

/* Takes what was released; each has to be the next, and whole. Returns how many are not. */
static unsigned take(struct ctp_runs *h, uint64_t *next)
{
	struct ctp_batch batch;
	unsigned wrong = 0;
	while (ctp_runs_next(h, &batch))
		for (const struct ctp_record *rec = batch.rec; rec < batch.rec + batch.n; rec++, (*next)++) {
			const struct ctp_str *s = ctp_str_val(rec->val[0]);
			wrong += rec->ts_ns != *next || rec->val[1] != *next || batch.late || batch.n > CTP_BATCH_MAX ||
			         (s->len && (s->data[0] != 'x' || s->data[s->len - 1] != 'x'));
		}
	return wrong;
}

/* The older half are many that are small, the younger half is nearly all there is. */
static void test_full(void)
{
	static const struct ctp_field fields[] = {{.name = "text", .type = CTP_BYTES}, {.name = "n", .type = CTP_U64}};
	struct ctp_err err;
	struct ctp_class *cls = ctp_class_new("note", CTP_KIND_OTHER, fields, 2, &err);
	struct ctp_runs *h = ctp_runs_new(LIMIT, &err);
	struct ctp_str *none = text_of(0), *some = text_of(SMALL), *most = text_of(CTP_PAYLOAD_MAX);
	uint64_t n = 0, next = 0;
	unsigned wrong = 0, full = 0;
	for (size_t used = 0; used + SMALL < LIMIT - SMALL * 64; n++) {
		struct ctp_str *s = n < SMALL ? none : some;
		full += ctp_runs_put(h, n, cls, (uint64_t[]){ctp_val_str(s), n}) != CTP_OK;
		used += s->len + 64;
	}
	is_u64(full, 0, "it is full only when it is full");
	for (int i = 0; i < 6; i++, n++) {
		if (ctp_runs_put(h, n, cls, (uint64_t[]){ctp_val_str(most), n}) != CTP_EOF)
			continue;
		full++;
		ctp_runs_release_half(h);
		wrong += take(h, &next);
	}
	is_u64(full, 6, "the largest record fills it, again and again");
	ctp_runs_release_all(h);
	wrong += take(h, &next);
	ok(!wrong && next == n, "and each comes out whole and in its turn");
	ctp_runs_free(h);
	ctp_class_free(cls);
	free(none);
	free(some);
	free(most);
}

/* A record of a class of n strings: the first is new, and the others name the one with this handle. */
struct named {
	unsigned n;
	uint64_t handle, mask; /* mask: fields that differ from what was expected; here no field is expected */
	unsigned cls;          /* the class's number; only class 0 is declared */
};

/* A section of one packet with one such record. Returns its bytes. */
static size_t one_record(uint8_t *to, const struct named *named)
{
	unsigned n = named->n;
	uint8_t decl[CTP_FIELDS_MAX * 16], *d = ctp_put_text(ctp_varint_put(decl, CTP_KIND_OTHER), "same");
	d = ctp_varint_put(d, n);
	for (unsigned i = 0; i < n; i++) {
		char name[] = {(char)('a' + i), '\0'};
		d = ctp_put_text(d, name);
		memcpy(d, (uint8_t[]){CTP_STRING, 0, 0, 0}, 4);
		d = ctp_varint_put(ctp_put_text(d + 4, ""), 0);
	}
	uint8_t *payload = to + CTP_PACKET_HEADER, *p = ctp_varint_put(payload, CTP_CONTROL_SECTION << 2 | CTP_HEAD_CONTROL);
	p = ctp_varint_put(ctp_varint_put(p, 1), 0);
	p = ctp_varint_put(p, CTP_CONTROL_CLASS << 2 | CTP_HEAD_CONTROL);
	p = ctp_varint_put(p, (uint64_t)(d - decl));
	p = (uint8_t *)memcpy(p, decl, (size_t)(d - decl)) + (d - decl);
	p = ctp_varint_put(p, named->mask << 2 | named->cls);
	size_t heads = (size_t)(p - payload);
	p = ctp_varint_put(ctp_varint_put(p, CTP_STRING_NEW), LONG_TEXT);
	p = (uint8_t *)memset(p, 'x', LONG_TEXT) + LONG_TEXT;
	for (unsigned i = 1; i < n; i++)
		p = ctp_varint_put(p, CTP_STRING_HANDLE + named->handle);
	memset(to, 0, CTP_PACKET_HEADER);
	memcpy(to, CTP_PACKET_MAGIC, 8);
	to[CTP_PACKET_VERSION] = CTP_STREAM_VERSION;
	to[CTP_PACKET_FLAGS] = CTP_PACKET_IS_LAST;
	ctp_store_u64(to + CTP_PACKET_FIRST, 1);
	ctp_store_u32(to + CTP_PACKET_RECORDS, 1);
	ctp_store_u24(to + CTP_PACKET_HEADS, (uint32_t)heads);
	ctp_store_u32(to + CTP_PACKET_PAYLOAD, (uint32_t)(p - payload));
	ctp_store_u32(to + CTP_PACKET_PAYLOAD_CRC, ctp_crc32c(0, payload, (size_t)(p - payload)));
	ctp_store_u32(to + CTP_PACKET_HEADER_CRC,
	              ctp_crc32c(0, to + CTP_PACKET_PAYLOAD_CRC, CTP_PACKET_HEADER - CTP_PACKET_PAYLOAD_CRC));
	return (size_t)(p - to);
}

/* Bytes of the strings of the records that come through; the reader's word on harm. */
static uint64_t text_bytes(const struct named *named, bool *harmed)
{
	static uint8_t stream[LONG_TEXT + 8192];
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err err;
	uint64_t sum = 0;
	ctp_input_mem(&in, stream, one_record(stream, named));
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	struct ctp_order *o = ctp_order_new(r, 0, &err);
	while (!ctp_order_next(o, &item, &err))
		for (unsigned i = 0; item.kind == CTP_ITEM_RECORDS && i < named->n; i++)
			sum += ctp_str_val(item.batch.rec->val[i])->len;
	*harmed = ctp_reader_harmed(r);
	ctp_order_free(o);
	ctp_reader_free(r);
	return sum;
}

/* A megabyte of a stream can name a string of a megabyte many times. */
static void test_named_again(void)
{
	bool harmed;
	uint64_t sum = text_bytes(&(struct named){4, 1, 0, 0}, &harmed);
	ok(sum == CTP_PAYLOAD_MAX && !harmed, "a string that is named four times is there four times");
	sum = text_bytes(&(struct named){5, 1, 0, 0}, &harmed);
	ok(!sum && harmed, "a record with more bytes of strings than a packet can have makes no sense");
	sum = text_bytes(&(struct named){26, 1, 0, 0}, &harmed);
	ok(!sum && harmed, "nor one with more than could be held");
	sum = text_bytes(&(struct named){2, 2, 0, 0}, &harmed);
	ok(!sum && harmed, "nor one with a handle that no string has");
	sum = text_bytes(&(struct named){2, 1, 1, 0}, &harmed);
	ok(!sum && harmed, "nor one whose head names a field that the class does not have");
	sum = text_bytes(&(struct named){2, 1, 0, 1}, &harmed);
	ok(!sum && harmed, "nor one of a class that is not declared");
}

/* Appends the times of released records to sum, two digits each. */
static uint64_t times_of(struct ctp_runs *h, uint64_t sum)
{
	struct ctp_batch batch;
	while (ctp_runs_next(h, &batch))
		for (uint32_t i = 0; i < batch.n; i++)
			sum = sum * 100 + batch.rec[i].ts_ns;
	return sum;
}

/* What was held back when others went, and was sorted for that, still has its place among n - 2 that come. */
static uint64_t sorted_before(unsigned n)
{
	static const struct ctp_field field = {.name = "n", .type = CTP_U64};
	struct ctp_err err;
	struct ctp_class *cls = ctp_class_new("count", CTP_KIND_OTHER, &field, 1, &err);
	struct ctp_runs *h = ctp_runs_new(LIMIT, &err);
	uint64_t sum = 0;
	for (unsigned i = 0; i < n; i++) {
		static const uint64_t times[] = {30, 10, 20, 40};
		ctp_runs_put(h, times[i], cls, &times[i]);
		if (i == 1)
			ctp_runs_release_before(h, 20);
		sum = times_of(h, sum);
	}
	ctp_runs_release_all(h);
	sum = times_of(h, sum);
	ctp_runs_free(h);
	ctp_class_free(cls);
	return sum;
}

static void test_sorted_before(void)
{
	is_u64(sorted_before(4), 10203040, "rows that were kept are written in the order of their times");
	is_u64(sorted_before(3), 102030, "also after one that comes last and is older");
}

int main(void)
{
	test_sorted_before();
	test_full();
	test_named_again();
	return done_testing();
}
