/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * foreground.h - keeps Ctrl-C from the readers of the pipe that the stream goes to.
 *
 * A terminal sends the signals of its keys to one process group, its foreground group. A shell
 * puts all of `ctp-collect ./server | zstd > t.ctp.zst` into one group, so Ctrl-C would kill
 * zstd, too. So COMMAND gets a process group of its own, and the collector does for it what a
 * shell does for a job: it makes it the foreground group, stops when COMMAND stops, continues
 * COMMAND when it is continued itself, and takes the terminal back. A process of the pipeline
 * that uses the terminal, such as a pager, gets it.
 *
 * The leader of COMMAND's group is the guard, a child of the collector. If the collector is
 * killed, the guard gives the terminal back. While there is no COMMAND in the group that the
 * signals of keys are for, they are for the collector, and the guard relays them. And because COMMAND is not the
 * leader, it may call setsid(2), as before.
 *
 * A pipeline that a shell starts in the background gets the group and the guard, too, and the
 * terminal with `fg`.
 */
#ifndef CTP_FOREGROUND_H
#define CTP_FOREGROUND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ctp_foreground {
	pid_t group;   /* COMMAND's, and the guard's id; 0: COMMAND is in our group */
	pid_t own;     /* our process group */
	pid_t command; /* set by the caller; 0: none, or it has ended */
	int tty;
	bool alone;    /* there is no COMMAND in the group that keys are for: they are for us */
	bool halted;   /* somebody has stopped COMMAND by SIGSTOP, and nobody has continued it */
	bool typed;    /* a key that ends programs, for COMMAND */
	bool shared;   /* a process of our group has wanted the terminal, and COMMAND not since */
	uint64_t due_ns, pause_ns; /* of the next look at the terminal */
};

/* What we take ourselves while there is a foreground group. They must be blocked. */
void ctp_foreground_signals(sigset_t *set);

/*
 * Makes a foreground group, if ours is the foreground group of our terminal or can become it by
 * `fg`, and SIGINT is not ignored. Without a COMMAND, keys are for us from the start.
 */
bool ctp_foreground_init(struct ctp_foreground *f, bool has_command);

/* After an init that was true: the terminal is our group's again. */
void ctp_foreground_fini(struct ctp_foreground *f);

/* COMMAND has ended: from now on keys are for us. So they are once COMMAND has left the group. */
void ctp_foreground_ended(struct ctp_foreground *f);

/* COMMAND gets the signals of keys by itself. */
bool ctp_foreground_has_command(const struct ctp_foreground *f);

/* A signal for COMMAND, and for its group where all is set. False: COMMAND did not get it. */
bool ctp_foreground_send(const struct ctp_foreground *f, int sig, bool all);

/* COMMAND was stopped by the signal. May return only when all goes on. */
void ctp_foreground_stopped(struct ctp_foreground *f, int sig);
void ctp_foreground_continued(struct ctp_foreground *f);

/*
 * Whether the guard sent this signal, because of a key; and whether that key was for COMMAND, which got it by itself, or has ended
 * since.
 */
struct signalfd_siginfo;
bool ctp_foreground_relayed(const struct ctp_foreground *f, const struct signalfd_siginfo *info);
bool ctp_foreground_is_for_command(const struct ctp_foreground *f, const struct signalfd_siginfo *info);

/*
 * The guard says that a key was typed for COMMAND. While COMMAND is halted, every key stops the
 * pipeline, so that the terminal is not dead: `fg` continues all. May return only then.
 */
void ctp_foreground_typed(struct ctp_foreground *f, int sig);

/*
 * A child has stopped, or has ended. If the guard was stopped, a program has stopped its whole
 * group, as some editors do. May return only when all goes on.
 */
void ctp_foreground_look(struct ctp_foreground *f);

/* One of ctp_foreground_signals has come. May return only when all goes on. */
void ctp_foreground_signal(struct ctp_foreground *f, int sig, bool relayed);

/*
 * A shell may make our group the foreground group at any time: for a later process of the
 * pipeline, or for `fg`. This makes it COMMAND's again; to be called at due_ns.
 */
void ctp_foreground_keep(struct ctp_foreground *f, uint64_t now_ns);

/* The other processes of the pipeline, at most room of them. Without /proc: none. */
size_t ctp_foreground_readers(const struct ctp_foreground *f, pid_t *pids, size_t room);

#endif
