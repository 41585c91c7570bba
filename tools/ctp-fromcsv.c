/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-fromcsv - a stream of comma-separated values: ctp-tocsv's, coroTracer's, or anybody's with a header. */
#include <getopt.h>

#include "csv/csv.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-fromcsv",
		.synopsis = "[-fqv] [--class NAME] [-o FILE] [FILE...]",
		.help = "Makes a stream of comma-separated values from ctp-tocsv, coroTracer or other programs.\n"
			"  --class NAME  make all rows records of this class, whatever the columns are called\n"
			"  -o FILE       write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
			"  -f            write to a terminal too\n"
			"  -q            print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	static const struct option longs[] = {{"class", required_argument, NULL, 'c'}, {0}};
	const char *class_name = NULL;
	struct ctp_err err;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fo:", longs)) != -1;)
		if (c == 'c')
			class_name = optarg;
	return ctp_tool_from(&tool, argv + optind, ctp_csv_source("ctp-fromcsv " CTP_VERSION, class_name, &err), &err);
}
