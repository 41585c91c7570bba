/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-words.h - the words that findings are made of: a title, the evidence, and what to look at next. */
#ifndef CTP_JUDGE_WORDS_H
#define CTP_JUDGE_WORDS_H

#include "analyse/judge-members.h"
#include "base/text.h"

enum { CTP_WORDS_LISTED = 3 }; /* members that have a line of their own */

/* A finding while its texts are made. */
struct ctp_words {
	struct ctp_judge *j;
	const struct ctp_group *g;
	struct ctp_finding *f;
	uint32_t nevidence, nnext;
	char duration[4][2 * CTP_TEXT_MAX], count[4][2 * CTP_TEXT_MAX], label[2][2 * CTP_FOLLOW_NAME_MAX + 2 * CTP_TEXT_MAX];
	unsigned nduration, ncount, nlabel;
	char where[CTP_SITE_TEXT_MAX + 64], places[2 * CTP_SITE_TEXT_MAX + 64];
};

/*
 * The title; why it may be harmless, if it is only possible; a line of evidence, a line of what to look at next. Lines that there is no
 * room for are left out.
 */
#define ctp_words_title(w, ...) ctp_words_line(w, &(w)->f->title, &(uint32_t){0}, 1, __VA_ARGS__)
#define ctp_words_excuse(w, ...) ctp_words_line(w, &(w)->f->excuse, &(uint32_t){0}, 1, __VA_ARGS__)
#define ctp_words_evidence(w, ...) ctp_words_line(w, (w)->f->evidence, &(w)->nevidence, CTP_REPORT_LINES - 1, __VA_ARGS__)
#define ctp_words_next(w, ...) ctp_words_line(w, (w)->f->next, &(w)->nnext, CTP_REPORT_LINES - 1, __VA_ARGS__)
void ctp_words_line(struct ctp_words *w, char **lines, uint32_t *n, uint32_t most, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Texts for one line: of each sort, the last few are kept. */
const char *ctp_words_duration(struct ctp_words *w, uint64_t ns); /* only where there is a clock */
const char *ctp_words_when(struct ctp_words *w, uint64_t ns);     /* "1.2 ms after the start"; "at number 7264" without a clock */
const char *ctp_words_count(struct ctp_words *w, uint64_t n);
const char *ctp_words_counted(struct ctp_words *w, uint64_t n, const char *one, const char *more); /* "1 wait", "50 waits" */
const char *ctp_word(uint64_t n, const char *one, const char *more);

/* The members of the finding: "it" or "them", one word or another, "3 coroutines". */
const char *ctp_words_it(struct ctp_words *w);
const char *ctp_words_they(struct ctp_words *w, const char *one, const char *more);
const char *ctp_words_those(struct ctp_words *w);

/* "handler 17 (#37)"; "coroutine #37, in server". any: the coroutine need not be a member, and may be forgotten. */
const char *ctp_words_member(struct ctp_words *w, const struct ctp_report_member *m);
const char *ctp_words_any(struct ctp_words *w, uint64_t id);

/* The first listed member, if it is not forgotten; or null. */
static inline const struct ctp_coroutine *ctp_words_first(const struct ctp_words *w)
{
	return w->f->nwho ? ctp_follow_find(w->j->follow, w->f->who[0].id) : NULL;
}

/* The suspend place and the spawn place of the finding; the places of its listed members; a place that may be null. */
const char *ctp_words_where(struct ctp_words *w);
const char *ctp_words_made(struct ctp_words *w);
const char *ctp_words_places(struct ctp_words *w);
const char *ctp_words_named(const char *place);

/* Lines of evidence: the other waits at the suspend place; the other coroutines of the spawn place; the number of cases. */
void ctp_words_history(struct ctp_words *w);
void ctp_words_stalls(struct ctp_words *w, uint64_t gross_ns, uint64_t own_ns); /* without the machine's part, the longest took own_ns */
void ctp_words_siblings(struct ctp_words *w);
void ctp_words_times(struct ctp_words *w);

/* A line of evidence: a coroutine that used to end such waits is dead, while others that did so live. False: there is none. */
bool ctp_words_dead_waker(struct ctp_words *w, const struct ctp_coroutine *co);

/* Lines that any finding may have: processes, dependents, and what is not certain. */
void ctp_words_end(struct ctp_words *w);

#endif
