/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * reader.c - packets found, checked and taken apart.
 *
 * The input is hostile. A header is believed when its own checksum holds, a payload when its checksum holds; even then each
 * value is checked, because a writer can be wrong. Wherever something is not as it should be, the search for the next header
 * goes on one byte after the last one that was believed: a length is never trusted to lead to the next packet.
 *
 * Being out of memory is no damage: the reader fails, because the records are there. errno tells, where both end a function.
 */
#include "stream/reader.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/cursor.h"
#include "base/pages.h"
#include "stream/codec.h"
#include "stream/packet.h"
#include "stream/runs.h"
#include "stream/sums.h"

enum { CLASS_SLOTS = 2 * CTP_CLASSES_MAX };

struct ctp_reader {
	struct ctp_input *in;
	const struct ctp_notice *notice;
	struct ctp_reader_stats stats;
	struct ctp_codec *codec;

	/* the packet at hand */
	const uint8_t *payload; /* in the input or in copy, with CTP_RECORD_ROOM readable bytes after it */
	uint8_t *copy;
	size_t payload_bytes;
	uint32_t heads_bytes, keys_bytes;
	struct ctp_lanes_in lanes; /* the part of the payload that is not read yet, once the section is open */
	uint64_t packet_offset, number, section_id;
	uint32_t records_left;
	struct {
		uint64_t first, last; /* first > last: its records have no times */
	} times;
	unsigned flags;
	bool begin_due, end_due;
	bool no_memory; /* for what is in it */

	uint64_t doubt_end; /* offset up to which a payload without its checksum was claimed */
	struct ctp_sums sums;

	uint64_t from_ns, upto_ns; /* packets without a time in this range, which may wrap, are passed over if narrow */
	bool narrow;

	/* the section at hand */
	bool open;
	uint64_t next_number;
	bool gap; /* a packet of the section is missing or not usable */
	bool gap_open; /* and none that is usable has followed */
	uint64_t missing_ns; /* as in struct ctp_section_end */
	uint64_t newest_ns; /* of the packets that were read */
	struct ctp_section section;

	/* every class that was ever declared: a sink may know a class by its address or its id */
	uint32_t nclasses;
	struct ctp_class *classes[CLASS_SLOTS];

	uint64_t last_ns;       /* of the record before; a record without a time has it too */
	struct ctp_runs *runs;  /* that ctp_reader_next gives out */
	struct ctp_record late; /* that ctp_reader_fill gives out */
};

struct ctp_reader *ctp_reader_new(struct ctp_input *in, const struct ctp_notice *notice, struct ctp_err *err)
{
	struct ctp_reader *r = ctp_err_calloc(err, sizeof *r);
	if (!r)
		return NULL;
	r->in = in;
	r->notice = notice;
	r->codec = ctp_codec_new(err);
	r->copy = ctp_pages_new(CTP_PAYLOAD_MAX + CTP_RECORD_ROOM);
	if (!r->codec || !r->copy) {
		ctp_err_memory(err);
		ctp_reader_free(r);
		return NULL;
	}
	return r;
}

void ctp_reader_free(struct ctp_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < CLASS_SLOTS; i++)
		ctp_class_free(r->classes[i]);
	ctp_section_fini(&r->section);
	ctp_codec_free(r->codec);
	ctp_runs_free(r->runs);
	ctp_pages_free(r->copy, CTP_PAYLOAD_MAX + CTP_RECORD_ROOM);
	free(r);
}

const struct ctp_reader_stats *ctp_reader_stats(const struct ctp_reader *r) { return &r->stats; }

uint64_t ctp_reader_offset(const struct ctp_reader *r) { return r->packet_offset; }

void ctp_reader_narrow(struct ctp_reader *r, uint64_t from_ns, uint64_t upto_ns)
{
	r->from_ns = from_ns;
	r->upto_ns = upto_ns;
	r->narrow = true;
}

bool ctp_reader_harmed(const struct ctp_reader *r)
{
	const struct ctp_reader_stats *s = &r->stats;
	return s->damaged_packets || s->missing_packets || s->skipped_bytes || s->cut_short || r->in->harmed;
}

/* --- finding packets ------------------------------------------------------------------------------------------------------- */

