/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge-clock.h - one monotonic clock, and what the wall clock was at some of its times.
 *
 * Sections of the same boot and time namespace have one clock. The wall clock is linear between two readings. If it was set
 * between them, the time that passed there is that of the monotonic clock; all readings are then moved to where the one with the
 * smallest error is right. So the map never goes back, whatever was done to the wall clock.
 */
#ifndef CTP_MERGE_CLOCK_H
#define CTP_MERGE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/record.h"

struct ctp_merge_reading {
	uint64_t mono_ns, wall_ns;
	uint64_t read_ns;  /* how far the two may be apart */
	uint64_t error_ns; /* how far the wall clock may be from UTC, if synced */
	bool synced;
};

struct ctp_merge_clock {
	char *boot, *space;  /* the boot and the time namespace; null: a clock of its own */
	bool read;           /* a reading is from a record, and not only from an attribute */
	bool exact;          /* its times are times of the wall clock already */
	struct ctp_merge_reading *list; /* in order, after ctp_merge_clock_settle */
	size_t n, room;
	uint32_t steps;      /* how often the wall clock was set */
	uint64_t step_ns;    /* by how much, the sum */
	uint64_t off_ns;     /* the most that it can be away from the straight lines, with the errors of the readings */
	uint64_t error_ns;   /* the largest error of the readings that count */
	bool synced;         /* all of these are */
};

/* Without a reading, n is 0 and the clock has no place beside others. False: out of memory. */
bool ctp_merge_clock_add(struct ctp_merge_clock *c, const struct ctp_merge_reading *r);
void ctp_merge_clock_settle(struct ctp_merge_clock *c); /* all readings are there */
void ctp_merge_clock_fini(struct ctp_merge_clock *c);

/* What a record of kind clock says; false if the class lacks a field. */
bool ctp_merge_clock_read(const struct ctp_record *rec, struct ctp_merge_reading *r);

/* The wall clock at a time; at least 1, for 0 stands for a time that is not known. 0 is 0. */
uint64_t ctp_merge_clock_wall(const struct ctp_merge_clock *c, uint64_t ts_ns);

/* Another reading, of a clock that is in use: it changes no time, but the bound. */
void ctp_merge_clock_note(struct ctp_merge_clock *c, const struct ctp_merge_reading *r);

#endif
