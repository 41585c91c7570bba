/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-postgres - streams into a PostgreSQL database: a table for each class, and views that answer the first questions. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/signals.h"
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

/*
 * Both ends of a pipe get the signal of a terminal: the stream is read to its end, which comes by itself, or is brought about by time
 * or a second signal. Then there is the last commit. A server that does not answer is not waited for longer than a third signal.
 */
enum { WAIT_S = 5, ANSWER_S = 30 };

static int nothing = -1; /* an input that is at its end */

static void on_signal(int sig)
{
	static const char line[] = "ctp-postgres: ended by a signal while the server did not answer; "
	                           "rows since the last commit may be lost\n";
	static volatile sig_atomic_t told, first;
	int before = errno;
	if (!told)
		first = sig;
	if (told == 1)
		dup2(nothing, STDIN_FILENO);
	if (told == 2) {
		ssize_t n = write(STDERR_FILENO, line, sizeof line - 1);
		(void)n;
		ctp_signals_die(first);
	}
	told += told < 2;
	alarm(told == 1 ? WAIT_S : ANSWER_S);
	errno = before;
}

static void end_on_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: the read begins again, with what is there then */
	if ((nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		ctp_signals_take(NULL, (const int[]){SIGINT, SIGTERM, SIGALRM, 0}, &action);
}

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-postgres",
		.synopsis = "[-qv] [-d CONNINFO] [--table T] [--append [--replace]] [--live] [--bigint] [--symbols] [--debug-dir DIR] [TRACE...]",
		.help = "Loads streams into a PostgreSQL database: each TRACE, or standard input.\n"
			"  -d CONNINFO      connect to this database: its name, \"host=... dbname=...\" or postgresql://... (coro_tracer)\n"
			"  --table T        name the table of events T instead of coro_trace_events; SCHEMA.T: put all tables into that schema\n"
			"  --append         add to what is there, in one transaction; a section that is there already is skipped\n"
			"  --replace        with --append: replace a section that is there and was cut short\n"
			"  --live           commit what comes from standard input every second, and keep a table of what coroutines do now\n"
			"  --bigint         use BIGINT instead of NUMERIC(20,0): loads faster, but refuses a number of 2^63 or more\n"
			"  --symbols        store the file, line and function of each address\n"
			"  --debug-dir DIR  like --symbols, and look for debug information in DIR first; may be repeated\n"
			"  -q               print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	static const struct option longs[] = {{"table", required_argument, NULL, 't'}, {"append", no_argument, NULL, 'a'}, {"replace", no_argument, NULL, 'r'}, {"live", no_argument, NULL, 'l'},
	                                      {"bigint", no_argument, NULL, 'b'}, CTP_SYMBOLOPT_LONGS, {0}};
	struct ctp_symbolopt symbolopt = {0};
	struct ctp_notice notice = {.say = ctp_tool_say_line, .arg = &tool};
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
		} else if (c == 'r') {
			options.replace = true;
		} else if (c == 'l') {
			options.live = true;
		} else if (c == 'b') {
			options.bigint = true;
		} else {
			ctp_symbolopt_take(&symbolopt, &tool, c);
		}
	}
	if (options.replace && !options.append)
		return ctp_tool_usage(&tool, "--replace needs --append");
	options.conninfo = conninfo;
	options.notice = tool.quiet ? NULL : &notice;
	if (options.live && argv[optind])
		return ctp_tool_usage(&tool, "--live reads standard input: leave out the TRACE, or --live");
	if (ctp_tool_look(argv + optind, &err) || !ctp_symbolopt_new(&symbolopt, &symbols, &err))
		return ctp_tool_fail(&tool, &err);
	struct ctp_sink *sink = ctp_postgres_sink(&options, symbols, &err);
	if (options.live) /* from here on there is something that is not to be lost */
		end_on_signals();
	int status = ctp_tool_to(&tool, argv + optind, sink, NULL, &err);
	free(conninfo);
	return status;
}
