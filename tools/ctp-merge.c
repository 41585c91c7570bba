/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-merge - one stream of several, of many processes and hosts. */
#include <getopt.h>

#include "merge/merge.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct ctp_tool tool = {
		.name = "ctp-merge",
		.synopsis = "[-fqv] [-o FILE] [FILE...]",
		.help = "Merges streams of several processes and hosts into one section, in time order.\n"
			"  -o FILE  write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
			"  -f       write to a terminal all the same\n"
			"  -q       print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
		.permutes = true,
	};
	struct ctp_output out;
	struct ctp_err err;
	struct ctp_merge_stats stats;
	ctp_tool_start(&tool);
	while (ctp_tool_option(&tool, argc, argv, "fo:", NULL) != -1)
		;
	char **files = argv + optind;
	if (ctp_tool_look(files, &err) || ctp_tool_create(&out, tool.path, files, true, tool.force, &err))
		return ctp_tool_fail(&tool, &err);
	const struct ctp_notice say = {.say = ctp_tool_say_line, .arg = &tool};
	const struct ctp_tick tick = ctp_tool_tick(&tool);
	enum ctp_status status = ctp_merge(files, &out, tool.quiet ? NULL : &say, &tick, &stats, &err);
	if (status == CTP_FAILED) {
		tool.unread = ctp_output_is_unread(&out);
		ctp_output_abandon(&out);
	} else {
		status = ctp_output_close(&out, &err);
	}
	if (status == CTP_FAILED)
		return ctp_tool_fail_output(&tool, &out, &err);
	if (tool.verbose)
		ctp_tool_say(&tool, "%ju records of %u sections, %ju late", (uintmax_t)stats.records, stats.sections,
		             (uintmax_t)stats.late);
	if (stats.harmed && !tool.quiet)
		ctp_tool_say(&tool, "an input is damaged, cut short or has lost events: ctp-stat says which");
	return stats.harmed ? CTP_EXIT_HARMED : CTP_EXIT_OK;
}
