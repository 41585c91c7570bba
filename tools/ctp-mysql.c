/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-mysql - streams into a database of MariaDB or MySQL: a table for each class, and views that answer the first questions. */
#include <stdlib.h>
#include <string.h>

#include "mysql/mysql.h"
#include "symbolopt.h"
#include "tool.h"

static void take(struct ctp_mysql_options *o, struct ctp_tool *tool, int c)
{
	if (c == 'P')
		o->port = (unsigned)ctp_tool_number(tool, "-P", optarg, 1, UINT16_MAX, "not a port; give a number from 1 to 65535");
	else if (c == 'a')
		o->append = true;
	else if (c == 'r')
		o->replace = true;
	else
		*(c == 'h' ? &o->host : c == 't' ? &o->table : c == 'u' ? &o->user : c == 'S' ? &o->socket : &o->database) = optarg;
}

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-mysql",
		.synopsis = "[-qv] [-h HOST] [-P PORT] [-u USER] [-S SOCKET] [-D DATABASE] [--table T] [--append [--replace]] [--symbols] [--debug-dir DIR] [TRACE...]",
		.help = "Loads streams into a database of MariaDB or MySQL: each TRACE, or standard input.\n"
			"  -h HOST          connect to this server; the option files say what -h, -P, -u and -S do not\n"
			"  -P PORT          connect to this port\n"
			"  -u USER          connect as this user; the password is in an option file, or in MYSQL_PWD\n"
			"  -S SOCKET        connect through this socket on this machine\n"
			"  -D DATABASE      load into this database (coro_tracer); it is created if it is missing\n"
			"  --table T        name the table of events T instead of coro_trace_events\n"
			"  --append         add to what is there, in one transaction; a section that is there already is skipped\n"
			"  --replace        with --append: replace a section that is there and was cut short\n"
			"  --symbols        store the file, line and function of each address\n"
			"  --debug-dir DIR  like --symbols, and look for debug information in DIR first; may be repeated\n"
			"  -q               print no notices   -v  print a summary   -V  print the version   --help  print this help\n",
		.permutes = true,
	};
	static const struct option longs[] = {{"table", required_argument, NULL, 't'}, {"append", no_argument, NULL, 'a'}, {"replace", no_argument, NULL, 'r'}, CTP_SYMBOLOPT_LONGS, {0}};
	struct ctp_notice notice = {.say = ctp_tool_say_line, .arg = &tool};
	struct ctp_symbolopt symbolopt = {0};
	struct ctp_mysql_options options = {0};
	struct ctp_symbols *symbols;
	struct ctp_err err;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "h:P:u:S:D:", longs)) != -1;)
		if (!ctp_symbolopt_take(&symbolopt, &tool, c))
			take(&options, &tool, c);
	if (options.replace && !options.append)
		return ctp_tool_usage(&tool, "--replace needs --append");
	options.notice = tool.quiet ? NULL : &notice;
	if (ctp_tool_look(argv + optind, &err) || !ctp_symbolopt_new(&symbolopt, &symbols, &err))
		return ctp_tool_fail(&tool, &err);
	return ctp_tool_to(&tool, argv + optind, ctp_mysql_sink(&options, symbols, &err), NULL, &err);
}
