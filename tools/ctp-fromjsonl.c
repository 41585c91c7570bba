/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-fromjsonl - a stream of JSON lines: ctp-tojsonl's, or coroTracer's own. */
#include <getopt.h>

#include "jsonl/jsonl.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-fromjsonl",
		.synopsis = "[-fqv] [-o FILE] [FILE...]",
		.help = "Makes a stream of JSON lines from ctp-tojsonl, coroTracer or other programs.\n"
			"  -o FILE  write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
			"  -f       write to a terminal too\n"
			"  -q       print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	struct ctp_err err;
	ctp_tool_start(&tool);
	while (ctp_tool_option(&tool, argc, argv, "fo:", NULL) != -1)
		;
	return ctp_tool_from(&tool, argv + optind, ctp_jsonl_source("ctp-fromjsonl " CTP_VERSION, &err), &err);
}
