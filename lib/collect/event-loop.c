/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * event-loop.c - one epoll for all of it.
 *
 * Signals typed at a terminal come from the kernel and have reached COMMAND by themselves, if it is
 * in our process group or in the foreground group (foreground.h); those that were sent to us are
 * passed on. In the steady state a wait is one system call.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "collect/end-signal.h"
#include "collect/event-loop.h"
#include "collect/proc-users.h"

enum kind { LISTENER, CONNECTION, SIGNALS, PROCESS, USER, EXTRA };
enum { EVENTS_AT_ONCE = 64, REPEATED_NS = 500000000 };

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR2, SIGWINCH};

void ctp_event_loop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGUSR1);
	for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
		sigaddset(set, passed_on[i]);
}

/*
 * Like epoll_pwait2, which glibc has since 2.35 and Linux since 5.11. An older kernel can only wait for whole milliseconds; the wait is
 * rounded up then.
 */
static int wait_ns(int epoll_fd, struct epoll_event *events, int max, int64_t timeout_ns)
{
	static bool missing; /* written with the same value by all threads */
	struct timespec limit = ctp_clock_timespec((uint64_t)timeout_ns);
	if (!__atomic_load_n(&missing, __ATOMIC_RELAXED)) {
		int n = (int)syscall(SYS_epoll_pwait2, epoll_fd, events, max, timeout_ns < 0 ? NULL : &limit, NULL, 0);
		if (n >= 0 || (errno != ENOSYS && errno != EPERM)) /* a filter for system calls may not know it */
			return n;
		__atomic_store_n(&missing, true, __ATOMIC_RELAXED);
	}
	int64_t ms = timeout_ns / 1000000 + (timeout_ns % 1000000 > 0);
	return epoll_wait(epoll_fd, events, max, timeout_ns < 0 ? -1 : ms < INT_MAX ? (int)ms : INT_MAX);
}

static bool watch(struct ctp_event_loop *loop, int op, int fd, enum kind kind, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.u64 = (uint64_t)kind << 32 | (uint32_t)fd};
	return !epoll_ctl(loop->epoll_fd, op, fd, &e);
}

enum ctp_status ctp_event_loop_init(struct ctp_event_loop *loop, struct ctp_sock *sock, struct ctp_err *err)
{
	*loop = (struct ctp_event_loop){.sock = sock, .signal_fd = -1, .extra_fd = -1, .process_fd = -1, .maps_fd = -1};
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	sigset_t set;
	ctp_event_loop_signals(&set);
	loop->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->epoll_fd >= 0 && loop->signal_fd >= 0 && watch(loop, EPOLL_CTL_ADD, loop->signal_fd, SIGNALS, EPOLLIN) &&
	    watch(loop, EPOLL_CTL_ADD, sock->fd, LISTENER, EPOLLIN))
		return CTP_OK;
	ctp_err_sys(err, "epoll");
	ctp_event_loop_fini(loop);
	return CTP_FAILED;
}

void ctp_event_loop_fini(struct ctp_event_loop *loop)
{
	ctp_fd_close(loop->process_fd);
	ctp_fd_close(loop->maps_fd);
	ctp_fd_close(loop->signal_fd);
	ctp_fd_close(loop->epoll_fd);
	loop->process_fd = loop->maps_fd = loop->signal_fd = loop->epoll_fd = -1;
}

enum ctp_status ctp_event_loop_process(struct ctp_event_loop *loop, pid_t pid, struct ctp_err *err)
{
	loop->process_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (loop->process_fd < 0)
		return ctp_err_sys(err, "process %d", (int)pid);
	loop->maps_fd = ctp_proc_maps_fd(pid);
	loop->change = true; /* since its memory was found, it may have become another */
	return watch(loop, EPOLL_CTL_ADD, loop->process_fd, PROCESS, EPOLLIN) ? CTP_OK : ctp_err_sys(err, "epoll");
}

