/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-report - what went wrong in a trace, with the evidence. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/split.h"
#include "report/report-ci.h"
#include "report/report-folded.h"
#include "report/report-sink.h"
#include "reportopt.h"

enum { FOLDED = CTP_REPORTOPT_END, FOLDED_UNIT, FAIL_ON, SORT, TOP, BRIEF, ANNOTATIONS, SARIF, JUNIT, JSON, MARKDOWN };

static struct ctp_tool tool = {
	.name = "ctp-report",
	.synopsis = "[-jmqv] [--brief] [--annotations[=github|gitlab]] [--sarif FILE] [--junit FILE] [--json FILE] [--markdown FILE] "
	            "[--folded[=running|runnable|suspended]] [--folded-unit ns|us|ms|s] "
	            "[--sort running|runnable|suspended] [--top N] [--fail-on proved|likely|possible] "
	            "[--ignore PATTERN] [--ignore-file FILE] [--since TIME] [--until TIME] [--debug-dir DIR] [--no-symbols] "
	            "[FILE...]",
	.help = "Says what went wrong in a trace: which coroutines are stuck, where, since when, and how sure that is.\n"
	        "  -m                  print Markdown, for a ticket\n"
	        "  -j                  print one JSON object on one line\n"
	        "  --brief             print at most 20 lines of Markdown, for a comment\n"
	        "  --annotations       print commands with which GitHub shows each finding at its line; --annotations=gitlab: print\n"
	        "                      a report of GitLab's code quality\n"
	        "  --sarif FILE        also write SARIF 2.1.0 to FILE, which appears when it is complete\n"
	        "  --junit FILE        also write JUnit XML to FILE: a test for each rule\n"
	        "  --json FILE         also write what -j prints to FILE\n"
	        "  --markdown FILE     also write what -m prints to FILE\n"
	        "  --folded            print folded stacks of the time suspended, for flamegraph.pl; --folded=running: of that time\n"
	        "  --folded-unit UNIT  count them in ns, us, ms or s; the default is ms, and us if not suspended\n"
	        "  --sort STATE        sort the table of sites by the time running, runnable or suspended; the default is suspended\n"
	        "  --top N             print the first N rows of each table\n"
	        "  --fail-on WHAT      exit with 4 if a finding is proved; with likely, also if one is likely; with possible,\n"
	        "                      also if a wait stands out; with each, also if the program hung until it was killed\n"
	        "  --ignore PATTERN    leave out findings of this rule, site or \"rule site\"; * and ? as in a shell\n"
	        "  --ignore-file FILE  leave out those that match a line of the file; # begins a comment\n"
	        "  --since TIME        look only at what happened from this time on, after the start: 12.5s, 300ms, 2m\n"
	        "  --until TIME        look only at what happened up to this time\n"
	        "  --debug-dir DIR     look for debug information there too\n"
	        "  --no-symbols        look for no debug information: show addresses as file+offset\n"
	        "  -v                  print every row and member   -q  no notices   -V  version   -h  this help\n"
	        "ctp-rules(7) explains the rules.\n"
	        "Exit status: 0 done; 1 failed; 2 usage; 3 the trace is incomplete; 4 as --fail-on says, even if it would be 3.\n",
	.permutes = true,
};

/* What the command line asks for. */
static struct {
	struct ctp_analysis_options options;
	struct ctp_report_style style;
	struct ctp_report_files files;
	struct ctp_reportopt common;
	enum ctp_state sites_by;
	char root[PATH_MAX];
} ask = {.sites_by = CTP_SUSPENDED};

static void be_format(enum ctp_report_format format)
{
	static bool chosen;
	if (chosen && ask.style.format != format)
		exit(ctp_tool_usage(&tool, "-j, -m, --brief, --annotations and --folded exclude one another"));
	chosen = true;
	ask.style.format = format;
}

static const char *option_of(enum ctp_report_format format)
{
	static const char *const options[CTP_REPORT_FORMATS] = {
		[CTP_REPORT_AS_SARIF] = "--sarif", [CTP_REPORT_AS_JUNIT] = "--junit",
		[CTP_REPORT_AS_JSON] = "--json", [CTP_REPORT_AS_MARKDOWN] = "--markdown",
	};
	return options[format];
}

