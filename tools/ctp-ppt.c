/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-ppt - make a stream of the ppt buffers of a process, or of ppt's files, and files of a stream; one command for each. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "ppt/ppt-live.h"
#include "ppt/ppt.h"
#include "tool.h"

struct command {
	const char *name;
	const char *synopsis; /* what follows ctp-ppt in the manual, word for word */
	const char *help;
	int (*run)(struct ctp_tool *tool, int argc, char **argv);
};

#define COMMON_HELP "  -q             print no notices   -v  print a summary   -V  print the version   -h  print this help\n"

static int decode(struct ctp_tool *tool, int argc, char **argv)
{
	static const struct option longs[] = {{"exact", no_argument, NULL, 'e'}, {0}};
	struct ctp_err err;
	bool exact = false;
	for (int c; (c = ctp_tool_option(tool, argc, argv, "fo:", longs)) != -1;)
		exact |= c == 'e';
	return ctp_tool_from(tool, argv + optind, ctp_ppt_source("ctp-ppt " CTP_VERSION, exact, tool->verbose, &err), &err);
}

static int encode(struct ctp_tool *tool, int argc, char **argv)
{
	static const struct option longs[] = {{"buffer", required_argument, NULL, 'b'}, {0}};
	const struct ctp_notice notice = {.say = ctp_tool_say_line, .arg = tool};
	const char *buffer = NULL;
	bool whole = false;
	for (int c; (c = ctp_tool_option(tool, argc, argv, "fo:", longs)) != -1;)
		if (c == 'b')
			buffer = optarg;
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_tool_create(&out, tool->path, argv + optind, true, tool->force, &err))
		return ctp_tool_fail(tool, &err);
	struct ctp_sink *sink = ctp_ppt_sink(&out, buffer, tool->quiet ? NULL : &notice, tool->verbose, &whole, &err);
	int code = ctp_tool_to(tool, argv + optind, sink, &out, &err);
	return code == CTP_EXIT_HARMED && whole ? CTP_EXIT_OK : code;
}

/* --- of a process -------------------------------------------------------------------------------------------------------- */

/* The operands of a command whose first one is PID: at least `least`, at most `most`. */
static pid_t parse_operands(struct ctp_tool *tool, int argc, char **argv, int least, int most)
{
	int n = argc - optind;
	if (n < least)
		exit(ctp_tool_usage(tool, n ? "name a buffer, too; ctp-ppt list %s shows them" : "name a process by its id; ctp-ppt list shows those with buffers", n ? argv[optind] : ""));
	if (n > most)
		exit(ctp_tool_usage(tool, "%s: one operand too many", argv[optind + most]));
	return (pid_t)ctp_tool_number(tool, "PID", argv[optind], 1, INT32_MAX, NULL);
}

static enum ctp_status show_all(struct ctp_tool *tool, struct ctp_output *out, const struct ctp_notice *notice, struct ctp_err *err)
{
	uint64_t denied;
	enum ctp_status status = ctp_ppt_show_all(out, &denied, notice, err);
	if (denied && !tool->quiet)
		ctp_tool_say(tool, "%" PRIu64 " process%s could not be read, and may have buffers%s", denied, denied == 1 ? "" : "es",
		             geteuid() ? "; run this as root to read more" : "");
	return status;
}

/* pid 0: all processes. */
static int show(struct ctp_tool *tool, pid_t pid, char *buffer)
{
	struct ctp_notice notice = {.say = ctp_tool_say_line, .arg = tool};
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_output_open(&out, NULL, false, false, &err))
		return ctp_tool_fail(tool, &err);
	const struct ctp_notice *verbose = tool->verbose ? &notice : NULL;
	enum ctp_status status = !pid   ? show_all(tool, &out, verbose, &err) :
	                         buffer ? ctp_ppt_show_buffer(&out, pid, buffer, verbose, &err) :
	                                  ctp_ppt_show_list(&out, pid, verbose, &err);
	if (status) {
		ctp_output_abandon(&out);
		return ctp_tool_fail(tool, &err);
	}
	return ctp_output_close(&out, &err) ? ctp_tool_fail_output(tool, &out, &err) : CTP_EXIT_OK;
}

