/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * toperfetto.c - whatever records come, in whatever classes: a timeline for Perfetto is whole packets of whole fields, in which
 * every slice that ends has begun, every number of a text was declared, and an arrow begins and ends once; Chrome's form is JSON,
 * and each of its arrows has both ends. Covers: formats/perfetto lib/analyse
 */
#include "textmem.h"
#include "perfetto/perfetto.h"
#include "steps.h"
#include "valid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TRACKS = 1 << 16, ARROWS = 1 << 16 };

static int64_t depth[TRACKS]; /* open slices of each track */
static uint64_t names;        /* that the sequence has declared */
static enum { NONE, BEGUN, ENDED } arrows[ARROWS];

struct field {
	uint64_t number, value;
	const uint8_t *from, *upto; /* of bytes; null: value */
};

static uint64_t varint(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;
	for (unsigned shift = 0;; shift += 7) {
		must(*p < end && shift < 64, "a number that is cut");
		v |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return v;
	}
}

static bool next(struct field *f, const uint8_t **p, const uint8_t *end)
{
	if (*p == end)
		return false;
	uint64_t tag = varint(p, end);
	*f = (struct field){.number = tag >> 3};
	if ((tag & 7) == 0) {
		f->value = varint(p, end);
		return true;
	}
	must((tag & 7) == 1 || (tag & 7) == 2, "another type");
	uint64_t len = (tag & 7) == 1 ? 8 : varint(p, end);
	must(len <= (uint64_t)(end - *p), "bytes that are cut");
	f->from = *p;
	f->upto = *p += len;
	return true;
}

static uint64_t value_of(const struct field *in, uint64_t number)
{
	struct field f;
	for (const uint8_t *p = in->from; next(&f, &p, in->upto);)
		if (f.number == number)
			return f.value;
	return 0;
}

static void check_interned(const struct field *in)
{
	struct field f;
	for (const uint8_t *p = in->from; next(&f, &p, in->upto);)
		if (f.number == 2)
			must(value_of(&f, 1) == ++names, "a name out of turn");
}

static void check_arrows(const struct field *event)
{
	struct field f;
	for (const uint8_t *p = event->from; next(&f, &p, event->upto);) {
		uint64_t number = 0;
		if (f.number != 47 && f.number != 48)
			continue;
		must(f.upto - f.from == 8, "an arrow is a fixed64");
		memcpy(&number, f.from, sizeof number);
		must(number, "an arrow without a number");
		if (number >= ARROWS)
			continue;
		must(f.number == 47 ? arrows[number] != ENDED : arrows[number] == BEGUN, "an arrow that ends twice, or has not begun");
		arrows[number] = f.number == 47 ? BEGUN : ENDED;
	}
}

/* In JSON, how often a text comes. */
static size_t count_of(const char *data, size_t len, const char *text)
{
	size_t n = 0, bytes = strlen(text);
	for (const char *p = data, *end = data + len; (p = memmem(p, (size_t)(end - p), text, bytes)); p += bytes)
		n++;
	return n;
}

static void check_packet(const struct field *packet)
{
	struct field f, event = {0}, interned = {0};
	uint64_t flags = 0;
	for (const uint8_t *p = packet->from; next(&f, &p, packet->upto);) {
		event = f.number == 11 ? f : event;
		interned = f.number == 12 ? f : interned;
		flags = f.number == 13 ? f.value : flags;
	}
	if (flags & 1)
		names = 0;
	if (interned.from)
		check_interned(&interned);
	if (!event.from)
		return;
	check_arrows(&event);
	uint64_t type = value_of(&event, 9), track = value_of(&event, 11);
	must(track && value_of(&event, 10) <= names, "no track, or a name that is not declared");
	if (track < TRACKS && (type == 1 || type == 2))
		must((depth[track] += type == 1 ? 1 : -1) >= 0, "the end of a slice that has not begun");
}

static void check(const uint8_t *data, size_t len)
{
	struct field f;
	memset(depth, 0, sizeof depth);
	memset(arrows, 0, sizeof arrows);
	for (const uint8_t *p = data; next(&f, &p, data + len);) {
		must(f.number == 1 && f.from, "no packet");
		check_packet(&f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem text;
	struct ctp_output out;
	struct steps s;
	steps_start(&s, data, size);
	uint8_t how = steps_byte(&s);
	struct ctp_perfetto_left left = {0};
	struct ctp_perfetto_options options = {.lanes = how & 1 ? 2 : CTP_PERFETTO_LANES, .report.no_symbols = how & 2, .chrome = how & 4,
	                                       .threads_only = how & 8, .left = &left};
	if (how & 16)
		options.report.since_ns = steps_number(&s), options.report.until_ns = steps_number(&s);
	textmem_open(&out);
	struct ctp_sink *sink = ctp_perfetto_sink(&out, &options, &s.err);
	must(sink, "no sink");
	steps_run(&s, sink);
	if (steps_finish(&s)) {
		textmem_take(&text);
		const char *json = (const char *)text.data;
		if (options.chrome) {
			valid_must(valid_json(json, text.len), "no JSON", json, text.len);
			must(count_of(json, text.len, ",\"ph\":\"s\",") == count_of(json, text.len, ",\"ph\":\"f\","), "half an arrow");
		} else {
			check((const uint8_t *)text.data, text.len);
		}
	} else {
		must(strstr(s.err.text, "has no clock"), s.err.text);
	}
	steps_fini(&s);
	return 0;
}