/* A form in a file. "-" is the standard output, which then has this form. */
static void also_write(enum ctp_report_format format)
{
	if (!strcmp(optarg, "-")) {
		be_format(format);
		return;
	}
	for (unsigned i = 0; i < ask.files.count; i++) {
		if (ask.files.file[i].format == format)
			exit(ctp_tool_usage(&tool, "%s %s: the option is given twice", option_of(format), optarg));
		if (!strcmp(ask.files.file[i].path, optarg))
			exit(ctp_tool_usage(&tool, "%s %s: %s names this file too; name another one", option_of(format), optarg,
			                    option_of(ask.files.file[i].format)));
	}
	ask.files.file[ask.files.count++] = (struct ctp_report_file){.format = format, .path = optarg};
}

static enum ctp_report_format annotations_or_exit(void)
{
	if (!optarg || !strcmp(optarg, "github"))
		return CTP_REPORT_AS_GITHUB;
	if (!strcmp(optarg, "gitlab"))
		return CTP_REPORT_AS_GITLAB;
	exit(ctp_tool_usage(&tool, "--annotations=%s: is not github or gitlab", optarg));
}

static enum ctp_certainty certainty_or_exit(void)
{
	for (enum ctp_certainty c = CTP_CERTAIN_POSSIBLE; c <= CTP_CERTAIN_PROVED; c++)
		if (!strcmp(optarg, ctp_certainty_name(c)))
			return c;
	exit(ctp_tool_usage(&tool, "--fail-on %s: is not proved, likely or possible", optarg));
}

static void option(int c)
{
	if (c == FAIL_ON)
		ask.style.fail_on = certainty_or_exit();
	else if (c == SORT)
		ask.sites_by = ctp_reportopt_state(&tool, "--sort ");
	else if (c == TOP)
		ask.style.top = (uint32_t)ctp_tool_number(&tool, "--top", optarg, 1, UINT32_MAX, "is no number from 1 on");
	else if (c == FOLDED_UNIT)
		ask.style.unit_ns = ctp_reportopt_unit(&tool);
	else if (c == ANNOTATIONS)
		be_format(annotations_or_exit());
	else if (c == SARIF || c == JUNIT)
		also_write(c == SARIF ? CTP_REPORT_AS_SARIF : CTP_REPORT_AS_JUNIT);
	else if (c == JSON || c == MARKDOWN)
		also_write(c == JSON ? CTP_REPORT_AS_JSON : CTP_REPORT_AS_MARKDOWN);
	else if (c == FOLDED || c == BRIEF)
		be_format(c == FOLDED ? CTP_REPORT_AS_FOLDED : CTP_REPORT_AS_BRIEF);
	else
		be_format(c == 'm' ? CTP_REPORT_AS_MARKDOWN : CTP_REPORT_AS_JSON);
	if (c == FOLDED)
		ask.style.state = optarg ? ctp_reportopt_state(&tool, "--folded=") : CTP_SUSPENDED;
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"folded", optional_argument, NULL, FOLDED}, {"folded-unit", required_argument, NULL, FOLDED_UNIT},
		{"fail-on", required_argument, NULL, FAIL_ON}, {"brief", no_argument, NULL, BRIEF},
		{"annotations", optional_argument, NULL, ANNOTATIONS}, {"sarif", required_argument, NULL, SARIF},
		{"junit", required_argument, NULL, JUNIT}, {"json", required_argument, NULL, JSON},
		{"markdown", required_argument, NULL, MARKDOWN},
		{"sort", required_argument, NULL, SORT}, {"top", required_argument, NULL, TOP}, CTP_REPORTOPT_LONGS,
		{NULL, 0, NULL, 0},
	};
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "jm", longs)) != -1;)
		if (!ctp_reportopt_take(&ask.common, &tool, c))
			option(c);
	if (ask.style.unit_ns && ask.style.format != CTP_REPORT_AS_FOLDED)
		exit(ctp_tool_usage(&tool, "--folded-unit is for --folded"));
	if (!ask.style.unit_ns)
		ask.style.unit_ns = ctp_folded_unit_ns(ask.style.state);
	ask.options = ctp_reportopt_done(&ask.common, &tool);
	ask.options.sites_by = ask.sites_by;
	ask.style.all = tool.verbose;
	ask.style.colour = ctp_reportopt_colour();
	ask.style.several = argc - optind > 1;
	ask.style.root = getcwd(ask.root, sizeof ask.root);
}

