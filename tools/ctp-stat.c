/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-stat - what is in a stream. */
#include <getopt.h>

#include "stat/stat-print.h"
#include "tool.h"

struct statting {
	struct ctp_tool *tool;
	struct ctp_stat *stat;
	struct ctp_output *text; /* null: for programs */
	struct ctp_tick tick;
	struct ctp_err *err;
};

static enum ctp_status read_one(void *arg, struct ctp_input *in)
{
	struct statting *s = arg;
	if (ctp_stat_read(s->stat, in, &s->tool->notice, &s->tick, s->err))
		return CTP_FAILED;
	if (s->text)
		ctp_stat_print_file(s->text, in);
	return CTP_OK;
}

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-stat",
		.synopsis = "[-jqv] [FILE...]",
		.help = "Prints what is in a stream: sections, events, coroutines, what was lost, and whether it is complete.\n"
			"  -j  print one JSON object on one line\n"
			"  -q  print no notices   -v  no effect   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	bool json = false;
	ctp_tool_start(&tool);
	while (ctp_tool_option(&tool, argc, argv, "j", NULL) != -1)
		json = true;
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_output_open(&out, NULL, false, false, &err))
		return ctp_tool_fail(&tool, &err);
	struct statting s = {&tool, ctp_stat_new(&err), json ? NULL : &out, ctp_tool_tick(&tool), &err};
	if (!s.stat) {
		ctp_output_abandon(&out);
		return ctp_tool_fail(&tool, &err);
	}
	tool.out = &out;
	enum ctp_status status = ctp_tool_each(&tool, argv + optind, read_one, &s, &err);
	if (status == CTP_FAILED) {
		ctp_stat_free(s.stat);
		int code = ctp_tool_fail_output(&tool, &out, &err);
		ctp_output_abandon(&out);
		return code;
	}
	(json ? ctp_stat_print_json : ctp_stat_print_text)(&out, s.stat);
	bool harmed = s.stat->harmed || tool.skipped;
	ctp_stat_free(s.stat);
	if (ctp_output_close(&out, &err))
		return ctp_tool_fail_output(&tool, &out, &err);
	return harmed ? CTP_EXIT_HARMED : CTP_EXIT_OK;
}
