/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* tool.c - parsing of options: many of a tool's own, and those that all tools have. */
#include "../tools/tool.c"

#include "tap.h"

enum { LONGS = 100 };

static int option(struct ctp_tool *tool, char *word, const char *shorts, const struct option *longs)
{
	char *argv[] = {(char *)"t", word, NULL};
	optind = 0; /* a new list */
	return ctp_tool_option(tool, 2, argv, shorts, longs);
}

int main(void)
{
	static char words[LONGS][16], letter[] = "-z", quiet[] = "-q";
	static struct option longs[LONGS + 1];
	char shorts[128] = "";
	struct ctp_tool tool = {.name = "t"};
	int known = 0;
	for (int i = 0; i < LONGS; i++) {
		snprintf(words[i], sizeof words[i], "--o%02d", i);
		longs[i] = (struct option){.name = words[i] + 2, .val = 1000 + i};
	}
	for (int i = 0; i < LONGS; i++)
		known += option(&tool, words[i], "", longs) == 1000 + i;
	is_u64((uint64_t)known, LONGS, "each of many long options is known");
	memset(shorts, 'a', 100);
	shorts[100] = 'z';
	is_u64((uint64_t)option(&tool, letter, shorts, NULL), 'z', "the last of many short options is known, without long ones");
	ok(option(&tool, quiet, "", longs) == -1 && tool.quiet, "every tool has -q");
	return done_testing();
}
