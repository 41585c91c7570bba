/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * outqueue.h - packets on their way out, so that a slow disk or reader does not hold up the harvest.
 *
 * A bounded ring of bytes (writeback.h) between the harvest and a thread that compresses and writes. Packets are made in the ring
 * and written from it, without a copy. The output is flushed whenever the queue runs empty. The first error stops all writing, and
 * makes the descriptor of ctp_outqueue_fd readable.
 */
#ifndef CTP_OUTQUEUE_H
#define CTP_OUTQUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "io/output.h"

enum {
	CTP_OUTQUEUE_BYTES = 64 << 20,
	CTP_OUTQUEUE_ROOM = 64 + (4 << 20), /* for one packet */
};

struct ctp_outqueue;

/* Takes over out, the struct's contents included; on failure it is still the caller's. The thread takes no signals. */
struct ctp_outqueue *ctp_outqueue_new(const struct ctp_output *out, struct ctp_err *err);

/*
 * From now on a wait for room, in which nothing is written any more, ends when this is true. It is as if writing had failed then, but
 * ctp_outqueue_fd is not readable: the thread hangs.
 */
void ctp_outqueue_until(struct ctp_outqueue *q, bool (*has_to_end)(void));

/*
 * A ctp_writer_room: CTP_OUTQUEUE_ROOM bytes of the ring, the caller's until the next put. Waits while the ring is full,
 * unless writing has failed.
 */
void *ctp_outqueue_room(void *queue);

/*
 * A ctp_writer_put. The packet is the first len_bytes of the room, and the next room is another; a packet that was made elsewhere
 * is copied, whatever its length. False once writing has failed.
 */
bool ctp_outqueue_put(void *queue, const void *packet, size_t len_bytes);

/* Bytes that wait or are being written; true when a harvest might have to wait for room. */
size_t ctp_outqueue_held(struct ctp_outqueue *q);
bool ctp_outqueue_tight(struct ctp_outqueue *q);

/* Readable when writing has failed, or when all is written and closed after ctp_outqueue_finish. */
int ctp_outqueue_fd(const struct ctp_outqueue *q);

/* To be called when the descriptor is readable: writing has failed because nobody reads the pipe any more. */
bool ctp_outqueue_unread(struct ctp_outqueue *q);

void ctp_outqueue_finish(struct ctp_outqueue *q); /* nothing more will be put */

/* To be called when the descriptor is readable: waits for the thread, frees everything, reports the first error. */
enum ctp_status ctp_outqueue_close(struct ctp_outqueue *q, struct ctp_err *err);

/* In place of finish and close, where nothing was put: the file keeps its old contents. */
void ctp_outqueue_abandon(struct ctp_outqueue *q);

#endif
