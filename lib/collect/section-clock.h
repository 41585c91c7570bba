/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * section-clock.h - what relates the clock of a section to other clocks: the boot and the time namespace, in which all monotonic
 * clocks are one, and readings of the monotonic clock and the wall clock at the same moment.
 */
#ifndef CTP_SECTION_CLOCK_H
#define CTP_SECTION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "stream/writer.h"

/* Two clocks at one moment. */
struct ctp_clock_pair {
	uint64_t mono_ns, wall_ns;
	uint64_t read_ns;  /* how far the two readings may be apart */
	uint64_t error_ns; /* how far the wall clock may be from UTC, by adjtimex(2); 0: not known */
	bool synced;       /* the kernel considers its wall clock synchronised */
};

void ctp_clock_pair_read(struct ctp_clock_pair *pair);

/*
 * Adds boot_id and time_namespace. pid: the process whose clock the section has; 0: a child of this process. False: that is not
 * this process's clock, so times that this process reads do not belong into the section.
 */
bool ctp_section_add_clock(struct ctp_section *sec, pid_t pid);

/* A record of the class CTP_CLOCK. */
void ctp_clock_pair_write(const struct ctp_clock_pair *pair, struct ctp_writer *w, const struct ctp_class *cls);

#endif
