/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * writer.c - packets: each stands alone.
 *
 * A packet begins with the section's attributes and declares each class before its first record in that packet, so that any
 * packet can be lost, cut out or read by itself. That costs a few hundred bytes for each; packets are large when there is much
 * to write, and where there is little a few hundred bytes do not matter.
 */
#include "stream/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/pages.h"
#include "stream/codec.h"
#include "stream/packet.h"

enum {
	PACKET_FULL = 256 << 10, /* payload bytes at which a packet is sent */
	SOME_RECORDS = 64,       /* records that are written before the size of the packet is looked at */
	CLASS_SLOTS = 2 * CTP_CLASSES_MAX,
	PREAMBLE_BYTES = CTP_SECTION_BYTES_MAX + (2 * CTP_ATTRS_MAX + 4) * CTP_VARINT_MAX,
};

_Static_assert(CTP_PAYLOAD_MAX >= PACKET_FULL + CTP_SECTION_BYTES_MAX + CTP_RECORD_TEXT_MAX +
                                  SOME_RECORDS * CTP_RECORD_ROOM + (128 << 10),
               "a record fits into any packet that is not full");
_Static_assert(CTP_WRITER_ROOM == CTP_PACKET_HEADER + CTP_PAYLOAD_MAX, "and a packet into its room");

struct ctp_writer {
	ctp_writer_room *room;  /* null: packets are made in own */
	ctp_writer_put *put;
	void *arg;
	struct ctp_output *out; /* null: where packets go is not known */
	bool open, failed;
	struct ctp_codec *codec;
	uint8_t *own;
	uint8_t *packet;        /* header and payload, in CTP_WRITER_ROOM bytes; the first lane is filled in place */
	uint8_t *keys, *rest;   /* the others, until the packet is sent */
	struct ctp_lanes at;    /* where the next record goes; heads null while no packet is begun */
	uint32_t records;
	uint64_t said; /* bytes of strings of these records */
	uint64_t first_ns, last_ns;
	uint64_t section, number;
	uint8_t *preamble;      /* the section's attributes, as they open each packet */
	size_t preamble_bytes;
	const struct ctp_class *last; /* class of the last record in this packet, and its number */
	uint32_t last_n;
	uint32_t nclasses;      /* declared in this packet */
	uint64_t packets;       /* begun */
	struct class_slot {     /* class to its number in this packet */
		const struct ctp_class *cls;
		uint32_t n;
		uint64_t packet;    /* another packet: the slot is free */
	} slots[CLASS_SLOTS];
};

struct ctp_writer *ctp_writer_new_in(ctp_writer_room *room, ctp_writer_put *put, void *arg, struct ctp_err *err)
{
	struct ctp_writer *w = ctp_err_calloc(err, sizeof *w);
	if (!w)
		return NULL;
	w->room = room;
	w->put = put;
	w->arg = arg;
	w->codec = ctp_codec_new(err);
	w->own = room ? NULL : ctp_pages_new(CTP_WRITER_ROOM);
	w->keys = ctp_pages_new(CTP_PAYLOAD_MAX);
	w->rest = ctp_pages_new(CTP_PAYLOAD_MAX);
	w->preamble = ctp_pages_new(PREAMBLE_BYTES);
	if (!w->codec || (!room && !w->own) || !w->keys || !w->rest || !w->preamble) {
		ctp_err_memory(err);
		ctp_writer_free(w);
		return NULL;
	}
	return w;
}

struct ctp_writer *ctp_writer_new(ctp_writer_put *put, void *arg, struct ctp_err *err)
{
	return ctp_writer_new_in(NULL, put, arg, err);
}

struct ctp_writer *ctp_writer_to(struct ctp_output *out, struct ctp_err *err)
{
	struct ctp_writer *w = ctp_writer_new(ctp_output_packet, out, err);
	if (w)
		w->out = out;
	return w;
}

void ctp_writer_free(struct ctp_writer *w)
{
	if (!w)
		return;
	ctp_codec_free(w->codec);
	ctp_pages_free(w->own, CTP_WRITER_ROOM);
	ctp_pages_free(w->keys, CTP_PAYLOAD_MAX);
	ctp_pages_free(w->rest, CTP_PAYLOAD_MAX);
	ctp_pages_free(w->preamble, PREAMBLE_BYTES);
	free(w);
}

