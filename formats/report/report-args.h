/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-args.h - arguments of tools that make reports: times, and lists of texts. */
#ifndef CTP_REPORT_ARGS_H
#define CTP_REPORT_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/report.h"
#include "base/err.h"

/*
 * 12.5s, 300ms, 2m: a number and ns, us, ms, s, m, min or h; without a unit it is seconds. False: the text is no such time, or has
 * more nanoseconds than 64 bits hold.
 */
bool ctp_duration_parse(const char *text, uint64_t *ns);

/* CTP_FAILED: a part of the time is asked for, but the section has no clock. */
enum ctp_status ctp_report_window(const struct ctp_report *r, const struct ctp_section *sec, struct ctp_err *err);

enum { CTP_TEXTS_MAX = 10000 };

/* All zeros at first. */
struct ctp_texts {
	char **list;
	size_t count, room;
};

enum ctp_status ctp_texts_add(struct ctp_texts *t, const char *text, struct ctp_err *err);

/* Adds the lines of a file, without the space around them. Empty lines and lines that begin with # are skipped. */
enum ctp_status ctp_texts_read(struct ctp_texts *t, const char *path, struct ctp_err *err);
void ctp_texts_fini(struct ctp_texts *t);

#endif
