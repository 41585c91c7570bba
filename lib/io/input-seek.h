/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* input-seek.h - a part of an input, whether more of a pipe is there, and files without a name. */
#ifndef CTP_INPUT_SEEK_H
#define CTP_INPUT_SEEK_H

#include "io/input.h"

/*
 * Goes on at this offset of the decompressed stream, which is not before in->offset. In a plain file nothing in between is read.
 */
enum ctp_status ctp_input_seek(struct ctp_input *in, uint64_t offset, struct ctp_err *err);

/* A file that is open for reading, from its beginning. It is not closed. The name is not copied. */
enum ctp_status ctp_input_fd(struct ctp_input *in, int fd, const char *name, struct ctp_err *err);

/* Whether nothing is at hand, and a read would wait. */
bool ctp_input_would_wait(const struct ctp_input *in);

#endif
