/*
 * ppt-outs.c - outputs, spools, and their end.
 */
#include "ppt/ppt-outs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ppt/ppt-spool.h"

enum { PIECE_BYTES = 1 << 20, LOOK_MS = 100 };

/* --- at the beginning ------------------------------------------------------------------------------------------------------ */

/* A buffer's name is the target's choice: it names no other folder, nor standard output. */
static char *path_of(const char *path, const char *name)
{
	char *made = malloc(strlen(path) + strlen(name) * strlen(path) + 1), *p = made;
	for (; made && *path; path++) {
		if (path[0] != '%' || path[1] != 'b') {
			*p++ = *path;
			continue;
		}
		for (const char *c = name; *c; c++)
			*p++ = *c == '/' || ((*c == '.' || *c == '-') && c == name) ? '_' : *c;
		path++;
	}
	if (made)
		*p = '\0';
	return made;
}

static struct ctp_outqueue *open_queue(struct ctp_ppt_outs *outs, const char *path, bool force, struct ctp_err *err)
{
	struct ctp_output out;
	if (ctp_output_open(&out, path, true, force, err))
		return NULL;
	struct ctp_outqueue *queue = ctp_outqueue_new(&out, err);
	if (queue)
		ctp_outqueue_until(queue, outs->hopeless);
	else
		ctp_output_abandon(&out);
	return queue;
}

static bool is_taken(const struct ctp_ppt_outs *outs, const struct ctp_ppt_out *o)
{
	for (size_t i = 0; i < outs->n; i++)
		if (&outs->out[i] != o && outs->out[i].path && !strcmp(outs->out[i].path, o->path))
			return true;
	return false;
}

/* A file for %b. Names may differ, and become one. */
static enum ctp_status open_own(struct ctp_ppt_outs *outs, struct ctp_ppt_out *o, const char *path, bool force, const char *name,
                                struct ctp_err *err)
{
	char *other = NULL;
	o->path = path_of(path, name);
	for (unsigned i = 2; o->path && is_taken(outs, o); i++) {
		free(o->path);
		o->path = asprintf(&other, "%s-%u", name, i) < 0 ? NULL : path_of(path, other);
		free(other);
		other = NULL;
	}
	if (!o->path)
		return ctp_err_set(err, "out of memory");
	o->queue = open_queue(outs, o->path, force, err);
	return o->queue ? CTP_OK : CTP_FAILED;
}

/* Standard output may go on with a file that has something in it. */
static void find_main(struct ctp_ppt_outs *outs, const char *path)
{
	struct stat st;
	bool named = path && strcmp(path, "-");
	if (named ? stat(path, &st) : fstat(STDOUT_FILENO, &st))
		return;
	outs->piped = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
	outs->path = named ? path : st.st_size ? NULL : "/proc/self/fd/1";
}

enum ctp_status ctp_ppt_outs_open(struct ctp_ppt_outs *outs, const char *path, bool force, const char *const *names, size_t n,
                                  bool (*hopeless)(void), struct ctp_err *err)
{
	*outs = (struct ctp_ppt_outs){.out = calloc(n, sizeof *outs->out), .hopeless = hopeless};
	if (!outs->out)
		return ctp_err_set(err, "out of memory");
	outs->n = n;
	for (size_t i = 0; i < n; i++)
		outs->out[i].spool = -1;
	if (!path || !strstr(path, "%b")) {
		outs->main = open_queue(outs, path, force, err);
		find_main(outs, path);
		return outs->main ? CTP_OK : CTP_FAILED;
	}
	enum ctp_status status = CTP_OK;
	for (size_t i = 0; i < n && !status; i++)
		status = open_own(outs, &outs->out[i], path, force, names[i], err);
	return status;
}

enum ctp_status ctp_ppt_outs_add(struct ctp_ppt_outs *outs, const char *path, bool force, const char *name, struct ctp_err *err)
{
	struct ctp_ppt_out *more = realloc(outs->out, (outs->n + 1) * sizeof *more);
	if (!more)
		return ctp_err_set(err, "out of memory");
	outs->out = more;
	struct ctp_ppt_out *o = &outs->out[outs->n++];
	*o = (struct ctp_ppt_out){.spool = -1};
	if (outs->main || !open_own(outs, o, path, force, name, err))
		return CTP_OK;
	free(o->path);
	outs->n--;
	return CTP_FAILED;
}

