/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * proc-maps.h - /proc/PID/maps: what a process has mapped.
 *
 * The target decides what stands there (names, number of lines), so everything is bounded; a process may end while it is read.
 */
#ifndef CTP_PROC_MAPS_H
#define CTP_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* A file as the kernel names it there; st_dev of a stat may differ (overlayfs, btrfs). */
struct ctp_map_file {
	unsigned major, minor;
	uint64_t ino;
};

struct ctp_mapping {
	uint64_t start, stop, offset;
	bool exec, write;
	struct ctp_map_file file; /* ino 0: none */
	const char *path;         /* "" for none; good until the next one is read */
};

struct ctp_proc_maps {
	FILE *in;
	char *line;
	size_t room;
	unsigned left; /* lines that will still be read */
};

/* Of what the process is now: at its end, and when it becomes another program, there is nothing more to be read. -1: none. */
int ctp_proc_maps_fd(pid_t pid);

bool ctp_proc_maps_open(struct ctp_proc_maps *m, pid_t pid);
bool ctp_proc_maps_next(struct ctp_proc_maps *m, struct ctp_mapping *map);
void ctp_proc_maps_close(struct ctp_proc_maps *m);

static inline bool ctp_map_file_same(const struct ctp_map_file *a, const struct ctp_map_file *b)
{
	return a->ino == b->ino && a->major == b->major && a->minor == b->minor;
}

/* The file that this process has mapped at addr. */
bool ctp_proc_maps_file_at(const void *addr, struct ctp_map_file *file);

bool ctp_proc_maps_has(pid_t pid, const struct ctp_map_file *file);

#endif
