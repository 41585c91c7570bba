/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-rawclock.c - lib/shm/rawclock.c as the machine has it: the processor's counter counts the nanoseconds of the run.
 */
#include "shm/rawclock.h"

#include "view-machine.h"

static struct ctp_rawline line = {.slope = UINT64_C(1) << 32};

uint64_t view_counter(void);
uint64_t view_counter(void) { return view_clock(); }

bool ctp_rawclock_usable(void)
{
#ifdef __x86_64__
	return true;
#else
	return false; /* the probe reads the counter by an instruction, which the machine cannot replace */
#endif
}

uint64_t ctp_rawclock_hz(void) { return 0; }
uint64_t ctp_rawclock_pair(uint64_t *raw, uint64_t *ns) { return *raw = *ns = view_clock(), 0; }
void ctp_rawclock_init(struct ctp_rawclock *c, uint64_t made_raw, uint64_t made_ns) { (void)c, (void)made_raw, (void)made_ns; }
void ctp_rawclock_add(struct ctp_rawclock *c, uint64_t raw, uint64_t ns) { (void)c, (void)raw, (void)ns; }

uint64_t ctp_rawclock_take(struct ctp_rawclock *c)
{
	(void)c;
	return line.stop_raw = line.stop_ns = view_clock();
}

const struct ctp_rawline *ctp_rawclock_newest(const struct ctp_rawclock *c) { return (void)c, &line; }
const struct ctp_rawline *ctp_rawclock_line(const struct ctp_rawclock *c, uint64_t raw) { return (void)c, (void)raw, &line; }
