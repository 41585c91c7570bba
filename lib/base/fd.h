/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* fd.h - descriptors; -1 is none. */
#ifndef CTP_FD_H
#define CTP_FD_H

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "base/syscalls.h"

static inline void ctp_fd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Closes all that are open between two numbers, both included. */
static inline void ctp_fd_close_range(int from, int to)
{
	enum { MANY = 65536 };
	if (from > to || !syscall(SYS_close_range, (unsigned)from, (unsigned)to, 0))
		return;
	for (; from <= to && from < MANY; from++) /* Linux before 5.9 */
		close(from);
}

/* Opens the file of a descriptor once more, also that of one with O_PATH. */
static inline int ctp_fd_reopen(int fd, int flags)
{
	char self[32];
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return open(self, flags);
}

/*
 * Reads a file to its end, as one of /proc, and puts a NUL after it: at most room - 1 bytes. Returns its length; 0: it is empty, or
 * cannot be read. dir is as for openat(2).
 */
static inline size_t ctp_fd_read_file(int dir, const char *path, char *text, size_t room)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	for (ssize_t n; fd >= 0 && len < room - 1 && (n = read(fd, text + len, room - 1 - len)) > 0;)
		len += (size_t)n;
	ctp_fd_close(fd);
	text[len] = '\0';
	return len;
}

#endif
