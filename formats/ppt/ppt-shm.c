/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-shm.c - makes and finds segments.
 */
#include "ppt/ppt-shm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/proc-maps.h"

static enum ctp_status refused(size_t bytes, struct ctp_err *err)
{
	if (errno == EINVAL)
		return ctp_err_set(err, "a ring of %zu bytes: kernel.shmmax is %" PRIu64 "; -n takes fewer slots", bytes,
		                   ctp_ppt_memory_setting("shmmax"));
	if (errno == ENOSPC)
		return ctp_err_set(err, "a ring of %zu bytes: there are kernel.shmmni = %" PRIu64 " segments already, or kernel.shmall = %" PRIu64
		                   " pages are used; ipcs -m shows them", bytes, ctp_ppt_memory_setting("shmmni"),
		                   ctp_ppt_memory_setting("shmall"));
	return ctp_err_sys(err, "a ring of %zu bytes: shmget", bytes);
}

static int make(size_t bytes)
{
	int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
	if (id)
		return id;
	id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
	int why = errno;
	shmctl(0, IPC_RMID, NULL);
	errno = why;
	return id;
}

static bool give_to(int id, uid_t user)
{
	struct shmid_ds ds;
	if (user == (uid_t)-1 || user == geteuid())
		return true;
	if (shmctl(id, IPC_STAT, &ds))
		return false;
	ds.shm_perm.uid = user;
	return !shmctl(id, IPC_SET, &ds);
}

enum ctp_status ctp_ppt_shm_new(struct ctp_ppt_shm *shm, size_t bytes, uid_t user, struct ctp_err *err)
{
	int id = make(bytes);
	*shm = (struct ctp_ppt_shm){0};
	if (id < 0)
		return refused(bytes, err);
	void *at = shmat(id, NULL, 0);
	int why = errno;
	shmctl(id, IPC_RMID, NULL);
	errno = why;
	if (at == (void *)-1)
		return ctp_err_sys(err, "a ring of %zu bytes: shmat", bytes);
	*shm = (struct ctp_ppt_shm){.id = id, .at = at, .bytes = bytes};
	madvise(at, bytes, MADV_DONTFORK); /* the number of attaches shows children of the process, and must not count ours */
	if (give_to(id, user))
		return CTP_OK;
	ctp_err_sys(err, "a segment for the user %u", (unsigned)user);
	ctp_ppt_shm_free(shm);
	return CTP_FAILED;
}

void ctp_ppt_shm_free(struct ctp_ppt_shm *shm)
{
	if (shm->at)
		shmdt(shm->at);
	*shm = (struct ctp_ppt_shm){0};
}

struct ctp_ppt_shm_state ctp_ppt_shm_look(int id)
{
	struct shmid_ds ds;
	if (shmctl(id, IPC_STAT, &ds))
		return (struct ctp_ppt_shm_state){.exists = errno == EACCES, .attached = errno == EACCES ? 2 : 0};
	return (struct ctp_ppt_shm_state){.exists = true, .creator = ds.shm_cpid, .owner = ds.shm_perm.uid, .maker = ds.shm_perm.cuid,
	                                  .attached = ds.shm_nattch, .bytes = ds.shm_segsz,
	                                  .last = ds.shm_lpid, .let_go_s = ds.shm_dtime};
}

/* --- in the mappings of a process ------------------------------------------------------------------------------------------ */

struct area {
	pid_t pid;
	int id; /* -1: all */
	size_t room, n;
	struct ctp_ppt_shm_map maps[CTP_PPT_SHM_MAPS_MAX];
};
_Static_assert(sizeof(struct area) <= CTP_PPT_MEMORY_AREA, "it is in the child's area");

/* In the child: the process can hold the lock of its mappings for ever. */
static void find_here(void *area)
{
	struct area *a = area;
	struct ctp_proc_maps maps;
	struct ctp_mapping map;
	a->n = 0;
	if (!ctp_proc_maps_open(&maps, a->pid))
		return;
	while (a->n < a->room && ctp_proc_maps_next(&maps, &map))
		if (map.file.ino <= INT_MAX && !strncmp(map.path, "/SYSV", 5) && !map.offset &&
		    (a->id == -1 || a->id == (int)map.file.ino))
			a->maps[a->n++] = (struct ctp_ppt_shm_map){.id = (int)map.file.ino, .base = map.start, .bytes = map.stop - map.start,
			                                           .writable = map.write};
	ctp_proc_maps_close(&maps);
}

size_t ctp_ppt_shm_maps(const struct ctp_ppt_memory *m, pid_t pid, int id, struct ctp_ppt_shm_map *maps, size_t room)
{
	struct area *a = m->child->area;
	a->pid = pid;
	a->id = id;
	a->room = room < CTP_PPT_SHM_MAPS_MAX ? room : CTP_PPT_SHM_MAPS_MAX;
	if (!ctp_ppt_memory_call(m, find_here))
		return 0;
	memcpy(maps, a->maps, a->n * sizeof *maps);
	return a->n;
}

/* --- namespaces ------------------------------------------------------------------------------------------------------------ */

enum ctp_status ctp_ppt_shm_join(pid_t pid, struct ctp_err *err)
{
	char path[32];
	struct stat ours, theirs;
	snprintf(path, sizeof path, "/proc/%d/ns/ipc", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &theirs) || stat("/proc/self/ns/ipc", &ours) ||
	    (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)) {
		if (fd >= 0)
			close(fd);
		return CTP_OK;
	}
	bool joined = !setns(fd, CLONE_NEWIPC);
	close(fd);
	return joined ? CTP_OK : ctp_err_sys(err, "process %d: is in another IPC namespace, which only root can enter (CAP_SYS_ADMIN); "
	                                          "or run this inside", (int)pid);
}
