/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* signals.c - see signals.h. */
#include "base/signals.h"

#include <assert.h>
#include <stddef.h>

static void take(struct ctp_signals *signals, int sig, const struct sigaction *action, bool unless_ignored)
{
	struct sigaction now;
	if (unless_ignored && !sigaction(sig, NULL, &now) && now.sa_handler == SIG_IGN)
		return;
	if (signals) { /* stored first: the handler may run at once, and restore */
		assert(signals->n < CTP_SIGNALS_MAX);
		signals->sigs[signals->n] = sig;
		if (sigaction(sig, NULL, &signals->former[signals->n]))
			return;
		signals->n++;
	}
	sigaction(sig, action, NULL);
}

void ctp_signals_take(struct ctp_signals *signals, const int *sigs, const struct sigaction *action)
{
	for (; *sigs; sigs++)
		take(signals, *sigs, action, false);
}

void ctp_signals_take_unignored(struct ctp_signals *signals, const int *sigs, const struct sigaction *action)
{
	for (; *sigs; sigs++)
		take(signals, *sigs, action, true);
}

void ctp_signals_restore(const struct ctp_signals *signals)
{
	assert(signals->n <= CTP_SIGNALS_MAX);
	for (unsigned i = signals->n; i-- > 0;)
		sigaction(signals->sigs[i], &signals->former[i], NULL);
}

void ctp_signals_ignore_all(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
}

void ctp_signals_die(int sig)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, sig);
	signal(sig, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
}

int ctp_signals_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
