/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * err.h - what went wrong, said once, where it is known.
 *
 * Functions that can fail return an enum ctp_status and take a struct ctp_err, last. The text names the place and, where there
 * is one, the remedy; the tool adds its own name and prints it. The library itself never prints and never exits.
 */
#ifndef CTP_ERR_H
#define CTP_ERR_H

#include <stddef.h>

#include "base/linkage.h"

CTP_C_BEGIN

enum ctp_status {
	CTP_OK = 0,      /* done, and there may be more */
	CTP_EOF = 1,     /* nothing more, in an orderly way */
	CTP_FAILED = -1, /* cannot go on; struct ctp_err says why */
};

struct ctp_err {
	char text[512];
};

/* Formats the message (truncated to fit) and returns CTP_FAILED, so that a caller can say `return ctp_err_set(...)`. */
enum ctp_status ctp_err_set(struct ctp_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same, followed by ": " and strerror(errno). */
enum ctp_status ctp_err_sys(struct ctp_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Zeroed memory, for free(). Null: there is none, and err says so. */
void *ctp_err_calloc(struct ctp_err *err, size_t bytes);

/* Something worth a line to the user that does not end the work: damage that was skipped, a file that could not be read. */
struct ctp_notice {
	void (*say)(void *arg, const char *text);
	void *arg;
};

/* Says it, if anybody listens. notice may be null. */
void ctp_notice_say(const struct ctp_notice *notice, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

CTP_C_END

#endif
