/*
 * report-table: the table of rules and the RULES of ctp-report.1 are of the same rules, in the same order, and a rule whose findings can be
 * proved has that word in the manual.
 */
#include <stdlib.h>

#include "analyse/rules.h"
#include "tap.h"

struct rule {
	char name[64];
	bool proved;
};

/* Reads the rules of the manual and returns their number: list items with a name in Sy, after the line below. */
static unsigned read_manual(struct rule *rules, unsigned max)
{
	char line[1024];
	unsigned n = 0;
	bool inside = false;
	FILE *f = fopen("doc/ctp-report.1", "r");
	if (!f)
		abort();
	while (fgets(line, sizeof line, f)) {
		if (!strcmp(line, "The most serious rules come first.\n"))
			inside = true;
		else if (inside && !strncmp(line, ".Sh ", 4))
			break;
		else if (inside && n < max && sscanf(line, ".It Sy %63s", rules[n].name) == 1)
			n++;
		else if (n && (!strcmp(line, ".Sy Proved\n") || !strncmp(line, ".Sy Proved ", 11)))
			rules[n - 1].proved = true;
	}
	fclose(f);
	return n;
}

int main(void)
{
	static struct rule manual[2 * CTP_RULES];
	is_u64(read_manual(manual, 2 * CTP_RULES), CTP_RULES, "the manual has all rules, and no others");
	for (enum ctp_rule rule = 0; rule < CTP_RULES; rule++) {
		is(manual[rule].name, ctp_rule_name(rule), "the rule at this place");
		ok(manual[rule].proved == (ctp_rule_most(rule) == CTP_CERTAIN_PROVED), "%s: proved or not", ctp_rule_name(rule));
	}
	return done_testing();
}
