/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-memory.h - the memory of a running process, by /proc/PID/mem. The process is not stopped.
 *
 * One descriptor (pidfd) is of the process, and another of its memory: neither becomes that of another process with the same
 * number. The memory is empty after the end of the process, and after it has become another program.
 *
 * A read may hang, so a child opens and reads the memory (ppt-child.c). After one call that was not answered, nothing is read or
 * written.
 */
#ifndef CTP_PPT_MEMORY_H
#define CTP_PPT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * A child process that does what may hang.
 *
 * If a page is in a file whose file system does not answer, a process that reads it hangs, as a rule also after SIGKILL. So the
 * child has no descriptor but its own, and blocks all signals. It is waited for as long as it makes progress; else it is killed,
 * and not waited for. It ends when we do. Question and answer are in an area that both share.
 */
struct ctp_ppt_child {
	pid_t pid;
	int fd;       /* -1: there is none */
	void *area;
	size_t bytes;
	bool lost;    /* it has not answered in time, and is not asked again */
};

/* The area has this many bytes, all zero. False: errno. */
bool ctp_ppt_child_start(struct ctp_ppt_child *c, size_t bytes);
void ctp_ppt_child_stop(struct ctp_ppt_child *c); /* all zeros: nothing */

/* Runs fn in the child. False: it has not answered in limit_ms, or has made no progress for three seconds. */
typedef void ctp_ppt_child_fn(void *area);
bool ctp_ppt_child_call(struct ctp_ppt_child *c, ctp_ppt_child_fn *fn, int limit_ms);

/* Called in the child: it makes progress. */
void ctp_ppt_child_progress(void);

/* --- the memory -------------------------------------------------------------------------------------------------------------- */

struct ctp_ppt_memory {
	pid_t pid;
	int process; /* readable once it has ended; -1: this system has no such descriptor */
	struct ctp_ppt_child *child; /* which has its memory */
};

/* Fails with a line that says which permission is missing, and what would help. write: the memory is written to, too. */
enum ctp_status ctp_ppt_memory_open(struct ctp_ppt_memory *m, pid_t pid, bool write, struct ctp_err *err);
void ctp_ppt_memory_close(struct ctp_ppt_memory *m);

/* Exactly four bytes: the next ones are another variable. False: there is no such memory. */
bool ctp_ppt_memory_peek(const struct ctp_ppt_memory *m, uint64_t at, uint32_t *value);
bool ctp_ppt_memory_poke(const struct ctp_ppt_memory *m, uint64_t at, uint32_t value);

/* The number of bytes that were read: fewer than len where memory ends. */
size_t ctp_ppt_memory_read(const struct ctp_ppt_memory *m, uint64_t at, void *to, size_t len);

/* A text that ends in a NUL, malloced; len without the NUL. Null: it is longer than max, or memory ends before it. */
char *ctp_ppt_memory_text(const struct ctp_ppt_memory *m, uint64_t at, size_t max, size_t *len, struct ctp_err *err);

bool ctp_ppt_memory_alive(const struct ctp_ppt_memory *m); /* the process has not ended */

/* The process has not ended, but has become another program, so that the memory is gone. */
bool ctp_ppt_memory_replaced(const struct ctp_ppt_memory *m);

/* The memory does not answer, and can no longer be restored. */
bool ctp_ppt_memory_lost(const struct ctp_ppt_memory *m);

/* Runs fn in the child; question and answer are in its area. False: the child is lost. */
enum { CTP_PPT_MEMORY_AREA = 64 << 10 };
bool ctp_ppt_memory_call(const struct ctp_ppt_memory *m, ctp_ppt_child_fn *fn);

/* The arguments of a process, as ctp_attach_argv has them; 0: none, or reading them hangs. */
size_t ctp_ppt_memory_argv(pid_t pid, char *text, size_t room);

/* A number in /proc/sys/kernel; 0: it cannot be read. */
uint64_t ctp_ppt_memory_setting(const char *name);

/* The effective user of the process; (uid_t)-1: not known. */
uid_t ctp_ppt_memory_user(pid_t pid);

#endif
