/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * places.h - suspend places and spawn places, each with a small number: a site, or an address where there is no site.
 *
 * An address of code is kept as a file and an offset, because two programs may use the same address. Another address is a place in
 * the source if two coroutines were there. Else it is a frame, or any number that a probe has put there, and no other coroutine
 * will be there.
 */
#ifndef CTP_PLACES_H
#define CTP_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


struct ctp_map;

enum { CTP_PLACES_MAX = 1 << 20 };

/* The key of a place: a site, or an address; an address in a file is relative to the file. */
struct ctp_spot {
	uint64_t site, addr;
	uint32_t file; /* number of a file in symbols.h; 0: none */
};

struct ctp_place {
	struct ctp_spot spot;
	uint64_t first; /* the coroutine that was there first */
	uint64_t pid;   /* of an address in no file: the process that it was seen in; 0: not known, or several */
	bool shared;    /* this is a place in the source */
};

struct ctp_places {
	struct ctp_place *place; /* by number; number 0: not known */
	uint32_t count;
	size_t room;
	struct ctp_map *map; /* places.c's own */
};

bool ctp_places_init(struct ctp_places *places); /* false: out of memory */
void ctp_places_fini(struct ctp_places *places);
void ctp_places_clear(struct ctp_places *places);

/* The number of a spot. coro, of process pid, is there. 0: the spot is not known, or the table is full. */
uint32_t ctp_places_number(struct ctp_places *places, struct ctp_spot spot, uint64_t pid, uint64_t coro);

#endif
