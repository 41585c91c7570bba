/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-annotations.h - a report for the page of a change in the source, where a service shows each result at its line: workflow
 * commands, which GitHub reads in the output of a job, and GitLab's code quality, which is a file.
 */
#ifndef CTP_REPORT_ANNOTATIONS_H
#define CTP_REPORT_ANNOTATIONS_H

#include "report/report-print.h"

/* Lines of ::error, ::warning and ::notice. style->root: files below it are named from there. */
void ctp_report_github(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);

/* An array of JSON. */
void ctp_report_gitlab(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);

#endif
