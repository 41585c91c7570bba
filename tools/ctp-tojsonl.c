/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-tojsonl - a stream as JSON lines: transitions as coroTracer prints them, or everything with -a. */
#include "jsonl/jsonl.h"
#include "symbolopt.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-tojsonl",
		.synopsis = "[-aqv] [--symbols] [--debug-dir DIR] [-o FILE] [FILE...]",
		.help = "Prints the transitions of a stream as JSON lines, in time order.\n"
			"  -a               print every record, with its type, and what ctp-fromjsonl needs to restore the stream\n"
			"  --symbols        with -a: add the file, line and function of each address\n"
			"  --debug-dir DIR  like --symbols, and look for debug information in DIR first; may be repeated\n"
			"  -o FILE          write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
			"  -q               print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	static const struct option longs[] = {CTP_SYMBOLOPT_LONGS, {0}};
	struct ctp_symbolopt symbolopt = {0};
	bool all = false;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "ao:", longs)) != -1;) {
		all |= c == 'a';
		ctp_symbolopt_take(&symbolopt, &tool, c);
	}
	if (symbolopt.wanted && !all)
		return ctp_tool_usage(&tool, "--symbols: coroTracer's form has no place for symbols; add -a");
	struct ctp_output out;
	struct ctp_symbols *symbols;
	struct ctp_err err;
	if (!ctp_symbolopt_new(&symbolopt, &symbols, &err) ||
	    ctp_tool_create(&out, tool.path, argv + optind, false, false, &err))
		return ctp_tool_fail(&tool, &err);
	return ctp_tool_to(&tool, argv + optind, ctp_jsonl_sink(&out, all, symbols, &err), &out, &err);
}
