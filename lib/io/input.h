/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * input.h - bytes from a file or a pipe, decompressed if they are zstd's, through one bounded cursor.
 *
 *	while (ctp_input_fill(in, n) >= n) { use in->ptr[0 .. n-1]; ctp_input_skip(in, n); }
 */
#ifndef CTP_INPUT_H
#define CTP_INPUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/linkage.h"

CTP_C_BEGIN

struct ctp_input {
	const uint8_t *ptr; /* the bytes at hand */
	size_t avail;
	uint64_t offset;    /* of ptr[0], in the decompressed stream */
	const char *name;   /* path, or "stdin" */
	const char *path;   /* as it was given: "-" is stdin, and so is null */
	bool eof;           /* nothing will come after what is at hand */
	bool harmed;        /* a zstd frame was cut or damaged; what precedes and follows is delivered, with "\0\n" in between */
	struct ctp_err err; /* of a read that failed, or why it is harmed */
	bool failed;
	bool stopped; /* it failed, but there is nothing wrong with it: `idle` failed, or it is unwanted */
	/* Called before a read that would wait: the time to let go of what is held. Where it fails, the read fails. Null: none. */
	enum ctp_status (*idle)(void *arg, struct ctp_err *err);
	void *idle_arg;
	int idle_again_ms; /* called again each time that so long nothing has come; 0: once */
	/* Asked before each read, by the thread that reads: whether nobody wants it, and the read fails. Null: it is wanted. */
	bool (*is_unwanted)(void *arg);
	void *unwanted_arg;
	struct ctp_input_priv *priv;
};

/* path null or "-": stdin. It is not copied, and must be there until the close. Where this fails there is nothing to close. */
enum ctp_status ctp_input_open(struct ctp_input *in, const char *path, struct ctp_err *err);
void ctp_input_mem(struct ctp_input *in, const void *data, size_t len_bytes); /* not decompressed, not copied */
void ctp_input_close(struct ctp_input *in); /* harmed, failed and err are there afterwards, the bytes are not */

/*
 * Tries to have at least want bytes (at most CTP_INPUT_MAX) at hand, contiguous; returns how many there are. Less than want:
 * the end, or in->failed. Does not wait for more than want, so that a live reader sees what has arrived. in->ptr may be elsewhere
 * then.
 */
enum { CTP_INPUT_MAX = 8 << 20 };
size_t ctp_input_fill(struct ctp_input *in, size_t want);

static inline void ctp_input_skip(struct ctp_input *in, size_t n)
{
	assert(n <= in->avail);
	in->ptr += n;
	in->avail -= n;
	in->offset += n;
}

/* Bytes of the file read so far and its size (0: unknown), for a progress line. */
void ctp_input_progress(const struct ctp_input *in, uint64_t *done, uint64_t *total);

CTP_C_END

#endif
