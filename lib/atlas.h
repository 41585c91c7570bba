/*
 * atlas.h - where coroutines suspend and are made, each place with a small number: sites, and where there are none addresses.
 *
 * An address is a place in the source if it is code, by the mappings that the stream tells of, or if two coroutines were there.
 * Else it is a frame, or whatever a probe has put there: nobody else will ever be at the same.
 */
#ifndef CTP_ATLAS_H
#define CTP_ATLAS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CTP_ATLAS_MAX = 1 << 20,
	CTP_ATLAS_CODE_MAX = 4096, /* mappings */
};

struct ctp_place {
	uint64_t site, addr; /* one of them */
	uint64_t first;      /* who was there first */
	bool shared;         /* it is a place in the source */
};

struct ctp_atlas {
	struct ctp_place *place; /* 0: not known */
	uint32_t count, room;
	uint32_t *slots, nslots; /* numbers, 0: free; a power of 2 */
	uint64_t salt;
	struct ctp_code_range {
		uint64_t start, stop;
	} *code;
	uint32_t ncode, code_room;
};

bool ctp_atlas_init(struct ctp_atlas *a); /* false: out of memory */
void ctp_atlas_fini(struct ctp_atlas *a);
void ctp_atlas_clear(struct ctp_atlas *a);

/* The number for a site, or where that is 0 for an address, at which who is; 0: neither is known, or there are too many. */
uint32_t ctp_atlas_number(struct ctp_atlas *a, uint64_t site, uint64_t addr, uint64_t who);

void ctp_atlas_code(struct ctp_atlas *a, uint64_t start, uint64_t stop); /* code is mapped there */
bool ctp_atlas_is_code(const struct ctp_atlas *a, uint64_t addr);

#endif
