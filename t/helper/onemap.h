/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * onemap.h - an arena, and ctp.h's probe made to use it where it is: one mapping for both sides.
 *
 * TSan goes by addresses. It would not see that the mappings of the probe and of the collector are the same memory.
 * So the probe uses the test's own mapping. Include this instead of ctp.h.
 */
#ifndef CTP_T_ONEMAP_H
#define CTP_T_ONEMAP_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ONEMAP_RINGS = 256, ONEMAP_LEAST = 1024 /* the header: what is smaller is not of the arena */ };

static unsigned char *onemap_base;
static size_t onemap_bytes;
static void (*onemap_interrupt)(void); /* called, if it is there, when the probe maps something: as a signal handler might be */

static inline void *onemap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	if (fd < 0 || bytes < ONEMAP_LEAST)
		return mmap(at, bytes, prot, flags, fd, offset);
	if (onemap_interrupt)
		onemap_interrupt();
	return onemap_base + offset;
}

static inline int onemap_munmap(void *at, size_t bytes)
{
	return (size_t)((unsigned char *)at - onemap_base) < onemap_bytes ? 0 : munmap(at, bytes);
}

#define mmap onemap_mmap
#define munmap onemap_munmap
#include "ctp.h"
#undef mmap
#undef munmap

#include "shm/arena.h"

/* Makes one with rings as small as the probe takes them, a page each, opens it, and attaches the probe to it, anew. */
static inline struct ctp_arena onemap_open(uint32_t max_stations, uint32_t mode)
{
	struct ctp_geometry geo = {.max_stations = max_stations, .max_sites = 64, .max_rings = ONEMAP_RINGS, .ring_bits = 1,
	                           .max_objects = CTP_ANNEX_OBJECTS};
	struct ctp_arena arena;
	struct ctp_err err;
	char text[32];
	while (sizeof(struct ctp_shm_entry) << geo.ring_bits < (size_t)sysconf(_SC_PAGESIZE))
		geo.ring_bits++;
	onemap_bytes = ctp_arena_bytes(&geo);
	int fd = memfd_create("arena", MFD_CLOEXEC);
	struct flock lock = {.l_type = F_WRLCK}; /* as a collector that lives has one */
	if (fd < 0 || ftruncate(fd, (off_t)onemap_bytes) || fcntl(fd, F_OFD_SETLK, &lock))
		abort();
	onemap_base = mmap(NULL, onemap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (onemap_base == MAP_FAILED)
		abort();
	ctp_arena_make(onemap_base, &geo);
	if (ctp_arena_find(&arena, onemap_base, onemap_bytes, &err))
		abort();
	ctp_arena_open(&arena, mode, 0, NULL);
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	setenv("CTP_SHM_PATH", text, 1);
	snprintf(text, sizeof(text), "%u", max_stations);
	setenv("CTP_MAX_STATIONS", text, 1);
	ctp_current_ = NULL;
	if (!ctp_init())
		abort();
	return arena;
}

#endif
