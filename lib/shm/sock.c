/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sock.c - makes the socket, with or without a lasting name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "shm/memory.h"
#include "shm/sock.h"

enum { BACKLOG = 1024 }; /* the system cuts it to its own limit */

static bool sock_bind(struct ctp_sock *sock)
{
	mode_t before = umask(0177); /* from its first moment it is for this user alone */
	bool done = !bind(sock->fd, (const struct sockaddr *)&sock->addr, sizeof sock->addr);
	umask(before);
	if (!done)
		return false;
	sock->inode_fd = open(sock->addr.sun_path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (sock->inode_fd >= 0 && !listen(sock->fd, BACKLOG))
		return true;
	int saved = errno;
	unlink(sock->addr.sun_path);
	errno = saved;
	return false;
}

static enum ctp_status sock_name(struct ctp_sock *sock, const char *path, struct ctp_err *err)
{
	if (!ctp_path_absolute(sock->path, path) || strlen(sock->path) >= sizeof sock->addr.sun_path)
		return ctp_err_set(err, "%s: path too long for a socket (at most %zu bytes, absolute)", path,
		                   sizeof sock->addr.sun_path - 1);
	strcpy(sock->addr.sun_path, sock->path);
	if (!sock_bind(sock))
		return errno == EADDRINUSE ? ctp_err_set(err, "%s: exists already; it must not", path) :
		                             ctp_err_sys(err, "%s", path);
	sock->named = true;
	return CTP_OK;
}

static enum ctp_status sock_hide(struct ctp_sock *sock, struct ctp_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char folder[sizeof sock->addr.sun_path - 2];
	if (!tmp || tmp[0] != '/' || strlen(tmp) + sizeof "/ctp-XXXXXX" > sizeof folder)
		tmp = "/tmp";
	snprintf(folder, sizeof folder, "%s/ctp-XXXXXX", tmp);
	if (!mkdtemp(folder)) {
		ctp_err_sys(err, "%s", folder);
		strcpy(folder, "/dev/shm/ctp-XXXXXX"); /* a container may have no /tmp, or one that cannot be written to */
		if (!mkdtemp(folder))
			return CTP_FAILED;
	}
	snprintf(sock->addr.sun_path, sizeof sock->addr.sun_path, "%s/s", folder);
	enum ctp_status st = CTP_OK;
	if (!sock_bind(sock))
		st = ctp_err_sys(err, "%s", sock->addr.sun_path);
	unlink(sock->addr.sun_path);
	rmdir(folder);
	snprintf(sock->path, sizeof sock->path, "/proc/%d/fd/%d", (int)getpid(), sock->inode_fd);
	return st;
}

enum ctp_status ctp_sock_init(struct ctp_sock *sock, const char *path, struct ctp_err *err)
{
	*sock = (struct ctp_sock){.fd = -1, .inode_fd = -1, .addr.sun_family = AF_UNIX};
	enum ctp_status st;
	sock->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock->fd < 0)
		st = ctp_err_sys(err, "socket");
	else
		st = path ? sock_name(sock, path, err) : sock_hide(sock, err);
	if (st)
		ctp_sock_fini(sock);
	return st;
}

int ctp_sock_accept(struct ctp_sock *sock) { return accept4(sock->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

void ctp_sock_fini(struct ctp_sock *sock)
{
	if (sock->named)
		unlink(sock->path);
	ctp_fd_close(sock->inode_fd);
	ctp_fd_close(sock->fd);
	sock->fd = sock->inode_fd = -1;
	sock->named = false;
}
