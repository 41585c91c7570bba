/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-filter - a part of a stream, as a stream. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/text.h"
#include "filter/filter-finding.h"
#include "filter/filter-last.h"
#include "filter/filter.h"
#include "report/report-args.h"
#include "tool.h"

enum { CORO = 256, DESCENDANTS, SPAWN, NAME, PROCESS, SINCE, UNTIL, LAST, PLACE, THREAD, CLASS, STATE, FINDING, AROUND, SECTION,
       ORIGIN, ANONYMISE, DIR, NO_SYMBOLS, NUMBERS_MAX = 1 << 16 };

static struct ctp_tool tool = {
	.name = "ctp-filter",
	.synopsis = "[-fqv] [-o FILE] [--coro ID] [--spawn SITE] [--name PATTERN] [--process PID] [--descendants] "
	            "[--since TIME] [--until TIME] [--last TIME] [--place SITE] [--thread TID] [--class NAME] "
	            "[--state running|suspended] [--finding N] [--around TIME] [--section N] [--origin N] [--anonymise] [--debug-dir DIR] [--no-symbols] [FILE...]",
	.help = "Writes a part of a stream, which is a stream again, with all that the part needs to be understood.\n"
	        "These select coroutines; if several are given, a coroutine must match each of them:\n"
	        "  --coro ID          those with these numbers: 5 or 5,7,9; may be repeated, as each of these\n"
	        "  --spawn SITE       those that were spawned there: server.cpp:212, or the function; * and ? as in a shell\n"
	        "  --name PATTERN     those with such a name, from then on\n"
	        "  --process PID      those of these processes\n"
	        "  --descendants      also all that descend from the selected ones\n"
	        "These select records; if several are given, a record must match each of them:\n"
	        "  --since TIME       what happened from this time on, after the first event: 12.5s, 300ms, 2m\n"
	        "  --until TIME       what happened up to this time\n"
	        "  --last TIME        what happened in this time before the last record; reads the files twice\n"
	        "  --place SITE       what happened while a coroutine was suspended there\n"
	        "  --thread TID       what happened on these threads\n"
	        "  --class NAME       records of these classes; * and ? as in a shell\n"
	        "  --state STATE      of all transitions, those to this state: running or suspended\n"
	        "  --section N        the Nth section alone\n"
	        "  --origin N         of a merged section, only what is from the Nth origin\n"
	        "  --finding N        the coroutines of the Nth finding of ctp-report, and the finding; reads the files twice\n"
	        "  --around TIME      with --finding: only the time of the finding, and so much before and after it\n"
	        "  --anonymise        put numbers in place of names, paths, hosts and arguments, and say what is still there\n"
	        "  --debug-dir DIR    look for debug information in DIR first, for sites; may be repeated\n"
	        "  --no-symbols       look for none: sites without a line are file+offset\n"
	        "  -o FILE            write to FILE, which appears when it is complete; compress it if it ends in .zst\n"
	        "  -f                 write to a terminal too\n"
	        "  -q  print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
	.permutes = true,
};

struct numbers {
	uint64_t *list;
	size_t n, room;
};

/* What the command line asks for. */
static struct {
	struct ctp_filter_options options;
	struct numbers coros, processes, threads;
	struct ctp_texts spawns, names, places, classes, dirs;
	uint64_t finding, around_ns, last_ns;
	bool has_around;
	struct ctp_filter_report *report; /* of the whole trace; null: none is needed */
	struct ctp_filter_finding found;
	struct ctp_filter_last last;
	char *said; /* the options so far, for the attribute */
} ask;

/* --- options -------------------------------------------------------------------------------------------------------------- */

static _Noreturn void no_memory(void)
{
	ctp_tool_say(&tool, "out of memory");
	exit(CTP_EXIT_FAILED);
}

