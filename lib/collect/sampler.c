/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sampler.c - when to look, and what becomes of it.
 */
#include "collect/sampler.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/compare.h"

static const uint64_t MS = 1000000;

enum {
	BUSY_MS = 10,   /* between looks; an event that is no older replaces a look */
	IDLE_MS = 500,  /* between looks when a silence begins, */
	ALERT_MS = 5000, /* which is so long; after it they are as rare as the harvest's */
};

static void watch_process(struct ctp_sampler *s, pid_t pid)
{
	ctp_proc_state_fini(&s->proc);
	ctp_proc_state_init(&s->proc, pid);
	s->pid = pid;
	s->state = CTP_PROCESS_EXECUTING;
	s->gone_ns = 0;
	s->depth = s->naliases = s->rounds = 0;
}

void ctp_sampler_init(struct ctp_sampler *s, struct ctp_harvest *h, struct ctp_targets *targets, const struct ctp_map_file *shm,
                      pid_t own, bool started, uint32_t max_rings, const struct ctp_notice *info)
{
	*s = (struct ctp_sampler){.harvest = h, .targets = targets, .own = own, .proc = {.dir = -1, .stat = -1},
	                          .descriptors = {.shm = shm}};
	s->begin_ns = ctp_clock_ns();
	s->executing_ns = started ? s->begin_ns : 0;
	s->started = started;
	s->info = info;
	s->runs = calloc(max_rings, sizeof *s->runs);
	s->nruns = s->runs ? max_rings : 0;
	watch_process(s, own);
}

void ctp_sampler_fini(struct ctp_sampler *s)
{
	if (s->harvest)
		ctp_proc_state_fini(&s->proc);
	free(s->runs);
	s->runs = NULL;
}

/* --- the process ---------------------------------------------------------------------------------------------------------- */

/*
 * The record of the end is of the section's own process. Where that only started the one that is looked at, as timeout(1) does,
 * another record says how long that one was seen executing. after_ns: when last.
 */
static void tell_last_seen(struct ctp_sampler *s, uint64_t after_ns, uint64_t now_ns)
{
	if (s->pid == s->own || s->state != CTP_PROCESS_EXECUTING)
		return;
	bool there = !s->gone_ns && ctp_proc_state_look(&s->proc, false);
	if (!there && !s->gone_ns && !s->proc.gone)
		return; /* it cannot be seen */
	s->state = there ? s->proc.state : CTP_PROCESS_EXITING;
	ctp_sampler_process(s, now_ns, s->state == CTP_PROCESS_EXECUTING ? now_ns : after_ns, 0, 0);
}

/* Where the section's own process has no part in the trace, one that has. */
static void choose_process(struct ctp_sampler *s)
{
	bool ours = ctp_targets_has(s->targets, s->own);
	pid_t pid = ours ? s->own : s->pid == s->own || s->gone_ns ? ctp_targets_next(s->targets, s->pid) : 0;
	if (!pid || pid == s->pid)
		return;
	if (s->gone_ns)
		tell_last_seen(s, s->executing_ns, ctp_clock_ns());
	watch_process(s, pid);
}

static void take_newest(struct ctp_sampler *s, uint64_t now_ns)
{
	uint64_t own_ns, all_ns;
	ctp_harvest_newest(s->harvest, s->pid, &own_ns, &all_ns);
	s->own_ns = ctp_most(s->own_ns, ctp_least(own_ns, now_ns)); /* clocks of others may say anything */
	s->all_ns = ctp_most(s->all_ns, ctp_least(all_ns, now_ns));
	s->executing_ns = ctp_most(s->executing_ns, s->own_ns);
}

static void look_at_process(struct ctp_sampler *s, uint64_t now_ns, bool anew)
{
	if (!ctp_proc_state_look(&s->proc, anew)) {
		if (s->proc.gone && !s->gone_ns)
			s->gone_ns = ctp_clock_ns();
		return;
	}
	uint64_t after_ns = s->state == CTP_PROCESS_EXECUTING ? s->executing_ns : s->seen_ns;
	s->seen_ns = now_ns;
	if (s->proc.state == CTP_PROCESS_EXECUTING)
		s->executing_ns = now_ns;
	if (s->proc.state == s->state)
		return;
	s->state = s->proc.state;
	s->silent_ns = now_ns; /* what is stopped is not silent, and begins to be when it goes on */
	s->rounds = 0;
	ctp_sampler_process(s, now_ns, after_ns ? after_ns : s->begin_ns, 0, 0);
}

void ctp_sampler_look(struct ctp_sampler *s, bool stirred)
{
	uint64_t now_ns = ctp_clock_ns(), before_ns = s->own_ns;
	if (!stirred && now_ns - s->looked_ns < BUSY_MS * MS)
		return;
	if (!s->looked_ns)
		ctp_harvest_settle(s->harvest); /* so that the newest event of before is known */
	s->looked_ns = now_ns;
	choose_process(s);
	take_newest(s, now_ns);
	if (stirred || s->state != CTP_PROCESS_EXECUTING || now_ns - s->own_ns >= BUSY_MS * MS)
		look_at_process(s, now_ns, s->own_ns != before_ns);
	if (s->state != CTP_PROCESS_EXECUTING || s->gone_ns)
		return;
	ctp_sampler_rounds(s, now_ns); /* first: its samples have the time of this look, those of runs a later one */
	ctp_sampler_runs(s, now_ns);
	ctp_sampler_beat(s, now_ns);
	ctp_sampler_fds(s, now_ns);
}

uint64_t ctp_sampler_due_ns(const struct ctp_sampler *s)
{
	uint64_t due_ns = s->looked_ns - s->all_ns < ALERT_MS * MS ? s->looked_ns + IDLE_MS * MS : UINT64_MAX;
	if (s->state != CTP_PROCESS_EXECUTING || s->gone_ns)
		return due_ns;
	due_ns = ctp_least(due_ns, ctp_least(ctp_sampler_threads_due_ns(s), ctp_sampler_fds_due_ns(s)));
	return ctp_most(due_ns, s->looked_ns + BUSY_MS * MS);
}

struct ctp_end_bounds ctp_sampler_end(struct ctp_sampler *s, uint64_t ended_ns)
{
	uint64_t now_ns = ctp_clock_ns();
	take_newest(s, now_ns);
	uint64_t before_ns = s->gone_ns ? s->gone_ns : now_ns;
	if (ended_ns && s->pid == s->own)
		before_ns = ctp_least(before_ns, ended_ns);
	struct ctp_end_bounds end = {ctp_least(s->executing_ns ? s->executing_ns : s->begin_ns, before_ns), before_ns};
	tell_last_seen(s, end.after_ns, now_ns);
	ctp_harvest_settle(s->harvest);
	return end;
}
