/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-toperfetto - a trace as a timeline for Perfetto, or for what reads Chrome's JSON. */
#include <getopt.h>

#include "base/text.h"
#include "common/split.h"
#include "perfetto/perfetto.h"
#include "reportopt.h"

enum { CHROME = CTP_REPORTOPT_END, THREADS_ONLY, LANES };

static struct ctp_tool tool = {
	.name = "ctp-toperfetto",
	.synopsis = "[-fqv] [-o FILE] [--chrome] [--threads-only] [--lanes N] [--since TIME] [--until TIME] "
	            CTP_REPORTOPT_SYNOPSIS " [FILE...]",
	.help = "Writes a trace as a timeline for ui.perfetto.dev: threads, coroutines, what they wait for, wakes and findings.\n"
	        "  -o FILE            write to FILE, which appears when it is complete\n"
	        "  -f                 write to a terminal too\n"
	        "  --chrome           write Chrome's JSON, which speedscope and others read, too\n"
	        "  --threads-only     show only what runs on threads: for a trace that is too large for a browser\n"
	        "  --lanes N          give at most N coroutines a lane of their own at once (1000)\n"
	        CTP_REPORTOPT_HELP_TIME
	        CTP_REPORTOPT_HELP
	        "  -q  print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
	.permutes = true,
};

/* What the command line asks for. */
static struct {
	struct ctp_perfetto_options options;
	struct ctp_reportopt common;
	struct ctp_perfetto_left left;
} ask = {.options = {.lanes = CTP_PERFETTO_LANES, .left = &ask.left}};

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"chrome", no_argument, NULL, CHROME}, {"threads-only", no_argument, NULL, THREADS_ONLY},
		{"lanes", required_argument, NULL, LANES}, CTP_REPORTOPT_LONGS, {NULL, 0, NULL, 0},
	};
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fo:", longs)) != -1;) {
		if (c == CHROME)
			ask.options.chrome = true;
		else if (c == THREADS_ONLY)
			ask.options.threads_only = true;
		else if (c == LANES)
			ask.options.lanes = (uint32_t)ctp_tool_number(&tool, "--lanes", optarg, 0, CTP_PERFETTO_LANES_MAX, NULL);
		else
			ctp_reportopt_take(&ask.common, &tool, c);
	}
	ask.options.report = ctp_reportopt_done(&ask.common, &tool);
}

/* What is not in the file, and what to do if it is too large. */
static void say_left(void)
{
	char count[CTP_TEXT_MAX], waits[CTP_TEXT_MAX], runs[CTP_TEXT_MAX];
	if (tool.quiet)
		return;
	if (ask.left.coroutines) {
		*ctp_text_count(count, ask.left.coroutines) = '\0';
		*ctp_text_count(waits, ask.left.waits) = *ctp_text_count(runs, ask.left.runs) = '\0';
		ctp_tool_say(&tool, "more than %u coroutines were alive at once: %s have no lane of their own, and %s waits and %s"
		             " runs of them are not drawn: see less with --since or --until", ask.options.lanes, count, waits,
		             runs);
	}
	if (ask.left.transitions > CTP_PERFETTO_TRANSITIONS) {
		*ctp_text_count(count, ask.left.transitions) = '\0';
		ctp_tool_say(&tool, "%s transitions are more than a browser can hold, which is about 5 million: see less with"
		             " --since or --until%s", count, ask.options.threads_only ? "" : ", or with --threads-only");
	}
	char undrawn[CTP_PERFETTO_UNDRAWN_MAX];
	if (ctp_perfetto_undrawn_text(undrawn, &ask.left.undrawn))
		ctp_tool_say(&tool, "%s: ctp-tojsonl -a shows these events", undrawn);
	if (ask.left.moved)
		ctp_tool_say(&tool, "%ju of %ju sections have no clock in common with the first: each is shown after those before"
		             " it", (uintmax_t)ask.left.moved, (uintmax_t)ask.left.sections);
}

int main(int argc, char **argv)
{
	struct ctp_output out;
	struct ctp_err err;
	uint64_t left_out = 0;
	ctp_tool_start(&tool);
	parse(argc, argv);
	if (ctp_tool_create_view(&out, tool.path, argv + optind, tool.force, &err))
		return ctp_tool_fail(&tool, &err);
	struct ctp_sink *sink = ctp_split_sink(ctp_perfetto_sink(&out, &ask.options, &err), &left_out, &err);
	int code = ctp_tool_to(&tool, argv + optind, sink, &out, &err);
	code = ctp_reportopt_origins(&tool, left_out, code);
	ctp_reportopt_fini(&ask.common);
	if (code == CTP_EXIT_OK || code == CTP_EXIT_HARMED)
		say_left();
	return code;
}
