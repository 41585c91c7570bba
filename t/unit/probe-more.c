/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * probe-more.c - the probe in difficult programs: a limit on the size of files, threads that attach at once,
 * signals at any instruction of a thread's first call, forks of forks, children with their parent's pid.
 *
 * Each test runs in a process of its own; its exit status is the result.
 */
#include "ctp.h"
#include "tap.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { STEPS_MAX = 2000, PAIRS = 1500, EVENTS = 2 };

static void live(struct ctp_coro *co)
{
	for (int i = 0; i < EVENTS / 2; i++) {
		ctp_coro_suspend(co, CTP_HERE);
		ctp_coro_resume(co);
	}
	ctp_coro_death(co);
}

static void play(struct ctp_coro *co)
{
	ctp_coro_new(co, 0);
	live(co);
}

static int status_of(pid_t pid)
{
	int status = -1;
	waitpid(pid, &status, 0);
	return status;
}

static void test_limit(void)
{
	pid_t pid = fork();
	if (!pid) {
		struct ctp_coro co;
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 20, 1 << 20 });
		play(&co);
		_exit(0);
	}
	is_u64((uint64_t)status_of(pid), 0, "a program with RLIMIT_FSIZE gets no signal and continues");
}

/* --- forks ---------------------------------------------------------------------------------------------------------------- */

/* One function for both, so that there is one site. */
static void suspend(struct ctp_coro *co) { ctp_coro_suspend(co, CTP_HERE); }

static void test_sites(void)
{
	struct ctp_coro inherited, own;
	setenv("CTP_RECORD", "1", 1);
	ctp_coro_new(&inherited, 0);
	suspend(&inherited);
	pid_t pid = fork();
	if (!pid) {
		ctp_coro_new(&own, 0);
		for (int i = 0; i < 100; i++) {
			suspend(&inherited);
			suspend(&own);
		}
		_exit((int)ctp_current_->shm->sites_used);
	}
	is_u64((uint64_t)WEXITSTATUS(status_of(pid)), 2, "in a child, its parent's coroutines do not use up the sites of its own");
	ctp_coro_death(&inherited);
}

