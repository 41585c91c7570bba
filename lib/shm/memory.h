/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * memory.h - the shared memory that stations live in, as the collector makes it.
 *
 * Without a path it is a memfd that no process can grow or shrink, reached by the target as /proc/<collector>/fd/N: it needs no
 * name, and nothing is left behind whatever happens. With a path it is a file (0600, new), which the target could truncate
 * under us: reading what is gone gives zeros then, not a signal.
 */
#ifndef CTP_MEMORY_H
#define CTP_MEMORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/err.h"

/* The field's C++ SDK computes 1024 x (1 + n) in an int. */
enum { CTP_STATIONS_MAX = 2097150 };

struct ctp_memory_conf {
	const char *path;      /* null: a memfd */
	uint32_t max_stations;
	uint32_t ring_events;  /* for each thread, rounded up to a power of two; 0: 2^CTP_ANNEX_RING_BITS */
};

struct ctp_memory {
	void *base;
	size_t bytes;
	int fd;
	char path[PATH_MAX]; /* as the target is told */
	bool named;          /* path is a file to be removed */
};

/*
 * Creates, maps and writes the header, annex included (it is not open yet). Where a limit of the system stands against it,
 * there are fewer rings, and smaller ones. One at a time in a process: the guard against truncation is a signal handler.
 */
enum ctp_status ctp_memory_init(struct ctp_memory *shm, const struct ctp_memory_conf *conf, struct ctp_err *err);

/* Maps the file of fd, without a guard. False: errno says why. */
bool ctp_memory_map(struct ctp_memory *shm, size_t bytes);

void ctp_memory_fini(struct ctp_memory *shm);

/*
 * From here on the budget pays for each page that a look of ours makes where the memory has a hole; or, where the system has no
 * userfaultfd(2) for us, for all that we look at. When there is no more, all but the header reads as zeros: it is severed.
 */
enum ctp_status ctp_memory_charge(const struct ctp_memory *shm, struct ctp_budget *budget, struct ctp_err *err);
bool ctp_memory_severed(void);

/* True once a part of it was found cut off. */
bool ctp_memory_truncated(void);

/* path, absolute, for a target that changes its folder. False: too long. */
bool ctp_path_absolute(char out[PATH_MAX], const char *path);

#endif
