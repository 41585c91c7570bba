/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* limit.h - a bound on the memory of a process that runs code which believes its input. */
#ifndef CTP_LIMIT_H
#define CTP_LIMIT_H

#include <stdint.h>

/* From now on the process can have this many more bytes of private memory than it has now; further allocations fail. */
void ctp_limit_memory(uint64_t more_bytes);

#endif
