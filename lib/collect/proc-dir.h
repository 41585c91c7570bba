/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-dir.h - where /proc shows what the threads of a process share: its memory, its descriptors, its arguments.
 *
 * That is /proc/PID, unless the main thread has left with pthread_exit and the others go on: it shows nothing then, and one of
 * these does.
 */
#ifndef CTP_PROC_DIR_H
#define CTP_PROC_DIR_H

#include <stdbool.h>
#include <sys/types.h>

enum { CTP_PROCDIR_BYTES = 40 };

/* "/proc/PID" or "/proc/PID/task/TID". False, and the first: it has no memory, for it has ended or is about to. */
bool ctp_proc_dir(pid_t pid, char dir[CTP_PROCDIR_BYTES]);

/* Opens a file or folder there, by its name of at most 7 bytes. */
int ctp_proc_open(pid_t pid, const char *name, int flags);

#endif
