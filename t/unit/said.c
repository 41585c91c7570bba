/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * said.c - a string that was remembered takes a byte when it comes again. So a packet has a limit on what its records say, a writer
 * keeps it, and a reader refuses more.
 */
#include <stdlib.h>
#include <string.h>

#include "stream/codec.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tap.h"

enum { RECORDS = 3000, LONG = 4000 }; /* not so long that a writer writes it each time */

static struct ctp_class *class_of(uint32_t nfields)
{
	static char names[CTP_FIELDS_MAX][8];
	struct ctp_field f[CTP_FIELDS_MAX] = {{0}};
	struct ctp_err err;
	for (uint32_t i = 0; i < nfields; i++) {
		snprintf(names[i], sizeof names[i], "s%u", i);
		f[i] = (struct ctp_field){.name = names[i], .type = CTP_STRING, .pred = i < 50 ? CTP_PRED_PREV : CTP_PRED_NONE};
	}
	struct ctp_class *cls = ctp_class_new("said", 0, f, nfields, &err);
	if (!cls)
		exit(1);
	return cls;
}

static struct ctp_str *string_of(uint32_t len)
{
	struct ctp_str *s = malloc(sizeof *s + len + 1);
	s->len = len;
	memset(s->data, 'x', len + 1);
	s->data[len] = '\0';
	return s;
}

/* Writes n records with the same string and reads them again, up to the limit. Returns how many were read. */
static uint32_t read_same(const struct ctp_class *cls, const struct ctp_str *s, uint32_t n, size_t *payload)
{
	struct ctp_err err;
	const size_t room = s->len + n * 16 + 2 * CTP_RECORD_ROOM;
	uint8_t *lane[3] = {calloc(1, room), calloc(1, room), calloc(1, room)};
	struct ctp_lanes to = {lane[0], lane[1], lane[2], lane[2]};
	struct ctp_codec *c = ctp_codec_new(&err);
	uint64_t val[CTP_FIELDS_MAX] = {ctp_val_str(s)}, head;
	ctp_codec_declare(c, cls);
	for (uint32_t i = 0; i < n; i++)
		ctp_codec_encode(c, 0, val, &to);
	*payload = (size_t)(to.heads - lane[0]) + (size_t)(to.keys - lane[1]) + (size_t)(to.rest - lane[2]);
	ctp_codec_reset(c);
	ctp_codec_declare(c, cls);
	struct ctp_lanes_in from = {lane[0], lane[1], lane[2], to.heads, to.keys, to.rest};
	uint32_t good = 0;
	ctp_codec_strings_room(c, *payload);
	while (from.heads < from.heads_end) {
		from.heads = ctp_varint_get(from.heads, &head);
		if (!ctp_codec_decode(c, 0, head >> 2, &from, val, &cls) || ctp_str_val(val[0])->len != s->len)
			break;
		good++;
	}
	ctp_codec_free(c);
	for (int i = 0; i < 3; i++)
		free(lane[i]);
	return good;
}

struct packets {
	uint8_t *data;
	size_t len, packets;
};

static bool append(void *arg, const void *packet, size_t len)
{
	struct packets *to = arg;
	to->data = realloc(to->data, to->len + len);
	memcpy(to->data + to->len, packet, len);
	to->len += len;
	to->packets++;
	return true;
}

/* Puts n records through a writer and a reader: how many are read, in how many packets. */
static uint32_t through(const struct ctp_class *cls, const struct ctp_str *s, uint32_t n, size_t *packets, size_t *bytes)
{
	struct packets to = {0};
	struct ctp_err err;
	struct ctp_section sec;
	struct ctp_input in;
	struct ctp_item item;
	uint64_t val[CTP_FIELDS_MAX];
	for (uint32_t i = 0; i < cls->nfields; i++)
		val[i] = ctp_val_str(s);
	struct ctp_writer *w = ctp_writer_new(append, &to, &err);
	ctp_section_init(&sec);
	ctp_writer_begin(w, &sec);
	for (uint32_t i = 0; i < n; i++)
		ctp_writer_record(w, cls, val);
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	ctp_section_fini(&sec);
	ctp_input_mem(&in, to.data, to.len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	uint32_t good = 0;
	while (!ctp_reader_next(r, &item, &err))
		if (item.kind == CTP_ITEM_RECORDS)
			for (uint32_t i = 0; i < item.batch.n; i++)
				good += ctp_str_val(item.batch.rec[i].val[cls->nfields - 1])->len == s->len;
	ctp_reader_free(r);
	ctp_input_close(&in);
	free(to.data);
	*packets = to.packets;
	*bytes = to.len;
	return good;
}

int main(void)
{
	size_t payload, packets, bytes;
	struct ctp_class *one = class_of(1), *many = class_of(CTP_FIELDS_MAX);
	struct ctp_str *small = string_of(100), *large = string_of(LONG);
	is_u64(read_same(one, small, RECORDS, &payload), RECORDS, "a short string may be repeated without limit");
	uint32_t good = read_same(one, large, RECORDS, &payload);
	note("%u records of a payload of %zu", good, payload);
	ok(good && good < RECORDS && (uint64_t)good * LONG <= CTP_SAID_FACTOR * payload &&
	   (good + UINT64_C(1)) * LONG > CTP_SAID_FACTOR * payload, "a long string may be repeated in proportion to its packet");
	is_u64(through(one, small, RECORDS, &packets, &bytes), RECORDS, "a writer writes all records with a short string");
	is_u64(packets, 1, "they are in one packet");
	is_u64(through(one, large, RECORDS, &packets, &bytes), RECORDS, "a writer writes all records with a long string");
	note("%zu packets, %zu bytes", packets, bytes);
	ok(packets > 1 && packets < 40 && bytes * CTP_SAID_FACTOR >= (uint64_t)RECORDS * LONG, "they are in several packets");
	is_u64(through(many, large, 100, &packets, &bytes), 100, "a record with a long string in each field is reproduced");
	free(small);
	free(large);
	ctp_class_free(one);
	ctp_class_free(many);
	return done_testing();
}
