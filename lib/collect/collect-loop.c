/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * collect-loop.c - looks and rests, until there is a reason to end.
 *
 * One thread looks and waits; another (outqueue.c) writes. The sleep follows cTP's contract, fence against fence:
 *
 *	collector                               probe
 *	tracer_sleeping = 1                     ring.head = ..., or slot.seq = ... (the event is published)
 *	seq_cst fence, membarrier     <---->    nothing, where it knows of the membarrier; else a seq_cst fence
 *	look at rings and stations              read tracer_sleeping
 *	block                                   if 1: swap it to 0, write a byte
 *
 * Whatever the order, the look sees the event or the probe sees the flag: the membarrier makes every running thread of a
 * registered process pass through a full fence between its instructions. A light sleep looks at the hot stations only: an event
 * of a cold one that was published before the flag waits for the sweep that comes 10 ms later. For a writer without a fence the
 * rests are limited to a second (pace.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/compare.h"
#include "collect/attach.h"
#include "collect/collect-loop.h"
#include "collect/end-signal.h"
#define CTP_LAYOUT_ONLY
#include "collect/proc-dir.h"
#include "collect/proc-users.h"
#include "ctp.h"

static const uint64_t US = 1000, MS = 1000000, SECOND = 1000000000;

enum {
	FLUSH_MS = 50,      /* a record waits no longer for its packet to be sent */
	LIVES_MS = 100,     /* deaths are looked for so often while there are events */
	LIVES_SHARE = 200,  /* but for no more than this part of the time */
	REFRESH_MS = 20,    /* a glance at the processes so often while there are events */
	HEIR_MS = 500,      /* a process left behind has so long to attach */
	HEIR_PAUSE_MS = 20, /* and is looked at so often */
	STALLED_MS = 5,     /* between looks at a queue that is full */
	SPIN_US = 100,      /* between looks at the descriptors where there is no nap */
	CLOCK_S = 10,       /* between records of the clocks, while there are events */
	SILENCE_MS = 500,   /* at least, between marks of a silence: a rest is a second */
};

void ctp_collect_loop_total(struct ctp_collect_loop *c)
{
	c->result->stats = *ctp_harvest_stats(c->harvest);
	c->result->attached = c->watch.accepted || c->result->stats.stations;
	c->result->duration_ns = ctp_clock_ns() - c->start_ns;
}

/* --- looking and resting -------------------------------------------------------------------------------------------------- */

/*
 * Where nothing has happened since it was set, it still is, and every probe sees it: nothing needs to be ordered again. Proved in
 * t/proof: no_lost_wakeup, of this and the look after it (rest).
 */
static void set_sleeping(struct ctp_collect_loop *c, uint32_t sleeping)
{
	bool was = c->asleep && __atomic_load_n(&c->arena.header->tracer_sleeping, __ATOMIC_RELAXED);
	c->asleep = sleeping;
	if (sleeping && was)
		return;
	__atomic_store_n(&c->arena.header->tracer_sleeping, sleeping, __ATOMIC_RELAXED);
	if (!sleeping)
		return;
	/* Both pair with the probe, between its publish and its look at this flag: the fence with its own, if it has one. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ctp_membarrier();
}

static size_t look_at(struct ctp_collect_loop *c, bool sweep)
{
	struct ctp_look look;
	if (sweep)
		ctp_harvest_sweep(c->harvest, &look);
	else
		ctp_harvest_scan(c->harvest, &look);
	c->now_ns = ctp_clock_ns();
	ctp_pace_found(&c->pace, &look, c->now_ns);
	c->idle &= !look.found;
	c->asked &= !look.found;
	return look.found;
}

/* What was found becomes a packet that a live reader can have. */
static void publish(struct ctp_collect_loop *c)
{
	ctp_harvest_settle(c->harvest);
	ctp_writer_flush(c->writer);
	c->dirty_ns = 0;
}

/*
 * A look has found nothing. Up to a mark, ctp-merge can go on with the other streams, so a pipe gets one. It gets none while the queue
 * is not empty, so that they do not pile up there.
 */
static void mark_silence(struct ctp_collect_loop *c)
{
	if (!c->piped || !c->idle || c->now_ns - c->marked_ns < SILENCE_MS * MS || ctp_outqueue_held(c->queue))
		return;
	ctp_harvest_mark(c->harvest);
	ctp_writer_flush(c->writer);
	c->marked_ns = c->now_ns;
}

static void tell_signals(struct ctp_collect_loop *c)
{
	for (unsigned i = 0; i < c->watch.npassed; i++) {
		const struct ctp_passed_on *p = &c->watch.passed[i];
		CTP_HARVEST_PUT(c->harvest, CTP_SIGNAL, p->ts_ns, [CTP_SIGNAL_PID] = (uint64_t)c->watch.command,
		                [CTP_SIGNAL_NUMBER] = (uint64_t)p->sig);
	}
	c->watch.npassed = 0;
}

static void wait_for(struct ctp_collect_loop *c, uint64_t ns)
{
	uint64_t due = c->now_ns + ns;
	if (c->conf->limit_ns)
		due = ctp_least(due, c->start_ns + c->conf->limit_ns);
	if (c->dirty_ns)
		due = ctp_least(due, c->dirty_ns + FLUSH_MS * MS);
	due = ctp_least(due, ctp_sampler_due_ns(&c->sampler));
	ctp_event_loop_wait(&c->watch, due > c->now_ns ? (int64_t)(due - c->now_ns) : 0);
	tell_signals(c);
	c->waited_ns = c->now_ns = ctp_clock_ns();
}

/*
 * False: a process may write and cannot wake us, for it has the memory mapped and no connection. A process that maps it later
 * connects, or is found by the look that comes once a second in any case. Whether any has it mapped is asked when a process has
 * gone, and where that was not told, when something was found since, but not more often than once a second.
 */
static bool is_wakeable(struct ctp_collect_loop *c)
{
	if (c->watch.connections || (!c->watch.ended && !ctp_harvest_stats(c->harvest)->stations))
		return true;
	if (c->watch.ended || c->conf->pid)
		return false;
	if (c->watch.change || (!c->asked && c->now_ns - c->asked_ns > SECOND)) {
		c->unused = ctp_event_loop_unused(&c->watch, &c->file);
		c->asked = true;
		c->asked_ns = c->now_ns;
	}
	return c->unused;
}

static void rest(struct ctp_collect_loop *c)
{
	struct ctp_rest rest = ctp_pace_next(&c->pace, is_wakeable(c), c->now_ns);
	if (!rest.sleep) {
		if (c->asleep)
			set_sleeping(c, 0);
		if (rest.ns || c->now_ns - c->waited_ns > SPIN_US * US)
			wait_for(c, rest.ns);
		return;
	}
	if (rest.ns > FLUSH_MS * MS && !c->idle) {
		publish(c); /* and so the mark that lets a live reader have the last event */
		c->idle = true;
	}
	set_sleeping(c, 1);
	if (!look_at(c, rest.sweep)) {
		mark_silence(c);
		c->watch.woken = false;
		wait_for(c, rest.ns);
		if (!c->watch.woken)
			return;
	}
	set_sleeping(c, 0);
	if (c->watch.woken) {
		ctp_pace_woken(&c->pace, c->now_ns);
		if (!look_at(c, false))
			look_at(c, true); /* the station that woke us was not hot */
		publish(c);            /* there was nothing for a while: it is news */
	}
	c->watch.woken = false;
}

/* --- what is done now and then -------------------------------------------------------------------------------------------- */

void ctp_collect_loop_truncated(struct ctp_collect_loop *c)
{
	if (ctp_memory_truncated() && !c->truncated) {
		c->truncated = true;
		ctp_notice_say(c->conf->warn, "%s: was truncated; what it held is lost", c->shm.path);
	}
}

void ctp_collect_loop_tight(struct ctp_collect_loop *c)
{
	uint32_t mib = (uint32_t)(c->budget.limit_bytes >> 20);
	if (c->tight || !ctp_budget_refused(&c->budget))
		return;
	c->tight = true;
	c->result->short_mib = mib;
	ctp_notice_say(c->conf->warn, "the %" PRIu32 " MiB of --memory are used up: %s", mib,
	               ctp_memory_severed() ? "the target would have us fill its own; the trace ends here, and what was left is lost" :
	                                      "not all coroutines are traced");
}

void ctp_collect_loop_clock(struct ctp_collect_loop *c, const struct ctp_clock_pair *pair)
{
	ctp_clock_pair_write(pair, c->writer, c->clock_class);
	c->clock_due_ns = pair->mono_ns + CLOCK_S * SECOND;
}

static void keep_house(struct ctp_collect_loop *c)
{
	const struct ctp_harvest_stats *stats = ctp_harvest_stats(c->harvest);
	uint64_t events = stats->events + stats->lost;
	if (c->now_ns >= c->lives_ns) {
		ctp_harvest_lives(c->harvest);
		uint64_t began_ns = c->now_ns;
		c->now_ns = ctp_clock_ns();
		uint64_t pause_ns = (c->now_ns - began_ns) * LIVES_SHARE;
		c->lives_ns = c->now_ns + (pause_ns > LIVES_MS * MS ? pause_ns : LIVES_MS * MS);
	}
	if (c->clock_due_ns && c->now_ns >= c->clock_due_ns) {
		struct ctp_clock_pair pair;
		ctp_clock_pair_read(&pair);
		ctp_collect_loop_clock(c, &pair);
		if (c->idle)
			publish(c); /* at once: to wake up for it again costs more */
	}
	if (events != c->refresh_events && c->now_ns - c->refresh_ns > REFRESH_MS * MS) {
		ctp_targets_refresh(c->targets);
		c->refresh_events = events;
		c->refresh_ns = c->now_ns;
	}
	if (!c->dirty_ns && (ctp_harvest_unsettled(c->harvest) || ctp_writer_pending(c->writer)))
		c->dirty_ns = c->now_ns;
	if (c->dirty_ns && c->now_ns - c->dirty_ns >= FLUSH_MS * MS)
		publish(c);
	ctp_collect_loop_truncated(c);
	ctp_collect_loop_tight(c);
}

void ctp_collect_loop_say(struct ctp_collect_loop *c)
{
	char line[CTP_COLLECT_LINE_MAX];
	c->watch.asked = false;
	if (c->queue)
		ctp_collect_loop_total(c);
	ctp_collect_line(c->result, line);
	ctp_notice_say(c->conf->warn, "%s", line);
}

static bool output_is_slow(struct ctp_collect_loop *c)
{
	bool tight = ctp_outqueue_tight(c->queue);
	if (tight && !c->stalled)
		ctp_notice_say(c->conf->info, "the output is too slow: harvesting waits, and what is overwritten is lost");
	c->stalled = tight;
	return tight;
}

/*
 * No process has the memory any more. One that merely unmapped it, without a connection, is found out once a second. A process
 * that COMMAND left behind and that has not attached yet, such as a daemon that starts tracing after its fork, is given a
 * moment to do so.
 */
static bool is_deserted(struct ctp_collect_loop *c)
{
	uint64_t pause_ns = c->watch.users ? SECOND : HEIR_PAUSE_MS * MS;
	if (!c->watch.ended || !(c->watch.change || c->now_ns - c->asked_ns > pause_ns))
		return false;
	if (!c->ended_ns)
		c->ended_ns = c->now_ns;
	c->asked_ns = c->now_ns;
	if (!ctp_event_loop_deserted(&c->watch, &c->file))
		return false;
	char assignment[sizeof CTP_SHM_VARIABLE + 1 + PATH_MAX];
	snprintf(assignment, sizeof assignment, "%s=%s", CTP_SHM_VARIABLE, c->shm.path);
	return c->now_ns - c->ended_ns >= HEIR_MS * MS || !ctp_proc_users_heir(assignment);
}

/*
 * The process that was attached to has ended, or has become another program, which has no use for the memory. gone: so have all
 * that had it from a fork. An exec is not told, unless it ended a connection: it is asked for once a second. A process without
 * any memory is about to end, and that will be told.
 */
static bool has_left(struct ctp_collect_loop *c, bool *gone)
{
	if (!c->watch.change && c->now_ns - c->asked_ns > SECOND) {
		c->asked_ns = c->now_ns;
		c->watch.change = ctp_event_loop_replaced(&c->watch);
	}
	if (!c->watch.change)
		return false;
	c->watch.change = false;
	*gone = !ctp_proc_maps_has(c->conf->pid, &c->file) && !ctp_attach_kept(c->conf->pid, &c->file) &&
	        !ctp_proc_users_find(&c->file, &(pid_t){0}, 1) && !ctp_end_signal();
	return c->watch.ended || (*gone && ctp_proc_dir(c->conf->pid, (char[CTP_PROCDIR_BYTES]){0}));
}

static bool is_over(const struct ctp_collect_loop *c)
{
	return c->watch.stop || ctp_memory_severed() || (c->conf->once && !ctp_sampler_between(&c->sampler)) ||
	       (c->conf->limit_ns && c->now_ns - c->start_ns >= c->conf->limit_ns);
}

static bool run(struct ctp_collect_loop *c)
{
	if (c->conf->once) {
		look_at(c, true);
		ctp_sampler_look(&c->sampler, true);
	}
	for (;;) {
		if (c->watch.asked)
			ctp_collect_loop_say(c);
		if (c->watch.extra) /* the queue's: it has failed */
			return false;
		bool gone = true;
		if (c->conf->pid ? has_left(c, &gone) : is_deserted(c))
			return gone;
		if (is_over(c))
			return false;
		if (output_is_slow(c)) {
			wait_for(c, STALLED_MS * MS);
			continue;
		}
		look_at(c, false);
		ctp_sampler_look(&c->sampler, c->watch.stirred);
		c->watch.stirred = false;
		keep_house(c);
		rest(c);
	}
}

bool ctp_collect_loop_run(struct ctp_collect_loop *c)
{
	bool gone = run(c);
	if (c->asleep)
		set_sleeping(c, 0); /* a collector that leaves is not to be woken */
	return gone;
}
