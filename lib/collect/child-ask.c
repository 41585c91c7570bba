/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* child-ask.c - see child-ask.h. */
#include "collect/child-ask.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

#define LIMIT_NS UINT64_C(500000000) /* for all answers */

enum { AT_ONCE_BYTES = 4096 }; /* of answers */

void ctp_child_close_others(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;
	ctp_fd_close_range(0, low - 1); /* of -1, none */
	ctp_fd_close_range(low + 1, high - 1);
	ctp_fd_close_range(high + 1, INT_MAX);
}

/* A child of a child that ends at once: so nobody has to wait for this one. */
static bool start(const struct ctp_child_ask *ask, int out)
{
	pid_t child = fork();
	if (child > 0)
		return waitpid(child, NULL, 0) == child;
	if (child < 0)
		return false;
	if (fork())
		_exit(0);
	ctp_child_close_others(ask->keep, out);
	ask->work(ask->arg, out);
	_exit(0);
}

/* Each answer is written whole, and so is read whole. */
static size_t hear(const struct ctp_child_ask *ask, int in)
{
	uint64_t until_ns = ctp_clock_ns() + LIMIT_NS, now_ns;
	_Alignas(uint64_t) char answers[AT_ONCE_BYTES];
	size_t heard = 0, room = AT_ONCE_BYTES - AT_ONCE_BYTES % ask->answer_bytes;
	while (heard < ask->n && (now_ns = ctp_clock_ns()) < until_ns &&
	       poll(&(struct pollfd){.fd = in, .events = POLLIN}, 1, (int)((until_ns - now_ns) / 1000000) + 1) > 0) {
		ssize_t got = read(in, answers, room);
		if (got <= 0)
			break;
		for (size_t at = 0; at + ask->answer_bytes <= (size_t)got; at += ask->answer_bytes, heard++)
			ask->answer(ask->arg, answers + at);
	}
	return heard;
}

enum ctp_child_asked ctp_child_ask(const struct ctp_child_ask *ask)
{
	int ends[2];
	size_t heard = 0;
	if (pipe2(ends, O_CLOEXEC))
		return CTP_CHILD_NONE;
	bool started = start(ask, ends[1]);
	close(ends[1]);
	if (started)
		heard = hear(ask, ends[0]);
	close(ends[0]);
	return !started ? CTP_CHILD_NONE : heard == ask->n ? CTP_CHILD_ALL : CTP_CHILD_LATE;
}
