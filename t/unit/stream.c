/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * stream.c - the raw stream: numbers, checksums, classes, coding of random classes and values, packets, damage.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/cursor.h"
#include "cacheray/cacheray-classes.h"
#include "common/plain.h"
#include "packets.h"
#include "stream/codec-plan.h"
#include "stream/codec.h"
#include "stream/order.h"
#include "stream/packet.h"
#include "tap.h"

/* Numbers of every size, the extremes among them. */
static uint64_t rnd_value(void)
{
	switch (rnd() % 6) {
	case 0: return 0;
	case 1: return UINT64_MAX;
	case 2: return (uint64_t)1 << 63;
	case 3: return rnd() % 4;
	}
	return rnd() >> rnd() % 64;
}

static int notices;
static void count_notice(void *arg, const char *text) { (void)arg, (void)text, notices++; }
static const struct ctp_notice notice = { count_notice, 0 };

/* --- the small parts ------------------------------------------------------------------------------------------------------- */

static void test_varint(void)
{
	uint8_t buf[2 * CTP_VARINT_MAX] = { 0 };
	unsigned bad = 0, wrong_length = 0, cut = 0;
	for (int bit = 0; bit <= 64; bit++)
		for (int d = -1; d <= 1; d++) {
			uint64_t v = (bit < 64 ? (uint64_t)1 << bit : 0) + (uint64_t)(int64_t)d, back;
			size_t n = (size_t)(ctp_varint_put(buf, v) - buf), want = 1;
			while (want < 9 && (want == 8 ? v >> 56 : v >> (7 * want)))
				want++;
			bad += ctp_varint_get(buf, &back) != buf + n || back != v;
			wrong_length += n != want;
			bad += (uint64_t)ctp_unfold(ctp_fold((int64_t)v)) != v;
			for (size_t k = 0; k < n; k++) { /* the checked reader sees each cut */
				struct ctp_cursor c = { buf, buf + k, false };
				ctp_cursor_varint(&c);
				cut += c.bad;
			}
			struct ctp_cursor c = { buf, buf + n, false };
			bad += ctp_cursor_varint(&c) != v || c.bad || c.p != c.end;
			cut -= (unsigned)n;
		}
	is_u64(bad, 0, "varints come back");
	is_u64(wrong_length, 0, "varints take as few bytes as they need");
	is_u64(cut, 0, "a varint cut anywhere is noticed");
}

static void test_crc(void)
{
	uint8_t buf[300];
	unsigned bad = 0;
	is_u64(ctp_crc32c(0, "123456789", 9), 0xe3069283, "CRC-32C's check value");
	for (size_t i = 0; i < sizeof buf; i++)
		buf[i] = (uint8_t)rnd();
	for (size_t from = 0; from < 9; from++)
		for (size_t n = 0; n + from <= sizeof buf; n++)
			bad += ctp_crc32c(7, buf + from, n) != ctp_crc32c_table(7, buf + from, n);
	is_u64(bad, 0, "instruction and table agree");
}

