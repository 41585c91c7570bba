/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * descriptors.c - first the links of all, then the sockets together, then the pipes together.
 *
 * The folder of a process in /proc is held open while it is asked: it does not become that of another process with the same number.
 */
#include "collect/descriptors.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compare.h"
#include "base/fd.h"
#include "collect/end-signal.h"
#include "collect/pipe-fill.h"
#include "collect/proc-dir.h"
#include "collect/sock-diag.h"

enum { PROCESSES = 16, LIMIT_MS = 200 }; /* that are asked in one look; and for how long their mappings are read */

static const uint64_t MS = 1000000;

/* --- processes ------------------------------------------------------------------------------------------------------------ */

struct processes {
	size_t n;
	uint64_t until_ns;
	pid_t pids[PROCESSES];
	int dirs[PROCESSES]; /* -1: not to be asked */
};

static int open_process(const struct ctp_descriptors *d, pid_t pid)
{
	char path[CTP_PROCDIR_BYTES];
	int dir = ctp_proc_dir(pid, path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (dir >= 0 && !ctp_proc_maps_has(pid, d->shm)) {
		close(dir);
		return -1;
	}
	return dir;
}

static int dir_of(const struct ctp_descriptors *d, struct processes *p, pid_t pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->pids[i] == pid)
			return p->dirs[i];
	if (p->n == PROCESSES || ctp_clock_ns() >= p->until_ns || ctp_end_signal())
		return -1;
	p->pids[p->n] = pid;
	return p->dirs[p->n++] = open_process(d, pid);
}

/* --- links and counts ----------------------------------------------------------------------------------------------------- */

static void read_link(int dir, struct ctp_descriptor_ask *a)
{
	char path[24], link[CTP_FD_LINK_BYTES];
	snprintf(path, sizeof path, "fd/%d", (int)a->fd);
	ssize_t len = dir < 0 ? -1 : readlinkat(dir, path, link, sizeof link);
	a->link = len > 0 ? ctp_fd_text_link(link, (size_t)len, &a->ino) : CTP_FD_LINK_OTHER;
}

static void read_count(int dir, struct ctp_descriptor_ask *a)
{
	char path[24], text[CTP_FD_INFO_BYTES];
	snprintf(path, sizeof path, "fdinfo/%d", (int)a->fd);
	size_t len = ctp_fd_read_file(dir, path, text, sizeof text);
	if (!len)
		return;
	bool timer = a->link == CTP_FD_LINK_TIMERFD;
	a->found = (timer ? ctp_fd_text_timerfd : ctp_fd_text_eventfd)(text, len, &a->unread);
	a->type = timer ? CTP_FD_TIMERFD : CTP_FD_EVENTFD;
}

/* --- sockets and pipes ---------------------------------------------------------------------------------------------------- */

static int by_inode(const void *a, const void *b)
{
	return ctp_compare(((const struct ctp_socket *)a)->ino, ((const struct ctp_socket *)b)->ino);
}

/* Several descriptors may be of one socket. */
static void ask_sockets(struct ctp_descriptors *d, struct ctp_descriptor_ask *asks, size_t n)
{
	struct ctp_socket sockets[CTP_ASKED_FDS];
	size_t nsockets = 0, unique = 0;
	for (size_t i = 0; i < n; i++)
		if (asks[i].link == CTP_FD_LINK_SOCKET)
			sockets[nsockets++] = (struct ctp_socket){.ino = asks[i].ino};
	if (!nsockets)
		return;
	qsort(sockets, nsockets, sizeof *sockets, by_inode);
	for (size_t i = 0; i < nsockets; i++)
		if (!unique || sockets[unique - 1].ino != sockets[i].ino)
			sockets[unique++] = sockets[i];
	ctp_sock_diag_find(sockets, unique, &d->absent);
	for (size_t i = 0; i < n; i++) {
		struct ctp_descriptor_ask *a = &asks[i];
		const struct ctp_socket key = {.ino = a->ino}, *s = a->link != CTP_FD_LINK_SOCKET ? NULL :
			bsearch(&key, sockets, unique, sizeof key, by_inode);
		if (!s || !s->found)
			continue;
		a->found = true;
		a->type = s->type;
		a->unread = s->unread;
		a->unsent = s->unsent;
		a->ended = s->ended;
		a->side = s->side;
		a->last = s->last;
	}
}

static void ask_pipes(struct ctp_descriptors *d, struct ctp_descriptor_ask *asks, size_t n)
{
	struct ctp_pipe pipes[CTP_ASKED_FDS];
	size_t npipes = 0, k = 0;
	for (size_t i = 0; i < n; i++)
		if (asks[i].link == CTP_FD_LINK_PIPE)
			pipes[npipes++] = (struct ctp_pipe){.pid = asks[i].pid, .fd = asks[i].fd, .ino = asks[i].ino};
	if (!npipes || d->pipes_hang)
		return;
	d->pipes_hang = !ctp_pipe_fill(pipes, npipes);
	for (size_t i = 0; i < n; i++) {
		if (asks[i].link != CTP_FD_LINK_PIPE)
			continue;
		asks[i].found = pipes[k].found;
		asks[i].type = CTP_FD_PIPE;
		asks[i].ended = pipes[k].ended;
		asks[i].unread = pipes[k++].unread;
	}
}

void ctp_descriptors_ask(struct ctp_descriptors *d, struct ctp_descriptor_ask *asks, size_t n)
{
	struct processes p = {.until_ns = ctp_clock_ns() + LIMIT_MS * MS};
	assert(n <= CTP_ASKED_FDS);
	for (size_t i = 0; i < n; i++) {
		struct ctp_descriptor_ask *a = &asks[i];
		int dir = dir_of(d, &p, a->pid);
		*a = (struct ctp_descriptor_ask){.pid = a->pid, .fd = a->fd};
		read_link(dir, a);
		if (a->link == CTP_FD_LINK_EVENTFD || a->link == CTP_FD_LINK_TIMERFD)
			read_count(dir, a);
	}
	for (size_t i = 0; i < p.n; i++)
		ctp_fd_close(p.dirs[i]);
	ask_sockets(d, asks, n);
	ask_pipes(d, asks, n);
}
