/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* end-signal.h - a collector blocks the signals that end it and takes them in its event loop: what takes long asks here meanwhile. */
#ifndef CTP_END_SIGNAL_H
#define CTP_END_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* True: SIGTERM, SIGINT, SIGHUP or SIGQUIT waits to be taken. */
static inline bool ctp_end_signal(void)
{
	sigset_t pending;
	return !sigpending(&pending) && (sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT) ||
	                                 sigismember(&pending, SIGHUP) || sigismember(&pending, SIGQUIT));
}

#endif