static void test_schema(void)
{
	static const struct ctp_label labels[] = { { 0, "zero" }, { UINT64_MAX, "all" } };
	static const struct ctp_field f[] = { { "ts", CTP_U64, CTP_ROLE_TIME, CTP_PRED_TIME, 0, "ns", 0, 0 },
		                              { "what", CTP_ENUM, 0, CTP_PRED_PREV, CTP_FIELD_HEX, 0, labels, 2 },
		                              { "name", CTP_STRING, CTP_ROLE_NAME, CTP_PRED_NONE, 0, 0, 0, 0 } };
	struct ctp_err err;
	struct ctp_class *a = ctp_class_new("thing", CTP_KIND_LOSS, f, 3, &err), *b = ctp_class_parse(a->decl, a->decl_bytes, &err);
	ok(b && !strcmp(b->name, "thing") && b->kind == CTP_KIND_LOSS && b->nfields == 3 && b->time_field == 0 && b->has_text,
	   "a class comes back from its declaration");
	is(ctp_field_label(&b->fields[1], UINT64_MAX), "all", "and so do labels");
	is(b->fields[0].unit, "ns", "and units");
	unsigned accepted = 0;
	for (size_t n = 0; n < a->decl_bytes; n++) {
		struct ctp_class *cut = ctp_class_parse(a->decl, n, &err);
		accepted += cut != 0;
		ctp_class_free(cut);
	}
	is_u64(accepted, 0, "a declaration cut anywhere is refused");
	ctp_class_free(a);
	ctp_class_free(b);

	static const struct ctp_field bad[][2] = {
		{ { "a", CTP_U64, 0, 0, 0, 0, 0, 0 }, { "a", CTP_U64, 0, 0, 0, 0, 0, 0 } },                      /* a name twice */
		{ { "a", CTP_U64, 0, CTP_PRED_KEY, 0, 0, 0, 0 }, { "b", CTP_U64, 0, CTP_PRED_KEY, 0, 0, 0, 0 } }, /* two keys */
		{ { "a", CTP_U64, 0, CTP_PRED_SAME, 0, 0, 0, 0 }, { "b", CTP_U64, 0, 0, 0, 0, 0, 0 } },          /* no key */
		{ { "a", CTP_U64, 0, CTP_PRED_KEY, 0, 0, 0, 0 }, { "b", CTP_U64, 0, CTP_PRED_STATE, 0, 0, 0, 0 } }, /* no state */
		{ { "a", CTP_U64, 0, CTP_PRED_KEY, 0, 0, 0, 0 }, { "b", CTP_STRING, 0, CTP_PRED_STEP, 0, 0, 0, 0 } },
		{ { "a", CTP_U32, CTP_ROLE_TIME, 0, 0, 0, 0, 0 }, { "b", CTP_U64, 0, 0, 0, 0, 0, 0 } },
		{ { "a", 99, 0, 0, 0, 0, 0, 0 }, { "b", CTP_U64, 0, 0, 0, 0, 0, 0 } },
		{ { "", CTP_U64, 0, 0, 0, 0, 0, 0 }, { "b", CTP_U64, 0, 99, 0, 0, 0, 0 } },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		accepted += ctp_class_new("bad", 0, bad[i], 2, &err) != 0;
	is_u64(accepted, 0, "classes that break a rule are refused");
	static struct ctp_label many[CTP_LABELS_MAX + 1];
	for (size_t i = 0; i < sizeof many / sizeof *many; i++)
		many[i] = (struct ctp_label){ i, "label" };
	struct ctp_field labelled = { .name = "what", .type = CTP_ENUM, .labels = many, .nlabels = CTP_LABELS_MAX };
	struct ctp_class *full = ctp_class_new("full", 0, &labelled, 1, &err);
	labelled.nlabels++;
	ok(full && !ctp_class_new("bad", 0, &labelled, 1, &err), "an enum has as many labels as the limit says, and no more");
	ctp_class_free(full);

	static const struct {
		enum ctp_event event;
		const struct ctp_codec_plan *plan;
	} known[] = { { CTP_TRANSITION, &ctp_transition_plan }, { CTP_BIRTH, &ctp_birth_plan }, { CTP_DEATH, &ctp_death_plan },
		      { CTP_WAKE, &ctp_wake_plan } };
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct ctp_class *cls = ctp_event_class(known[i].event);
		ok(!memcmp(cls->plan, known[i].plan, sizeof *known[i].plan), "records of class %s are coded by the plan made for them", cls->name);
		ctp_class_free(cls);
	}
	struct ctp_class *whole = ctp_event_class(CTP_TRANSITION);
	struct ctp_field fields[CTP_TRANSITION_FIELDS + 1];
	memcpy(fields, whole->fields, CTP_TRANSITION_FIELDS * sizeof *fields);
	fields[CTP_TRANSITION_FIELDS] = (struct ctp_field){ .name = "origin", .type = CTP_U64, .role = CTP_ROLE_ORIGIN,
		                                            .pred = CTP_PRED_SAME };
	struct ctp_class *merged = ctp_class_new(whole->name, CTP_KIND_TRANSITION, fields, CTP_TRANSITION_FIELDS + 1, &err);
	ok(!memcmp(merged->plan, &ctp_merged_plan, sizeof ctp_merged_plan), "and so are those that ctp-merge writes");
	ctp_class_free(merged);
	ctp_class_free(whole);
	struct ctp_class *t = ctp_plain_class(&err);
	ok(!memcmp(t->plan, &ctp_plain_plan, sizeof ctp_plain_plan), "and so are coroTracer's");
	ctp_class_free(t);
	t = ctp_cacheray_class(CTP_CACHERAY_ACCESS);
	ok(!memcmp(t->plan, &ctp_access_plan, sizeof ctp_access_plan), "and Cacheray's accesses");
	ctp_class_free(t);
}

