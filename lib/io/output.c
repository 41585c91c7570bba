/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * output.c - the one buffered writer.
 *
 * After the first error everything that is put is dropped, so that callers need not look; flush and close report it. A file
 * that is to appear whole is written without a name (O_TMPFILE) and given one at the end of the close: whatever ends the program
 * before that, a kill -9 included, leaves nothing behind. Where the file system cannot do that, or there is no /proc, it has a random name beside the
 * real one. All names are names in a folder that is open, so nothing that happens to the path meanwhile leads elsewhere.
 *
 * A converter's output has a thread (writeback.h) once its first buffer is full, so that the time the system takes for writing (a
 * third of all, into a pipe) is not waited for: buf is a room of the ring from then on. `state` is the thread's from a put to the
 * next settle or failure; *out has a copy from there.
 */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/clock.h"
#include "base/fd.h"
#include "base/pages.h"
#include "io/folder.h"
#include "io/writeback.h"

/* Three buffers: drains may leave some of one unused, and the next has room all the same while one is written. */
enum { BUFFER_BYTES = 256 << 10, RING_BYTES = 3 * BUFFER_BYTES, PIPE_BYTES = 1 << 20, ZSTD_LEVEL = 1, FRAME_NS = 1000000000 };

struct ctp_output_priv {
	struct state {
		bool failed, epipe;
		uint64_t bytes;
		struct ctp_err err;
	} state;
	struct ctp_writeback *thread; /* null: there is none, and buf is the output's own */
	bool wants_thread;
	int folder; /* that the names are in; -1: there is none */
	bool own_folder, whole;
	char file[NAME_MAX + 1], temp[NAME_MAX + 16]; /* the final name; the present one of a whole file, "" for none yet */
	mode_t mode; /* of a new file, before the umask */
	bool fresh, created; /* nothing is written yet, so what the file held is still there; there was no file */
#ifdef HAVE_ZSTD
	ZSTD_CCtx *zstd;
	char *packed; /* what the compressor gives out */
	size_t packed_bytes;
#endif
};

static bool is_packed(const struct ctp_output *out)
{
#ifdef HAVE_ZSTD
	return out->priv->zstd;
#else
	(void)out;
	return false;
#endif
}

static void fail(struct ctp_output *out)
{
	struct state *st = &out->priv->state;
	if (!st->failed) {
		st->epipe = errno == EPIPE;
		ctp_err_sys(&st->err, "%s: after %llu bytes%s", out->name, (unsigned long long)st->bytes, is_packed(out) ? " before compression" : "");
		st->failed = true;
	}
}

/* The file's old contents go with the first byte, not at the open: an output that is abandoned before has changed nothing. */
static void replace(struct ctp_output *out)
{
	if (out->priv->fresh && ftruncate(out->fd, 0))
		fail(out);
	out->priv->fresh = false;
}

static void write_all(struct ctp_output *out, const char *data, size_t len, bool counts)
{
	if (len)
		replace(out);
	while (len && !out->priv->state.failed) {
		ssize_t n = write(out->fd, data, len);
		if (n > 0) {
			data += n;
			len -= (size_t)n;
			out->priv->state.bytes += counts ? (uint64_t)n : 0;
		} else if (n < 0 && errno == EAGAIN) {
			/* Another process shares the descriptor and made it non-blocking. */
			poll(&(struct pollfd){.fd = out->fd, .events = POLLOUT}, 1, -1);
		} else if (n == 0 || errno != EINTR) {
			fail(out);
		}
	}
}

#ifdef HAVE_ZSTD
static void compress(struct ctp_output *out, const char *data, size_t len, ZSTD_EndDirective how)
{
	struct ctp_output_priv *priv = out->priv;
	ZSTD_inBuffer from = {data, len, 0};
	size_t left;
	do {
		size_t before = from.pos;
		ZSTD_outBuffer to = {priv->packed, priv->packed_bytes, 0};
		left = ZSTD_compressStream2(priv->zstd, &to, &from, how);
		if (ZSTD_isError(left)) {
			ctp_err_set(&priv->state.err, "%s: zstd: %s", out->name, ZSTD_getErrorName(left));
			priv->state.failed = true;
			return;
		}
		write_all(out, priv->packed, to.pos, false);
		priv->state.bytes += priv->state.failed ? 0 : from.pos - before;
	} while (!priv->state.failed && (from.pos < len || (how != ZSTD_e_continue && left)));
}
#endif

