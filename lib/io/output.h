/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * output.h - bytes to a file or a pipe: one buffer, one sticky error.
 *
 * Puts return nothing. ctp_output_close flushes, closes, and reports the first error there was. A closed pipe is an error like
 * any other here (epipe is set so that a tool can end quietly); SIGPIPE must be ignored by the tool.
 */
#ifndef CTP_OUTPUT_H
#define CTP_OUTPUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/linkage.h"

CTP_C_BEGIN

struct ctp_output {
	char *buf, *ptr, *end; /* ptr: where the next byte goes */
	int fd;
	bool own_fd, failed, epipe;
	const char *name;
	struct ctp_err err;
	uint64_t bytes; /* given to the system, before compression, as of the last flush where a thread writes */
	uint64_t frame_due_ns; /* of CLOCK_MONOTONIC: a flush from then on ends the zstd frame, for damage may cost a whole one */
	struct ctp_output_priv *priv;
};

enum { CTP_OUTPUT_ROOM = 64 << 10 }; /* the most that may be reserved at once */

/*
 * path null or "-": stdout; it is not copied, and must be there until the close. Where this fails there is nothing to close. A path
 * that ends in .zst is compressed. force: write to a terminal all the same; binary says that this is a trace and no text, so that a
 * terminal is refused, and a new file is for its owner alone. A file that exists is replaced when the first bytes are written to it,
 * or at close; abandon before that leaves it, or that there was none, as it was.
 */
enum ctp_status ctp_output_open(struct ctp_output *out, const char *path, bool binary, bool force, struct ctp_err *err);

/*
 * The same for a file that must be whole: it has its name from a successful close on, and what had the name before stays until
 * then. A path that is no plain file (a device, a pipe) is written as it comes. Abandon in place of close: it never appears.
 */
enum ctp_status ctp_output_create(struct ctp_output *out, const char *path, bool binary, bool force, struct ctp_err *err);
void ctp_output_abandon(struct ctp_output *out); /* after a close: nothing */

/*
 * Both in a folder, a descriptor of open(2) that stays open, after a create until the close: the last name of path is the file's,
 * and path is for messages. No link is followed, and what is opened must be a plain file of the caller with one name, or none yet.
 */
enum ctp_status ctp_output_open_in(struct ctp_output *out, int folder, const char *path, bool binary, bool force,
                                   struct ctp_err *err);
enum ctp_status ctp_output_create_in(struct ctp_output *out, int folder, const char *path, bool binary, struct ctp_err *err);

/* Before the close of a whole file: another name in the same folder, the last of path, which must be there until the close. */
void ctp_output_rename(struct ctp_output *out, const char *path);

/* fd stays the caller's, and name must be there until the close. */
enum ctp_status ctp_output_fd(struct ctp_output *out, int fd, const char *name, struct ctp_err *err);

/*
 * All that was put so far goes to the system; a compressed stream is flushed so that a reader can have it, and about
 * once a second its frame is ended.
 */
bool ctp_output_flush(struct ctp_output *out);
enum ctp_status ctp_output_status(const struct ctp_output *out, struct ctp_err *err); /* the first error that is known by now */
enum ctp_status ctp_output_close(struct ctp_output *out, struct ctp_err *err);

/* Whether the reader of a pipe has gone, as a write would say. Any thread may ask, between the open and the close. */
bool ctp_output_is_unread(const struct ctp_output *out);

/* A put without a copy: data goes to the system, after all that was put before. */
void ctp_output_pass(struct ctp_output *out, const void *data, size_t len);

void ctp_output_put_slow(struct ctp_output *out, const void *data, size_t len);
void ctp_output_drain(struct ctp_output *out); /* makes room for CTP_OUTPUT_ROOM bytes */

/* ctp_output_put as a ctp_writer_put (writer.h), out being its arg: false once the output has failed. ctp_writer_to is less work. */
bool ctp_output_packet(void *out, const void *packet, size_t len_bytes);

/* At least n <= CTP_OUTPUT_ROOM bytes at the returned address; ctp_output_commit says where the used ones end. */
static inline char *ctp_output_reserve(struct ctp_output *out, size_t n)
{
	assert(n <= CTP_OUTPUT_ROOM);
	if ((size_t)(out->end - out->ptr) < n)
		ctp_output_drain(out);
	return out->ptr;
}

static inline void ctp_output_commit(struct ctp_output *out, char *upto)
{
	assert(upto >= out->ptr && upto <= out->end);
	out->ptr = upto;
}

static inline void ctp_output_put(struct ctp_output *out, const void *data, size_t len)
{
	if (len <= (size_t)(out->end - out->ptr)) {
		memcpy(out->ptr, data, len);
		out->ptr += len;
	} else {
		ctp_output_put_slow(out, data, len);
	}
}

/* A text of less than CTP_OUTPUT_PUTF_MAX bytes; a longer one is cut. Numbers of 64 bits are %ju. */
enum { CTP_OUTPUT_PUTF_MAX = 1024 };
void ctp_output_putf(struct ctp_output *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

CTP_C_END

#endif
