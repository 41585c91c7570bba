/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* confine.c - see confine.h. */
#include "symbols/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limit.h"

/* Leaves the child descriptors 0 to 2, which are nothing, and its socket. */
static bool be_alone(int fd)
{
	int null = open("/dev/null", O_RDWR);
	fd = fcntl(fd, F_DUPFD, CTP_CONFINED_FD + 1);
	for (int to = 0; to < CTP_CONFINED_FD; to++)
		if (null < 0 || dup2(null, to) < 0)
			return false;
	if (fd < 0 || dup2(fd, CTP_CONFINED_FD) < 0)
		return false;
	ctp_fd_close_range(CTP_CONFINED_FD + 1, INT_MAX);
	return true;
}

static void be_limited(const char *name, uint64_t more_bytes)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE};
	sigset_t none;
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	ctp_limit_memory(more_bytes);
	prctl(PR_SET_NAME, name);
}

bool ctp_confine(int fd, const char *name, uint64_t more_bytes)
{
	if (!be_alone(fd))
		return false;
	be_limited(name, more_bytes);
	return true;
}

/* The clock is the thread's: with RLIMIT_CPU that of a process moves in ticks. */
uint64_t ctp_confined_cpu_ns(void) { return ctp_clock_of(CLOCK_THREAD_CPUTIME_ID); }

void ctp_confine_cpu(uint64_t more_ns)
{
	struct rlimit limit;
	getrlimit(RLIMIT_CPU, &limit);
	uint64_t upto = (ctp_confined_cpu_ns() + more_ns + CTP_SECOND_NS - 1) / CTP_SECOND_NS;
	limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || upto < limit.rlim_max ? upto : limit.rlim_max;
	setrlimit(RLIMIT_CPU, &limit);
}

bool ctp_confined_wait(pid_t child, int fd, uint64_t until_ns)
{
	clockid_t clock;
	uint64_t used = 0;
	int idle_s = 0;
	if (clock_getcpuclockid(child, &clock))
		return true;
	for (uint64_t now_ns; idle_s < CTP_CONFINED_STALL_S && (now_ns = ctp_clock_ns()) < until_ns;) {
		uint64_t left_ms = (until_ns - now_ns) / 1000000 + 1;
		int n = poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, left_ms < 1000 ? (int)left_ms : 1000);
		if (n > 0)
			return true;
		uint64_t now = ctp_clock_of(clock); /* 0: the child has gone */
		idle_s = now != used || (n < 0 && errno == EINTR) ? 0 : idle_s + 1;
		used = now;
	}
	return false;
}

void ctp_confined_end(pid_t child, bool stalled)
{
	enum { PAUSES = 100, PAUSE_MS = 10 };
	kill(child, SIGKILL);
	for (int i = 0; stalled && i < PAUSES && !waitpid(child, NULL, WNOHANG); i++)
		poll(NULL, 0, PAUSE_MS);
	while (!stalled && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}
