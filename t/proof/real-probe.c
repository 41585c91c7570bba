/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * real-probe.c - see real-probe.h.
 */
#include <stdint.h>

uint64_t view_counter(void);
#ifdef __x86_64__
#define __builtin_ia32_rdtsc() view_counter() /* a run depends on nothing but its seed */
#endif
#define CTP_TURN_BITS_ 1
#define CTP_IMPLEMENTATION
#include "ctp.h"

#include "real-probe.h"
#include "small-arena.h"
#include "view-kernel.h"
#include "view-machine.h"
#include "world.h"

static struct ctp_probe_ probe;
static struct ctp_coro coros[REAL_COROS];

void real_probe_share(void)
{
	view_share("probe", &probe.mem, (size_t)((char *)&probe.link - (char *)&probe.mem));
	view_share("base", &probe.base, sizeof probe.base);
	view_share("fenced", &probe.fenced, sizeof probe.fenced);
	view_share("rings of the probe", probe.entries, 8 * sizeof *probe.entries);
	view_private(&ctp_self_, sizeof ctp_self_);
	view_private(probe.ring_of, SMALL_RINGS * sizeof *probe.ring_of);
}

void real_probe_attach(struct ctp_shm_header *shm, uint32_t ring_bits, bool fenced, bool raw)
{
	char *base = (char *)shm;
	probe = (struct ctp_probe_){
		.mode = &shm->mode,
		.shm = shm,
		.base = base,
		.key = (uint64_t)VIEW_PID << 32 | 1,
		.tag = UINT64_C(1) << 32,
		.pid = VIEW_PID,
		.serial = 1,
		.tried = true,
		.annex = true,
		.raw = raw,
		.fenced = fenced,
		.sites_at = shm->sites_at,
		.rings_at = shm->rings_at,
		.objects_at = shm->objects_at,
		.entries_at = shm->entries_at,
		.max_stations = shm->max_stations,
		.max_rings = shm->max_rings,
		.max_objects = shm->max_objects,
		.ring_bits = ring_bits,
		.sock = (uint64_t)REAL_SOCK_INODE << 32 | 6,
		.sock_dev = REAL_SOCK_DEVICE,
		.sock_epoch = shm->epoch,
		.stations_to = UINT64_MAX, /* all is allocated */
		.sites_to = UINT64_MAX,
		.rings_to = UINT64_MAX,
	};
	for (uint32_t i = 0; i < shm->max_rings; i++)
		probe.entries[i] = (struct ctp_shm_entry *)(void *)(base + shm->entries_at) + ((uint64_t)i << ring_bits);
	ctp_current_ = &probe;
	memset(coros, 0, sizeof coros);
}

void real_probe_lazy(int fd, uint32_t inode, uint64_t device, bool named)
{
	probe.base = NULL;
	probe.named = named;
	probe.stations_to = probe.sites_to = probe.rings_to = 0;
	probe.mem = (uint64_t)inode << 32 | (uint32_t)(fd + 1);
	probe.mem_dev = device;
	probe.sock = probe.sock_dev = 0;
	memset(probe.entries, 0, sizeof probe.entries);
}

uint64_t real_probe_sock(uint32_t *epoch)
{
	*epoch = probe.sock_epoch;
	return probe.sock;
}

bool real_new(unsigned co, uint64_t id)
{
	ctp_coro_new_in(&coros[co], id, 0);
	return ctp_coro_traced(&coros[co]);
}

/* addr 0: it is resumed. */
void real_event(unsigned co, uint64_t addr)
{
	if (addr)
		ctp_coro_suspend_in(&coros[co], (void *)(uintptr_t)addr, 0);
	else
		ctp_coro_resume(&coros[co]);
}

/* Each thread has its own ring_of: it is as if each ran a copy of the probe of its own. */
void real_withdraw(void) { ctp_withdraw_(&probe); }

void real_name(unsigned co, const char *name) { ctp_coro_name(&coros[co], name); }
void real_await(unsigned co, uint64_t target) { ctp_coro_await_ref(&coros[co], target); }
void real_wait_until(unsigned co, uint64_t deadline) { ctp_coro_waits_until(&coros[co], deadline, 0); }
void real_object(uint64_t at, uint32_t what, uint64_t available, uint32_t marks)
{
	ctp_object_in((const void *)(uintptr_t)at, what, available, NULL, marks, 0);
}
void real_holds(unsigned co, uint64_t at, int n) { ctp_coro_holds(&coros[co], (const void *)(uintptr_t)at, n); }
void real_wake(unsigned co) { ctp_coro_wake(&coros[co]); }
void real_death(unsigned co) { ctp_coro_death(&coros[co]); }
uint64_t real_ref(unsigned co) { return coros[co].ref_; }
uint64_t real_next(unsigned co) { return coros[co].events_; }

uint32_t real_load32(const uint32_t *at) { return CTP_GET_(at); }

void real_slot_write(struct ctp_shm_station *st, uint64_t k, bool fenced)
{
	const struct ctp_thread_ t = {.tid = world_word(k, 1)};
	ctp_slot_write_(st, k, world_word(k, 0), &t, world_word(k, 2), world_word(k, 3), fenced);
}
