/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-maps.c - reads /proc/PID/maps.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/proc-dir.h"
#include "collect/proc-maps.h"

enum { LINES_MAX = 1 << 17 }; /* twice the system's own default limit */

int ctp_proc_maps_fd(pid_t pid)
{
	return ctp_proc_open(pid, "maps", O_RDONLY | O_CLOEXEC);
}

bool ctp_proc_maps_open(struct ctp_proc_maps *m, pid_t pid)
{
	int fd = ctp_proc_maps_fd(pid);
	*m = (struct ctp_proc_maps){.in = fd < 0 ? NULL : fdopen(fd, "r"), .left = LINES_MAX};
	if (fd >= 0 && !m->in)
		close(fd);
	return m->in;
}

bool ctp_proc_maps_next(struct ctp_proc_maps *m, struct ctp_mapping *map)
{
	while (m->left && getline(&m->line, &m->room, m->in) > 0) {
		m->left--;
		char perms[5];
		int at = 0;
		*map = (struct ctp_mapping){0};
		if (sscanf(m->line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &map->start, &map->stop,
		           perms, &map->offset, &map->file.major, &map->file.minor, &map->file.ino, &at) != 7)
			continue;
		map->exec = strchr(perms, 'x');
		map->write = strchr(perms, 'w');
		m->line[strcspn(m->line, "\n")] = '\0';
		map->path = m->line + at;
		return true;
	}
	return false;
}

void ctp_proc_maps_close(struct ctp_proc_maps *m)
{
	if (m->in)
		fclose(m->in);
	free(m->line);
	*m = (struct ctp_proc_maps){0};
}

bool ctp_proc_maps_file_at(const void *addr, struct ctp_map_file *file)
{
	struct ctp_proc_maps m;
	struct ctp_mapping map;
	bool found = false;
	if (!ctp_proc_maps_open(&m, getpid()))
		return false;
	while (!found && ctp_proc_maps_next(&m, &map)) {
		found = map.start <= (uintptr_t)addr && (uintptr_t)addr < map.stop && map.file.ino;
		*file = map.file;
	}
	ctp_proc_maps_close(&m);
	return found;
}

bool ctp_proc_maps_has(pid_t pid, const struct ctp_map_file *file)
{
	struct ctp_proc_maps m;
	struct ctp_mapping map;
	bool found = false;
	if (!ctp_proc_maps_open(&m, pid))
		return false;
	while (!found && ctp_proc_maps_next(&m, &map))
		found = ctp_map_file_same(&map.file, file);
	ctp_proc_maps_close(&m);
	return found;
}
