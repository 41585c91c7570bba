/*
 * tids.h - a bounded memory of thread ids: has this one been met before?
 *
 * When it is full it forgets everything and begins again, so it may say "new" more than once, and never takes more room.
 */
#ifndef CTP_TIDS_H
#define CTP_TIDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { CTP_TIDS_SLOTS = 4096, CTP_TIDS_MAX = CTP_TIDS_SLOTS / 2 };

/* One of zeros is empty. 0 is no member. */
struct ctp_tids {
	uint64_t last; /* asked for; most questions come in rows of the same */
	uint32_t count;
	uint64_t slots[CTP_TIDS_SLOTS];
};

/* True if it was not there. */
static inline bool ctp_tids_add(struct ctp_tids *t, uint64_t id)
{
	if (id == t->last || !id)
		return false;
	t->last = id;
	uint32_t at = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 52);
	for (; t->slots[at]; at = (at + 1) % CTP_TIDS_SLOTS)
		if (t->slots[at] == id)
			return false;
	if (t->count == CTP_TIDS_MAX) {
		memset(t->slots, 0, sizeof(t->slots));
		t->count = 0;
	}
	t->slots[at] = id;
	t->count++;
	return true;
}

_Static_assert(CTP_TIDS_SLOTS == 1 << (64 - 52), "the hash reaches every slot");

#endif
