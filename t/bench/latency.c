/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * latency [-r] - reads a raw stream as it comes and prints how old its transitions are when they are read, in microseconds:
 * "p50_us", "p90_us", "p99_us".
 *
 * -r: reads nothing, and measures instead how long a time takes from one process through a socket to a second, and from
 * there through a pipe to a third, all of them asleep: the least that any collector needs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stream/reader.h"
#include "wait.h"

enum { AGES_MAX = 1 << 20, RELAYED = 100, EVERY_NS = 50000000 };

static uint64_t ages[AGES_MAX];
static size_t nages;

static void add(uint64_t ts_ns)
{
	uint64_t now = ctp_clock_ns();
	if (nages < AGES_MAX)
		ages[nages++] = now > ts_ns ? now - ts_ns : 0;
}

static int by_age(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static int print(void)
{
	static const unsigned percents[] = { 50, 90, 99 };
	if (!nages) {
		fputs("latency: no transitions\n", stderr);
		return 1;
	}
	qsort(ages, nages, sizeof *ages, by_age);
	for (size_t i = 0; i < sizeof percents / sizeof *percents; i++)
		printf("p%u_us %.1f\n", percents[i], (double)ages[nages * percents[i] / 100] / 1000);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

static int read_stream(void)
{
	struct ctp_input in;
	struct ctp_err err;
	struct ctp_item item;
	enum ctp_status status = ctp_input_open(&in, NULL, &err);
	struct ctp_reader *r = status ? NULL : ctp_reader_new(&in, NULL, &err);
	while (r && (status = ctp_reader_next(r, &item, &err)) == CTP_OK)
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++)
			if (item.batch.rec[i].cls->kind == CTP_KIND_TRANSITION && item.batch.rec[i].cls->time_field >= 0)
				add(item.batch.rec[i].ts_ns);
	if (!r || status != CTP_EOF) {
		fprintf(stderr, "latency: %s\n", err.text);
		return 1;
	}
	ctp_reader_free(r);
	ctp_input_close(&in);
	return print();
}

/* One word at a time, until there are no more. */
static void relay(int from, int to)
{
	for (uint64_t word; read(from, &word, sizeof word) == sizeof word;)
		if (write(to, &word, sizeof word) != sizeof word)
			break;
}

static void send_times(int to)
{
	for (int i = 0; i < RELAYED; i++) {
		clock_sleep(EVERY_NS);
		uint64_t now = ctp_clock_ns();
		if (write(to, &now, sizeof now) != sizeof now)
			break;
	}
}

static int read_times(void)
{
	int sock[2], tube[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sock) || pipe(tube)) {
		perror("latency");
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		if (pid < 0) {
			perror("latency");
			return 1;
		}
		if (pid > 0)
			continue;
		close(sock[i]); /* or the relay would never see the end */
		if (i)
			relay(sock[0], tube[1]);
		else
			send_times(sock[1]);
		_exit(0);
	}
	close(sock[0]);
	close(sock[1]);
	close(tube[1]);
	for (uint64_t ts; read(tube[0], &ts, sizeof ts) == sizeof ts;)
		add(ts);
	while (wait(NULL) > 0)
		;
	return print();
}

int main(int argc, char **argv)
{
	bool reference = argc == 2 && !strcmp(argv[1], "-r");
	if (argc > 1 && !reference) {
		fputs("usage: latency [-r]\n", stderr);
		return 2;
	}
	return reference ? read_times() : read_stream();
}