static uint8_t *put_control(uint8_t *p, unsigned kind, size_t len)
{
	p = ctp_varint_put(p, (uint64_t)kind << 2 | CTP_HEAD_CONTROL);
	return ctp_varint_put(p, len);
}

void ctp_writer_begin(struct ctp_writer *w, const struct ctp_section *sec)
{
	if (w->open)
		ctp_writer_end(w, false);
	assert(sec->nattrs <= CTP_ATTRS_MAX); /* ctp_section_add takes no more */
	/* The body is written first, after room for its head and length. */
	uint8_t *body = w->preamble + 2 * CTP_VARINT_MAX, *p = ctp_varint_put(body, sec->nattrs);
	for (uint32_t i = 0; i < sec->nattrs; i++) {
		p = ctp_put_text(p, sec->attrs[i].name);
		p = ctp_put_text(p, sec->attrs[i].value);
	}
	size_t len = (size_t)(p - body);
	uint8_t *at = put_control(w->preamble, CTP_CONTROL_SECTION, len);
	memmove(at, body, len);
	w->preamble_bytes = (size_t)(at - w->preamble) + len;
	assert(w->preamble_bytes <= PREAMBLE_BYTES);
	w->section = sec->id;
	w->number = 0;
	w->open = true;
}

static void begin_packet(struct ctp_writer *w)
{
	assert(w->open && !w->at.heads);
	ctp_codec_reset(w->codec);
	w->packets++;
	w->nclasses = 0;
	w->last = NULL;
	w->records = 0;
	w->said = 0;
	w->first_ns = UINT64_MAX;
	w->last_ns = 0;
	w->packet = w->room ? w->room(w->arg) : w->own;
	assert(w->packet);
	memcpy(w->packet + CTP_PACKET_HEADER, w->preamble, w->preamble_bytes);
	w->at = (struct ctp_lanes){w->packet + CTP_PACKET_HEADER + w->preamble_bytes, w->keys, w->rest, w->rest};
}

/* Bytes of the packet, but for its header. */
static size_t payload_bytes(const struct ctp_writer *w)
{
	return (size_t)(w->at.heads - w->packet - CTP_PACKET_HEADER) + (size_t)(w->at.keys - w->keys) +
	       (size_t)(w->at.rest - w->rest);
}

static void send_packet(struct ctp_writer *w, unsigned flags)
{
	uint8_t *h = w->packet, *p = w->at.heads;
	size_t len = payload_bytes(w), keys = (size_t)(w->at.keys - w->keys), rest = (size_t)(w->at.rest - w->rest);
	assert(w->open && w->at.heads);
	assert(len <= CTP_PAYLOAD_MAX && keys + rest <= len); /* header_ok of reader.c refuses others */
	memcpy(p, w->keys, keys);
	memcpy(p + keys, w->rest, rest);
	memset(h, 0, CTP_PACKET_HEADER);
	memcpy(h, CTP_PACKET_MAGIC, 8);
	ctp_store_u32(h + CTP_PACKET_PAYLOAD_CRC, ctp_crc32c(0, h + CTP_PACKET_HEADER, len));
	ctp_store_u32(h + CTP_PACKET_PAYLOAD, (uint32_t)len);
	ctp_store_u32(h + CTP_PACKET_RECORDS, w->records);
	ctp_store_u64(h + CTP_PACKET_SECTION, w->section);
	ctp_store_u64(h + CTP_PACKET_NUMBER, w->number++);
	ctp_store_u64(h + CTP_PACKET_FIRST, w->first_ns);
	ctp_store_u64(h + CTP_PACKET_LAST, w->last_ns);
	h[CTP_PACKET_VERSION] = CTP_STREAM_VERSION;
	h[CTP_PACKET_FLAGS] = (uint8_t)flags;
	ctp_store_u24(h + CTP_PACKET_HEADS, (uint32_t)(len - keys - rest));
	ctp_store_u24(h + CTP_PACKET_KEYS, (uint32_t)keys);
	ctp_store_u32(h + CTP_PACKET_HEADER_CRC,
	              ctp_crc32c(0, h + CTP_PACKET_PAYLOAD_CRC, CTP_PACKET_HEADER - CTP_PACKET_PAYLOAD_CRC));
	w->at.heads = NULL;
	if (!w->failed && !w->put(w->arg, h, CTP_PACKET_HEADER + len))
		w->failed = true;
}

