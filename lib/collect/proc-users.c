/*
 * proc-users.c - goes through /proc.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	int fd = ctp_proc_open(pid, "environ", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size_t len = 0;
	for (ssize_t n; len < ENVIRON_BYTES && (n = read(fd, text + len, ENVIRON_BYTES - len)) > 0;)
		len += (size_t)n;
	close(fd);
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
