/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * stream-writer.c - the writer of the raw stream: limits, failing outputs, flushes before the end, memory of the caller.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/varint.h"
#include "packets.h"
#include "stream/packet.h"
#include "stream/reader.h"
#include "tap.h"

static void test_limits(void)
{
	static const struct ctp_field two[] = { { .name = "a", .type = CTP_STRING }, { .name = "b", .type = CTP_BYTES, .pred = CTP_PRED_PREV } };
	struct ctp_err err;
	struct ctp_class *cls = ctp_class_new("long", 0, two, 2, &err);
	struct ctp_str *s = calloc(1, sizeof *s + 3 * CTP_STRING_MAX);
	struct mem m = { 0 };
	struct ctp_writer *w = begin(&m, "a");
	s->len = 2 * CTP_STRING_MAX + 5;
	memset(s->data, 'x', s->len);
	uint64_t v[2] = { ctp_val_str(s), ctp_val_str(s) }, none[2] = { 0, 0 };
	for (int i = 0; i < 5; i++) {
		ctp_writer_record(w, cls, v);
		ctp_writer_record(w, cls, none);
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	struct ctp_input in;
	struct ctp_item item;
	unsigned n = 0, wrong = 0;
	ctp_input_mem(&in, m.data, m.len);
	struct ctp_reader *r = ctp_reader_new(&in, 0, &err);
	while (!ctp_reader_next(r, &item, &err)) {
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++) {
			const uint64_t *val = item.batch.rec[i].val;
			uint32_t want = n++ % 2 ? 0 : CTP_STRING_MAX;
			wrong += ctp_str_val(val[0])->len != want || ctp_str_val(val[1])->len != want;
		}
	}
	ok(n == 10 && !wrong && !ctp_reader_harmed(r), "strings beyond the limit are cut to it, and none is empty");
	ctp_reader_free(r);
	free(m.data);
	free(s);
	ctp_class_free(cls);
}

static struct ctp_class *numbered_class(unsigned number)
{
	static const struct ctp_field f = { .name = "n", .type = CTP_U64 };
	struct ctp_err err;
	char name[16];
	snprintf(name, sizeof name, "c%u", number);
	return ctp_class_new(name, 0, &f, 1, &err);
}

/* One record of each of n classes: how many are read. *written: how many the headers of the packets promise. */
static uint64_t read_classes(unsigned n, uint64_t *written)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	struct mem m = { 0 };
	struct ctp_class **cls = calloc(n, sizeof *cls);
	struct ctp_writer *w = begin(&m, "classes");
	uint64_t records = 0;
	for (unsigned i = 0; i < n; i++) {
		cls[i] = numbered_class(i);
		ctp_writer_record(w, cls[i], &(uint64_t){ i });
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	*written = 0;
	for (size_t i = 0; i < m.npackets; i++)
		*written += ctp_load_u32(m.data + m.packets[i] + CTP_PACKET_RECORDS);
	ctp_input_mem(&in, m.data, m.len);
	struct ctp_reader *r = ctp_reader_new(&in, 0, &err);
	while (!ctp_reader_next(r, &item, &err))
		records += item.kind == CTP_ITEM_RECORDS ? item.batch.n : 0;
	ctp_reader_free(r);
	for (unsigned i = 0; i < n; i++)
		ctp_class_free(cls[i]);
	free(cls);
	free(m.data);
	return records;
}

static void test_classes(void)
{
	uint64_t written;
	is_u64(read_classes(CTP_CLASSES_MAX, &written), CTP_CLASSES_MAX, "a reader takes as many classes as the limit says");
	is_u64(read_classes(CTP_CLASSES_MAX + 1, &written), CTP_CLASSES_MAX, "and no more");
	read_classes(3 * CTP_CLASSES_MAX, &written);
	is_u64(written, 3 * CTP_CLASSES_MAX, "a writer forgets the classes of earlier packets, so it takes any number");
}

static bool refuse(void *arg, const void *packet, size_t len) { (void)arg, (void)packet, (void)len; return false; }

static void test_failure(void)
{
	struct ctp_err err;
	struct ctp_section sec;
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	struct ctp_writer *w = ctp_writer_new(refuse, 0, &err);
	ctp_section_init(&sec);
	ctp_writer_begin(w, &sec);
	put_event(w, cls, 1, 1);
	ok(!ctp_writer_failed(w), "a writer that has sent nothing has not failed");
	ctp_writer_flush(w);
	ok(ctp_writer_failed(w), "a packet that is not accepted is a failure");
	ok(!ctp_writer_end(w, true), "the failure is remembered");
	ctp_writer_free(w);
	ctp_class_free(cls);
}