static bool header_ok(const uint8_t *h)
{
	uint32_t payload = ctp_load_u32(h + CTP_PACKET_PAYLOAD);
	return !memcmp(h, CTP_PACKET_MAGIC, 8) && h[CTP_PACKET_VERSION] == CTP_STREAM_VERSION && payload <= CTP_PAYLOAD_MAX &&
	       ctp_load_u24(h + CTP_PACKET_HEADS) + ctp_load_u24(h + CTP_PACKET_KEYS) <= payload &&
	       ctp_load_u32(h + CTP_PACKET_HEADER_CRC) ==
	               ctp_crc32c(0, h + CTP_PACKET_PAYLOAD_CRC, CTP_PACKET_HEADER - CTP_PACKET_PAYLOAD_CRC);
}

/* Skips to the next header that holds; false at the end. Bytes in between are counted, and said once. */
static bool find_header(struct ctp_reader *r)
{
	struct ctp_input *in = r->in;
	uint64_t start = in->offset;
	bool other = false, found = false;
	for (;;) {
		size_t have = ctp_input_fill(in, CTP_PACKET_HEADER);
		if (have >= CTP_PACKET_HEADER && header_ok(in->ptr)) {
			found = true;
			break;
		}
		if (!have)
			break;
		other |= have >= CTP_PACKET_HEADER && !memcmp(in->ptr, CTP_PACKET_MAGIC, 8) &&
		         in->ptr[CTP_PACKET_VERSION] != CTP_STREAM_VERSION;
		const uint8_t *next = have > 1 ? memchr(in->ptr + 1, CTP_PACKET_MAGIC[0], have - 1) : NULL;
		ctp_input_skip(in, next ? (size_t)(next - in->ptr) : have);
	}
	uint64_t skipped = in->offset - start;
	if (skipped) {
		r->stats.skipped_bytes += skipped;
		ctp_notice_say(r->notice, "at 0x%llx: %llu byte%s no packet%s", (unsigned long long)start,
		               (unsigned long long)skipped, skipped == 1 ? " is" : "s are",
		               other ? " that this version can read; it was written by another one" : found ? "; skipped" : "");
	}
	return found;
}

/* The packet at hand is wrong: says why, and drops the rest of the packet. */
static __attribute__((cold)) void spoil_packet(struct ctp_reader *r, const char *what)
{
	r->stats.damaged_packets++;
	r->stats.records -= r->lanes.heads ? r->records_left : 0; /* join_section has counted them */
	r->stats.skipped_records += r->records_left;
	r->gap = r->gap_open = true;
	ctp_notice_say(r->notice, "packet at 0x%llx: %s, %u record%s skipped", (unsigned long long)r->packet_offset, what,
	               r->records_left, r->records_left == 1 ? "" : "s");
	r->lanes = (struct ctp_lanes_in){0};
}

/* The packet at hand belongs to the section that is open. */
static bool goes_on(const struct ctp_reader *r)
{
	return r->open && r->section_id == r->section.id && r->number >= r->next_number;
}

/* The packet at hand is the next of the section that is open, or some are missing before it. */
static void count_packet(struct ctp_reader *r)
{
	if (r->number > r->next_number) {
		uint64_t missing = r->number - r->next_number;
		r->stats.missing_packets += missing;
		r->gap = r->gap_open = true;
		ctp_notice_say(r->notice, "packet at 0x%llx: %llu packet%s missing before it", (unsigned long long)r->packet_offset,
		               (unsigned long long)missing, missing == 1 ? " is" : "s are");
	}
	r->next_number = r->number + 1;
	assert(r->open);
}

/*
 * True if no record of the packet at hand is in the range that was asked for. Packets that open or close a section are always read.
 */
static bool unwanted(const struct ctp_reader *r)
{
	uint64_t first = r->times.first, last = r->times.last;
	bool above = first > r->upto_ns, below = last < r->from_ns;
	return r->narrow && goes_on(r) && !(r->flags & CTP_PACKET_IS_LAST) &&
	       (first > last || (r->from_ns <= r->upto_ns ? above || below : above && below));
}

