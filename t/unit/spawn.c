/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * spawn.c - a child that is stopped before it has become the program is continued. A process of the pipeline
 * that wants the terminal stops all of its group, in which the child is at first.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/spawn.h"
#include "tap.h"

static pid_t parent;

/* Called by the child. The signal waits until the child restores its mask. */
int setpgid(pid_t pid, pid_t group)
{
	int failed = (int)syscall(SYS_setpgid, pid, group);
	if (getpid() != parent)
		kill(getpid(), SIGTTOU);
	return failed;
}

int main(void)
{
	static const char *const env[] = {NULL};
	struct ctp_spawn_signals signals;
	struct ctp_err err = {.text = ""};
	sigset_t block;
	pid_t command = 0, leader;
	int status = -1;
	parent = getpid();
	alarm(60);
	sigemptyset(&block);
	sigaddset(&block, SIGTTOU);
	ctp_spawn_signals_take(&signals, &block);
	leader = fork();
	if (!leader)
		pause();
	syscall(SYS_setpgid, leader, leader);
	static char name[] = "sh", option[] = "-c", what[] = "exit 7";
	const struct ctp_spawn_conf conf = {
		.argv = (char *[]){name, option, what, NULL}, .env = env, .group = leader, .signals = &signals};
	ok(ctp_spawn(&conf, &command, &err) == 0, "it runs, although it was stopped before: %s", err.text);
	ok(command && waitpid(command, &status, 0) == command, "it ends");
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "with its own status");
	kill(leader, SIGKILL);
	waitpid(leader, NULL, 0);
	ctp_spawn_signals_restore(&signals);
	return done_testing();
}