/* A packet that was put together by hand from ctp-stream.5. */
static void test_manual(void)
{
	static const uint8_t want[] = { 0x07, 0x03, 0x01, 0x0f, 0x19, 0x01, 0x03, 0x74, 0x03, 0x03, 0x76, 0x04, 0x00, 0x00, 0x00,
		                        0x01, 0x01, 0x01, 0x01, 0xb2, 0x04, 0x03 };
	static const struct ctp_field f = { .name = "v", .type = CTP_U64 };
	struct ctp_err err;
	struct ctp_class *cls = ctp_class_new("t", 0, &f, 1, &err);
	struct ctp_section sec = { .id = 1 };
	struct mem m = { 0 };
	struct ctp_writer *w = ctp_writer_new(mem_put, &m, &err);
	ctp_writer_begin(w, &sec);
	ctp_writer_record(w, cls, &(uint64_t){ 300 });
	ctp_writer_record(w, cls, &(uint64_t){ 1 });
	ctp_writer_end(w, true);
	is_u64(ctp_load_u24(m.data + CTP_PACKET_HEADS), sizeof want - 3, "the first lane is all but two numbers");
	ok(m.len == CTP_PACKET_HEADER + sizeof want && !memcmp(m.data + CTP_PACKET_HEADER, want, sizeof want),
	   "a small packet is written as ctp-stream.5 has it, to the byte");
	ctp_writer_free(w);
	ctp_class_free(cls);
	free(m.data);
}

/* --- random classes, random records ---------------------------------------------------------------------------------------- */

enum { STR_MAX = 5000 };
static struct ctp_str *pool[16];

static void make_pool(void)
{
	static const uint32_t lens[16] = { 0, 1, 2, 3, 7, 8, 9, 100, 4095, 4096, 4097, STR_MAX, 5, 6, 12, 13 };
	for (int i = 0; i < 16; i++) {
		pool[i] = malloc(sizeof **pool + lens[i] + 1);
		pool[i]->len = lens[i];
		for (uint32_t j = 0; j < lens[i]; j++)
			pool[i]->data[j] = (char)rnd();
		pool[i]->data[lens[i]] = 0;
	}
}

static struct ctp_class *random_class(int number)
{
	static char names[CTP_FIELDS_MAX][8];
	struct ctp_field f[CTP_FIELDS_MAX] = { 0 };
	struct ctp_err err;
	char name[16];
	for (;;) {
		uint32_t n = 1 + (uint32_t)(rnd() % (rnd() % 8 ? 9 : 40)), key = (uint32_t)(rnd() % n), state = (uint32_t)(rnd() % n);
		bool keyed = rnd() % 4 != 0;
		for (uint32_t i = 0; i < n; i++) {
			snprintf(names[i], sizeof names[i], "f%u", i);
			f[i] = (struct ctp_field){ .name = names[i], .type = (uint8_t)(1 + rnd() % (CTP_TYPE_COUNT - 1)) };
			f[i].pred = (uint8_t)(keyed ? rnd() % CTP_PRED_COUNT : rnd() % 2 ? CTP_PRED_PREV : CTP_PRED_NONE);
			if (i == state && rnd() % 2)
				f[i].role = CTP_ROLE_STATE;
			if (i == key && keyed)
				f[i] = (struct ctp_field){ .name = names[i], .type = CTP_U64, .pred = CTP_PRED_KEY };
		}
		if (rnd() % 2)
			f[n - 1] = (struct ctp_field){ .name = names[n - 1], .type = CTP_U64, .role = CTP_ROLE_TIME,
				                       .pred = rnd() % 2 ? CTP_PRED_TIME : CTP_PRED_PREV };
		snprintf(name, sizeof name, "c%d", number);
		struct ctp_class *cls = ctp_class_new(name, 0, f, n, &err); /* many draws break a rule */
		if (cls)
			return cls;
	}
}

