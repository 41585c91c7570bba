/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* convert.c - a sink is told to flush before the input waits, and once a second; a flush that fails ends the conversion. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "packets.h"
#include "stream/sink.h"
#include "tap.h"

enum { EACH = 5 }; /* records of a packet */

struct watcher {
	struct ctp_sink sink;
	uint64_t records, flushes, records_then; /* records_then: records at the first flush */
	struct mem *rest; /* what the other end of the pipe writes when the sink has flushed */
	size_t from;
	int to;
	bool slow, fails;
};

static enum ctp_status records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct watcher *w = (struct watcher *)sink;
	(void)err;
	w->records += batch->n;
	if (w->slow && w->records == EACH)
		nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL);
	return CTP_OK;
}

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	struct watcher *w = (struct watcher *)sink;
	if (!w->flushes++)
		w->records_then = w->records;
	if (w->fails)
		return ctp_err_set(err, "the disk is full");
	if (w->rest) {
		size_t len = w->rest->len - w->from;
		if (write(w->to, w->rest->data + w->from, len) != (ssize_t)len)
			abort();
		close(w->to);
		w->rest = NULL;
	}
	return CTP_OK;
}

static const struct ctp_sink_ops ops = {.records = records, .flush = flush};

/* Two packets, each with its mark, and the end. */
static void make(struct mem *m)
{
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	struct ctp_writer *w = begin(m, "a");
	for (uint64_t i = 0; i < 2 * EACH; i++) {
		put_event(w, cls, i + 1, i);
		if (i % EACH == EACH - 1) {
			ctp_writer_mark(w, i + 2);
			ctp_writer_flush(w);
		}
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	ctp_class_free(cls);
}

static enum ctp_status convert(struct watcher *w, struct ctp_input *in, struct ctp_err *err)
{
	struct ctp_convert_stats stats = {0};
	w->sink.ops = &ops;
	enum ctp_status status = ctp_convert(in, &w->sink, NULL, NULL, &stats, err);
	ctp_input_close(in);
	return status;
}

/* The second packet is written when the first was flushed: without that, both would wait. */
static enum ctp_status through_pipe(struct mem *m, struct watcher *w, struct ctp_err *err)
{
	int fd[2];
	char path[32];
	struct ctp_input in;
	if (pipe2(fd, O_CLOEXEC) || write(fd[1], m->data, m->packets[1]) != (ssize_t)m->packets[1])
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd[0]);
	if (ctp_input_open(&in, path, err))
		abort();
	close(fd[0]);
	w->rest = m;
	w->from = m->packets[1];
	w->to = fd[1];
	return convert(w, &in, err);
}

/* What ctp_convert says of the bytes: "harmed", "" or its error. */
static const char *said(const void *data, size_t len)
{
	static struct ctp_err err;
	struct ctp_input in;
	struct watcher w = {.sink.ops = &ops};
	struct ctp_convert_stats stats = {.reader.packets = 1}; /* of an input before */
	ctp_input_mem(&in, data, len);
	enum ctp_status status = ctp_convert(&in, &w.sink, NULL, NULL, &stats, &err);
	ctp_input_close(&in);
	return status ? strchr(err.text, ' ') : stats.harmed ? "harmed" : "";
}

static const char *said_of(const char *text) { return said(text, strlen(text)); }

static void test_strange(const struct mem *m)
{
	is(said(m->data, m->len), "", "a complete stream is accepted");
	is(said(m->data, m->len - 1), "harmed", "a truncated stream counts as damaged");
	is(said((const uint8_t *)m->data + 1, m->len - 1), "harmed", "a stream without its beginning counts as damaged");
	is(said_of(""), "harmed", "an empty input counts as damaged");
	is(said_of("root:x:0:0:root"), " is no ctp stream", "other input fails");
	is(said_of("{\"ts\":1}\n"), " is JSON; pipe it through ctp-fromjsonl", "JSON fails with a hint");
	is(said_of("a,b\n1,2\n"), " looks like CSV; pipe it through ctp-fromcsv", "CSV fails with a hint");
}

int main(void)
{
	struct ctp_err err;
	struct ctp_input in;
	struct mem m = {0};
	make(&m);
	alarm(60); /* a missing flush would block the test */
	struct watcher piped = {0}, failing = {.fails = true}, slow = {.slow = true};
	ok(!through_pipe(&m, &piped, &err), "a stream comes through a pipe that waits for the flush");
	ok(piped.flushes && piped.records_then == EACH, "before the input waits, the sink flushes all records so far");
	is_u64(piped.records, 2 * EACH, "the sink then gets the rest");

	ctp_input_mem(&in, m.data, m.len);
	ok(!convert(&slow, &in, &err) && slow.flushes, "a sink flushes once a second, though the input never waits");
	is_u64(slow.records_then, EACH, "it flushes after the batch that took that long");

	ok(through_pipe(&m, &failing, &err) == CTP_FAILED, "a flush that fails ends the conversion at once");
	is(err.text, "the disk is full", "the flush's error is reported");
	test_strange(&m);
	free(m.data);
	return done_testing();
}
