/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-diff - what a change of a program has changed in its traces. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff/diff-folded.h"
#include "diff/diff-print.h"
#include "report/report-folded.h"
#include "reportopt.h"

enum { PER = CTP_REPORTOPT_END, FOLDED, FOLDED_UNIT, FAIL_ON, MIN_CHANGE, TOP };

static struct ctp_tool tool = {
	.name = "ctp-diff",
	.synopsis = "[-jmqv] [--per SITE] [--folded[=running|runnable|suspended]] [--folded-unit ns|us|ms|s] "
	            "[--fail-on worse|new] [--min-change PERCENT] [--top N] [--ignore PATTERN] "
	            "[--ignore-file FILE] [--since TIME] [--until TIME] [--debug-dir DIR] [--no-symbols] A... -- B...",
	.help = "Compares traces from before a change, A, with traces from after it, B: findings, counts, running times, waits.\n"
	        "  --per SITE          count per resume at this site, FILE:FUNCTION, instead of per run; * and ? as in a shell\n"
	        "  -m                  print Markdown, for a ticket\n"
	        "  -j                  print one JSON object on one line\n"
	        "  --folded            print folded stacks of the time suspended before and after, as difffolded.pl does;\n"
	        "                      --folded=running: of that time\n"
	        "  --folded-unit UNIT  count them in ns, us, ms or s; the default is ms, and us with --per or if not suspended\n"
	        "  --fail-on WHAT      exit with 4 if a finding is new, and with worse, also if a count or a time is shown to be\n"
	        "                      larger\n"
	        "  --min-change PERCENT  do not count a change of less; the default is 2%, and 0 counts every one\n"
	        "  --top N             print the first N rows of each table, and all rows with a difference\n"
	        "  --ignore PATTERN    leave out findings of this rule, site or \"rule site\", and quantities of this site\n"
	        "  --ignore-file FILE  leave out those that match a line of the file; # begins a comment\n"
	        "  --since TIME        look only at what happened from this time on, after the start: 12.5s, 300ms, 2m\n"
	        "  --until TIME        look only at what happened up to this time\n"
	        "  --debug-dir DIR     look for debug information there too\n"
	        "  --no-symbols        look for no debug information: show addresses as file+offset\n"
	        "  -v                  print every row   -q  no notices   -V  version   -h  this help\n"
	        "Exit status: 0 done; 1 failed; 2 usage; 3 a trace is incomplete; 4 as --fail-on says, even if it would be 3.\n",
	.permutes = true,
};

#define MIN_CHANGE_DEFAULT 0.02
#define NOT_GIVEN (-1.)

enum fail_on { NEVER, NEW, WORSE };

/* What the command line asks for. */
static struct {
	struct ctp_diff_options options;
	struct ctp_report_style style;
	struct ctp_reportopt common;
	enum fail_on fail_on;
} ask = {.options.min_change = NOT_GIVEN};

/* What is being read, and to what. */
struct reading {
	struct ctp_diff diff;
	struct ctp_diff_folded *folded; /* null: a comparison is wanted */
	struct ctp_sink *sink;
	struct ctp_convert_stats stats;
	struct ctp_err *err;
};

/* --- options -------------------------------------------------------------------------------------------------------------- */

static void be_format(enum ctp_report_format format)
{
	static bool chosen;
	if (chosen && ask.style.format != format)
		exit(ctp_tool_usage(&tool, "-j, -m and --folded exclude one another"));
	chosen = true;
	ask.style.format = format;
}

/* 2, 2% or 0.5%, as a part of 1. */
static double percent(const char *text)
{
	size_t len = strspn(text, "0123456789.");
	char *end;
	double n = strtod(text, &end);
	if (!len || end != text + len || !isfinite(n) || (*end && strcmp(end, "%")))
		exit(ctp_tool_usage(&tool, "--min-change %s: is no number of percent, such as 2%% or 0.5%%", text));
	return n / 100;
}