static int list(struct ctp_tool *tool, int argc, char **argv)
{
	ctp_tool_option(tool, argc, argv, "", NULL);
	return show(tool, argv[optind] ? parse_operands(tool, argc, argv, 1, 1) : 0, NULL);
}

static int describe(struct ctp_tool *tool, int argc, char **argv)
{
	ctp_tool_option(tool, argc, argv, "", NULL);
	pid_t pid = parse_operands(tool, argc, argv, 2, 2);
	return show(tool, pid, argv[optind + 1]);
}

/* ": 3 overwritten, 1 half-written"; counts of 0 are left out. */
static void put_losses(char *text, size_t room, const struct ctp_ppt_counts *r)
{
	const struct { uint64_t n; const char *what; } kinds[] = {
		{r->overrun, "overwritten"}, {r->torn, "half-written"}, {r->wrong, "with an impossible number or type"},
		{r->unkept, "not written"}, {r->lost - r->overrun - r->torn - r->wrong - r->unkept, "never seen"},
	};
	size_t len = 0;
	text[0] = '\0';
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].n)
			len += (size_t)snprintf(text + len, room - len, "%s %" PRIu64 " %s", len ? "," : ":", kinds[i].n, kinds[i].what);
}

/* The line of one buffer; or, if name is NULL, of all of them, with advice, and how the program ended, if that is known. */
static void say_tally(struct ctp_tool *tool, const char *name, const struct ctp_ppt_counts *c, const char *fate)
{
	char losses[256], doubt[96] = "";
	put_losses(losses, sizeof losses, c);
	if (c->unverified)
		snprintf(doubt, sizeof doubt, ", %" PRIu64 " unverified: a child of the process may have saved them", c->unverified);
	ctp_tool_say(tool, "%s%s%" PRIu64 " frames, %" PRIu64 " lost%s%s%s%s%s%s", name ? name : "", name ? ": " : "", c->frames, c->lost, losses, doubt,
	             c->late ? "; frames before the first one are not known" : "",
	             !name && (c->overrun || c->late) ? "; give more slots with -n" : "", *fate ? "; " : "", fate);
}

static int closing(struct ctp_tool *tool, const struct ctp_ppt_live_result *r, const char *fate)
{
	bool harmed = r->all.lost || r->all.unverified || r->partial, said = !tool->quiet && (tool->verbose || harmed || *fate);
	for (size_t i = 0; said && r->nparts > 1 && i < r->nparts; i++)
		say_tally(tool, r->part[i].name, &r->part[i].counts, "");
	if (said)
		say_tally(tool, NULL, &r->all, fate);
	return harmed ? CTP_EXIT_HARMED : CTP_EXIT_OK;
}

static void show_frames(void *arg, struct ctp_ppt_counts by_now)
{
	struct ctp_tool *tool = arg;
	ctp_tool_progress(tool, "%" PRIu64 " frames, %" PRIu64 " lost, %.0f s", by_now.frames, by_now.lost,
	                  (double)(ctp_clock_ns() - tool->started_ns) / 1e9);
}

/* The program after "--", whose arguments must not be taken for our options; NULL if there is none. */
static char **split_command(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++)
		if (!strcmp(argv[i], "--")) {
			argv[i] = NULL;
			*argc = i;
			return argv + i + 1;
		}
	return NULL;
}

/* Traces, and prints the result. */
static int trace(struct ctp_tool *tool, const struct ctp_ppt_live_conf *conf)
{
	struct ctp_ppt_live_result result;
	struct ctp_err err;
	char fate[CTP_PPT_FATE_BYTES] = "";
	enum ctp_status status = ctp_ppt_live(conf, &result, &err);
	ctp_tool_progress(tool, NULL);
	if (conf->argv)
		ctp_ppt_launch_fate(conf->pid, fate);
	size_t len = status ? strlen(err.text) : 0;
	if (status && *fate)
		snprintf(err.text + len, sizeof err.text - len, "; %s", fate);
	int code = status ? ctp_tool_fail_output(tool, &(struct ctp_output){.epipe = result.unread}, &err) : CTP_EXIT_OK;
	if (!status || (tool->verbose && (result.all.frames || result.all.lost))) {
		int harm = closing(tool, &result, status ? "" : fate);
		code = status ? code : harm;
	}
	free(result.part);
	return code;
}

