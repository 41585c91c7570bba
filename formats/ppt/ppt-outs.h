/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-outs.h - where the sections of several buffers go that are traced at the same time.
 *
 * The sections of a stream follow each other, and a section that waits for its turn is lost if this program is killed. So each of
 * several buffers has a file of its own, whose path has %b in it. One buffer may also go to standard output, or to a path without
 * %b.
 *
 * Each output has a thread that writes, so that no reader or disk delays the look at a ring.
 */
#ifndef CTP_PPT_OUTS_H
#define CTP_PPT_OUTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "io/outqueue.h"
#include "stream/writer.h"

struct ctp_ppt_out {
	struct ctp_outqueue *queue;
	struct ctp_writer *writer;
	char *path;  /* of a file that has nothing but the stream; null: there is none */
	bool failed; /* it could not be written to the end */
};

struct ctp_ppt_outs {
	struct ctp_ppt_out *out; /* of each buffer */
	size_t n;
	bool alone;          /* the only one, without %b: the trace ends when it fails */
	bool piped;          /* it is a pipe or a socket */
	bool (*wait_is_over)(void);
	bool unread;         /* an output failed because nobody reads the pipe any more */
	bool wrote;          /* an output has a writer */
};

/* path null or "-": stdout. names: for %b, one for each buffer. wait_is_over: true when the wait for an output has to end. */
enum ctp_status ctp_ppt_outs_open(struct ctp_ppt_outs *outs, const char *path, bool force, const char *const *names, size_t n,
                                  bool (*wait_is_over)(void), struct ctp_err *err);

/* For the section of buffer i. Null: err. */
struct ctp_writer *ctp_ppt_outs_writer(struct ctp_ppt_outs *outs, size_t i, struct ctp_err *err);

/* A put might have to wait. */
bool ctp_ppt_outs_tight(const struct ctp_ppt_outs *outs, size_t i);

/* Fills n descriptors: the i-th becomes readable when output i has failed. */
void ctp_ppt_outs_watch(const struct ctp_ppt_outs *outs, struct pollfd *fds);

/* To be called when the descriptor of output i is readable: its writer has ended, and err says why. */
void ctp_ppt_outs_fail(struct ctp_ppt_outs *outs, size_t i, struct ctp_err *err);

/* The file of output i is cut, and has kept frames. why: null if ctp_ppt_outs_fail or the close has said it. */
typedef void ctp_ppt_outs_cut(void *arg, size_t i, uint64_t kept, const char *why);

/*
 * Writes everything, reports the first error. Files stay as they were if no writer was asked for. A file of %b that has failed is
 * no error as long as another one is whole. cut is called for each file that is cut; of a pipe, nobody knows what was read.
 */
enum ctp_status ctp_ppt_outs_close(struct ctp_ppt_outs *outs, ctp_ppt_outs_cut *cut, void *arg, struct ctp_err *err);

#endif