static void option(int c)
{
	if (c == PER)
		ask.options.per = optarg;
	else if (c == FAIL_ON && !strcmp(optarg, "new"))
		ask.fail_on = NEW;
	else if (c == FAIL_ON && !strcmp(optarg, "worse"))
		ask.fail_on = WORSE;
	else if (c == FAIL_ON)
		exit(ctp_tool_usage(&tool, "--fail-on %s: is not worse or new", optarg));
	else if (c == MIN_CHANGE)
		ask.options.min_change = percent(optarg);
	else if (c == TOP)
		ask.style.top = (uint32_t)ctp_tool_number(&tool, "--top", optarg, 1, UINT32_MAX, "is no number from 1 on");
	else if (c == FOLDED_UNIT)
		ask.style.unit_ns = ctp_reportopt_unit(&tool);
	else
		be_format(c == 'm' ? CTP_REPORT_AS_MARKDOWN : c == 'j' ? CTP_REPORT_AS_JSON : CTP_REPORT_AS_FOLDED);
	if (c == FOLDED)
		ask.style.state = optarg ? ctp_reportopt_state(&tool, "--folded=") : CTP_SUSPENDED;
}

/* How many operands are after "--", which getopt takes away; -1: there is none. */
static int count_after(int argc, char **argv)
{
	int i = 1;
	while (i < argc && strcmp(argv[i], "--"))
		i++;
	return i < argc ? argc - i - 1 : -1;
}

/* Returns the first operand of the second side. */
static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"per", required_argument, NULL, PER}, {"folded", optional_argument, NULL, FOLDED},
		{"folded-unit", required_argument, NULL, FOLDED_UNIT}, {"fail-on", required_argument, NULL, FAIL_ON},
		{"min-change", required_argument, NULL, MIN_CHANGE}, {"top", required_argument, NULL, TOP},
		CTP_REPORTOPT_LONGS, {NULL, 0, NULL, 0},
	};
	int nafter = count_after(argc, argv);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "jm", longs)) != -1;)
		if (!ctp_reportopt_take(&ask.common, &tool, c))
			option(c);
	bool folded = ask.style.format == CTP_REPORT_AS_FOLDED;
	if (ask.style.unit_ns && !folded)
		exit(ctp_tool_usage(&tool, "--folded-unit is for --folded"));
	if (folded && ask.fail_on)
		exit(ctp_tool_usage(&tool, "--folded judges nothing: leave out --fail-on"));
	if (folded && ask.options.min_change >= 0)
		exit(ctp_tool_usage(&tool, "--folded judges nothing: leave out --min-change"));
	if (ask.options.min_change < 0)
		ask.options.min_change = MIN_CHANGE_DEFAULT;
	if (!ask.style.unit_ns)
		ask.style.unit_ns = ask.options.per ? 1000 : ctp_folded_unit_ns(ask.style.state);
	ask.options.report = ctp_reportopt_done(&ask.common, &tool);
	ask.style.all = tool.verbose;
	ask.style.colour = ctp_reportopt_colour();
	if (nafter < 0 && argc - optind == 2)
		nafter = 1;
	if (nafter < 1 || argc - optind <= nafter)
		exit(ctp_tool_usage(&tool, "give traces of both sides, with -- between them: ctp-diff A... -- B..."));
	return argc - nafter;
}

/* --- reading -------------------------------------------------------------------------------------------------------------- */

static enum ctp_status read_one(void *arg, struct ctp_input *in)
{
	struct reading *r = arg;
	struct ctp_tick tick = ctp_tool_tick(&tool);
	return ctp_convert(in, r->sink, &tool.notice, &tick, &r->stats, r->err);
}

