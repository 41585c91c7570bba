/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* folder.c - see folder.h. */
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/syscalls.h"

enum { HOW = O_PATH | O_DIRECTORY | O_CLOEXEC }; /* a folder may be written to, and not read */

static enum ctp_status make_all(const char *path, struct ctp_err *err)
{
	char part[PATH_MAX];
	size_t len = strlen(path);
	if (len >= sizeof part)
		return ctp_err_as(err, CTP_ERR_USAGE, "%.40s...: the name is too long", path);
	for (size_t i = 1; i <= len; i++) {
		if (path[i] && path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0777) && errno != EEXIST)
			return ctp_err_sys(err, "%s", part);
	}
	return CTP_OK;
}

int ctp_folder_open(const char *path, bool make, struct ctp_err *err)
{
	if (make && make_all(path, err))
		return -1;
	int fd = open(path, HOW);
	if (fd < 0)
		ctp_err_sys(err, "%s", path);
	return fd;
}

/* One name. Without O_NOFOLLOW's refusal openat(2) says ENOTDIR of a link, so a link is looked for. */
static int step(int folder, const char *name, bool make)
{
	struct stat st;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return errno = EXDEV, -1;
	if (make && mkdirat(folder, name, 0777) && errno != EEXIST)
		return -1;
	int fd = openat(folder, name, HOW | O_NOFOLLOW);
	if (fd < 0 && errno == ENOTDIR && !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
		errno = ELOOP;
	return fd;
}

/* Name by name, where the kernel does not know openat2(2), a filter of system calls refuses it, or a folder is missing. */
static int walk(int folder, const char *path, const char *names, bool make, struct ctp_err *err)
{
	char name[NAME_MAX + 1];
	int at = folder;
	for (const char *from = names, *end; at >= 0; from = end + 1) {
		end = from + strcspn(from, "/");
		errno = ENAMETOOLONG;
		int next = snprintf(name, sizeof name, "%.*s", (int)(end - from), from) < (int)sizeof name ? step(at, name, make) : -1;
		if (next < 0 && errno == ELOOP)
			ctp_err_as(err, CTP_ERR_REFUSED, "%s/%.*s: is a link, and below %s none is followed", path,
			           (int)(end - names), names, path);
		else if (next < 0)
			ctp_err_sys(err, "%s/%.*s", path, (int)(end - names), names);
		if (at != folder)
			close(at);
		at = next;
		if (!*end)
			break;
	}
	return at;
}

int ctp_folder_below(int folder, const char *path, const char *names, bool make, struct ctp_err *err)
{
	struct open_how how = {.flags = HOW, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	int fd = (int)syscall(SYS_openat2, folder, names, &how, sizeof how);
	return fd >= 0 ? fd : walk(folder, path, names, make, err);
}

DIR *ctp_folder_list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

int ctp_folder_of(const char *path, const char **name, struct ctp_err *err)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path + 1) : 2;
	*name = slash ? slash + 1 : path;
	if (len >= PATH_MAX) {
		ctp_err_as(err, CTP_ERR_USAGE, "%.40s...: the name is too long", path);
		return -1;
	}
	snprintf(folder, sizeof folder, "%.*s", len, slash ? path : "./");
	int fd = open(folder, HOW);
	if (fd < 0)
		ctp_err_sys(err, "%s", path);
	return fd;
}
