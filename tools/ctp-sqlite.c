/* ctp-sqlite - streams as a SQLite database: a table for each class, and views that answer the first questions. */
#include <string.h>
#include <unistd.h>

#include "sqlite/sqlite.h"
#include "symbolopt.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-sqlite",
		.synopsis = "[-qv] [--append] [--symbols] [--debug-dir DIR] -o FILE [TRACE...]",
		.help = "Makes a SQLite database of raw streams: each TRACE, or standard input.\n"
			"  -o FILE          the database; it appears when it is whole, and replaces what was there\n"
			"  --append         if there is a FILE, add to it, in one transaction\n"
			"  --symbols        with what each address is: its file, line and function\n"
			"  --debug-dir DIR  the same, with debug information from DIR, or from the next one given so\n"
			"  -q               no notices   -v  a summary on stderr   -V  version   -h  this help\n",
		.permutes = true,
	};
	static const struct option longs[] = {{"append", no_argument, NULL, 'a'}, CTP_SYMBOLOPT_LONGS, {0}};
	struct ctp_symbolopt symbolopt = {0};
	const char *path = NULL;
	bool append = false;
	struct ctp_symbols *symbols;
	struct ctp_output out;
	struct ctp_err err;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "o:", longs)) != -1;) {
		if (c == 'o')
			path = optarg;
		else if (!ctp_symbolopt_take(&symbolopt, &tool, c))
			append = true;
	}
	char **files = argv + optind;
	if (!path || !strcmp(path, "-"))
		return ctp_tool_usage(&tool, "-o FILE: a database needs a file; see ctp-sqlite -h");
	if (!ctp_symbolopt_new(&symbolopt, &symbols, &err))
		return ctp_tool_fail(&tool, &err);
	if (append && !access(path, F_OK))
		return ctp_tool_to(&tool, files, ctp_sqlite_append(path, symbols, &err), NULL, &err);
	if (ctp_tool_create(&out, path, files, true, false, &err))
		return ctp_tool_fail(&tool, &err);
	return ctp_tool_to(&tool, files, ctp_sqlite_sink(&out, symbols, &err), NULL, &err);
}