/* True if the packet at hand, of this length, was not cut off: another packet or nothing follows. */
static bool ends_well(struct ctp_input *in, size_t whole)
{
	size_t have = ctp_input_fill(in, whole + CTP_PACKET_HEADER);
	return have == whole || (have >= whole + CTP_PACKET_HEADER && header_ok(in->ptr + whole));
}

/* The payload may be read CTP_RECORD_ROOM bytes beyond its end: in the input, if it has as many, else in the copy. */
static void take_payload(struct ctp_reader *r, size_t whole)
{
	assert(whole >= CTP_PACKET_HEADER && r->in->avail >= whole);
	r->payload = r->in->ptr + CTP_PACKET_HEADER;
	r->payload_bytes = whole - CTP_PACKET_HEADER;
	if (r->in->avail < whole + CTP_RECORD_ROOM) {
		r->payload = memcpy(r->copy, r->payload, r->payload_bytes);
		memset(r->copy + r->payload_bytes, 1, CTP_RECORD_ROOM);
	}
	ctp_input_skip(r->in, whole);
}

/* The payload at hand has its checksum. After one that has not, until where it should end, what was summed is not summed again. */
static bool payload_ok(struct ctp_reader *r, size_t len)
{
	const uint8_t *payload = r->in->ptr + CTP_PACKET_HEADER;
	uint32_t want = ctp_load_u32(r->in->ptr + CTP_PACKET_PAYLOAD_CRC);
	uint64_t offset = r->in->offset + CTP_PACKET_HEADER;
	bool ok = want == (offset < r->doubt_end ? ctp_sums_range(&r->sums, offset, payload, len) : ctp_crc32c(0, payload, len));
	if (!ok && r->doubt_end < offset + len)
		r->doubt_end = offset + len;
	return ok;
}

/* The next packet whose checksums hold is at r->payload; false at the end of the input. */
static bool next_packet(struct ctp_reader *r)
{
	struct ctp_input *in = r->in;
	while (find_header(r)) {
		const uint8_t *h = in->ptr;
		size_t len = ctp_load_u32(h + CTP_PACKET_PAYLOAD), whole = CTP_PACKET_HEADER + len;
		r->packet_offset = in->offset;
		r->records_left = ctp_load_u32(h + CTP_PACKET_RECORDS);
		r->section_id = ctp_load_u64(h + CTP_PACKET_SECTION);
		r->number = ctp_load_u64(h + CTP_PACKET_NUMBER);
		r->flags = h[CTP_PACKET_FLAGS];
		r->times.first = ctp_load_u64(h + CTP_PACKET_FIRST);
		r->times.last = ctp_load_u64(h + CTP_PACKET_LAST);
		r->heads_bytes = ctp_load_u24(h + CTP_PACKET_HEADS);
		r->keys_bytes = ctp_load_u24(h + CTP_PACKET_KEYS);
		if (unwanted(r) && ends_well(in, whole)) {
			count_packet(r);
			ctp_input_skip(in, whole);
			continue;
		}
		size_t have = ctp_input_fill(in, whole);
		if (in->stopped)
			return false;
		if (have < whole || !payload_ok(r, len)) {
			spoil_packet(r, have < whole ? "cut off" : "checksum mismatch");
			/* The payload is searched too: another packet may begin before this one should end. */
			ctp_input_skip(in, CTP_PACKET_HEADER);
			r->stats.skipped_bytes += CTP_PACKET_HEADER;
			const struct ctp_notice *said = r->notice;
			r->notice = NULL;
			bool more = find_header(r);
			r->notice = said;
			if (!more)
				return false;
			continue;
		}
		take_payload(r, whole);
		r->stats.packets++;
		return true;
	}
	return false;
}

/* --- what is in a packet --------------------------------------------------------------------------------------------------- */

