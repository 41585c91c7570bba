/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-rest.h - waits for descriptors: which may last for ever, because it is the peer's turn to begin, and which may not, because an
 * answer of the peer is due.
 */
#ifndef CTP_JUDGE_REST_H
#define CTP_JUDGE_REST_H

#include "analyse/judge-reasons.h"

/* The last look at the descriptor of a reason, if that was since the wait of the coroutine began; or null. */
const struct ctp_descriptor *ctp_wait_look(const struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t pid,
                                           const struct ctp_reason_of *r);

/* The same, if a reason is to read, and the descriptor had nothing to read; or null. */
const struct ctp_descriptor *ctp_wait_empty(const struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t pid,
                                            const struct ctp_reason_of *r);

/* Whether a coroutine waits to read from a descriptor that had nothing to read when the collector looked, since the wait began. */
bool ctp_wait_is_for_silence(const struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Whether a coroutine waits for a peer whose turn it is: for new connections; for the next request on a connection that was
 * accepted; or on one that the program began, where data of the peer came last.
 */
bool ctp_wait_may_rest(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Whether a coroutine waits for data on a connection that the program began, where data for the peer went last. */
bool ctp_wait_is_unanswered(const struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Whether a coroutine may only be idle, as far as the last few events of each coroutine can tell, which is all that is known of the time
 * before the collector attached: something from outside may end its wait, and nothing says that an answer is due.
 */
bool ctp_wait_may_be_idle(const struct ctp_judge *j, const struct ctp_coroutine *co, struct ctp_judge_place history);

#endif
