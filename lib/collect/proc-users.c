/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-users.c - goes through /proc.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "collect/end-signal.h"
#include "collect/proc-dir.h"
#include "collect/proc-users.h"

enum { ENVIRON_BYTES = 128 << 10 };

pid_t ctp_proc_users_next(DIR *proc)
{
	for (struct dirent *e; (e = readdir(proc));) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0;
		if (pid && pid != getpid())
			return pid;
	}
	return 0;
}

size_t ctp_proc_users_find(const struct ctp_map_file *file, pid_t *pids, size_t room)
{
	size_t n = 0;
	DIR *proc = opendir("/proc");
	if (!proc)
		return 0;
	bool ends = false;
	for (pid_t pid; n < room && !ends && (pid = ctp_proc_users_next(proc)); ends = ctp_end_signal()) {
		if (ctp_proc_maps_has(pid, file))
			pids[n++] = pid;
	}
	closedir(proc);
	return n;
}

static bool environ_has(pid_t pid, const char *assignment, char *text)
{
	char path[CTP_PROCDIR_BYTES + 8];
	ctp_proc_dir(pid, path);
	strcat(path, "/environ");
	size_t len = ctp_fd_read_file(AT_FDCWD, path, text, ENVIRON_BYTES);
	return len && memmem(text, len, assignment, strlen(assignment) + 1);
}

/* As for arguments, the kernel reads no page of a file for an environment. */
bool ctp_proc_users_heir(const char *assignment)
{
	bool found = false;
	DIR *proc = opendir("/proc");
	char *text = malloc(ENVIRON_BYTES);
	for (pid_t pid; proc && text && !found && !ctp_end_signal() && (pid = ctp_proc_users_next(proc));)
		found = environ_has(pid, assignment, text);
	free(text);
	if (proc)
		closedir(proc);
	return found || ctp_end_signal();
}
