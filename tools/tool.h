/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tool.h - what the mains share: options, messages, exit status, and the two ways of converting.
 *
 *	0 done   1 failed   2 usage   3 done, but the input was damaged, cut short, or reports lost events or untraced coroutines
 *	4 done, and ctp-report or ctp-diff found what it was told to fail on
 *
 * When the reader of stdout goes away (`| head`) a tool ends without a word, killed by SIGPIPE as cat(1) would be, so the status
 * is still no success.
 */
#ifndef CTP_TOOL_H
#define CTP_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "io/input-growth.h"
#include "io/output.h"
#include "stream/sink.h"

struct option; /* getopt.h */

enum { CTP_EXIT_OK = 0, CTP_EXIT_FAILED = 1, CTP_EXIT_USAGE = 2, CTP_EXIT_HARMED = 3, CTP_EXIT_FOUND = 4 };

struct ctp_tool {
	/* Set by main. */
	const char *name;     /* "ctp-stat" */
	const char *synopsis; /* what follows it in the manual's SYNOPSIS, word for word */
	const char *help;     /* the lines below that in -h, each with its newline */
	int usage_status;     /* 0: CTP_EXIT_USAGE; ctp-collect has 125, as env(1) */
	bool permutes;        /* options may follow operands; false where the operands are a command */
	bool no_coroutines;   /* what it reads are records of something else: no word about coroutines, events and rows */

	bool counts_itself;   /* the source or the sink says what it has kept and lost, and in its own words */
	const struct ctp_input_growth *growth; /* of the inputs; null: they do not grow */
	bool reads_on;        /* a converter reads on if the reader of `out` has gone, because its sink has other outputs */

	/* Set by ctp_tool_option. */
	bool quiet, verbose;
	const char *path;     /* of -o FILE, where the tool has it; null: standard output */
	bool force;           /* of -f */
	const struct ctp_output *out; /* whose reader may go: inputs are read no further then; a converter's is known; null: none */

	/* The rest is tool.c's. */
	struct ctp_notice notice; /* for the library: prints "NAME: INPUT: text", the first few of each input */
	const char *input;
	uint64_t notices;
	bool unread; /* the reader of `out` has gone */
	bool skipped; /* a file of several: it could not be opened, or is no stream, and was said */
	uint64_t started_ns;
	_Atomic uint64_t shown_ns; /* of the progress line; 0: none is on the terminal. A thread may say something, too */
};

/*
 * First of all in a main: SIGPIPE becomes an error of write, a first SIGINT is ignored while there
 * is input from a pipe, descriptors 0 to 2 are taken, the notice is ready.
 */
void ctp_tool_start(struct ctp_tool *tool);

/*
 * The next option, as getopt_long gives it (longs may be null), or -1. Does -h, -V, -q, -v, --help and --version itself, and ends
 * the program with a line about an option that is not known. shorts are the tool's own; an h among them is not -h, but --help stays.
 */
int ctp_tool_option(struct ctp_tool *tool, int argc, char **argv, const char *shorts, const struct option *longs);

/*
 * The number that the argument of an option is, from min to max. Else the program ends with "OPTION TEXT: " and what is wrong; if
 * that is null, "not a number from MIN to MAX".
 */
uint64_t ctp_tool_number(struct ctp_tool *tool, const char *option, const char *text, uint64_t min, uint64_t max,
                         const char *wrong);

/* The argument of -t, in nanoseconds. Else the program ends with what is wrong; with `negative` if it is 0 or less. */
uint64_t ctp_tool_seconds(struct ctp_tool *tool, const char *text, const char *negative);

/* One line on stderr; the status to exit with. */
int ctp_tool_usage(struct ctp_tool *tool, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int ctp_tool_fail(struct ctp_tool *tool, const struct ctp_err *err);
void ctp_tool_say(struct ctp_tool *tool, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ctp_tool_say_line(void *tool, const char *text); /* for a notice of the tool's own, which names no input */

/* The same for an output that failed: dies quietly of a closed pipe. */
int ctp_tool_fail_output(struct ctp_tool *tool, const struct ctp_output *out, const struct ctp_err *err);

/* Between inputs: whose notices these are. Says how many of the last input's were not printed. Null: no more inputs. */
void ctp_tool_input(struct ctp_tool *tool, const char *name);

/* For ctp_convert and other long work: a progress line, where stderr is a terminal and the work takes more than a second. */
struct ctp_tick ctp_tool_tick(struct ctp_tool *tool);

/* A progress line of the tool's own, under the same conditions; it is not waited for. Null: away with it. */
void ctp_tool_progress(struct ctp_tool *tool, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether a path is a file that is one of the inputs, too. files: as for a converter. */
bool ctp_tool_is_input(const char *path, char **files);

/* Fails where no operand can be read: for tools that create something before they read. */
enum ctp_status ctp_tool_look(char **files, struct ctp_err *err);

/*
 * Calls fn for each operand in turn, or for stdin where there is none; ends at the first that fails. Of several files, one that
 * cannot be opened, or for which fn says CTP_ERR_NOT_STREAM, is said and taken out of files, and no failure: ctp-common(7).
 */
enum ctp_status ctp_tool_each(struct ctp_tool *tool, char **files, enum ctp_status (*fn)(void *arg, struct ctp_input *in),
                              void *arg, struct ctp_err *err);

/* ctp_output_create, unless path is also one of the inputs. */
enum ctp_status ctp_tool_create(struct ctp_output *out, const char *path, char **files, bool binary, bool force,
                                struct ctp_err *err);

/*
 * The same for what is made to be looked at, and handed on: a terminal is refused as for a trace, but a new file has the mode that
 * the umask leaves, as a text has.
 */
enum ctp_status ctp_tool_create_view(struct ctp_output *out, const char *path, char **files, bool force, struct ctp_err *err);

/*
 * Whole mains of converters, from the operands on: files is the rest of argv (none: stdin). sink and source are freed; null: it
 * could not be made, and err says why. A sink writes to out (null: it writes elsewhere), which it owns from its making on and
 * closes. A source writes to what -o and -f say. Where the sink has each section apart, an input that cannot be read to its end is
 * said, and the status is 1 in the end; so it is where the sink has left an input out.
 */
int ctp_tool_to(struct ctp_tool *tool, char **files, struct ctp_sink *sink, struct ctp_output *out, struct ctp_err *err);

/* The two halves of ctp_tool_to, for one who tries again with another sink. The first says nothing of its failure. */
struct ctp_tool_done {
	struct ctp_convert_stats stats;
	bool left_out; /* an input, which could not be read, or not be taken */
};
enum ctp_status ctp_tool_convert(struct ctp_tool *tool, char **files, struct ctp_sink *sink, struct ctp_output *out,
                                 struct ctp_tool_done *done, struct ctp_err *err);
int ctp_tool_converted(struct ctp_tool *tool, const struct ctp_tool_done *done);

int ctp_tool_from(struct ctp_tool *tool, char **files, struct ctp_source *source, struct ctp_err *err);

#endif
