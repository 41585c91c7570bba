/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-tocacheray - write a stream's memory accesses as a Cacheray trace. */
#include "cacherayopt.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-tocacheray",
		.synopsis = "[-fqv] [-a 4|8] [-b big|little] [-o FILE] [FILE...]",
		.help = "Writes a stream that ctp-fromcacheray made as a Cacheray trace again, byte for byte.\n"
			"  -a 4|8         write addresses with 4 or 8 bytes; by default, as the stream says\n"
			"  -b big|little  write in this byte order; by default, as the stream says\n"
			"  -o FILE        write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
			"  -f             write to a terminal, too\n"
			"  -q  print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
		.no_coroutines = true,
	};
	struct ctp_output out;
	struct ctp_err err;
	struct ctp_cacheray_spelling spelling = ctp_cacherayopt_take(&tool, argc, argv);
	if (ctp_tool_create(&out, tool.path, argv + optind, true, tool.force, &err))
		return ctp_tool_fail(&tool, &err);
	return ctp_tool_to(&tool, argv + optind, ctp_cacheray_sink(&out, spelling, &err), &out, &err);
}
