/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-outs.c - outputs, and their end.
 */
#include "ppt/ppt-outs.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/folder.h"
#include "stream/reader.h"

enum { LOOK_MS = 100 };

/* --- at the beginning ------------------------------------------------------------------------------------------------------ */

/* The target chooses the names of buffers: they must not lead to another folder, or to standard output. */
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

static enum ctp_status start_queue(struct ctp_ppt_outs *outs, struct ctp_ppt_out *o, struct ctp_output *out, struct ctp_err *err)
{
	if (!(o->queue = ctp_outqueue_new(out, err))) {
		ctp_output_abandon(out);
		return CTP_FAILED;
	}
	ctp_outqueue_until(o->queue, outs->wait_is_over);
	return CTP_OK;
}

/* The user trusts the folder before the first %b only: a file or folder whose name the target chose may be a trap. */
static enum ctp_status open_below(struct ctp_output *out, const char *given, const char *path, bool force, struct ctp_err *err)
{
	size_t len = (size_t)(strstr(given, "%b") - given);
	while (len && given[len - 1] != '/')
		len--;
	char *named = len ? strndup(given, len) : strdup("."), *rest = strdup(path + len), *last = rest ? strrchr(rest, '/') : NULL;
	enum ctp_status status = CTP_FAILED;
	if (last)
		*last = '\0';
	if (!named || !rest)
		ctp_err_memory(err);
	int above = named && rest ? ctp_folder_open(named, false, err) : -1;
	int folder = above >= 0 && last ? ctp_folder_below(above, named, rest, false, err) : above;
	if (folder >= 0)
		status = ctp_output_open_in(out, folder, path, true, force, err);
	if (folder >= 0 && folder != above)
		close(folder);
	if (above >= 0)
		close(above);
	free(named);
	free(rest);
	return status;
}

static bool is_taken(const struct ctp_ppt_outs *outs, const struct ctp_ppt_out *o)
{
	for (size_t i = 0; i < outs->n; i++)
		if (&outs->out[i] != o && outs->out[i].path && !strcmp(outs->out[i].path, o->path))
			return true;
	return false;
}

/* A file for %b. Different names can become the same path. */
static enum ctp_status open_own(struct ctp_ppt_outs *outs, struct ctp_ppt_out *o, const char *path, bool force, const char *name,
                                struct ctp_err *err)
{
	char *other = NULL;
	struct ctp_output out;
	o->path = path_of(path, name);
	for (unsigned i = 2; o->path && is_taken(outs, o); i++) {
		free(o->path);
		o->path = asprintf(&other, "%s-%u", name, i) < 0 ? NULL : path_of(path, other);
		free(other);
		other = NULL;
	}
	if (!o->path)
		return ctp_err_memory(err);
	return open_below(&out, path, o->path, force, err) ? CTP_FAILED : start_queue(outs, o, &out, err);
}

/* Standard output may continue a file that has something in it. */
static enum ctp_status open_alone(struct ctp_ppt_outs *outs, struct ctp_ppt_out *o, const char *path, bool force,
                                  struct ctp_err *err)
{
	struct stat st;
	struct ctp_output out;
	bool named = path && strcmp(path, "-");
	if (ctp_output_open(&out, path, true, force, err) || start_queue(outs, o, &out, err))
		return CTP_FAILED;
	if (named ? stat(path, &st) : fstat(STDOUT_FILENO, &st))
		return CTP_OK;
	outs->piped = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
	o->path = named ? strdup(path) : st.st_size ? NULL : strdup("/proc/self/fd/1");
	return CTP_OK;
}

enum ctp_status ctp_ppt_outs_open(struct ctp_ppt_outs *outs, const char *path, bool force, const char *const *names, size_t n,
                                  bool (*wait_is_over)(void), struct ctp_err *err)
{
	assert(n);
	*outs = (struct ctp_ppt_outs){.wait_is_over = wait_is_over, .alone = !path || !strstr(path, "%b")};
	if (outs->alone && n > 1)
		return ctp_err_set(err, "%s, %s: each buffer has a file of its own: -o with %%b in the name, or name one buffer",
		                   names[0], names[1]);
	if (!(outs->out = calloc(n, sizeof *outs->out)))
		return ctp_err_memory(err);
	outs->n = n;
	if (outs->alone)
		return open_alone(outs, outs->out, path, force, err);
	enum ctp_status status = CTP_OK;
	for (size_t i = 0; i < n && !status; i++)
		status = open_own(outs, &outs->out[i], path, force, names[i], err);
	return status;
}

/* --- for a buffer ---------------------------------------------------------------------------------------------------------- */

