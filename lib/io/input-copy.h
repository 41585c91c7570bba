/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * input-copy.h - a thread that copies what comes from a descriptor to a file, so that the writer of a pipe never waits for those who
 * read the stream. They read the file instead, also while it grows, and as often as they like.
 */
#ifndef CTP_INPUT_COPY_H
#define CTP_INPUT_COPY_H

#include "io/input-growth.h"

struct ctp_input_copy;

/*
 * Makes the file, which must not exist yet, unless force is set. From here to the close, SIGINT, SIGTERM and SIGHUP are blocked, unless
 * they are ignored: they end the process only when all that was read is in the file, and dying is told first. But a first SIGINT does not
 * while there is input: who interrupts a pipeline ends the input, too. If the file cannot be written, complaint is told by the thread, and
 * the descriptor is given to /dev/null, so that the writer of a pipe notices. SIGXFSZ is ignored from here on. path and the notices must be
 * there until the close.
 */
struct ctp_input_copy *ctp_input_copy_new(int fd, const char *path, bool force, const struct ctp_notice *complaint,
                                          const struct ctp_notice *dying, struct ctp_err *err);

/* For ctp_input_grows, of an input that has opened the file. */
const struct ctp_input_growth *ctp_input_copy_growth(const struct ctp_input_copy *copy);

/* Whether all is copied; waits for that, but no longer than wait_ms. *ended_ns: since when. */
bool ctp_input_copy_ended(struct ctp_input_copy *copy, int wait_ms, uint64_t *ended_ns);

/* Whether it has ended before all was copied, which complaint was told. */
bool ctp_input_copy_failed(struct ctp_input_copy *copy);

/* Waits until all is copied. False: it is not, and complaint was told. */
bool ctp_input_copy_close(struct ctp_input_copy *copy);

#endif
