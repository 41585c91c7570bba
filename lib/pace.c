/*
 * pace.c - the levels of pace.h.
 */
#include "pace.h"

enum {
	US = 1000,
	MS = 1000 * US,
	NAP_MAX_NS = 700 * US,
	NAP_MIN_NS = 20 * US, /* less is none: the system takes longer to wake us than we would rest */
	NAP_STEP_NS = 5 * US,
	BUSY_NS = 2 * MS,     /* so long without an event is still busy */
};

static const uint64_t rests_ns[] = {10 * MS, 10 * MS, 100 * MS, 1000 * MS};
static const uint64_t blind_ns = 20 * MS;

void ctp_pace_found(struct ctp_pace *p, uint64_t found, unsigned busiest, uint64_t now_ns)
{
	if (found) {
		if (p->rests)
			p->nap_ns = 0; /* what begins after a rest is often a burst */
		p->last_found_ns = now_ns;
		p->rests = 0;
	}
	/* Rarer looks are cheaper, as long as the busiest station is at most half full and leaves room for a delay of ours. */
	if (busiest <= 2)
		p->nap_ns += p->nap_ns / 8 + NAP_STEP_NS;
	else if (busiest > 6)
		p->nap_ns /= 2;
	else if (busiest > 4)
		p->nap_ns -= p->nap_ns / 4;
	if (p->nap_ns > NAP_MAX_NS)
		p->nap_ns = NAP_MAX_NS;
}

struct ctp_rest ctp_pace_next(struct ctp_pace *p, bool wakeable, uint64_t now_ns)
{
	if (now_ns - p->last_found_ns < BUSY_NS)
		return (struct ctp_rest){.ns = p->nap_ns < NAP_MIN_NS ? 0 : p->nap_ns};
	const unsigned last = sizeof(rests_ns) / sizeof(rests_ns[0]) - 1;
	unsigned at = p->rests < last ? p->rests++ : last;
	struct ctp_rest rest = {.ns = rests_ns[at], .sleep = true, .sweep = at > 0};
	if (!wakeable && rest.ns > blind_ns)
		rest.ns = blind_ns;
	return rest;
}