/* A packet with room for any record and this many bytes of text. */
static void make_room(struct ctp_writer *w, size_t text)
{
	if (w->at.heads && payload_bytes(w) + text > PACKET_FULL + CTP_RECORD_TEXT_MAX / 2)
		send_packet(w, 0);
	if (!w->at.heads)
		begin_packet(w);
}

static inline size_t class_slot(const struct ctp_class *cls) { return ((uintptr_t)cls >> 4) * 0x9e3779b1u % CLASS_SLOTS; }

/* The class's number in this packet, declared if it has to be. */
static uint32_t class_number(struct ctp_writer *w, const struct ctp_class *cls)
{
	size_t i = class_slot(cls);
	while (w->slots[i].packet == w->packets && w->slots[i].cls != cls)
		i = (i + 1) % CLASS_SLOTS;
	if (w->slots[i].packet == w->packets)
		return w->slots[i].n;
	if (w->nclasses == CTP_CLASSES_MAX || cls->decl_bytes > CTP_SECTION_BYTES_MAX || !ctp_codec_declare(w->codec, cls))
		return UINT32_MAX;
	w->slots[i] = (struct class_slot){cls, w->nclasses, w->packets};
	w->at.heads = put_control(w->at.heads, CTP_CONTROL_CLASS, cls->decl_bytes);
	memcpy(w->at.heads, cls->decl, cls->decl_bytes);
	w->at.heads += cls->decl_bytes;
	return w->nclasses++;
}

/* Cuts the strings of a record to the limits: val has the copies that are shorter. Returns the bytes of all strings. */
static size_t cut_strings(const struct ctp_class *cls, uint64_t *val, struct ctp_str **copies)
{
	size_t sum = 0, ncopies = 0;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_str *s = ctp_type_is_text(cls->fields[i].type) ? ctp_str_val(val[i]) : NULL;
		if (!s)
			continue;
		size_t most = CTP_RECORD_TEXT_MAX - sum < CTP_STRING_MAX ? CTP_RECORD_TEXT_MAX - sum : CTP_STRING_MAX;
		if (s->len > most) {
			struct ctp_str *cut = malloc(sizeof *cut + most + 1);
			if (cut) {
				cut->len = (uint32_t)most;
				memcpy(cut->data, s->data, most);
				copies[ncopies++] = cut;
			}
			val[i] = ctp_val_str(cut);
		}
		sum += s->len < most ? s->len : most;
	}
	assert(sum <= CTP_RECORD_TEXT_MAX && ncopies <= cls->nfields);
	return sum;
}

static size_t text_of(const struct ctp_class *cls, const uint64_t *val, bool *too_long)
{
	size_t sum = 0;
	if (!cls->has_text)
		return 0;
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (ctp_type_is_text(cls->fields[i].type) && val[i]) {
			size_t len = ctp_str_val(val[i])->len;
			*too_long |= len > CTP_STRING_MAX;
			sum += len;
		}
	*too_long |= sum > CTP_RECORD_TEXT_MAX;
	return sum;
}

static inline void note_time(struct ctp_writer *w, uint64_t ts)
{
	w->first_ns = ts < w->first_ns ? ts : w->first_ns;
	w->last_ns = ts > w->last_ns ? ts : w->last_ns;
}

static inline void write_record(struct ctp_writer *w, const struct ctp_class *cls, const uint64_t *val, size_t text)
{
	if (w->at.heads && w->said && text && w->said + text > CTP_SAID_FACTOR * payload_bytes(w))
		send_packet(w, 0); /* in the next one they are written out again */
	make_room(w, text);
	uint32_t n = cls == w->last ? w->last_n : class_number(w, cls);
	if (n == UINT32_MAX) { /* more classes than a packet holds: the next one starts afresh */
		send_packet(w, 0);
		begin_packet(w);
		if ((n = class_number(w, cls)) == UINT32_MAX) {
			w->failed = true;
			return;
		}
	}
	w->last = cls;
	w->last_n = n;
	assert(payload_bytes(w) + text + CTP_RECORD_ROOM <= CTP_PAYLOAD_MAX);
	ctp_codec_encode(w->codec, n, val, &w->at);
	w->records++;
	w->said += text;
	assert(w->said <= CTP_SAID_FACTOR * payload_bytes(w)); /* strings_fit of codec-decode.c refuses more */
	if (cls->time_field >= 0)
		note_time(w, val[cls->time_field]);
	if (payload_bytes(w) >= PACKET_FULL)
		send_packet(w, 0);
}