/* An input has a sink of its own, so that its memory is free before the next. */
static enum ctp_status read_input(struct reading *r, char *file, enum ctp_diff_side side)
{
	r->sink = r->folded ? ctp_diff_folded_sink(r->folded, side, r->err) : ctp_diff_sink(&r->diff, side, r->err);
	if (!r->sink)
		return CTP_FAILED;
	enum ctp_status status = ctp_tool_each(&tool, (char *[]){file, NULL}, read_one, r, r->err);
	if (status != CTP_FAILED)
		status = r->sink->ops->finish(r->sink, r->err);
	r->sink->ops->free(r->sink);
	return status;
}

/* --- the end -------------------------------------------------------------------------------------------------------------- */

static void print(struct reading *r, struct ctp_output *out, enum ctp_status *status)
{
	if (r->folded)
		*status = ctp_diff_folded_print(r->folded, out, ask.style.unit_ns, r->err);
	else if (ask.style.format == CTP_REPORT_AS_JSON)
		ctp_diff_print_json(out, &r->diff);
	else
		ctp_diff_print(out, &r->diff, &ask.style);
}

/* Without an event there is nothing to compare: --fail-on must not pass programs that were not traced. */
static bool has_events(const struct ctp_diff *d)
{
	bool has[CTP_DIFF_SIDES] = {false, false};
	for (uint32_t i = 0; i < d->nruns; i++)
		has[d->runs[i].side] |= d->runs[i].events > 0;
	return has[CTP_DIFF_BEFORE] && has[CTP_DIFF_AFTER];
}

static int status_of(const struct reading *r)
{
	const struct ctp_diff *d = &r->diff;
	bool harmed = r->stats.harmed;
	if (!r->folded) {
		const struct ctp_report patterns = {.ignore = ask.options.report.ignore, .nignore = ask.options.report.nignore,
		                                    .matched = d->matched, .sections_seen = 1};
		ctp_reportopt_unmatched(&tool, &patterns);
		harmed |= !has_events(d);
		if (ask.fail_on == WORSE && !d->together && d->candidates && !tool.quiet)
			ctp_tool_say(&tool, "--fail-on worse: %u and %u runs are too few to show a longer time or a larger count: "
			             "take %u on each side", d->sides[CTP_DIFF_BEFORE], d->sides[CTP_DIFF_AFTER], d->needed);
		if ((ask.fail_on == NEW && ctp_diff_has_new(d)) || (ask.fail_on == WORSE && ctp_diff_has_worse(d)))
			return CTP_EXIT_FOUND;
	}
	return harmed ? CTP_EXIT_HARMED : CTP_EXIT_OK;
}

int main(int argc, char **argv)
{
	struct ctp_output out;
	struct ctp_err err;
	ctp_tool_start(&tool);
	int second = parse(argc, argv);
	struct reading r = {.err = &err};
	ctp_diff_init(&r.diff, &ask.options);
	if (ask.style.format == CTP_REPORT_AS_FOLDED)
		r.folded = ctp_diff_folded_new(&ask.options.report, ask.style.state, ask.options.per ? &r.diff : NULL);
	bool memory = r.folded || ask.style.format != CTP_REPORT_AS_FOLDED;
	enum ctp_status status = memory ? ctp_output_open(&out, NULL, false, false, &err) : ctp_err_memory(&err);
	if (status)
		return ctp_tool_fail(&tool, &err);
	tool.out = &out;
	for (int i = optind; i < argc && status != CTP_FAILED; i++)
		status = read_input(&r, argv[i], i < second ? CTP_DIFF_BEFORE : CTP_DIFF_AFTER);
	if (status != CTP_FAILED && !r.folded)
		status = ctp_diff_judge(&r.diff, &err);
	if (status != CTP_FAILED)
		print(&r, &out, &status);
	if (status == CTP_FAILED)
		ctp_output_abandon(&out);
	else
		status = ctp_output_close(&out, &err);
	int code = status == CTP_FAILED ? ctp_tool_fail_output(&tool, &out, &err) : status_of(&r);
	ctp_diff_fini(&r.diff);
	ctp_diff_folded_free(r.folded);
	ctp_reportopt_fini(&ask.common);
	return code;
}
