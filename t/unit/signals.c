/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* signals.c - signals are taken, restored, left ignored, kept from threads, and raised in spite of a handler and a mask. */
#include "base/signals.h"
#include "tap.h"

#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t heard;
static void on_signal(int sig) { heard = sig; }

static bool is_handled(int sig)
{
	struct sigaction now;
	return !sigaction(sig, NULL, &now) && now.sa_handler == on_signal;
}

static void *mask_of(void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, arg);
	return NULL;
}

int main(void)
{
	static const int three[] = {SIGINT, SIGTERM, SIGHUP, 0};
	struct sigaction action = {.sa_handler = on_signal};
	struct ctp_signals signals = {0};
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	ctp_signals_take_unignored(&signals, three, &action);
	raise(SIGTERM);
	ok(heard == SIGTERM && is_handled(SIGINT), "a signal that was taken reaches the handler");
	ok(!is_handled(SIGHUP) && !raise(SIGHUP), "an ignored signal stays ignored");
	ctp_signals_restore(&signals);
	ok(!is_handled(SIGINT) && !is_handled(SIGTERM), "the former actions are put back");

	signals = (struct ctp_signals){0};
	ctp_signals_take(&signals, three, &action);
	ok(is_handled(SIGINT) && is_handled(SIGTERM) && is_handled(SIGHUP), "with take, an ignored signal is taken, too");
	ctp_signals_restore(&signals);
	ok(!is_handled(SIGHUP) && !raise(SIGHUP), "and is ignored again afterwards");

	pthread_t thread;
	sigset_t of_thread, ours;
	sigemptyset(&of_thread);
	ok(!ctp_signals_thread(&thread, mask_of, &of_thread) && !pthread_join(thread, NULL) && sigismember(&of_thread, SIGINT) == 1,
		"a thread handles no signals");
	pthread_sigmask(SIG_SETMASK, NULL, &ours);
	ok(!sigismember(&ours, SIGINT), "and the mask of its creator is as before");

	int status = 0;
	pid_t child = fork();
	if (!child) {
		sigset_t all;
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		ctp_signals_take(NULL, three, &action);
		ctp_signals_die(SIGTERM);
		_exit(1);
	}
	ok(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM,
		"a process dies of a signal that it blocks and handles");
	return done_testing();
}
