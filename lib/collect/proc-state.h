/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-state.h - what a process is doing as a whole: executing, stopped, exiting, or dumping core.
 *
 * /proc knows threads. A process executes if one of them does, a main thread that has left with pthread_exit notwithstanding; it
 * is stopped when those that have not ended are, and exits when all are on their way out. So one thread that executes is kept in
 * view, by an open descriptor, and as long as it does a look is one system call; only then another one is looked for. The folder
 * is kept open too: another process that gets the number later is not taken for this one.
 */
#ifndef CTP_PROC_STATE_H
#define CTP_PROC_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "stream/events.h"

enum { CTP_PROCSTATE_THREADS_MAX = 1024 }; /* looked at in search of one that executes */

struct ctp_proc_state {
	int dir;      /* /proc/PID/task; -1: it could not be opened */
	int stat;     /* of the thread that is in view; -1: none */
	enum ctp_process_state state; /* as last seen; before that it is taken to execute */
	bool gone;
};

void ctp_proc_state_init(struct ctp_proc_state *p, pid_t pid);
void ctp_proc_state_fini(struct ctp_proc_state *p);

/*
 * Looks. anew: although it was seen stopped and the thread in view is, there may be another that goes on. False: it is gone
 * (p->gone), or there is nothing to be seen.
 */
bool ctp_proc_state_look(struct ctp_proc_state *p, bool anew);

/*
 * Calls fn for each of its threads, until that says false. Returns how many there are: 0 if the process is gone; -1 if it could
 * not be known, because fn has ended it, there are more than max, or they cannot be read.
 */
int ctp_proc_state_threads(const struct ctp_proc_state *p, int max, bool (*fn)(void *arg, uint64_t tid), void *arg);

#endif
