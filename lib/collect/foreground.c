/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* foreground.c - see foreground.h. */
#include "collect/foreground.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/fd.h"
#include "collect/proc-users.h"

static const uint64_t MS = 1000000;

enum { FIRST_MS = 10, LAST_MS = 1000, AWAY_MS = 100 };

/* --- the guard --------------------------------------------------------------------------- */

enum { TTY, COLLECTOR, SIGNALS, DESCRIPTORS }; /* all that the guard has */

/* The pipe must end with the collector, so the guard keeps no other descriptor. */
static void keep_descriptors(int tty, int collector)
{
	int high[] = {fcntl(tty, F_DUPFD, DESCRIPTORS), fcntl(collector, F_DUPFD, DESCRIPTORS)};
	dup2(high[0], TTY);
	dup2(high[1], COLLECTOR);
	ctp_fd_close_range(SIGNALS, INT_MAX);
}

static void tell_collector(int sig, bool is_its_own)
{
	siginfo_t info = {.si_signo = sig, .si_code = SI_QUEUE};
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = is_its_own;
	syscall(SYS_pidfd_send_signal, COLLECTOR, sig, &info, 0);
}

/*
 * Keys that were typed before COMMAND ended were for COMMAND: the collector sends SIGUSR1 then,
 * and of the signals that wait, those of keys have lower numbers and are read first. What the
 * collector itself sends to the group is not relayed.
 */
static void relay(bool *without_command)
{
	struct signalfd_siginfo info;
	if (read(SIGNALS, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo == SIGUSR1)
		*without_command = true;
	else if (info.ssi_code > 0)
		tell_collector((int)info.ssi_signo, *without_command);
}

/* SIGTTOU is blocked. */
static void give(int tty, pid_t group)
{
	while (tcsetpgrp(tty, group) && errno == EINTR)
		;
}

static _Noreturn void guard_main(const struct ctp_foreground *f, int collector, bool alone)
{
	static const int keys[] = {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGUSR1};
	sigset_t set;
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		sigaddset(&set, keys[i]);
	keep_descriptors(f->tty, collector);
	if (chdir("/") || signalfd(-1, &set, SFD_NONBLOCK) != SIGNALS)
		_exit(1);
	prctl(PR_SET_NAME, "ctp-guard");
	struct pollfd fds[] = {{.fd = COLLECTOR, .events = POLLIN}, {.fd = SIGNALS, .events = POLLIN}};
	for (; !fds[0].revents; poll(fds, 2, -1))
		if (fds[1].revents)
			relay(&alone);
	if (tcgetpgrp(TTY) == getpid())
		give(TTY, f->own);
	_exit(0);
}

static void end_guard(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static bool start_guard(struct ctp_foreground *f)
{
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (self < 0)
		return false;
	pid_t pid = fork();
	if (pid == 0)
		guard_main(f, self, f->alone);
	close(self);
	if (pid > 0 && setpgid(pid, pid))
		end_guard(pid);
	else if (pid > 0)
		f->group = pid;
	return f->group;
}

/* --- the terminal ------------------------------------------------------------------------ */

void ctp_foreground_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTSTP);
	sigaddset(set, SIGTTIN);
	sigaddset(set, SIGTTOU);
	sigaddset(set, SIGCONT);
}

/* A shell that knows jobs starts each in a group that the shell itself is not in. */
static bool is_job(const struct ctp_foreground *f) { return getpgid(getppid()) != f->own; }

bool ctp_foreground_init(struct ctp_foreground *f, bool has_command)
{
	struct sigaction now;
	*f = (struct ctp_foreground){.own = getpgrp(), .alone = !has_command};
	if (sigaction(SIGINT, NULL, &now) || now.sa_handler == SIG_IGN)
		return false;
	f->tty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	pid_t foreground = f->tty >= 0 ? tcgetpgrp(f->tty) : 0;
	bool is_ours = foreground == f->own;
	if ((is_ours || (foreground > 0 && is_job(f))) && start_guard(f)) {
		f->pause_ns = FIRST_MS * MS;
		if (is_ours)
			give(f->tty, f->group);
		return true;
	}
	ctp_fd_close(f->tty);
	return false;
}

/* SIGTTIN or SIGTTOU waits: others of our group were stopped by it. SIGCONT removes ours, too. */
static void continue_refused(void)
{
	sigset_t pending;
	if (!sigpending(&pending) && (sigismember(&pending, SIGTTIN) || sigismember(&pending, SIGTTOU)))
		kill(0, SIGCONT);
}

void ctp_foreground_fini(struct ctp_foreground *f)
{
	pid_t now = tcgetpgrp(f->tty);
	bool dead = now > 0 && kill(-now, 0) && errno == ESRCH;
	if (now == f->group || dead)
		give(f->tty, f->own);
	if (tcgetpgrp(f->tty) == f->own)
		continue_refused();
	end_guard(f->group);
	close(f->tty);
	f->group = 0;
}

/* From now on keys are for us. */
static void be_alone(struct ctp_foreground *f)
{
	if (!f->alone)
		kill(f->group, SIGUSR1);
	f->alone = true;
}

void ctp_foreground_ended(struct ctp_foreground *f)
{
	f->command = 0;
	f->halted = false;
	be_alone(f);
}

