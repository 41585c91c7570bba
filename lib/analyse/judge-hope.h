/* judge-hope.h - who could still wake one that waits. */
#ifndef CTP_JUDGE_HOPE_H
#define CTP_JUDGE_HOPE_H

#include "analyse/judge-groups.h"

/* The judge learns places and spawns, from the habits that were counted. False: out of memory. */
bool ctp_judge_places(struct ctp_judge *j);

/* And of those who are there at the end: how many are where, and since when one of them is in the middle of something. */
void ctp_judge_look(struct ctp_judge *j);

/* How waits end where it waits: by its own sort, or where these are too few, by all. */
struct ctp_judge_place ctp_judge_history(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Whether one who could wake it has been in the middle of something for at least half of its wait. */
bool ctp_judge_hope(struct ctp_judge *j, const struct ctp_coroutine *co);
void ctp_judge_close(struct ctp_judge *j);
bool ctp_judge_needs_others(struct ctp_judge *j, const struct ctp_coroutine *co, bool at_rest);
bool ctp_judge_is_crowded(const struct ctp_judge *j, uint64_t since_ns);

#endif
