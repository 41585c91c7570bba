/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-rules.c - the texts of the rules, by number. It does not compile if ctp-rules(7) has more or fewer rules than rules.h. */
#include "report/report-rules.h"

#include <assert.h>
#include <string.h>

static const struct {
	const char *name, *means, *to_do;
} texts[] = {
#include "rule-texts.h"
};

_Static_assert(sizeof texts / sizeof *texts == CTP_RULES, "the page explains each rule");

struct ctp_report_rule ctp_report_rule(unsigned rule)
{
	assert(rule < CTP_REPORT_RULES);
	if (rule == CTP_REPORT_POSSIBLE)
		return (struct ctp_report_rule){
			"possible", "A wait is unusually long, but there may be a harmless explanation.",
			"Read the explanation, and decide whether it holds for this wait.", CTP_CERTAIN_POSSIBLE,
		};
	assert(!strcmp(texts[rule].name, ctp_rule_name((enum ctp_rule)rule)));
	return (struct ctp_report_rule){texts[rule].name, texts[rule].means, texts[rule].to_do, ctp_rule_most((enum ctp_rule)rule)};
}
