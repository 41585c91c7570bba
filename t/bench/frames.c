/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * frames.c - saves frames to a ppt buffer at an even rate, each with its number, for the bench of ctp-ppt attach.
 *
 * usage: frames PER_SECOND SECONDS
 */
#include "ppt.h"

#include <stdio.h>
#include <stdlib.h>

#include "wait.h"

PPT_BUFFER(Paced, 512, monotonic, (tick, (time, at), (int, n), (double, x)));

int main(int argc, char **argv)
{
	uint64_t rate = argc == 3 ? strtoull(argv[1], NULL, 10) : 0, frames = rate ? rate * strtoull(argv[2], NULL, 10) : 0;
	if (!frames)
		return fputs("usage: frames PER_SECOND SECONDS\n", stderr), 2;
	uint64_t start = ctp_clock_ns();
	for (uint64_t i = 0; i < frames; i++) {
		struct ppt_Paced_tick t = {.n = (int)i, .x = (double)i};
		clock_wait_until(start + i * 1000000000 / rate);
		ppt_Paced_tick_at_now(&t);
		ppt_Paced_tick_save(&t);
	}
	return 0;
}