/* secret: the argument is no business of those who get an anonymised trace. */
static void say(const char *option, const char *argument, bool secret)
{
	char *text;
	if (secret && ask.options.anonymise)
		argument = "...";
	if (asprintf(&text, "%s%s%s%s%s", ask.said ? ask.said : "", ask.said ? " " : "", option, *argument ? " " : "", argument) < 0)
		no_memory();
	free(ask.said);
	ask.said = text;
}

/* 5 or 5,7,9. */
static void add_numbers(struct numbers *to, const char *option, const char *given)
{
	char *copy = strdup(given), *text = copy;
	if (!copy)
		no_memory();
	for (char *word; (word = strsep(&text, ","));) {
		uint64_t n;
		if (!ctp_parse_u64(word, word + strlen(word), &n) || !n)
			exit(ctp_tool_usage(&tool, "%s %s: is no list of numbers from 1 on, such as 5 or 5,7,9", option, given));
		if (to->n == NUMBERS_MAX)
			exit(ctp_tool_usage(&tool, "%s: at most %d numbers can be given", option, NUMBERS_MAX));
		if (!CTP_ARRAY_RESERVE(to->list, to->room, to->n + 1, NUMBERS_MAX))
			no_memory();
		to->list[to->n++] = n;
	}
	free(copy);
}

static void add_text(struct ctp_texts *to, const char *option)
{
	struct ctp_err err;
	if (!*optarg)
		exit(ctp_tool_usage(&tool, "%s: needs a text that is not empty", option));
	if (ctp_texts_add(to, optarg, &err))
		exit(ctp_tool_fail(&tool, &err));
}

static uint64_t duration(const char *option)
{
	uint64_t ns;
	if (!ctp_duration_parse(optarg, &ns))
		exit(ctp_tool_usage(&tool, "%s %s: is no time such as 12.5s, 300ms or 2m", option, optarg));
	return ns;
}

static uint8_t state(void)
{
	if (!strcmp(optarg, "running"))
		return CTP_FILTER_RUNNING;
	if (!strcmp(optarg, "suspended"))
		return CTP_FILTER_SUSPENDED;
	exit(ctp_tool_usage(&tool, "--state %s: is neither running nor suspended", optarg));
}

static void select_coroutines(int c)
{
	if (c == CORO)
		add_numbers(&ask.coros, "--coro", optarg);
	else if (c == PROCESS)
		add_numbers(&ask.processes, "--process", optarg);
	else if (c == SPAWN)
		add_text(&ask.spawns, "--spawn");
	else if (c == NAME)
		add_text(&ask.names, "--name");
	else if (c == DESCENDANTS)
		ask.options.descendants = true;
}

static void select_records(int c)
{
	if (c == THREAD)
		add_numbers(&ask.threads, "--thread", optarg);
	else if (c == PLACE)
		add_text(&ask.places, "--place");
	else if (c == CLASS)
		add_text(&ask.classes, "--class");
	else if (c == STATE)
		ask.options.states |= state();
	else if (c == SINCE)
		ask.options.since_ns = duration("--since");
	else if (c == UNTIL)
		ask.options.until_ns = duration("--until");
	else if (c == LAST && !(ask.last_ns = duration("--last")))
		exit(ctp_tool_usage(&tool, "--last %s: leaves no time", optarg));
	else if (c == SECTION)
		ask.options.section = ctp_tool_number(&tool, "--section", optarg, 1, UINT64_MAX, "not a number; give one from 1 on");
	else if (c == ORIGIN)
		ask.options.origin = ctp_tool_number(&tool, "--origin", optarg, 1, UINT64_MAX, "not a number; give one from 1 on");
	else if (c == FINDING)
		ask.finding = ctp_tool_number(&tool, "--finding", optarg, 1, UINT32_MAX, "not a number; give one from 1 on");
	else if (c == AROUND)
		ask.around_ns = duration("--around");
	ask.has_around |= c == AROUND;
}

