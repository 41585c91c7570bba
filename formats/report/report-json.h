/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-json.h - a report for programs. The schema is stable: it is in ctp-report.1; keys may be added, and none changes its
 * meaning. Times and counts are numbers; what may have all of 64 bits (ids, the section's clock, wall time) is text.
 */
#ifndef CTP_REPORT_JSON_H
#define CTP_REPORT_JSON_H

#include "analyse/report.h"
#include "io/output.h"

/* One object, no newline. in_page: texts are escaped for a script element of an HTML page. */
void ctp_report_json(struct ctp_output *out, const struct ctp_report *r, bool in_page);

#endif
