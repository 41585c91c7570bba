/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-junit.h - a report as JUnit's XML, as Jenkins and GitLab read it.
 *
 * A section is a test suite, and a rule is a test case in it, so that its name stays the same from run to run. The first test case,
 * "trace", fails with an error if there was nothing to judge.
 */
#ifndef CTP_REPORT_JUNIT_H
#define CTP_REPORT_JUNIT_H

#include "report/report-print.h"

/* style->fail_on: the level from which on a finding is a failure. */
void ctp_report_junit(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);

#endif