static bool parse_section(struct ctp_section *sec, const uint8_t *body, size_t len)
{
	struct ctp_cursor c = {body, body + len, false};
	uint64_t n = ctp_cursor_varint(&c);
	if (n > CTP_ATTRS_MAX || len > CTP_SECTION_BYTES_MAX + 2 * CTP_ATTRS_MAX * CTP_VARINT_MAX)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		char *text[2] = {0};
		for (int j = 0; j < 2; j++) {
			uint64_t bytes = ctp_cursor_varint(&c);
			const uint8_t *p = ctp_cursor_bytes(&c, bytes);
			text[j] = p ? strndup((const char *)p, bytes) : NULL;
		}
		bool added = text[0] && text[1] && (ctp_section_repeats(sec, text[0]) || ctp_section_add(sec, text[0], text[1]));
		free(text[0]);
		free(text[1]);
		if (!added)
			return false;
	}
	return !c.bad;
}

/* The class with this declaration, made if it is new; null if it makes no sense or there are too many. */
static const struct ctp_class *find_class(struct ctp_reader *r, const uint8_t *decl, size_t len, struct ctp_err *err)
{
	size_t i = ctp_crc32c(0, decl, len) % CLASS_SLOTS;
	for (; r->classes[i]; i = (i + 1) % CLASS_SLOTS)
		if (r->classes[i]->decl_bytes == len && !memcmp(r->classes[i]->decl, decl, len))
			return r->classes[i];
	if (r->nclasses == CTP_CLASSES_MAX) {
		ctp_err_as(err, CTP_ERR_DAMAGED, "more than %d classes", CTP_CLASSES_MAX);
		return NULL;
	}
	struct ctp_class *cls = ctp_class_parse(decl, len, err);
	assert(!cls || (cls->decl_bytes == len && !memcmp(cls->decl, decl, len))); /* else the search above would not find it again */
	if (cls) {
		cls->id = r->nclasses++;
		r->classes[i] = cls;
	}
	return cls;
}

/* A control item whose head was read; true if it is a mark. If it makes no sense the packet is spoilt. */
static __attribute__((noinline)) bool control(struct ctp_reader *r, uint64_t kind, struct ctp_item *item)
{
	uint64_t len;
	const uint8_t *p = ctp_varint_get(r->lanes.heads, &len), *end = r->lanes.heads_end;
	if (p > end || len > (uint64_t)(end - p)) {
		spoil_packet(r, "a control item is longer than its packet");
		return false;
	}
	r->lanes.heads = p + len;
	if (kind == CTP_CONTROL_CLASS) {
		struct ctp_err why;
		errno = 0;
		const struct ctp_class *cls = find_class(r, p, len, &why);
		bool declared = cls && ctp_codec_declare(r->codec, cls);
		r->no_memory |= !declared && errno == ENOMEM;
		if (!declared && !r->no_memory)
			spoil_packet(r, cls ? "too many classes" : why.text);
	} else if (kind == CTP_CONTROL_MARK) {
		struct ctp_cursor c = {p, r->lanes.heads, false};
		item->kind = CTP_ITEM_MARK;
		item->mark_ns = ctp_cursor_varint(&c);
		if (c.bad)
			spoil_packet(r, "a mark makes no sense");
		return !c.bad;
	}
	return false;
}

/* A record whose head was read: its class. Null if it makes no sense: then the packet is spoilt. */
static const struct ctp_class *record(struct ctp_reader *r, uint64_t head, uint64_t *val)
{
	const struct ctp_class *cls;
	uint64_t n = head & 3;
	if (n == CTP_HEAD_CLASS)
		r->lanes.heads = ctp_varint_get(r->lanes.heads, &n);
	if (!ctp_codec_decode(r->codec, n, head >> 2, &r->lanes, val, &cls) || !r->records_left) {
		spoil_packet(r, cls ? "a record makes no sense" : "a record of a class that is not declared");
		return NULL;
	}
	r->records_left--;
	return cls;
}

/* --- sections -------------------------------------------------------------------------------------------------------------- */

static void close_section(struct ctp_reader *r, struct ctp_item *item, bool orderly)
{
	assert(r->open);
	item->kind = CTP_ITEM_END;
	item->end = (struct ctp_section_end){.complete = orderly && !r->gap, .missing = r->gap, .missing_ns = r->missing_ns};
	if (!orderly) {
		r->stats.cut_short++;
		ctp_notice_say(r->notice, "the section has no end: it was cut short, or is still being written");
	}
	r->open = false;
}

