/* judge-words.h - the words that findings are made of: a title, the evidence, and what to look at next. */
#ifndef CTP_JUDGE_WORDS_H
#define CTP_JUDGE_WORDS_H

#include "analyse/judge-groups.h"
#include "base/text.h"

enum { CTP_WORDS_LISTED = 3 }; /* members that have a line of their own */

/* Texts of a finding, while it is put together. */
struct ctp_words {
	struct ctp_judge *j;
	const struct ctp_group *g;
	struct ctp_finding *f;
	uint32_t nevidence, nnext;
	char duration[4][CTP_TEXT_MAX], count[4][2 * CTP_TEXT_MAX], label[2][CTP_FOLLOW_NAME_MAX + 2 * CTP_TEXT_MAX];
	unsigned nduration, ncount, nlabel;
	char where[CTP_SITE_TEXT_MAX + 64], places[2 * CTP_SITE_TEXT_MAX + 64];
};

/* The title, a line of evidence, a line of what to look at next. Lines that there is no room for are left out. */
void ctp_words_title(struct ctp_words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ctp_words_evidence(struct ctp_words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ctp_words_next(struct ctp_words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Each is good for one line: a few of a sort are kept. */
const char *ctp_words_duration(struct ctp_words *w, uint64_t ns);
const char *ctp_words_count(struct ctp_words *w, uint64_t n);
const char *ctp_words_counted(struct ctp_words *w, uint64_t n, const char *one, const char *more); /* "1 other wait", "50 other waits" */
const char *ctp_word(uint64_t n, const char *one, const char *more);

/* Those that the finding is about: "it" or "them", one word or another, "3 coroutines". */
const char *ctp_words_it(struct ctp_words *w);
const char *ctp_words_they(struct ctp_words *w, const char *one, const char *more);
const char *ctp_words_those(struct ctp_words *w);

/* "handler 17 (#37)"; "coroutine #37, in server". any: a coroutine that need not be a member, and may be there no more. */
const char *ctp_words_member(struct ctp_words *w, const struct ctp_report_member *m);
const char *ctp_words_any(struct ctp_words *w, uint64_t id);

/* Places: of the finding, where its members were made, and of those members that are listed. named: one that may be null. */
const char *ctp_words_where(struct ctp_words *w);
const char *ctp_words_made(struct ctp_words *w);
const char *ctp_words_places(struct ctp_words *w);
const char *ctp_words_named(const char *place);

/* Lines of evidence: how others at the same place fared; how others made at the same place did; how often members did it in all. */
void ctp_words_history(struct ctp_words *w);
void ctp_words_siblings(struct ctp_words *w);
void ctp_words_times(struct ctp_words *w);

/* And those that any finding may have: processes, who waits because of it, and what is not certain. */
void ctp_words_end(struct ctp_words *w);

#endif