bool ctp_foreground_has_command(const struct ctp_foreground *f)
{
	return f->command && getpgid(f->command) == f->group;
}

bool ctp_foreground_send(const struct ctp_foreground *f, int sig, bool all)
{
	bool has_got = all && ctp_foreground_has_command(f);
	if (all)
		kill(-f->group, sig);
	return has_got || (f->command && !kill(f->command, sig));
}

static void resume(struct ctp_foreground *f)
{
	f->halted = false;
	if (!f->shared && tcgetpgrp(f->tty) == f->own)
		give(f->tty, f->group);
	ctp_foreground_send(f, SIGCONT, true);
}

/*
 * The signal waits, and stops us here; unless it is ignored, or there is no shell to continue us.
 */
static void let_stop(int sig)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * Stops our group, or us alone if the others were stopped already: so the shell sees that the job
 * has stopped. Where there is no shell, what Ctrl-Z has stopped goes on; what wants the terminal
 * waits for it.
 */
static void suspend(struct ctp_foreground *f, int sig, bool alone)
{
	if (tcgetpgrp(f->tty) == f->group)
		give(f->tty, f->own);
	kill(alone ? getpid() : 0, sig);
	let_stop(sig);
	if (sig == SIGTSTP)
		resume(f);
}

void ctp_foreground_stopped(struct ctp_foreground *f, int sig)
{
	bool wants = sig == SIGTTIN || sig == SIGTTOU;
	if (wants && tcgetpgrp(f->tty) == f->own) {
		f->shared = false;
		resume(f);
	} else if (sig == SIGSTOP) { /* that somebody has stopped this process is a fact of the trace */
		f->halted = true;
	} else {
		suspend(f, sig, false);
	}
}

void ctp_foreground_continued(struct ctp_foreground *f) { f->halted = false; }

/* A SIGCHLD about the guard has its pid, too, but another code. */
bool ctp_foreground_relayed(const struct ctp_foreground *f, const struct signalfd_siginfo *info)
{
	return f->group && (pid_t)info->ssi_pid == f->group && info->ssi_code == SI_QUEUE;
}

bool ctp_foreground_is_for_command(const struct ctp_foreground *f, const struct signalfd_siginfo *info)
{
	bool has_left = f->command && !ctp_foreground_has_command(f);
	return ctp_foreground_relayed(f, info) && !info->ssi_int && !has_left;
}

void ctp_foreground_typed(struct ctp_foreground *f, int sig)
{
	if (f->halted)
		suspend(f, SIGTSTP, false);
	else if (sig == SIGINT || sig == SIGQUIT)
		f->typed = true;
}

void ctp_foreground_look(struct ctp_foreground *f)
{
	siginfo_t info = {0};
	if (!waitid(P_PID, (id_t)f->group, &info, WSTOPPED | WNOHANG) && info.si_pid)
		suspend(f, SIGTSTP, false);
}

/* A process of our group wants the terminal, and all of the group were stopped for that but us. */
static void share(struct ctp_foreground *f)
{
	f->shared = true;
	if (tcgetpgrp(f->tty) == f->group)
		give(f->tty, f->own);
	kill(0, SIGCONT);
}

void ctp_foreground_signal(struct ctp_foreground *f, int sig, bool relayed)
{
	pid_t now = tcgetpgrp(f->tty);
	if (sig == SIGCONT) {
		resume(f);
	} else if (sig != SIGTSTP && (now == f->group || now == f->own)) {
		share(f);
	} else if (!relayed || !ctp_foreground_has_command(f)) {
		ctp_foreground_send(f, sig, true);
		suspend(f, sig, !relayed);
	}
}

void ctp_foreground_keep(struct ctp_foreground *f, uint64_t now_ns)
{
	pid_t now = tcgetpgrp(f->tty);
	if (now == f->own && f->halted)
		give(f->tty, f->group);
	else if (now == f->own && !f->shared)
		resume(f);
	if (!ctp_foreground_has_command(f))
		be_alone(f);
	f->due_ns = now_ns + AWAY_MS * MS;
	if (now == f->group) {
		f->pause_ns = ctp_least(f->pause_ns * 2, LAST_MS * MS);
		f->due_ns = now_ns + f->pause_ns;
	}
}

/* --- the readers ------------------------------------------------------------------------- */

enum { ANCESTORS_MAX = 16, STATUS_BYTES = 512 };

/* 0: not known. */
static pid_t parent_of(pid_t pid)
{
	char path[32], text[STATUS_BYTES];
	int parent = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	ctp_fd_read_file(AT_FDCWD, path, text, sizeof text);
	const char *end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* The shell of a script waits for us, and is in our group. */
static bool is_ancestor(pid_t pid)
{
	pid_t up = getppid();
	for (int i = 0; up && up != pid && i < ANCESTORS_MAX; i++)
		up = parent_of(up);
	return up == pid;
}

size_t ctp_foreground_readers(const struct ctp_foreground *f, pid_t *pids, size_t room)
{
	size_t n = 0;
	DIR *proc = opendir("/proc");
	for (pid_t pid; proc && n < room && (pid = ctp_proc_users_next(proc)) != 0;)
		if (getpgid(pid) == f->own && !is_ancestor(pid))
			pids[n++] = pid;
	if (proc)
		closedir(proc);
	return n;
}