/* The packet at hand opens a section, or goes on with the one that is open. */
static void begin_section(struct ctp_reader *r)
{
	const uint8_t *p = r->payload, *end = p + r->heads_bytes;
	uint64_t head, len;
	ctp_section_fini(&r->section);
	memset(&r->section, 0, sizeof r->section);
	r->section.id = r->section_id;
	r->next_number = 0;
	r->open = true;
	r->gap = r->gap_open = false;
	r->missing_ns = r->newest_ns = r->last_ns = 0;
	r->stats.sections++;
	if (p == end)
		return;
	p = ctp_varint_get(p, &head);
	p = ctp_varint_get(p, &len);
	errno = 0;
	if (head == CTP_HEAD_CONTROL && p <= end && len <= (uint64_t)(end - p) && parse_section(&r->section, p, len))
		return;
	r->no_memory |= errno == ENOMEM;
	if (!r->no_memory)
		ctp_notice_say(r->notice, "packet at 0x%llx: the section does not say what it is",
		               (unsigned long long)r->packet_offset);
}

static void join_section(struct ctp_reader *r)
{
	count_packet(r);
	if (r->gap_open && r->times.first <= r->times.last) {
		r->missing_ns = r->times.first > r->newest_ns ? r->times.first : r->newest_ns + 1;
		r->gap_open = false;
	}
	if (r->times.first <= r->times.last && r->times.last > r->newest_ns)
		r->newest_ns = r->times.last;
	r->stats.records += r->records_left;
	ctp_codec_reset(r->codec);
	assert(r->heads_bytes + r->keys_bytes <= r->payload_bytes && r->payload_bytes <= CTP_PAYLOAD_MAX); /* by header_ok */
	const uint8_t *heads = r->payload, *keys = heads + r->heads_bytes, *rest = keys + r->keys_bytes;
	r->lanes = (struct ctp_lanes_in){heads, keys, rest, keys, rest, r->payload + r->payload_bytes};
	r->end_due = r->flags & CTP_PACKET_IS_LAST;
	if (!ctp_codec_strings_room(r->codec, r->payload_bytes))
		r->no_memory = true;
}

static enum ctp_status out_of_memory(const struct ctp_reader *r, struct ctp_err *err)
{
	return ctp_err_as(err, CTP_ERR_MEMORY, "%s: packet at 0x%llx: out of memory", r->in->name,
	                  (unsigned long long)r->packet_offset);
}

static enum ctp_status end_of_input(struct ctp_reader *r)
{
	if (!r->stats.sections && !r->stats.cut_short) {
		r->stats.cut_short++;
		/* Bytes that were passed over are said already, and of a frame that is damaged the input tells. */
		if (!r->in->offset && !r->in->harmed)
			ctp_notice_say(r->notice, "the input is empty");
	}
	return CTP_EOF;
}

/*
 * The packet at hand is used up or spoilt. True: another one of the same section is. False: *status says why not, and if that is
 * CTP_OK, a section begins or ends.
 */
static bool next_part(struct ctp_reader *r, struct ctp_item *item, enum ctp_status *status, struct ctp_err *err)
{
	*status = CTP_OK;
	if (!r->begin_due) {
		if (r->records_left && r->lanes.heads)
			spoil_packet(r, "its count of records is wrong");
		else if (r->lanes.keys != r->lanes.keys_end || r->lanes.rest != r->lanes.rest_end)
			spoil_packet(r, "it holds more than its records");
		r->lanes = (struct ctp_lanes_in){0};
		if (r->end_due) {
			r->end_due = false;
			close_section(r, item, true);
			return false;
		}
		if (!next_packet(r)) {
			if (r->in->failed) {
				*err = r->in->err;
				*status = CTP_FAILED;
			} else if (!r->open) {
				*status = end_of_input(r);
			} else {
				close_section(r, item, false);
			}
			return false;
		}
		if (goes_on(r)) {
			join_section(r);
			*status = r->no_memory ? out_of_memory(r, err) : CTP_OK;
			return !r->no_memory;
		}
		r->begin_due = true;
		if (r->open) {
			close_section(r, item, false);
			return false;
		}
	}
	r->begin_due = false;
	begin_section(r);
	join_section(r);
	item->kind = CTP_ITEM_SECTION;
	*status = r->no_memory ? out_of_memory(r, err) : CTP_OK;
	return false;
}

