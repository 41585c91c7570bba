/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-tocsv - a stream as comma-separated values: transitions as coroTracer exports them, one class, or everything with -a. */
#include "csv/csv.h"
#include "symbolopt.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-tocsv",
		.synopsis = "[-aqv] [--class NAME] [--wall] [--guard] [--symbols] [--debug-dir DIR] [-o FILE] [FILE...]",
		.help = "Prints the transitions of a stream as comma-separated values, in time order.\n"
			"  -a               print every record, with its type, and what ctp-fromcsv needs to restore the stream\n"
			"  --class NAME     print the records of this class instead, with all their fields\n"
			"  --wall           print times as wall-clock time, UTC\n"
			"  --guard          put an apostrophe before a text that a spreadsheet would take for a formula\n"
			"  --symbols        with -a or --class: add the file, line and function of each address\n"
			"  --debug-dir DIR  like --symbols, and look for debug information in DIR first; may be repeated\n"
			"  -o FILE          write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
			"  -q               print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	static const struct option longs[] = {{"class", required_argument, NULL, 'c'}, {"wall", no_argument, NULL, 'w'},
	                                      {"guard", no_argument, NULL, 'g'},
	                                      CTP_SYMBOLOPT_LONGS, {0}};
	struct ctp_symbolopt symbolopt = {0};
	struct ctp_csv_options options = {0};
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "ao:", longs)) != -1;) {
		if (ctp_symbolopt_take(&symbolopt, &tool, c))
			continue;
		if (c == 'a')
			options.all = true;
		else if (c == 'c')
			options.class_name = optarg;
		else if (c == 'w')
			options.wall = true;
		else if (c == 'g')
			options.guard = true;
	}
	if (options.all && options.class_name)
		return ctp_tool_usage(&tool, "-a and --class exclude each other; use one of them");
	if (symbolopt.wanted && !options.all && !options.class_name)
		return ctp_tool_usage(&tool, "--symbols: coroTracer's six columns have no place for symbols; add -a or --class");
	struct ctp_output out;
	struct ctp_err err;
	if (!ctp_symbolopt_new(&symbolopt, &options.symbols, &err) ||
	    ctp_tool_create(&out, tool.path, argv + optind, false, false, &err))
		return ctp_tool_fail(&tool, &err);
	return ctp_tool_to(&tool, argv + optind, ctp_csv_sink(&out, &options, &err), &out, &err);
}
