/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * small-arena.c - see small-arena.h.
 */
#include "small-arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "real-probe.h"
#include "view-machine.h"

_Alignas(65536) unsigned char small_arena[SMALL_ARENA_BYTES];

static struct ctp_geometry geometry(uint32_t stations, uint32_t rings, uint32_t ring_bits)
{
	return (struct ctp_geometry){.max_stations = stations, .max_sites = 1, .max_rings = rings, .ring_bits = ring_bits,
	                             .max_objects = CTP_SHM_OBJECTS_FEW + 16};
}

size_t small_arena_bytes(void)
{
	struct ctp_geometry geo = geometry(SMALL_STATIONS, SMALL_RINGS, SMALL_RING_BITS);
	return ctp_arena_bytes(&geo);
}

void small_arena_share(void)
{
	static bool done;
	if (done)
		return;
	done = true;
	view_share("shm", small_arena, sizeof small_arena);
	struct ctp_shm_station *stations = (void *)(small_arena + sizeof(struct ctp_shm_header));
	for (unsigned i = 0; i < SMALL_STATIONS; i++) {
		view_whole(&stations[i].tenure, sizeof stations[i].tenure);
		for (unsigned k = 0; k < CTP_SHM_WAKES; k++)
			view_whole(&stations[i].wakes[k].tid, sizeof(uint64_t)); /* and marks */
	}
	real_probe_share();
}

static void clear(const struct ctp_arena *a)
{
	memset(a->header, 0, sizeof *a->header);
	memset(a->stations, 0, sizeof *a->stations * SMALL_STATIONS);
	memset(a->rings, 0, sizeof *a->rings * SMALL_RINGS);
	memset(a->entries, 0, sizeof *a->entries * SMALL_RINGS << SMALL_RING_BITS);
}

void small_arena_open(struct ctp_arena *a, uint32_t stations, uint32_t rings, uint32_t ring_bits, uint32_t mode)
{
	struct ctp_geometry geo = geometry(stations, rings, ring_bits);
	struct ctp_err err;
	if (small_arena_bytes() > sizeof small_arena || stations > SMALL_STATIONS || rings > SMALL_RINGS || ring_bits > SMALL_RING_BITS)
		abort();
	if (((struct ctp_shm_header *)(void *)small_arena)->magic && ctp_arena_find(a, small_arena, sizeof small_arena, &err) == CTP_OK)
		clear(a);
	ctp_arena_make(small_arena, &geo);
	if (ctp_arena_find(a, small_arena, sizeof small_arena, &err))
		abort();
	ctp_arena_open(a, mode, 0, NULL);
}
