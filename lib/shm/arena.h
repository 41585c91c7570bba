/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * arena.h - the shared memory as a whole: where its parts are, how it is made, and what a collector announces in it.
 *
 * An arena is the header and the stations of version 1 with the annex after them (see the layout in ctp.h). A collector makes
 * one for the program that it starts, or a program makes one for itself. What is found in an arena is hostile: ctp_arena_find
 * reads each number once, and a reader that goes by the struct which it fills stays within the mapping.
 */
#ifndef CTP_ARENA_H
#define CTP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTP_LAYOUT_ONLY
#include "base/err.h"
#include "ctp.h"

enum {
	CTP_ANNEX_SITES = 16384,
	CTP_ANNEX_RINGS = 8192,
	CTP_ANNEX_OBJECTS = 65536,
	CTP_ANNEX_RING_BITS = 20,
	CTP_ANNEX_RING_BITS_MAX = 28,
};

struct ctp_geometry {
	uint32_t max_stations, max_sites, max_rings, ring_bits, max_objects;
};

struct ctp_arena {
	struct ctp_shm_header *header;
	struct ctp_shm_station *stations;
	struct ctp_shm_site *sites;
	struct ctp_shm_ring *rings;
	struct ctp_shm_entry *entries; /* of ring r: from r << ring_bits on */
	uint64_t *keys;                /* of the objects: geo.max_objects of each, which may be 0 */
	struct ctp_shm_object *objects;
	struct ctp_geometry geo;
	uint64_t owner;                /* pid of the program that made it for itself; 0: a collector made it */
	uint32_t clock;                /* CTP_CLOCK_... */
	uint64_t made_raw, made_ns;
};

/* Bytes that such an arena takes, of which none is touched before it is used. 0: more than can be. */
size_t ctp_arena_bytes(const struct ctp_geometry *geo);

/* Writes the header of a new arena (all zeros), as a collector does: owner 0, mode 0 until ctp_arena_open. */
void ctp_arena_make(void *base, const struct ctp_geometry *geo);

/*
 * Finds the parts of an arena that is mapped at base. Fails, with the reason, where there is none or one that does not fit
 * into bytes. Only the header is touched.
 */
enum ctp_status ctp_arena_find(struct ctp_arena *a, void *base, size_t bytes, struct ctp_err *err);

/*
 * A collector comes: it listens at sock_path (null: nowhere), and from here on the probes do as mode says. What is in the rings
 * was for another collector and is dropped. Make the harvest after it. The caller of open and close holds the lock on the arena.
 */
void ctp_arena_open(struct ctp_arena *a, uint32_t mode, uint32_t wait_us, const char *sock_path);

/* It goes: probes do as mode says again. Harvest the last after it, for what they did until now. */
void ctp_arena_close(struct ctp_arena *a, uint32_t mode);

/*
 * Gives the pages of the rings back, but for a few of each, when it is closed and nothing in them is wanted any more. The arena is
 * the memfd of fd; not a file whose pages were reserved. Where there is no membarrier, nothing happens.
 */
void ctp_arena_trim(const struct ctp_arena *a, int fd);

/*
 * membarrier(2), MEMBARRIER_CMD_GLOBAL_EXPEDITED: when it returns, every thread of every process that registered for it has
 * passed a full barrier since it was called. False: the kernel has none.
 */
bool ctp_membarrier(void);

#endif
