/* ctp-postgres - streams into a PostgreSQL database: a table for each class, and views that answer the first questions. */
#include <stdlib.h>
#include <string.h>

#include "postgres/postgres.h"
#include "symbolopt.h"
#include "tool.h"

/* A copy of an argument that may hold a password, which is blotted out where ps(1) shows it. */
static char *take_secret(char *arg)
{
	char *copy = strdup(arg);
	if (copy && (strchr(arg, '=') || strstr(arg, "://")))
		memset(arg, 'x', strlen(arg));
	return copy;
}

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-postgres",
		.synopsis = "[-qv] [-d CONNINFO] [--table T] [--append] [--bigint] [--symbols] [--debug-dir DIR] [TRACE...]",
		.help = "Loads raw streams into a PostgreSQL database: each TRACE, or standard input.\n"
			"  -d CONNINFO      the database: its name, \"host=... dbname=...\" or postgresql://...; coro_tracer if none is named\n"
			"  --table T        the name of the events' table in place of coro_trace_events; SCHEMA.T: all goes into that schema\n"
			"  --append         add to what is there, in one transaction\n"
			"  --bigint         BIGINT in place of NUMERIC(20,0): smaller and quicker; a number of 2^63 or more is refused\n"
			"  --symbols        with what each address is: its file, line and function\n"
			"  --debug-dir DIR  the same, with debug information from DIR, or from the next one given so\n"
			"  -q               no notices   -v  a summary on stderr   -V  version   -h  this help\n",
		.permutes = true,
	};
	static const struct option longs[] = {{"table", required_argument, NULL, 't'}, {"append", no_argument, NULL, 'a'}, {"bigint", no_argument, NULL, 'b'}, CTP_SYMBOLOPT_LONGS, {0}};
	struct ctp_symbolopt symbolopt = {0};
	struct ctp_postgres_options options = {0};
	struct ctp_symbols *symbols;
	struct ctp_err err;
	char *conninfo = NULL;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "d:", longs)) != -1;) {
		if (c == 'd') {
			free(conninfo);
			conninfo = take_secret(optarg);
		} else if (c == 't') {
			options.table = optarg;
		} else if (c == 'a') {
			options.append = true;
		} else if (c == 'b') {
			options.bigint = true;
		} else {
			ctp_symbolopt_take(&symbolopt, &tool, c);
		}
	}
	options.conninfo = conninfo;
	if (!ctp_symbolopt_new(&symbolopt, &symbols, &err))
		return ctp_tool_fail(&tool, &err);
	int status = ctp_tool_to(&tool, argv + optind, ctp_postgres_sink(&options, symbols, &err), NULL, &err);
	free(conninfo);
	return status;
}
