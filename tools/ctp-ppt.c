/* ctp-ppt - ppt's files to a stream and back; a command for each way. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppt/ppt.h"
#include "tool.h"

struct command {
	const char *name;
	const char *synopsis; /* what follows ctp-ppt in the manual, word for word */
	const char *help;
	int (*run)(struct ctp_tool *tool, int argc, char **argv);
};

#define COMMON_HELP "  -q             no notices   -v  a summary on stderr   -V  version   -h  this help\n"

static int decode(struct ctp_tool *tool, int argc, char **argv)
{
	const char *path = NULL;
	bool force = false;
	for (int c; (c = ctp_tool_option(tool, argc, argv, "fo:", NULL)) != -1;) {
		if (c == 'f')
			force = true;
		else
			path = optarg;
	}
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_tool_create(&out, path, argv + optind, true, force, &err))
		return ctp_tool_fail(tool, &err);
	return ctp_tool_from(tool, argv + optind, ctp_ppt_source("ctp-ppt " CTP_VERSION, &err), &out, &err);
}

static int encode(struct ctp_tool *tool, int argc, char **argv)
{
	static const struct option longs[] = {{"buffer", required_argument, NULL, 'b'}, {0}};
	const char *path = NULL, *buffer = NULL;
	bool force = false;
	for (int c; (c = ctp_tool_option(tool, argc, argv, "fo:", longs)) != -1;) {
		if (c == 'f')
			force = true;
		else
			*(c == 'b' ? &buffer : &path) = optarg;
	}
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_tool_create(&out, path, argv + optind, true, force, &err))
		return ctp_tool_fail(tool, &err);
	return ctp_tool_to(tool, argv + optind, ctp_ppt_sink(&out, buffer, &err), &out, &err);
}

static const struct command commands[] = {
	{
		.name = "decode",
		.synopsis = "decode [-fqv] [-o FILE] [FILE...]",
		.help = "Makes a stream of PPT1 files, as ppt saves them.\n"
			"  -o FILE        write to FILE, which appears when it is whole; compressed if it ends in .zst\n"
			"  -f             write to a terminal all the same\n",
		.run = decode,
	},
	{
		.name = "encode",
		.synopsis = "encode [-fqv] [--buffer NAME] [-o FILE] [FILE...]",
		.help = "Makes a PPT1 file of a stream that was decoded or taken from a process.\n"
			"  --buffer NAME  of several buffers in the stream, this one\n"
			"  -o FILE        write to FILE, which appears when it is whole; compressed if it ends in .zst\n"
			"  -f             write to a terminal all the same\n",
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
	fputs("Makes a raw stream of the frames of ppt, and files of them again.\n", f);
	for (int i = 0; i < COMMANDS; i++)
		fprintf(f, "\nctp-ppt %s\n%s", commands[i].synopsis, commands[i].help);
	fputs("\nOf all commands:\n" COMMON_HELP, f);
	return fclose(f) ? NULL : text;
}

static int run(const struct command *cmd, struct ctp_tool *tool, int argc, char **argv)
{
	char *help = NULL;
	if (asprintf(&help, "%s" COMMON_HELP, cmd->help) < 0)
		return ctp_tool_fail(tool, &(struct ctp_err){"out of memory"});
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
		                ctp_tool_usage(&tool, "name a command, such as decode; see ctp-ppt -h");
	free(help);
	return status;
}
