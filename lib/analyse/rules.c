/* rules.c - what is known of each rule, in arrays by its number. */
#include "analyse/rules.h"

#include <stdint.h>

#define NAME_OF(NAME, name, most, effect, rests, phase, judge, words) [CTP_RULE_##NAME] = name,
#define MOST_OF(NAME, name, most, effect, rests, phase, judge, words) [CTP_RULE_##NAME] = CTP_CERTAIN_##most,
#define STOPS_OF(NAME, name, most, effect, rests, phase, judge, words) [CTP_RULE_##NAME] = CTP_RULE_##effect,
#define RESTS_OF(NAME, name, most, effect, rests, phase, judge, words) [CTP_RULE_##NAME] = CTP_RULE_BY_##rests,
#define PHASE_OF(NAME, name, most, effect, rests, phase, judge, words) [CTP_RULE_##NAME] = CTP_RULE_##phase,

enum { CTP_RULE_GOES_ON, CTP_RULE_STOPS };
enum { CTP_RULE_BY_ORDER, CTP_RULE_BY_TIME };

const char *ctp_rule_name(enum ctp_rule rule)
{
	static const char *const names[] = {CTP_RULE_TABLE(NAME_OF)};
	return names[rule];
}

enum ctp_certainty ctp_rule_most(enum ctp_rule rule)
{
	static const uint8_t most[] = {CTP_RULE_TABLE(MOST_OF)};
	return most[rule];
}

bool ctp_rule_stops(enum ctp_rule rule)
{
	static const bool stops[] = {CTP_RULE_TABLE(STOPS_OF)};
	return stops[rule];
}

bool ctp_rule_needs_clock(enum ctp_rule rule)
{
	static const bool by_time[] = {CTP_RULE_TABLE(RESTS_OF)};
	return by_time[rule];
}

enum ctp_rule_phase ctp_rule_phase(enum ctp_rule rule)
{
	static const uint8_t phases[] = {CTP_RULE_TABLE(PHASE_OF)};
	return phases[rule];
}

const char *ctp_certainty_name(enum ctp_certainty certain)
{
	static const char *const names[] = {[CTP_CERTAIN_UNKNOWN] = "unknown", [CTP_CERTAIN_POSSIBLE] = "possible",
	                                    [CTP_CERTAIN_LIKELY] = "likely", [CTP_CERTAIN_PROVED] = "proved"};
	return names[certain];
}
