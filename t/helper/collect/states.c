/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * states.c - a program for t/pipe/collect-states.t and t/pipe/collect-samples.t: reads commands from stdin, a word on a line, and answers
 * each on stdout.
 *
 * With the arguments "hold FIFO" it does that in a child, and as its debugger stops it where it gets SIGUSR2 and where it
 * begins to exit, until the FIFO was opened and closed; it prints that on stdout. It has no probe of its own then.
 */
#include "ctp.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct ctp_coro co;

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static unsigned long long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

/* Makes an exit, or a core dump, take a while. */
static void grow(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		_exit(77);
	madvise(p, bytes, MADV_NOHUGEPAGE);
	memset(p, 1, bytes);
}

static void *serve(void *arg);

static void *sleep_on(void *arg)
{
	pause();
	return arg;
}

static int obey(const char *what)
{
	pthread_t t;
	pid_t child;
	if (!strcmp(what, "resume"))
		ctp_coro_resume(&co);
	else if (!strcmp(what, "suspend"))
		ctp_coro_suspend(&co, CTP_HERE);
	else if (!strcmp(what, "burn"))
		for (double until = cpu_s() + 0.4; cpu_s() < until;)
			;
	else if (!strcmp(what, "yield")) /* the kernel adds up its CPU time at each call */
		for (double until = cpu_s() + 0.1; cpu_s() < until;)
			sched_yield();
	else if (!strcmp(what, "thread"))
		pthread_create(&t, NULL, sleep_on, NULL);
	else if (!strcmp(what, "grow"))
		grow((size_t)200 << 20);
	else if (!strcmp(what, "trap"))
		raise(SIGUSR2);
	else if (!strcmp(what, "dump"))
		return setrlimit(RLIMIT_CORE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) || raise(SIGABRT);
	else if (!strcmp(what, "exit"))
		_exit(3);
	else if (!strcmp(what, "leave")) {
		pthread_create(&t, NULL, serve, NULL);
		puts("done");
		fflush(stdout);
		pthread_exit(NULL);
	} else if (!strcmp(what, "child")) {
		child = fork();
		if (!child) {
			close(STDOUT_FILENO);
			pause();
		}
		printf("%d ", (int)child);
	} else if (!strcmp(what, "now"))
		printf("%llu ", now_ns());
	return 0;
}

static void *serve(void *arg)
{
	char line[32];
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
		puts("done");
		fflush(stdout);
	}
	_exit(0);
	return arg;
}

/* --- the debugger --------------------------------------------------------------------------------------------------------- */

static void wait_for_fifo(const char *fifo, const char *why)
{
	char c;
	printf("%s\n", why);
	fflush(stdout);
	int fd = open(fifo, O_RDONLY);
	while (read(fd, &c, 1) > 0)
		;
	close(fd);
}

static int hold(const char *program, const char *fifo)
{
	int status;
	pid_t pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0); /* for the exec */
	if (!WIFSTOPPED(status) || ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL))
		return 77;
	for (long sig = 0; !ptrace(PTRACE_CONT, pid, 0, sig) && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);) {
		sig = status >> 16 ? 0 : WSTOPSIG(status);
		if (sig != SIGUSR2 && !(status >> 16))
			continue;
		wait_for_fifo(fifo, sig ? "held" : "leaving");
		sig = 0;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return hold(argv[0], argv[2]);
	ctp_coro_new(&co, 1);
	obey("resume");
	obey("suspend");
	serve(NULL);
}
