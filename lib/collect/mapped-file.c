/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mapped-file.c - opens a mapped file as a place first (O_PATH), without any of its file systems being asked (RESOLVE_CACHED: what a
 * process has mapped is known to the kernel); looks which file and what sort of file system it is, again without asking
 * (AT_STATX_DONT_SYNC, /proc/PID/mountinfo); and only then opens it for reading.
 */
#include "collect/mapped-file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "collect/child-ask.h"
#include "collect/proc-dir.h"

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

/* As the process itself would see the path, also where that has links. Nothing is opened yet: it may be a device by now. */
static int find_in(int root, const char *path, uint64_t resolve)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	how.resolve |= root >= 0 ? RESOLVE_IN_ROOT : 0;
	return (int)syscall(SYS_openat2, root >= 0 ? root : AT_FDCWD, path, &how, sizeof how);
}

/* The process may have gone; which file it is, is seen later. */
static int find_file(int root, const char *path, uint64_t resolve)
{
	int fd = root >= 0 ? find_in(root, path, resolve) : -1;
	if (fd >= 0 || (root >= 0 && errno == EAGAIN))
		return fd;
	return find_in(-1, path, resolve);
}

/* Linux before 5.12, or a filter that does not know the call. */
static int find_plainly(int root, const char *path)
{
	int fd = root >= 0 ? openat(root, path + 1, O_PATH | O_CLOEXEC) : -1;
	return fd >= 0 ? fd : open(path, O_PATH | O_CLOEXEC);
}

/* --- what it is ----------------------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *type, const char *const *types)
{
	while (*types && strcmp(*types, type))
		types++;
	return *types;
}

/* The type of the file system with this device, which a descriptor of ours keeps from being another's. "": not known. */
static void fs_type(pid_t pid, unsigned major, unsigned minor, char type[32])
{
	char dir[CTP_PROCDIR_BYTES], path[CTP_PROCDIR_BYTES + 16], *line = NULL;
	size_t room = 0;
	type[0] = '\0';
	ctp_proc_dir(pid, dir);
	snprintf(path, sizeof path, "%s/mountinfo", dir);
	FILE *in = fopen(path, "re");
	if (!in)
		in = fopen("/proc/self/mountinfo", "re");
	while (in && !type[0] && getline(&line, &room, in) > 0) {
		unsigned at_major, at_minor;
		const char *dash = strstr(line, " - ");
		if (dash && sscanf(line, "%*d %*d %u:%u", &at_major, &at_minor) == 2 && at_major == major && at_minor == minor)
			sscanf(dash + 3, "%31s", type);
	}
	free(line);
	if (in)
		fclose(in);
}

/* Whether place is on a disk of this machine, or in its memory; and whether it is the file that was mapped. */
static bool is_near(const struct ctp_mapped_file *f, int place, bool *mapped)
{
	static const char *const near[] = {"overlay", "btrfs", "tmpfs", "zfs", "ramfs", "devtmpfs", "bcachefs", NULL};
	static const char *const differs[] = {"overlay", "btrfs", NULL}; /* a mapping has another device than the file */
	struct statx st;
	char type[32] = "";
	*mapped = false;
	if (statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st))
		return false;
	bool same = st.stx_dev_major == f->map.file.major && st.stx_dev_minor == f->map.file.minor;
	if (!st.stx_dev_major)
		fs_type(f->pid, st.stx_dev_major, st.stx_dev_minor, type);
	*mapped = S_ISREG(st.stx_mode) && st.stx_ino == f->map.file.ino && (same || is_one_of(type, differs));
	return st.stx_dev_major || is_one_of(type, near);
}

