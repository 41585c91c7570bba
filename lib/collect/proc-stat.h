/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-stat.h - what /proc says of one thread: its state and flags (stat), its time on processors (schedstat), its number in the
 * PID namespace that it is in (status).
 *
 * The texts are hostile input, for a program chooses its name, which stands in the middle of one of them: with blanks, brackets
 * and newlines if it likes. What does not read as the kernel writes it is refused.
 */
#ifndef CTP_PROC_STAT_H
#define CTP_PROC_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTP_PROC_STAT_BYTES = 2048 }; /* no text is longer, up to what is looked for */

/* Of the flags: it is on its way out; it was, for another to dump core; it dumps core. As in the kernel's sched.h. */
enum { CTP_PF_EXITING = 0x4, CTP_PF_POSTCOREDUMP = 0x8, CTP_PF_DUMPCORE = 0x200 };

struct ctp_proc_stat {
	char state;     /* R, S, D, T, t, Z, X, I ... */
	uint32_t flags;
};

struct ctp_schedstat {
	uint64_t cpu_ns;   /* so long it has run, */
	uint64_t delay_ns; /* so long it was ready to and did not */
};

bool ctp_proc_stat_parse(const char *text, size_t len, struct ctp_proc_stat *st);
bool ctp_schedstat_parse(const char *text, size_t len, struct ctp_schedstat *st); /* false also where the kernel counts nothing */

/* The thread's number in the innermost namespace, and how deep that is below the one of /proc: 1 for the same. 0: not known. */
uint64_t ctp_proc_stat_number(const char *text, size_t len, unsigned *depth);

/* dir: an open /proc/PID/task, or AT_FDCWD and a path that begins with it. file: "stat", "schedstat" or "status". */
int ctp_proc_stat_open(int dir, uint64_t tid, const char *file);

/* From an open one, and from its beginning; one system call. False: the thread is gone, or it is not ours to see. */
bool ctp_proc_stat_read(int fd, struct ctp_proc_stat *st);

/* Both at once. */
bool ctp_proc_stat_of(int dir, uint64_t tid, struct ctp_proc_stat *st);
bool ctp_schedstat_of(int dir, uint64_t tid, struct ctp_schedstat *st);
uint64_t ctp_proc_stat_number_of(int dir, uint64_t tid, unsigned *depth);

#endif
