/*
 * clock.h - the system's clocks, in nanoseconds.
 */
#ifndef CTP_CLOCK_H
#define CTP_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ctp_clock_of(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The clock of all times of a trace. */
static inline uint64_t ctp_clock_ns(void) { return ctp_clock_of(CLOCK_MONOTONIC); }

#endif
