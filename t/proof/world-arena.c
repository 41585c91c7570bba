/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world-arena.c - lib/shm/arena.c against itself: a memory that is found is whole.
 */
#include <string.h>

#include "shm/arena.h"
#include "view-machine.h"
#include "world.h"

static _Alignas(1024) unsigned char memory[1024];
static const struct ctp_geometry geo = {.max_stations = 3, .max_sites = 5, .max_rings = 7, .ring_bits = 9};
static uint64_t whole;

static void make(void *unused)
{
	(void)unused;
	ctp_arena_make(memory, &geo);
}

static void find(void *unused)
{
	struct ctp_arena a;
	struct ctp_err err;
	(void)unused;
	for (unsigned tries = 0; tries < 4; tries++) {
		enum ctp_status status = ctp_arena_find(&a, memory, 1 << 30, &err); /* only the header is touched */
		if (status == CTP_OK && (a.geo.max_stations != 3 || a.geo.max_sites != 5 || a.geo.max_rings != 7 || a.geo.ring_bits != 9))
			view_fail("the memory was found with another geometry");
		if (status != CTP_OK && err.code != CTP_ERR_NOT_STREAM)
			view_fail("the memory was found and is not whole: %s", err.text);
		whole += status == CTP_OK;
	}
}

static void init(void) { view_share("header", memory, sizeof memory); }

static void begin(unsigned dialect)
{
	(void)dialect;
	memset(memory, 0, sizeof memory);
	view_spawn("maker", make, NULL, VIEW_UNREGISTERED);
	view_spawn("finder", find, NULL, VIEW_UNREGISTERED);
}

static uint64_t found(void) { return whole; }

static const char *const dialects[] = {"made", NULL};
const struct world world_arena = {"arena", dialects, init, begin, NULL, found};
