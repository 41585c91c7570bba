/*
 * ppt-memory.h - the memory of a process that runs, by /proc/PID/mem: nothing of it is stopped.
 *
 * The process is held by a descriptor (pidfd), and its memory by another: neither is ever another process's, whatever number that
 * has. The memory is empty from the end of the process on, and from the moment it becomes another program.
 *
 * A page may be one that never comes. So a child has the memory, and is asked (ppt-child.h). When it does not answer once, nothing is
 * read or written any more.
 */
#ifndef CTP_PPT_MEMORY_H
#define CTP_PPT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "ppt/ppt-child.h"

struct ctp_ppt_memory {
	pid_t pid;
	int process; /* readable once it has ended; -1: this system has no such descriptor */
	struct ctp_ppt_child *child; /* which has its memory */
};

/* Fails with a line that says which permission is missing, and what would help. write: to be changed too. */
enum ctp_status ctp_ppt_memory_open(struct ctp_ppt_memory *m, pid_t pid, bool write, struct ctp_err *err);
void ctp_ppt_memory_close(struct ctp_ppt_memory *m);

/* Just four bytes: the neighbour of a variable is another's. False: no such memory, or none any more. */
bool ctp_ppt_memory_peek(const struct ctp_ppt_memory *m, uint64_t at, uint32_t *value);
bool ctp_ppt_memory_poke(const struct ctp_ppt_memory *m, uint64_t at, uint32_t value);

/* Bytes that were read, fewer than len where memory ends. */
size_t ctp_ppt_memory_read(const struct ctp_ppt_memory *m, uint64_t at, void *to, size_t len);

/* A text that ends in a NUL, malloced; len without that. Null: it is longer than max, or not there. */
char *ctp_ppt_memory_text(const struct ctp_ppt_memory *m, uint64_t at, size_t max, size_t *len, struct ctp_err *err);

bool ctp_ppt_memory_alive(const struct ctp_ppt_memory *m); /* the process has not ended */

/* It has not, but the memory is not its own any more: it has become another program. */
bool ctp_ppt_memory_replaced(const struct ctp_ppt_memory *m);

/* Its memory does not answer. What was not restored in it stays so. */
bool ctp_ppt_memory_lost(const struct ctp_ppt_memory *m);

/* Has the child do this; the question is in its area, and so is the answer. False: it is lost. */
enum { CTP_PPT_MEMORY_AREA = 64 << 10 };
bool ctp_ppt_memory_call(const struct ctp_ppt_memory *m, ctp_ppt_child_fn *fn);

/* The arguments of a process, as ctp_attach_argv has them; 0: none, or they do not come. */
size_t ctp_ppt_memory_argv(pid_t pid, char *text, size_t room);

/* The user that the process acts as; (uid_t)-1: not known. */
uid_t ctp_ppt_memory_user(pid_t pid);

#endif
