/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge.h - judges what the tally has counted, by all rules, and makes findings of groups. */
#ifndef CTP_JUDGE_H
#define CTP_JUDGE_H

#include "analyse/findings-kept.h"
#include "analyse/judge-members.h"

/* The functions that the rows of rules.h name. */
struct ctp_words;
#define CTP_RULE_DECLARE(NAME, name, most, effect, rests, phase, judge, words) \
	void ctp_judge_##judge(struct ctp_judge *j);                    \
	void ctp_say_##words(struct ctp_words *w);
CTP_RULE_TABLE(CTP_RULE_DECLARE)
#undef CTP_RULE_DECLARE

/* Fills the findings of a section; those that are kept become its own. False: out of memory. */
bool ctp_judge_section(struct ctp_report *r, struct ctp_follow *f, struct ctp_tally *t, const struct ctp_follow_end *end,
                       struct ctp_kept *kept, struct ctp_report_section *s);

/* Adds to the evidence of a finding that throughput fell to next to nothing, and when, if it did. */
void ctp_judge_collapse(struct ctp_judge *j, struct ctp_finding *f);

/* Fills the texts of a finding whose other fields are set. */
void ctp_judge_say(struct ctp_judge *j, const struct ctp_group *g, struct ctp_finding *f);

#endif