/* The descriptor is of the memory that the process had when it was opened: after an exec or the end it shows nothing. */
bool ctp_event_loop_replaced(const struct ctp_event_loop *loop)
{
	char first;
	return loop->maps_fd >= 0 && pread(loop->maps_fd, &first, 1, 0) <= 0;
}

enum ctp_status ctp_event_loop_extra(struct ctp_event_loop *loop, int fd, struct ctp_err *err)
{
	if (loop->extra_fd >= 0)
		watch(loop, EPOLL_CTL_DEL, loop->extra_fd, EXTRA, 0);
	loop->extra_fd = fd;
	return fd < 0 || watch(loop, EPOLL_CTL_ADD, fd, EXTRA, EPOLLIN) ? CTP_OK : ctp_err_sys(err, "epoll");
}

/* --- connections ---------------------------------------------------------------------------------------------------------- */

/* Without a descriptor to spare the listener would be ready for ever: it is left alone until a connection ends. */
static void set_full(struct ctp_event_loop *loop, bool full)
{
	if (loop->full != full && watch(loop, EPOLL_CTL_MOD, loop->sock->fd, LISTENER, full ? 0 : EPOLLIN))
		loop->full = full;
}

static void accept_all(struct ctp_event_loop *loop)
{
	for (;;) {
		if (ctp_end_signal())
			return; /* the listener stays ready: each connection takes a look at its process */
		int fd = loop->connections < CTP_CONNECTIONS_MAX ? ctp_sock_accept(loop->sock) : -1;
		if (fd < 0) {
			if (loop->connections >= CTP_CONNECTIONS_MAX ||
			    (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED))
				set_full(loop, true);
			return;
		}
		if (!watch(loop, EPOLL_CTL_ADD, fd, CONNECTION, EPOLLIN)) {
			close(fd);
			continue;
		}
		loop->connections++;
		loop->accepted++;
		loop->woken = true;
		struct ucred peer = {0};
		socklen_t len = sizeof peer;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
			peer.pid = 0;
		loop->connected(loop->arg, peer.pid);
	}
}

static void read_connection(struct ctp_event_loop *loop, int fd)
{
	char bytes[4096];
	ssize_t n = read(fd, bytes, sizeof bytes);
	if (n > 0) {
		loop->woken = true;
		loop->wakes += (uint64_t)n;
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(fd);
		assert(loop->connections);
		loop->connections--;
		loop->change = true;
		set_full(loop, false);
	}
}

/* --- signals -------------------------------------------------------------------------------------------------------------- */

static void end(struct ctp_event_loop *loop)
{
	loop->ended = loop->change = true;
	loop->ended_ns = ctp_clock_ns();
	if (loop->foreground.group)
		ctp_foreground_ended(&loop->foreground);
}

static void reap(struct ctp_event_loop *loop)
{
	int status, flags = loop->foreground.group ? WNOHANG | WUNTRACED | WCONTINUED : WNOHANG;
	bool lives = loop->command && !loop->ended;
	loop->stirred = true;
	bool changed = lives && waitpid(loop->command, &status, flags) == loop->command;
	if (changed && WIFSTOPPED(status)) {
		ctp_foreground_stopped(&loop->foreground, WSTOPSIG(status));
	} else if (changed && WIFCONTINUED(status)) {
		ctp_foreground_continued(&loop->foreground);
	} else if (changed) {
		loop->status = status;
		end(loop);
	}
	if (loop->foreground.group)
		ctp_foreground_look(&loop->foreground);
}

static bool send_to_command(const struct ctp_event_loop *loop, int sig, bool all)
{
	if (loop->foreground.group)
		return ctp_foreground_send(&loop->foreground, sig, all);
	return !kill(loop->command, sig);
}

/* The time is taken before the signal is sent, so that what COMMAND does about it is later. */
static void pass_on(struct ctp_event_loop *loop, int sig, bool all)
{
	uint64_t ts_ns = ctp_clock_ns();
	if (send_to_command(loop, sig, all) && loop->npassed < sizeof loop->passed / sizeof *loop->passed)
		loop->passed[loop->npassed++] = (struct ctp_passed_on){ts_ns, sig};
}

