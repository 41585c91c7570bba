/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * echo-client [-c] PORT CONNECTIONS ROUNDS - talks to an echo server on this machine, and prints "round_trips_s" with how many
 * messages were echoed in a second.
 *
 * In each round every connection sends a line of 64 bytes and then waits for its echo. With -c the server is one for a chat,
 * and gives each line to every connection. A wrong or missing echo is a failure. When it ends, the server knows
 * that the connections are closed.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64 };

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "echo-client: %s\n", what);
	exit(1);
}

static int dial(int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	struct timeval limit = { .tv_sec = 10 }; /* rather fail than hang */
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	if (fd < 0 || connect(fd, (struct sockaddr *)&in, sizeof in))
		die("there is no listener");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	return fd;
}

/* Ends a connection, and waits until the server has seen that. */
static void hang_up(int fd)
{
	char more;
	if (shutdown(fd, SHUT_WR) || recv(fd, &more, 1, 0) != 0)
		die("the server does not hang up");
	close(fd);
}

static void take(int fd, const char *line)
{
	char back[LINE];
	ssize_t n = recv(fd, back, sizeof back, MSG_WAITALL);
	if (n < 0)
		die("there is no echo");
	if (n < LINE || memcmp(back, line, LINE) != 0)
		die("the echo differs");
}

int main(int argc, char **argv)
{
	int chat = argc > 1 && !strcmp(argv[1], "-c");
	argv += chat;
	if (argc - chat != 4)
		die("usage: echo-client [-c] PORT CONNECTIONS ROUNDS");
	int port = atoi(argv[1]), connections = atoi(argv[2]), rounds = atoi(argv[3]);
	int *fds = calloc((size_t)connections + 1, sizeof *fds);
	if (!fds)
		die("no memory");
	for (int i = 0; i < connections; i++)
		fds[i] = dial(port);

	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int r = 0; r < rounds; r++) {
		char line[LINE + 1];
		snprintf(line, sizeof line, "%-*d\n", LINE - 1, r);
		for (int i = 0; i < connections; i++)
			if (send(fds[i], line, LINE, MSG_NOSIGNAL) != LINE)
				die("the server has hung up");
		for (int i = 0; i < connections; i++)
			for (int k = 0; k < (chat ? connections : 1); k++)
				take(fds[i], line);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	double s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	for (int i = 0; i < connections; i++)
		hang_up(fds[i]);
	printf("round_trips_s %.0f\n", connections * (double)rounds / s);
	free(fds);
	return 0;
}
