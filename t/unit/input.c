/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* The bounded input cursor on files, pipes and zstd of all kinds, truncated at every byte; and outputs, compressed and not. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "io/input.h"
#include "io/output.h"
#include "tap.h"

/* Path of an unnamed file with these bytes. */
static const char *file_of(const void *data, size_t len)
{
	static int fd = -1;
	static char path[64];
	if (fd >= 0)
		close(fd);
	fd = memfd_create("input", 0);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		exit(1);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return path;
}

/* Reads all of an input, in steps of the given size, into a buffer of max bytes. */
static size_t read_all(struct ctp_input *in, size_t step, char *to, size_t max)
{
	size_t len = 0;
	while (ctp_input_fill(in, step) && len < max) {
		size_t n = in->avail < step ? in->avail : step;
		n = n < max - len ? n : max - len;
		memcpy(to + len, in->ptr, n);
		ctp_input_skip(in, n);
		len += n;
	}
	return len;
}

static char *made_up(size_t len)
{
	char *data = malloc(len);
	uint32_t x = 1;
	for (size_t i = 0; i < len; i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (char)(x >> 29); /* compresses somewhat */
	}
	return data;
}

static bool gives(const char *path, size_t step, const char *want, size_t len, bool harmed)
{
	struct ctp_input in;
	struct ctp_err err;
	char *got = malloc(len + 1);
	if (ctp_input_open(&in, path, &err))
		return diag("  %s", err.text), false;
	size_t n = read_all(&in, step, got, len + 1);
	bool pass = n == len && !memcmp(got, want, len) && in.eof && in.harmed == harmed && !in.failed && in.offset == len;
	if (!pass)
		diag("  %zu bytes of %zu, harmed %d: %s", n, len, in.harmed, in.err.text);
	ctp_input_close(&in);
	free(got);
	return pass;
}

static void plain(void)
{
	enum { LEN = 3 << 20 };
	char *data = made_up(LEN);
	ok(gives(file_of(data, LEN), 1, data, LEN, false), "a file is read byte by byte");
	ok(gives(file_of(data, LEN), 99991, data, LEN, false), "a file is read in steps of an odd size");
	ok(gives(file_of(data, LEN), CTP_INPUT_MAX, data, LEN, false), "a file is read all at once");
	ok(gives(file_of(data, 0), 1, data, 0, false), "an empty file is read");
	ok(gives(file_of("\x28\xb5x", 3), 1, "\x28\xb5x", 3, false), "bytes that only begin like zstd are plain");
	ok(gives(file_of("(", 1), 1, "", 0, true), "an input truncated within zstd's magic is damaged");
	free(data);

	struct ctp_input in;
	struct ctp_err err;
	ok(ctp_input_open(&in, "/nonexistent", &err) == CTP_FAILED && strstr(err.text, "/nonexistent"),
	   "the error for a missing file names it");
	ok(ctp_input_open(&in, "/", &err) == CTP_FAILED && strstr(err.text, "directory"), "a folder is refused");
	ok(!ctp_input_open(&in, "/proc/self/mem", &err) && !ctp_input_fill(&in, 1) && in.failed && strstr(in.err.text, "/mem"),
	   "a failed read names the file");
	ctp_input_close(&in);
	ctp_input_mem(&in, "abc", 3);
	ok(ctp_input_fill(&in, 9) == 3 && in.eof, "a block of memory is read to its end");
	ctp_input_close(&in);
}

/* A live reader gets what has arrived: nothing more is written here, so waiting for more would block for ever. */
static void live(void)
{
	int fd[2];
	char path[64];
	struct ctp_input in;
	struct ctp_err err;
	if (pipe(fd))
		exit(1);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd[0]);
	alarm(60);
	ok(!ctp_input_open(&in, path, &err) && write(fd[1], "PQ", 2) == 2 && ctp_input_fill(&in, 2) == 2,
	   "a pipe gives the bytes in it");
	ctp_input_skip(&in, 1);
	ok(ctp_input_fill(&in, 1) == 1 && write(fd[1], "RST", 3) == 3 && ctp_input_fill(&in, 2) == 4,
	   "it gives the bytes that came later");
	close(fd[1]);
	ok(ctp_input_fill(&in, 5) == 4 && in.eof && !in.harmed, "it gives its end");
	alarm(0);
	ctp_input_close(&in);
	close(fd[0]);
}

#ifdef HAVE_ZSTD
/* A frame of small blocks, so that a cut leaves something. */
static size_t frame_of(char *to, size_t room, const char *data, size_t len)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	ZSTD_outBuffer out = {to, room, 0};
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	for (size_t at = 0; at < len; at += 100) {
		ZSTD_inBuffer in = {data + at, len - at < 100 ? len - at : 100, 0};
		ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush);
	}
	ZSTD_compressStream2(z, &out, &(ZSTD_inBuffer){0}, ZSTD_e_end);
	ZSTD_freeCCtx(z);
	return out.pos;
}

