/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * spool.c - a raw stream in a file without a name; one that fits the output's buffer is read from there, and the file stays empty.
 *
 * A stream does not say which records are late; its reader finds out. In a spool a mark says it of the records between that mark
 * and the next.
 */
#include "common/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/input-seek.h"
#include "io/output.h"

enum { MARK_IN_TIME = 0, MARK_LATE = 1 }; /* the first also makes a section exist even if no record follows */

struct ctp_spool {
	int fd;
	struct ctp_output out;
	struct ctp_writer *writer;
	bool late; /* by the last mark */
	char name[PATH_MAX + 32];
};

static int open_nameless(const char *dir)
{
	char path[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* Not every file system has O_TMPFILE. */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR) ||
	    snprintf(path, sizeof path, "%s/ctp-XXXXXX", dir) >= (int)sizeof path)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static const char *folder(void)
{
	const char *dir = getenv("TMPDIR");
	return dir && *dir ? dir : "/tmp";
}

int ctp_spool_file(struct ctp_output *out, struct ctp_err *err)
{
	int fd = open_nameless(folder());
	if (fd < 0)
		ctp_err_sys(err, "temporary file in %s, which TMPDIR can name", folder());
	if (fd < 0 || !ctp_output_fd(out, fd, "temporary file", err))
		return fd;
	close(fd);
	return -1;
}

struct ctp_spool *ctp_spool_new(struct ctp_err *err)
{
	struct ctp_spool *spool = calloc(1, sizeof *spool);
	if (!spool)
		return ctp_err_memory(err), NULL;
	snprintf(spool->name, sizeof spool->name, "temporary file in %s", folder());
	spool->fd = open_nameless(folder());
	if (spool->fd < 0)
		ctp_err_sys(err, "%s, which TMPDIR can name", spool->name);
	else if (!ctp_output_fd(&spool->out, spool->fd, spool->name, err) &&
	         (spool->writer = ctp_writer_to(&spool->out, err)))
		return spool;
	ctp_spool_free(spool);
	return NULL;
}

void ctp_spool_free(struct ctp_spool *spool)
{
	if (!spool)
		return;
	ctp_writer_free(spool->writer);
	if (spool->out.priv)
		ctp_output_abandon(&spool->out);
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool);
}

static enum ctp_status outcome(const struct ctp_spool *spool, struct ctp_err *err)
{
	if (spool->out.failed)
		return ctp_err_set(err, "%.400s; TMPDIR can name another folder", spool->out.err.text);
	return ctp_writer_failed(spool->writer) ? ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", spool->name) : CTP_OK;
}

enum ctp_status ctp_spool_section(struct ctp_spool *spool, const struct ctp_section *sec, struct ctp_err *err)
{
	ctp_writer_begin(spool->writer, sec);
	ctp_writer_mark(spool->writer, MARK_IN_TIME);
	spool->late = false;
	return outcome(spool, err);
}

enum ctp_status ctp_spool_records(struct ctp_spool *spool, const struct ctp_batch *batch, struct ctp_err *err)
{
	if (batch->late != spool->late)
		ctp_writer_mark(spool->writer, batch->late ? MARK_LATE : MARK_IN_TIME);
	spool->late = batch->late;
	ctp_writer_records(spool->writer, batch);
	return outcome(spool, err);
}

enum ctp_status ctp_spool_end(struct ctp_spool *spool, const struct ctp_section_end *end, struct ctp_err *err)
{
	ctp_writer_end(spool->writer, end->complete);
	return outcome(spool, err);
}

static enum ctp_status deliver(const struct ctp_sink_ops *to, struct ctp_sink *sink, struct ctp_item *item, bool *late,
                               struct ctp_err *err)
{
	switch (item->kind) {
	case CTP_ITEM_SECTION:
		return to->section(sink, item->section, err);
	case CTP_ITEM_RECORDS:
		item->batch.late = *late;
		return to->records(sink, &item->batch, err);
	case CTP_ITEM_MARK:
		*late = item->mark_ns == MARK_LATE;
		return CTP_OK;
	case CTP_ITEM_END:
		return to->end(sink, &item->end, err);
	}
	return CTP_OK;
}

/* What was written, from its beginning. */
static enum ctp_status open_input(struct ctp_spool *spool, struct ctp_input *in, struct ctp_err *err)
{
	if (!spool->out.bytes && !spool->out.failed) {
		ctp_input_mem(in, spool->out.buf, (size_t)(spool->out.ptr - spool->out.buf));
		return outcome(spool, err);
	}
	ctp_output_flush(&spool->out);
	return outcome(spool, err) ? CTP_FAILED : ctp_input_fd(in, spool->fd, spool->name, err);
}

enum ctp_status ctp_spool_replay(struct ctp_spool *spool, const struct ctp_sink_ops *to, struct ctp_sink *sink,
                                 struct ctp_err *err)
{
	struct ctp_input in;
	struct ctp_item item;
	bool late = false;
	if (open_input(spool, &in, err))
		return CTP_FAILED;
	enum ctp_status status = CTP_FAILED;
	struct ctp_reader *reader = ctp_reader_new(&in, NULL, err);
	while (reader && (status = ctp_reader_next(reader, &item, err)) == CTP_OK)
		if (deliver(to, sink, &item, &late, err)) {
			status = CTP_FAILED;
			break;
		}
	const struct ctp_reader_stats *stats = reader ? ctp_reader_stats(reader) : NULL;
	if (status == CTP_EOF && (stats->damaged_packets || stats->missing_packets))
		status = ctp_err_set(err, "%s: what was read back is damaged", spool->name);
	ctp_reader_free(reader);
	ctp_input_close(&in);
	return status == CTP_EOF ? CTP_OK : status;
}