/* timeout(1) sends its signal twice, to us and to our group. The second asks for nothing new. */
static bool is_asked_anew(struct ctp_event_loop *loop)
{
	uint64_t now_ns = ctp_clock_ns();
	bool anew = !loop->urged || now_ns - loop->urged_ns >= REPEATED_NS;
	if (!loop->urged)
		loop->urged_ns = now_ns;
	loop->urged = true;
	return anew;
}

/* Terminals, shells and timeout(1) signal process groups: COMMAND's children need it, too. */
static bool is_for_all(const struct signalfd_siginfo *info, bool ends)
{
	return info->ssi_code > 0 || (ends && (pid_t)info->ssi_pid == getppid());
}

static void take_job_signal(struct ctp_event_loop *loop, const struct signalfd_siginfo *info)
{
	struct ctp_foreground *f = &loop->foreground;
	if (f->group)
		ctp_foreground_signal(f, (int)info->ssi_signo, ctp_foreground_relayed(f, info));
}

/*
 * Of the keys that are typed when the trace has ended already, the first may be one too many for
 * COMMAND, and the second is meant.
 */
static void take_end_signal(struct ctp_event_loop *loop, const struct signalfd_siginfo *info)
{
	bool is_ours = !loop->command || loop->ended, is_key = ctp_foreground_relayed(&loop->foreground, info);
	bool is_doubtful = loop->finishing && is_key && !loop->urged;
	if (!is_asked_anew(loop) || !is_ours)
		return;
	if (is_doubtful)
		loop->doubted = true;
	else
		loop->stop = true;
	loop->key = is_key ? (int)info->ssi_signo : 0;
}

static void take_signal(struct ctp_event_loop *loop, const struct signalfd_siginfo *info)
{
	int sig = (int)info->ssi_signo;
	bool ends = sig == SIGHUP || sig == SIGINT || sig == SIGQUIT || sig == SIGTERM;
	bool has_command = loop->command && !loop->ended;
	if (ends)
		take_end_signal(loop, info);
	if (has_command && (info->ssi_code <= 0 || loop->foreground.group))
		pass_on(loop, sig, is_for_all(info, ends));
}

static void take_any(struct ctp_event_loop *loop, const struct signalfd_siginfo *info)
{
	if (ctp_foreground_is_for_command(&loop->foreground, info)) {
		ctp_foreground_typed(&loop->foreground, (int)info->ssi_signo);
		return;
	}
	switch (info->ssi_signo) {
	case SIGCHLD:
		reap(loop);
		break;
	case SIGUSR1:
		loop->asked = true;
		break;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
		take_job_signal(loop, info);
		break;
	default:
		take_signal(loop, info);
	}
}

static void read_signals(struct ctp_event_loop *loop)
{
	struct signalfd_siginfo infos[16];
	ssize_t n = read(loop->signal_fd, infos, sizeof infos);
	for (ssize_t i = 0; i < n / (ssize_t)sizeof infos[0]; i++)
		take_any(loop, &infos[i]);
}

/* --- the foreground group ---------------------------------------------------------------- */

static void take_job_signals(struct ctp_event_loop *loop, bool take)
{
	sigset_t set, jobs;
	ctp_event_loop_signals(&set);
	ctp_foreground_signals(&jobs);
	if (take)
		sigorset(&set, &set, &jobs);
	signalfd(loop->signal_fd, &set, 0);
	sigprocmask(take ? SIG_BLOCK : SIG_UNBLOCK, &jobs, NULL);
}

void ctp_event_loop_foreground(struct ctp_event_loop *loop, bool has_command)
{
	take_job_signals(loop, true);
	if (!ctp_foreground_init(&loop->foreground, has_command))
		take_job_signals(loop, false);
}

void ctp_event_loop_background(struct ctp_event_loop *loop)
{
	if (!loop->foreground.group)
		return;
	ctp_foreground_fini(&loop->foreground);
	take_job_signals(loop, false);
}

