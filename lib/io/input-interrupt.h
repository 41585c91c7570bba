/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * input-interrupt.h - Ctrl-C reaches all processes of a pipeline. The first one is for the
 * program at its start. What that writes until it ends must not be lost, so those that read go on
 * until then.
 *
 * The library takes no signal. A handler of SIGINT calls ctp_input_interrupted first.
 */
#ifndef CTP_INPUT_INTERRUPT_H
#define CTP_INPUT_INTERRUPT_H

#include <stdbool.h>

/*
 * From now on a first SIGINT is to be ignored, while an input is a pipe that has not ended. say
 * is called then, in the signal handler.
 */
void ctp_input_interrupt_init(void (*say)(void));

/* Whether this signal is to be ignored. */
bool ctp_input_interrupted(int sig);

/* For input.c: a pipe was opened (1), or has ended or is closed (-1). */
void ctp_input_interrupt_pipe(int change);

#endif