/* A file that cannot be created is an error of its own; the others, and the report on the standard output, are still written. */
static void open_files(char **inputs)
{
	for (unsigned i = 0; i < ask.files.count; i++)
		if (ctp_tool_is_input(ask.files.file[i].path, inputs))
			exit(ctp_tool_usage(&tool, "%s %s: is also the input; name another file",
			                    option_of(ask.files.file[i].format), ask.files.file[i].path));
	ask.files.notice = (struct ctp_notice){.say = ctp_tool_say_line, .arg = &tool};
	tool.reads_on = ask.files.count > 0;
	ctp_report_files_open(&ask.files);
}

static bool has_found(const struct ctp_report *r)
{
	for (uint32_t i = 0; i < r->nsections; i++) {
		const struct ctp_finding *f;
		for (uint32_t k = 0; (f = ctp_report_finding(&r->sections[i], k)); k++)
			if (f->certainty >= ask.style.fail_on)
				return true;
	}
	return false;
}

/*
 * A program that hung until it was stopped by force counts at each level of --fail-on. The line is said with -q, too:
 * the report may have no findings, and nothing else says why the status is 4.
 */
static bool has_hung(const struct ctp_report *r)
{
	char how[CTP_PRINT_LINE_MAX];
	bool hung = false;
	for (uint32_t i = 0; i < r->nsections && !hung; i++)
		hung = ctp_ci_hang(how, &r->sections[i]);
	if (hung)
		ctp_tool_say(&tool, "--fail-on: the program did not end by itself: %s", how);
	return hung;
}

/* Without an event there is nothing to judge: --fail-on must not pass a program that was not traced. */
static bool has_events(const struct ctp_report *r)
{
	for (uint32_t i = 0; i < r->nsections; i++)
		if (r->sections[i].counts.events)
			return true;
	return false;
}

/* Nor must it pass a part of a trace, to which most rules are not applied. */
static bool is_filtered(const struct ctp_report *r)
{
	for (uint32_t i = 0; i < r->nsections; i++)
		if (r->sections[i].filtered)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct ctp_output out;
	struct ctp_err err;
	uint64_t left_out = 0;
	ctp_tool_start(&tool);
	parse(argc, argv);
	open_files(argv + optind);
	struct ctp_analysis *analysis = ctp_analysis_new(&ask.options, &err);
	if (!analysis || ctp_output_open(&out, NULL, false, false, &err))
		return ctp_tool_fail(&tool, &err);
	struct ctp_sink *sink = ctp_report_sink(analysis, &out, &ask.style, &ask.files, &err);
	int code = ctp_tool_to(&tool, argv + optind, ctp_split_sink(sink, &left_out, &err), &out, &err);
	const struct ctp_report *report = &analysis->report;
	code = ctp_reportopt_origins(&tool, left_out, code);
	if (code == CTP_EXIT_OK || code == CTP_EXIT_HARMED) {
		ctp_reportopt_unmatched(&tool, report);
		if (!has_events(report) || is_filtered(report))
			code = CTP_EXIT_HARMED;
		bool found = ask.style.fail_on && (has_found(report) || has_hung(report));
		code = found ? CTP_EXIT_FOUND : ctp_reportopt_outside(&tool, report, code);
	}
	ctp_analysis_free(analysis);
	ctp_reportopt_fini(&ask.common);
	return ask.files.failed && code != CTP_EXIT_FOUND ? CTP_EXIT_FAILED : code;
}
