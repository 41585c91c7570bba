/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * input.c - the one bounded cursor over a file or a pipe.
 *
 * What is at hand lies in one buffer. It is moved to the buffer's front only when the room after it runs out, and the buffer
 * grows only when more is wanted than it can hold.
 *
 * zstd is recognised wherever a frame may begin: at the start, and after a frame's end. Bytes there that do not begin a frame
 * are plain, and so is everything after them.
 *
 * Of a frame that is damaged or ends early all blocks before the damage are delivered, and then the frames after it. For that
 * zstd is given a block at a time (a call that fails gives out nothing, whatever it has decompressed), and what it has taken
 * without giving anything for it stays in `raw`: where a length is damaged, the next frame's beginning may be in there. A wrong
 * checksum is harm like any other, but by then everything was delivered: a stream's packets have checksums of their own.
 */
#include "io/input-seek.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include "base/pages.h"
#include "io/input-growth.h"
#include "io/input-interrupt.h"

enum {
	READ_BYTES = 256 << 10, /* asked of the system at once, at least */
	BUFFER_BYTES = 1 << 20,
	BUFFER_MAX = CTP_INPUT_MAX + (1 << 20),
	MAGIC_BYTES = 4,
	BLOCK_HEADER_BYTES = 3, /* of zstd's */
};

enum mode { MODE_BETWEEN, MODE_PLAIN, MODE_FRAME }; /* between frames: what comes next is not known */

struct ctp_input_priv {
	int fd;
	bool own_fd, fd_ended;
	bool piped; /* and has not ended */
	enum mode mode;
	uint64_t file_done, file_size;
	const struct ctp_input_growth *growth; /* null: the file has its end, or is a pipe */
	uint8_t *buf;
	size_t cap;
	uint8_t *raw; /* as read, not yet looked at or decompressed: raw[raw_from .. raw_upto-1] */
	size_t raw_keep, raw_from, raw_upto; /* from raw_keep on zstd has taken bytes that nothing came of yet */
	struct {
		bool lost, hole;    /* looking for the next frame; bytes are missing before what comes next */
		char what[80];      /* the first time: what it was, and where */
		uint64_t at, since; /* since: where it was lost this time */
		uint64_t skipped_bytes;
		unsigned places;
	} harm;
#ifdef HAVE_ZSTD
	ZSTD_DCtx *zstd;
	size_t hint; /* bytes that zstd would like next */
	bool more;   /* zstd has more to give out, without any */
#endif
};

