/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * reportopt.h - the options --ignore, --ignore-file, --since, --until and --debug-dir, and arguments of others, for the mains that make
 * a report.
 */
#ifndef CTP_REPORTOPT_H
#define CTP_REPORTOPT_H

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/analysis.h"
#include "base/text.h"
#include "common/split.h"
#include "report/report-args.h"
#include "tool.h"

/* Beyond any letter; the main's own begin after the last. */
enum { CTP_REPORTOPT_IGNORE = 256, CTP_REPORTOPT_FILE, CTP_REPORTOPT_SINCE, CTP_REPORTOPT_UNTIL,
       CTP_REPORTOPT_DIR, CTP_REPORTOPT_NO_SYMBOLS, CTP_REPORTOPT_END };

/* For the main's table of long options. */
#define CTP_REPORTOPT_LONGS                                            \
	{"ignore", required_argument, NULL, CTP_REPORTOPT_IGNORE},     \
	{"ignore-file", required_argument, NULL, CTP_REPORTOPT_FILE},  \
	{"since", required_argument, NULL, CTP_REPORTOPT_SINCE},       \
	{"until", required_argument, NULL, CTP_REPORTOPT_UNTIL},       \
	{"debug-dir", required_argument, NULL, CTP_REPORTOPT_DIR},    \
	{"no-symbols", no_argument, NULL, CTP_REPORTOPT_NO_SYMBOLS}

/* For the synopsis and the help of a main that shows a trace. */
#define CTP_REPORTOPT_SYNOPSIS "[--ignore PATTERN] [--ignore-file FILE] [--debug-dir DIR] [--no-symbols]"
#define CTP_REPORTOPT_HELP_TIME                                                                               \
	"  --since TIME       show only what is later than this after the start: 12.5s, 300ms, 2m\n"          \
	"  --until TIME       show only what is earlier\n"
#define CTP_REPORTOPT_HELP                                                                                    \
	"  --ignore PATTERN   leave out findings of this rule, site or \"rule site\"; * and ? as in a shell\n" \
	"  --ignore-file FILE leave out findings that match a line of FILE; # begins a comment\n"             \
	"  --debug-dir DIR    look for debug information in DIR first; may be repeated\n"                     \
	"  --no-symbols       look for none: show addresses as file+offset\n"

/* All zeros: no option was given. */
struct ctp_reportopt {
	struct ctp_texts ignore, debug_dirs;
	uint64_t since_ns, until_ns;
	bool no_symbols;
};

static inline uint64_t ctp_reportopt_time(struct ctp_tool *tool, const char *option)
{
	uint64_t ns;
	if (!ctp_duration_parse(optarg, &ns))
		exit(ctp_tool_usage(tool, "%s %s: is no time such as 12.5s, 300ms or 2m", option, optarg));
	return ns;
}

/* The argument of --folded, or of another option, as it is spelled before the argument. */
static inline enum ctp_state ctp_reportopt_state(struct ctp_tool *tool, const char *option)
{
	static const struct {
		const char *name;
		enum ctp_state state;
	} states[] = {{"running", CTP_RUNNING}, {"runnable", CTP_RUNNABLE}, {"suspended", CTP_SUSPENDED}};
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (!strcmp(optarg, states[i].name))
			return states[i].state;
	exit(ctp_tool_usage(tool, "%s%s: is not running, runnable or suspended", option, optarg));
}

/* The argument of --folded-unit, in nanoseconds. */
static inline uint64_t ctp_reportopt_unit(struct ctp_tool *tool)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	uint64_t ns = 1;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++, ns *= 1000)
		if (!strcmp(optarg, units[i]))
			return ns;
	exit(ctp_tool_usage(tool, "--folded-unit %s: is not ns, us, ms or s", optarg));
}

/* Whether what is printed may have colours. */
static inline bool ctp_reportopt_colour(void)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") && !(no_colour && *no_colour);
}

