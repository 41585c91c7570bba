/* ctp-collect - runs a command, traced, and writes the raw stream. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect.h"
#include "shm.h"
#include "text.h"
#include "tool.h"

static struct ctp_tool tool = {
	.name = "ctp-collect",
	.synopsis = "[-n N] [-o FILE] [-t SECONDS] [--shm PATH] [--sock PATH] [--dialect auto|seqlock|plain] [-f] [-q] [-v] "
	            "[--] COMMAND [ARG...]",
	.help = "  -n N            trace at most N coroutines (65536; at most 2097150)\n"
	        "  -o FILE         write to FILE, compressed if it ends in .zst; COMMAND keeps its stdout\n"
	        "  -t SECONDS      end the trace after this time; COMMAND runs on to its own end\n"
	        "  --shm PATH      shared memory at PATH, where /proc cannot serve; removed at the end\n"
	        "  --sock PATH     socket at PATH, likewise\n"
	        "  --dialect NAME  how seq counts: seqlock, plain, or auto: found out station by station\n"
	        "  -f              write to a terminal all the same\n"
	        "  -q              no closing line, nor one that -t has ended the trace\n"
	        "  -v              say more\n"
	        "  -h              this help\n"
	        "  -V              version\n"
	        "SIGUSR1 prints the totals so far.\n"
	        "Exit status: COMMAND's; 125 collecting failed; 126, 127 COMMAND could not be started.\n",
	.usage_status = 125,
};

static void say(void *arg, const char *text)
{
	(void)arg;
	ctp_tool_say(&tool, "%s", text);
}

static uint32_t parse_stations(const char *text)
{
	uint64_t n;
	if (!ctp_parse_u64(text, text + strlen(text), &n) || n < 1 || n > CTP_STATIONS_MAX)
		exit(ctp_tool_usage(&tool, "-n %s: not a number from 1 to %d", text, CTP_STATIONS_MAX));
	return (uint32_t)n;
}

static uint64_t parse_seconds(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);
	if (end == text || *end || isnan(seconds) || seconds > 1e9)
		exit(ctp_tool_usage(&tool, "-t %s: not a number of seconds", text));
	if (seconds <= 0)
		exit(ctp_tool_usage(&tool, "-t %s: must be more than 0", text));
	uint64_t ns = (uint64_t)(seconds * 1e9);
	return ns ? ns : 1;
}

static enum ctp_dialect parse_dialect(const char *text)
{
	static const char *const names[] = {
		[CTP_DIALECT_AUTO] = "auto", [CTP_DIALECT_SEQLOCK] = "seqlock", [CTP_DIALECT_PLAIN] = "plain"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(text, names[i]))
			return (enum ctp_dialect)i;
	exit(ctp_tool_usage(&tool, "--dialect %s: neither auto nor seqlock nor plain", text));
}

/* As COMMAND did; a second core file would be ours and tell nothing. */
static void die_of(int sig)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, sig);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	signal(sig, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
}

int main(int argc, char **argv)
{
	enum { SHM = 256, SOCK, DIALECT };
	static const struct option longs[] = {{"shm", required_argument, NULL, SHM},
	                                      {"sock", required_argument, NULL, SOCK},
	                                      {"dialect", required_argument, NULL, DIALECT},
	                                      {0}};
	struct sigaction pipe;
	sigaction(SIGPIPE, NULL, &pipe);
	ctp_tool_start(&tool);
	sigaction(SIGPIPE, &pipe, NULL); /* for COMMAND; ctp_collect ignores it by itself */

	struct ctp_notice notice = {.say = say};
	struct ctp_collect_conf conf = {.max_stations = 65536, .warn = &notice};
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "n:o:t:f", longs)) != -1;) {
		switch (c) {
		case 'n': conf.max_stations = parse_stations(optarg); break;
		case 'o': conf.output = optarg; break;
		case 't': conf.limit_ns = parse_seconds(optarg); break;
		case 'f': conf.force = true; break;
		case SHM: conf.shm_path = optarg; break;
		case SOCK: conf.sock_path = optarg; break;
		case DIALECT: conf.dialect = parse_dialect(optarg); break;
		}
	}
	conf.argv = argv + optind;
	conf.news = tool.quiet ? NULL : &notice;
	conf.info = tool.verbose ? &notice : NULL;
	if (!conf.argv[0])
		return ctp_tool_usage(&tool, "no command; see ctp-collect -h");

	struct ctp_collect_result result;
	struct ctp_err err;
	if (ctp_collect(&conf, &result, &err)) {
		ctp_tool_fail(&tool, &err);
		return result.status;
	}
	if (!tool.quiet) {
		char line[CTP_COLLECT_LINE_MAX];
		const char *unattached = " (no process attached: is there a cTP probe (ctp.h) in it? "
		                         "In a container, another PID namespace or setuid: --shm and --sock)";
		ctp_collect_line(&result, line);
		ctp_tool_say(&tool, "%s%s", line, result.attached ? "" : unattached);
	}
	if (result.signal)
		die_of(result.signal);
	return result.status;
}
