/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * waiter.c - a program for t/pipe/descriptors.t: coroutines that wait for descriptors, one for each of its arguments.
 *
 *	waiter FILE [undumpable] KIND...
 *
 * FILE gets a line for each: the kind, the descriptor, what is to be read and what is in its send queue, as the program itself knows
 * it, and its type in the trace ("-": no record). Then it prints "ready" and reads commands from stdin, a word on a line.
 */
#include "ctp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

static struct made {
	const char *kind, *type;
	int fd, peer;
	long unread, unsent; /* -1: the kernel is asked when it is written */
	struct ctp_coro co;
} all[600];

/* Where the system cannot make it, the test is skipped. */
static int must(int value)
{
	if (value < 0) {
		perror("waiter");
		exit(77);
	}
	return value;
}

static void fill(int fd, long bytes)
{
	static const char text[4096];
	if (bytes && write(fd, text, (size_t)bytes) != bytes)
		exit(77);
}

/* --- what is waited for --------------------------------------------------------------------------------------------------- */

static int listen_on(int family, struct sockaddr_storage *addr, socklen_t *len)
{
	int fd = must(socket(family, SOCK_STREAM, 0));
	*len = sizeof *addr;
	memset(addr, 0, sizeof *addr);
	addr->ss_family = (sa_family_t)family;
	if (family == AF_INET)
		((struct sockaddr_in *)addr)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else if (family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_addr = in6addr_loopback;
	must(bind(fd, (struct sockaddr *)addr, family == AF_UNIX ? sizeof(sa_family_t) : *len)); /* a Unix one gets a name by itself */
	must(listen(fd, 10));
	must(getsockname(fd, (struct sockaddr *)addr, len));
	return fd;
}

static int connect_to(int family, const struct sockaddr_storage *addr, socklen_t len)
{
	int fd = must(socket(family, SOCK_STREAM, 0));
	must(connect(fd, (const struct sockaddr *)addr, len));
	return fd;
}

static void make_listener(struct made *m, int family, long connections)
{
	struct sockaddr_storage addr;
	socklen_t len;
	m->fd = listen_on(family, &addr, &len);
	for (long i = 0; i < connections; i++)
		connect_to(family, &addr, len);
	m->type = family == AF_UNIX ? "unix listens" : "tcp listens";
	m->unread = connections;
	m->unsent = 0;
}

/* keeps: the listener stays open. */
static void make_tcp(struct made *m, int family, bool keeps)
{
	struct sockaddr_storage addr;
	socklen_t len;
	int listener = listen_on(family, &addr, &len);
	m->peer = connect_to(family, &addr, len);
	m->fd = must(accept(listener, NULL, NULL));
	m->type = "tcp";
	if (!keeps)
		close(listener);
}

static void make_udp(struct made *m, long bytes)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof addr;
	m->fd = must(socket(AF_INET, SOCK_DGRAM, 0));
	m->peer = must(socket(AF_INET, SOCK_DGRAM, 0));
	must(bind(m->fd, (struct sockaddr *)&addr, len));
	must(getsockname(m->fd, (struct sockaddr *)&addr, &len));
	must(connect(m->peer, (struct sockaddr *)&addr, len));
	fill(m->peer, bytes);
	m->type = "udp";
}

