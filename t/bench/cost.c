/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cost FILE COMMAND [ARG...] - runs COMMAND and writes to FILE what it and the processes that it waited for took:
 * "wall_s", "cpu_s" (all of them added up) and "rss_kb" (the largest of them), as "name value" lines. Its status is COMMAND's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

int main(int argc, char **argv)
{
	struct timespec start, stop;
	struct rusage used;
	int status;
	if (argc < 3) {
		fputs("usage: cost FILE COMMAND [ARG...]\n", stderr);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || getrusage(RUSAGE_CHILDREN, &used) < 0) {
		perror("cost");
		return 125;
	}
	clock_gettime(CLOCK_MONOTONIC, &stop);
	FILE *f = fopen(argv[1], "w");
	if (!f) {
		perror(argv[1]);
		return 125;
	}
	fprintf(f, "wall_s %.6f\n", (double)(stop.tv_sec - start.tv_sec) + (double)(stop.tv_nsec - start.tv_nsec) * 1e-9);
	fprintf(f, "cpu_s %.6f\n", seconds(used.ru_utime) + seconds(used.ru_stime));
	fprintf(f, "rss_kb %ld\n", used.ru_maxrss);
	if (fclose(f)) {
		perror(argv[1]);
		return 125;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
