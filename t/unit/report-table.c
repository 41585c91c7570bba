/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-table: the table of rules and ctp-rules.7 have the same rules, in the same order, and the manual says of the same rules that
 * their findings can be proved.
 */
#include <stdlib.h>

#include "analyse/rules.h"
#include "tap.h"

struct rule {
	char name[64];
	bool proved;
};

/*
 * Reads the rules of the manual and returns their number. In the section RULES, each has a subsection; how certain it can be is in the line
 * after "Certainty".
 */
static unsigned read_manual(struct rule *rules, unsigned max)
{
	char line[1024];
	unsigned n = 0;
	bool inside = false, sure = false;
	FILE *f = fopen("doc/ctp-rules.7", "r");
	if (!f)
		abort();
	while (fgets(line, sizeof line, f)) {
		if (!strncmp(line, ".Sh ", 4))
			inside = !strcmp(line, ".Sh RULES\n");
		else if (inside && n < max && sscanf(line, ".Ss %63s", rules[n].name) == 1)
			n++;
		else if (sure)
			rules[n - 1].proved = !strncmp(line, "proved", 6);
		sure = n && !strcmp(line, ".Sy Certainty :\n");
	}
	fclose(f);
	return n;
}

int main(void)
{
	static struct rule manual[2 * CTP_RULES];
	is_u64(read_manual(manual, 2 * CTP_RULES), CTP_RULES, "the manual has exactly the rules of the table");
	for (enum ctp_rule rule = 0; rule < CTP_RULES; rule++) {
		is(manual[rule].name, ctp_rule_name(rule), "the manual has this rule at the same place");
		ok(manual[rule].proved == (ctp_rule_most(rule) == CTP_CERTAIN_PROVED),
		   "%s: the manual agrees whether it can be proved", ctp_rule_name(rule));
	}
	return done_testing();
}
