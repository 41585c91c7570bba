/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * spawn.c - fork and exec, with the reason of a failure sent through a pipe that a successful exec closes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/spawn.h"

enum { LOOK_MS = 50 };

void ctp_spawn_signals_take(struct ctp_spawn_signals *signals, const sigset_t *block)
{
	static const struct sigaction standard = {.sa_handler = SIG_DFL}, ignored = {.sa_handler = SIG_IGN};
	sigprocmask(SIG_BLOCK, block, &signals->mask);
	signals->taken = (struct ctp_signals){0};
	/* If SIGCHLD were inherited as ignored, children would leave no status to wait for. */
	ctp_signals_take(&signals->taken, (const int[]){SIGCHLD, 0}, &standard);
	ctp_signals_take(&signals->taken, (const int[]){SIGPIPE, SIGXFSZ, 0}, &ignored);
}

void ctp_spawn_signals_restore(const struct ctp_spawn_signals *signals)
{
	ctp_signals_restore(&signals->taken);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

static _Noreturn void child_main(const struct ctp_spawn_conf *conf, int told)
{
	if (conf->group)
		setpgid(0, conf->group);
	if (!conf->stdout_to_stderr || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
		ctp_spawn_signals_restore(conf->signals);
		execvp(conf->argv[0], conf->argv);
	}
	int error = errno;
	if (write(told, &error, sizeof error) != sizeof error)
		_exit(125);
	_exit(127);
}

/*
 * Waits until the program runs: 0; else the count of bytes of the error. The child may have been stopped with our
 * group before it left it, or by a key since. No shell knows of that group, so nobody else would continue it.
 */
static ssize_t await_exec(int told, pid_t child, bool left, int *error)
{
	struct pollfd look = {.fd = told, .events = POLLIN};
	while (left && poll(&look, 1, LOOK_MS) <= 0) {
		siginfo_t info = {0};
		if (!waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG) && info.si_pid)
			kill(child, SIGCONT);
	}
	ssize_t n;
	do
		n = read(told, error, sizeof *error);
	while (n < 0 && errno == EINTR);
	return n;
}

int ctp_spawn(const struct ctp_spawn_conf *conf, pid_t *pid, struct ctp_err *err)
{
	int tell[2];
	for (const char *const *e = conf->env; *e; e += 2) {
		if (setenv(e[0], e[1], 1)) {
			ctp_err_sys(err, "%s", e[0]);
			return 125;
		}
	}
	if (pipe2(tell, O_CLOEXEC)) {
		ctp_err_sys(err, "pipe");
		return 125;
	}
	pid_t child = fork();
	if (child == 0)
		child_main(conf, tell[1]);
	int error = 0;
	if (child < 0)
		error = errno;
	close(tell[1]);
	ssize_t n = child > 0 ? await_exec(tell[0], child, conf->group, &error) : 0;
	close(tell[0]);
	if (child > 0 && n == 0) {
		*pid = child;
		return 0;
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	errno = error;
	if (child > 0 && error == ENOENT && strpbrk(conf->argv[0], " |&;<>"))
		ctp_err_set(err, "%s: %s (COMMAND is run without a shell: sh -c '...')", conf->argv[0], strerror(error));
	else
		ctp_err_sys(err, "%s", child < 0 ? "fork" : conf->argv[0]);
	return child < 0 ? 125 : error == ENOENT ? 127 : 126;
}
