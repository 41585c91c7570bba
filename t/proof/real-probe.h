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

enum { REAL_COROS = 8, REAL_SOCK_INODE = 7, REAL_SOCK_DEVICE = 9 };

/* What its threads share; and that each has a ctp_self_ of its own. */
void real_probe_share(void);

/* Attached to this memory, as ctp_attach_ leaves it. fenced: membarrier(2) does not reach it. raw: its times are the counter's. */
void real_probe_attach(struct ctp_shm_header *shm, uint32_t ring_bits, bool fenced, bool raw);

/* After that: as ctp_attach_ leaves it where nothing is recorded: only the header is mapped, of this file, and nothing is connected. */
void real_probe_lazy(int fd, uint32_t inode, uint64_t device, bool named);
uint64_t real_probe_sock(uint32_t *epoch); /* as they are noted, after a run */

/* The calls, for coroutine number co. Event k has the address that world_word gives. */
bool real_new(unsigned co, uint64_t id);
void real_event(unsigned co, uint64_t addr);
void real_name(unsigned co, const char *name);
void real_await(unsigned co, uint64_t target);       /* a CTP_REF */
void real_wait_until(unsigned co, uint64_t deadline); /* the reason of its next suspension */
void real_object(uint64_t at, uint32_t what, uint64_t available, uint32_t marks);
void real_holds(unsigned co, uint64_t at, int n);
void real_wake(unsigned co);
void real_death(unsigned co);
uint64_t real_ref(unsigned co);
uint64_t real_next(unsigned co); /* the number of its next event */

/* The object whose code this thread runs is unloaded; the thread does not come back. */
void real_withdraw(void);

/* A relaxed load, for the worlds. */
uint32_t real_load32(const uint32_t *at);

/* ctp_slot_write_ */
void real_slot_write(struct ctp_shm_station *st, uint64_t k, bool fenced);

#endif