static const struct option longs[] = {
	{"coro", required_argument, NULL, CORO}, {"descendants", no_argument, NULL, DESCENDANTS},
	{"spawn", required_argument, NULL, SPAWN}, {"name", required_argument, NULL, NAME},
	{"process", required_argument, NULL, PROCESS}, {"since", required_argument, NULL, SINCE},
	{"until", required_argument, NULL, UNTIL}, {"last", required_argument, NULL, LAST}, {"place", required_argument, NULL, PLACE},
	{"thread", required_argument, NULL, THREAD}, {"class", required_argument, NULL, CLASS},
	{"state", required_argument, NULL, STATE}, {"finding", required_argument, NULL, FINDING},
	{"around", required_argument, NULL, AROUND}, {"section", required_argument, NULL, SECTION},
	{"origin", required_argument, NULL, ORIGIN}, {"anonymise", no_argument, NULL, ANONYMISE},
	{"debug-dir", required_argument, NULL, DIR},
	{"no-symbols", no_argument, NULL, NO_SYMBOLS}, {NULL, 0, NULL, 0},
};

/* An option that selects something is said in the attribute, too. */
static void take(int c)
{
	const char *name = NULL;
	for (const struct option *o = longs; o->name; o++)
		if (o->val == c)
			name = o->name;
	if (!name || c == ANONYMISE) /* is known already */
		return;
	if (c == DIR) {
		add_text(&ask.dirs, "--debug-dir");
		return;
	}
	if (c == NO_SYMBOLS) {
		ask.options.no_symbols = true;
		return;
	}
	char option[32];
	snprintf(option, sizeof option, "--%s", name);
	say(option, optarg ? optarg : "", c == SPAWN || c == NAME || c == PLACE || c == CLASS);
	select_coroutines(c);
	select_records(c);
}

static void check(void)
{
	struct ctp_filter_options *o = &ask.options;
	if (o->descendants && !ask.coros.n && !ask.spawns.count && !ask.names.count && !ask.processes.n && !ask.finding)
		exit(ctp_tool_usage(&tool, "--descendants: say of which coroutines, with --coro, --spawn, --name or --process"));
	if (o->until_ns && o->since_ns >= o->until_ns)
		exit(ctp_tool_usage(&tool, "--since and --until leave no time between them"));
	if (ask.last_ns && (o->since_ns || o->until_ns || ask.has_around))
		exit(ctp_tool_usage(&tool, "--last selects a time: it excludes --since, --until and --around"));
	if (ask.has_around && !ask.finding)
		exit(ctp_tool_usage(&tool, "--around is for --finding; --since and --until select another time"));
	if (ask.finding && (ask.coros.n || (ask.has_around && (o->since_ns || o->until_ns))))
		exit(ctp_tool_usage(&tool,
		                    "--finding selects coroutines, and with --around a time: it excludes --coro, --since and --until"));
	o->coros = (struct ctp_filter_numbers){ask.coros.list, ask.coros.n};
	o->processes = (struct ctp_filter_numbers){ask.processes.list, ask.processes.n};
	o->threads = (struct ctp_filter_numbers){ask.threads.list, ask.threads.n};
	o->spawns = (struct ctp_filter_patterns){(const char *const *)ask.spawns.list, ask.spawns.count};
	o->names = (struct ctp_filter_patterns){(const char *const *)ask.names.list, ask.names.count};
	o->places = (struct ctp_filter_patterns){(const char *const *)ask.places.list, ask.places.count};
	o->classes = (struct ctp_filter_patterns){(const char *const *)ask.classes.list, ask.classes.count};
	o->debug_dirs = (const char *const *)ask.dirs.list;
	o->ndebug_dirs = ask.dirs.count;
	o->said = ask.said;
}

/* --- a first pass, for a finding or the end of the trace ------------------------------------------------------------------ */

struct pass {
	struct ctp_sink *sink;
	struct ctp_err *err;
};

