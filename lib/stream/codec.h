/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * codec.h - records to bytes and back, driven by the class's own table: one piece of code for every class.
 *
 * A packet has its records in three lanes, because what is alike stands together there, and neither the coder nor a compressor has
 * to look past the rest: heads (the class of each record, and which fields the predictor missed), keys (its key and its time), and
 * the rest: the fields that are always written, then those that were missed, in the order of struct ctp_codec_plan. Both sides
 * predict from what they have both seen in this packet:
 *
 *	- the time of the record before, of whatever class;
 *	- the record before of the same class;
 *	- a context of CTP_CONTEXT_WORDS words, found by the record's key. There are 2^CTP_CONTEXT_BITS contexts, whatever the
 *	  number of keys. Two keys that share a context spoil each other's predictions, never each other's values: a value that
 *	  was not predicted is written. Two classes never share a context: a class that finds words of another takes them for
 *	  zero, because a word may be a value of another type.
 *
 * A packet starts with all of that at zero. See ctp-stream.5 for the bytes.
 */
#ifndef CTP_CODEC_H
#define CTP_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/varint.h"
#include "stream/packet.h"
#include "stream/record.h"
#include "stream/schema.h"

enum {
	CTP_CONTEXT_BITS = 14,

	/* Room that a record needs apart from its strings' bytes: head, class, and per field at most a string's code and length. */
	CTP_RECORD_ROOM = 2 * CTP_VARINT_MAX + CTP_FIELDS_MAX * 2 * CTP_VARINT_MAX,
	CTP_RECORD_TEXT_MAX = 2 << 20, /* bytes of all strings of one record; the writer cuts */
};

/* What both sides remember within a packet. */
struct ctp_codec;
struct ctp_codec *ctp_codec_new(struct ctp_err *err);
void ctp_codec_free(struct ctp_codec *c);
void ctp_codec_reset(struct ctp_codec *c); /* a new packet */

/* The packet's next class; its number is the count of those before. False: CTP_CLASSES_MAX are there, or out of memory. */
bool ctp_codec_declare(struct ctp_codec *c, const struct ctp_class *cls);

/* Where the lanes of a packet that is written end, and where the rest begins, which must not move during a packet. */
struct ctp_lanes {
	uint8_t *heads, *keys, *rest;
	const uint8_t *base; /* of the rest: interned strings are found again in it */
};

/* Appends a record of the packet's n-th class. Each lane has CTP_RECORD_ROOM free, and the rest its strings' bytes besides. */
void ctp_codec_encode(struct ctp_codec *c, unsigned n, const uint64_t *val, struct ctp_lanes *to);

/*
 * The same of as many records of the packet's n-th class as follow each other, up to count; returns how many. 0: the class has
 * texts, or no key or no time, and its records are for ctp_codec_encode.
 */
uint32_t ctp_codec_encode_some(struct ctp_codec *c, unsigned n, const struct ctp_record *rec, uint32_t count, struct ctp_lanes *to);

/*
 * The lanes of a packet that is read, from the next record on. Numbers are not checked against an end one by one: CTP_RECORD_ROOM
 * readable bytes must follow each lane.
 */
struct ctp_lanes_in {
	const uint8_t *heads, *keys, *rest;
	const uint8_t *heads_end, *keys_end, *rest_end;
};

/*
 * Reads a record of the packet's n-th class, whose head is already read. False if it makes no sense, or is longer than its lanes;
 * *cls is null if there is no such class. val has room for CTP_FIELDS_MAX; the strings that it points to are good until the next
 * reset.
 */
bool ctp_codec_decode(struct ctp_codec *c, uint64_t n, uint64_t mask, struct ctp_lanes_in *from, uint64_t *val,
                      const struct ctp_class **cls);

/* Where decoded records go: one after the other, n of them so far. */
struct ctp_decoded {
	struct ctp_record *rec;
	uint64_t *val;    /* of the next record */
	uint32_t n, max;
	uint64_t least_ns; /* decoding ends before an older record */
	uint64_t last_ns;  /* time of the record before */
	bool sorted;       /* no record was older than the one before */
};

/*
 * Reads records as long as the fast path applies: they have a time and a key, no texts, and are not older than least_ns. It
 * ends at d->max, at the end of the heads, or in front of anything else, which is for ctp_codec_decode to read or to refuse.
 */
void ctp_codec_decode_some(struct ctp_codec *c, struct ctp_lanes_in *from, struct ctp_decoded *d);

/*
 * The strings of all records of a packet are at most CTP_SAID_FACTOR times as long as its payload: else a few bytes could name a long one
 * again and again. (Those of one record may all be the same.)
 */
enum { CTP_SAID_FACTOR = CTP_FIELDS_MAX };

/* Before decoding a packet: room for its strings. */
bool ctp_codec_strings_room(struct ctp_codec *c, size_t payload_bytes);

#endif
