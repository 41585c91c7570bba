/* ctp-fromcacheray - a stream of Cacheray's traces of memory accesses. */
#include <getopt.h>

#include "cacheray/cacheray.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-fromcacheray",
		.synopsis = "[-fqv] [-a 4|8] [-b big|little] [-o FILE] [FILE...]",
		.help = "Makes a stream of traces of memory accesses as Cacheray's runtime writes them, a section of each.\n"
			"  -a 4|8         bytes of an address   -b big|little  byte order; both are else found out\n"
			"  -o FILE        write to FILE, which appears when it is whole; compressed if it ends in .zst\n"
			"  -f             write to a terminal all the same\n"
			"  -q  no notices   -v  a summary on stderr   -V  version   -h  this help\n",
		.permutes = true,
	};
	struct ctp_cacheray_spelling spelling = {0};
	const char *path = NULL;
	bool force = false;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fa:b:o:", NULL)) != -1;) {
		if (c == 'f')
			force = true;
		else if (c == 'o')
			path = optarg;
		else if (c == 'a' && !ctp_cacheray_address(optarg, &spelling))
			return ctp_tool_usage(&tool, "-a %s: an address has 4 or 8 bytes", optarg);
		else if (c == 'b' && !ctp_cacheray_order(optarg, &spelling))
			return ctp_tool_usage(&tool, "-b %s: a byte order is big or little", optarg);
	}
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_tool_create(&out, path, argv + optind, true, force, &err))
		return ctp_tool_fail(&tool, &err);
	return ctp_tool_from(&tool, argv + optind, ctp_cacheray_source("ctp-fromcacheray " CTP_VERSION, spelling, &err), &out, &err);
}