static void zstd(void)
{
	enum { LEN = 1000, ROOM = 8000 };
	static const char skippable[] = "\x55\x2a\x4d\x18\x03\x00\x00\x00xyz";
	char *data = made_up(LEN), file[ROOM], twice[2 * LEN];
	size_t n = frame_of(file, ROOM, data, LEN);
	ok(gives(file_of(file, n), 7, data, LEN, false), "a zstd frame is read");

	/* Blocks before a cut are read, and a later cut never gives fewer. */
	size_t last = 0, most = 0;
	bool pass = true;
	for (size_t cut = 1; cut < n; cut++) {
		struct ctp_input in;
		struct ctp_err err;
		char got[LEN + 1];
		if (ctp_input_open(&in, file_of(file, cut), &err))
			exit(1);
		size_t len = read_all(&in, 64, got, sizeof got);
		pass &= in.harmed && in.eof && !in.failed && len >= last && len <= LEN && !memcmp(got, data, len);
		most = len > most ? len : most;
		last = len;
		ctp_input_close(&in);
	}
	ok(pass, "a frame truncated at any byte gives the bytes before the cut, and is damaged");
	is_u64(most, LEN, "the last cut loses only the frame's end");

	memcpy(twice, data, LEN);
	memcpy(twice + LEN, data, LEN);
	memcpy(file + n, skippable, sizeof skippable - 1);
	size_t m = n + sizeof skippable - 1;
	m += frame_of(file + m, ROOM - m, data, LEN);
	ok(gives(file_of(file, m), 13, twice, 2 * LEN, false), "two frames with a skippable one between them are read");
	memcpy(file + n, data, LEN);
	ok(gives(file_of(file, n + LEN), 13, twice, 2 * LEN, false), "plain bytes after a frame are read");
	ok(gives(file_of(skippable, sizeof skippable - 1), 1, "", 0, false), "a skippable frame alone gives nothing");
	memcpy(file + n, "\x28\xb5", 2);
	ok(gives(file_of(file, n + 2), 13, data, LEN, true), "a second frame truncated in its magic is damaged");
	free(data);
}

/* What a file of these bytes gives. */
static size_t read_bytes(const char *file, size_t len, char *to, size_t max, bool *harmed)
{
	struct ctp_input in;
	struct ctp_err err;
	if (ctp_input_open(&in, file_of(file, len), &err))
		exit(1);
	size_t n = read_all(&in, 64, to, max);
	*harmed = in.harmed && in.eof && !in.failed && !strncmp(in.err.text, "zstd: ", 6) && strstr(in.err.text, " skipped");
	ctp_input_close(&in);
	return n;
}

/*
 * Each byte of the second of three frames is damaged in turn, in three ways: that loses no more of it than a cut there, and
 * nothing of the third. Its header is left alone (bytes after a frame that do not begin another are plain) and so is its last
 * block, which is empty (a longer one that is not compressed would be what follows, as it stands).
 */
static void damage(void)
{
	enum { LEN = 1000, ROOM = 8000, HEADER = 6, LAST = 3 + 4, MOST = 1 << 20 };
	static const unsigned char ways[] = {0xff, 0x01, 0x80};
	char *data = made_up(3 * LEN), file[ROOM], bad[ROOM], *got = malloc(MOST);
	size_t from = frame_of(file, ROOM, data, LEN), upto = from + frame_of(file + from, ROOM - from, data + LEN, LEN);
	size_t end = upto + frame_of(file + upto, ROOM - upto, data + 2 * LEN, LEN);
	bool harmed, before = true, after = true, told = true;
	for (size_t i = from + HEADER; i < upto - LAST; i++) {
		size_t cut = read_bytes(file, i, got, MOST, &harmed);
		for (size_t way = 0; way < sizeof ways; way++) {
			memcpy(bad, file, end);
			bad[i] = (char)(bad[i] ^ ways[way]);
			size_t len = read_bytes(bad, end, got, MOST, &harmed);
			before &= len >= cut && !memcmp(got, data, cut);
			after &= len >= LEN && !memcmp(got + len - LEN, data + 2 * LEN, LEN);
			told &= harmed || (len == 3 * LEN && !memcmp(got, data, len)); /* some bits have no meaning */
		}
	}
	ok(before, "the bytes before the damage are read");
	ok(after, "the frame after the damage is read");
	ok(told, "the damage is noticed");

	/* A block is missing, and with it the end of a line. */
	memcpy(bad, file, end);
	memset(bad + from + HEADER, 0xff, 3);
	size_t len = read_bytes(bad, end, got, MOST, &harmed);
	ok(len == 2 * LEN + 2 && !memcmp(got + LEN, "\0\n", 2) && !memcmp(got + LEN + 2, data + 2 * LEN, LEN),
	   "a NUL and a newline stand for the missing bytes");
	bad[upto - 1] = (char)(file[upto - 1] ^ 1);
	memcpy(bad + from, file + from, upto - 1 - from);
	len = read_bytes(bad, end, got, MOST, &harmed);
	ok(len == 3 * LEN && harmed && !memcmp(got, data, len), "if only the checksum is wrong, no bytes are missing");
	free(got);
	free(data);
}

