/* ctp-fromctf - a stream of CTF traces: ctp-toctf's, or any other. */
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

#include "ctf/ctf-read.h"
#include "tool.h"

/*
 * libbabeltrace2 aborts on some of what a damaged trace can hold, and its GLib traps where there is no memory. It has said
 * which; the rest is as after any other failure.
 */
static void on_abort(int sig)
{
	static const char line[] = "ctp-fromctf: libbabeltrace2 gave up, as it says above; the trace may be damaged\n";
	ssize_t n = write(STDERR_FILENO, line, sizeof line - 1);
	(void)n, (void)sig;
	_exit(CTP_EXIT_FAILED);
}

/* Of GLib, which comes with libbabeltrace2. Beyond what it calls critical, as is an array of 2^31 elements, are wild reads. */
extern int g_log_set_always_fatal(int levels) __attribute__((weak));
enum { GLIB_RECURSION = 1 << 1, GLIB_ERROR = 1 << 2, GLIB_CRITICAL = 1 << 3 };

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-fromctf",
		.synopsis = "[-fqv] [-o FILE] DIR...",
		.help = "Makes a stream of the CTF traces in each DIR, as ctp-toctf, LTTng and others write them.\n"
			"  -o FILE  write to FILE, which appears when it is whole; compressed if it ends in .zst\n"
			"  -f       write to a terminal all the same\n"
			"  -q       no notices   -v  a summary on stderr   -V  version   -h  this help\n",
		.permutes = true,
	};
	const char *path = NULL;
	bool force = false;
	ctp_tool_start(&tool);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fo:", NULL)) != -1;) {
		if (c == 'f')
			force = true;
		else
			path = optarg;
	}
	if (optind == argc)
		return ctp_tool_usage(&tool, "name the folder of a trace; see %s -h", tool.name);
	signal(SIGABRT, on_abort);
	signal(SIGTRAP, on_abort);
	if (g_log_set_always_fatal)
		g_log_set_always_fatal(GLIB_RECURSION | GLIB_ERROR | GLIB_CRITICAL);
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_tool_create(&out, path, argv + optind, true, force, &err))
		return ctp_tool_fail(&tool, &err);
	return ctp_tool_from(&tool, argv + optind, ctp_ctf_source("ctp-fromctf " CTP_VERSION, &err), &out, &err);
}
