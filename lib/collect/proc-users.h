/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-users.h - which processes are still there for the shared memory: those that have it mapped, and those that could yet.
 *
 * Only processes that we may look at are seen. All of /proc is gone through: for the end of a trace, not for its course.
 */
#ifndef CTP_PROC_USERS_H
#define CTP_PROC_USERS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collect/proc-maps.h"

/* The next process in an open /proc that is not this one; 0: none. */
pid_t ctp_proc_users_next(DIR *proc);

/*
 * The other processes that have it mapped, at most room of them. Where ctp_end_signal says so, also afterwards, not all were looked at.
 */
size_t ctp_proc_users_find(const struct ctp_map_file *file, pid_t *pids, size_t room);

/*
 * True if another process was started with this "NAME=value" in its environment, or is a fork of one that was; or if ctp_end_signal
 * says so.
 */
bool ctp_proc_users_heir(const char *assignment);

#endif
