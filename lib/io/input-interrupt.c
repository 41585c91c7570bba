/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* input-interrupt.c - see input-interrupt.h. A signal handler reads all of this, in any thread. */
#include "io/input-interrupt.h"

#include <errno.h>
#include <signal.h>

static void (*say_it)(void); /* set before the first handler */
static int pipes;
static bool told;

void ctp_input_interrupt_init(void (*say)(void)) { say_it = say; }

void ctp_input_interrupt_pipe(int change) { __atomic_fetch_add(&pipes, change, __ATOMIC_RELAXED); }

bool ctp_input_interrupted(int sig)
{
	int before = errno;
	bool reads = sig == SIGINT && say_it && __atomic_load_n(&pipes, __ATOMIC_RELAXED) > 0;
	if (!reads || __atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		return false;
	say_it();
	errno = before;
	return true;
}