static uint64_t as_type(unsigned type, uint64_t v)
{
	switch (type) {
	case CTP_U8: return (uint8_t)v;
	case CTP_U16: return (uint16_t)v;
	case CTP_U32: case CTP_F32: return (uint32_t)v;
	case CTP_I8: return (uint64_t)(int64_t)(int8_t)v;
	case CTP_I16: return (uint64_t)(int64_t)(int16_t)v;
	case CTP_I32: return (uint64_t)(int64_t)(int32_t)v;
	case CTP_BOOL: return v != 0;
	}
	return v;
}

struct sent {
	const struct ctp_class *cls;
	uint64_t val[40];
};

static bool same_record(const struct sent *s, const struct ctp_record *r)
{
	if (strcmp(s->cls->name, r->cls->name) || s->cls->nfields != r->cls->nfields)
		return false;
	for (uint32_t i = 0; i < r->cls->nfields; i++) {
		if (ctp_type_is_text(r->cls->fields[i].type)) {
			const struct ctp_str *a = ctp_str_val(s->val[i]), *b = ctp_str_val(r->val[i]);
			if (a->len != b->len || memcmp(a->data, b->data, a->len) || b->data[b->len])
				return false;
		} else if (as_type(s->cls->fields[i].type, s->val[i]) != r->val[i]) {
			return false;
		}
	}
	return true;
}

static void test_random(void)
{
	enum { CLASSES = 40, RECORDS = 30000 };
	struct ctp_class *cls[CLASSES];
	struct sent *sent = malloc(RECORDS * sizeof *sent);
	struct mem m = { 0 };
	struct ctp_writer *w = begin(&m, "here");
	struct ctp_err err;
	for (int i = 0; i < CLASSES; i++)
		cls[i] = random_class(i);
	for (int i = 0; i < RECORDS; i++) {
		struct sent *s = &sent[i];
		s->cls = cls[rnd() % (rnd() % 4 ? 3 : CLASSES)];
		for (uint32_t k = 0; k < s->cls->nfields; k++)
			s->val[k] = ctp_type_is_text(s->cls->fields[k].type) ? ctp_val_str(pool[rnd() % 16])
			            : s->cls->fields[k].pred == CTP_PRED_KEY && rnd() % 8 ? rnd() % 50
			            : i && s[-1].cls == s->cls && rnd() % 2 ? s[-1].val[k] + rnd() % 2 : rnd_value();
		ctp_writer_record(w, s->cls, s->val);
		if (rnd() % 500 == 0)
			ctp_writer_flush(w);
	}
	ok(ctp_writer_end(w, true), "%d records of %d random classes are written, in %zu packets", RECORDS, CLASSES, m.npackets);
	struct ctp_input in;
	struct ctp_item item;
	int n = 0, wrong = 0, ends = 0;
	ctp_input_mem(&in, m.data, m.len);
	struct ctp_reader *r = ctp_reader_new(&in, &notice, &err);
	notices = 0;
	while (!ctp_reader_next(r, &item, &err)) {
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++, n++)
			wrong += n >= RECORDS || !same_record(&sent[n], &item.batch.rec[i]);
		ends += item.kind == CTP_ITEM_END && item.end.complete;
	}
	is_u64((uint64_t)n, RECORDS, "all come back");
	is_u64((uint64_t)wrong, 0, "each as it was, cut to its type");
	ok(ends == 1 && !ctp_reader_harmed(r) && !notices, "the section is complete, and there is nothing to complain of");
	ctp_reader_free(r);
	ctp_writer_free(w);
	for (int i = 0; i < CLASSES; i++)
		ctp_class_free(cls[i]);
	free(sent);
	free(m.data);
}

/* --- damage ---------------------------------------------------------------------------------------------------------------- */

