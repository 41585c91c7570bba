/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* writeback.c - blocks are written whole, in order; the ring limits memory, a failure ends all waiting; outputs with a thread. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "io/output.h"
#include "io/writeback.h"
#include "tap.h"

/* A writer that takes a block when it is allowed to, and fails from a given block on. */
struct taker {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t may, calls, fails_at; /* calls of write: those allowed, those begun, the one that fails (0: none) */
	char got[1 << 16];
	size_t len;
	unsigned idles, ends;
};

#define TAKER {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}

static bool take(void *arg, const char *data, size_t len)
{
	struct taker *t = arg;
	pthread_mutex_lock(&t->lock);
	size_t call = ++t->calls;
	pthread_cond_broadcast(&t->changed);
	while (call > t->may)
		pthread_cond_wait(&t->changed, &t->lock);
	if (t->len + len <= sizeof t->got)
		memcpy(t->got + t->len, data, len);
	t->len += len;
	pthread_mutex_unlock(&t->lock);
	return !t->fails_at || call < t->fails_at;
}

static bool idle(void *arg) { return ++((struct taker *)arg)->idles; }
static void end(void *arg) { ((struct taker *)arg)->ends++; }

static const struct ctp_writeback_ops ops = {.write = take, .idle = idle, .end = end}, quiet = {.write = take};

