/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-fromcacheray - make a stream of Cacheray's traces of memory accesses. */
#include "cacherayopt.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-fromcacheray",
		.synopsis = "[-fqv] [-a 4|8] [-b big|little] [-o FILE] [FILE...]",
		.help = "Makes a stream of Cacheray's traces of memory accesses, with a section for each trace.\n"
			"  -a 4|8         take addresses to have 4 or 8 bytes; by default, find it out\n"
			"  -b big|little  take this as the byte order; by default, find it out\n"
			"  -o FILE        write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
			"  -f             write to a terminal, too\n"
			"  -q  print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
		.no_coroutines = true,
	};
	struct ctp_err err;
	struct ctp_cacheray_spelling spelling = ctp_cacherayopt_take(&tool, argc, argv);
	return ctp_tool_from(&tool, argv + optind, ctp_cacheray_source("ctp-fromcacheray " CTP_VERSION, spelling, &err), &err);
}