static enum ctp_status read_first(void *arg, struct ctp_input *in)
{
	struct pass *pass = arg;
	struct ctp_convert_stats stats = {0};
	struct ctp_tick tick = ctp_tool_tick(&tool);
	const struct ctp_notice silent = {0}; /* the second pass says what is damaged */
	return ctp_convert(in, pass->sink, &silent, &tick, &stats, pass->err);
}

static bool can_be_read_twice(const char *path)
{
	struct stat st;
	return strcmp(path, "-") && (stat(path, &st) || S_ISREG(st.st_mode));
}

/* The finding becomes a list of coroutines, a time, and records. */
static void use_finding(const struct ctp_filter_finding *finding)
{
	struct ctp_filter_options *o = &ask.options;
	o->coros = (struct ctp_filter_numbers){finding->coros, finding->ncoros};
	o->section = finding->section;
	o->origin = finding->origin;
	o->finding = finding->finding;
	if (!ask.has_around)
		return;
	o->absolute = true;
	o->since_ns = finding->from_ns > ask.around_ns ? finding->from_ns - ask.around_ns : 0;
	o->until_ns = ask.around_ns < UINT64_MAX - finding->to_ns ? finding->to_ns + ask.around_ns : UINT64_MAX;
}

/* Null: err says why. */
static struct ctp_filter_report *make_report(char **files, struct ctp_err *err)
{
	const struct ctp_analysis_options options = {.debug_dirs = ask.options.debug_dirs, .ndebug_dirs = ask.options.ndebug_dirs,
	                                             .no_symbols = ask.options.no_symbols};
	if (ask.options.anonymise && !(ask.options.anon = ctp_filter_anon_new(err)))
		return NULL;
	struct ctp_filter_report *report = ctp_filter_report_new(&options, ask.options.anon, err);
	struct pass pass = {.sink = report ? ctp_filter_report_sink(report) : NULL, .err = err};
	if (report && ctp_tool_each(&tool, files, read_first, &pass, err) != CTP_FAILED)
		return report;
	ctp_filter_report_free(report);
	return NULL;
}

static enum ctp_status check_files(char **files, const char *option, struct ctp_err *err)
{
	for (char **file = files; *file; file++)
		if (!can_be_read_twice(*file))
			return ctp_err_as(err, CTP_ERR_USAGE, "%s: %s: the input is read twice, so give files", option, *file);
	return *files ? CTP_OK : ctp_err_as(err, CTP_ERR_USAGE, "%s: the input is read twice, so give files, not standard input", option);
}

static enum ctp_status find_last(char **files, struct ctp_err *err)
{
	struct pass pass = {.sink = &ask.last.sink, .err = err};
	ctp_filter_last_init(&ask.last);
	if (check_files(files, "--last", err) || ctp_tool_each(&tool, files, read_first, &pass, err) == CTP_FAILED)
		return CTP_FAILED;
	ask.options.absolute = true;
	ask.options.starts = ctp_filter_last_starts(&ask.last, ask.last_ns);
	return CTP_OK;
}

