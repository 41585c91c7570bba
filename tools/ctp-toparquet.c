/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-toparquet - a stream as Parquet files, for DuckDB, Spark, Trino, ClickHouse, polars and pandas. */
#include <getopt.h>
#include <string.h>

#include "parquet/parquet.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-toparquet",
		.synopsis = "[-fqv] -o DIR [--partition host|date|host,date] [--class NAME] [--rows N] [FILE...]",
		.help = "Writes a stream as Parquet: a file for each class of records, and one for the sections.\n"
			"  -o DIR            write to this folder; - for standard output, with --class\n"
			"  --partition KEYS  add to a tree of folders in DIR, by host, date, or host,date\n"
			"  --class NAME      write only this class\n"
			"  --rows N          put at most N rows into a row group (1048576)\n"
			"  -f                write to a folder that is not empty, or to a terminal, too\n"
			"  -q                print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	static const struct option longs[] = {{"partition", required_argument, NULL, 'p'}, {"class", required_argument, NULL, 'c'},
	                                      {"rows", required_argument, NULL, 'r'}, {0}};
	struct ctp_parquet_options o = {.group_rows = CTP_PARQUET_GROUP_ROWS, .notice = &tool.notice};
	struct ctp_output out;
	struct ctp_err err;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fo:", longs)) != -1;) {
		if (c == 'c')
			o.class_name = optarg;
		else if (c == 'p' && !ctp_parquet_parse_keys(&o, optarg))
			return ctp_tool_usage(&tool, "--partition %s: must be host, date or host,date", optarg);
		else if (c == 'r')
			o.group_rows = (uint32_t)ctp_tool_number(&tool, "--rows", optarg, 1, CTP_PARQUET_GROUP_ROWS, NULL);
	}
	o.dir = tool.path;
	o.force = tool.force;
	if (!o.dir || !*o.dir)
		return ctp_tool_usage(&tool, "name the folder to write to with -o; see ctp-toparquet -h");
	if (strcmp(o.dir, "-"))
		return ctp_tool_to(&tool, argv + optind, ctp_parquet_sink(&o, &err), NULL, &err);
	if (!o.class_name || o.nkeys)
		return ctp_tool_usage(&tool, "-o -: a pipe takes one class; name it with --class, and leave out --partition");
	if (ctp_output_create(&out, NULL, true, o.force, &err))
		return ctp_tool_fail(&tool, &err);
	o.dir = NULL;
	o.out = &out;
	return ctp_tool_to(&tool, argv + optind, ctp_parquet_sink(&o, &err), &out, &err);
}
