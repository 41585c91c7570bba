/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * attach.h - the memory of programs that were not started by this collector: found under /proc, checked, mapped, locked.
 *
 * A program with a probe keeps a descriptor of its memory, a sealed memfd, which the kernel shows to the same user and to root.
 * Nothing of the program is stopped or asked: one that hangs, or that SIGSTOP has stopped, is attached to like any other.
 */
#ifndef CTP_ATTACH_H
#define CTP_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/proc-maps.h"
#include "shm/arena.h"
#include "shm/memory.h"

struct ctp_attach {
	pid_t pid;
	bool elsewhere;          /* in another PID namespace: its numbers are not ours, and our /proc is not its own */
	bool refused;            /* it was not found, and root may look where we may not */
	uid_t uid;               /* its effective user */
	uint64_t ino;            /* of the memfd: which one it is */
	struct ctp_memory shm;
	struct ctp_arena arena;
};

/*
 * Of several memories in one process (two probes that could not share) the one with the most coroutines is taken; news gets a
 * line about the others. Fails with one line that says what is the matter with the process and what would help.
 */
enum ctp_status ctp_attach_find(struct ctp_attach *at, pid_t pid, const struct ctp_notice *news, struct ctp_err *err);
void ctp_attach_fini(struct ctp_attach *at);

/*
 * Calls fn for each process that can be attached to, or is collected already; returns their number. *refused: how many could not be
 * looked at, and root may.
 */
size_t ctp_attach_each(void (*fn)(void *arg, const struct ctp_attach *at), void *arg, size_t *refused);

/*
 * There is one collector for a memory: the one that holds the lock of its file, until it closes fd or dies. A lock that is held
 * is asked for again for a moment, because the keeper of a collector that was killed lets go a little later.
 */
enum ctp_status ctp_attach_lock(int fd, struct ctp_err *err);

/* Whether a process has a descriptor of this memory, mapped or not: the object that had mapped it may be loaded again. */
bool ctp_attach_kept(pid_t pid, const struct ctp_map_file *file);

/* "  4711 recording                 1000      4 www-data     4026531836 ./server --port 8080", below a heading of the same widths. */
enum { CTP_ATTACH_LINE_MAX = 512 };
#define CTP_ATTACH_HEADING "    PID STATE               COROUTINES  RINGS USER              PIDNS COMMAND"
void ctp_attach_line(const struct ctp_attach *at, char line[CTP_ATTACH_LINE_MAX]);

/* The arguments of a process, each ended by a null, as it shows them; the number of bytes, at most room. */
size_t ctp_attach_argv(pid_t pid, char *text, size_t room);

#endif
