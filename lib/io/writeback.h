/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * writeback.h - a thread that writes blocks while its producer makes the next: a bounded ring of bytes between the two.
 *
 * A block is made in the ring and written from it, without a copy. A failure is sticky: nothing is written after it, nothing is
 * waited for, and each put says so.
 */
#ifndef CTP_WRITEBACK_H
#define CTP_WRITEBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The calls come from the thread, one at a time. False: writing has failed. */
struct ctp_writeback_ops {
	bool (*write)(void *arg, const char *data, size_t len_bytes);
	bool (*idle)(void *arg); /* all that was put is written; null: nothing is to be done then */
	void (*end)(void *arg);  /* the last call, after ctp_writeback_finish or a failure; null: nothing is to be done */

	/*
	 * Asked by the producer, now and then, when it has waited for room for CTP_WRITEBACK_PATIENCE_MS and nothing was written
	 * meanwhile. True: it waits no longer, then or ever, and each put fails, as after a failure. Null: it waits on.
	 */
	bool (*has_to_end)(void *arg);
};

enum { CTP_WRITEBACK_PATIENCE_MS = 1000 };

struct ctp_writeback;

/* A ring of `bytes`, of which a block has room_bytes at most. The thread takes no signals. */
struct ctp_writeback *ctp_writeback_new(const struct ctp_writeback_ops *ops, void *arg, size_t bytes, size_t room_bytes,
                                        struct ctp_err *err);

/* room_bytes of the ring, the caller's until the next put. Waits while the ring is full, unless writing has failed. */
char *ctp_writeback_room(struct ctp_writeback *wb);

/*
 * The first len_bytes of the room are to be written; a block that is elsewhere is copied to the ring, whatever its length. False
 * once writing has failed.
 */
bool ctp_writeback_put(struct ctp_writeback *wb, const void *block, size_t len_bytes);

/*
 * Waits until all that was put is written: from here to the next put the thread calls neither write nor, where there is none, idle.
 * False once writing has failed; then the same holds for good.
 */
bool ctp_writeback_settle(struct ctp_writeback *wb);

size_t ctp_writeback_held(struct ctp_writeback *wb); /* bytes that wait or are being written; none after a failure */
void ctp_writeback_finish(struct ctp_writeback *wb); /* nothing more will be put */
void ctp_writeback_join(struct ctp_writeback *wb);   /* after a finish or a failure: waits until `end` has returned */
void ctp_writeback_free(struct ctp_writeback *wb);   /* finish, join; null is let be */

#endif
