/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto-wakes.c - each wake is an instant, and the first one before a run is the begin of an arrow to that run.
 *
 * The arrow has its number in flow. A form of arrows_of_threads is told a wake that may have an arrow only when the run begins, or
 * when it is known that none follows: until then it is in the coroutine.
 */
#include "base/compare.h"
#include "perfetto/perfetto-draw.h"

/* Where a wake is seen: in the run of the waker, else on the thread, else with the woken coroutine. */
static const struct ctp_perfetto_track *track_of(struct ctp_perfetto_draw *d, const struct ctp_perfetto_coro *c,
                                                 const struct ctp_perfetto_coro *waker, uint32_t thread, bool *apart)
{
	struct ctp_perfetto_thread *th = ctp_perfetto_tracks_thread(&d->tracks, thread);
	*apart = false;
	if (waker && waker->lane && waker->begun && waker->inner == CTP_PERFETTO_RUN && !d->form->arrows_of_threads)
		return &d->tracks.lanes[waker->lane].track;
	*apart = !th || !th->depth;
	if (th)
		return &th->track;
	return c && c->lane ? &d->tracks.lanes[c->lane].track : c && c->shared ? &d->tracks.shared[c->shared - 1].track : NULL;
}

/* A wake without an arrow has an argument, so that it is seen which coroutine was woken. */
static void tell_wake(struct ctp_perfetto_draw *d, const struct ctp_perfetto_track *track, const struct ctp_perfetto_wake *wake,
                      uint64_t flow, bool apart)
{
	const struct ctp_perfetto_arg arg = {.key = CTP_PERFETTO_CORO, .number = wake->coro};
	ctp_perfetto_draw_tell(d, &(struct ctp_perfetto_event){.type = CTP_PERFETTO_INSTANT, .track = track, .ts_ns = wake->ts_ns,
	                                                       .name = ctp_perfetto_draw_word(d, CTP_PERFETTO_WAKE), .flow = flow,
	                                                       .wake = true, .apart = apart, .args = &arg,
	                                                       .nargs = wake->coro && !flow});
}

void ctp_perfetto_draw_wake(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, const struct ctp_perfetto_wake *wake)
{
	bool apart, held = d->form->arrows_of_threads, arrow = c && wake->arrow, first = arrow && !c->flow;
	if (d->threads_only)
		return;
	const struct ctp_perfetto_track *track = track_of(d, c, wake->waker, wake->thread, &apart);
	d->undrawn.wakes += !track;
	if (!track)
		return;
	if (first) {
		c->flow = ++d->flows;
		c->flow_ns = wake->ts_ns;
		c->wake_thread = wake->thread;
		c->wake_apart = apart;
	}
	if (!first || !held)
		tell_wake(d, track, wake, arrow && !held ? c->flow : 0, apart);
}

/* The wake that the coroutine holds back. */
static void tell_held(struct ctp_perfetto_draw *d, const struct ctp_perfetto_coro *c, uint64_t flow)
{
	bool apart;
	const struct ctp_perfetto_track *track = track_of(d, c, NULL, c->wake_thread, &apart);
	if (track)
		tell_wake(d, track, &(struct ctp_perfetto_wake){.ts_ns = c->flow_ns, .coro = c->id}, flow, c->wake_apart);
}

uint64_t ctp_perfetto_draw_arrow(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, uint64_t ts_ns)
{
	uint64_t flow = c->flow_ns <= ts_ns ? c->flow : 0; /* the clocks of two processors may differ */
	if (flow && d->form->arrows_of_threads) {
		tell_held(d, c, flow);
		c->flow = 0;
	}
	return flow;
}

void ctp_perfetto_draw_no_run(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c)
{
	if (c->flow && d->form->arrows_of_threads)
		tell_held(d, c, 0);
	c->flow = 0;
}
