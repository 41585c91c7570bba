/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * memory-guard.h - for memory.c: what a target can do to us through our mapping of its memory is survived, and has a price that is
 * limited.
 */
#ifndef CTP_MEMORY_GUARD_H
#define CTP_MEMORY_GUARD_H

#include <stdbool.h>

#include "base/err.h"
#include "shm/memory.h"

/* From here on the mapping may be cut off. One at a time in a process. */
enum ctp_status ctp_memory_guard(const struct ctp_memory *shm, struct ctp_err *err);

/* The end of that, if it is this one's. */
void ctp_memory_guard_end(const struct ctp_memory *shm);

#endif
