/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* collect-line.c - what was collected, in a line for people. */
#include <inttypes.h>
#include <stdio.h>

#include "collect/collect.h"
#include "shm/arena.h"

/* What helps against the losses: rings are as large as they are told to be, a station is as large as it is. */
static void say_help(const struct ctp_collect_result *r, char *text, size_t bytes)
{
	const struct ctp_harvest_stats *s = &r->stats;
	if (s->lost && r->short_mib) {
		snprintf(text, bytes, " (raise --memory, now %" PRIu32 ")", r->short_mib);
		return;
	}
	if (s->unread) {
		snprintf(text, bytes, " (%" PRIu64 " of them the last look did not come to)", s->unread);
		return;
	}
	bool ringless = s->ringless >= s->lost - s->overwritten && s->lost > s->overwritten;
	if (ringless && s->rings < r->max_rings) {
		snprintf(text, bytes, " (of threads without a ring: no memory; %s)",
		         r->fixed ? "the system has none" : "make room for --shm, or a smaller --ring");
		return;
	}
	if (ringless) {
		snprintf(text, bytes, " (of threads beyond the %" PRIu32 " that have a ring%s)", r->max_rings,
		         r->max_rings < CTP_ANNEX_RINGS && !r->fixed ? ": a smaller --ring, or more of ulimit -v, would help" : "");
		return;
	}
	bool rings = s->lost > s->overwritten && s->rings && !r->fixed;
	if (rings && s->overwritten)
		snprintf(text, bytes, " (--ring or --lossless would help against %" PRIu64 " of them)", s->lost - s->overwritten);
	else if (rings)
		snprintf(text, bytes, " (--ring or --lossless would help)");
	else if (s->lost && s->lost == s->overwritten)
		snprintf(text, bytes, " (a station of version 1 holds 8: a probe with rings, as ctp.h, would help)");
}

void ctp_collect_line(const struct ctp_collect_result *r, char line[CTP_COLLECT_LINE_MAX])
{
	const struct ctp_harvest_stats *s = &r->stats;
	char unverified[48] = "", help[120] = "", missed[32] = "", remedy[48] = "";
	say_help(r, help, sizeof help);
	if (s->unverified)
		snprintf(unverified, sizeof unverified, " (%" PRIu64 " unverified)", s->unverified);
	if (s->missed)
		snprintf(missed, sizeof missed, ", %" PRIu64 " missed", s->missed);
	if (s->untraced && r->short_mib)
		snprintf(remedy, sizeof remedy, " (raise --memory, now %" PRIu32 ")", r->short_mib);
	else if (s->untraced && s->untraced == s->refused)
		snprintf(remedy, sizeof remedy, " (no memory: %s)", r->fixed ? "the system has none" : "make room for --shm");
	else if (s->untraced)
		snprintf(remedy, sizeof remedy, r->fixed ? " (it has %" PRIu32 " stations)" : " (raise -n, now %" PRIu32 ")",
		         r->max_stations);
	snprintf(line, CTP_COLLECT_LINE_MAX,
	         "%" PRIu64 " events%s, %" PRIu64 " coroutines, %" PRIu64 " lost%s%s%s, %" PRIu64 " untraced%s, %.3f s%s",
	         s->events, r->broken ? " harvested" : "", s->births, s->lost, unverified, help, missed, s->untraced, remedy,
	         (double)r->duration_ns / 1e9, r->broken ? "; the stream is NOT complete" : "");
}
