/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-print.h - numbers as people read them, texts that are safe to show, and the sentences about a section that all forms of a
 * report have.
 *
 * Names, sites and commands come from outside. For a person, control characters, invisible marks, marks that change the direction
 * of writing, and bytes that are no UTF-8 are written as escapes (\x1b, \u202e), and a backslash is doubled.
 */
#ifndef CTP_REPORT_PRINT_H
#define CTP_REPORT_PRINT_H

#include "analyse/report.h"
#include "base/visible.h"
#include "io/output.h"

enum ctp_report_format {
	CTP_REPORT_AS_TEXT, CTP_REPORT_AS_MARKDOWN, CTP_REPORT_AS_JSON, CTP_REPORT_AS_FOLDED, CTP_REPORT_AS_BRIEF,
	CTP_REPORT_AS_SARIF,
	CTP_REPORT_AS_JUNIT, CTP_REPORT_AS_GITHUB, CTP_REPORT_AS_GITLAB, CTP_REPORT_FORMATS,
};

struct ctp_report_style {
	enum ctp_report_format format;
	enum ctp_state state; /* of folded stacks */
	uint64_t unit_ns;     /* of their numbers */
	bool all;    /* every row of the tables, every member that is kept */
	uint32_t top; /* rows of each table otherwise; 0: the default of the format */
	bool colour;
	bool several; /* there are several inputs: each is named, even if only one has a section */
	enum ctp_certainty fail_on; /* the level from which on a finding fails a test of JUnit; CTP_CERTAIN_UNKNOWN: likely */
	const char *root; /* annotations name files below this folder from there; null: as they are */
};

enum {
	CTP_PRINT_NUMBER_MAX = 32,
	CTP_PRINT_LABEL_MAX = 256, /* the longest name of a coroutine, and its number */
	CTP_PRINT_COMMAND_MAX = 300,
	CTP_PRINT_CAVEATS = 18,
	CTP_PRINT_CLOSING = 4,
	CTP_PRINT_LINE_MAX = 200,
};

/* These return their first argument, for ctp_output_putf. */
const char *ctp_print_count(char to[CTP_PRINT_NUMBER_MAX], uint64_t n);    /* 7,264 */
const char *ctp_print_ns(char to[CTP_PRINT_NUMBER_MAX], uint64_t ns);      /* 1.73 s, 412 us: three digits */
const char *ctp_print_brief(char to[CTP_PRINT_NUMBER_MAX], uint64_t ns);   /* for a table: 1.73s, 412us */
const char *ctp_print_percent(char to[CTP_PRINT_NUMBER_MAX], uint64_t part, uint64_t whole); /* 93 %, 0.4 %, < 0.1 % */
const char *ctp_print_label(char to[CTP_PRINT_LABEL_MAX], const char *name, uint64_t id); /* handler 17 (#37); not yet safe */
/* A coroutine without a name has that of the function that it was spawned in, if spawn says it. */
const char *ctp_print_coroutine(char to[CTP_PRINT_LABEL_MAX], const char *name, const char *spawn, uint64_t id);
const char *ctp_print_function(char to[CTP_PRINT_LABEL_MAX], const char *site); /* its last name, without types; null: none */
const char *ctp_print_member(char to[CTP_PRINT_LABEL_MAX], const struct ctp_report_member *m); /* or: #37, in server */

/* The number of the record at ns after the start of a section without a clock. */
static inline uint64_t ctp_print_number(const struct ctp_report_section *s, uint64_t ns) { return s->start_ns + ns; }

/* Whether a section without a clock has a first and a last number. */
static inline bool ctp_print_numbered(const struct ctp_report_section *s)
{
	return s->start_ns || s->duration_ns || s->counts.events;
}

/* How long the section is: "1.73 s"; "numbered 1 to 7264" without a clock. */
const char *ctp_print_length(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s);

/*
 * What a waiter does, and for how long: "for 1.20 s", "for 1.20 s (inferred)", "ready to run for 1.20 s"; "since 7264" without a
 * clock.
 */
const char *ctp_print_wait(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s, const struct ctp_report_member *m);

static inline const char *ctp_print_plural(uint64_t n) { return n == 1 ? "" : "s"; }

/* A whole text, safe to show; null: "(not known)". */
void ctp_print_text(struct ctp_output *out, const char *text);

/* The command line, quoted for a shell, or else the source of the trace; cut if long, not yet safe. */
const char *ctp_print_command(char to[CTP_PRINT_COMMAND_MAX], const struct ctp_report_section *s);

/* "exited with status 0", "killed by SIGKILL" ... */
const char *ctp_print_outcome(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s);

/* The part of the time that was asked for: "from 5.00 ms to the end". False: all of it. */
bool ctp_print_window(char to[CTP_PRINT_LINE_MAX], const struct ctp_report *r);

/* "no coroutine was resumed in the last 3.42 s; before, that took 75.1 ms at most". False: the program is not quiet. */
bool ctp_print_quiet(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s);

/* How far times may be off from those of other origins; false: they have one clock. */
bool ctp_print_origin_error(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s);

/* "judged at 12.0 s, before 2,920 coroutines were destroyed". False: at the end. */
bool ctp_print_judged(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s);

/* "No findings", or the number of findings of each certainty, and how many were ignored; or that there is nothing to judge. */
const char *ctp_print_verdict(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s);

/* Of a finding with a root: "because of finding 1: without that, it would go on"; with the title of that: "because of: ..." */
const char *ctp_print_because(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s, const struct ctp_finding *f,
                              bool with_title);

/* The heading of the table of sites, with its order. */
const char *ctp_print_sites(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *s);

/* How many events of a section are lost, in a word or two. */
const char *ctp_print_lost(char to[CTP_PRINT_NUMBER_MAX], const struct ctp_report_section *s);

/* What a verdict on this section could not see, a sentence each. Returns how many. */
unsigned ctp_print_caveats(char to[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX], const struct ctp_report *r,
                           const struct ctp_report_section *s);

/* Sentences after the last section: how many sections there are, which were not judged and why, and what was ignored. */
unsigned ctp_print_closing(char to[CTP_PRINT_CLOSING][CTP_PRINT_LINE_MAX], const struct ctp_report *r);

/* The next of n entries that is not all in findings; *at is 0 at first. Null: no more. */
const struct ctp_report_still *ctp_print_still(const struct ctp_report_still *still, uint32_t n, uint32_t *at);

const char *ctp_print_state(enum ctp_state state);
const char *ctp_print_heavy(int kind); /* "running" ... */

/* Of an object: "lock", "queue"; "queue 'jobs'"; "0 of 4", "3, room for 5", "?"; "conn 12 (#12) and 3 more". */
const char *ctp_print_object_kind(const struct ctp_report_object *o);
const char *ctp_print_object(char text[CTP_PRINT_LABEL_MAX], const struct ctp_report_object *o);
const char *ctp_print_available(char text[CTP_PRINT_LABEL_MAX], const struct ctp_report_object *o);
bool ctp_print_unheld(const struct ctp_report_object *o); /* no coroutine holds it, and the trace would say so */
const char *ctp_print_holders(char text[CTP_PRINT_LABEL_MAX], const struct ctp_report_object *o);

#endif
