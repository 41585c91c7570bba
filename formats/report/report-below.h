/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-below.h - the folder that all files with an absolute path are in, which only makes the sites of a section longer. */
#ifndef CTP_REPORT_BELOW_H
#define CTP_REPORT_BELOW_H

#include <stddef.h>

#include "analyse/report.h"

/* How many bytes of *path, a site of the section, are that folder; 0: there is none. */
size_t ctp_report_below(const struct ctp_report_section *s, const char **path);

/* The text, or what comes after the folder if a site in it begins here. */
const char *ctp_below_skip(const char *text, const char *path, size_t bytes);

#endif
