/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* pipe-fill.c - a child that copies, asks and closes; it answers through a pipe of its own. */
#include "collect/pipe-fill.h"

#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "collect/child-ask.h"
#include "collect/fd-text.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

struct answer {
	uint32_t number, found, ended, unread;
};

/* Whether our copy is the pipe. Only its name is looked at: a file that is none may not answer. */
static bool is_pipe(int fd, uint32_t want)
{
	char path[32], link[CTP_FD_LINK_BYTES];
	uint32_t ino;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ssize_t len = readlink(path, link, sizeof link);
	return len > 0 && ctp_fd_text_link(link, (size_t)len, &ino) == CTP_FD_LINK_PIPE && ino == want;
}

static void answer(const struct ctp_pipe *p, uint32_t number, int process, int out)
{
	struct answer a = {.number = number};
	int unread = 0, fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, p->fd, 0);
	if (fd >= 0 && is_pipe(fd, p->ino) && !ioctl(fd, FIONREAD, &unread) && unread >= 0) {
		struct pollfd end = {.fd = fd};
		a.found = 1;
		a.unread = (uint32_t)unread;
		a.ended = poll(&end, 1, 0) == 1 && end.revents & POLLHUP;
	}
	ctp_fd_close(fd);
	if (write(out, &a, sizeof a) != sizeof a)
		_exit(1);
}

struct asked {
	struct ctp_pipe *pipes;
	size_t n;
};

static void answer_all(void *arg, int out)
{
	const struct asked *all = arg;
	const struct ctp_pipe *pipes = all->pipes;
	int process = -1;
	for (size_t i = 0; i < all->n; i++) {
		if (!i || pipes[i].pid != pipes[i - 1].pid) {
			ctp_fd_close(process);
			process = (int)syscall(SYS_pidfd_open, pipes[i].pid, 0);
		}
		answer(&pipes[i], (uint32_t)i, process, out);
	}
}

static void take(void *arg, const void *from_child)
{
	const struct asked *all = arg;
	const struct answer *a = from_child;
	if (a->number >= all->n)
		return;
	all->pipes[a->number].found = a->found;
	all->pipes[a->number].ended = a->ended;
	all->pipes[a->number].unread = a->unread;
}

bool ctp_pipe_fill(struct ctp_pipe *pipes, size_t n)
{
	struct asked all = {pipes, n};
	for (size_t i = 0; i < n; i++)
		pipes[i].found = false;
	return !n || ctp_child_ask(&(struct ctp_child_ask){answer_all, take, &all, n, sizeof(struct answer), -1}) != CTP_CHILD_LATE;
}