struct ctp_writer *ctp_ppt_outs_writer(struct ctp_ppt_outs *outs, size_t i, struct ctp_err *err)
{
	struct ctp_ppt_out *o = &outs->out[i];
	assert(i < outs->n && !o->writer);
	o->writer = ctp_writer_new_in(ctp_outqueue_room, ctp_outqueue_put, o->queue, err);
	outs->wrote |= o->writer != NULL;
	return o->writer;
}

bool ctp_ppt_outs_tight(const struct ctp_ppt_outs *outs, size_t i) { return outs->out[i].queue && ctp_outqueue_tight(outs->out[i].queue); }

void ctp_ppt_outs_watch(const struct ctp_ppt_outs *outs, struct pollfd *fds)
{
	for (size_t i = 0; i < outs->n; i++)
		fds[i] = (struct pollfd){.fd = outs->out[i].queue ? ctp_outqueue_fd(outs->out[i].queue) : -1, .events = POLLIN};
}

/* --- at the end ------------------------------------------------------------------------------------------------------------ */

/* Writes and closes all that was put. A thread that hangs is not waited for: the program ends soon. */
static enum ctp_status close_queue(struct ctp_ppt_outs *outs, struct ctp_outqueue *queue, struct ctp_err *err)
{
	struct pollfd fd = {.fd = ctp_outqueue_fd(queue), .events = POLLIN};
	ctp_outqueue_finish(queue);
	while (poll(&fd, 1, LOOK_MS) <= 0)
		if (outs->wait_is_over())
			return ctp_err_set(err, "the last packets were not taken");
	outs->unread |= ctp_outqueue_unread(queue);
	return ctp_outqueue_close(queue, err);
}

static enum ctp_status close_one(struct ctp_ppt_outs *outs, struct ctp_ppt_out *o, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	ctp_writer_free(o->writer);
	if (o->queue && outs->wrote)
		status = close_queue(outs, o->queue, err);
	else if (o->queue)
		ctp_outqueue_abandon(o->queue);
	o->writer = NULL;
	o->queue = NULL;
	o->failed |= status != CTP_OK;
	return status;
}

void ctp_ppt_outs_fail(struct ctp_ppt_outs *outs, size_t i, struct ctp_err *err)
{
	assert(i < outs->n);
	if (!close_one(outs, &outs->out[i], err))
		ctp_err_set(err, "an output has ended"); /* not without an error */
	outs->out[i].failed = true;
}

/* --- files that are cut ---------------------------------------------------------------------------------------------------- */

static uint64_t count_frames(const struct ctp_batch *batch)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct ctp_class *cls = batch->rec[i].cls;
		n += cls->kind == CTP_KIND_OTHER && ctp_class_field(cls, "ppt_seqno") >= 0 && strcmp(cls->name, "ppt_late");
	}
	return n;
}

/* Frames in the stream of a file that is cut, as far as a reader gets. */
static uint64_t kept_in(const char *path)
{
	struct stat st;
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err ignored;
	uint64_t frames = 0;
	if (!path || stat(path, &st) || !S_ISREG(st.st_mode) || ctp_input_open(&in, path, &ignored))
		return 0;
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &ignored);
	while (r && !ctp_reader_next(r, &item, &ignored))
		if (item.kind == CTP_ITEM_RECORDS)
			frames += count_frames(&item.batch);
	ctp_reader_free(r);
	ctp_input_close(&in);
	return frames;
}

static void tell_cut(const struct ctp_ppt_outs *outs, ctp_ppt_outs_cut *cut, void *arg, size_t i, const char *why)
{
	if (!outs->piped)
		cut(arg, i, kept_in(outs->out[i].path), why);
}

/* The last file that fails is the error, if no other is whole. */
enum ctp_status ctp_ppt_outs_close(struct ctp_ppt_outs *outs, ctp_ppt_outs_cut *cut, void *arg, struct ctp_err *err)
{
	struct ctp_err why;
	size_t whole = 0, last = outs->n;
	for (size_t i = 0; i < outs->n; i++) {
		struct ctp_ppt_out *o = &outs->out[i];
		bool known = o->failed, began = o->writer;
		if (close_one(outs, o, &why)) {
			if (last < outs->n)
				tell_cut(outs, cut, arg, last, err->text);
			*err = why;
			last = i;
		} else if (known) {
			tell_cut(outs, cut, arg, i, NULL);
		}
		whole += began && !o->failed;
	}
	bool failed = last < outs->n;
	if (failed)
		tell_cut(outs, cut, arg, last, whole ? err->text : NULL);
	for (size_t i = 0; i < outs->n; i++)
		free(outs->out[i].path);
	free(outs->out);
	outs->out = NULL;
	outs->n = 0;
	return failed && !whole ? CTP_FAILED : CTP_OK;
}