static int descriptors(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void test_chain(void)
{
	pid_t pid = fork();
	if (!pid) {
		struct ctp_coro co;
		play(&co);
		int before = descriptors();
		for (int i = 0; i < 20; i++) {
			pid_t next = fork();
			if (next)
				_exit(WEXITSTATUS(status_of(next)));
			play(&co);
		}
		_exit(descriptors() - before);
	}
	is_u64((uint64_t)WEXITSTATUS(status_of(pid)), 0, "a child of many forks has no more descriptors than the first");
}

static const struct ctp_shm_ring *ring_at(unsigned i)
{
	return (struct ctp_shm_ring *)(ctp_current_->base + ctp_current_->rings_at) + i;
}

static void follow(void)
{
	ctp_record();
	ctp_extend_(ctp_current_);
	ctp_current_->shm->mode = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER;
}

/* The first process of a namespace, and of a nested one. 0 if each has entries of its own. */
static int namesakes(void)
{
	struct ctp_coro co;
	follow();
	play(&co);
	if (unshare(CLONE_NEWPID))
		return 77;
	pid_t pid = fork();
	if (!pid) {
		play(&co);
		_exit(getpid() == 1 ? 0 : 1);
	}
	if (status_of(pid))
		return 1;
	play(&co);
	uint64_t entries = 0;
	for (unsigned i = 0; i < ctp_current_->shm->rings_used; i++)
		entries += ring_at(i)->head;
	return entries == 2 + 3 * (EVENTS + 2) ? 0 : 2; /* each has first written the owner of its ring */
}

static void test_namesakes(void)
{
	pid_t pid = fork();
	if (!pid) {
		pid_t first = unshare(CLONE_NEWUSER | CLONE_NEWPID) ? -1 : fork();
		if (!first)
			_exit(namesakes());
		_exit(first < 0 ? 77 : WEXITSTATUS(status_of(first)));
	}
	int status = WEXITSTATUS(status_of(pid));
	if (status == 77)
		skip("unshare(2) is not allowed here");
	else
		is_u64((uint64_t)status, 0, "a child with its parent's pid does not write to its parent's ring");
}

/* --- two who attach at once ----------------------------------------------------------------------------------------------- */

static bool overtake;

/* The probe calls this after it has stored its descriptor and before it is published, where another thread may be first. */
int munlock(const void *at, size_t bytes)
{
	(void)at;
	if (overtake && bytes > 1 << 20) {
		overtake = false;
		ctp_init();
	}
	return 0;
}

static void test_overtaken(void)
{
	pid_t pid = fork();
	if (!pid) {
		struct ctp_coro co;
		setenv("CTP_RECORD", "1", 1);
		overtake = true;
		ctp_coro_new(&co, 0);
		_exit(overtake || !ctp_current_->borrowed || ctp_fd_ours_(&ctp_current_->mem, &ctp_current_->mem_dev) < 0);
	}
	is_u64((uint64_t)status_of(pid), 0, "a thread that attaches too late does not close a descriptor that another one uses");
}

/* --- handlers at each instruction ----------------------------------------------------------------------------------------- */

/* Tells the tracer; raise(3) would block signals meanwhile. */
static void tell(int sig) { kill(getpid(), sig); }

static bool renews;      /* the tracee has inherited lanes of its parent */
static bool comes_twice; /* the handler */
static unsigned played;

static void on_signal(int sig)
{
	static struct ctp_coro co;
	(void)sig;
	play(&co);
	played++;
	if (comes_twice)
		tell(SIGURG);
}

/* Number of errors in the rings: all events must be there, or counted as lost. */
static int wrong(void)
{
	struct ctp_probe_ *p = ctp_current_;
	unsigned kinds[16] = { 0 }, unknown = 0;
	uint64_t events = p->shm->lost_events, notes = p->shm->lost_notes;
	for (unsigned i = 0; i < p->shm->rings_used; i++) {
		const struct ctp_shm_ring *ring = ring_at(i);
		for (uint64_t k = 0; k < ring->head && k < 64; k++) {
			unsigned kind = CTP_ENTRY_KIND(p->entries[i][k].what);
			kinds[kind % 16]++;
			unknown += (k == 0) != (kind == CTP_ENTRY_THREAD);
		}
		events += ring->lost_events;
		notes += ring->lost_notes;
	}
	if ((events || notes) && !renews)
		return 1;
	return unknown || kinds[CTP_ENTRY_BIRTH] + kinds[CTP_ENTRY_DEATH] + notes != 2 * played ||
	       kinds[CTP_ENTRY_SUSPEND] + kinds[CTP_ENTRY_RESUME] + events != EVENTS * played || ctp_self_.depth;
}

static void tracee(void)
{
	struct ctp_coro co;
	signal(SIGUSR1, on_signal);
	follow();
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(2);
	tell(SIGSTOP);
	if (comes_twice)
		ctp_thread_get_(ctp_current_);
	else
		ctp_coro_new_in(&co, 0, 0);
	tell(SIGSTOP);
	if (comes_twice)
		ctp_coro_new_in(&co, 0, 0);
	live(&co);
	played++;
	_exit(wrong());
}

/* Single-steps n times. False: the tracee ended before. */
static bool step(pid_t pid, int n, int *status)
{
	for (int i = 0; i < n && WIFSTOPPED(*status); i++) {
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		*status = status_of(pid);
		if (WIFSTOPPED(*status) && WSTOPSIG(*status) == SIGSTOP) {
			kill(pid, SIGKILL);
			status_of(pid);
			return false;
		}
	}
	return true;
}

/* Continues it with a signal, until it gets one from elsewhere. */
static int go_on(pid_t pid, int sig)
{
	ptrace(PTRACE_CONT, pid, 0, (long)sig);
	return status_of(pid);
}

/* Runs it with a signal at its n-th step and, if again, another one that many steps later. Its status; -1: it ended before. */
static int stepped(int n, int again)
{
	pid_t pid = fork();
	if (!pid)
		tracee();
	int status = status_of(pid);
	if (!step(pid, n, &status))
		return -1;
	if (again && WIFSTOPPED(status)) {
		status = go_on(pid, SIGUSR1);
		if (!step(pid, again, &status))
			return -1;
	}
	for (int sig = SIGUSR1; WIFSTOPPED(status); sig = WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status))
		status = go_on(pid, sig);
	return status;
}

static int bad_at(int n, int again, int status)
{
	if (status)
		diag("a signal at step %d, and %d later: status 0x%x", n, again, (unsigned)status);
	return status != 0;
}

/* False: ptrace is not available. */
static bool test_steps(const char *of)
{
	int bad = 0, status, runs = 0;
	status = stepped(0, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
		skip("ptrace(2) is not allowed here");
		return false;
	}
	int stride = (int)tap_stride(7);
	for (int n = 1; n < STEPS_MAX && (status = stepped(n, 0)) != -1; n += stride, runs++)
		bad += bad_at(n, 0, status);
	ok(runs * stride > 40, "a signal is sent at each step of %s", of);
	is_u64((uint64_t)bad, 0, "no event is lost uncounted or damaged");
	return true;
}

/* As many runs as fit in the time, since a sanitizer adds many steps. */
static void test_pairs(void)
{
	int bad = 0, status, runs = 0, steps = 0;
	comes_twice = true;
	while (steps < STEPS_MAX && stepped(steps + 1, 1) != -1)
		steps++;
	int stride = steps * steps / (PAIRS / (int)tap_stride(5)) + 1;
	for (int n = 1; n <= steps; n++)
		for (int again = 1 + n % stride; again < STEPS_MAX && (status = stepped(n, again)) != -1; again += stride, runs++)
			bad += bad_at(n, again, status);
	ok(runs > 100, "two signals are sent %d times, the second at any step after the first", runs);
	is_u64((uint64_t)bad, 0, "no event is lost uncounted or damaged by two signals");
	comes_twice = false;
}

/* In a thread that has made calls before the fork. */
static void test_renewal(void)
{
	struct ctp_coro co;
	follow();
	play(&co);
	renews = true;
	if (test_steps("a child's first call"))
		test_pairs();
	renews = false;
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
	skip_all("a child for each step takes too long under ThreadSanitizer");
#endif
	test_steps("a thread's first call"); /* before this thread has made any */
	test_overtaken();
	test_limit();
	test_chain();
	test_namesakes();
	test_renewal();
	test_sites();
	return done_testing();
}
