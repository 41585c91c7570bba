/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * symbolopt.h - the options --symbols and --debug-dir DIR, for the mains that have them.
 */
#ifndef CTP_SYMBOLOPT_H
#define CTP_SYMBOLOPT_H

#include <getopt.h>
#include <stdlib.h>

#include "symbols/symbols.h"
#include "tool.h"

enum { CTP_SYMBOLOPT_SYMBOLS = 256, CTP_SYMBOLOPT_DIR, CTP_SYMBOLOPT_DIRS_MAX = 64 }; /* beyond any letter */

/* For the main's table of long options. */
#define CTP_SYMBOLOPT_LONGS                                            \
	{"symbols", no_argument, NULL, CTP_SYMBOLOPT_SYMBOLS},         \
	{"debug-dir", required_argument, NULL, CTP_SYMBOLOPT_DIR}

/* All zeros: no option was given. */
struct ctp_symbolopt {
	bool wanted;
	size_t ndirs;
	const char *dirs[CTP_SYMBOLOPT_DIRS_MAX];
};

/* Takes the option c if it is one of these. */
static inline bool ctp_symbolopt_take(struct ctp_symbolopt *o, struct ctp_tool *tool, int c)
{
	if (c == CTP_SYMBOLOPT_DIR) {
		if (o->ndirs == CTP_SYMBOLOPT_DIRS_MAX)
			exit(ctp_tool_usage(tool, "--debug-dir %s: too many folders; at most %d can be given", optarg, CTP_SYMBOLOPT_DIRS_MAX));
		o->dirs[o->ndirs++] = optarg;
	}
	bool mine = c == CTP_SYMBOLOPT_SYMBOLS || c == CTP_SYMBOLOPT_DIR;
	o->wanted |= mine;
	return mine;
}

/* False: err. Without the options symbols are null, and the result is true. */
static inline bool ctp_symbolopt_new(const struct ctp_symbolopt *o, struct ctp_symbols **symbols, struct ctp_err *err)
{
	*symbols = o->wanted ? ctp_symbols_new(o->dirs, o->ndirs, err) : NULL;
	return *symbols || !o->wanted;
}

#endif
