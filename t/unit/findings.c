/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* findings: the findings of a section, those with an excuse and those without: their order, how many there are, what is ignored. */
#include "analyse/findings.h"

#include <stdlib.h>
#include <string.h>

#include "report/report-json.h"
#include "report/report-markdown.h"
#include "report/report-text.h"
#include "tap.h"
#include "written.h"

static struct ctp_report report;
static struct ctp_report_section section;

static char *copy(const char *text)
{
	bool failed = false;
	return ctp_report_copy(text, &failed);
}

static bool add(enum ctp_rule rule, enum ctp_certainty certainty, const char *excuse, uint64_t members)
{
	struct ctp_finding f = {.rule = rule, .certainty = certainty, .title = copy("something is wrong"), .excuse = copy(excuse),
	                        .evidence = {copy("this is why")}, .next = {copy("look there")}, .place = copy("a.c:1:f"), .members = members};
	return ctp_findings_add(&report, &section, &f);
}

/* "rule members" of each, in the order of all outputs. */
static const char *all(void)
{
	static char to[400];
	const struct ctp_finding *f;
	to[0] = '\0';
	for (uint32_t i = 0; (f = ctp_report_finding(&section, i)); i++)
		sprintf(to + strlen(to), "%s%s %ju", i ? ", " : "", ctp_rule_name(f->rule), (uintmax_t)f->members);
	return to;
}

static void begin(void)
{
	section = (struct ctp_report_section){.counts.events = 7, .complete = true};
	report = (struct ctp_report){.sections = &section, .nsections = 1, .sections_seen = 1};
}

static void end(void)
{
	for (uint32_t i = 0; i < section.nfindings; i++)
		ctp_finding_fini(&section.findings[i]);
	for (uint32_t i = 0; i < section.nsuspects; i++)
		ctp_finding_fini(&section.suspects[i]);
	free(section.findings);
	free(section.suspects);
}

static void test_order(void)
{
	begin();
	add(CTP_RULE_NONE, CTP_CERTAIN_POSSIBLE, "it rests", 9);
	add(CTP_RULE_LEAKED, CTP_CERTAIN_POSSIBLE, "it may be used", 2);
	add(CTP_RULE_LEAKED, CTP_CERTAIN_LIKELY, NULL, 3);
	add(CTP_RULE_NONE, CTP_CERTAIN_UNKNOWN, "events were lost", 10);
	add(CTP_RULE_OVERDUE, CTP_CERTAIN_POSSIBLE, "it may be late", 1);
	add(CTP_RULE_WAIT_CYCLE, CTP_CERTAIN_PROVED, NULL, 2);
	ctp_findings_sort(&report, &section);
	is(all(), "wait-cycle 2, leaked 3, timer-overdue 1, leaked 2, possible 9, possible 10",
	   "findings come first, then those of rules that have an excuse, then waits in the order in which they stand out");
	ok(section.nfindings == 2 && section.nsuspects == 4, "the excuse divides them");
	end();
}

static void test_limits(void)
{
	begin();
	for (int i = 0; i < CTP_REPORT_SUSPECTS; i++)
		add(CTP_RULE_NONE, CTP_CERTAIN_POSSIBLE, "it rests", 1);
	ok(!add(CTP_RULE_NONE, CTP_CERTAIN_POSSIBLE, "it rests", 1), "only the first few waits that stand out are kept");
	ok(add(CTP_RULE_LEAKED, CTP_CERTAIN_POSSIBLE, "it may be used", 1), "those of rules are no such waits");
	while (section.nfindings + section.nsuspects < CTP_REPORT_FINDINGS + CTP_REPORT_SUSPECTS)
		add(CTP_RULE_LEAKED, CTP_CERTAIN_LIKELY, NULL, 1);
	ok(!add(CTP_RULE_CRASH, CTP_CERTAIN_PROVED, NULL, 1), "a section has a thousand findings at most");
	ok(!report.ignored && !report.failed, "these are not ignored, and it is no failure");
	end();
}

static const char *ignoring(const char *pattern)
{
	static const char *patterns[1];
	static uint64_t matched[1];
	begin();
	patterns[0] = pattern;
	matched[0] = 0;
	report.ignore = patterns;
	report.nignore = 1;
	report.matched = matched;
	add(CTP_RULE_NONE, CTP_CERTAIN_POSSIBLE, "it rests", 9);
	add(CTP_RULE_LEAKED, CTP_CERTAIN_POSSIBLE, "it may be used", 2);
	add(CTP_RULE_LEAKED, CTP_CERTAIN_LIKELY, NULL, 3);
	ctp_findings_sort(&report, &section);
	const char *left = all();
	end();
	return left;
}

static void test_ignored(void)
{
	is(ignoring("leaked"), "possible 9", "a rule is ignored with and without an excuse");
	is(ignoring("possible"), "leaked 3", "what has an excuse can be ignored as possible");
	is(ignoring("possible a.c:*"), "leaked 3", "so at one site");
	ok(report.ignored == 2 && section.ignored == 2, "each is counted once");
	is(ignoring("never-woken"), "leaked 3, leaked 2, possible 9", "others stay");
}

static const char *printed(void (*print)(struct ctp_output *out))
{
	struct ctp_output out;
	textmem_open(&out);
	print(&out);
	return written(&out);
}

static void as_text(struct ctp_output *out) { ctp_report_text(out, &report, &(struct ctp_report_style){0}); }
static void as_json(struct ctp_output *out) { ctp_report_json(out, &report, false); }

/* A rule that says "possible": what is printed of it, beside a wait that stands out. */
static void test_printed(void)
{
	begin();
	add(CTP_RULE_LEAKED, CTP_CERTAIN_POSSIBLE, "it may be used", 2);
	const char *text = printed(as_text);
	ok(strstr(text, "No findings, but 1 possible one\n1. possible: something is wrong  [leaked]\n"
	          "   not reported as likely because it may be used\n   this is why\n   next: look there\n"),
	   "a rule may find what is only possible: %s", text);
	ok(strstr(printed(as_json), "\"suspects\":[{\"certainty\":\"possible\",\"title\":\"something is wrong\",\"excuse\":\"it may be used\",\"also\":null"),
	   "JSON lists it with the waits that stand out");
	ok(strstr(printed(as_json), "\"rule\":\"leaked\",\"gravity\":") &&
	   strstr(printed(as_json), ",\"evidence\":[\"this is why\"],\"next\":[\"look there\"],\"awaits\":[],\"number\":0,\"root\":null}"),
	   "and has its rule, too");
	add(CTP_RULE_NONE, CTP_CERTAIN_POSSIBLE, "it rests", 1);
	text = printed(as_text);
	ok(strstr(text, "No findings, but 1 possible one, and 1 wait stands out\n") &&
	   strstr(text, "2. possible: something is wrong\n   not reported as likely because it rests\n   this is why\n"),
	   "a wait that stands out has no rule: %s", text);
	end();
}

int main(void)
{
	test_order();
	test_limits();
	test_ignored();
	test_printed();
	return done_testing();
}
