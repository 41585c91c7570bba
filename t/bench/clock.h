/* clock.h - the time, and waiting for it. */
#ifndef CTP_BENCH_CLOCK_H
#define CTP_BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline void clock_sleep_until(uint64_t due_ns)
{
	struct timespec at = { .tv_sec = (time_t)(due_ns / 1000000000), .tv_nsec = (long)(due_ns % 1000000000) };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
}

static inline void clock_sleep(uint64_t ns) { clock_sleep_until(clock_ns(CLOCK_MONOTONIC) + ns); }

/* Asleep where the time is not near, and else on the clock, because a sleep is not that exact. */
static inline void clock_wait_until(uint64_t due_ns)
{
	if (due_ns > clock_ns(CLOCK_MONOTONIC) + 100000)
		clock_sleep_until(due_ns);
	while (clock_ns(CLOCK_MONOTONIC) < due_ns)
		;
}

#endif
