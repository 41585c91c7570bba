/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-ci.h - a report as a list of results, for the forms that services for continuous integration read: SARIF, JUnit,
 * annotations and code quality. Each finding is a result, with or without an excuse.
 *
 * Texts of the traced program have any bytes. All these forms show them to people, so they are spelled as in the text
 * (report-print.h), and then escaped as the form demands.
 */
#ifndef CTP_REPORT_CI_H
#define CTP_REPORT_CI_H

#include "report/report-place.h"
#include "report/report-print.h"

enum { CTP_CI_RELATED = 20, CTP_CI_MARK_MAX = 17, CTP_CI_STILL = 5, CTP_CI_ADVICE_MAX = 800,
       CTP_CI_FILE_MAX = CTP_SITE_TEXT_MAX };

/* The name of the test of JUnit, and of the check of GitLab, that says whether the program hung. */
#define CTP_CI_HANG "hang"

struct ctp_ci_result {
	unsigned rule;          /* of report-rules.h */
	enum ctp_certainty certainty;
	const char *title;
	const char *evidence[CTP_REPORT_LINES + 3], *next[CTP_REPORT_LINES + 1]; /* each up to the first null */
	const char *excuse;     /* completes "not reported as likely because"; or null */
	const char *place, *spawn;
	uint64_t members, waiting;
	const struct ctp_report_member *who, *waiters;
	uint32_t nwho, nwaiters;
	char quiet[CTP_PRINT_LINE_MAX], advice[CTP_CI_ADVICE_MAX]; /* lines of a wait that stands out */
	char because[CTP_PRINT_LINE_MAX]; /* the first line of evidence, if there is a root */
};

/* The results of a section, one after the other: findings in their order, then those with an excuse. */
struct ctp_ci {
	const struct ctp_report_section *section;
	uint32_t at, nseen;
	uint64_t seen[CTP_REPORT_FINDINGS + CTP_REPORT_SUSPECTS]; /* hashes of the fingerprints so far, not yet numbered */
};

void ctp_ci_start(struct ctp_ci *ci, const struct ctp_report_section *section);
bool ctp_ci_next(struct ctp_ci *ci, struct ctp_ci_result *result); /* false: no more */

/*
 * Whether the program of a section hung until it was stopped by force; to says how, in a sentence without a subject. It hung if
 * timeout(1) ended it; or if another signal killed it, neither that of a crash nor one that asks a program to end, while coroutines
 * waited, and a wait stood out or no coroutine was resumed any more. These are facts, and no rule: a service must not be told that
 * all is well because the trace does not show whose fault it was.
 */
bool ctp_ci_hang(char to[CTP_PRINT_LINE_MAX], const struct ctp_report_section *section);

/* What to say of a program that hung, a sentence each: that nothing ran, waits that stand out, what else waited. */
unsigned ctp_ci_hang_lines(char to[CTP_CI_STILL][CTP_CI_ADVICE_MAX], const struct ctp_report_section *section);

/*
 * The fingerprint of each result, once, in order. It is the same for the same result of another trace, also after the source has
 * changed elsewhere: it depends on the rule, and on the files and functions of the two places, but on no line. Results of a section
 * that agree in these are numbered.
 */
const char *ctp_ci_mark(char to[CTP_CI_MARK_MAX], struct ctp_ci *ci, const struct ctp_ci_result *result);

/*
 * The file by the name that services know: "./a.c" and "build/../a.c" are "a.c". Only the name is looked at: where build is a
 * symbolic link, build/.. may be another folder. A name that is too long for the buffer stays; else the file is in the buffer.
 */
void ctp_ci_file(struct ctp_report_place *at, char to[CTP_CI_FILE_MAX]);

/* Where to show a result: at its place, or else where the coroutines were spawned, or else at the program or the trace. */
struct ctp_ci_spot {
	/* File null: nothing is known; line 0: it is of the program or the trace. The file is that of ctp_ci_file. */
	struct ctp_report_place at;
	const char *text;           /* of the place; null: of the program or the trace */
	char file[CTP_CI_FILE_MAX];
};
void ctp_ci_spot(struct ctp_ci_spot *spot, const struct ctp_report_section *section, const struct ctp_ci_result *result);

/* Where to show that a program hung: at the first wait that stands out, or the longest with a place, or else at the program. */
void ctp_ci_hang_spot(struct ctp_ci_spot *spot, const struct ctp_report_section *section);

/* Other places that are evidence for a result. what: of a coroutine there; who null: where the coroutines were spawned. */
struct ctp_ci_related {
	const char *place, *what;
	const struct ctp_report_member *who;
};
unsigned ctp_ci_related(struct ctp_ci_related to[CTP_CI_RELATED], const struct ctp_ci_result *result);

/* --- texts --------------------------------------------------------------------------------------------------------------- */

/*
 * How a form escapes a text: inside quotes of JSON; in an attribute or an element of XML; in the message or in a property of a
 * workflow command of GitHub.
 */
enum ctp_ci_form { CTP_CI_JSON, CTP_CI_XML, CTP_CI_MESSAGE, CTP_CI_PROPERTY };

/* A fingerprint of the hang of a section: it depends on the command. */
const char *ctp_ci_hang_mark(char to[CTP_CI_MARK_MAX], const struct ctp_report_section *section);

/* Spells and escapes a text; of a part of one, len bytes. A newline is written as the form has it. Null: "(not known)". */
void ctp_ci_put(struct ctp_output *out, enum ctp_ci_form form, const char *text);
void ctp_ci_put_part(struct ctp_output *out, enum ctp_ci_form form, const char *text, size_t len);
void ctp_ci_newline(struct ctp_output *out, enum ctp_ci_form form);

/* Below the title, each after a newline: the evidence, the coroutines, and what to look at next. */
void ctp_ci_put_lines(struct ctp_output *out, enum ctp_ci_form form, const struct ctp_ci_result *result);

/*
 * A file as a URI: a relative name stays relative, an absolute one becomes file:///. Bytes that have a meaning in a URI, in JSON or
 * in XML are %XX.
 */
void ctp_ci_put_uri(struct ctp_output *out, const struct ctp_report_place *at);

#endif
