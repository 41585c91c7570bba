/*
 * idset.h - how many different numbers there are, up to a limit.
 */
#ifndef CTP_IDSET_H
#define CTP_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTP_IDSET_MAX = 1 << 20 }; /* different numbers that are remembered */

/* One of zeros is empty. */
struct ctp_idset {
	uint64_t *slots;
	size_t cap, count;   /* slots, and different numbers so far */
	uint64_t last;       /* the number added last: they come in rows of the same */
	bool has_zero, full; /* full: there were more than could be remembered, so count is a lower bound */
};

void ctp_idset_fini(struct ctp_idset *set);
void ctp_idset_add_slow(struct ctp_idset *set, uint64_t id);

static inline void ctp_idset_add(struct ctp_idset *set, uint64_t id)
{
	if (id != set->last || !set->count)
		ctp_idset_add_slow(set, id);
}

#endif
