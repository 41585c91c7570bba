/*
 * places.h - where coroutines suspend and are made, each place with a small number: sites, and where there are none addresses.
 *
 * An address that is code is known by its file and where it is in that: two programs may have the same address. Another is a place
 * in the source if two coroutines were there. Else it is a frame, or whatever a probe has put there: nobody else will ever be at
 * the same.
 */
#ifndef CTP_PLACES_H
#define CTP_PLACES_H

#include <stdbool.h>
#include <stdint.h>

enum { CTP_PLACES_MAX = 1 << 20 };

/* What a place is known by: a site, or an address; one that is in a file is relative to that. */
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
	uint32_t count, room;
	uint32_t *slots, nslots; /* numbers, 0: free; nslots is a power of 2 */
	uint64_t salt;
};

bool ctp_places_init(struct ctp_places *a); /* false: out of memory */
void ctp_places_fini(struct ctp_places *a);
void ctp_places_clear(struct ctp_places *a);

/*
 * The number for a site, or where that is 0 for an address, at which who is, a coroutine of process pid; 0: neither is known, or
 * there are too many.
 */
uint32_t ctp_places_number(struct ctp_places *a, struct ctp_spot spot, uint64_t pid, uint64_t who);

#endif
