/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* err.c - filling in what went wrong. A message that does not fit is cut, never dropped. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct ctp_err *err, enum ctp_err_code code, int error, const char *fmt, va_list ap)
{
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	err->code = code;
	err->sys_errno = error;
}

enum ctp_status ctp_err_set(struct ctp_err *err, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	put(err, CTP_ERR_OTHER, 0, fmt, ap);
	va_end(ap);
	return CTP_FAILED;
}

enum ctp_status ctp_err_as(struct ctp_err *err, enum ctp_err_code code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	put(err, code, 0, fmt, ap);
	va_end(ap);
	return CTP_FAILED;
}

enum ctp_status ctp_err_sys(struct ctp_err *err, const char *fmt, ...)
{
	int error = errno;
	va_list ap;
	va_start(ap, fmt);
	put(err, CTP_ERR_SYSTEM, error, fmt, ap);
	va_end(ap);
	size_t len = strlen(err->text);
	snprintf(err->text + len, sizeof err->text - len, ": %s", strerror(error));
	return CTP_FAILED;
}

enum ctp_status ctp_err_memory(struct ctp_err *err) { return ctp_err_as(err, CTP_ERR_MEMORY, "out of memory"); }

enum ctp_status ctp_err_before(struct ctp_err *err, const char *fmt, ...)
{
	struct ctp_err plain = *err;
	va_list ap;
	va_start(ap, fmt);
	put(err, plain.code, plain.sys_errno, fmt, ap);
	va_end(ap);
	size_t len = strlen(err->text);
	snprintf(err->text + len, sizeof err->text - len, "%s", plain.text);
	return CTP_FAILED;
}

void *ctp_err_calloc(struct ctp_err *err, size_t bytes)
{
	void *memory = calloc(1, bytes);
	if (!memory)
		ctp_err_memory(err);
	return memory;
}

void ctp_notice_say(const struct ctp_notice *notice, const char *fmt, ...)
{
	if (!notice || !notice->say)
		return;
	char text[sizeof((struct ctp_err *)0)->text];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	notice->say(notice->arg, text);
}
