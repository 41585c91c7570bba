/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-object.h - judges waits by their reasons and by the objects that they are for: which waits are in order, which are not, and
 * which coroutine holds what others wait for.
 */
#ifndef CTP_JUDGE_OBJECT_H
#define CTP_JUDGE_OBJECT_H

#include "analyse/judge-reasons.h"
#include "analyse/judge-rest.h"

struct ctp_words;

/*
 * Whether a coroutine waits because there is nothing to do. Either nothing is available of what it waits for, and the coroutines
 * that used to provide it are alive, and run or are idle themselves. Or it waits for a descriptor that has nothing to read. A
 * worker without work waits like this, but so does a client whose request was forgotten.
 */
bool ctp_wait_is_for_idle(struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Whether a coroutine waits for a timer that is set to an hour or more, and to a thousand times as long as any at this place that
 * went off: not in order, though it is not due.
 */
bool ctp_wait_is_far_off(const struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Makes each coroutine that waits for an object await a holder of it. Where only the holders can end the waits of a circle, each
 * joins the next.
 */
void ctp_judge_holders(struct ctp_judge *j);

/* Whether a coroutine is in the queue for a lock or for permits of which there are not enough. */
bool ctp_wait_is_in_queue(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Whether a coroutine awaits a holder of the object that it waits for. */
bool ctp_wait_is_held(const struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * The other end of the queue that a reason is for: of a wait for an item, the coroutines that wait for room, and the reverse. Null:
 * the coroutines there are not all known, or waited less often than nine tenths of the times that the ones at this end did.
 */
const struct ctp_queue_end *ctp_wait_other_end(const struct ctp_judge *j, uint64_t pid, const struct ctp_reason_of *r);

/* Whether all coroutines that are known at this end had ended by then. */
bool ctp_queue_end_is_over(const struct ctp_judge *j, const struct ctp_queue_end *end, uint64_t by_ns);

/*
 * Counts the waiters of each object at the end of a section, as ctp_judge_objects does, for a follower that is not judged. False:
 * out of memory.
 */
bool ctp_judge_count_waiters(struct ctp_follow *f, uint64_t end_ns);

/* The findings that rest on reasons and objects. */
void ctp_judge_objects(struct ctp_judge *j);

/*
 * Those about an object that can never serve again, though each wait for it ends by a time-out (judge-pool.c). After
 * ctp_judge_objects, which finds the waits that go on.
 */
void ctp_judge_pools(struct ctp_judge *j);
void ctp_say_spent_pool(struct ctp_words *w);
void ctp_say_spent_queue(struct ctp_words *w);

/* Adds evidence, a line for each known reason: what a coroutine waits for, how much is available, and which coroutine holds it. */
void ctp_words_reasons(struct ctp_words *w, const struct ctp_coroutine *co);

/* A line of evidence, if a coroutine wants to read what it reads already: the writer that waits in between. reader may be null. */
void ctp_words_writer(struct ctp_words *w, const struct ctp_coroutine *reader);

/* A line of evidence: who gave back what the members wait for, and woke none of them. False: nobody is known to have. */
bool ctp_words_giver(struct ctp_words *w);

/* "'db pool'"; "the lock made at pool.c:30:main". */
const char *ctp_words_object(struct ctp_words *w, const struct ctp_object *ob, char *text, size_t size);

#endif
