/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-collect - runs a command, traced, or attaches to a process, and writes the raw stream. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/signals.h"
#include "collect/attach.h"
#include "collect/collect.h"
#include "tool.h"

static struct ctp_tool tool = {
	.name = "ctp-collect",
	.synopsis = "[--lossless[=MS]] [--bare] [-o FILE] [-t SECONDS] [--sock PATH] [--dialect auto|seqlock|plain] [--memory MIB] [-f] [-q] [-v] "
	            "-l | -p PID [--once] | [-n N] [--ring N] [--shm PATH] [--] COMMAND [ARG...]",
	.help = "Runs COMMAND and records what its coroutines do; or attaches to a process that has a probe, and leaves it as it was.\n"
	        "  -p PID          attach to this process: record its last states, and what happens until it ends or Ctrl-C\n"
	        "  --once          with -p: record only the last states of its coroutines\n"
	        "  -l              list the processes that -p can attach to\n"
	        "  -n N            trace at most N coroutines at a time (65536; at most 2097150)\n"
	        "  --ring N        make room for N events of each thread (1048576); memory is taken as it is used\n"
	        "  --lossless      let a thread wait for room before it loses an event, for 100 ms at most; --lossless=MS: for MS\n"
	        "  --bare          keep no last states where a later -p could find them; a little cheaper\n"
	        "  -o FILE         write to FILE, compressed if it ends in .zst; COMMAND keeps its stdout\n"
	        "  -t SECONDS      end the trace after this time; COMMAND runs on to its own end\n"
	        "  --shm PATH      put the shared memory at PATH, if the program cannot use /proc; it is removed at the end\n"
	        "  --sock PATH     put the socket at PATH, for the same reason\n"
	        "  --dialect NAME  read sequence numbers as seqlock or plain, or find out for each coroutine: auto\n"
	        "  --memory MIB    take at most this much memory because of the program (2048)\n"
	        "  -f              write to a terminal too\n"
	        "  -q              print no closing line, and not that -p has attached or -t has ended the trace\n"
	        "  -v              print more\n"
	        "  -h              print this help\n"
	        "  -V              print the version\n"
	        "SIGUSR1 prints the totals so far.\n"
	        "Exit status: that of COMMAND, 0 for -p; 1 if -l finds no process; 125 if collecting failed; "
	        "126, 127 if COMMAND could not be started.\n",
	.usage_status = 125,
};

enum { LOSSLESS_MS = 100, LOSSLESS_MS_MAX = 16777 }; /* the header has 24 bits for microseconds */

static uint32_t number(const char *option, uint32_t min, uint32_t max)
{
	return (uint32_t)ctp_tool_number(&tool, option, optarg, min, max, NULL);
}

static enum ctp_dialect parse_dialect(const char *text)
{
	static const char *const names[] = {
		[CTP_DIALECT_AUTO] = "auto", [CTP_DIALECT_SEQLOCK] = "seqlock", [CTP_DIALECT_PLAIN] = "plain"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(text, names[i]))
			return (enum ctp_dialect)i;
	exit(ctp_tool_usage(&tool, "--dialect %s: must be auto, seqlock or plain", text));
}

static void list_one(void *arg, const struct ctp_attach *at)
{
	struct ctp_output *out = arg;
	char line[CTP_ATTACH_LINE_MAX];
	if (!out->bytes && out->ptr == out->buf) /* the first line */
		ctp_output_put(out, CTP_ATTACH_HEADING "\n", sizeof(CTP_ATTACH_HEADING));
	ctp_attach_line(at, line);
	ctp_output_put(out, line, strlen(line));
	ctp_output_put(out, "\n", 1);
}

static int list(void)
{
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_output_open(&out, NULL, false, false, &err))
		return ctp_tool_fail(&tool, &err);
	size_t refused, n = ctp_attach_each(list_one, &out, &refused);
	if (ctp_output_close(&out, &err))
		return ctp_tool_fail_output(&tool, &out, &err);
	if (!n)
		ctp_tool_say(&tool, "no process to attach to: no process%s has used a probe (ctp.h); build the program with one",
		             geteuid() ? " of yours" : "");
	if (refused && !tool.quiet)
		ctp_tool_say(&tool, "%zu process%s could not be looked at: run as root to see more", refused, refused == 1 ? "" : "es");
	return n ? CTP_EXIT_OK : CTP_EXIT_FAILED;
}

