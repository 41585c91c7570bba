/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-rules.h - what a rule means, in words: for programs that explain a finding. The texts are those of ctp-rules(7), which
 * needs.mk takes out of the page.
 */
#ifndef CTP_REPORT_RULES_H
#define CTP_REPORT_RULES_H

#include "analyse/rules.h"

/* The number for waits that stand out, which no rule finds; its name is "possible". */
enum { CTP_REPORT_POSSIBLE = CTP_RULES, CTP_REPORT_RULES };

struct ctp_report_rule {
	const char *name;  /* "never-woken" */
	const char *means; /* one or more sentences, of which the first can stand alone */
	const char *to_do;
	enum ctp_certainty most; /* that a finding can have */
};

/* rule: below CTP_REPORT_RULES. */
struct ctp_report_rule ctp_report_rule(unsigned rule);

#endif
