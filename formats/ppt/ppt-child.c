/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-child.c - see ppt-child.h. */
#include "ppt/ppt-memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/child-ask.h"

enum { PATIENCE_MS = 3000 };

/* In front of the area. */
struct head {
	_Atomic unsigned progress;
	_Alignas(64) char area[];
};

static _Atomic unsigned *progress; /* of the child */

void ctp_ppt_child_progress(void)
{
	if (progress)
		atomic_fetch_add_explicit(progress, 1, memory_order_relaxed);
}

static void serve(int fd, struct head *head)
{
	ctp_ppt_child_fn *fn;
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* those of a terminal too: we need the child to restore the target */
	ctp_child_close_others(fd, fd);
	progress = &head->progress;
	while (read(fd, &fn, sizeof fn) == sizeof fn) {
		fn(head->area);
		if (write(fd, "", 1) != 1)
			break;
	}
	_exit(0);
}

bool ctp_ppt_child_start(struct ctp_ppt_child *c, size_t bytes)
{
	int ends[2];
	*c = (struct ctp_ppt_child){.fd = -1};
	struct head *head = mmap(NULL, sizeof *head + bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (head == MAP_FAILED)
		return false;
	bool paired = !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
	pid_t pid = paired ? fork() : -1;
	if (!pid)
		serve(ends[1], head);
	int why = errno;
	if (paired)
		close(ends[1]);
	if (paired && pid < 0)
		close(ends[0]);
	if (pid < 0)
		munmap(head, sizeof *head + bytes);
	else
		*c = (struct ctp_ppt_child){.pid = pid, .fd = ends[0], .area = head->area, .bytes = bytes};
	errno = why;
	return pid > 0;
}

/* A child that hangs is reaped by init after our end. */
void ctp_ppt_child_stop(struct ctp_ppt_child *c)
{
	if (!c->area)
		return;
	if (c->fd >= 0)
		close(c->fd);
	waitpid(c->pid, NULL, c->lost ? WNOHANG : 0);
	munmap((char *)c->area - offsetof(struct head, area), sizeof(struct head) + c->bytes);
	*c = (struct ctp_ppt_child){.fd = -1};
}

static bool wait_answer(const struct ctp_ppt_child *c, int limit_ms)
{
	const struct head *head = (const void *)((const char *)c->area - offsetof(struct head, area));
	struct pollfd fd = {.fd = c->fd, .events = POLLIN};
	for (int left_ms = limit_ms; left_ms > 0; left_ms -= PATIENCE_MS) {
		unsigned before = atomic_load_explicit(&head->progress, memory_order_relaxed);
		if (poll(&fd, 1, left_ms < PATIENCE_MS ? left_ms : PATIENCE_MS) > 0)
			return true;
		if (atomic_load_explicit(&head->progress, memory_order_relaxed) == before)
			return false;
	}
	return false;
}

bool ctp_ppt_child_call(struct ctp_ppt_child *c, ctp_ppt_child_fn *fn, int limit_ms)
{
	char byte;
	if (c->area && !c->lost && send(c->fd, &fn, sizeof fn, MSG_NOSIGNAL) == sizeof fn && wait_answer(c, limit_ms) &&
	    read(c->fd, &byte, 1) == 1)
		return true;
	if (c->area && !c->lost)
		kill(c->pid, SIGKILL);
	c->lost = true;
	errno = ETIMEDOUT;
	return false;
}
