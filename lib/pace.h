/*
 * pace.h - how long the collector rests between two looks.
 *
 * Pure arithmetic on what was found and when; it does not look and does not wait. Three levels:
 *
 *	busy	events keep coming: a nap between scans, as long as the busiest station allows (it holds 8 events)
 *	light	nothing for 2 ms: tracer_sleeping is set and the hot stations are looked at again; the next event wakes us
 *	deep	still nothing: all stations are looked at after the flag was set; rests of 10 ms, 100 ms, then 1 s each
 *
 * The probe's fence and ours make sure that an event is seen by the last look or finds the flag set. A writer without a fence
 * can slip through; the end of the rest finds its event, so no delay exceeds a second.
 */
#ifndef CTP_PACE_H
#define CTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct ctp_pace {
	uint64_t nap_ns;
	uint64_t last_found_ns;
	unsigned rests; /* since something was found */
};

struct ctp_rest {
	uint64_t ns;  /* 0: look again at once */
	bool sleep;   /* set tracer_sleeping first, then look once more, and rest only if that finds nothing */
	bool sweep;   /* that look is at all stations */
};

/* A look that began at now_ns found so many events, at most busiest of them in one station. */
void ctp_pace_found(struct ctp_pace *p, uint64_t found, unsigned busiest, uint64_t now_ns);

/* What to do now. wakeable: there is a connection that a wake byte could come from. */
struct ctp_rest ctp_pace_next(struct ctp_pace *p, bool wakeable, uint64_t now_ns);

#endif
