/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * outqueue.c - a writeback whose blocks are packets and whose writer is an output.
 *
 * out, err and failed are the thread's until the descriptor is readable; ctp_outqueue_close then joins the thread first.
 */
#include "io/outqueue.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "io/writeback.h"

struct ctp_outqueue {
	struct ctp_writeback *ring;
	struct ctp_output out;
	struct ctp_err err;
	bool abandoned, failed;
	int event_fd;
	bool (*has_to_end)(void); /* the producer's; null: never */
};

static bool pass(void *queue, const char *data, size_t len_bytes)
{
	struct ctp_outqueue *q = queue;
	ctp_output_pass(&q->out, data, len_bytes);
	return !q->out.failed;
}

static bool flush(void *queue) { return ctp_output_flush(&((struct ctp_outqueue *)queue)->out); }

static void end(void *queue)
{
	struct ctp_outqueue *q = queue;
	if (q->abandoned)
		ctp_output_abandon(&q->out);
	else
		q->failed = ctp_output_close(&q->out, &q->err) != CTP_OK;
	eventfd_write(q->event_fd, 1);
}

static bool producer_has_to_end(void *queue)
{
	const struct ctp_outqueue *q = queue;
	return q->has_to_end && q->has_to_end();
}

void ctp_outqueue_until(struct ctp_outqueue *q, bool (*has_to_end)(void)) { q->has_to_end = has_to_end; }

struct ctp_outqueue *ctp_outqueue_new(const struct ctp_output *out, struct ctp_err *err)
{
	static const struct ctp_writeback_ops ops = {.write = pass, .idle = flush, .end = end, .has_to_end = producer_has_to_end};
	struct ctp_outqueue *q = ctp_err_calloc(err, sizeof *q);
	if (!q)
		return NULL;
	q->out = *out;
	q->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->event_fd < 0)
		ctp_err_sys(err, "starting the writer thread");
	else
		q->ring = ctp_writeback_new(&ops, q, CTP_OUTQUEUE_BYTES + CTP_OUTQUEUE_ROOM, CTP_OUTQUEUE_ROOM, err);
	if (q->ring)
		return q;
	ctp_fd_close(q->event_fd);
	free(q);
	return NULL;
}

void *ctp_outqueue_room(void *queue) { return ctp_writeback_room(((struct ctp_outqueue *)queue)->ring); }

bool ctp_outqueue_put(void *queue, const void *packet, size_t len_bytes)
{
	return ctp_writeback_put(((struct ctp_outqueue *)queue)->ring, packet, len_bytes);
}

size_t ctp_outqueue_held(struct ctp_outqueue *q) { return ctp_writeback_held(q->ring); }
bool ctp_outqueue_tight(struct ctp_outqueue *q) { return ctp_outqueue_held(q) > CTP_OUTQUEUE_BYTES / 2; }

int ctp_outqueue_fd(const struct ctp_outqueue *q) { return q->event_fd; }

bool ctp_outqueue_unread(struct ctp_outqueue *q)
{
	ctp_writeback_join(q->ring);
	return q->failed && q->out.epipe;
}

void ctp_outqueue_finish(struct ctp_outqueue *q) { ctp_writeback_finish(q->ring); }

enum ctp_status ctp_outqueue_close(struct ctp_outqueue *q, struct ctp_err *err)
{
	ctp_writeback_free(q->ring);
	enum ctp_status status = q->failed ? CTP_FAILED : CTP_OK;
	if (q->failed)
		*err = q->err;
	close(q->event_fd);
	free(q);
	return status;
}

void ctp_outqueue_abandon(struct ctp_outqueue *q)
{
	struct ctp_err ignored;
	assert(!ctp_writeback_held(q->ring));
	q->abandoned = true;
	ctp_outqueue_close(q, &ignored);
}