/* What output.c compresses, input.c reads; flushed bytes are there before the end. */
static void both_ways(void)
{
	enum { LEN = 2 << 20 };
	char path[] = "/tmp/ctp-input-XXXXXX.zst", *data = made_up(LEN);
	struct ctp_output out;
	struct ctp_err err;
	close(mkstemps(path, 4));
	ok(!ctp_output_open(&out, path, false, false, &err), "a .zst can be opened");
	ctp_output_put(&out, data, 1000);
	out.frame_due_ns = UINT64_MAX;
	ok(ctp_output_flush(&out) && gives(path, 1, data, 1000, true), "what was flushed can be read before the end");
	ctp_output_put(&out, data + 1000, 1000);
	out.frame_due_ns = 0;
	ok(ctp_output_flush(&out) && gives(path, 1, data, 2000, false), "a flush ends a frame that is due");
	ok(out.frame_due_ns > 0, "the next frame gets a due time");
	ctp_output_put(&out, data + 2000, LEN - 2000);
	is_u64(out.bytes + (uint64_t)(out.ptr - out.buf), LEN, "bytes are counted before compression");
	ok(!ctp_output_close(&out, &err) && gives(path, 4096, data, LEN, false), "all of it can be read after the close");
	unlink(path);
	free(data);
}
#endif

static size_t files_like(const char *folder)
{
	char command[128], count[16] = "";
	snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
	FILE *p = popen(command, "r");
	if (!p || !fgets(count, sizeof count, p))
		exit(1);
	pclose(p);
	return strtoul(count, NULL, 10);
}

/* A file that must be whole is there after a close and not before, and never if it is abandoned. */
static void whole(void)
{
	char folder[] = "/tmp/ctp-output-XXXXXX", path[64], link[64];
	struct ctp_output out;
	struct ctp_err err;
	if (!mkdtemp(folder))
		exit(1);
	snprintf(path, sizeof path, "%s/x", folder);
	ok(!ctp_output_create(&out, path, false, false, &err), "a file is created");
	ctp_output_put(&out, "one", 3);
	ok(ctp_output_flush(&out) && access(path, F_OK), "it has no name before it is complete");
	ok(!ctp_output_close(&out, &err) && gives(path, 1, "one", 3, false), "it has its name after the close");

	snprintf(link, sizeof link, "%s/l", folder);
	ok(!symlink("x", link) && !ctp_output_create(&out, link, false, false, &err),
	   "a second file is created in its place, through a link");
	ctp_output_put(&out, "two", 3);
	ok(ctp_output_flush(&out) && gives(path, 1, "one", 3, false), "the first stays until the second is complete");
	ok(!ctp_output_close(&out, &err) && gives(path, 1, "two", 3, false) && !unlink(link),
	   "then the file is replaced, not the link");

	ok(!ctp_output_create(&out, path, false, false, &err), "a third file is created");
	ctp_output_put(&out, "three", 5);
	ctp_output_flush(&out);
	ctp_output_abandon(&out);
	ok(gives(path, 1, "two", 3, false), "abandoning it changes nothing");
	is_u64(files_like(folder), 1, "no temporary file stays");

	ok(!ctp_output_create(&out, path, false, false, &err), "a file is created and then renamed");
	ctp_output_put(&out, "four", 4);
	ctp_output_rename(&out, link);
	ok(!ctp_output_close(&out, &err) && gives(link, 1, "four", 4, false), "the file has its new name after the close");
	ok(gives(path, 1, "two", 3, false) && !unlink(link), "the file of the old name is unchanged");
	unlink(path);
	rmdir(folder);
	ok(ctp_output_create(&out, path, false, false, &err) == CTP_FAILED && strstr(err.text, path),
	   "the error for a missing folder names the path");
}

static void full(void)
{
	struct ctp_output out;
	struct ctp_err err;
	ok(!ctp_output_open(&out, "/dev/full", false, false, &err), "/dev/full opens");
	ctp_output_put(&out, "x", 1);
	ok(!ctp_output_flush(&out) && out.failed && !out.epipe, "a flush to /dev/full fails");
	for (int i = 0; i < 1000000; i++)
		ctp_output_put(&out, "more", 4);
	ok(ctp_output_close(&out, &err) == CTP_FAILED && strstr(err.text, "/dev/full") && strstr(err.text, "No space"),
	   "the error stays, and the close reports it");

	int fd[2];
	signal(SIGPIPE, SIG_IGN);
	if (pipe(fd) || ctp_output_fd(&out, fd[1], "pipe", &err))
		exit(1);
	close(fd[0]);
	ctp_output_put(&out, "x", 1);
	ok(ctp_output_close(&out, &err) == CTP_FAILED && out.epipe, "a closed pipe is distinguished from other errors");
	ok(!close(fd[1]), "the caller's descriptor stays open");
}

int main(void)
{
	plain();
	live();
#ifdef HAVE_ZSTD
	zstd();
	damage();
	both_ways();
#endif
	whole();
	full();
	return done_testing();
}