/* A small stream of three packets: 30 transitions with ts = 1000 + i and a few strings. */
static void small_stream(struct mem *m, struct ctp_class **cls)
{
	struct ctp_writer *w = begin(m, "small");
	for (uint64_t i = 0; i < 30; i++) {
		uint64_t v[CTP_TRANSITION_FIELDS] = { 7, 8, i % 2 ? 0x1000 : 0, 2 * (i / 8 + 1), i % 2, 1000 + i, 1, i };
		uint64_t t[CTP_THREAD_FIELDS] = { 1000 + i, 8, 9, ctp_val_str(pool[3]) };
		ctp_writer_record(w, cls[0], v);
		if (i % 9 == 4)
			ctp_writer_record(w, cls[1], t);
		if (i % 10 == 9)
			ctp_writer_mark(w, 1000 + i);
		if (i % 10 == 9 && i < 29)
			ctp_writer_flush(w);
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
}

struct outcome {
	unsigned transitions, wrong, complete;
	bool harmed;
	struct ctp_reader_stats stats;
	struct ctp_section_end end; /* of the last section */
};

static struct outcome read_all(const uint8_t *data, size_t len, bool ordered)
{
	struct outcome out = { 0 };
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err err;
	ctp_input_mem(&in, data, len);
	struct ctp_reader *r = ctp_reader_new(&in, &notice, &err);
	struct ctp_order *o = ctp_order_new(r, 0, &err);
	uint64_t last = 0, records = 0;
	while (!(ordered ? ctp_order_next(o, &item, &err) : ctp_reader_next(r, &item, &err))) {
		out.complete += item.kind == CTP_ITEM_END && item.end.complete;
		if (item.kind == CTP_ITEM_END)
			out.end = item.end;
		if (item.kind != CTP_ITEM_RECORDS)
			continue;
		records += item.batch.n;
		for (uint32_t k = 0; k < item.batch.n; k++) {
			const uint64_t *v = item.batch.rec[k].val;
			if (strcmp(item.batch.rec[k].cls->name, "transition"))
				continue;
			uint64_t i = v[CTP_TRANSITION_INDEX];
			out.transitions++;
			out.wrong += i >= 30 || v[CTP_TRANSITION_TS] != 1000 + i || v[CTP_TRANSITION_PROBE] != 7 ||
			             v[CTP_TRANSITION_ACTIVE] != i % 2 || v[CTP_TRANSITION_TS] < last;
			last = v[CTP_TRANSITION_TS];
		}
	}
	out.wrong += ctp_reader_stats(r)->records != records;
	out.harmed = ctp_reader_harmed(r);
	out.stats = *ctp_reader_stats(r);
	ctp_order_free(o);
	ctp_reader_free(r);
	return out;
}

static void test_lanes(void)
{
	struct ctp_class *cls[] = { ctp_event_class(CTP_TRANSITION), ctp_event_class(CTP_THREAD) };
	struct mem m = { 0 };
	small_stream(&m, cls);
	uint8_t *copy = malloc(m.len);
	unsigned silent = 0;
	for (unsigned heads = 0; heads < 400; heads += 3)
		for (unsigned keys = 0; keys < 100; keys += 1 + heads % 7) {
			uint8_t *h = copy + m.packets[1];
			memcpy(copy, m.data, m.len);
			if (heads + keys > ctp_load_u32(h + CTP_PACKET_PAYLOAD) ||
			    (heads == ctp_load_u24(h + CTP_PACKET_HEADS) && keys == ctp_load_u24(h + CTP_PACKET_KEYS)))
				continue;
			ctp_store_u24(h + CTP_PACKET_HEADS, heads);
			ctp_store_u24(h + CTP_PACKET_KEYS, keys);
			ctp_store_u32(h + CTP_PACKET_HEADER_CRC,
			              ctp_crc32c(0, h + CTP_PACKET_PAYLOAD_CRC, CTP_PACKET_HEADER - CTP_PACKET_PAYLOAD_CRC));
			silent += !read_all(copy, m.len, heads % 2).harmed;
		}
	is_u64(silent, 0, "lanes that end where they should not are noticed, wherever that is");
	free(copy);
	free(m.data);
	ctp_class_free(cls[0]);
	ctp_class_free(cls[1]);
}

static void test_damage(void)
{
	struct ctp_class *cls[] = { ctp_event_class(CTP_TRANSITION), ctp_event_class(CTP_THREAD) };
	struct mem m = { 0 };
	small_stream(&m, cls);
	struct outcome whole = read_all(m.data, m.len, true);
	ok(m.npackets == 3 && whole.transitions == 30 && !whole.wrong && !whole.harmed && whole.complete == 1, "a small stream is read");

	unsigned wrong = 0, silent = 0, too_few = 0;
	uint8_t *copy = malloc(2 * m.len);
	for (size_t n = 0; n < m.len; n++) {
		uint8_t *cut = malloc(n + !n); /* a copy of exact size, so that a sanitizer sees a read past the cut */
		memcpy(cut, m.data, n);
		struct outcome out = read_all(cut, n, n % 2);
		free(cut);
		unsigned due = n < m.packets[1] ? 0 : n < m.packets[2] ? 10 : 20;
		wrong += out.wrong != 0 || out.transitions != due;
		silent += !out.harmed || out.complete;
	}
	is_u64(wrong, 0, "cut at every byte: the packets before the cut are delivered, and nothing else");
	is_u64(silent, 0, "and each cut is noticed");

	wrong = silent = 0;
	for (size_t i = 0; i < m.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			memcpy(copy, m.data, m.len);
			copy[i] ^= (uint8_t)(1 << bit);
			struct outcome out = read_all(copy, m.len, true);
			wrong += out.wrong != 0;
			too_few += out.transitions < 20;
			silent += !out.harmed;
		}
	is_u64(wrong, 0, "every bit flipped: never a wrong record");
	is_u64(too_few, 0, "the two other packets are always delivered");
	is_u64(silent, 0, "and each flip is noticed");

	size_t gap = m.packets[2] - m.packets[1];
	memcpy(copy, m.data, m.packets[1]);
	memcpy(copy + m.packets[1], m.data + m.packets[2], m.len - m.packets[2]);
	struct outcome out = read_all(copy, m.len - gap, true);
	ok(out.transitions == 20 && !out.wrong && out.harmed && !out.complete, "a packet taken out is missed, and the rest is read");

	memcpy(copy, m.data, m.len);
	memcpy(copy + m.len, m.data, m.len);
	out = read_all(copy, 2 * m.len, false);
	ok(out.transitions == 60 && out.complete == 2 && !out.harmed, "a stream appended to itself is a stream of two sections");

	out = read_all(m.data + m.packets[1], m.len - m.packets[1], true);
	ok(out.transitions == 20 && !out.wrong && out.harmed, "a stream without its beginning can be read from the next packet on");

	memcpy(copy, m.data, m.packets[1]);
	memset(copy + m.packets[1], 0x8e, 100);
	memcpy(copy + m.packets[1] + 100, m.data + m.packets[1], m.len - m.packets[1]);
	out = read_all(copy, m.len + 100, true);
	ok(out.transitions == 30 && !out.wrong && out.harmed, "bytes that are no packet are passed over");

	wrong = silent = 0;
	for (int i = 0; i < 4; i++) {
		uint8_t *h = copy + m.packets[1];
		memcpy(copy, m.data, m.len);
		ctp_store_u32(h + CTP_PACKET_RECORDS, ctp_load_u32(h + CTP_PACKET_RECORDS) + (i < 2 ? 5 : -5u));
		ctp_store_u32(h + CTP_PACKET_HEADER_CRC, ctp_crc32c(0, h + CTP_PACKET_PAYLOAD_CRC, CTP_PACKET_HEADER - CTP_PACKET_PAYLOAD_CRC));
		out = read_all(copy, m.len, i % 2);
		wrong += out.wrong || (i < 2 ? out.transitions != 30 : out.transitions >= 30);
		silent += !out.harmed;
	}
	ok(!wrong && !silent, "a packet that has fewer records than it says, or more, is noticed, and only what is delivered is counted");

	out = read_all(m.data, 0, true);
	ok(out.harmed, "an empty input is no complete stream");
	free(copy);
	free(m.data);
	ctp_class_free(cls[0]);
	ctp_class_free(cls[1]);
}

/* Two runs of bytes that are no packet, and between them a packet whose checksum is wrong. */
static void test_skipped(void)
{
	struct ctp_class *cls[] = { ctp_event_class(CTP_TRANSITION), ctp_event_class(CTP_THREAD) };
	enum { BEFORE = 10, AFTER = 20 };
	struct mem m = { 0 };
	small_stream(&m, cls);
	size_t second = m.packets[1], third = m.packets[2], bytes = third - second;
	uint8_t *copy = calloc(1, m.len + BEFORE + AFTER), *bad = copy + second + BEFORE;
	memcpy(copy, m.data, second);
	memcpy(bad, m.data + second, bytes);
	memcpy(bad + bytes + AFTER, m.data + third, m.len - third);
	bad[bytes - 1] ^= 1;
	struct outcome out = read_all(copy, m.len + BEFORE + AFTER, true);
	ok(out.transitions == 20 && out.stats.damaged_packets == 1, "a packet with a wrong checksum is skipped");
	is_u64(out.stats.skipped_records, ctp_load_u32(bad + CTP_PACKET_RECORDS), "its records are counted");
	is_u64(out.stats.skipped_bytes, BEFORE + bytes + AFTER, "all bytes that were skipped are counted");
	free(copy);
	free(m.data);
	ctp_class_free(cls[0]);
	ctp_class_free(cls[1]);
}

/* The time up to which records may be missing, if the second of three packets is: the first has 100 and 200, the third ts. */
static uint64_t missing_before(uint64_t ts)
{
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	struct mem m = { 0 };
	struct ctp_writer *w = begin(&m, "missing");
	put_event(w, cls, 100, 0), put_event(w, cls, 200, 1);
	ctp_writer_flush(w);
	put_event(w, cls, 180, 2);
	ctp_writer_flush(w);
	put_event(w, cls, ts, 3);
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	memmove(m.data + m.packets[1], m.data + m.packets[2], m.len - m.packets[2]);
	struct outcome out = read_all(m.data, m.len - (m.packets[2] - m.packets[1]), false);
	free(m.data);
	ctp_class_free(cls);
	return out.end.missing ? out.end.missing_ns : 0;
}

static void test_missing(void)
{
	is_u64(missing_before(300), 300, "records of a missing packet may be as late as the packet after it");
	is_u64(missing_before(150), 201, "and later than all before it, if the packet after it is older than those");
}

/* Strings that other strings begin with, in one packet: enough of them to have the same places in a table. */
static void test_prefixes(void)
{
	enum { STRINGS = 4000 };
	static const struct ctp_field f = { .name = "text", .type = CTP_STRING };
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_class *cls = ctp_class_new("text", 0, &f, 1, &err);
	struct ctp_str *s = calloc(1, sizeof *s + 16);
	struct mem m = { 0 };
	struct ctp_writer *w = begin(&m, "prefixes");
	unsigned left = STRINGS, wrong = 0;
	for (unsigned i = STRINGS; i--;) {
		s->len = (uint32_t)snprintf(s->data, 16, "%u", i);
		ctp_writer_record(w, cls, &(uint64_t){ ctp_val_str(s) });
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	ctp_input_mem(&in, m.data, m.len);
	struct ctp_reader *r = ctp_reader_new(&in, &notice, &err);
	while (!ctp_reader_next(r, &item, &err))
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++) {
			snprintf(s->data, 16, "%u", --left);
			wrong += strcmp(ctp_str_val(item.batch.rec[i].val[0])->data, s->data) != 0;
		}
	ok(m.npackets == 1 && !left && !wrong, "a string is not taken for a longer one that begins with it");
	ctp_reader_free(r);
	ctp_class_free(cls);
	free(m.data);
	free(s);
}

/* A packet of so many bytes, the sums of which are right, at the end of its input; and the small stream before it. */
static struct outcome read_long(const struct mem *m, size_t len)
{
	size_t whole = m->len + CTP_PACKET_HEADER + len;
	uint8_t *data = calloc(whole, 1), *h = data + m->len;
	memcpy(data, m->data, m->len);
	memcpy(h, m->data, CTP_PACKET_HEADER);
	ctp_store_u32(h + CTP_PACKET_PAYLOAD, (uint32_t)len);
	ctp_store_u32(h + CTP_PACKET_PAYLOAD_CRC, ctp_crc32c(0, h + CTP_PACKET_HEADER, len));
	ctp_store_u32(h + CTP_PACKET_HEADER_CRC, ctp_crc32c(0, h + CTP_PACKET_PAYLOAD_CRC, CTP_PACKET_HEADER - CTP_PACKET_PAYLOAD_CRC));
	struct outcome out = read_all(data, whole, true);
	free(data);
	return out;
}

static void test_long(void)
{
	struct ctp_class *cls[] = { ctp_event_class(CTP_TRANSITION), ctp_event_class(CTP_THREAD) };
	static const size_t longer[] = { CTP_PAYLOAD_MAX, CTP_PAYLOAD_MAX + 1, 6 << 20 };
	struct mem m = { 0 };
	small_stream(&m, cls);
	for (unsigned i = 0; i < sizeof longer / sizeof *longer; i++) {
		struct outcome out = read_long(&m, longer[i]);
		ok(out.transitions == 30 && !out.wrong && out.harmed && out.complete == 1,
		   "a packet of %zu bytes is passed over, and what is before it is read", longer[i]);
	}
	free(m.data);
	ctp_class_free(cls[0]);
	ctp_class_free(cls[1]);
}

static enum ctp_status stop(void *arg, struct ctp_err *err) { (void)arg; return ctp_err_set(err, "no room"); }

/* Input that is read no further, because what was made of it has no place, is not damaged. */
static void test_stopped(void)
{
	struct ctp_class *cls[2] = { ctp_event_class(CTP_TRANSITION), ctp_event_class(CTP_THREAD) };
	struct mem m = { 0 };
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err err;
	int fd[2], before = notices;
	char path[32];
	small_stream(&m, cls);
	bool filled = !pipe(fd) && write(fd[1], m.data, m.len - 1) == (ssize_t)m.len - 1;
	snprintf(path, sizeof path, "/dev/fd/%d", fd[0]);
	ok(filled && !ctp_input_open(&in, path, &err), "a pipe has some of a stream");
	in.idle = stop;
	struct ctp_reader *r = ctp_reader_new(&in, &notice, &err);
	enum ctp_status status;
	while (!(status = ctp_reader_next(r, &item, &err)))
		;
	ok(status == CTP_FAILED, "a read that is stopped within a packet fails");
	ok(!strcmp(err.text, "no room"), "for the reason that is given");
	is_u64((uint64_t)(notices - before), 0, "and the packet is not called damaged");
	ctp_reader_free(r);
	ctp_input_close(&in);
	close(fd[0]);
	close(fd[1]);
	ctp_class_free(cls[0]);
	ctp_class_free(cls[1]);
	free(m.data);
}

/* Packets outside a range of times are passed over, and only those; where one of them is damaged, nobody asks. */
static void test_narrow(void)
{
	enum { PACKETS = 10, EACH = 5, BODY = 64 };
	struct mem m = { 0 };
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	struct ctp_writer *w = begin(&m, "narrow");
	unsigned wrong = 0, harmed = 0, incomplete = 0;
	for (uint64_t i = 0; i < PACKETS; i++) {
		for (uint64_t j = 0; j < EACH; j++)
			put_event(w, cls, 100 * i + j, EACH * i + j);
		ctp_writer_flush(w);
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	m.data[m.packets[5] + BODY] ^= 1;
	for (uint64_t from = 0; from < 1000; from += 51)
		for (uint64_t upto = from; upto < 1000; upto += 77) {
			uint64_t seen = 0, want = 0;
			bool hits = from <= 504 && upto >= 500;
			ctp_input_mem(&in, m.data, m.len);
			struct ctp_reader *r = ctp_reader_new(&in, &notice, &err);
			ctp_reader_narrow(r, from, upto);
			while (ctp_reader_next(r, &item, &err) == CTP_OK)
				if (item.kind == CTP_ITEM_RECORDS)
					seen += item.batch.n;
				else if (item.kind == CTP_ITEM_END)
					incomplete += item.end.complete == hits;
			for (uint64_t i = 0; i < PACKETS; i++) /* the first opens the section, so it is always read */
				want += (i == 0 || (i != 5 && 100 * i <= upto && 100 * i + EACH - 1 >= from)) ? EACH : 0;
			wrong += seen != want;
			harmed += ctp_reader_harmed(r) != hits;
			ctp_reader_free(r);
			ctp_input_close(&in);
		}
	is_u64(wrong, 0, "a range of times reads the packets that may hold it, and no others");
	is_u64(harmed, 0, "damage is reported inside the range, and only there");
	is_u64(incomplete, 0, "and the section is complete accordingly");
	free(m.data);
	ctp_class_free(cls);
}

int main(void)
{
	make_pool();
	test_varint();
	test_crc();
	test_schema();
	test_manual();
	test_random();
	test_lanes();
	test_damage();
	test_skipped();
	test_missing();
	test_prefixes();
	test_long();
	test_stopped();
	test_narrow();
	for (int i = 0; i < 16; i++)
		free(pool[i]);
	return done_testing();
}
