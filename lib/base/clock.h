/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clock.h - the system's clocks, in nanoseconds.
 */
#ifndef CTP_CLOCK_H
#define CTP_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define CTP_SECOND_NS UINT64_C(1000000000)

/* 0: there is no such clock, as of a process that has gone. */
static inline uint64_t ctp_clock_of(clockid_t clock)
{
	struct timespec t;
	return clock_gettime(clock, &t) ? 0 : (uint64_t)t.tv_sec * CTP_SECOND_NS + (uint64_t)t.tv_nsec;
}

/* The clock of all times of a trace. */
static inline uint64_t ctp_clock_ns(void) { return ctp_clock_of(CLOCK_MONOTONIC); }

static inline struct timespec ctp_clock_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / CTP_SECOND_NS), .tv_nsec = (long)(ns % CTP_SECOND_NS)};
}

/* When limit_ns from now have passed, for pthread_cond_timedwait with a condition made by ctp_clock_cond_init. */
static inline struct timespec ctp_clock_deadline(uint64_t limit_ns) { return ctp_clock_timespec(ctp_clock_ns() + limit_ns); }

static inline void ctp_clock_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

#endif
