/* procdir.c - looks for a thread that still has a memory: one that has shows what it executes. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "procdir.h"

static bool has_memory(const char *dir)
{
	char path[CTP_PROCDIR_BYTES + 8], first;
	snprintf(path, sizeof(path), "%s/exe", dir);
	return readlink(path, &first, 1) > 0;
}

void ctp_procdir(pid_t pid, char dir[CTP_PROCDIR_BYTES])
{
	char path[CTP_PROCDIR_BYTES];
	snprintf(dir, CTP_PROCDIR_BYTES, "/proc/%d", (int)pid);
	if (has_memory(dir) || errno != ENOENT)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	for (struct dirent *e; tasks && (e = readdir(tasks));) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.10s", (int)pid, e->d_name);
		if (e->d_name[0] == '.' || !has_memory(path))
			continue;
		snprintf(dir, CTP_PROCDIR_BYTES, "%s", path);
		break;
	}
	if (tasks)
		closedir(tasks);
}
