/*
 * judge-object.h - what a program tells of the things that its coroutines wait for, and what follows for their waits: who is to
 * blame, what is in order, and what is not.
 */
#ifndef CTP_JUDGE_OBJECT_H
#define CTP_JUDGE_OBJECT_H

#include "analyse/judge-groups.h"
#include "analyse/objects.h"

struct ctp_words;

/* The reasons of the wait of a coroutine; null: it does not wait, or its reasons are not known, or not all of them. */
const struct ctp_reasons *ctp_wait_reasons(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Whether a wait is in order, however long it is: a reason of it is a timer that is not due, or a declared rest. */
bool ctp_wait_is_quiet(const struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Whether a coroutine waits for something of which there is none now, and whoever makes such things is alive, and moves or is idle
 * itself; or for a descriptor, and the kernel has nothing to read there. A worker with no work is so; but so is a client whose
 * request was forgotten.
 */
bool ctp_wait_is_for_idle(struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * A coroutine that waits for what another one holds awaits that one from here on. In a circle in which nothing but the holders can
 * end a wait, it joins it.
 */
void ctp_judge_holders(struct ctp_judge *j);

/* Whether the coroutine that it awaits is one that holds what it waits for. */
bool ctp_wait_is_held(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* The findings that rest on reasons and objects. */
void ctp_judge_objects(struct ctp_judge *j);

/* A line of evidence: what a coroutine waits for, how much of that there is, and who holds it. Nothing, if that was not told. */
void ctp_words_reasons(struct ctp_words *w, const struct ctp_coroutine *co);

/* "'db pool'"; "the lock made at pool.c:30:main". */
const char *ctp_words_object(struct ctp_words *w, const struct ctp_object *ob, char *text, size_t size);

#endif
