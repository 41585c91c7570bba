/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-signals.h - the signals that end a trace, and the keys of a terminal, which must not reach the
 * readers of the pipe that the trace goes to (collect/foreground.h). There is one trace in a process.
 */
#ifndef CTP_PPT_SIGNALS_H
#define CTP_PPT_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "ppt/ppt-live.h"

/*
 * From now on signals are counted, and not what they were before. A second call is none. If the trace
 * goes to a pipe, makes a foreground group, for the program if it is still to be started.
 */
enum ctp_status ctp_ppt_signals_take(const struct ctp_ppt_live_conf *conf, struct ctp_err *err);

/* Gives back what was taken, if anything was. */
void ctp_ppt_signals_give_back(void);

/* For the start of the program: what it must restore, and the group that it must join; 0: ours. */
const sigset_t *ctp_ppt_signals_former(void);
pid_t ctp_ppt_signals_group(void);
void ctp_ppt_signals_started(pid_t program);

/* Readable when a signal waits. */
int ctp_ppt_signals_fd(void);

/*
 * Takes the signals that wait, and looks at the terminal now and then: to be called every second at
 * least. How many have come that end a trace. May return only when a stopped pipeline goes on.
 */
unsigned ctp_ppt_signals_read(void);

/* The output is closed. After a key, the readers may still write what they have, and are waited for. */
void ctp_ppt_signals_await_readers(void);

#endif
