/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-mem - show how a program accessed its memory, by type and member, and how often caches would have missed. */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "mem/mem-sink.h"
#include "memory/machine-caches.h"
#include "tool.h"

enum { CACHE = 256, PRIVATE, TOP, DEBUG_INFO, SVG, TYPE };

static struct ctp_tool tool = {
	.name = "ctp-mem",
	.synopsis = "[-jqv] [--cache SIZE,WAYS,LINE] [--private] [--debug-info FILE] [--svg FILE] [--type NAME] [--top N] "
	            "[FILE...]",
	.help = "Shows how a program accessed its memory, by type, member, thread and region, and how often caches would have missed.\n"
	        "  -j                      print one JSON object on one line\n"
	        "  --cache SIZE,WAYS,LINE  simulate this level of cache, such as 32k,8,64; give the nearest first, three at most;\n"
	        "                          none: simulate no cache\n"
	        "  --private               give each thread caches of its own, except for the last level\n"
	        "  --debug-info FILE       name members, from the program or a file with its debug information\n"
	        "  --svg FILE              draw the structures that cost most, line by line\n"
	        "  --type NAME             draw only this type\n"
	        "  --top N                 print N rows of each table, and draw N structures\n"
	        "  -v                      print every row   -q  print no notices   -V  print the version   -h  print this help\n",
	.permutes = true,
	.no_coroutines = true,
};

/* The options of the command line. */
static struct {
	struct ctp_cache_shape shapes[CTP_CACHE_LEVELS];
	unsigned nlevels;
	bool no_caches, own;
	const char *svg; /* null: no picture */
	struct ctp_mem_style style;
} ask;

static void take_cache(void)
{
	struct ctp_err err;
	if (!strcmp(optarg, "none"))
		ask.no_caches = true;
	else if (ask.nlevels == CTP_CACHE_LEVELS)
		exit(ctp_tool_usage(&tool, "--cache %s: there are at most %d levels", optarg, CTP_CACHE_LEVELS));
	else if (ctp_cache_shape_parse(&ask.shapes[ask.nlevels++], optarg, &err))
		exit(ctp_tool_usage(&tool, "--cache %s", err.text));
	if (ask.no_caches && ask.nlevels)
		exit(ctp_tool_usage(&tool, "--cache none: give no other --cache with it"));
}

/* No level may have shorter lines than the one before. */
static void check_lines(void)
{
	for (unsigned i = 1; i < ask.nlevels; i++)
		if (ask.shapes[i].line < ask.shapes[i - 1].line)
			exit(ctp_tool_usage(&tool, "--cache: lines of level %u are shorter than those of level %u: %u bytes, and %u; make them at least as long", i + 1, i,
			                    ask.shapes[i].line, ask.shapes[i - 1].line));
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"cache", required_argument, NULL, CACHE}, {"private", no_argument, NULL, PRIVATE}, {"top", required_argument, NULL, TOP},
		{"debug-info", required_argument, NULL, DEBUG_INFO}, {"svg", required_argument, NULL, SVG},
		{"type", required_argument, NULL, TYPE}, {NULL, 0, NULL, 0},
	};
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "j", longs)) != -1;) {
		if (c == CACHE)
			take_cache();
		else if (c == PRIVATE)
			ask.own = true;
		else if (c == TOP)
			ask.style.top = (uint32_t)ctp_tool_number(&tool, "--top", optarg, 1, UINT32_MAX, "not a number from 1 on");
		else if (c == DEBUG_INFO)
			ask.style.debug_info = optarg;
		else if (c == SVG)
			ask.svg = optarg;
		else if (c == TYPE)
			ask.style.svg_type = optarg;
		else
			ask.style.json = true;
	}
	if (ask.style.svg_type && !ask.svg)
		exit(ctp_tool_usage(&tool, "--type selects what --svg draws; give --svg, too"));
	if (ask.own && ask.no_caches)
		exit(ctp_tool_usage(&tool, "--private needs caches; leave out --cache none"));
	ask.style.all = tool.verbose;
	ask.style.caches_from = "option";
	check_lines();
	if (ask.nlevels || ask.no_caches)
		return;
	ask.style.caches_from = "system";
	if ((ask.nlevels = ctp_machine_caches(ask.shapes, "/sys/devices/system/cpu/cpu0/cache")) ||
	    (ask.nlevels = ctp_libc_caches(ask.shapes)))
		return;
	ask.style.caches_from = "usual";
	ask.nlevels = ctp_usual_caches(ask.shapes);
}

int main(int argc, char **argv)
{
	struct ctp_output out, svg;
	struct ctp_err err;
	ctp_tool_start(&tool);
	parse(argc, argv);
	if (ask.style.debug_info && access(ask.style.debug_info, R_OK)) {
		ctp_err_sys(&err, "--debug-info %s", ask.style.debug_info);
		return ctp_tool_fail(&tool, &err);
	}
	struct ctp_mem *mem = ctp_mem_new(ask.shapes, ask.nlevels, ask.own, &err);
	if (!mem || ctp_output_open(&out, NULL, false, false, &err) ||
	    (ask.svg && ctp_tool_create(&svg, ask.svg, argv + optind, false, false, &err)))
		return ctp_tool_fail(&tool, &err);
	ask.style.svg = ask.svg ? &svg : NULL;
	int code = ctp_tool_to(&tool, argv + optind, ctp_mem_sink(mem, &out, &ask.style, &err), &out, &err);
	ctp_mem_free(mem);
	return code;
}
