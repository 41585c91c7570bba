/* ctp-tocacheray - a stream's memory accesses as a Cacheray trace. */
#include "cacherayopt.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-tocacheray",
		.synopsis = "[-fqv] [-a 4|8] [-b big|little] [-o FILE] [FILE...]",
		.help = "Writes the accesses and types of a stream that ctp-fromcacheray made as a Cacheray trace, byte for byte.\n"
			"  -a 4|8         bytes of an address   -b big|little  byte order; both are else those of the stream\n"
			"  -o FILE        write to FILE, which appears when it is whole; compressed if it ends in .zst\n"
			"  -f             write to a terminal all the same\n"
			"  -q  no notices   -v  a summary on stderr   -V  version   -h  this help\n",
		.permutes = true,
		.no_coroutines = true,
	};
	struct ctp_cacherayopt o;
	struct ctp_err err;
	ctp_cacherayopt_take(&o, &tool, argc, argv);
	return ctp_tool_to(&tool, argv + optind, ctp_cacheray_sink(&o.out, o.spelling, &err), &o.out, &err);
}
