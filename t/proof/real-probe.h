/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * real-probe.h - the probe of ctp.h for the worlds, which are not compiled as steps themselves: real-probe.c is, with the
 * implementation of ctp.h in it.
 */
#ifndef CTP_REAL_PROBE_H
#define CTP_REAL_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#define CTP_LAYOUT_ONLY
#include "ctp.h"

/* ctp_slot_write_ */
void real_slot_write(struct ctp_shm_station *st, uint64_t k, bool fenced);

#endif
