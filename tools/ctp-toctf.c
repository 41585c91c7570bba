/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-toctf - a stream as CTF, for babeltrace2, Trace Compass and the like. */
#include <getopt.h>
#include <string.h>

#include "ctf/ctf.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-toctf",
		.synopsis = "[-fqv] -o DIR [FILE...]",
		.help = "Writes a stream as CTF 1.8, for babeltrace2 and Trace Compass.\n"
			"  -o DIR   make this folder; it appears when it is complete\n"
			"  -f       replace DIR if it is a trace that ctp-toctf wrote\n"
			"  -q       print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	struct ctp_err err;
	ctp_tool_start(&tool);
	while (ctp_tool_option(&tool, argc, argv, "fo:", NULL) != -1)
		;
	if (!tool.path || !strcmp(tool.path, "-"))
		return ctp_tool_usage(&tool, "a trace is a folder; name one with -o");
	return ctp_tool_to(&tool, argv + optind, ctp_ctf_sink(tool.path, tool.force, &err), NULL, &err);
}