static void make_pair(struct made *m, bool pipes, long bytes)
{
	int ends[2];
	must(pipes ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	m->fd = ends[0];
	m->peer = ends[1];
	fill(m->peer, bytes);
	m->type = pipes ? "pipe" : "unix";
	m->unsent = pipes ? 0 : -1;
	if (strstr(m->kind, "-end"))
		close(m->peer);
}

static void make_timer(struct made *m, long seconds)
{
	struct itimerspec when = {.it_value = {seconds, 1}};
	m->fd = must(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
	must(timerfd_settime(m->fd, 0, &when, NULL));
	if (!seconds)
		poll(&(struct pollfd){.fd = m->fd, .events = POLLIN}, 1, -1);
	m->type = "timerfd";
	m->unread = !seconds;
	m->unsent = 0;
}

/* What the peer of a TCP connection does, so that all of it has arrived. */
static void await_bytes(int fd, long bytes)
{
	for (int n = -1; n < bytes; poll(NULL, 0, 1))
		must(ioctl(fd, FIONREAD, &n));
}

/* A question to the peer, which the peer has read; and its answer, which is read as well, at a later time of the kernel. */
static void ask_peer(struct made *m, bool answered)
{
	int listeners = m->fd;
	char c;
	m->fd = m->peer;
	m->peer = listeners;
	fill(m->fd, 1);
	must((int)read(m->peer, &c, 1));
	for (int n = 1; n; poll(NULL, 0, 1))
		must(ioctl(m->fd, SIOCOUTQ, &n));
	poll(NULL, 0, 100);
	if (answered) {
		fill(m->peer, 1);
		must((int)read(m->fd, &c, 1));
	}
}

static void make_tcp_kind(struct made *m, const char *how)
{
	char bytes[4096] = "";
	bool is_asked = !strcmp(how, "-asked"), is_answered = !strcmp(how, "-answered");
	bool keeps = is_asked || is_answered || !strcmp(how, "-accepted");
	make_tcp(m, !strncmp(how, "6", 1) ? AF_INET6 : AF_INET, keeps);
	if (is_asked || is_answered)
		ask_peer(m, is_answered);
	if (!strcmp(how, "") || !strcmp(how, "6")) {
		fill(m->peer, 5);
		await_bytes(m->fd, 5);
	} else if (!strncmp(how, "-end", 4)) {
		fill(m->peer, strcmp(how, "-end") ? 3 : 0);
		close(m->peer);
		poll(&(struct pollfd){.fd = m->fd, .events = POLLRDHUP}, 1, -1);
	} else if (!strcmp(how, "-full")) { /* the peer reads nothing */
		fcntl(m->fd, F_SETFL, O_NONBLOCK);
		for (int idle = 0, before = -1, n; idle < 50; poll(NULL, 0, 10)) {
			while (write(m->fd, bytes, sizeof bytes) > 0)
				idle = 0;
			must(ioctl(m->fd, SIOCOUTQ, &n));
			idle = n == before ? idle + 1 : 0;
			before = n;
		}
	}
}

static void make(struct made *m)
{
	const char *kind = m->kind;
	m->unread = m->unsent = -1;
	if (!strncmp(kind, "tcp", 3))
		make_tcp_kind(m, kind + 3);
	else if (!strncmp(kind, "listener", 8))
		make_listener(m, AF_INET, kind[8] ? 0 : 2);
	else if (!strncmp(kind, "udp", 3))
		make_udp(m, kind[3] ? 0 : 100);
	else if (!strcmp(kind, "unix-listener"))
		make_listener(m, AF_UNIX, 3);
	else if (!strncmp(kind, "unix", 4))
		make_pair(m, false, kind[4] ? 0 : 7);
	else if (!strncmp(kind, "pipe", 4))
		make_pair(m, true, kind[4] ? 0 : 11);
	else if (!strncmp(kind, "timer", 5))
		make_timer(m, kind[5] ? 1000 : 0);
	else if (!strcmp(kind, "eventfd"))
		*m = (struct made){kind, "eventfd", must(eventfd(0xabcdef, 0)), -1, 0xabcdef, 0, {0}};
	else if (!strcmp(kind, "again")) { /* the one before, by another number */
		m->fd = must(dup(m[-1].fd));
		m->type = m[-1].type;
	} else {
		sigset_t none;
		sigemptyset(&none);
		m->fd = !strcmp(kind, "file") ? must(open("/proc/self/exe", O_RDONLY)) : !strcmp(kind, "closed") ? 900 :
			must(signalfd(-1, &none, 0));
		m->type = "-";
		m->unread = m->unsent = 0;
	}
}

static void write_down(FILE *out, const struct made *m)
{
	int unread = (int)m->unread, unsent = (int)m->unsent;
	if (unread < 0)
		must(ioctl(m->fd, FIONREAD, &unread));
	if (unsent < 0)
		must(ioctl(m->fd, SIOCOUTQ, &unsent));
	fprintf(out, "%s %d %d %d %s\n", m->kind, m->fd, unread, unsent, m->type);
}

/* --- coroutines ----------------------------------------------------------------------------------------------------------- */

static void wait_for_fd(struct made *m)
{
	ctp_coro_resume(&m->co);
	ctp_coro_waits_fd(&m->co, m->fd, POLLIN, 0);
	ctp_coro_suspend(&m->co, CTP_HERE);
}

/* A program that is never silent. */
static void *run_on(void *arg)
{
	static struct ctp_coro co;
	ctp_coro_new(&co, 4711);
	for (;; poll(NULL, 0, 20)) {
		ctp_coro_resume(&co);
		ctp_coro_suspend(&co, CTP_HERE);
	}
	return arg;
}

static void obey(const char *what, size_t n)
{
	pthread_t t;
	if (!strcmp(what, "run"))
		pthread_create(&t, NULL, run_on, NULL);
	else if (!strcmp(what, "more")) { /* for the first, without a wake */
		fill(all[0].peer, 4);
	} else if (!strcmp(what, "wait"))
		for (size_t i = 0; i < n; i++)
			wait_for_fd(&all[i]);
	else
		exit(0);
}

int main(int argc, char **argv)
{
	char line[32];
	size_t n = 0;
	FILE *out = fopen(argv[1], "w");
	int first = 2;
	if (argc > 2 && !strcmp(argv[2], "undumpable"))
		first++;
	for (int i = first; i < argc && n < sizeof all / sizeof *all; i++, n++) {
		char *times = strchr(argv[i], '*'); /* "unix*256" */
		long many = times ? atol(times + 1) : 1;
		if (times)
			*times = '\0';
		for (long k = 0; k < many; k++) {
			n += k > 0;
			all[n].kind = argv[i];
			make(&all[n]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		write_down(out, &all[i]);
		ctp_coro_new(&all[i].co, 100 + i);
	}
	if (fclose(out))
		return 77;
	if (first > 2)
		prctl(PR_SET_DUMPABLE, 0);
	for (size_t i = 0; i < n; i++)
		wait_for_fd(&all[i]);
	do {
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof line, stdin))
			break;
		line[strcspn(line, "\n")] = '\0';
		obey(line, n);
	} while (true);
	return 0;
}