/* Options that exclude one another. */
static void check(const struct ctp_collect_conf *conf, bool lists)
{
	const char *made = conf->max_stations ? "-n" : conf->ring_events ? "--ring" : conf->shm_path ? "--shm" : NULL;
	if (conf->pid && lists)
		exit(ctp_tool_usage(&tool, "-p and -l exclude each other; use one of them"));
	if ((conf->pid || lists) && conf->argv[0])
		exit(ctp_tool_usage(&tool, "%s: no COMMAND can be run with -%c; leave out one of them", conf->argv[0], lists ? 'l' : 'p'));
	if (conf->pid && made)
		exit(ctp_tool_usage(&tool, "%s is for a COMMAND: the process of -p has its shared memory already; leave it out", made));
	if (conf->once && !conf->pid)
		exit(ctp_tool_usage(&tool, "--once needs -p PID"));
	if (!conf->pid && !lists && !conf->argv[0])
		exit(ctp_tool_usage(&tool, "name a COMMAND to run, or a process with -p; see ctp-collect -h"));
}

static void closing_line(const struct ctp_collect_conf *conf, const struct ctp_collect_result *result)
{
	char line[CTP_COLLECT_LINE_MAX];
	const char *unattached = " (no process attached: does the program use a cTP probe (ctp.h)? Are ulimit -v and -n high enough? "
	                         "In a container, in another PID namespace or setuid it needs --shm and --sock)";
	ctp_collect_line(result, line);
	ctp_tool_say(&tool, "%s%s", line, result->attached || result->broken || conf->pid ? "" : unattached);
}

int main(int argc, char **argv)
{
	enum { SHM = 256, SOCK, DIALECT, RING, LOSSLESS, BARE, ONCE, MEMORY };
	static const struct option longs[] = {
		{"shm", required_argument, NULL, SHM},         {"sock", required_argument, NULL, SOCK},
		{"dialect", required_argument, NULL, DIALECT}, {"ring", required_argument, NULL, RING},
		{"lossless", optional_argument, NULL, LOSSLESS}, {"bare", no_argument, NULL, BARE},
		{"once", no_argument, NULL, ONCE},             {"memory", required_argument, NULL, MEMORY},
		{0},
	};
	struct sigaction pipe;
	sigaction(SIGPIPE, NULL, &pipe);
	ctp_tool_start(&tool);
	sigaction(SIGPIPE, &pipe, NULL); /* for COMMAND; ctp_collect ignores it by itself */

	bool lists = false;
	struct ctp_notice notice = {.say = ctp_tool_say_line, .arg = &tool};
	struct ctp_collect_conf conf = {.wait_us = LOSSLESS_MS * 1000, .warn = &notice};
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "ln:o:p:t:f", longs)) != -1;) {
		switch (c) {
		case 'l': lists = true; break;
		case 'n': conf.max_stations = number("-n", 1, CTP_STATIONS_MAX); break;
		case 'o': conf.output = optarg; break;
		case 'p': conf.pid = (pid_t)number("-p", 1, INT32_MAX); break;
		case 't': conf.limit_ns = ctp_tool_seconds(&tool, optarg, "must be more than 0"); break;
		case 'f': conf.force = true; break;
		case SHM: conf.shm_path = optarg; break;
		case SOCK: conf.sock_path = optarg; break;
		case DIALECT: conf.dialect = parse_dialect(optarg); break;
		case RING: conf.ring_events = number("--ring", 1, 1 << CTP_ANNEX_RING_BITS_MAX); break;
		case LOSSLESS:
			conf.modes |= CTP_MODE_LOSSLESS;
			if (optarg)
				conf.wait_us = number("--lossless", 1, LOSSLESS_MS_MAX) * 1000;
			break;
		case BARE: conf.modes |= CTP_MODE_BARE; break;
		case ONCE: conf.once = true; break;
		case MEMORY: conf.memory_mib = number("--memory", CTP_COLLECT_MIB_MIN, 1 << 30); break;
		}
	}
	conf.argv = argv + optind;
	conf.news = tool.quiet ? NULL : &notice;
	conf.info = tool.verbose ? &notice : NULL;
	check(&conf, lists);
	if (lists)
		return list();

	struct ctp_collect_result result;
	struct ctp_err err;
	if (ctp_collect(&conf, &result, &err)) {
		ctp_tool_fail(&tool, &err);
		return result.status;
	}
	if (!tool.quiet)
		closing_line(&conf, &result);
	if (result.signal) { /* ends as COMMAND did, but without a core file of the collector */
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		ctp_signals_die(result.signal);
	}
	return result.status;
}
