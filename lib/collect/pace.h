/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pace.h - how long the collector rests between two looks.
 *
 * Pure arithmetic on what was found and when; it does not look and does not wait. Three levels:
 *
 *	busy	events keep coming: a nap between looks, as long as the fullest ring allows, and the busiest station that
 *		has no ring and holds 8 events
 *	light	nothing for a while: tracer_sleeping is set and the hot stations are looked at again; the next event wakes us
 *	deep	still nothing: all stations are looked at after the flag was set; rests of 10 ms, 100 ms, then 1 s each; of 10 ms
 *		only while something is in doubt
 *
 * A wake byte is a system call in the target. Where rings absorb what comes meanwhile there are at most WAKES in a second; when
 * these are used up the collector naps instead, with the flag down.
 *
 * The probe's fence and ours make sure that an event is seen by the last look or finds the flag set. A writer without a fence
 * can slip through; the end of the rest finds its event, so no delay exceeds a second.
 */
#ifndef CTP_PACE_H
#define CTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/harvest.h"

struct ctp_pace {
	uint64_t nap_ns;       /* for stations without rings */
	uint64_t ring_nap_ns;
	uint64_t station_ns, ring_ns; /* when either had something last */
	unsigned rests;        /* since something was found */
	bool doubt;            /* something that was found is to be looked at again */
	uint64_t spent_ns;     /* the time that the wakes so far have used up, if each has its share of a second */
};

struct ctp_rest {
	uint64_t ns;  /* 0: look again at once */
	bool sleep;   /* set tracer_sleeping first, then look once more, and rest only if that finds nothing */
	bool sweep;   /* that look is at all stations */
};

/* A look that ended at now_ns. */
void ctp_pace_found(struct ctp_pace *p, const struct ctp_look *look, uint64_t now_ns);

/* A wake byte has come. */
void ctp_pace_woken(struct ctp_pace *p, uint64_t now_ns);

/* What to do now. wakeable: each process that can write has a connection for its wake byte. */
struct ctp_rest ctp_pace_next(struct ctp_pace *p, bool wakeable, uint64_t now_ns);

#endif