static void let(struct taker *t, size_t calls)
{
	pthread_mutex_lock(&t->lock);
	t->may = calls;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

/* Waits until this number of calls have begun. */
static void await(struct taker *t, size_t calls)
{
	pthread_mutex_lock(&t->lock);
	while (t->calls < calls)
		pthread_cond_wait(&t->changed, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

static void in_order(void)
{
	enum { RING = 1000, ROOM = 300, MOST = 40000 };
	static struct taker t = TAKER;
	static char want[MOST];
	struct ctp_err err;
	struct ctp_writeback *wb = ctp_writeback_new(&ops, &t, RING, ROOM, &err);
	let(&t, SIZE_MAX);
	size_t len = 0;
	bool good = true;
	for (unsigned i = 0; len + RING < MOST; i++) {
		size_t n = i % 7 ? (i * 37) % ROOM + 1 : RING - i % 11; /* written in the ring, or copied to it in pieces */
		char *at = i % 7 ? ctp_writeback_room(wb) : want + len;
		for (size_t k = 0; k < n; k++)
			want[len + k] = at[k] = (char)(i + k * 3);
		good &= ctp_writeback_put(wb, at, n);
		len += n;
	}
	ok(good && ctp_writeback_settle(wb), "all blocks are accepted and written");
	is_u64(ctp_writeback_held(wb), 0, "after that no bytes are pending");
	ctp_writeback_finish(wb);
	ctp_writeback_join(wb);
	ok(t.len == len && !memcmp(t.got, want, len), "each byte is written, in order");
	ok(t.idles && t.ends == 1, "the writer is notified of an empty ring, and once of the end");
	ctp_writeback_free(wb);
	is_u64(t.ends, 1, "a second join changes nothing");
}

static void is_bounded(void)
{
	static struct taker t = TAKER;
	static const char block[30];
	struct ctp_err err;
	struct ctp_writeback *wb = ctp_writeback_new(&quiet, &t, 100, 40, &err);
	for (int i = 0; i < 3; i++)
		ctp_writeback_put(wb, block, sizeof block);
	await(&t, 1);
	is_u64(ctp_writeback_held(wb), 90, "a block that is being written is pending");
	let(&t, SIZE_MAX);
	ok(ctp_writeback_settle(wb) && t.len == 90, "it is written when the writer continues");
	ctp_writeback_put(wb, block, sizeof block);
	ctp_writeback_free(wb);
	is_u64(t.len, 120, "freeing writes the rest");
}

/* The head is just after the tail and near the end of the ring when the writer fails. */
static void fails(void)
{
	enum { UNIT = 1 << 20, ROOM = 4 * UNIT, RING = 10 * UNIT };
	static struct taker t = TAKER;
	static const char block[ROOM];
	struct ctp_err err;
	t.fails_at = 10;
	struct ctp_writeback *wb = ctp_writeback_new(&ops, &t, RING, ROOM, &err);
	const char *ring = ctp_writeback_room(wb);
	ctp_writeback_put(wb, block, 1);
	await(&t, 1);
	ctp_writeback_put(wb, block, ROOM - 1);
	ctp_writeback_put(wb, block, 2 * UNIT);
	ctp_writeback_put(wb, block, ROOM);
	let(&t, 9);
	await(&t, 10); /* a byte and eight units are written, and the lap ends at the tenth */
	ctp_writeback_put(wb, block, ROOM);
	ctp_writeback_put(wb, block, ROOM);
	let(&t, 10);
	const char *room = ctp_writeback_room(wb);
	ok(room >= ring && room + ROOM <= ring + RING, "after a failure a room is in the ring, without waiting");
	ok(!ctp_writeback_put(wb, room, ROOM) && !ctp_writeback_put(wb, block, 1), "after a failure no block is accepted");
	ok(!ctp_writeback_settle(wb) && !ctp_writeback_held(wb), "after a failure no bytes are pending");
	ctp_writeback_free(wb);
	ok(t.calls == 10 && t.ends == 1 && !t.idles, "after a failure the writer is called only for the end");
}

/* --- an output that has a thread ------------------------------------------------------------------------------------------- */

enum { MUCH = 5 << 20 };

static char byte_at(size_t i) { return (char)(i * 2654435761u >> 13); }

static void put_much(struct ctp_output *out)
{
	char line[999];
	for (size_t at = 0, n; at < MUCH; at += n) {
		n = at % sizeof line + 1;
		for (size_t k = 0; k < n; k++)
			line[k] = byte_at(at + k);
		if (at % 3) {
			ctp_output_put(out, line, n);
		} else {
			char *to = ctp_output_reserve(out, CTP_OUTPUT_ROOM);
			memcpy(to, line, n);
			ctp_output_commit(out, to + n);
		}
	}
}

static size_t same_upto(const char *path)
{
	FILE *in = fopen(path, "r");
	size_t n = 0;
	for (int c; in && (c = getc(in)) != EOF && (char)c == byte_at(n);)
		n++;
	if (in)
		fclose(in);
	return n;
}

static void output(void)
{
	char path[] = "/tmp/ctp-writeback-XXXXXX";
	struct ctp_output out;
	struct ctp_err err;
	close(mkstemp(path));
	ctp_output_create(&out, path, false, false, &err);
	put_much(&out);
	ok(ctp_output_flush(&out) && out.bytes >= MUCH && out.ptr == out.buf, "a flush waits for the thread");
	uint64_t flushed = out.bytes;
	ctp_output_pass(&out, &(char){byte_at(flushed)}, 1);
	ctp_output_put(&out, &(char){byte_at(flushed + 1)}, 1);
	ok(!ctp_output_close(&out, &err), "the close succeeds");
	is_u64(same_upto(path), flushed + 2, "the file has all bytes, in order");
	is_u64(out.bytes, flushed + 2, "the bytes are counted");
	unlink(path);

	ctp_output_create(&out, "/dev/full", false, false, &err);
	put_much(&out);
	ok(out.failed && !out.epipe, "a full disk is noticed before the close");
	ok(ctp_output_close(&out, &err) == CTP_FAILED && strstr(err.text, "/dev/full: after 0 bytes"),
	   "the close reports the full disk: %s", err.text);

	int fd[2];
	char name[32];
	signal(SIGPIPE, SIG_IGN);
	if (pipe(fd))
		exit(1);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd[1]);
	ctp_output_create(&out, name, false, false, &err);
	close(fd[0]);
	put_much(&out);
	ok(out.failed && out.epipe, "a closed pipe is distinguished from other errors");
	ctp_output_abandon(&out);
	close(fd[1]);
}

static bool has_to_end(void *arg)
{
	(void)arg;
	return true;
}

/* A write that hangs keeps its part of the ring, whatever the producer does, and continues later. */
static void gives_up(void)
{
	static const struct ctp_writeback_ops ending = {.write = take, .end = end, .has_to_end = has_to_end};
	struct taker t = TAKER;
	struct ctp_err err;
	struct ctp_writeback *wb = ctp_writeback_new(&ending, &t, 4 * 16, 16, &err);
	char block[16], other[16];
	memset(block, 'a', sizeof block);
	memset(other, 'b', sizeof other);
	for (int i = 0; i < 4; i++)
		ctp_writeback_put(wb, block, sizeof block);
	await(&t, 1);
	memset(ctp_writeback_room(wb), 'c', 16);
	ok(!ctp_writeback_put(wb, other, sizeof other), "a put fails when the write is given up");
	ok(!ctp_writeback_held(wb), "then no bytes are pending");
	let(&t, SIZE_MAX);
	ctp_writeback_free(wb);
	bool whole = t.len == 64;
	for (size_t i = 0; i < t.len; i++)
		whole &= t.got[i] == 'a';
	ok(whole && t.ends == 1, "earlier blocks are written unchanged when the writer continues");
}

int main(void)
{
	in_order();
	is_bounded();
	fails();
	gives_up();
	output();
	return done_testing();
}
