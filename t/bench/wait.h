/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* wait.h - waiting for a time. */
#ifndef CTP_BENCH_WAIT_H
#define CTP_BENCH_WAIT_H

#include "base/clock.h"

static inline void clock_sleep_until(uint64_t due_ns)
{
	struct timespec at = { .tv_sec = (time_t)(due_ns / 1000000000), .tv_nsec = (long)(due_ns % 1000000000) };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
}

static inline void clock_sleep(uint64_t ns) { clock_sleep_until(ctp_clock_ns() + ns); }

/* Asleep where the time is not near, and else on the clock, because a sleep is not that exact. */
static inline void clock_wait_until(uint64_t due_ns)
{
	if (due_ns > ctp_clock_ns() + 100000)
		clock_sleep_until(due_ns);
	while (ctp_clock_ns() < due_ns)
		;
}

#endif
