/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacherayopt.h - the options -a, -b, -f and -o, for the mains that read or write Cacheray's traces.
 */
#ifndef CTP_CACHERAYOPT_H
#define CTP_CACHERAYOPT_H

#include <getopt.h>
#include <stdlib.h>

#include "cacheray/cacheray.h"
#include "tool.h"

/* Takes all options; the program ends if one is wrong. Zeros where nothing was said. Operands are at argv + optind then. */
static inline struct ctp_cacheray_spelling ctp_cacherayopt_take(struct ctp_tool *tool, int argc, char **argv)
{
	struct ctp_cacheray_spelling spelling = {0};
	ctp_tool_start(tool);
	for (int c; (c = ctp_tool_option(tool, argc, argv, "fa:b:o:", NULL)) != -1;) {
		if (c == 'a' && !ctp_cacheray_address(optarg, &spelling))
			exit(ctp_tool_usage(tool, "-a %s: an address has 4 or 8 bytes", optarg));
		if (c == 'b' && !ctp_cacheray_order(optarg, &spelling))
			exit(ctp_tool_usage(tool, "-b %s: a byte order is big or little", optarg));
	}
	return spelling;
}

#endif
