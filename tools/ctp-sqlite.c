/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
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
		.synopsis = "[-qv] [--append [--replace]] [--symbols] [--debug-dir DIR] -o FILE [TRACE...]",
		.help = "Makes a SQLite database of streams: of each TRACE, or of standard input.\n"
			"  -o FILE          write to this database, which appears when it is complete, and replaces the one that was there\n"
			"  --append         add to FILE if it exists, in one transaction; a section that is there already is skipped\n"
			"  --replace        with --append: replace a section that is there and was cut short\n"
			"  --symbols        store the file, line and function of each address\n"
			"  --debug-dir DIR  like --symbols, and look for debug information in DIR first; may be repeated\n"
			"  -q               print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	static const struct option longs[] = {{"append", no_argument, NULL, 'a'}, {"replace", no_argument, NULL, 'r'}, CTP_SYMBOLOPT_LONGS, {0}};
	struct ctp_symbolopt symbolopt = {0};
	bool append = false, replace = false;
	struct ctp_symbols *symbols;
	struct ctp_output out;
	struct ctp_err err;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "o:", longs)) != -1;) {
		append |= c == 'a';
		replace |= c == 'r';
		ctp_symbolopt_take(&symbolopt, &tool, c);
	}
	const char *path = tool.path;
	char **files = argv + optind;
	if (!path || !strcmp(path, "-"))
		return ctp_tool_usage(&tool, "name the database to write with -o FILE; see ctp-sqlite -h");
	if (replace && !append)
		return ctp_tool_usage(&tool, "--replace needs --append");
	if (!ctp_symbolopt_new(&symbolopt, &symbols, &err))
		return ctp_tool_fail(&tool, &err);
	if (append && !access(path, F_OK))
		return ctp_tool_to(&tool, files, ctp_sqlite_append(path, replace, symbols, &err), NULL, &err);
	if (ctp_tool_create(&out, path, files, true, false, &err))
		return ctp_tool_fail(&tool, &err);
	return ctp_tool_to(&tool, files, ctp_sqlite_sink(&out, symbols, &err), NULL, &err);
}
