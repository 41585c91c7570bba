/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * signals.h - takes signals, and puts the former actions back.
 *
 *	static struct ctp_signals signals;
 *	struct sigaction action = {.sa_handler = on_signal};
 *
 *	ctp_signals_take_unignored(&signals, (const int[]){SIGINT, SIGTERM, 0}, &action);
 *	...
 *	ctp_signals_restore(&signals);
 */
#ifndef CTP_SIGNALS_H
#define CTP_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

enum { CTP_SIGNALS_MAX = 6 };

/* The signals taken, and the actions that they had. Zeros: none. */
struct ctp_signals {
	unsigned n;
	int sigs[CTP_SIGNALS_MAX];
	struct sigaction former[CTP_SIGNALS_MAX];
};

/* Gives each signal of sigs, which ends with 0, the action. Further calls add to signals. Null: the actions are never put back. */
void ctp_signals_take(struct ctp_signals *signals, const int *sigs, const struct sigaction *action);

/* The same, but a signal that is ignored stays ignored, so that nohup(1) keeps its effect. */
void ctp_signals_take_unignored(struct ctp_signals *signals, const int *sigs, const struct sigaction *action);

/* Leaves signals as it is: a child process, too, can restore what its parent took. */
void ctp_signals_restore(const struct ctp_signals *signals);

/* In a child process that its parent's signals must not end. */
void ctp_signals_ignore_all(void);

/* Ends the process by the signal, as if nothing had taken or blocked it. A signal handler may call it. */
void ctp_signals_die(int sig);

/* Starts a thread that handles no signals. Returns 0 or an error number. */
int ctp_signals_thread(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