static enum ctp_status find(char **files, struct ctp_err *err)
{
	char option[32];
	snprintf(option, sizeof option, "--finding %ju", (uintmax_t)ask.finding);
	if (check_files(files, option, err))
		return CTP_FAILED;
	ask.report = make_report(files, err);
	if (!ask.report || ctp_filter_finding_get(&ask.found, ask.report, ask.finding, ask.options.section, ask.options.origin, err))
		return CTP_FAILED;
	use_finding(&ask.found);
	return CTP_OK;
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

static void say_what_was_done(const struct ctp_filter_stats *s)
{
	const struct ctp_filter_options *o = &ask.options;
	const struct ctp_filter_finding *finding = &ask.found;
	bool picks = o->coros.n || o->processes.n || o->spawns.n || o->names.n;
	if (tool.verbose)
		ctp_tool_say(&tool, "%ju of %ju records are written", (uintmax_t)s->kept, (uintmax_t)s->taken);
	if (tool.quiet)
		return;
	if (picks && !s->selected)
		ctp_tool_say(&tool, "no coroutine of the trace matches %s", ask.said);
	if (o->classes.n && !s->of_class)
		ctp_tool_say(&tool, "--class: the trace has no such class; ctp-stat shows the classes");
	if (o->places.n && !s->of_place && (!picks || s->selected))
		ctp_tool_say(&tool, "--place: no coroutine is suspended at such a place; ctp-report shows the places");
	if (o->threads.n && !s->of_thread && (!picks || s->selected))
		ctp_tool_say(&tool, "--thread: the trace has no record of such a thread; ctp-report shows the threads");
	if (o->origin && !s->of_origin)
		ctp_tool_say(&tool, "the trace has no origin %ju", (uintmax_t)o->origin);
	if (finding->members > finding->listed)
		ctp_tool_say(&tool, "the finding has %ju coroutines, of which a report lists the first 100", (uintmax_t)finding->members);
	if (ask.finding && !finding->finding)
		ctp_tool_say(&tool, "the finding itself is not in the output: without names it is another one");
	if (s->unknown_parents && o->descendants)
		ctp_tool_say(&tool, "the parent of %ju coroutine%s is not known: whether %s from the selected ones is not known, either",
		             (uintmax_t)s->unknown_parents, s->unknown_parents == 1 ? "" : "s",
		             s->unknown_parents == 1 ? "it descends" : "they descend");
	if (s->unfollowed)
		ctp_tool_say(&tool, "%ju records were left out because too many coroutines were alive at the same time",
		             (uintmax_t)s->unfollowed);
	if (s->unheld)
		ctp_tool_say(&tool, "%ju births, names and sites found no room in memory: other records may refer to them",
		             (uintmax_t)s->unheld);
	if (!o->anonymise)
		return;
	ctp_tool_say(&tool, "still in the trace: times, numbers, addresses and lines; the ids of processes and threads; the names of"
	             " classes, fields, labels and units");
	if (s->attrs[0])
		ctp_tool_say(&tool, "still in the trace: the attributes %s", s->attrs);
	if (s->classes[0])
		ctp_tool_say(&tool, "still in the trace: all numbers in records of %s", s->classes);
}

static void fini(void)
{
	ctp_filter_finding_fini(&ask.found);
	ctp_filter_last_fini(&ask.last);
	ctp_filter_report_free(ask.report);
	ctp_filter_anon_free(ask.options.anon);
	free(ask.coros.list);
	free(ask.processes.list);
	free(ask.threads.list);
	ctp_texts_fini(&ask.spawns);
	ctp_texts_fini(&ask.names);
	ctp_texts_fini(&ask.places);
	ctp_texts_fini(&ask.classes);
	ctp_texts_fini(&ask.dirs);
	free(ask.said);
}

int main(int argc, char **argv)
{
	static struct ctp_filter_stats stats;
	struct ctp_output out;
	struct ctp_err err;
	ctp_tool_start(&tool);
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) /* before the options that it concerns */
		ask.options.anonymise |= !strncmp(argv[i], "--anon", 6);
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fo:", longs)) != -1;)
		take(c);
	check();
	int code;
	if ((ask.finding && find(argv + optind, &err)) || (ask.last_ns && find_last(argv + optind, &err)) ||
	    ctp_tool_create(&out, tool.path, argv + optind, true, tool.force, &err))
		code = err.code == CTP_ERR_USAGE ? ctp_tool_usage(&tool, "%s", err.text) : ctp_tool_fail(&tool, &err);
	else
		code = ctp_tool_to(&tool, argv + optind, ctp_filter_sink(&out, &ask.options, &stats, &err), &out, &err);
	if (code == CTP_EXIT_OK || code == CTP_EXIT_HARMED)
		say_what_was_done(&stats);
	fini();
	return code;
}
