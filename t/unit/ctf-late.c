/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Records that come late, through the CTF sink: each goes to the stream whose last time is closest before it, or to a new
 * stream. When no more streams may be added, it gets a later time and keeps its own in a field. Frequent records go the fast way.
 */
#include <endian.h>
#include <unistd.h>

#include "ctf/ctf.h"
#include "stream/events.h"
#include "tap.h"

enum { HEAD_BYTES = 72, BEGIN_AT = 32 };

static struct ctp_class *cls;
static char dir[64] = "/tmp/ctf-late.XXXXXX";

static void feed(struct ctp_sink *sink, const uint64_t *times, size_t n)
{
	struct ctp_err err;
	bool good = true;
	for (size_t i = 0; i < n; i++) {
		uint64_t val[] = {times[i], i};
		const struct ctp_record rec = {.cls = cls, .val = val, .ts_ns = times[i]};
		good &= sink->ops->records(sink, &(struct ctp_batch){.rec = &rec, .n = 1}, &err) == CTP_OK;
	}
	ok(good, "the sink takes all records");
}

static uint64_t get(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;
	memcpy(&v, p, bytes);
	return le64toh(v);
}

/* Lists the events of a stream of one packet: time, (time of the record, if it differs), number. */
static const char *list(unsigned stream)
{
	static char text[512];
	uint8_t data[1024];
	char path[128];
	size_t len = 0;
	snprintf(path, sizeof path, "%s/t/stream_%u", dir, stream);
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(data, 1, sizeof data, f) : 0;
	if (f)
		fclose(f);
	text[0] = '\0';
	uint64_t now = n > HEAD_BYTES ? get(data + BEGIN_AT, 8) : 0;
	for (const uint8_t *p = data + HEAD_BYTES; p < data + n;) {
		uint64_t head = get(p, 4), timed = head & CTP_CTF_TIMED;
		now += ((head >> 5) - now) & ((1 << 27) - 1);
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%" PRIu64, len ? " " : "", now);
		if (timed)
			len += (size_t)snprintf(text + len, sizeof text - len, "(%" PRIu64 ")", get(p + 4, 8));
		p += timed ? 12 : 4;
		len += (size_t)snprintf(text + len, sizeof text - len, ":%" PRIu64, get(p, 4));
		p += 4;
	}
	return text;
}

/* The fast path for ctp-collect's transitions gives the same bytes as the general one. */
static void check_quick_way(void)
{
	static const uint64_t val[CTP_TRANSITION_FIELDS] = {UINT64_MAX - 1, 2, UINT64_MAX - 3, 4, 1, 6, 7, 8, 9};
	struct ctp_class *transition = ctp_event_class(CTP_TRANSITION);
	struct ctp_ctf_layout *layout = transition ? ctp_ctf_layout_new(transition, 0) : NULL;
	char quick[128] = "", plain[128] = "";
	ok(layout && layout->is_frequent && layout->room <= sizeof quick, "transitions take the fast path");
	size_t bytes = (size_t)(ctp_ctf_pack(quick, layout, val) - quick);
	layout->is_frequent = false;
	ok(bytes == 34 && ctp_ctf_pack(plain, layout, val) == plain + bytes && !memcmp(plain, quick, bytes),
	   "the fast path gives the same bytes");
	free(layout);
	ctp_class_free(transition);
}

int main(void)
{
	static const struct ctp_field fields[] = {
		{.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME}, {.name = "n", .type = CTP_U64},
	};
	static const uint64_t times[] = {1000, 2000, 1500, 1400, 1300, 1600, 1200, 1350, 2000, 1399, 100, UINT64_MAX};
	struct ctp_section *sec = calloc(1, sizeof *sec);
	struct ctp_err err;
	char path[128], command[128];
	cls = ctp_class_new("x", CTP_KIND_OTHER, fields, 2, &err);
	if (!mkdtemp(dir) || !cls || !sec)
		return 1;
	snprintf(path, sizeof path, "%s/t", dir);
	struct ctp_sink *sink = ctp_ctf_sink(path, false, &err);
	ok(sink && sink->ops->section(sink, sec, &err) == CTP_OK, "the sink opens a section");
	feed(sink, times, sizeof times / sizeof *times);
	const struct ctp_section_end end = {.complete = true};
	ok(sink->ops->end(sink, &end, &err) == CTP_OK && sink->ops->finish(sink, &err) == CTP_OK, "the section is finished");
	sink->ops->free(sink);
	is(list(0), "1000:0 2000:1 2000:8 2000(18446744073709551615):11", "the first stream has the records that are in order");
	is(list(1), "1500:2 1600:5", "the second stream has the first late record, and what follows it");
	is(list(2), "1400:3", "the third stream has a record that is even later");
	is(list(3), "1300:4 1300(1200):6 1350:7 1399:9 1399(100):10",
	   "the last stream also has records that fit no stream at their own time");
	snprintf(path, sizeof path, "%s/t/stream_4", dir);
	ok(access(path, F_OK), "there is no fifth stream");
	snprintf(command, sizeof command, "rm -rf %s", dir);
	ok(!system(command), "the folder is removed");
	ctp_class_free(cls);
	free(sec);
	check_quick_way();
	done_testing();
}