static void read_id(struct ctp_mapped_file *f, int place)
{
	int fd = ctp_fd_reopen(place, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	f->len = fd >= 0 ? ctp_buildid_file(fd, f->id) : 0;
	ctp_fd_close(fd);
}

size_t ctp_mapped_deleted(const char *path)
{
	static const char mark[] = " (deleted)";
	size_t len = strlen(path), mark_len = sizeof mark - 1;
	return len > mark_len && !strcmp(path + len - mark_len, mark) ? len - mark_len : 0;
}

int ctp_mapped_root(pid_t pid)
{
	return ctp_proc_open(pid, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

bool ctp_mapped_file(struct ctp_mapped_file *f)
{
	bool mapped;
	f->len = 0;
	if (ctp_mapped_deleted(f->map.path))
		return true;
	int place = find_file(f->root, f->map.path, RESOLVE_CACHED);
	if (place < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL))
		place = find_plainly(f->root, f->map.path);
	else if (place < 0)
		return errno != EAGAIN;
	if (place < 0)
		return true;
	bool near = is_near(f, place, &mapped);
	if (near && mapped)
		read_id(f, place);
	close(place);
	return near || !mapped;
}

/* --- to read all of it ---------------------------------------------------------------------------------------------------- */

/* The very file, whatever its path leads to by now: the first of these needs a capability. -1: neither is it. */
static int find_exactly(const struct ctp_mapped_file *f)
{
	char dir[CTP_PROCDIR_BYTES], path[CTP_PROCDIR_BYTES + 64];
	bool mapped = false;
	ctp_proc_dir(f->pid, dir);
	snprintf(path, sizeof path, "%s/map_files/%" PRIx64 "-%" PRIx64, dir, f->map.start, f->map.stop);
	int place = open(path, O_PATH | O_CLOEXEC);
	if (place >= 0)
		return place;
	snprintf(path, sizeof path, "%s/exe", dir);
	place = open(path, O_PATH | O_CLOEXEC);
	if (place >= 0)
		is_near(f, place, &mapped);
	if (place >= 0 && !mapped) {
		close(place);
		place = -1;
	}
	return place;
}

static int find_anyhow(const struct ctp_mapped_file *f, bool at_once)
{
	int place = find_exactly(f);
	if (place < 0 && !ctp_mapped_deleted(f->map.path))
		place = find_file(f->root, f->map.path, at_once ? RESOLVE_CACHED : 0);
	if (place < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL))
		place = find_plainly(f->root, f->map.path);
	return place;
}

int ctp_mapped_open(const struct ctp_mapped_file *f, bool at_once, bool *later)
{
	bool mapped;
	int place = find_anyhow(f, at_once), fd = -1;
	*later = at_once && place < 0 && errno == EAGAIN;
	if (place < 0)
		return -1;
	bool near = is_near(f, place, &mapped);
	*later = at_once && !near;
	if (mapped && !*later)
		fd = ctp_fd_reopen(place, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	close(place);
	return fd;
}

/* --- those that were put off ---------------------------------------------------------------------------------------------- */

struct answer {
	uint32_t number, len;
	uint8_t id[CTP_BUILD_ID_MAX];
};

struct put_off {
	struct ctp_mapped_file *files;
	size_t n;
};

static void answer(struct ctp_mapped_file *f, uint32_t number, int out)
{
	bool mapped = false;
	int place = find_file(f->root, f->map.path, 0);
	if (place >= 0)
		is_near(f, place, &mapped);
	if (mapped)
		read_id(f, place);
	ctp_fd_close(place);
	struct answer a = {.number = number, .len = (uint32_t)f->len};
	memcpy(a.id, f->id, f->len);
	if (write(out, &a, sizeof a) != sizeof a)
		_exit(1);
}

static void answer_all(void *arg, int out)
{
	const struct put_off *p = arg;
	for (size_t i = 0; i < p->n; i++)
		answer(&p->files[i], (uint32_t)i, out);
}

static void take(void *arg, const void *from_child)
{
	const struct put_off *p = arg;
	const struct answer *a = from_child;
	if (a->number >= p->n || a->len > sizeof a->id)
		return;
	memcpy(p->files[a->number].id, a->id, a->len);
	p->files[a->number].len = a->len;
}

bool ctp_mapped_files(struct ctp_mapped_file *files, size_t n)
{
	struct put_off all = {files, n};
	return !n || ctp_child_ask(&(struct ctp_child_ask){answer_all, take, &all, n, sizeof(struct answer), files[0].root}) == CTP_CHILD_ALL;
}
