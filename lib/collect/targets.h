/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * targets.h - what must be known of the traced processes while they live: their mappings with build-ids, their threads' names,
 * the code of coroutines that have only a frame.
 *
 * Addresses in a trace mean nothing without the mappings of that moment. They are read when a process connects, when an unknown
 * thread turns up, and again at a slow pace while there is activity; what is new becomes a record. Where there are several
 * processes, the end of one of them is not told; so a thread of each that is still there is told again. All is bounded: a
 * process beyond the limit takes the place of one that has ended, or is left out.
 */
#ifndef CTP_TARGETS_H
#define CTP_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/frame-queue.h"
#include "collect/proc-maps.h"
#include "stream/writer.h"

struct ctp_targets;

/* shm: as mapped by the targets. A process that has it mapped is one of them, whatever ids are found in the stations. */
struct ctp_targets *ctp_targets_new(struct ctp_writer *w, const struct ctp_map_file *shm, struct ctp_err *err);
void ctp_targets_free(struct ctp_targets *t);

/* The time of the records: before the events that refer to them. Until this is set, the time at which each was found. */
void ctp_targets_when(struct ctp_targets *t, uint64_t (*when_ns)(void *arg), void *arg);

/* Gets a notice about file systems that do not answer. By default there is none. */
void ctp_targets_warn(struct ctp_targets *t, const struct ctp_notice *warn);

/* This process has just connected: it is new, or has become another program. */
void ctp_targets_process(struct ctp_targets *t, pid_t pid);

/* Whether this process is one of the targets; and the one adopted after it, the first if it is none. 0: there is none. */
bool ctp_targets_has(const struct ctp_targets *t, pid_t pid);
pid_t ctp_targets_next(const struct ctp_targets *t, pid_t pid);

/* This thread id, which is the target's word, was found in an event. */
void ctp_targets_thread(struct ctp_targets *t, uint64_t tid);

/* The numbers of the threads that are known, max of them at most; how many there are. */
size_t ctp_targets_threads(const struct ctp_targets *t, uint64_t *tids, size_t max);

/* The target that this thread was last known to be of; 0: none. */
pid_t ctp_targets_pid(struct ctp_targets *t, uint64_t tid);

/* Fills code as find_code of struct ctp_harvest_conf does: what a frame's first word says, if that points into a mapping. */
size_t ctp_targets_code(struct ctp_targets *t, const struct ctp_frame *frames, size_t n, uint64_t *code);

/*
 * Looks again at a process or a few threads, in turn, at each at most once a second: a part of a millisecond, for every few
 * milliseconds while there is activity.
 */
void ctp_targets_refresh(struct ctp_targets *t);

/* At the end of the trace: tells which are still there. */
void ctp_targets_last(struct ctp_targets *t);

#endif
