/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* proc-dir.c - looks for a thread that still has a memory: one that has shows what it executes. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/proc-dir.h"

static bool has_memory(const char *dir)
{
	char path[CTP_PROCDIR_BYTES + 8], first;
	snprintf(path, sizeof path, "%s/exe", dir);
	return readlink(path, &first, 1) > 0;
}

bool ctp_proc_dir(pid_t pid, char dir[CTP_PROCDIR_BYTES])
{
	char path[CTP_PROCDIR_BYTES];
	snprintf(dir, CTP_PROCDIR_BYTES, "/proc/%d", (int)pid);
	if (has_memory(dir) || errno != ENOENT)
		return true;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	bool found = false;
	for (struct dirent *e; tasks && !found && (e = readdir(tasks));) {
		snprintf(path, sizeof path, "/proc/%d/task/%.10s", (int)pid, e->d_name);
		found = e->d_name[0] != '.' && has_memory(path);
	}
	if (tasks)
		closedir(tasks);
	if (found)
		snprintf(dir, CTP_PROCDIR_BYTES, "%s", path);
	return found;
}

int ctp_proc_open(pid_t pid, const char *name, int flags)
{
	char dir[CTP_PROCDIR_BYTES], path[CTP_PROCDIR_BYTES + 8];
	ctp_proc_dir(pid, dir);
	assert(strlen(name) < sizeof path - sizeof dir);
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return open(path, flags);
}