/* Reads records on the fast path, as many as the runs have room for. False: there is none. */
static bool take_some(struct ctp_reader *r, struct ctp_runs *runs, uint64_t from_ns)
{
	size_t max = ctp_runs_records(runs);
	struct ctp_decoded d = {.rec = runs->rec + runs->count, .val = ctp_runs_top(runs), .least_ns = from_ns,
	                        .max = r->records_left < max ? r->records_left : (uint32_t)max,
	                        .last_ns = runs->last_ts, .sorted = runs->sorted};
	ctp_codec_decode_some(r->codec, &r->lanes, &d);
	assert(d.n <= d.max && (uint8_t *)d.val <= runs->arena + runs->arena_bytes);
	if (!d.n)
		return false;
	r->records_left -= d.n;
	r->last_ns = d.last_ns;
	runs->count += d.n;
	runs->used = (size_t)((uint8_t *)d.val - runs->arena);
	runs->last_ts = d.last_ns;
	runs->sorted = d.sorted;
	return true;
}

/* The next item of the packet, of any kind. True: the item is for the caller. A record goes into the runs, unless it is late. */
static bool take_one(struct ctp_reader *r, struct ctp_runs *runs, uint64_t from_ns, struct ctp_item *item)
{
	uint64_t head, *val = ctp_runs_top(runs);
	r->lanes.heads = ctp_varint_get(r->lanes.heads, &head);
	if ((head & 3) == CTP_HEAD_CONTROL)
		return control(r, head >> 2, item);
	const struct ctp_class *cls = record(r, head, val);
	if (!cls)
		return false;
	uint64_t ts = cls->time_field >= 0 ? val[cls->time_field] : r->last_ns > from_ns ? r->last_ns : from_ns;
	r->last_ns = ts;
	if (ts >= from_ns) {
		ctp_runs_add(runs, ts, cls);
		return false;
	}
	r->stats.late++;
	r->late = (struct ctp_record){cls, val, ts};
	item->kind = CTP_ITEM_RECORDS;
	item->batch = (struct ctp_batch){.rec = &r->late, .n = 1, .late = true};
	return true;
}

enum ctp_status ctp_reader_fill(struct ctp_reader *r, struct ctp_runs *runs, uint64_t from_ns, struct ctp_item *item,
                                struct ctp_err *err)
{
	enum ctp_status status;
	item->section = &r->section;
	do {
		while (r->lanes.heads < r->lanes.heads_end) {
			if (!ctp_runs_room(runs))
				return out_of_memory(r, err);
			if (!take_some(r, runs, from_ns) && take_one(r, runs, from_ns, item))
				return CTP_OK;
			if (r->no_memory)
				return out_of_memory(r, err);
			if (ctp_runs_is_full(runs)) {
				item->kind = CTP_ITEM_RECORDS;
				item->batch.n = 0;
				return CTP_OK;
			}
		}
	} while (next_part(r, item, &status, err));
	return status;
}

enum ctp_status ctp_reader_next(struct ctp_reader *r, struct ctp_item *item, struct ctp_err *err)
{
	enum ctp_status status;
	if (!r->runs && !(r->runs = ctp_runs_new(CTP_BATCH_MAX << 8, err)))
		return CTP_FAILED;
	struct ctp_runs *runs = r->runs;
	assert(!runs->ready); /* nothing is released here: the caller gets all of the runs at once */
	runs->used = runs->out = runs->count = 0;
	item->section = &r->section;
	do {
		while (r->lanes.heads < r->lanes.heads_end) {
			if (!ctp_runs_room(runs))
				return out_of_memory(r, err);
			take_some(r, runs, 0);
			if (!runs->count && r->lanes.heads < r->lanes.heads_end && take_one(r, runs, 0, item))
				return CTP_OK;
			if (r->no_memory)
				return out_of_memory(r, err);
			if (!runs->count)
				continue;
			item->kind = CTP_ITEM_RECORDS;
			item->batch = (struct ctp_batch){.rec = runs->rec, .n = (uint32_t)runs->count};
			return CTP_OK;
		}
	} while (next_part(r, item, &status, err));
	return status;
}
