/*
 * cacherayopt.h - the options -a, -b, -f and -o, for the mains that read or write Cacheray's traces.
 */
#ifndef CTP_CACHERAYOPT_H
#define CTP_CACHERAYOPT_H

#include <getopt.h>
#include <stdlib.h>

#include "cacheray/cacheray.h"
#include "tool.h"

struct ctp_cacherayopt {
	struct ctp_cacheray_spelling spelling; /* zeros where nothing was said */
	struct ctp_output out;
};

/* Takes all options, and makes the output; the program ends where either fails. Operands are at argv + optind then. */
static inline void ctp_cacherayopt_take(struct ctp_cacherayopt *o, struct ctp_tool *tool, int argc, char **argv)
{
	const char *path = NULL;
	bool force = false;
	struct ctp_err err;
	*o = (struct ctp_cacherayopt){0};
	ctp_tool_start(tool);
	for (int c; (c = ctp_tool_option(tool, argc, argv, "fa:b:o:", NULL)) != -1;) {
		if (c == 'f')
			force = true;
		else if (c == 'o')
			path = optarg;
		else if (c == 'a' && !ctp_cacheray_address(optarg, &o->spelling))
			exit(ctp_tool_usage(tool, "-a %s: an address has 4 or 8 bytes", optarg));
		else if (c == 'b' && !ctp_cacheray_order(optarg, &o->spelling))
			exit(ctp_tool_usage(tool, "-b %s: a byte order is big or little", optarg));
	}
	if (ctp_tool_create(&o->out, path, argv + optind, true, force, &err))
		exit(ctp_tool_fail(tool, &err));
}

#endif
