/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mapped-file.h - the build-ids of files that a process has mapped, found by their paths as the process sees them.
 *
 * The path and the file systems on it are the target's choice, and may be of those that never answer. So a path is followed as far
 * as that needs nobody's answer, and a file is read at once where it is on a disk or in memory. Any other is put off: a child
 * process reads those, all together, and is not waited for any longer than for a moment.
 */
#ifndef CTP_MAPPED_FILE_H
#define CTP_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/buildid.h"
#include "collect/proc-maps.h"

struct ctp_mapped_file {
	pid_t pid;
	int root; /* of that process: a descriptor, or -1 */
	struct ctp_mapping map;
	uint8_t id[CTP_BUILD_ID_MAX];
	size_t len; /* of id; 0: none, or not known */
};

/* The root of a process, as a place; -1: it has gone. */
int ctp_mapped_root(pid_t pid);

/* Bytes of a path without the mark that the kernel puts after that of a deleted file; 0: it has none. */
size_t ctp_mapped_deleted(const char *path);

/* False: to be put off. */
bool ctp_mapped_file(struct ctp_mapped_file *f);

/* Those that were put off, all of one process. False: some are without an answer, for it took too long. */
bool ctp_mapped_files(struct ctp_mapped_file *files, size_t n);

/*
 * Opens it for reading; id and len stay as they are. -1: it cannot be opened. at_once: only where that needs nobody's answer, and
 * *later says if it was for that; else the call may hang, and is for a child that can be left alone.
 */
int ctp_mapped_open(const struct ctp_mapped_file *f, bool at_once, bool *later);

#endif
