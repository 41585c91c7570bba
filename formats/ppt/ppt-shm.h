/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-shm.h - SysV segments of an agent.
 *
 * A segment is marked for removal as soon as we have attached it: Linux still lets others attach it by its id, as long as one
 * process has it. So however we end, the segment is gone when the target has let go of it too, and nothing has to be cleaned up.
 */
#ifndef CTP_PPT_SHM_H
#define CTP_PPT_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "ppt/ppt-memory.h"

struct ctp_ppt_shm {
	int id;      /* 0: no segment; clients take the id 0 for none, so it is never used */
	void *at;
	size_t bytes;
};

/* A segment of zeros, which this user may attach. Fails with the limit that was reached. */
enum ctp_status ctp_ppt_shm_new(struct ctp_ppt_shm *shm, size_t bytes, uid_t user, struct ctp_err *err);
void ctp_ppt_shm_free(struct ctp_ppt_shm *shm); /* of none: nothing */

struct ctp_ppt_shm_state {
	bool exists;
	pid_t creator;
	uid_t owner, maker; /* users */
	uint64_t attached; /* how often */
	uint64_t bytes;
	pid_t last;        /* the last process that attached it, forked with it or let go of it; 0: in another PID namespace */
	int64_t let_go_s;  /* when a process last let go of it */
};
struct ctp_ppt_shm_state ctp_ppt_shm_look(int id);

/* A segment, in the memory of a process. */
struct ctp_ppt_shm_map {
	int id;
	uint64_t base, bytes; /* bytes: of its first mapping */
	bool writable;
};

/*
 * The segments of any process, by way of the child that m has: with this id, or with -1 all; room of them at most. How many there
 * are.
 */
enum { CTP_PPT_SHM_MAPS_MAX = 1024 };
size_t ctp_ppt_shm_maps(const struct ctp_ppt_memory *m, pid_t pid, int id, struct ctp_ppt_shm_map *maps, size_t room);

static inline bool ctp_ppt_shm_find(const struct ctp_ppt_memory *m, pid_t pid, int id, struct ctp_ppt_shm_map *map)
{
	return id >= 0 && ctp_ppt_shm_maps(m, pid, id, map, 1);
}

/* From now on ids are those of the process's IPC namespace. */
enum ctp_status ctp_ppt_shm_join(pid_t pid, struct ctp_err *err);

#endif
