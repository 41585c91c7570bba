/*
 * ppt-shm.h - SysV segments of an agent.
 *
 * A segment is marked for removal as soon as we have it attached: Linux lets others attach it by its id all the same, as long as one
 * has it. So whatever becomes of us, it is gone when the target has let go of it too, and nothing is left to be cleaned up.
 */
#ifndef CTP_PPT_SHM_H
#define CTP_PPT_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct ctp_ppt_shm {
	int id;      /* never 0, which clients take for none; 0: no segment */
	void *at;
	size_t bytes;
};

/* Zeros, for the user who may attach it too. Fails with the limit that was met. */
enum ctp_status ctp_ppt_shm_new(struct ctp_ppt_shm *shm, size_t bytes, uid_t user, struct ctp_err *err);
void ctp_ppt_shm_free(struct ctp_ppt_shm *shm); /* of none: nothing */

struct ctp_ppt_shm_state {
	bool exists;
	pid_t creator;
	uint64_t attached; /* how often */
	uint64_t bytes;
	bool going;        /* marked for removal */
};
struct ctp_ppt_shm_state ctp_ppt_shm_look(int id);

/* Another's, for writing; not made by us and not to be removed. False: it is not to be had. */
bool ctp_ppt_shm_borrow(struct ctp_ppt_shm *shm, int id);

/* Where a process has a segment; 0: nowhere. */
uint64_t ctp_ppt_shm_base(pid_t pid, int id);

/* Calls fn for the id and base of each segment that a process has, until it is true. */
bool ctp_ppt_shm_each(pid_t pid, bool (*fn)(void *arg, int id, uint64_t base), void *arg);

/* From now on ids are those of the process's IPC namespace. */
enum ctp_status ctp_ppt_shm_join(pid_t pid, struct ctp_err *err);

#endif
