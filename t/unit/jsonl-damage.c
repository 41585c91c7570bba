/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * A small stream, truncated at every byte and with every bit flipped, read, sorted and written as JSONL: nothing crashes,
 * all damage is noticed, and every output line is one of the intact stream's, in the same order.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "jsonl/jsonl.h"
#include "stream/events.h"
#include "tap.h"

enum { STREAM_MAX = 64 << 10, TEXT_MAX = 64 << 10 };

static uint8_t stream[STREAM_MAX];
static size_t stream_bytes;
static char truth[TEXT_MAX];

static bool keep(void *arg, const void *packet, size_t len)
{
	(void)arg;
	if (len > STREAM_MAX - stream_bytes)
		exit(1);
	memcpy(stream + stream_bytes, packet, len);
	stream_bytes += len;
	return true;
}

/* Two sections of a few packets: transitions, a text, marks, an end. */
static void make_stream(void)
{
	struct ctp_err err;
	struct ctp_writer *w = ctp_writer_new(keep, NULL, &err);
	struct ctp_class *transition = ctp_event_class(CTP_TRANSITION), *thread = ctp_event_class(CTP_THREAD);
	struct ctp_section *sec = malloc(sizeof *sec);
	struct { uint32_t len; char data[8]; } name = {3, "abc"};
	for (uint64_t s = 0; s < 2; s++) {
		ctp_section_init(sec);
		ctp_section_add(sec, "host", "here");
		ctp_writer_begin(w, sec);
		for (uint64_t i = 0; i < 12; i++) {
			uint64_t ts = 1000 * s + 10 * (i ^ 1); /* in pairs, the later first */
			uint64_t event[CTP_TRANSITION_FIELDS] = {7, 8 + i % 2, i % 2 ? 0x400000 : 0, 2 * i, i % 2, ts, 1, i};
			uint64_t named[CTP_THREAD_FIELDS] = {ts, i, 8, ctp_val_str((void *)&name)};
			ctp_writer_record(w, transition, event);
			if (i % 4 == 1)
				ctp_writer_record(w, thread, named);
			if (i % 4 == 3) {
				ctp_writer_mark(w, ts);
				ctp_writer_flush(w);
			}
		}
		ctp_writer_end(w, true);
		ctp_section_fini(sec);
	}
	free(sec);
	ctp_writer_free(w);
	ctp_class_free(transition);
	ctp_class_free(thread);
}

/* The stream's bytes as JSON lines. *harmed: the damage was noticed. */
static size_t convert(const uint8_t *data, size_t len, bool all, char *text, bool *harmed)
{
	struct ctp_input in;
	struct ctp_output out;
	struct ctp_err err;
	struct ctp_convert_stats stats = {0};
	int fd = memfd_create("out", 0);
	ctp_input_mem(&in, data, len);
	if (fd < 0 || ctp_output_fd(&out, fd, "out", &err))
		exit(1);
	struct ctp_sink *sink = ctp_jsonl_sink(&out, all, NULL, &err);
	if (ctp_convert(&in, sink, NULL, NULL, &stats, &err) || sink->ops->finish(sink, &err))
		stats.harmed = true;
	sink->ops->free(sink);
	ctp_input_close(&in);
	ssize_t n = pread(fd, text, TEXT_MAX - 1, 0);
	close(fd);
	if (n < 0)
		exit(1);
	text[n] = '\0';
	*harmed = stats.harmed;
	return (size_t)n;
}

/* Number of lines of text, if they are lines of the intact output in the same order; else -1. */
static int true_lines(const char *text)
{
	const char *at = truth;
	int lines = 0;
	while (*text) {
		const char *newline = strchr(text, '\n');
		if (!newline)
			return -1;
		size_t len = (size_t)(newline + 1 - text);
		while (*at && strncmp(at, text, len))
			at = strchr(at, '\n') + 1;
		if (!*at)
			return -1;
		at += len;
		text += len;
		lines++;
	}
	return lines;
}

int main(void)
{
	static char text[TEXT_MAX];
	bool harmed, pass = true, noticed = true, grows = true, ends = true;
	make_stream();
	convert(stream, stream_bytes, false, truth, &harmed);
	int all = true_lines(truth), last = 0, spared = 0, flips = 0;
	ok(!harmed && all == 24, "the intact stream gives 24 lines");
	diag("%zu bytes", stream_bytes);

	for (size_t cut = 0; cut < stream_bytes; cut++) {
		convert(stream, cut, false, text, &harmed);
		int lines = true_lines(text);
		pass &= lines >= 0;
		grows &= lines >= last;
		/* Between the two sections a cut cannot be seen. */
		noticed &= harmed || lines == all / 2;
		last = lines;
		convert(stream, cut, true, text, &harmed);
		ends &= !*text || strstr(text, "{\"type\":\"@end\"");
	}
	ok(pass, "a truncated stream gives only correct lines");
	ok(grows, "a later cut never gives fewer lines");
	ok(noticed, "each cut is noticed");
	ok(ends, "a section that began has its end in the full form");

	uint8_t *copy = malloc(stream_bytes);
	pass = noticed = true;
	for (size_t bit = 0; bit < 8 * stream_bytes; bit += tap_stride(3)) {
		memcpy(copy, stream, stream_bytes);
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		convert(copy, stream_bytes, false, text, &harmed);
		int lines = true_lines(text);
		pass &= lines >= 0;
		noticed &= harmed;
		spared += lines >= all * 3 / 4;
		flips++;
	}
	ok(pass, "a stream with a flipped bit gives only correct lines");
	ok(noticed, "each flipped bit is noticed");
	ok(flips && spared == flips, "a flipped bit loses no more than its packet");
	free(copy);
	return done_testing();
}
