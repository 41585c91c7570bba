/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-junit.c - a report as JUnit's XML.
 *
 * There are several schemas of this form, in several editions. The output fits those of Jenkins and of Ant: a test case has one
 * failure, error or skipped at most, and no output of its own; skipped has no attribute; a suite has its properties before the test
 * cases, and its output after them.
 */
#include "report/report-junit.h"

#include <stdio.h>

#include "base/text.h"
#include "report/report-ci.h"
#include "report/report-rules.h"

enum verdict { PASSED, SKIPPED, FAILED, VERDICTS };

struct suite {
	struct ctp_output *out;
	const struct ctp_report *report;
	const struct ctp_report_section *section; /* null: the report has none */
	enum ctp_certainty fail_on;
	uint32_t number;
	char caveats[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX];
	unsigned ncaveats;
	bool hangs;
	char hang[CTP_PRINT_LINE_MAX]; /* how it was stopped */
	struct {
		enum verdict verdict;
		uint32_t results;
	} rules[CTP_REPORT_RULES];
};

static void put(const struct suite *s, const char *text) { ctp_ci_put(s->out, CTP_CI_XML, text); }

static bool is_empty(const struct suite *s) { return !s->section || !s->section->counts.events; }

/* Whether the trace is incomplete, so that ctp-report would exit with status 3. */
static bool is_harmed(const struct suite *s)
{
	const struct ctp_follow_counts *c = &s->section->counts;
	return !s->section->complete || s->section->missing || c->lost || c->missed || c->untraced || c->conflicts;
}

/* --- verdicts ------------------------------------------------------------------------------------------------------------- */

/* A rule that was not applied did not pass; and a finding that lost events could contradict is no failure, but no pass either. */
static void judge(struct suite *s)
{
	struct ctp_ci ci;
	struct ctp_ci_result r;
	for (unsigned rule = 0; rule < CTP_REPORT_RULES; rule++) {
		bool applies = !is_empty(s) && !s->section->outside;
		if (applies && s->section->ordinal)
			applies = rule != CTP_REPORT_POSSIBLE && !ctp_rule_needs_clock((enum ctp_rule)rule);
		s->rules[rule].verdict = applies ? PASSED : SKIPPED;
	}
	if (s->section)
		for (ctp_ci_start(&ci, s->section); ctp_ci_next(&ci, &r);) {
			enum verdict verdict = r.certainty >= s->fail_on ? FAILED : SKIPPED;
			s->rules[r.rule].results++;
			if (s->rules[r.rule].verdict < verdict)
				s->rules[r.rule].verdict = verdict;
		}
	s->hangs = s->section && ctp_ci_hang(s->hang, s->section);
	s->ncaveats = s->section ? ctp_print_caveats(s->caveats, s->report, s->section) : 0;
}

/* --- test cases ----------------------------------------------------------------------------------------------------------- */

/* Services tell tests apart by class and name, and not by suite. */
static void begin_case(const struct suite *s, const char *name, bool goes_on)
{
	ctp_output_putf(s->out, "<testcase classname=\"ctp-report");
	if (s->report->nsections > 1)
		ctp_output_putf(s->out, ".%u", s->number + 1);
	ctp_output_putf(s->out, "\" name=\"%s\" time=\"0\"%s>\n", name, goes_on ? "" : "/");
}

static void caveats(const struct suite *s)
{
	for (unsigned i = 0; i < s->ncaveats; i++) {
		put(s, s->caveats[i]);
		ctp_output_putf(s->out, "\n");
	}
}

/* Whether there was something to judge, and all of it. */
static void trace_case(const struct suite *s)
{
	bool empty = is_empty(s), passed = !empty && !is_harmed(s);
	begin_case(s, "trace", !passed);
	if (passed)
		return;
	ctp_output_putf(s->out, empty ? "<error type=\"no-events\" message=\"%s\">" : "<skipped>%s\n",
	                !s->section ? "there is nothing in the trace" :
	                empty       ? "there is not one event in the trace" :
	                              "the trace is incomplete, and there may be more findings");
	caveats(s);
	ctp_output_putf(s->out, "</%s>\n</testcase>\n", empty ? "error" : "skipped");
}

/* Whether the program hung: no rule says so if the trace does not show what should have ended the waits. */
static void hang_case(const struct suite *s)
{
	char lines[CTP_CI_STILL][CTP_CI_ADVICE_MAX];
	begin_case(s, CTP_CI_HANG, s->hangs);
	if (!s->hangs)
		return;
	unsigned n = ctp_ci_hang_lines(lines, s->section);
	ctp_output_putf(s->out, "<failure type=\"hang\" message=\"the program did not end by itself: ");
	put(s, s->hang);
	ctp_output_putf(s->out, "\">the program did not end by itself: ");
	put(s, s->hang);
	for (unsigned i = 0; i < n; i++) {
		ctp_output_putf(s->out, "\n");
		put(s, lines[i]);
	}
	ctp_output_putf(s->out, "</failure>\n</testcase>\n");
}

static void one_result(const struct suite *s, const struct ctp_ci_result *r)
{
	put(s, ctp_certainty_name(r->certainty));
	ctp_output_putf(s->out, ": ");
	put(s, r->title);
	if (r->place) {
		ctp_output_putf(s->out, "\nat ");
		put(s, r->place);
	}
	ctp_ci_put_lines(s->out, CTP_CI_XML, r);
	ctp_output_putf(s->out, "\n");
}

/*
 * The results of a rule, the most certain first; the first gives the message of a failure. Services take files of some megabytes
 * only, so there is a limit.
 */
