/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * spawn.h - starts the target, as a shell would have without us.
 */
#ifndef CTP_SPAWN_H
#define CTP_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/signals.h"

/* What a collector changes in itself and a child must not inherit. */
struct ctp_spawn_signals {
	sigset_t mask;
	struct ctp_signals taken;
};

/* Blocks block. A write to a closed pipe or beyond a size limit fails instead of ending the process; children can be waited for. */
void ctp_spawn_signals_take(struct ctp_spawn_signals *signals, const sigset_t *block);
void ctp_spawn_signals_restore(const struct ctp_spawn_signals *signals);

struct ctp_spawn_conf {
	char *const *argv;
	const char *const *env; /* pairs of name and value, then null; they become ours too */
	bool stdout_to_stderr;
	pid_t group; /* 0: ours */
	const struct ctp_spawn_signals *signals; /* the child restores them */
};

/* 0 and *pid, once the program runs; else 125, or as env(1) has it 126 (found, not started) or 127 (not found), and err. */
int ctp_spawn(const struct ctp_spawn_conf *conf, pid_t *pid, struct ctp_err *err);

#endif
