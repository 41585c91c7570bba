/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * event-loop.h - everything that can happen to a collector from outside, in one wait.
 *
 * Connections and their wake bytes, signals, the end of the target, the end of any process that still has the memory mapped.
 */
#ifndef CTP_EVENT_LOOP_H
#define CTP_EVENT_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/foreground.h"
#include "collect/proc-maps.h"
#include "shm/sock.h"

enum { CTP_FOREVER = -1, CTP_PROC_USERS_MAX = 64 };

struct ctp_event_loop {
	int epoll_fd, signal_fd, extra_fd;
	int process_fd, maps_fd; /* of a process that was attached to */
	struct ctp_sock *sock;
	pid_t command; /* 0: none, a process was attached to */
	struct ctp_foreground foreground; /* its group is 0: there is none */
	void (*connected)(void *arg, pid_t pid); /* set by the caller; pid 0: not known */
	void *arg;

	bool finishing; /* set by the caller: the trace has ended, and is still being written */
	unsigned connections; /* open now */
	uint64_t accepted;    /* ever */
	uint64_t wakes;       /* bytes, ever */
	bool full;            /* no descriptor is left for another connection */
	bool ended;           /* the target has; status is what waitpid said of COMMAND */
	int status;
	uint64_t ended_ns;    /* when that was known */

	/* Set by a wait, cleared by the caller. */
	struct ctp_passed_on {
		uint64_t ts_ns;
		int sig;
	} passed[16]; /* signals that COMMAND got from us; further ones are passed on, but not recorded */
	unsigned npassed;
	bool woken;  /* a wake byte came, or a connection that has not sent one yet */
	bool asked;  /* SIGUSR1 */
	bool stop;   /* a signal to end, when there was no COMMAND, or none any more, to pass it on to */
	bool doubted; /* a key, while finishing is set, that need not be meant for us */
	int key;     /* what stop or doubted is of; 0: no key */
	bool urged;  /* a signal to end has come, whoever it was for */
	uint64_t urged_ns; /* when the first one was taken */
	bool extra;  /* extra_fd is readable */
	bool stirred; /* COMMAND may have been stopped, or goes on */
	bool change; /* a process has gone: ask ctp_event_loop_unused, or ctp_event_loop_deserted */

	unsigned users; /* processes that had the memory mapped when one of these last looked, and are waited for */
	int user_fds[CTP_PROC_USERS_MAX];
};

/* The signals that a watch takes; they must be blocked. */
void ctp_event_loop_signals(sigset_t *set);

/*
 * Before COMMAND starts: makes a foreground group for it, if there is a terminal; see foreground.h.
 * The second gives the terminal back, and may be called at any time.
 */
void ctp_event_loop_foreground(struct ctp_event_loop *loop, bool has_command);
void ctp_event_loop_background(struct ctp_event_loop *loop);

enum ctp_status ctp_event_loop_init(struct ctp_event_loop *loop, struct ctp_sock *sock, struct ctp_err *err);
void ctp_event_loop_fini(struct ctp_event_loop *loop); /* connections stay open: their keeper outlives us if need be */

/* The target is this process, which is not our child. */
enum ctp_status ctp_event_loop_process(struct ctp_event_loop *loop, pid_t pid, struct ctp_err *err);

/* The program that the process was when ctp_event_loop_process came is there no more, or cannot be asked. Costs a system call. */
bool ctp_event_loop_replaced(const struct ctp_event_loop *loop);

/* Watches one more descriptor, at most one at a time. -1: none any more. */
enum ctp_status ctp_event_loop_extra(struct ctp_event_loop *loop, int fd, struct ctp_err *err);

/* Waits until something happens, timeout_ns at most; 0 looks only. */
void ctp_event_loop_wait(struct ctp_event_loop *loop, int64_t timeout_ns);

/*
 * True when no process has the file mapped. Where one has, `change` is set when it ends; that it merely unmaps the file is found
 * by asking again. Reads the mappings of all processes.
 */
bool ctp_event_loop_unused(struct ctp_event_loop *loop, const struct ctp_map_file *file);

/* True when besides COMMAND has ended and no connection is open. */
bool ctp_event_loop_deserted(struct ctp_event_loop *loop, const struct ctp_map_file *file);

/*
 * True: a key has ended the trace, and other processes of the pipeline run, which may still write
 * it. A wait returns when one ends.
 */
bool ctp_event_loop_readers(struct ctp_event_loop *loop);

#endif
