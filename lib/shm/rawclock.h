/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rawclock.h - times of the processor's counter, made into CLOCK_MONOTONIC nanoseconds.
 *
 * Reading the counter costs a fraction of the system's clock, so probes may write what it shows. The collector takes pairs of
 * readings, counter and clock at the same moment as nearly as can be, one with each look at the rings; a time between two pairs
 * is on a straight line between them. The line through all pairs only rises, so times keep the order of the counter's values.
 * A time is wrong by no more than the pairs around it are (error_ns: half of the time that it took to read them, some tens of
 * nanoseconds) and by what the system changed the speed of its clock between them.
 */
#ifndef CTP_RAWCLOCK_H
#define CTP_RAWCLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { CTP_RAWCLOCK_LINES = 64 };

/* From one pair to the next. Slope: ns for each step of the counter, times 2^32. */
struct ctp_rawline {
	uint64_t raw, ns, slope, stop_raw, stop_ns;
};

struct ctp_rawclock {
	struct ctp_rawline far; /* from the first pair to those that we still have one by one */
	struct ctp_rawline lines[CTP_RAWCLOCK_LINES];
	unsigned first, count;  /* of lines, in a ring */
	uint64_t error_ns;      /* of the worst pair since the second */
};

/* Whether the system takes its own time from the counter: then it runs evenly, and is the same on all processors. */
bool ctp_rawclock_usable(void);

/* How often the counter counts in a second; 0: not known. */
uint64_t ctp_rawclock_hz(void);

/* Both clocks at nearly the same moment; returns by how many steps of the counter they may be apart. */
uint64_t ctp_rawclock_pair(uint64_t *raw, uint64_t *ns);

/*
 * Begins with an earlier pair that another process has taken. Where that makes no sense, with the counter's own speed. Times from
 * before it are made by the speed since.
 */
void ctp_rawclock_init(struct ctp_rawclock *c, uint64_t made_raw, uint64_t made_ns);

/* Takes a pair. Returns the clock. */
uint64_t ctp_rawclock_take(struct ctp_rawclock *c);

/* The same with a given pair. One that is not later than the last, as the counter goes, is ignored. */
void ctp_rawclock_add(struct ctp_rawclock *c, uint64_t raw, uint64_t ns);

/* The line that ends with the last pair; the line that raw is on. */
const struct ctp_rawline *ctp_rawclock_newest(const struct ctp_rawclock *c);
const struct ctp_rawline *ctp_rawclock_line(const struct ctp_rawclock *c, uint64_t raw);

static inline bool ctp_rawline_has(const struct ctp_rawline *l, uint64_t raw) { return raw - l->raw < l->stop_raw - l->raw; }

/* What is later than the line is as late as its end, what is earlier is as fast. */
static inline uint64_t ctp_rawline_ns(const struct ctp_rawline *l, uint64_t raw)
{
	if (__builtin_expect(ctp_rawline_has(l, raw), 1))
		return l->ns + (uint64_t)((unsigned __int128)(raw - l->raw) * l->slope >> 32);
	if ((int64_t)(raw - l->raw) >= 0)
		return l->stop_ns;
	unsigned __int128 before = (unsigned __int128)(l->raw - raw) * l->slope >> 32;
	return before < l->ns ? l->ns - (uint64_t)before : 0;
}

static inline uint64_t ctp_rawclock_ns(const struct ctp_rawclock *c, uint64_t raw)
{
	return ctp_rawline_ns(ctp_rawclock_line(c, raw), raw);
}

#endif
