/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pipe-fill.h - how many bytes wait in pipes of other processes.
 *
 * Only a descriptor of a pipe says that. To open /proc/PID/fd/N would make another reader or writer of it. So the descriptor is
 * copied, pidfd_getfd(2), asked and closed. Its number may have been used again by then, for a file whose file system the target
 * serves itself, and whose close waits for that. So a child process does it, without any other descriptor, and is waited for no
 * longer than half a second.
 */
#ifndef CTP_PIPE_FILL_H
#define CTP_PIPE_FILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ctp_pipe {
	pid_t pid;
	int fd;
	uint32_t ino; /* which pipe it should be; another one is not asked */
	bool found;
	bool ended;      /* of the end to read from: nobody can write any more */
	uint32_t unread; /* bytes */
};

/* Fills those that can be asked. False: the child did not come to its end in time, and it is better not to ask again. */
bool ctp_pipe_fill(struct ctp_pipe *pipes, size_t n);

#endif
