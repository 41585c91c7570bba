/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* rules.c - the table of rules, by number. */
#include "analyse/rules.h"

#include <stdint.h>

enum { GOES_ON, STOPS };
enum { ORDER, TIME };

static const struct {
	const char *name;
	uint8_t most, phase;
	bool stops, needs_clock;
} rules[] = {
#define ROW(NAME, name, most, effect, rests, phase, judge, words) \
	[CTP_RULE_##NAME] = {name, CTP_CERTAIN_##most, CTP_RULE_##phase, effect, rests},
	CTP_RULE_TABLE(ROW)
	[CTP_RULE_NONE] = {"possible", CTP_CERTAIN_POSSIBLE, CTP_RULE_PHASES, STOPS, TIME},
};

_Static_assert(sizeof rules / sizeof *rules == CTP_RULES + 1, "each rule has a row");

const char *ctp_rule_name(enum ctp_rule rule) { return rules[rule].name; }
enum ctp_certainty ctp_rule_most(enum ctp_rule rule) { return rules[rule].most; }
bool ctp_rule_stops(enum ctp_rule rule) { return rules[rule].stops; }
bool ctp_rule_needs_clock(enum ctp_rule rule) { return rules[rule].needs_clock; }
enum ctp_rule_phase ctp_rule_phase(enum ctp_rule rule) { return rules[rule].phase; }

const char *ctp_certainty_name(enum ctp_certainty certain)
{
	static const char *const names[] = {[CTP_CERTAIN_UNKNOWN] = "unknown", [CTP_CERTAIN_POSSIBLE] = "possible",
	                                    [CTP_CERTAIN_LIKELY] = "likely", [CTP_CERTAIN_PROVED] = "proved"};
	return names[certain];
}
