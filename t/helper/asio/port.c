/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * port - preloaded into an example that insists on port 55555: it gets a free one instead. When it listens there, it writes port
 * and pid to the FIFO $PORT_FIFO.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr_in in;
	if (addr->sa_family == AF_INET && len == sizeof in) {
		in = *(const struct sockaddr_in *)(const void *)addr;
		if (in.sin_port == htons(55555))
			in.sin_port = 0;
		addr = (const struct sockaddr *)&in;
	}
	return (int)syscall(SYS_bind, fd, addr, len);
}

int listen(int fd, int backlog)
{
	struct sockaddr_in in;
	socklen_t len = sizeof in;
	const char *fifo = getenv("PORT_FIFO");
	if (syscall(SYS_listen, fd, backlog))
		return -1;
	if (fifo && !getsockname(fd, (struct sockaddr *)&in, &len) && in.sin_family == AF_INET) {
		int to = open(fifo, O_WRONLY | O_CLOEXEC);
		dprintf(to, "%d %d\n", ntohs(in.sin_port), (int)getpid());
		close(to);
	}
	return 0;
}
