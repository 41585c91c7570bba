/*
 * probe-more.c - the probe in a program that is unkind to it: a limit on the size of files, a handler that comes at any
 * instruction of a thread's first call, forks of forks.
 *
 * Each runs in a process of its own, which says by its exit status what came of it.
 */
#include "ctp.h"
#include "tap.h"

#include <dirent.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { STEPS_MAX = 20000, EVENTS = 2 };

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
	is_u64((uint64_t)status_of(pid), 0, "RLIMIT_FSIZE: no signal, and it runs on");
}

/* --- forks ---------------------------------------------------------------------------------------------------------------- */

/* One place for both, so that it is one site. */
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
	is_u64((uint64_t)WEXITSTATUS(status_of(pid)), 0, "a child of a child of ... has no descriptor more than the first");
}

/* --- a handler at each instruction ---------------------------------------------------------------------------------------- */

static void on_signal(int sig)
{
	static struct ctp_coro co;
	(void)sig;
	play(&co);
}

/* How much is wrong with what a coroutine and a handler's have left in the rings; all of it must be there. */
static int wrong(void)
{
	struct ctp_probe_ *p = ctp_current_;
	unsigned kinds[16] = { 0 }, unknown = 0;
	for (unsigned i = 0; i < p->shm->rings_used; i++) {
		const struct ctp_shm_ring *ring = (struct ctp_shm_ring *)(p->base + p->rings_at) + i;
		for (uint64_t k = 0; k < ring->head && k < 64; k++) {
			unsigned kind = CTP_ENTRY_KIND(p->entries[i][k].what);
			kinds[kind % 16]++;
			unknown += (k == 0) != (kind == CTP_ENTRY_THREAD);
		}
	}
	return unknown || kinds[CTP_ENTRY_BIRTH] != 2 || kinds[CTP_ENTRY_DEATH] != 2 || kinds[CTP_ENTRY_SUSPEND] != EVENTS ||
	       kinds[CTP_ENTRY_RESUME] != EVENTS;
}

static void tracee(void)
{
	struct ctp_coro co;
	signal(SIGUSR1, on_signal);
	ctp_record();
	ctp_extend_(ctp_current_);
	ctp_current_->shm->mode = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER;
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(2);
	raise(SIGSTOP);
	ctp_coro_new_in(&co, 0, 0);
	raise(SIGSTOP);
	live(&co);
	_exit(wrong());
}

/* Lets it run, with a signal at its n-th step. -1: it was through before; else its status. */
static int stepped(int n)
{
	int status;
	pid_t pid = fork();
	if (!pid)
		tracee();
	status = status_of(pid);
	for (int i = 0; i < n && WIFSTOPPED(status); i++) {
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		status = status_of(pid);
		if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP) {
			kill(pid, SIGKILL);
			status_of(pid);
			return -1;
		}
	}
	for (int sig = SIGUSR1; WIFSTOPPED(status); sig = WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status)) {
		ptrace(PTRACE_CONT, pid, 0, (long)sig);
		status = status_of(pid);
	}
	return status;
}

static void test_steps(void)
{
	int bad = 0, status, runs = 0;
	status = stepped(0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
		note("skipped: ptrace(2) is not allowed here");
		return;
	}
	for (int n = 1; n < STEPS_MAX && (status = stepped(n)) != -1; n++, runs++) {
		if (status) {
			diag("a signal at step %d: status 0x%x", n, (unsigned)status);
			bad++;
		}
	}
	ok(runs > 100, "a signal at each step of a thread's first call");
	is_u64((uint64_t)bad, 0, "loses nothing, and spoils nothing");
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
	skip_all("a child for each step takes too long under ThreadSanitizer");
#endif
	test_steps(); /* before this thread has made any call */
	test_limit();
	test_chain();
	test_sites();
	return done_testing();
}