/* Takes the option c if it is one of these. */
static inline bool ctp_reportopt_take(struct ctp_reportopt *o, struct ctp_tool *tool, int c)
{
	struct ctp_err err;
	enum ctp_status status = CTP_OK;
	if (c == CTP_REPORTOPT_IGNORE)
		status = ctp_texts_add(&o->ignore, optarg, &err);
	else if (c == CTP_REPORTOPT_FILE)
		status = ctp_texts_read(&o->ignore, optarg, &err);
	else if (c == CTP_REPORTOPT_DIR)
		status = ctp_texts_add(&o->debug_dirs, optarg, &err);
	else if (c == CTP_REPORTOPT_SINCE)
		o->since_ns = ctp_reportopt_time(tool, "--since");
	else if (c == CTP_REPORTOPT_UNTIL)
		o->until_ns = ctp_reportopt_time(tool, "--until");
	else if (c == CTP_REPORTOPT_NO_SYMBOLS)
		o->no_symbols = true;
	else
		return false;
	if (status)
		exit(ctp_tool_fail(tool, &err));
	return true;
}

/* What all options say, good until the fini. */
static inline struct ctp_analysis_options ctp_reportopt_done(const struct ctp_reportopt *o, struct ctp_tool *tool)
{
	if (o->until_ns && o->since_ns >= o->until_ns)
		exit(ctp_tool_usage(tool, "--since and --until leave no time between them"));
	return (struct ctp_analysis_options){
		.ignore = (const char *const *)o->ignore.list, .nignore = o->ignore.count,
		.debug_dirs = (const char *const *)o->debug_dirs.list, .ndebug_dirs = o->debug_dirs.count,
		.since_ns = o->since_ns, .until_ns = o->until_ns, .no_symbols = o->no_symbols,
	};
}

/* The status of a report: code, unless the whole trace ends before --since. */
static inline int ctp_reportopt_outside(struct ctp_tool *tool, const struct ctp_report *r, int code)
{
	char since[CTP_TEXT_MAX], longest[CTP_TEXT_MAX];
	if (!r->outside || r->outside < r->sections_seen)
		return code;
	*ctp_text_duration(since, r->since_ns) = *ctp_text_duration(longest, r->longest_ns) = '\0';
	ctp_tool_say(tool, "--since: nothing is as late as %s: the %s ends %s after its start", since,
	             r->sections_seen > 1 ? "longest section" : "trace", longest);
	return CTP_EXIT_FAILED;
}

/* Says how many origins of merged sections are not in the output, if any, and returns the status for that. */
static inline int ctp_reportopt_origins(struct ctp_tool *tool, uint64_t left_out, int code)
{
	if (!left_out)
		return code;
	ctp_tool_say(tool, "%ju origin%s left out: there is room for the first %d of a merged section; ctp-filter --origin N writes the Nth alone",
	             (uintmax_t)left_out, left_out == 1 ? " is" : "s are", CTP_SPLIT_ORIGINS);
	return code == CTP_EXIT_OK ? CTP_EXIT_HARMED : code;
}

/* Names the patterns of --ignore that no finding matched: repaired, or misspelt. One line, unless quiet. */
static inline void ctp_reportopt_unmatched(struct ctp_tool *tool, const struct ctp_report *r)
{
	enum { NAMED = 5 };
	char line[600] = "";
	size_t at = 0, n = 0, len = 0;
	for (const char *pattern; !tool->quiet && (pattern = ctp_report_unmatched(r, &at)); n++)
		if (n < NAMED)
			len += (size_t)snprintf(line + len, sizeof line - len, "%s'%.100s'", n ? ", " : "", pattern);
	if (n > NAMED)
		snprintf(line + len, sizeof line - len, " and %zu more", n - NAMED);
	if (n)
		ctp_tool_say(tool, "--ignore: no finding is like %s", line);
}

static inline void ctp_reportopt_fini(struct ctp_reportopt *o)
{
	ctp_texts_fini(&o->ignore);
	ctp_texts_fini(&o->debug_dirs);
}

#endif