static void results(const struct suite *s, unsigned rule)
{
	enum { SHOWN = 50 };
	bool failed = s->rules[rule].verdict == FAILED;
	struct ctp_ci ci;
	struct ctp_ci_result r;
	uint32_t n = 0;
	for (ctp_ci_start(&ci, s->section); ctp_ci_next(&ci, &r);) {
		if (r.rule != rule || n >= SHOWN)
			continue;
		if (!n++ && failed) {
			const char *certainty = ctp_certainty_name(r.certainty);
			ctp_output_putf(s->out, "<failure type=\"%s\" message=\"%s: ", certainty, certainty);
			put(s, r.title);
			if (s->rules[rule].results > 1)
				ctp_output_putf(s->out, "; and %u more", s->rules[rule].results - 1);
			ctp_output_putf(s->out, "\">");
		} else {
			ctp_output_putf(s->out, n == 1 ? "<skipped>" : "\n");
		}
		one_result(s, &r);
	}
	if (s->rules[rule].results > n)
		ctp_output_putf(s->out, "\nand %u more\n", s->rules[rule].results - n);
	ctp_output_putf(s->out, failed ? "</failure>\n" : "</skipped>\n");
}

static void rule_case(const struct suite *s, unsigned rule)
{
	bool passed = s->rules[rule].verdict == PASSED;
	begin_case(s, ctp_report_rule(rule).name, !passed);
	if (passed)
		return;
	if (s->rules[rule].results)
		results(s, rule);
	else
		ctp_output_putf(s->out, "<skipped>%s</skipped>\n",
		                is_empty(s)         ? "there is nothing to judge" :
		                s->section->outside ? "nothing lies in the time that was asked for" :
		                                      "the rule needs times, and the section has none");
	ctp_output_putf(s->out, "</testcase>\n");
}

/* --- suites --------------------------------------------------------------------------------------------------------------- */

static void property(const struct suite *s, const char *name, const char *value)
{
	if (!value)
		return;
	ctp_output_putf(s->out, "<property name=\"%s\" value=\"", name);
	put(s, value);
	ctp_output_putf(s->out, "\"/>\n");
}

static void number(const struct suite *s, const char *name, uint64_t value)
{
	ctp_output_putf(s->out, "<property name=\"%s\" value=\"%ju\"/>\n", name, value);
}

/* The attributes of which Ant's schema demands a value, also if it is not known. */
static void begin_suite(const struct suite *s)
{
	const struct ctp_report_section *sec = s->section;
	char command[CTP_PRINT_COMMAND_MAX], wall[CTP_TEXT_MAX] = "1970-01-01T00:00:00Z";
	unsigned count[VERDICTS] = {0};
	for (unsigned rule = 0; rule < CTP_REPORT_RULES; rule++)
		count[s->rules[rule].verdict]++;
	if (sec && sec->has_wall && sec->start_wall_ns >= 0)
		ctp_text_wall(wall, sec->start_wall_ns / 1000000000, 0);
	uint64_t ms = sec && !sec->ordinal ? sec->ended_ns / 1000000 : 0;
	ctp_output_putf(s->out, "<testsuite name=\"");
	put(s, sec ? ctp_print_command(command, sec) : "ctp-report");
	ctp_output_putf(s->out, "\" package=\"ctp-report\" id=\"%u\" hostname=\"", s->number);
	put(s, sec && sec->host && *sec->host ? sec->host : "localhost");
	ctp_output_putf(s->out, "\" timestamp=\"%.19s\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\"", wall,
	                CTP_REPORT_RULES + 2, count[FAILED] + s->hangs, is_empty(s),
	                count[SKIPPED] + (!is_empty(s) && is_harmed(s)));
	ctp_output_putf(s->out, " time=\"%ju.%03ju\">\n", ms / 1000, ms % 1000);
}

static void properties(const struct suite *s)
{
	char line[CTP_PRINT_LINE_MAX];
	ctp_output_putf(s->out, "<properties>\n"); /* one at least, as schemas demand */
	property(s, "version", CTP_VERSION);
	if (s->section) {
		property(s, "trace", s->section->file);
		property(s, "pid", s->section->pid);
		property(s, "outcome", ctp_print_outcome(line, s->section));
		number(s, "events", s->section->counts.events);
		number(s, "lost", s->section->counts.lost);
		number(s, "coroutines", s->section->counts.coroutines);
	}
	ctp_output_putf(s->out, "</properties>\n");
}

static void suite(struct suite *s)
{
	char verdict[CTP_PRINT_LINE_MAX];
	judge(s);
	begin_suite(s);
	properties(s);
	trace_case(s);
	hang_case(s);
	for (unsigned rule = 0; rule < CTP_REPORT_RULES; rule++)
		rule_case(s, rule);
	ctp_output_putf(s->out, "<system-out>");
	if (s->section) {
		put(s, ctp_print_verdict(verdict, s->section));
		ctp_output_putf(s->out, "\n%s", s->ncaveats ? "What this could not see:\n" : "");
	}
	caveats(s);
	ctp_output_putf(s->out, "</system-out>\n<system-err/>\n</testsuite>\n");
}

void ctp_report_junit(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	struct suite s = {.out = out, .report = r, .fail_on = style->fail_on ? style->fail_on : CTP_CERTAIN_LIKELY};
	ctp_output_putf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (; s.number < r->nsections || !s.number; s.number++) {
		s.section = r->nsections ? &r->sections[s.number] : NULL;
		memset(s.rules, 0, sizeof s.rules);
		suite(&s);
	}
	ctp_output_putf(out, "</testsuites>\n");
}
