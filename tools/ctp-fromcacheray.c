/* ctp-fromcacheray - a stream of Cacheray's traces of memory accesses. */
#include "cacherayopt.h"

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
		.no_coroutines = true,
	};
	struct ctp_cacherayopt o;
	struct ctp_err err;
	ctp_cacherayopt_take(&o, &tool, argc, argv);
	return ctp_tool_from(&tool, argv + optind, ctp_cacheray_source("ctp-fromcacheray " CTP_VERSION, o.spelling, &err), &o.out, &err);
}