/* --- for a buffer ---------------------------------------------------------------------------------------------------------- */

static int open_nameless(const char *dir)
{
	char path[4096];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR) || snprintf(path, sizeof path, "%s/ctp-XXXXXX", dir) >= (int)sizeof path)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static enum ctp_status open_spool(struct ctp_ppt_outs *outs, struct ctp_ppt_out *o, struct ctp_err *err)
{
	const char *dir = getenv("TMPDIR");
	struct ctp_output out;
	dir = dir && *dir ? dir : "/tmp";
	o->spool = open_nameless(dir);
	if (o->spool < 0)
		return ctp_err_sys(err, "a temporary file in %s, which TMPDIR can name", dir);
	if (ctp_output_fd(&out, o->spool, "a temporary file, whose folder TMPDIR can name", err))
		return CTP_FAILED;
	o->queue = ctp_outqueue_new(&out, err);
	if (!o->queue) {
		ctp_output_abandon(&out);
		return CTP_FAILED;
	}
	ctp_outqueue_until(o->queue, outs->hopeless);
	return CTP_OK;
}

struct ctp_writer *ctp_ppt_outs_writer(struct ctp_ppt_outs *outs, size_t i, struct ctp_err *err)
{
	struct ctp_ppt_out *o = &outs->out[i];
	if (outs->main && !outs->taken) {
		o->queue = outs->main;
		o->shared = outs->taken = true;
		o->section = ++outs->sections;
	}
	if (!o->queue && open_spool(outs, o, err))
		return NULL;
	o->writer = ctp_writer_new_in(ctp_outqueue_room, ctp_outqueue_put, o->queue, err);
	outs->wrote |= o->writer != NULL;
	return o->writer;
}

bool ctp_ppt_outs_tight(const struct ctp_ppt_outs *outs, size_t i) { return outs->out[i].queue && ctp_outqueue_tight(outs->out[i].queue); }

size_t ctp_ppt_outs_watch(const struct ctp_ppt_outs *outs, struct pollfd *fds, size_t *of, size_t room)
{
	size_t n = 0;
	if (outs->main && n < room) {
		of[n] = CTP_PPT_OUTS_ALL;
		fds[n++] = (struct pollfd){.fd = ctp_outqueue_fd(outs->main), .events = POLLIN};
	}
	for (size_t i = 0; i < outs->n && n < room; i++)
		if (outs->out[i].queue && !outs->out[i].shared) {
			of[n] = i;
			fds[n++] = (struct pollfd){.fd = ctp_outqueue_fd(outs->out[i].queue), .events = POLLIN};
		}
	return n;
}

/* --- at the end ------------------------------------------------------------------------------------------------------------ */

/* All that was put, written and closed. A thread that hangs is left behind: the program ends soon. */
static enum ctp_status close_queue(struct ctp_ppt_outs *outs, struct ctp_outqueue *queue, struct ctp_err *err)
{
	struct pollfd fd = {.fd = ctp_outqueue_fd(queue), .events = POLLIN};
	ctp_outqueue_finish(queue);
	while (poll(&fd, 1, LOOK_MS) <= 0)
		if (outs->hopeless())
			return ctp_err_set(err, "the last packets were not taken");
	outs->unread |= ctp_outqueue_unread(queue);
	return ctp_outqueue_close(queue, err);
}

static enum ctp_status close_own(struct ctp_ppt_outs *outs, struct ctp_ppt_out *o, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	ctp_writer_free(o->writer);
	if (o->queue && !o->shared) {
		if (outs->wrote)
			status = close_queue(outs, o->queue, err);
		else
			ctp_outqueue_abandon(o->queue);
	}
	o->writer = NULL;
	o->queue = NULL;
	o->failed |= status != CTP_OK;
	return status;
}

/* Frames in the spool, whose torn end is cut off. One that cannot be read back has none. */
static uint64_t cut_spool(struct ctp_ppt_out *o)
{
	struct ctp_err ignored;
	uint64_t kept;
	if (!ctp_ppt_spool_cut(o->spool, &kept, &ignored))
		return kept;
	close(o->spool);
	o->spool = -1;
	return 0;
}

