/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-http --port N [--OPTION=VALUE]... [--query QUERY] - a client of ClickHouse in place of clickhouse-client, which needs 50 ms
 * to start: for tests that start hundreds. It speaks HTTP with 127.0.0.1, sends standard input after an INSERT, and prints the answer.
 * Other options go to the server as settings.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(210);
}

static int connect_to(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to))
		fail("connect");
	return fd;
}

static void put_escaped(FILE *to, const char *text)
{
	for (; *text; text++)
		fprintf(to, isalnum((unsigned char)*text) ? "%c" : "%%%02X", (unsigned char)*text);
}

/* All of standard input, and a NUL. */
static char *read_all(size_t *len)
{
	char *data = NULL;
	size_t room = 0;
	*len = 0;
	do {
		room = 2 * room + 4096;
		data = realloc(data, room);
		if (!data)
			fail("realloc");
		*len += fread(data + *len, 1, room - *len, stdin);
	} while (*len == room);
	data[*len] = '\0';
	return data;
}

static void send_query(FILE *to, const char *settings, const char *query)
{
	bool inserts = !strncmp(query, "INSERT", 6);
	size_t len = strlen(query);
	char *data = inserts ? read_all(&len) : NULL;
	fprintf(to, "POST /?%s", settings);
	if (inserts) {
		fputs("&query=", to);
		put_escaped(to, query);
	}
	fprintf(to, " HTTP/1.0\r\nContent-Length: %zu\r\n\r\n", len);
	fwrite(inserts ? data : query, 1, len, to);
	free(data);
	if (fflush(to))
		fail("send");
}

/* The lines of the head, up to the empty one. Returns the status. */
static int read_head(FILE *from)
{
	char line[4096];
	int status = 0;
	if (!fgets(line, sizeof line, from) || sscanf(line, "HTTP/%*s %d", &status) != 1)
		fail("no answer");
	while (fgets(line, sizeof line, from) && strcmp(line, "\r\n"))
		;
	return status;
}

int main(int argc, char **argv)
{
	const char *query = NULL;
	char settings[4096] = "wait_end_of_query=1";
	int port = 0;
	signal(SIGPIPE, SIG_IGN); /* the server may answer before it has read all */
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--query") && i + 1 < argc)
			query = argv[++i];
		else if (!strcmp(argv[i], "--port") && i + 1 < argc)
			port = atoi(argv[++i]);
		else if (!strncmp(argv[i], "--", 2) && strchr(argv[i], '='))
			snprintf(settings + strlen(settings), sizeof settings - strlen(settings), "&%s", argv[i] + 2);
	}
	size_t len;
	if (!query)
		query = read_all(&len);
	if (!port)
		return 2;
	FILE *server = fdopen(connect_to(port), "r+");
	if (!server)
		fail("fdopen");
	send_query(server, settings, query);
	int status = read_head(server);
	for (int c; (c = getc(server)) != EOF;)
		putc(c, status == 200 ? stdout : stderr);
	return fflush(stdout) || ferror(stdout) ? 1 : status == 200 ? 0 : 112;
}
