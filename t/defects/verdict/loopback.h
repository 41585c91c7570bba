/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * loopback.h - listeners on 127.0.0.1, and clients that are plain threads without a probe, so that a program of the corpus is only
 * the server, as in real life. For C and C++.
 */
#ifndef CORPUS_LOOPBACK_H
#define CORPUS_LOOPBACK_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LO_FN static __attribute__((unused, noinline))

LO_FN int lo_socket(int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0), one = 1;
	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one))
		abort();
	return fd;
}

LO_FN struct sockaddr_in lo_address(int port)
{
	struct sockaddr_in a;
	memset(&a, 0, sizeof a);
	a.sin_family = AF_INET;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons((uint16_t)port);
	return a;
}

/* A listener that does not block, on a port that the kernel chooses. */
LO_FN int lo_listen(int *port)
{
	struct sockaddr_in a = lo_address(0);
	socklen_t len = sizeof a;
	int fd = lo_socket(SOCK_NONBLOCK);
	if (bind(fd, (struct sockaddr *)&a, len) || listen(fd, 100) || getsockname(fd, (struct sockaddr *)&a, &len))
		abort();
	*port = ntohs(a.sin_port);
	return fd;
}

LO_FN int lo_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

/* A connection; one on loopback is there at once. flags: SOCK_NONBLOCK or 0. */
LO_FN int lo_connect(int port, int flags)
{
	struct sockaddr_in a = lo_address(port);
	int fd = lo_socket(0);
	if (connect(fd, (struct sockaddr *)&a, sizeof a))
		abort();
	if (!flags)
		return fd;
	int other = dup(fd); /* fcntl's header has other names in C++ */
	close(fd);
	return other;
}

LO_FN void lo_nap(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
	nanosleep(&t, NULL);
}

LO_FN int lo_ms(void)
{
	static struct timespec start;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	if (!start.tv_sec)
		start = t;
	return (int)((t.tv_sec - start.tv_sec) * 1000 + (t.tv_nsec - start.tv_nsec) / 1000000);
}

/* What one client does: a request in two parts, its answer, a pause, again; for busy_ms, or for ever if that is 0. Then nothing. */
struct lo_client {
	int port, busy_ms, pause_ms;
	const char *first, *rest; /* null: one part */
	int answer; /* bytes; 0: it only listens */
};

LO_FN int lo_receive(int fd, int bytes)
{
	char buf[512];
	while (bytes > 0) {
		ssize_t n = recv(fd, buf, sizeof buf < (size_t)bytes ? sizeof buf : (size_t)bytes, 0);
		if (n <= 0)
			return -1;
		bytes -= (int)n;
	}
	return 0;
}

LO_FN void *lo_run(void *arg)
{
	struct lo_client c = *(struct lo_client *)arg;
	int fd = lo_connect(c.port, 0), begun = lo_ms();
	free(arg);
	while (!c.busy_ms || lo_ms() - begun < c.busy_ms) {
		if (c.first && send(fd, c.first, strlen(c.first), MSG_NOSIGNAL) < 0)
			break;
		if (c.rest)
			lo_nap(1);
		if (c.rest && send(fd, c.rest, strlen(c.rest), MSG_NOSIGNAL) < 0)
			break;
		if (lo_receive(fd, c.answer))
			break;
		lo_nap(c.pause_ms);
	}
	for (;;)
		pause();
	return NULL;
}

LO_FN void lo_thread(void *(*run)(void *), void *arg)
{
	pthread_t t;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	if (pthread_create(&t, &small, run, arg))
		abort();
	pthread_detach(t);
}

LO_FN void lo_start(struct lo_client what)
{
	struct lo_client *own = (struct lo_client *)malloc(sizeof what);
	if (!own)
		abort();
	*own = what;
	lo_ms();
	lo_thread(lo_run, own);
}

#endif
