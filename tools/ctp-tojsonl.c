/* ctp-tojsonl - a stream as JSON lines: transitions as coroTracer prints them, or everything with -a. */
#include <getopt.h>

#include "../formats/jsonl.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-tojsonl",
		.synopsis = "[-aqv] [-o FILE] [FILE...]",
		.help = "Prints the transitions of a stream as JSON lines, in time order.\n"
			"  -a       every record, with its type, and what ctp-fromjsonl needs to restore the stream\n"
			"  -o FILE  write to FILE, which appears when it is whole; compressed if it ends in .zst\n"
			"  -q       no notices   -v  a summary on stderr   -V  version   -h  this help\n",
		.permutes = true,
	};
	const char *path = NULL;
	bool all = false;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "ao:", NULL)) != -1;) {
		if (c == 'a')
			all = true;
		else
			path = optarg;
	}
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_tool_create(&out, path, argv + optind, false, false, &err))
		return ctp_tool_fail(&tool, &err);
	return ctp_tool_to(&tool, argv + optind, ctp_jsonl_sink(&out, all, &err), &out, &err);
}
