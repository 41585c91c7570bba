/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * input.c - any bytes as a file that may be compressed: the output is bounded by what is asked for, and the same however it
 * is asked for; and compressed bytes are reproduced, with anything after them.
 *
 * By the first byte, the rest is the file; or the file is a frame that zstd has made of the rest, whole, with bytes changed, cut,
 * before another one, or after a skippable one.
 * Covers: lib/io/input.c
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "must.h"
#include "io/input.h"

/* zstd's context is kept. */
#ifdef HAVE_ZSTD
static ZSTD_DCtx *kept_context(void)
{
	static ZSTD_DCtx *context;
	return context = context ? context : ZSTD_createDCtx();
}
#define ZSTD_createDCtx kept_context
#define ZSTD_freeDCtx(context) ((void)(context))
#endif
#include "io/input.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_MAX = 1 << 18, OUT_MAX = 1 << 20 };
#ifdef HAVE_ZSTD
enum { HAS_ZSTD = true };
#else
enum { HAS_ZSTD = false };
#endif

/* --- the file ------------------------------------------------------------------------------------------------------------- */

static struct {
	uint8_t bytes[FILE_MAX];
	size_t len;
} file;

static void file_add(const void *data, size_t len)
{
	len = len < FILE_MAX - file.len ? len : FILE_MAX - file.len;
	memcpy(file.bytes + file.len, data, len);
	file.len += len;
}

static void file_add_frame(const void *data, size_t len, unsigned how)
{
#ifdef HAVE_ZSTD
	static ZSTD_CCtx *context;
	if (!context && !(context = ZSTD_createCCtx()))
		abort();
	ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, how & 1);
	ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, how >> 1 & 1);
	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 10 + (int)(how >> 2 & 7));
	size_t n = ZSTD_compress2(context, file.bytes + file.len, FILE_MAX - file.len, data, len);
	must(!ZSTD_isError(n), "a frame has no room");
	file.len += n;
#else
	(void)how;
	file_add(data, len);
#endif
}

static const char *file_path(void)
{
	static int fd = -1;
	static char path[64];
	if (fd < 0 && (fd = memfd_create("input", MFD_CLOEXEC)) < 0)
		abort();
	if (ftruncate(fd, (off_t)file.len) || pwrite(fd, file.bytes, file.len, 0) != (ssize_t)file.len)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return path;
}

/* --- reading it ------------------------------------------------------------------------------------------------- */

struct out {
	uint8_t bytes[OUT_MAX];
	size_t len;
	bool harmed, failed, ended;
	char where[sizeof(struct ctp_err)]; /* zstd may say it in other words, by how much room there is */
};

/* In steps that grow, for what is small can become long. */
static void read_file(const char *path, size_t step, struct out *out)
{
	struct ctp_input in;
	struct ctp_err err;
	uint64_t done, total;
	must(!ctp_input_open(&in, path, &err), "it does not open");
	out->len = 0;
	for (; out->len < OUT_MAX && ctp_input_fill(&in, step); step += step / 64 + 1) {
		size_t n = in.avail < step ? in.avail : step;
		n = n < OUT_MAX - out->len ? n : OUT_MAX - out->len;
		must(in.avail >= step || in.eof, "less than was asked for, and not the end");
		memcpy(out->bytes + out->len, in.ptr, n);
		ctp_input_skip(&in, n);
		out->len += n;
		must(in.offset == out->len, "the offset differs from the number of bytes");
	}
	ctp_input_progress(&in, &done, &total);
	must(done <= total && total == file.len, "more of the file than there is");
	out->ended = out->len < OUT_MAX;
	must(!out->ended || (in.eof && done == total), "the input ended before the end of the file");
	ctp_input_close(&in);
	out->harmed = in.harmed;
	out->failed = in.failed;
	const char *where = in.harmed ? strstr(in.err.text, " at byte ") : NULL;
	must(!in.harmed || where, "harm without a place");
	snprintf(out->where, sizeof out->where, "%s", where ? where : "");
}

static void must_begin(const struct out *out, const void *data, size_t len)
{
	must(out->len >= len && !memcmp(out->bytes, data, len), "compressed bytes are not reproduced");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t skipped[] = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 's', 'k', 'p'};
	static struct out once, again;
	if (size < 4 || size > FILE_MAX / 4)
		return 0;
	unsigned as = data[0] % 6, how = data[1];
	size_t step = (size_t)data[2] * data[2] + 1, at = data[3] * (size_t)251;
	data += 4, size -= 4;
	size_t half = size / 2;
	file.len = 0;
	if (as == 5)
		file_add(skipped, sizeof skipped);
	if (as)
		file_add_frame(data, as == 1 ? size : half, how);
	else
		file_add(data, size);
	if (as == 2 || as == 5)
		file_add_frame(data + half, size - half, how);
	if (as == 3)
		file_add(data + half, size - half);
	if (as == 4) {
		if (file.len > 0) /* without libzstd there is no frame */
			file.bytes[at % file.len] ^= (uint8_t)(how | 1);
		file_add_frame(data + half, size - half, how);
	}
	const char *path = file_path();
	read_file(path, CTP_INPUT_MAX, &once);
	read_file(path, step, &again);
	must(once.len == again.len && !memcmp(once.bytes, again.bytes, once.len), "other bytes in other steps");
	must(!once.ended || (once.harmed == again.harmed && !strcmp(once.where, again.where)), "other harm in other steps");
	if (once.failed && !HAS_ZSTD)
		return 0;
	must(!once.failed && !again.failed, "it failed");
	if (as == 1 || as == 2 || as == 5) {
		must_begin(&once, data, size);
		must(once.len == size && !once.harmed, "and something else");
	} else if (as == 3) {
		must_begin(&once, data, half);
	}
	return 0;
}
