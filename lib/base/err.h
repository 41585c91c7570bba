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

/* For a program to tell apart; a person reads the text. Later versions may add codes, and use them where it was CTP_ERR_OTHER. */
enum ctp_err_code {
	CTP_ERR_OTHER = 0,  /* none of these */
	CTP_ERR_SYSTEM,     /* a system call failed, and sys_errno says how */
	CTP_ERR_NOT_STREAM, /* the input is something else than what is read here */
	CTP_ERR_DAMAGED,    /* the input was once what is read here, and is broken */
	CTP_ERR_MEMORY,     /* there is not enough memory */
	CTP_ERR_REFUSED,    /* it could be done and is not: a limit, a safety rule, the right of somebody else */
	CTP_ERR_USAGE,      /* what the caller asks for makes no sense */
};

struct ctp_err {
	char text[512];
	enum ctp_err_code code;
	int sys_errno; /* of CTP_ERR_SYSTEM, else 0 */
};

/* Formats the message (truncated to fit) and returns CTP_FAILED, so that a caller can say `return ctp_err_set(...)`. */
enum ctp_status ctp_err_set(struct ctp_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same with a code other than CTP_ERR_OTHER. */
enum ctp_status ctp_err_as(struct ctp_err *err, enum ctp_err_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same, followed by ": " and strerror(errno), which becomes sys_errno. */
enum ctp_status ctp_err_sys(struct ctp_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "out of memory" */
enum ctp_status ctp_err_memory(struct ctp_err *err);

/* Puts more before the message that is there; the code stays. */
enum ctp_status ctp_err_before(struct ctp_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

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
