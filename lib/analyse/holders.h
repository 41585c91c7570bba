/*
 * holders.h - all coroutines that hold an object. objects.h keeps four of each by name, which is enough for a report, and decides
 * whether the holders are known at all; a database has them all.
 *
 * A record of a holder is added after the objects have taken it. Of one that they do not keep by name they cannot see that it gives
 * back what it did not have; here that is seen, and they are told.
 */
#ifndef CTP_HOLDERS_H
#define CTP_HOLDERS_H

#include "analyse/objects.h"

enum { CTP_HOLDERS_MAX = 1 << 22 }; /* coroutines that hold something, once for each object; of an object with others none is known */

struct ctp_held {
	uint64_t pid, at, coro;
	int64_t count;
	uint32_t round; /* of the object: what was counted in another round says nothing */
};

struct ctp_holders {
	struct ctp_held *list; /* numbers from 1 on */
	uint32_t count, room;
	struct ctp_map map;
	bool failed;           /* out of memory: not all are known */
};

bool ctp_holders_init(struct ctp_holders *h); /* false: out of memory */
void ctp_holders_fini(struct ctp_holders *h);
void ctp_holders_clear(struct ctp_holders *h);

void ctp_holders_add(struct ctp_holders *h, struct ctp_objects *o, uint64_t pid, uint64_t at, uint64_t coro, int64_t count);

/* The object that an entry is about, if the entry is good: the holders are known, and this is one of them. Else null. */
const struct ctp_object *ctp_held_object(const struct ctp_held *held, const struct ctp_objects *o);

#endif