void ctp_ppt_outs_fail(struct ctp_ppt_outs *outs, size_t i, uint64_t *kept, struct ctp_err *err)
{
	struct ctp_ppt_out *o = &outs->out[i];
	if (!close_own(outs, o, err))
		ctp_err_set(err, "an output has ended"); /* not without an error */
	o->failed = true;
	*kept = o->spool < 0 ? CTP_PPT_OUTS_UNKNOWN : cut_spool(o);
}

static enum ctp_status append(struct ctp_ppt_outs *outs, int spool, struct ctp_err *err)
{
	char *piece = malloc(PIECE_BYTES);
	enum ctp_status status = piece ? CTP_OK : ctp_err_set(err, "out of memory");
	off_t at = 0;
	for (ssize_t n; !status && (n = pread(spool, piece, PIECE_BYTES, at)); at += n) {
		if (n < 0)
			status = ctp_err_sys(err, "a temporary file, whose folder TMPDIR can name");
		else if (!ctp_outqueue_put(outs->main, piece, (size_t)n))
			break; /* closing says why */
	}
	free(piece);
	return status;
}

/* Those that are whole come first: what follows one that is cut is behind damage. */
static enum ctp_status append_all(struct ctp_ppt_outs *outs, bool failed, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	struct ctp_err more;
	for (size_t i = 0; i < outs->n; i++) {
		struct ctp_ppt_out *o = &outs->out[i];
		if (o->spool < 0 || o->failed != failed)
			continue;
		o->section = ++outs->sections;
		if (append(outs, o->spool, status ? &more : err))
			status = CTP_FAILED;
		close(o->spool);
		o->spool = -1;
	}
	return status;
}

static uint64_t frames_in(const struct ctp_ppt_out *o)
{
	uint64_t frames;
	ctp_ppt_spool_count(o->path, &frames, 1);
	return frames;
}

/* Spools and files. The last file that fails is the error, if no other is whole. */
static enum ctp_status close_all(struct ctp_ppt_outs *outs, const struct ctp_ppt_cut *cut, struct ctp_err *err)
{
	struct ctp_err more;
	size_t whole = 0, last = outs->n;
	for (size_t i = 0; i < outs->n; i++) {
		struct ctp_ppt_out *o = &outs->out[i];
		bool known = o->failed, began = o->writer;
		enum ctp_status status = close_own(outs, o, &more);
		if (status && o->spool >= 0) {
			cut->hear(cut->arg, i, cut_spool(o), more.text);
		} else if (status) {
			if (last < outs->n)
				cut->hear(cut->arg, last, frames_in(&outs->out[last]), err->text);
			*err = more;
			last = i;
		} else if (known && o->path) {
			cut->hear(cut->arg, i, frames_in(o), NULL);
		}
		whole += o->path && began && !o->failed;
	}
	if (last == outs->n)
		return CTP_OK;
	cut->hear(cut->arg, last, frames_in(&outs->out[last]), whole ? err->text : NULL);
	return whole ? CTP_OK : CTP_FAILED;
}

/* The stream has failed. */
static void tell_cut(const struct ctp_ppt_outs *outs, const struct ctp_ppt_cut *cut)
{
	uint64_t *kept = calloc(outs->sections + 1, sizeof *kept);
	if (kept && outs->path)
		ctp_ppt_spool_count(outs->path, kept + 1, outs->sections);
	for (size_t i = 0; i < outs->n; i++)
		cut->hear(cut->arg, i, kept ? kept[outs->out[i].section] : 0, NULL);
	free(kept);
}

enum ctp_status ctp_ppt_outs_close(struct ctp_ppt_outs *outs, const struct ctp_ppt_cut *cut, struct ctp_err *err)
{
	struct ctp_err more;
	enum ctp_status status = close_all(outs, cut, err);
	if (append_all(outs, false, status ? &more : err))
		status = CTP_FAILED;
	if (append_all(outs, true, status ? &more : err))
		status = CTP_FAILED;
	if (outs->main && !outs->wrote) {
		ctp_outqueue_abandon(outs->main);
	} else if (outs->main && close_queue(outs, outs->main, status ? &more : err)) {
		status = CTP_FAILED;
		if (!outs->piped)
			tell_cut(outs, cut);
	}
	for (size_t i = 0; i < outs->n; i++)
		free(outs->out[i].path);
	free(outs->out);
	outs->out = NULL;
	outs->n = 0;
	outs->main = NULL;
	return status;
}