/*
 * Refuses a terminal, or a file that cannot be created, before the program runs for nothing. A FIFO is not opened: its reader would take
 * our closing it for the end.
 */
static enum ctp_status try_output(const struct ctp_ppt_live_conf *conf, struct ctp_err *err)
{
	struct ctp_output out;
	struct stat st;
	const char *path = conf->output;
	if (path && strcmp(path, "-") && (strstr(path, "%b") || (!stat(path, &st) && !S_ISREG(st.st_mode))))
		return CTP_OK;
	if (ctp_output_open(&out, path, true, conf->to_terminal, err))
		return CTP_FAILED;
	ctp_output_abandon(&out);
	return CTP_OK;
}

static int attach(struct ctp_tool *tool, int argc, char **argv)
{
	enum { FORCE = 256, EXACT, MEMORY };
	static const struct option longs[] = {{"exact", no_argument, NULL, EXACT}, {"force", no_argument, NULL, FORCE},
	                                      {"memory", required_argument, NULL, MEMORY}, {0}};
	struct ctp_notice notice = {.say = ctp_tool_say_line, .arg = tool};
	struct ctp_ppt_live_conf conf = {.tool = "ctp-ppt " CTP_VERSION, .tick = show_frames, .arg = tool,
	                                 .argv = split_command(&argc, argv)};
	struct ctp_err err;
	for (int c; (c = ctp_tool_option(tool, argc, argv, "c:fn:o:t:", longs)) != -1;) {
		switch (c) {
		case 'c':
			if (ctp_ppt_counters_parse(&conf.counters, optarg, &err))
				return ctp_tool_usage(tool, "%s", err.text);
			break;
		case 'f': conf.to_terminal = true; break;
		case 'n': conf.slots = (uint32_t)ctp_tool_number(tool, "-n", optarg, 1, 1 << 28, NULL); break;
		case 'o': conf.output = optarg; break;
		case 't': conf.limit_ns = ctp_tool_seconds(tool, optarg, "not a number of seconds"); break;
		case EXACT: conf.exact = true; break;
		case MEMORY: conf.memory_mib = (uint32_t)ctp_tool_number(tool, "--memory", optarg, 1, 1 << 24, NULL); break;
		case FORCE: conf.force = true; break;
		}
	}
	if (conf.argv && !conf.argv[0])
		return ctp_tool_usage(tool, "name a program after --");
	if (!conf.argv)
		conf.pid = parse_operands(tool, argc, argv, 1, INT32_MAX);
	conf.buffers = argv + optind + !conf.argv;
	conf.notice = tool->quiet ? NULL : &notice;
	for (char *const *other = conf.buffers; *other && (!conf.output || !strstr(conf.output, "%b")); other++)
		if (strcmp(*other, conf.buffers[0]))
			return ctp_tool_usage(tool, "%s, %s: each buffer needs a file of its own; write %%b in the name after -o", conf.buffers[0], *other);
	if (ctp_ppt_counters_try(&conf.counters, &err) || (conf.argv && (try_output(&conf, &err) || ctp_ppt_launch(&conf, &err))))
		return ctp_tool_fail(tool, &err);
	return trace(tool, &conf);
}

