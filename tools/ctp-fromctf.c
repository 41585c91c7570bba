/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-fromctf - a stream of CTF traces: ctp-toctf's, or any other. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "base/signals.h"
#include "ctf/ctf-read.h"
#include "tool.h"

enum { MEMORY_MIB = 2048 };

static struct ctp_tool tool = {
	.name = "ctp-fromctf",
	.synopsis = "[-fqv] [-o FILE] [--memory MIB] DIR...",
	.help = "Makes a stream of the CTF traces in each DIR, from ctp-toctf, LTTng or other tracers.\n"
	        "  -o FILE       write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
	        "  -f            write to a terminal too\n"
	        "  --memory MIB  give libbabeltrace2 at most this much memory (2048), because it believes every length in a trace\n"
	        "  -q            print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
	.permutes = true,
};

static uint64_t memory_mib = MEMORY_MIB;

/* libbabeltrace2 aborts on some of what a damaged trace can hold, after lines of its own, and crashes on some. */
static void on_abort(int sig)
{
	static const char line[] = "ctp-fromctf: libbabeltrace2 gave up; the trace may be damaged\n";
	ssize_t n = write(STDERR_FILENO, line, sizeof line - 1);
	(void)n, (void)sig;
	_exit(CTP_EXIT_FAILED);
}

static void catch_aborts(void)
{
	static char stack[64 << 10]; /* the other may have overflowed */
	struct sigaction action = {.sa_handler = on_abort, .sa_flags = SA_ONSTACK};
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
	ctp_signals_take(NULL, (const int[]){SIGABRT, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, 0}, &action);
}

/*
 * Of GLib, which comes with libbabeltrace2: the levels at which it cannot or must not go on. An error is that there is no memory; what
 * it calls critical, as is an array of 2^31 elements, would end in wild reads.
 */
enum { GLIB_RECURSION = 1 << 1, GLIB_ERROR = 1 << 2, GLIB_CRITICAL = 1 << 3 };
typedef void glib_handler(const char *domain, int level, const char *text, void *arg);
extern glib_handler *g_log_set_default_handler(glib_handler *handler, void *arg) __attribute__((weak));

static void on_glib(const char *domain, int level, const char *text, void *arg)
{
	(void)domain, (void)arg;
	if (!(level & (GLIB_RECURSION | GLIB_ERROR | GLIB_CRITICAL)))
		return;
	const char *hint = level & GLIB_ERROR ? "; the trace is damaged, or needs more than " : "; the trace is damaged";
	char more[48] = "";
	if (level & GLIB_ERROR)
		snprintf(more, sizeof more, "--memory %llu", (unsigned long long)memory_mib);
	ctp_tool_say(&tool, "libbabeltrace2 gave up: %s%s%s", text, hint, more);
	_exit(CTP_EXIT_FAILED);
}

int main(int argc, char **argv)
{
	enum { MEMORY = 256 };
	static const struct option longs[] = {{"memory", required_argument, NULL, MEMORY}, {0}};
	struct ctp_err err;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fo:", longs)) != -1;)
		if (c == MEMORY)
			memory_mib = ctp_tool_number(&tool, "--memory", optarg, 64, UINT64_C(1) << 40,
			                             "not a number of MiB from 64 on");
	if (optind == argc)
		return ctp_tool_usage(&tool, "name the folder of a trace; see %s -h", tool.name);
	catch_aborts();
	if (g_log_set_default_handler)
		g_log_set_default_handler(on_glib, NULL);
	ctp_limit_memory(memory_mib << 20);
	return ctp_tool_from(&tool, argv + optind, ctp_ctf_source("ctp-fromctf " CTP_VERSION, &err), &err);
}