/* Of a descriptor that is open, or -1 and errno. */
static enum ctp_status begin(struct ctp_input *in, struct ctp_err *err)
{
	struct ctp_input_priv *priv = in->priv;
	struct stat st;
	if (priv->fd < 0 || fstat(priv->fd, &st)) {
		ctp_err_sys(err, "%s", in->name);
		goto failed;
	}
	if (S_ISDIR(st.st_mode)) {
		ctp_err_as(err, CTP_ERR_NOT_STREAM, "%s: is a directory", in->name);
		goto failed;
	}
	if (S_ISREG(st.st_mode)) {
		priv->file_size = (uint64_t)st.st_size;
		posix_fadvise(priv->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	priv->cap = BUFFER_BYTES;
	priv->buf = ctp_pages_new(priv->cap);
	priv->raw = ctp_pages_new(READ_BYTES);
	if (!priv->buf || !priv->raw) {
		ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", in->name);
		goto failed;
	}
	in->ptr = priv->buf;
	priv->piped = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
	ctp_input_interrupt_pipe(priv->piped);
	return CTP_OK;
failed:
	ctp_input_close(in);
	return CTP_FAILED;
}

enum ctp_status ctp_input_open(struct ctp_input *in, const char *path, struct ctp_err *err)
{
	bool from_stdin = !path || !strcmp(path, "-");
	struct ctp_input_priv *priv = calloc(1, sizeof *priv);
	*in = (struct ctp_input){.name = from_stdin ? "stdin" : path, .path = path, .priv = priv};
	if (!priv)
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", in->name);
	priv->fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	priv->own_fd = !from_stdin;
	return begin(in, err);
}

enum ctp_status ctp_input_fd(struct ctp_input *in, int fd, const char *name, struct ctp_err *err)
{
	struct ctp_input_priv *priv = calloc(1, sizeof *priv);
	*in = (struct ctp_input){.name = name, .path = name, .priv = priv};
	if (!priv)
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", name);
	priv->fd = lseek(fd, 0, SEEK_SET) ? -1 : fd;
	return begin(in, err);
}

void ctp_input_mem(struct ctp_input *in, const void *data, size_t len_bytes)
{
	*in = (struct ctp_input){.ptr = data, .avail = len_bytes, .name = "memory", .eof = true};
}

void ctp_input_close(struct ctp_input *in)
{
	struct ctp_input_priv *priv = in->priv;
	if (priv) {
		ctp_input_interrupt_pipe(-priv->piped);
#ifdef HAVE_ZSTD
		ZSTD_freeDCtx(priv->zstd);
#endif
		ctp_pages_free(priv->raw, READ_BYTES);
		ctp_pages_free(priv->buf, priv->cap);
		if (priv->own_fd && priv->fd >= 0)
			close(priv->fd);
		free(priv);
	}
	in->priv = NULL;
	in->ptr = NULL;
	in->avail = 0;
	in->eof = true;
}

static bool would_wait(const struct ctp_input *in, int wait_ms)
{
	const struct ctp_input_growth *growth = in->priv->growth;
	if (growth)
		return growth->wait(growth->arg, in->priv->file_done, wait_ms) == CTP_GROWTH_WAITS;
	return !poll(&(struct pollfd){.fd = in->priv->fd, .events = POLLIN}, 1, wait_ms);
}

static void be_idle(struct ctp_input *in)
{
	for (int wait_ms = 0; wait_ms >= 0 && !in->stopped && would_wait(in, wait_ms); wait_ms = in->idle_again_ms ? in->idle_again_ms : -1)
		in->stopped = in->idle(in->idle_arg, &in->err) == CTP_FAILED;
}

void ctp_input_grows(struct ctp_input *in, const struct ctp_input_growth *growth)
{
	in->priv->growth = growth;
	in->priv->file_size = 0; /* not known */
}

/* One read, however much it gives; 0 at the end of the file and after an error. */
static size_t read_some(struct ctp_input *in, void *buf, size_t room)
{
	struct ctp_input_priv *priv = in->priv;
	if (in->idle)
		be_idle(in);
	if (!in->stopped && in->is_unwanted && in->is_unwanted(in->unwanted_arg)) {
		ctp_err_set(&in->err, "%s: what is made of it has no reader", in->name);
		in->stopped = true;
	}
	in->failed |= in->stopped;
	while (!in->failed) {
		bool more = priv->growth && priv->growth->wait(priv->growth->arg, priv->file_done, -1) == CTP_GROWTH_MORE;
		ssize_t n = read(priv->fd, buf, room);
		if (n > 0) {
			priv->file_done += (uint64_t)n;
			return (size_t)n;
		}
		if (n == 0 && more) {
			ctp_err_set(&in->err, "%s: is shorter than before", in->name);
			in->failed = true;
		}
		if (n == 0)
			break;
		if (errno == EAGAIN) {
			/* Another process shares the descriptor and made it non-blocking. */
			poll(&(struct pollfd){.fd = priv->fd, .events = POLLIN}, 1, -1);
		} else if (errno != EINTR) {
			ctp_err_sys(&in->err, "%s: read", in->name);
			in->failed = true;
			break;
		}
	}
	priv->fd_ended = true;
	ctp_input_interrupt_pipe(-priv->piped);
	priv->piped = false;
	return 0;
}

static bool read_raw(struct ctp_input *in)
{
	struct ctp_input_priv *priv = in->priv;
	if (priv->fd_ended)
		return false;
	if (priv->raw_upto - priv->raw_keep == READ_BYTES)
		priv->raw_keep = priv->raw_from; /* no block is that long: a frame to be skipped */
	memmove(priv->raw, priv->raw + priv->raw_keep, priv->raw_upto - priv->raw_keep);
	priv->raw_upto -= priv->raw_keep;
	priv->raw_from -= priv->raw_keep;
	priv->raw_keep = 0;
	size_t n = read_some(in, priv->raw + priv->raw_upto, READ_BYTES - priv->raw_upto);
	priv->raw_upto += n;
	return n > 0;
}

/* How many of the n bytes at p agree with the magic of a frame, an ordinary one or one to be skipped. */
static size_t magic_agrees(const uint8_t *p, size_t n)
{
	static const uint8_t frame[MAGIC_BYTES] = {0x28, 0xb5, 0x2f, 0xfd}, skip[MAGIC_BYTES] = {0x50, 0x2a, 0x4d, 0x18};
	size_t i = 0, k = 0;
	while (i < n && i < MAGIC_BYTES && p[i] == frame[i])
		i++;
	while (k < n && k < MAGIC_BYTES && (k ? p[k] : p[k] & 0xf0) == skip[k])
		k++;
	return i > k ? i : k;
}

static uint64_t file_offset(const struct ctp_input_priv *priv, size_t raw_at)
{
	return priv->file_done - (priv->raw_upto - raw_at);
}

/* Damage begins at raw_keep, after which zstd gave nothing out; the bytes from there on are searched for a frame. */
static void harm(struct ctp_input *in, const char *what, const char *why)
{
	struct ctp_input_priv *priv = in->priv;
	priv->harm.since = file_offset(priv, priv->raw_keep);
	if (!priv->harm.places++) {
		priv->harm.at = priv->harm.since;
		snprintf(priv->harm.what, sizeof priv->harm.what, "%s%s", what, why);
	}
	priv->raw_from = priv->raw_keep + (priv->raw_keep < priv->raw_upto);
	priv->harm.lost = priv->harm.hole = in->harmed = true;
	priv->mode = MODE_BETWEEN;
}

/* The search for a frame is over. */
static void end_search(struct ctp_input *in)
{
	struct ctp_input_priv *priv = in->priv;
	char places[48] = "";
	priv->harm.lost = false;
	priv->harm.skipped_bytes += file_offset(priv, priv->raw_from) - priv->harm.since;
	if (priv->harm.places > 1)
		snprintf(places, sizeof places, ", the first of %u places", priv->harm.places);
	if (!in->failed)
		ctp_err_as(&in->err, CTP_ERR_DAMAGED, "zstd: %s at byte %llu of the file%s; %llu bytes skipped", priv->harm.what,
		            (unsigned long long)priv->harm.at, places, (unsigned long long)priv->harm.skipped_bytes);
}

/* Between frames: waits for no more bytes than are needed to tell what comes. */
static void recognise(struct ctp_input *in)
{
	struct ctp_input_priv *priv = in->priv;
	size_t n, same;
	while (n = priv->raw_upto - priv->raw_from, same = magic_agrees(priv->raw + priv->raw_from, n), same < MAGIC_BYTES) {
		priv->raw_keep = priv->raw_from;
		if (same < n && !priv->harm.lost) {
			priv->mode = MODE_PLAIN;
			return;
		}
		if (same < n) {
			priv->raw_from++;
		} else if (!read_raw(in)) {
			if (n && !priv->harm.lost && !in->failed)
				harm(in, "cut short", "");
			priv->raw_from = priv->raw_upto;
			if (priv->harm.lost)
				end_search(in);
			in->eof = true;
			return;
		}
	}
	priv->raw_keep = priv->raw_from;
	if (priv->harm.lost)
		end_search(in);
#ifdef HAVE_ZSTD
	priv->mode = MODE_FRAME;
	priv->hint = MAGIC_BYTES;
	priv->more = false;
	if (!priv->zstd)
		priv->zstd = ZSTD_createDCtx();
	if (priv->zstd) {
		ZSTD_DCtx_reset(priv->zstd, ZSTD_reset_session_only); /* it may have been left in the middle of another */
		return;
	}
	ctp_err_as(&in->err, CTP_ERR_MEMORY, "%s: out of memory", in->name);
#else
	ctp_err_set(&in->err, "%s: compressed with zstd, which this build cannot read; pipe it through zstdcat", in->name);
#endif
	in->failed = in->eof = true;
}

/* Plain bytes into [to, to + room): first those that were read while looking for a frame. */
static size_t get_plain(struct ctp_input *in, uint8_t *to, size_t room)
{
	struct ctp_input_priv *priv = in->priv;
	size_t n = priv->raw_upto - priv->raw_from;
	if (n) {
		n = n < room ? n : room;
		memcpy(to, priv->raw + priv->raw_from, n);
		priv->raw_from += n;
		return n;
	}
	n = read_some(in, to, room);
	in->eof = n == 0;
	return n;
}

static size_t get_frame(struct ctp_input *in, uint8_t *to, size_t room)
{
#ifdef HAVE_ZSTD
	struct ctp_input_priv *priv = in->priv;
	if (priv->harm.hole) {
		priv->harm.hole = false;
		/* Two halves of lines must not make one, nor the first pass for a whole one. In a stream this is no packet. */
		memcpy(to, "\0\n", 2);
		return 2;
	}
	size_t have = priv->raw_upto - priv->raw_from;
	if (!have && !priv->more) {
		if (!read_raw(in) && !in->failed)
			harm(in, "cut short", "");
		in->eof = in->failed;
		return 0;
	}
	/* One block: the hint is for a block and the header of the next. */
	size_t give = priv->hint > BLOCK_HEADER_BYTES ? priv->hint - BLOCK_HEADER_BYTES : priv->hint;
	give = priv->more ? 0 : give < have ? give : have;
	ZSTD_inBuffer from = {priv->raw, priv->raw_from + give, priv->raw_from};
	ZSTD_outBuffer out = {to, room, 0};
	priv->hint = ZSTD_decompressStream(priv->zstd, &out, &from);
	if (ZSTD_isError(priv->hint) && ZSTD_getErrorCode(priv->hint) == ZSTD_error_memory_allocation) {
		ctp_err_as(&in->err, CTP_ERR_MEMORY, "%s: zstd: out of memory", in->name);
		in->failed = in->eof = true;
		return 0;
	}
	if (ZSTD_isError(priv->hint)) {
		harm(in, "damaged: ", ZSTD_getErrorName(priv->hint));
		priv->harm.hole = ZSTD_getErrorCode(priv->hint) != ZSTD_error_checksum_wrong;
		return 0;
	}
	priv->raw_from = from.pos;
	priv->more = out.pos == room;
	if (out.pos)
		priv->raw_keep = from.pos;
	if (priv->hint == 0)
		priv->mode = MODE_BETWEEN;
	return out.pos;
#else
	(void)to, (void)room;
	return in->eof = true, 0;
#endif
}

/* Makes room for want bytes from in->ptr on, and for a good read after what is there. */
static bool make_room(struct ctp_input *in, size_t want)
{
	struct ctp_input_priv *priv = in->priv;
	size_t from = (size_t)(in->ptr - priv->buf);
	if (want <= priv->cap - from && READ_BYTES <= priv->cap - from - in->avail)
		return true;
	memmove(priv->buf, in->ptr, in->avail);
	in->ptr = priv->buf;
	size_t cap = priv->cap;
	while (cap < want + READ_BYTES)
		cap *= 2;
	cap = cap < BUFFER_MAX ? cap : BUFFER_MAX;
	if (cap > priv->cap) {
		uint8_t *buf = ctp_pages_new(cap);
		if (!buf) {
			ctp_err_as(&in->err, CTP_ERR_MEMORY, "%s: out of memory", in->name);
			return in->eof = in->failed = true, false;
		}
		memcpy(buf, priv->buf, in->avail);
		ctp_pages_free(priv->buf, priv->cap);
		in->ptr = priv->buf = buf;
		priv->cap = cap;
	}
	return true;
}

size_t ctp_input_fill(struct ctp_input *in, size_t want)
{
	if (want > CTP_INPUT_MAX)
		want = CTP_INPUT_MAX;
	if (in->avail >= want || in->eof || !make_room(in, want))
		return in->avail;
	struct ctp_input_priv *priv = in->priv;
	while (in->avail < want && !in->eof) {
		size_t upto = (size_t)(in->ptr - priv->buf) + in->avail;
		if (priv->mode == MODE_BETWEEN)
			recognise(in);
		else if (priv->mode == MODE_PLAIN)
			in->avail += get_plain(in, priv->buf + upto, priv->cap - upto);
		else
			in->avail += get_frame(in, priv->buf + upto, priv->cap - upto);
	}
	return in->avail;
}

/* Whether the input is a file whose bytes are those of the stream, and nothing of it was used. */
static bool is_fresh_file(const struct ctp_input *in)
{
	return in->priv->file_size && in->priv->mode == MODE_PLAIN && !in->offset;
}

enum ctp_status ctp_input_seek(struct ctp_input *in, uint64_t offset, struct ctp_err *err)
{
	struct ctp_input_priv *priv = in->priv;
	assert(offset >= in->offset);
	ctp_input_fill(in, 1);
	if (is_fresh_file(in) && offset > in->avail && lseek(priv->fd, (off_t)offset, SEEK_SET) == (off_t)offset) {
		in->avail = 0;
		in->ptr = priv->buf;
		in->offset = priv->file_done = offset;
		priv->raw_keep = priv->raw_from = priv->raw_upto = 0;
		return CTP_OK;
	}
	while (in->offset < offset && ctp_input_fill(in, 1))
		ctp_input_skip(in, offset - in->offset < in->avail ? (size_t)(offset - in->offset) : in->avail);
	if (in->failed)
		*err = in->err;
	return in->failed ? CTP_FAILED : in->offset == offset ? CTP_OK : ctp_err_set(err, "%s: is shorter than before", in->name);
}

bool ctp_input_would_wait(const struct ctp_input *in)
{
	const struct ctp_input_priv *priv = in->priv;
	return !in->avail && priv && !priv->fd_ended && would_wait(in, 0);
}

void ctp_input_progress(const struct ctp_input *in, uint64_t *done, uint64_t *total)
{
	*done = in->priv ? in->priv->file_done : in->offset;
	*total = in->priv ? in->priv->file_size : in->offset + in->avail;
}
