/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-tohtml - a trace as one HTML page: what went wrong, and what each coroutine did. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/split.h"
#include "html/html-baseline.h"
#include "html/html.h"
#include "reportopt.h"

enum { SECTION = CTP_REPORTOPT_END, TITLE, MAX_EVENTS, FINDING, BASELINE };

static struct ctp_tool tool = {
	.name = "ctp-tohtml",
	.synopsis = "[-fqv] [-o FILE] [--title TEXT] [--section N] [--finding N] [--since TIME] [--until TIME] [--max-events N] "
	            "[--baseline FILE] " CTP_REPORTOPT_SYNOPSIS " [FILE...]",
	.help = "Writes a trace as one HTML page that opens from disk: what went wrong, and what each coroutine and thread did.\n"
	        "  -o FILE            write to FILE, which appears when it is complete\n"
	        "  -f                 write to a terminal too\n"
	        "  --title TEXT       set the title of the page, instead of the command that was traced\n"
	        "  --section N        show the Nth section alone\n"
	        "  --finding N        show only the coroutines of the Nth finding, for a trace that is too large for a browser\n"
	        CTP_REPORTOPT_HELP_TIME
	        "  --max-events N     show at most N events (20000000) and leave out the oldest; the page says how many\n"
	        "  --baseline FILE    compare the flame view with the trace FILE\n"
	        CTP_REPORTOPT_HELP
	        "  -q  print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
	.permutes = true,
};

/* What the command line asks for. */
static struct {
	struct ctp_html_options options;
	struct ctp_reportopt common;
	char *baseline; /* a path; null: none */
	struct ctp_html_left left;
} ask = {.options = {.max_events = CTP_HTML_EVENTS_MAX, .left = &ask.left}};

static void option(int c)
{
	static const char wrong[] = "not a number; give one from 1 on";
	if (c == TITLE)
		ask.options.title = optarg;
	else if (c == BASELINE)
		ask.baseline = optarg;
	else if (c == SECTION)
		ask.options.section = ctp_tool_number(&tool, "--section", optarg, 1, UINT64_MAX, wrong);
	else if (c == FINDING)
		ask.options.finding = ctp_tool_number(&tool, "--finding", optarg, 1, UINT32_MAX, wrong);
	else if (c == MAX_EVENTS)
		ask.options.max_events = ctp_tool_number(&tool, "--max-events", optarg, 1, UINT64_MAX, wrong);
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"title", required_argument, NULL, TITLE}, {"section", required_argument, NULL, SECTION},
		{"max-events", required_argument, NULL, MAX_EVENTS}, {"finding", required_argument, NULL, FINDING},
		{"baseline", required_argument, NULL, BASELINE}, CTP_REPORTOPT_LONGS, {NULL, 0, NULL, 0},
	};
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fo:", longs)) != -1;)
		if (!ctp_reportopt_take(&ask.common, &tool, c))
			option(c);
	ask.options.report = ctp_reportopt_done(&ask.common, &tool);
	const char *source = argv[optind];
	ask.options.source = source && strcmp(source, "-") ? source : "stdin";
	if (ask.baseline && !strcmp(ask.baseline, "-"))
		exit(ctp_tool_usage(&tool, "--baseline -: give the name of a file"));
}

struct reading {
	struct ctp_sink *sink;
	struct ctp_err *err;
};

/* A baseline that is damaged or cut short would show differences that are none. */
static enum ctp_status read_one(void *arg, struct ctp_input *in)
{
	struct reading *r = arg;
	struct ctp_convert_stats stats = {0};
	struct ctp_tick tick = ctp_tool_tick(&tool);
	if (ctp_convert(in, r->sink, &tool.notice, &tick, &stats, r->err))
		return CTP_FAILED;
	return stats.damaged ? ctp_err_set(r->err, "--baseline %s: is damaged or cut short", in->name) : CTP_OK;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat sa, sb;
	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Reads the baseline before the output is created, so that no file is made if the baseline cannot be read. */
static enum ctp_status read_baseline(struct ctp_html_baseline *b, struct ctp_err *err)
{
	if (tool.path && is_same_file(tool.path, ask.baseline))
		return ctp_err_set(err, "-o %s: is also the baseline; name another file", tool.path);
	ctp_html_baseline_init(b, ask.baseline);
	struct reading r = {.sink = ctp_html_baseline_sink(b, &ask.options.report, err), .err = err};
	if (!r.sink)
		return CTP_FAILED;
	enum ctp_status status = ctp_tool_each(&tool, (char *[]){ask.baseline, NULL}, read_one, &r, err);
	if (!status)
		status = r.sink->ops->finish(r.sink, err);
	r.sink->ops->free(r.sink);
	ask.options.baseline = b;
	return status;
}

int main(int argc, char **argv)
{
	struct ctp_html_baseline baseline;
	struct ctp_output out;
	struct ctp_err err;
	uint64_t left_out = 0;
	ctp_tool_start(&tool);
	parse(argc, argv);
	if (ask.baseline && read_baseline(&baseline, &err))
		return ctp_tool_fail(&tool, &err);
	if (ctp_tool_create_view(&out, tool.path, argv + optind, tool.force, &err))
		return ctp_tool_fail(&tool, &err);
	struct ctp_sink *sink = ctp_split_sink(ctp_html_sink(&out, &ask.options, &err), &left_out, &err);
	int code = ctp_tool_to(&tool, argv + optind, sink, &out, &err);
	code = ctp_reportopt_origins(&tool, left_out, code);
	if (ask.baseline)
		ctp_html_baseline_fini(&baseline);
	ctp_reportopt_fini(&ask.common);
	if (ask.left.events && !tool.quiet)
		ctp_tool_say(&tool, "the page leaves out %ju events, which are too many for a browser: see less with --since, --until or --finding N",
		             (uintmax_t)ask.left.events);
	return code;
}
