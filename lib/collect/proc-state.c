/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-state.c - one thread in view, and the search for another.
 */
#include "collect/proc-state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "collect/proc-stat.h"
#include "io/folder.h"

void ctp_proc_state_init(struct ctp_proc_state *p, pid_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	*p = (struct ctp_proc_state){.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .stat = -1};
	p->gone = p->dir < 0 && errno == ENOENT && !access("/proc/self/task", F_OK);
	if (p->dir >= 0)
		p->stat = ctp_proc_stat_open(p->dir, (uint64_t)pid, "stat");
}

void ctp_proc_state_fini(struct ctp_proc_state *p)
{
	ctp_fd_close(p->dir);
	ctp_fd_close(p->stat);
	p->dir = p->stat = -1;
}

int ctp_proc_state_threads(const struct ctp_proc_state *p, int max, bool (*fn)(void *arg, uint64_t tid), void *arg)
{
	DIR *dir = p->dir < 0 ? NULL : ctp_folder_list(p->dir);
	int n = 0;
	if (!dir)
		return p->dir >= 0 && (errno == ENOENT || errno == ESRCH) ? 0 : -1;
	for (struct dirent *e; n >= 0 && (e = readdir(dir));) {
		uint64_t tid = strtoull(e->d_name, NULL, 10); /* "." and ".." are 0 */
		if (tid)
			n = n < max && fn(arg, tid) ? n + 1 : -1;
	}
	closedir(dir);
	return n;
}

/* --- threads -------------------------------------------------------------------------------------------------------------- */

enum fate { GOES_ON, STOPPED, TRACED, LEAVES, DUMPS };

static enum fate fate_of(const struct ctp_proc_stat *st)
{
	if (st->flags & CTP_PF_EXITING || st->state == 'Z' || st->state == 'X' || st->state == 'x')
		return LEAVES;
	if (st->flags & CTP_PF_DUMPCORE)
		return DUMPS;
	if (st->flags & CTP_PF_POSTCOREDUMP)
		return LEAVES;
	return st->state == 'T' ? STOPPED : st->state == 't' ? TRACED : GOES_ON;
}

struct search {
	struct ctp_proc_state *p;
	unsigned fates[DUMPS + 1]; /* how many threads have each */
};

/* A thread that goes on ends the search; one that is stopped, or dumps, is the next best to have in view. */
static bool examine(void *arg, uint64_t tid)
{
	struct search *s = arg;
	struct ctp_proc_stat st;
	int fd = ctp_proc_stat_open(s->p->dir, tid, "stat");
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH; /* it has ended since */
	if (!ctp_proc_stat_read(fd, &st)) {
		close(fd);
		return true;
	}
	enum fate fate = fate_of(&st);
	if (!s->fates[fate]++ && fate != LEAVES) {
		ctp_fd_close(s->p->stat);
		s->p->stat = fd;
	} else {
		close(fd);
	}
	return fate != GOES_ON;
}

/* --- the process ---------------------------------------------------------------------------------------------------------- */

/* What all of its threads together say; nothing is changed if that cannot be read. */
static bool look_at_all(struct ctp_proc_state *p)
{
	struct search s = {.p = p};
	int threads = ctp_proc_state_threads(p, CTP_PROCSTATE_THREADS_MAX, examine, &s);
	p->gone = !threads;
	if (s.fates[GOES_ON])
		p->state = CTP_PROCESS_EXECUTING;
	else if (threads > 0 && (s.fates[STOPPED] || s.fates[TRACED]))
		p->state = CTP_PROCESS_STOPPED;
	else if (threads > 0 && s.fates[DUMPS])
		p->state = CTP_PROCESS_DUMPING;
	else if (threads > 0 && s.fates[LEAVES])
		p->state = CTP_PROCESS_EXITING;
	else
		return false;
	return true;
}

bool ctp_proc_state_look(struct ctp_proc_state *p, bool anew)
{
	struct ctp_proc_stat st;
	if (p->dir < 0 || p->gone)
		return false;
	if (p->stat < 0 || !ctp_proc_stat_read(p->stat, &st))
		return look_at_all(p);
	enum fate fate = fate_of(&st);
	if (fate == GOES_ON) {
		p->state = CTP_PROCESS_EXECUTING;
		return true;
	}
	if (fate == STOPPED) { /* that is of all threads: only a debugger stops some */
		p->state = CTP_PROCESS_STOPPED;
		return true;
	}
	if (fate == TRACED && p->state == CTP_PROCESS_STOPPED && !anew)
		return true;
	if (fate == DUMPS && p->state == CTP_PROCESS_DUMPING)
		return true;
	return p->state == CTP_PROCESS_EXITING || look_at_all(p);
}
