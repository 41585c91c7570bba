/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * real-probe.c - see real-probe.h.
 */
#define CTP_IMPLEMENTATION
#include "ctp.h"

#include "real-probe.h"
#include "world.h"

void real_slot_write(struct ctp_shm_station *st, uint64_t k, bool fenced)
{
	const struct ctp_thread_ t = {.tid = world_word(k, 1)};
	ctp_slot_write_(st, k, world_word(k, 0), &t, world_word(k, 2), world_word(k, 3), fenced);
}