/* The time that a wait may take, so that the terminal is looked at when that is due. */
static int64_t until_look(const struct ctp_event_loop *loop, int64_t timeout_ns)
{
	uint64_t now_ns = ctp_clock_ns(), due_ns = loop->foreground.due_ns;
	int64_t left_ns = due_ns > now_ns ? (int64_t)(due_ns - now_ns) : 0;
	return timeout_ns < 0 || left_ns < timeout_ns ? left_ns : timeout_ns;
}

static void look_at_terminal(struct ctp_event_loop *loop)
{
	uint64_t now_ns = ctp_clock_ns();
	if (now_ns >= loop->foreground.due_ns)
		ctp_foreground_keep(&loop->foreground, now_ns);
}

/* --- the wait ------------------------------------------------------------------------------------------------------------- */

static void take_event(struct ctp_event_loop *loop, uint64_t data)
{
	int fd = (int)(uint32_t)data;
	switch ((enum kind)(data >> 32)) {
	case LISTENER:
		accept_all(loop);
		break;
	case CONNECTION:
		read_connection(loop, fd);
		break;
	case SIGNALS:
		read_signals(loop);
		break;
	case PROCESS:
		watch(loop, EPOLL_CTL_DEL, fd, PROCESS, 0); /* it stays readable */
		end(loop);
		break;
	case USER:
		loop->change = true;
		break;
	case EXTRA:
		loop->extra = true;
		break;
	}
}

void ctp_event_loop_wait(struct ctp_event_loop *loop, int64_t timeout_ns)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	if (loop->foreground.group)
		timeout_ns = until_look(loop, timeout_ns);
	int n = wait_ns(loop->epoll_fd, events, EVENTS_AT_ONCE, timeout_ns);
	for (int i = 0; i < n; i++)
		take_event(loop, events[i].data.u64);
	if (loop->foreground.group)
		look_at_terminal(loop);
}

static void forget_users(struct ctp_event_loop *loop)
{
	loop->change = false;
	while (loop->users)
		close(loop->user_fds[--loop->users]);
}

static void watch_user(struct ctp_event_loop *loop, int fd)
{
	watch(loop, EPOLL_CTL_ADD, fd, USER, EPOLLIN);
	assert(loop->users < CTP_PROC_USERS_MAX);
	loop->user_fds[loop->users++] = fd;
}

bool ctp_event_loop_unused(struct ctp_event_loop *loop, const struct ctp_map_file *file)
{
	forget_users(loop);
	pid_t pids[CTP_PROC_USERS_MAX];
	size_t n = ctp_proc_users_find(file, pids, CTP_PROC_USERS_MAX);
	for (size_t i = 0; i < n; i++) {
		int fd = (int)syscall(SYS_pidfd_open, pids[i], 0);
		if (fd >= 0)
			watch_user(loop, fd);
		else
			loop->change = true; /* gone since, or no descriptor is left: look again */
	}
	return !n && !ctp_end_signal(); /* not all may have been looked at */
}

bool ctp_event_loop_deserted(struct ctp_event_loop *loop, const struct ctp_map_file *file)
{
	loop->change = false;
	return loop->ended && !loop->connections && ctp_event_loop_unused(loop, file);
}

/* Its parent may not have asked for its status yet. */
static bool has_ended(int pidfd)
{
	struct pollfd look = {.fd = pidfd, .events = POLLIN};
	return poll(&look, 1, 0) > 0;
}

bool ctp_event_loop_readers(struct ctp_event_loop *loop)
{
	const struct ctp_foreground *f = &loop->foreground;
	pid_t pids[CTP_PROC_USERS_MAX];
	if (!f->group || f->shared || !(f->typed || loop->urged))
		return false;
	forget_users(loop);
	size_t n = ctp_foreground_readers(f, pids, CTP_PROC_USERS_MAX);
	for (size_t i = 0; i < n; i++) {
		int fd = (int)syscall(SYS_pidfd_open, pids[i], 0);
		if (fd >= 0 && !has_ended(fd))
			watch_user(loop, fd);
		else
			ctp_fd_close(fd);
	}
	return loop->users;
}
