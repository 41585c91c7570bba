/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* limit.c - see limit.h. Uses nothing that a fork from a process with threads would leave locked. */
#include "base/limit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"

/* RLIMIT_DATA counts these: also what the child of a fork has from its parent. */
static uint64_t private_bytes(void)
{
	char text[200], *p = text; /* numbers of pages, of which the sixth is meant */
	ctp_fd_read_file(AT_FDCWD, "/proc/self/statm", text, sizeof text);
	for (int i = 0; i < 5; i++)
		strtoull(p, &p, 10);
	return strtoull(p, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void ctp_limit_memory(uint64_t more_bytes)
{
	struct rlimit limit;
	uint64_t most = private_bytes() + more_bytes;
	if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	setrlimit(RLIMIT_DATA, &limit);
}
