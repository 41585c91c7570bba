/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * memory.c - makes the shared memory, and maps it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "shm/arena.h"
#include "shm/memory-guard.h"
#include "shm/memory.h"

enum { RING_BITS_MIN = 11, RINGS_FEW = 16 }; /* a ring is whole pages, which have 64 KiB at the most */

bool ctp_path_absolute(char out[PATH_MAX], const char *path)
{
	char cwd[PATH_MAX] = "";
	if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
		return false;
	int n = snprintf(out, PATH_MAX, "%s%s%s", cwd, *cwd ? "/" : "", path);
	return n > 0 && n < PATH_MAX;
}

/* --- making --------------------------------------------------------------------------------------------------------------- */

static enum ctp_status create(struct ctp_memory *shm, const char *path, struct ctp_err *err)
{
	if (path) {
		if (!ctp_path_absolute(shm->path, path))
			return ctp_err_as(err, CTP_ERR_USAGE, "%s: path too long", path);
		shm->fd = open(shm->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (shm->fd < 0 && errno == EEXIST)
			return ctp_err_as(err, CTP_ERR_REFUSED, "%s: exists already; it must not", path);
		if (shm->fd < 0)
			return ctp_err_sys(err, "%s", path);
		shm->named = true;
	} else {
		shm->fd = memfd_create("ctp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (shm->fd < 0)
			return ctp_err_sys(err, "memfd_create");
		snprintf(shm->path, sizeof shm->path, "/proc/%d/fd/%d", (int)getpid(), shm->fd);
	}
	return CTP_OK;
}

bool ctp_memory_map(struct ctp_memory *shm, size_t bytes)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, shm->fd, 0);
	if (base == MAP_FAILED)
		return false;
	shm->base = base;
	shm->bytes = bytes;
	madvise(base, bytes, MADV_DONTFORK); /* a process that maps it is then a traced one, or this */
	madvise(base, bytes, MADV_DONTDUMP); /* it may be larger than any disk */
	return true;
}

/* Makes the file this long, and maps it. */
static enum ctp_status shm_size(struct ctp_memory *shm, size_t bytes, struct ctp_err *err)
{
	struct rlimit file;
	shm->bytes = bytes;
	if (!getrlimit(RLIMIT_FSIZE, &file) && bytes > file.rlim_cur) /* asking for it would end us by SIGXFSZ */
		return ctp_err_set(err, "%s: the limit of a file's size is below %zu bytes", shm->path, bytes);
	if (ftruncate(shm->fd, (off_t)bytes))
		return ctp_err_sys(err, "%s: making %zu bytes", shm->path, bytes);
	/* A probe reserves what it writes to. Where a file system cannot, its pages are asked for one by one. */
	if (shm->named && fallocate(shm->fd, 0, 0, sizeof(struct ctp_shm_header)) && errno != EOPNOTSUPP)
		return ctp_err_sys(err, "%s: room for its header", shm->path);
	if (!ctp_memory_map(shm, bytes))
		return ctp_err_sys(err, "%s: mapping %zu bytes", shm->path, bytes);
	return ctp_memory_guard(shm, err);
}

enum ctp_status ctp_memory_init(struct ctp_memory *shm, const struct ctp_memory_conf *conf, struct ctp_err *err)
{
	struct ctp_geometry geo = {conf->max_stations, CTP_ANNEX_SITES, CTP_ANNEX_RINGS, CTP_ANNEX_RING_BITS, CTP_ANNEX_OBJECTS};
	if (conf->ring_events)
		for (geo.ring_bits = RING_BITS_MIN; (conf->ring_events - 1) >> geo.ring_bits; geo.ring_bits++)
			;
	*shm = (struct ctp_memory){.fd = -1};
	if (!ctp_arena_bytes(&geo)) {
		ctp_err_set(err, "rings of %u events: 2^%d is the most", conf->ring_events, CTP_ANNEX_RING_BITS_MAX);
		goto failed;
	}
	if (create(shm, conf->path, err))
		goto failed;
	while (shm_size(shm, ctp_arena_bytes(&geo), err)) {
		if (geo.max_rings > RINGS_FEW)
			geo.max_rings /= 2;
		else if (geo.ring_bits > RING_BITS_MIN)
			geo.ring_bits--;
		else
			goto failed;
	}
	if (!conf->path && fcntl(shm->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		ctp_err_sys(err, "sealing the shared memory");
		goto failed;
	}
	ctp_arena_make(shm->base, &geo);
	return CTP_OK;
failed:
	ctp_memory_fini(shm);
	return CTP_FAILED;
}

void ctp_memory_fini(struct ctp_memory *shm)
{
	if (shm->base) {
		ctp_memory_guard_end(shm);
		munmap(shm->base, shm->bytes);
	}
	if (shm->named)
		unlink(shm->path);
	ctp_fd_close(shm->fd);
	shm->base = NULL;
	shm->named = false;
	shm->fd = -1;
}
