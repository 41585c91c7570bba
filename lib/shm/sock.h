/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sock.h - the socket that targets connect to, to wake the collector.
 *
 * Without a path it has a name only for the moment of its making; afterwards the target reaches it as /proc/<collector>/fd/N,
 * where N is an O_PATH descriptor of the socket's inode (connect follows it). With a path it stays there (0600) until the end.
 */
#ifndef CTP_SOCK_H
#define CTP_SOCK_H

#include <limits.h>
#include <stdbool.h>
#include <sys/un.h>

#include "base/err.h"

enum { CTP_CONNECTIONS_MAX = 16384 }; /* at once; beyond it they wait in the backlog */

struct ctp_sock {
	int fd;                  /* listens, non-blocking */
	int inode_fd;            /* O_PATH */
	struct sockaddr_un addr; /* as bound: what getsockname says of each accepted connection */
	char path[PATH_MAX];     /* as the target is told */
	bool named;              /* path is to be removed */
};

enum ctp_status ctp_sock_init(struct ctp_sock *sock, const char *path, struct ctp_err *err);
void ctp_sock_fini(struct ctp_sock *sock);

/* Non-blocking, close-on-exec. -1 with errno. */
int ctp_sock_accept(struct ctp_sock *sock);

#endif