/* Flushed data can be read before the output is closed. */
static void test_flush(void)
{
	int fd[2];
	struct ctp_err err;
	struct ctp_output out;
	struct ctp_section sec;
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	uint8_t bytes[4096];
	if (pipe2(fd, O_NONBLOCK | O_CLOEXEC) || ctp_output_fd(&out, fd[1], "a pipe", &err))
		abort();
	struct ctp_writer *w = ctp_writer_to(&out, &err);
	ctp_section_init(&sec);
	ctp_writer_begin(w, &sec);
	for (uint64_t i = 1; i <= 2; i++) {
		put_event(w, cls, i, i);
		ok(read(fd[0], bytes, sizeof bytes) < 0, "a record is held back until there are more");
		ctp_writer_flush(w);
		ok(read(fd[0], bytes, sizeof bytes) > CTP_PACKET_HEADER, "a flush reaches the reader");
	}
	close(fd[0]);
	put_event(w, cls, 3, 3);
	signal(SIGPIPE, SIG_IGN);
	ctp_writer_flush(w);
	ok(ctp_writer_failed(w), "a flush that does not reach a reader is a failure");
	ctp_writer_free(w);
	ctp_output_abandon(&out);
	close(fd[1]);
	ctp_class_free(cls);
}

/* A section that is cut short has the packets that were sent, and no other. */
static void test_cut_short(void)
{
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	struct mem m = { 0 };
	struct ctp_writer *w = begin(&m, "a");
	put_event(w, cls, 1, 1);
	ctp_writer_flush(w);
	ctp_writer_end(w, false);
	is_u64(m.npackets, 1, "a section that is cut short gets no packet without records");
	ctp_writer_free(w);
	ctp_class_free(cls);
	free(m.data);
}

static void record_outside(struct ctp_writer *w, struct ctp_class *cls) { put_event(w, cls, 1, 1); }
static void mark_outside(struct ctp_writer *w, struct ctp_class *cls) { (void)cls, ctp_writer_mark(w, 1); }
static void end_outside(struct ctp_writer *w, struct ctp_class *cls) { (void)cls, ctp_writer_end(w, true); }

/* Calls fn with a writer whose section is over, in a process of its own; the signal that ended it. */
static int signal_of(void (*fn)(struct ctp_writer *w, struct ctp_class *cls), bool over)
{
	int status = 0;
	pid_t pid = fork();
	if (!pid) {
		struct mem m = { 0 };
		struct ctp_writer *w = begin(&m, "a");
		if (over)
			ctp_writer_end(w, true);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		prctl(PR_SET_DUMPABLE, 0);
		fn(w, ctp_event_class(CTP_TRANSITION));
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_outside(void)
{
	ok(!signal_of(end_outside, false), "a section can be ended");
#ifdef NDEBUG
	skip("built without assertions");
	return;
#endif
	ok(signal_of(end_outside, true) == SIGABRT, "ending a section twice is a bug");
	ok(signal_of(record_outside, true) == SIGABRT, "a record outside a section is a bug");
	ok(signal_of(mark_outside, true) == SIGABRT, "a mark outside a section is a bug");
}

/* Packets are written one after the other in the caller's memory. */
struct packets_of_others {
	uint8_t *data, *end;
	unsigned rooms, puts, elsewhere;
};

static void *give_room(void *arg)
{
	struct packets_of_others *f = arg;
	f->rooms++;
	return f->end;
}

static bool take_packet(void *arg, const void *packet, size_t len)
{
	struct packets_of_others *f = arg;
	f->elsewhere += packet != f->end;
	f->puts++;
	f->end += len;
	return true;
}

static void test_room(void)
{
	enum { PACKETS = 5, EACH = 100 };
	struct ctp_err err;
	struct ctp_section sec;
	struct mem m = { 0 };
	struct packets_of_others f = { .data = malloc(CTP_WRITER_ROOM + (1 << 20)) };
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	f.end = f.data;
	struct ctp_writer *own = ctp_writer_new(mem_put, &m, &err);
	struct ctp_writer *theirs = ctp_writer_new_in(give_room, take_packet, &f, &err);
	ctp_section_init(&sec);
	ctp_writer_begin(own, &sec);
	ctp_writer_begin(theirs, &sec);
	ctp_section_fini(&sec);
	for (unsigned i = 1; i <= PACKETS * EACH; i++) {
		put_event(own, cls, i, i);
		put_event(theirs, cls, i, i);
		if (i % EACH == 0) {
			ctp_writer_flush(own);
			ctp_writer_flush(theirs);
		}
	}
	ok(ctp_writer_end(own, true) && ctp_writer_end(theirs, true), "a writer fills memory that is given to it");
	is_u64(f.elsewhere, 0, "each packet is written where the caller says");
	ok(f.rooms == PACKETS + 1 && f.puts == f.rooms, "memory is requested once for each packet");
	ok(m.len == (size_t)(f.end - f.data) && !memcmp(m.data, f.data, m.len),
	   "the bytes are the same as with the writer's own memory");
	ctp_writer_free(own);
	ctp_writer_free(theirs);
	ctp_class_free(cls);
	free(m.data);
	free(f.data);
}

int main(void)
{
	test_limits();
	test_classes();
	test_failure();
	test_flush();
	test_cut_short();
	test_outside();
	test_room();
	return done_testing();
}
