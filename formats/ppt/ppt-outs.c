/*
 * ppt-outs.c - outputs, and their end.
 */
#include "ppt/ppt-outs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/folder.h"
#include "ppt/ppt-kept.h"

enum { LOOK_MS = 100 };

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

static struct ctp_outqueue *queue_of(struct ctp_ppt_outs *outs, struct ctp_output *out, struct ctp_err *err)
{
	struct ctp_outqueue *queue = ctp_outqueue_new(out, err);
	if (queue)
		ctp_outqueue_until(queue, outs->hopeless);
	else
		ctp_output_abandon(out);
	return queue;
}

static struct ctp_outqueue *open_queue(struct ctp_ppt_outs *outs, const char *path, bool force, struct ctp_err *err)
{
	struct ctp_output out;
	return ctp_output_open(&out, path, true, force, err) ? NULL : queue_of(outs, &out, err);
}

/* The user named the folder in front of the first %b, and no other: what has a name that the target chose may be a trap. */
static struct ctp_outqueue *open_below(struct ctp_ppt_outs *outs, const char *given, const char *path, bool force,
                                       struct ctp_err *err)
{
	size_t len = (size_t)(strstr(given, "%b") - given);
	while (len && given[len - 1] != '/')
		len--;
	char *named = len ? strndup(given, len) : strdup("."), *rest = strdup(path + len), *last = rest ? strrchr(rest, '/') : NULL;
	struct ctp_outqueue *queue = NULL;
	struct ctp_output out;
	if (last)
		*last = '\0';
	if (!named || !rest)
		ctp_err_set(err, "out of memory");
	int above = named && rest ? ctp_folder_open(named, false, err) : -1;
	int folder = above >= 0 && last ? ctp_folder_below(above, named, rest, false, err) : above;
	if (folder >= 0 && !ctp_output_open_in(&out, folder, path, true, force, err))
		queue = queue_of(outs, &out, err);
	if (folder >= 0 && folder != above)
		close(folder);
	if (above >= 0)
		close(above);
	free(named);
	free(rest);
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
	o->queue = open_below(outs, path, o->path, force, err);
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

/* What is written after the death of this program is in no file: so none waits for its turn. */
static enum ctp_status refuse(struct ctp_err *err, const char *first, const char *second)
{
	return ctp_err_set(err, "%s, %s: each buffer has a file of its own: -o with %%b in the name, or name one buffer", first, second);
}

enum ctp_status ctp_ppt_outs_open(struct ctp_ppt_outs *outs, const char *path, bool force, const char *const *names, size_t n,
                                  bool (*hopeless)(void), struct ctp_err *err)
{
	*outs = (struct ctp_ppt_outs){.hopeless = hopeless};
	bool alone = !path || !strstr(path, "%b");
	if (alone && n > 1)
		return refuse(err, names[0], names[1]);
	if (!(outs->out = calloc(n ? n : 1, sizeof *outs->out)))
		return ctp_err_set(err, "out of memory");
	outs->n = n;
	if (alone) {
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
	if (outs->main && outs->n)
		return refuse(err, "one more", name);
	struct ctp_ppt_out *more = realloc(outs->out, (outs->n + 1) * sizeof *more);
	if (!more)
		return ctp_err_set(err, "out of memory");
	outs->out = more;
	struct ctp_ppt_out *o = &outs->out[outs->n++];
	*o = (struct ctp_ppt_out){.path = NULL};
	if (outs->main || !open_own(outs, o, path, force, name, err))
		return CTP_OK;
	free(o->path);
	outs->n--;
	return CTP_FAILED;
}

/* --- for a buffer ---------------------------------------------------------------------------------------------------------- */

struct ctp_writer *ctp_ppt_outs_writer(struct ctp_ppt_outs *outs, size_t i, struct ctp_err *err)
{
	struct ctp_ppt_out *o = &outs->out[i];
	if (outs->main)
		o->queue = outs->main;
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
		if (outs->out[i].queue && !outs->main) {
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
	if (o->queue && !outs->main) {
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

void ctp_ppt_outs_fail(struct ctp_ppt_outs *outs, size_t i, uint64_t *kept, struct ctp_err *err)
{
	struct ctp_ppt_out *o = &outs->out[i];
	if (!close_own(outs, o, err))
		ctp_err_set(err, "an output has ended"); /* not without an error */
	o->failed = true;
	*kept = CTP_PPT_OUTS_UNKNOWN;
}

/* The last file that fails is the error, if no other is whole. */
static enum ctp_status close_all(struct ctp_ppt_outs *outs, const struct ctp_ppt_cut *cut, struct ctp_err *err)
{
	struct ctp_err more;
	size_t whole = 0, last = outs->n;
	for (size_t i = 0; i < outs->n; i++) {
		struct ctp_ppt_out *o = &outs->out[i];
		bool known = o->failed, began = o->writer;
		enum ctp_status status = close_own(outs, o, &more);
		if (status) {
			if (last < outs->n)
				cut->hear(cut->arg, last, ctp_ppt_kept(outs->out[last].path), err->text);
			*err = more;
			last = i;
		} else if (known && o->path) {
			cut->hear(cut->arg, i, ctp_ppt_kept(o->path), NULL);
		}
		whole += o->path && began && !o->failed;
	}
	if (last == outs->n)
		return CTP_OK;
	cut->hear(cut->arg, last, ctp_ppt_kept(outs->out[last].path), whole ? err->text : NULL);
	return whole ? CTP_OK : CTP_FAILED;
}

enum ctp_status ctp_ppt_outs_close(struct ctp_ppt_outs *outs, const struct ctp_ppt_cut *cut, struct ctp_err *err)
{
	struct ctp_err more;
	enum ctp_status status = close_all(outs, cut, err);
	if (outs->main && !outs->wrote) {
		ctp_outqueue_abandon(outs->main);
	} else if (outs->main && close_queue(outs, outs->main, status ? &more : err)) {
		status = CTP_FAILED;
		for (size_t i = 0; i < outs->n && !outs->piped; i++)
			cut->hear(cut->arg, i, outs->path ? ctp_ppt_kept(outs->path) : 0, NULL);
	}
	for (size_t i = 0; i < outs->n; i++)
		free(outs->out[i].path);
	free(outs->out);
	outs->out = NULL;
	outs->n = 0;
	outs->main = NULL;
	return status;
}