static void give(struct ctp_output *out, const char *data, size_t len)
{
	if (out->priv->state.failed)
		return;
#ifdef HAVE_ZSTD
	if (out->priv->zstd)
		compress(out, data, len, ZSTD_e_continue);
	else
#endif
		write_all(out, data, len, true);
}

/* --- the thread ---------------------------------------------------------------------------------------------------------- */

static bool write_block(void *arg, const char *data, size_t len)
{
	struct ctp_output *out = arg;
	give(out, data, len);
	return !out->priv->state.failed;
}

/* False: there is no thread, and the caller writes. */
static bool start_thread(struct ctp_output *out)
{
	static const struct ctp_writeback_ops ops = {.write = write_block};
	struct ctp_output_priv *priv = out->priv;
	struct ctp_err ignored;
	bool wanted = priv->wants_thread;
	priv->wants_thread = false; /* tried once */
	if (!wanted || sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return false;
	priv->thread = ctp_writeback_new(&ops, out, RING_BYTES, BUFFER_BYTES, &ignored);
	if (!priv->thread)
		return false;
	size_t len = (size_t)(out->ptr - out->buf);
	char *room = memcpy(ctp_writeback_room(priv->thread), out->buf, len);
	ctp_pages_free(out->buf, BUFFER_BYTES);
	out->buf = room;
	out->ptr = room + len;
	return true;
}

/* --- putting --------------------------------------------------------------------------------------------------------------- */

/* Copies the state to *out, where callers look. */
static void note_state(struct ctp_output *out)
{
	const struct state *st = &out->priv->state;
	out->bytes = st->bytes;
	if (st->failed && !out->failed) {
		out->failed = true;
		out->epipe = st->epipe;
		out->err = st->err;
	}
}

/* Gives the buffer away; with `wait`, returns when it is written. */
static void drain(struct ctp_output *out, bool wait)
{
	struct ctp_output_priv *priv = out->priv;
	if (priv->thread || (!wait && start_thread(out))) {
		bool good = ctp_writeback_put(priv->thread, out->buf, (size_t)(out->ptr - out->buf));
		if (wait)
			ctp_writeback_settle(priv->thread);
		if (wait || !good)
			note_state(out);
		out->buf = ctp_writeback_room(priv->thread);
	} else {
		give(out, out->buf, (size_t)(out->ptr - out->buf));
		note_state(out);
	}
	out->ptr = out->buf;
	out->end = out->buf + BUFFER_BYTES;
}

void ctp_output_drain(struct ctp_output *out) { drain(out, false); }

void ctp_output_put_slow(struct ctp_output *out, const void *data, size_t len)
{
	for (const char *from = data; len;) {
		size_t room = (size_t)(out->end - out->ptr), n = len < room ? len : room;
		memcpy(out->ptr, from, n);
		out->ptr += n;
		from += n;
		len -= n;
		if (out->ptr == out->end)
			drain(out, false);
	}
}

_Static_assert(sizeof(uint64_t) == sizeof(uintmax_t), "%ju is for uint64_t");
void ctp_output_putf(struct ctp_output *out, const char *fmt, ...)
{
	char *at = ctp_output_reserve(out, CTP_OUTPUT_PUTF_MAX);
	va_list ap;
	va_start(ap, fmt);
	int len = vsnprintf(at, CTP_OUTPUT_PUTF_MAX, fmt, ap);
	va_end(ap);
	if (len > 0)
		ctp_output_commit(out, at + (len < CTP_OUTPUT_PUTF_MAX ? len : CTP_OUTPUT_PUTF_MAX - 1));
}

void ctp_output_pass(struct ctp_output *out, const void *data, size_t len)
{
	if (out->ptr != out->buf || out->priv->thread)
		drain(out, true);
	give(out, data, len);
	note_state(out);
}

bool ctp_output_flush(struct ctp_output *out)
{
	drain(out, true);
#ifdef HAVE_ZSTD
	if (out->priv->zstd && !out->failed) {
		uint64_t now_ns = ctp_clock_ns();
		bool end = now_ns >= out->frame_due_ns;
		compress(out, NULL, 0, end ? ZSTD_e_end : ZSTD_e_flush);
		if (end)
			out->frame_due_ns = now_ns + FRAME_NS;
		note_state(out);
	}
#endif
	return !out->failed;
}

bool ctp_output_is_unread(const struct ctp_output *out)
{
	struct pollfd fd = {.fd = out->fd, .events = POLLOUT};
	return poll(&fd, 1, 0) == 1 && fd.revents & (POLLERR | POLLHUP);
}

static bool ends_in_zst(const char *path)
{
	size_t len = strlen(path);
	return len >= 4 && !strcmp(path + len - 4, ".zst");
}

static enum ctp_status start_zstd(struct ctp_output *out, struct ctp_err *err)
{
#ifdef HAVE_ZSTD
	struct ctp_output_priv *priv = out->priv;
	priv->packed_bytes = ZSTD_CStreamOutSize();
	priv->packed = malloc(priv->packed_bytes);
	priv->zstd = ZSTD_createCCtx();
	if (!priv->packed || !priv->zstd)
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", out->name);
	ZSTD_CCtx_setParameter(priv->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(priv->zstd, ZSTD_c_checksumFlag, 1);
	return CTP_OK;
#else
	return ctp_err_set(err, "%s: built without zstd; write to a pipe and compress with zstd(1)", out->name);
#endif
}

static void release(struct ctp_output *out)
{
	struct ctp_output_priv *priv = out->priv;
	if (!priv || !priv->thread)
		ctp_pages_free(out->buf, BUFFER_BYTES);
	if (priv) {
		ctp_writeback_free(priv->thread);
#ifdef HAVE_ZSTD
		ZSTD_freeCCtx(priv->zstd);
		free(priv->packed);
#endif
	}
	if (out->own_fd && out->fd >= 0)
		close(out->fd);
	if (priv && priv->own_folder && priv->folder >= 0)
		close(priv->folder);
	free(priv);
	out->priv = NULL;
	out->buf = out->ptr = out->end = NULL;
	out->fd = -1;
}

enum ctp_status ctp_output_fd(struct ctp_output *out, int fd, const char *name, struct ctp_err *err)
{
	*out = (struct ctp_output){.fd = fd, .name = name};
	out->buf = out->ptr = ctp_pages_new(BUFFER_BYTES);
	out->priv = calloc(1, sizeof *out->priv);
	if (!out->buf || !out->priv) {
		release(out);
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", name);
	}
	out->priv->folder = -1;
	out->end = out->buf + BUFFER_BYTES;
	/* A pipe is made as large as is allowed, so that writer and reader seldom wait for each other. */
	fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
	return CTP_OK;
}

static bool set_name(struct ctp_output_priv *priv, const char *path)
{
	const char *slash = strrchr(path, '/');
	errno = ENAMETOOLONG;
	return snprintf(priv->file, sizeof priv->file, "%s", slash ? slash + 1 : path) < (int)sizeof priv->file;
}

static bool random_name(struct ctp_output_priv *priv)
{
	uint64_t r;
	if (getrandom(&r, sizeof r, 0) != sizeof r)
		return false;
	snprintf(priv->temp, sizeof priv->temp, "%s.%08x", priv->file, (unsigned)r);
	return true;
}

/*
 * A descriptor for a file that has no name yet, or a random one: only by /proc can everybody give it a name later. It can be read,
 * too, as SQLite does.
 */
static int create_nameless(struct ctp_output_priv *priv)
{
	bool has_proc = !access("/proc/self/fd", X_OK);
	int fd = has_proc ? openat(priv->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, priv->mode) : -1;
	if (fd >= 0 || (has_proc && errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	if (!random_name(priv))
		return -1;
	fd = openat(priv->folder, priv->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, priv->mode);
	if (fd < 0)
		priv->temp[0] = '\0';
	return fd;
}

/* Gives the complete file its name, in one step, in place of the file that had the name before. held: the file, if it has none. */
static bool publish(struct ctp_output *out, int held)
{
	struct ctp_output_priv *priv = out->priv;
	char self[32];
	if (!priv->temp[0]) {
		snprintf(self, sizeof self, "/proc/self/fd/%d", held);
		if (!linkat(AT_FDCWD, self, priv->folder, priv->file, AT_SYMLINK_FOLLOW))
			return true;
		if (errno != EEXIST || !random_name(priv))
			return false;
		if (linkat(AT_FDCWD, self, priv->folder, priv->temp, AT_SYMLINK_FOLLOW)) {
			priv->temp[0] = '\0';
			return false;
		}
	}
	if (renameat(priv->folder, priv->temp, priv->folder, priv->file))
		return false;
	priv->temp[0] = '\0';
	return true;
}

/* In a folder with whole files, in place of the file of that name: one of the caller's keeps its mode. */
static enum ctp_status replace_in(struct ctp_output *out, const char *path, bool any_owner, struct ctp_err *err)
{
	struct ctp_output_priv *priv = out->priv;
	struct stat st;
	bool exists = !fstatat(priv->folder, priv->file, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
	if (exists && faccessat(priv->folder, priv->file, W_OK, AT_EACCESS))
		return ctp_err_sys(err, "%s", path);
	priv->whole = true;
	out->fd = create_nameless(priv);
	if (out->fd < 0 || (exists && (any_owner || st.st_uid == geteuid()) && fchmod(out->fd, st.st_mode & 0777)))
		return ctp_err_sys(err, "%s", path);
	return CTP_OK;
}

/* The path is resolved, so that a symbolic link stays and its target is replaced. */
static enum ctp_status replace_path(struct ctp_output *out, const char *path, bool exists, struct ctp_err *err)
{
	char real[PATH_MAX];
	const char *name, *at = path;
	if (exists && !(at = realpath(path, real)))
		return ctp_err_sys(err, "%s", path);
	out->priv->folder = ctp_folder_of(at, &name, err);
	out->priv->own_folder = true;
	if (out->priv->folder < 0)
		return CTP_FAILED;
	return set_name(out->priv, name) ? replace_in(out, path, true, err) : ctp_err_sys(err, "%s", path);
}

static enum ctp_status open_path(struct ctp_output *out, const char *path, bool whole, struct ctp_err *err)
{
	struct stat st;
	bool exists = !stat(path, &st);
	if (whole && (!exists || S_ISREG(st.st_mode)))
		return replace_path(out, path, exists, err);
	out->priv->created = lstat(path, &st) != 0;
	out->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, out->priv->mode);
	out->priv->fresh = out->fd >= 0 && !fstat(out->fd, &st) && S_ISREG(st.st_mode);
	return out->fd < 0 ? ctp_err_sys(err, "%s", path) : CTP_OK;
}

/* A file that others may read, or that is another one by its second name, must not get what is for the caller alone. */
static enum ctp_status open_in(struct ctp_output *out, const char *path, struct ctp_err *err)
{
	struct ctp_output_priv *priv = out->priv;
	struct stat st;
	priv->folder = fcntl(priv->folder, F_DUPFD_CLOEXEC, 0);
	priv->own_folder = true;
	if (priv->folder < 0)
		return ctp_err_sys(err, "%s", path);
	priv->created = fstatat(priv->folder, priv->file, &st, AT_SYMLINK_NOFOLLOW) != 0;
	out->fd = openat(priv->folder, priv->file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, priv->mode);
	if (out->fd < 0 && errno == ELOOP)
		return ctp_err_as(err, CTP_ERR_REFUSED, "%s: is a link, and none is followed there", path);
	if (out->fd < 0 || fstat(out->fd, &st))
		return ctp_err_sys(err, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1 || st.st_uid != geteuid())
		return ctp_err_as(err, CTP_ERR_REFUSED, "%s: is no plain file of yours with one name, so it stays as it is", path);
	priv->fresh = true;
	return CTP_OK;
}

/* folder -1: none is given, and links of the path are followed. */
static enum ctp_status open_any(struct ctp_output *out, int folder, const char *path, bool binary, bool force, bool whole,
                                struct ctp_err *err)
{
	bool to_stdout = folder < 0 && (!path || !strcmp(path, "-"));
	enum ctp_status status = CTP_OK;
	if (ctp_output_fd(out, STDOUT_FILENO, to_stdout ? "stdout" : path, err))
		return CTP_FAILED;
	out->priv->mode = binary ? 0600 : 0666; /* a trace has the layout of a program's memory, as a core file has */
	out->priv->folder = folder;
	if (!to_stdout) {
		out->fd = -1;
		out->own_fd = true;
		if (folder < 0)
			status = open_path(out, path, whole, err);
		else if (!set_name(out->priv, path))
			status = ctp_err_sys(err, "%s", path);
		else
			status = whole ? replace_in(out, path, false, err) : open_in(out, path, err);
	}
	if (status)
		goto failed;
	if (binary && !force && isatty(out->fd)) {
		ctp_err_as(err, CTP_ERR_REFUSED, "%s: will not write binary data to a terminal; use a pipe, or -f", out->name);
		goto failed;
	}
	if (!to_stdout && ends_in_zst(path) && start_zstd(out, err))
		goto failed;
	out->priv->wants_thread = whole;
	return CTP_OK;
failed:
	ctp_output_abandon(out);
	return CTP_FAILED;
}

enum ctp_status ctp_output_open(struct ctp_output *out, const char *path, bool binary, bool force, struct ctp_err *err)
{
	return open_any(out, -1, path, binary, force, false, err);
}

enum ctp_status ctp_output_open_in(struct ctp_output *out, int folder, const char *path, bool binary, bool force,
                                   struct ctp_err *err)
{
	return open_any(out, folder, path, binary, force, false, err);
}

enum ctp_status ctp_output_create(struct ctp_output *out, const char *path, bool binary, bool force, struct ctp_err *err)
{
	return open_any(out, -1, path, binary, force, true, err);
}

enum ctp_status ctp_output_create_in(struct ctp_output *out, int folder, const char *path, bool binary, struct ctp_err *err)
{
	return open_any(out, folder, path, binary, false, true, err);
}

void ctp_output_rename(struct ctp_output *out, const char *path)
{
	drain(out, true); /* the thread, if there is one, has the name for its messages */
	if (!out->priv->whole)
		return;
	out->name = path;
	if (!set_name(out->priv, path))
		fail(out);
}

void ctp_output_abandon(struct ctp_output *out)
{
	struct ctp_output_priv *priv = out->priv;
	if (priv && priv->temp[0])
		unlinkat(priv->folder, priv->temp, 0);
	if (priv && priv->fresh && priv->created)
		unlinkat(priv->folder < 0 ? AT_FDCWD : priv->folder, priv->folder < 0 ? out->name : priv->file, 0);
	release(out);
}

enum ctp_status ctp_output_status(const struct ctp_output *out, struct ctp_err *err)
{
	if (!out->failed)
		return CTP_OK;
	*err = out->err;
	return CTP_FAILED;
}

/*
 * A network file system may say only at a close that there was no room, so a file has its name after that. The descriptor by which
 * it gets the name is for its place alone, and its close says nothing. Where the descriptor stays the caller's, a copy is closed.
 */
static void close_file(struct ctp_output *out)
{
	struct ctp_output_priv *priv = out->priv;
	bool whole = priv->whole && !priv->state.failed;
	int held = whole && !priv->temp[0] ? ctp_fd_reopen(out->fd, O_PATH | O_CLOEXEC) : -1;
	if (whole && !priv->temp[0] && held < 0)
		fail(out);
	int fd = out->own_fd ? out->fd : fcntl(out->fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0 && close(fd))
		fail(out);
	out->own_fd = false;
	if (whole && !priv->state.failed && !publish(out, held))
		fail(out);
	ctp_fd_close(held);
}

enum ctp_status ctp_output_close(struct ctp_output *out, struct ctp_err *err)
{
	drain(out, true);
#ifdef HAVE_ZSTD
	if (out->priv->zstd && !out->failed)
		compress(out, NULL, 0, ZSTD_e_end);
#endif
	replace(out);
	close_file(out);
	note_state(out);
	enum ctp_status status = ctp_output_status(out, err);
	ctp_output_abandon(out);
	return status;
}

bool ctp_output_packet(void *out, const void *packet, size_t len_bytes)
{
	ctp_output_put(out, packet, len_bytes);
	return !((struct ctp_output *)out)->failed;
}
