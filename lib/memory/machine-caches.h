/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* machine-caches.h - the data caches of this machine. */
#ifndef CTP_MACHINE_CACHES_H
#define CTP_MACHINE_CACHES_H

#include "memory/caches.h"

/*
 * The levels that the system knows of, by the folder /sys/devices/system/cpu/cpu0/cache or one like it; their number. 0: it knows
 * none, or one that cannot be simulated.
 */
unsigned ctp_machine_caches(struct ctp_cache_shape shapes[CTP_CACHE_LEVELS], const char *folder);

/* The same by sysconf(3), which knows them of some processors. */
unsigned ctp_libc_caches(struct ctp_cache_shape shapes[CTP_CACHE_LEVELS]);

/* Some that are usual, in their place. */
unsigned ctp_usual_caches(struct ctp_cache_shape shapes[CTP_CACHE_LEVELS]);

#endif