/* A record of any class. */
static void write_any(struct ctp_writer *w, const struct ctp_class *cls, const uint64_t *val)
{
	assert(w->open);
	bool too_long = false;
	size_t text = text_of(cls, val, &too_long);
	if (__builtin_expect(!too_long, 1)) {
		write_record(w, cls, val, text);
		return;
	}
	uint64_t cut[CTP_FIELDS_MAX];
	struct ctp_str *copies[CTP_FIELDS_MAX] = {0};
	memcpy(cut, val, cls->nfields * sizeof *cut);
	text = cut_strings(cls, cut, copies);
	write_record(w, cls, cut, text);
	for (size_t i = 0; copies[i] && i < CTP_FIELDS_MAX; i++)
		free(copies[i]);
}

/* Whether the packet has the class, by the last class and one slot. True: the class is the last one now. */
static inline bool has_class(struct ctp_writer *w, const struct ctp_class *cls)
{
	const struct class_slot *slot = &w->slots[class_slot(cls)];
	if (cls == w->last)
		return true;
	if (slot->packet != w->packets || slot->cls != cls)
		return false;
	w->last = cls;
	w->last_n = slot->n;
	return true;
}

/* Leading records of classes that the packet has, up to SOME_RECORDS; returns how many. */
static uint32_t write_some(struct ctp_writer *w, const struct ctp_record *rec, uint32_t count)
{
	uint32_t n = 0, more = 1;
	count = w->at.heads ? count < SOME_RECORDS ? count : SOME_RECORDS : 0;
	for (; more && n < count && has_class(w, rec[n].cls); n += more)
		more = ctp_codec_encode_some(w->codec, w->last_n, rec + n, count - n, &w->at);
	for (uint32_t i = 0; i < n; i++)
		note_time(w, rec[i].val[rec[i].cls->time_field]);
	w->records += n;
	assert(!n || payload_bytes(w) + CTP_RECORD_ROOM <= CTP_PAYLOAD_MAX); /* SOME_RECORDS fit into any packet that is not full */
	if (n && payload_bytes(w) >= PACKET_FULL)
		send_packet(w, 0);
	return n;
}

void ctp_writer_records(struct ctp_writer *w, const struct ctp_batch *batch)
{
	for (uint32_t i = 0, n; i < batch->n; i += n) {
		n = write_some(w, batch->rec + i, batch->n - i);
		if (n)
			continue;
		write_any(w, batch->rec[i].cls, batch->rec[i].val);
		n = 1;
	}
}

void ctp_writer_record(struct ctp_writer *w, const struct ctp_class *cls, const uint64_t *val)
{
	const struct ctp_record rec = {.cls = cls, .val = val};
	if (!write_some(w, &rec, 1))
		write_any(w, cls, val);
}

void ctp_writer_mark(struct ctp_writer *w, uint64_t ts_ns)
{
	assert(w->open);
	make_room(w, 0);
	uint8_t body[CTP_VARINT_MAX];
	size_t len = (size_t)(ctp_varint_put(body, ts_ns) - body);
	w->at.heads = put_control(w->at.heads, CTP_CONTROL_MARK, len);
	memcpy(w->at.heads, body, sizeof body);
	w->at.heads += len;
	assert(payload_bytes(w) <= CTP_PAYLOAD_MAX);
}

void ctp_writer_skip(struct ctp_writer *w)
{
	assert(w->open);
	if (w->at.heads)
		send_packet(w, 0);
	w->number++;
	begin_packet(w); /* it shows the gap, also if it stays empty */
}

void ctp_writer_flush(struct ctp_writer *w)
{
	if (w->at.heads)
		send_packet(w, 0);
	if (w->out && !ctp_output_flush(w->out))
		w->failed = true;
}

size_t ctp_writer_pending(const struct ctp_writer *w) { return w->at.heads ? CTP_PACKET_HEADER + payload_bytes(w) : 0; }

bool ctp_writer_end(struct ctp_writer *w, bool complete)
{
	assert(w->open);
	if (!w->at.heads && complete)
		begin_packet(w);
	if (w->at.heads)
		send_packet(w, complete ? CTP_PACKET_IS_LAST : 0);
	w->open = false;
	return !w->failed;
}

bool ctp_writer_failed(const struct ctp_writer *w) { return w->failed; }