static const struct command commands[] = {
	{
		.name = "list",
		.synopsis = "list [-qv] [PID]",
		.help = "Shows the buffers of a process, with their state, frames and file; without PID, the buffers of all processes.\n",
		.run = list,
	},
	{
		.name = "describe",
		.synopsis = "describe [-qv] PID BUFFER",
		.help = "Shows the clock, tags, frames and members of a buffer, and the classes and columns that they become.\n",
		.run = describe,
	},
	{
		.name = "attach",
		.synopsis = "attach [-fqv] [-n SLOTS] [-c COUNTER,...] [-t SECONDS] [--exact] [--memory MIB] [--force] [-o FILE] PID [BUFFER...]",
		.help = "Writes what a process saves to its buffers as a stream, until it ends or Ctrl-C; leaves it as it was.\n"
			"  -n SLOTS       make room for this many frames in the ring of each buffer\n"
			"  -c COUNTER,... count these in members that are counters: cycles, instructions, page-faults ... (at most 3)\n"
			"  -t SECONDS     end the trace after this time; by default, fail if no frame comes within 10 seconds\n"
			"  --exact        add the columns that only encode needs, for a file as ppt would write it\n"
			"  --memory MIB   use at most this much memory for the rings of all buffers together (2048)\n"
			"  --force        attach even if another program is attached\n"
			"  -o FILE        write to FILE; compress it if it ends in .zst; %b stands for the name of the buffer,\n"
			"                 and is needed for more than one buffer, because each has a file\n"
			"  -f             write to a terminal, too\n"
			"  With [BUFFER...] -- PROGRAM [ARGUMENT...] instead of PID, starts a program and attaches to it until it ends.\n",
		.run = attach,
	},
	{
		.name = "decode",
		.synopsis = "decode [-fqv] [--exact] [-o FILE] [FILE...]",
		.help = "Makes a stream of PPT1 files, which ppt writes.\n"
			"  --exact        add the columns that only encode needs, for the same file byte for byte\n"
			"  -o FILE        write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
			"  -f             write to a terminal, too\n",
		.run = decode,
	},
	{
		.name = "encode",
		.synopsis = "encode [-fqv] [--buffer NAME] [-o FILE] [FILE...]",
		.help = "Makes a PPT1 file of a stream from decode or attach.\n"
			"  --buffer NAME  write this buffer, if the stream has several; FILE:NAME if two have the same name\n"
			"  -o FILE        write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
			"  -f             write to a terminal, too\n",
		.run = encode,
	},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* The help of all commands. It is needed until the end. */
static char *whole_help(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	if (!f)
		return NULL;
	fputs("Makes a stream of the frames of ppt, from a process or from files, and files from a stream.\n", f);
	for (int i = 0; i < COMMANDS; i++)
		fprintf(f, "\nctp-ppt %s\n%s", commands[i].synopsis, commands[i].help);
	fputs("\nAll commands:\n" COMMON_HELP, f);
	return fclose(f) ? NULL : text;
}

static int run(const struct command *cmd, struct ctp_tool *tool, int argc, char **argv)
{
	char *help = NULL;
	if (asprintf(&help, "%s" COMMON_HELP, cmd->help) < 0)
		return ctp_tool_fail(tool, &(struct ctp_err){.text = "out of memory"});
	tool->synopsis = cmd->synopsis;
	tool->help = help;
	tool->permutes = true;
	optind = 0; /* getopt begins anew */
	int status = cmd->run(tool, argc, argv);
	free(help);
	return status;
}

int main(int argc, char **argv)
{
	char *help = whole_help();
	struct ctp_tool tool = {
		.name = "ctp-ppt",
		.synopsis = "COMMAND [OPTION...] [OPERAND...]",
		.help = help ? help : "",
		.counts_itself = true,
	};
	ctp_tool_start(&tool);
	while (ctp_tool_option(&tool, argc, argv, "", NULL) != -1)
		;
	const char *name = argv[optind];
	int status = -1;
	for (int i = 0; name && i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			status = run(&commands[i], &tool, argc - optind, argv + optind);
	if (status < 0)
		status = name ? ctp_tool_usage(&tool, "%s: no such command; see ctp-ppt -h", name) :
		                ctp_tool_usage(&tool, "name a command, such as attach; see ctp-ppt -h");
	free(help);
	return status;
}
