/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sampler-threads.c - samples of threads: of those in long runs, and rounds of all.
 *
 * The time of a sample is taken before its figures are read: a sample whose time is inside a run is of that run.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compare.h"
#include "base/fd.h"
#include "collect/proc-stat.h"
#include "collect/sampler.h"
#include "collect/thread-runs.h"

static const uint64_t MS = 1000000;

enum {
	RUN_MS = 20,      /* a run is long after so much, and is sampled no more often */
	RUN_PART = 4,     /* and when it has grown by this part of itself */
	BEAT_MS = 100,    /* between samples of all threads that run coroutines */
	SILENCE_MS = 1000, /* until a round, and until the next */
	ALIASES_MS = 1000, /* between readings of all aliases */
};

struct sample {
	uint64_t tid, cpu_ns, delay_ns;
	enum ctp_sample_state state;
};

static enum ctp_sample_state state_of(char state)
{
	switch (state) {
	case 'R':
		return CTP_SAMPLE_RUNNING;
	case 'S':
	case 'I':
		return CTP_SAMPLE_SLEEPING;
	case 'D':
		return CTP_SAMPLE_BLOCKED;
	case 'T':
	case 't':
		return CTP_SAMPLE_STOPPED;
	default:
		return CTP_SAMPLE_OTHER;
	}
}

static bool read_thread(int dir, uint64_t tid, struct sample *sample)
{
	struct ctp_proc_stat stat;
	struct ctp_schedstat sched;
	if (!ctp_proc_stat_of(dir, tid, &stat) || !ctp_schedstat_of(dir, tid, &sched))
		return false;
	*sample = (struct sample){tid, sched.cpu_ns, sched.delay_ns, state_of(stat.state)};
	return true;
}

void ctp_sampler_process(struct ctp_sampler *s, uint64_t ts_ns, uint64_t after_ns, uint64_t threads, uint64_t cpu_ns)
{
	CTP_HARVEST_PUT(s->harvest, CTP_PROCESS, ts_ns, [CTP_PROCESS_PID] = (uint64_t)s->pid,
	                [CTP_PROCESS_AFTER] = after_ns, [CTP_PROCESS_STATE] = s->state, [CTP_PROCESS_THREADS] = threads,
	                [CTP_PROCESS_CPU] = cpu_ns);
}

static void put(struct ctp_sampler *s, uint64_t ts_ns, pid_t pid, const struct sample *sample)
{
	CTP_HARVEST_PUT(s->harvest, CTP_SAMPLE, ts_ns, [CTP_SAMPLE_TID] = sample->tid,
	                [CTP_SAMPLE_PID] = (uint64_t)pid, [CTP_SAMPLE_CPU] = sample->cpu_ns,
	                [CTP_SAMPLE_DELAY] = sample->delay_ns, [CTP_SAMPLE_STATE] = sample->state);
}

/* --- numbers of threads --------------------------------------------------------------------------------------------------- */

bool ctp_sampler_elsewhere(struct ctp_sampler *s)
{
	if (!s->depth)
		ctp_proc_stat_number_of(s->proc.dir, (uint64_t)s->pid, &s->depth);
	return s->depth > 1;
}

static bool add_alias(void *arg, uint64_t tid)
{
	struct ctp_sampler *s = arg;
	unsigned depth;
	uint64_t there = ctp_proc_stat_number_of(s->proc.dir, tid, &depth);
	if (there && s->naliases < CTP_ROUND_THREADS)
		s->aliases[s->naliases++] = (struct ctp_sampler_alias){tid, there};
	return true;
}

/* The number here of a thread that has this one there; 0: not known. */
static uint64_t alias_of(struct ctp_sampler *s, uint64_t there, uint64_t now_ns)
{
	for (bool again = true;; again = false) {
		for (unsigned i = 0; i < s->naliases; i++)
			if (s->aliases[i].there == there)
				return s->aliases[i].here;
		if (!again || now_ns - s->aliases_ns < ALIASES_MS * MS)
			return 0;
		s->aliases_ns = now_ns;
		s->naliases = 0;
		ctp_proc_state_threads(&s->proc, CTP_ROUND_THREADS, add_alias, s);
	}
}

/* --- runs ----------------------------------------------------------------------------------------------------------------- */

/* A thread that says that it is in a run, which is its word: it is sampled if it is one of a target. */
static bool sample_run(struct ctp_sampler *s, uint64_t tid, uint64_t now_ns)
{
	bool elsewhere = ctp_sampler_elsewhere(s), seen;
	uint64_t here = elsewhere ? alias_of(s, tid, now_ns) : tid;
	pid_t pid = elsewhere ? s->pid : ctp_targets_pid(s->targets, tid);
	struct sample sample;
	if (!here || !pid)
		return false;
	uint64_t ts_ns = ctp_clock_ns();
	if (pid == s->pid) {
		seen = read_thread(s->proc.dir, here, &sample);
	} else {
		char path[32];
		snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
		int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		seen = dir >= 0 && read_thread(dir, here, &sample);
		ctp_fd_close(dir);
	}
	if (!seen)
		return false;
	sample.tid = tid;
	put(s, ts_ns, pid, &sample);
	return true;
}

static uint64_t next_ns(uint64_t since_ns, uint64_t now_ns)
{
	uint64_t part_ns = (now_ns - since_ns) / RUN_PART;
	return now_ns + (part_ns > RUN_MS * MS ? part_ns : RUN_MS * MS);
}

/* Threads of which no ring tells yet, because what they do now they began before we came. */
static void sample_early(struct ctp_sampler *s, uint64_t now_ns)
{
	if (!s->early_ns) {
		s->nearly = s->started ? 0 : ctp_targets_threads(s->targets, s->early, CTP_RUNS_AT_ONCE);
		s->early_ns = s->begin_ns + RUN_MS * MS;
	}
	if (!s->nearly || now_ns < s->early_ns)
		return;
	size_t left = 0;
	for (size_t i = 0; i < s->nearly; i++)
		if (!ctp_harvest_wrote(s->harvest, s->early[i]) && sample_run(s, s->early[i], now_ns))
			s->early[left++] = s->early[i];
	s->nearly = left;
	s->early_ns = next_ns(s->begin_ns, now_ns);
}

void ctp_sampler_runs(struct ctp_sampler *s, uint64_t now_ns)
{
	uint32_t n = ctp_harvest_rings(s->harvest), sampled = 0;
	n = n < s->nruns ? n : s->nruns;
	if (now_ns - s->runs_ns < RUN_MS * MS || s->proc.dir < 0)
		return;
	s->runs_ns = now_ns;
	sample_early(s, now_ns);
	s->runs_due_ns = s->nearly ? s->early_ns : UINT64_MAX;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (s->next_run + k) % n;
		struct ctp_sampler_run *known = &s->runs[i];
		struct ctp_thread_run run;
		bool runs = ctp_harvest_run(s->harvest, i, &run), is_other = !runs || run.since_ns != known->since_ns;
		if (known->tid && is_other) { /* what it had of a processor, and for how long it had none, is known only now */
			sampled += sample_run(s, known->tid, now_ns);
			known->tid = 0;
		}
		if (!runs)
			continue;
		if (is_other)
			*known = (struct ctp_sampler_run){run.since_ns, run.since_ns + RUN_MS * MS, 0};
		if (now_ns >= known->next_ns && sampled < CTP_RUNS_AT_ONCE) {
			known->tid = sample_run(s, run.tid, now_ns) ? run.tid : 0;
			sampled += known->tid != 0;
			known->next_ns = next_ns(run.since_ns, now_ns);
			if (sampled == CTP_RUNS_AT_ONCE)
				s->next_run = i + 1; /* the others are first the next time */
		}
		if (known->next_ns < s->runs_due_ns)
			s->runs_due_ns = known->next_ns;
	}
}

/* --- threads that run coroutines ------------------------------------------------------------------------------------------ */

/* Threads that wrote after since_ns. */
static void sample_all(struct ctp_sampler *s, uint64_t since_ns, uint64_t now_ns)
{
	uint32_t n = ctp_harvest_rings(s->harvest), sampled = 0, k = 0;
	struct ctp_thread_wrote wrote;
	for (; k < n && sampled < CTP_BEAT_THREADS; k++)
		if (ctp_harvest_ring_wrote(s->harvest, (s->next_beat + k) % n, &wrote) && wrote.last_ns >= since_ns)
			sampled += sample_run(s, wrote.tid, now_ns);
	s->next_beat = n ? (s->next_beat + k) % n : 0;
	s->beat_ns = now_ns;
}

/* There is no event for a while: if a coroutine is ready, why does no thread resume it? */
static void look_at_silence(struct ctp_sampler *s, uint64_t now_ns)
{
	uint64_t silent_ns = now_ns - s->all_ns;
	bool over = silent_ns >= SILENCE_MS * MS || !ctp_harvest_ready(s->harvest);
	if (!over)
		sample_all(s, 0, now_ns);
	s->ready_ns = over ? UINT64_MAX : next_ns(s->all_ns, now_ns);
}

void ctp_sampler_beat(struct ctp_sampler *s, uint64_t now_ns)
{
	bool silent = s->all_ns && now_ns >= s->all_ns + RUN_MS * MS, went_on = s->all_ns > s->beat_ns;
	if (s->proc.dir < 0 || !s->all_ns)
		return;
	if (!silent)
		s->ready_ns = s->all_ns + RUN_MS * MS;
	else if (now_ns >= s->ready_ns)
		look_at_silence(s, now_ns);
	if (went_on && now_ns - s->beat_ns >= BEAT_MS * MS)
		sample_all(s, s->beat_ns, now_ns);
}

/* --- rounds --------------------------------------------------------------------------------------------------------------- */

struct round {
	struct ctp_sampler *s;
	unsigned n;
	bool blind;
	struct sample samples[CTP_ROUND_THREADS];
};

static bool add_sample(void *arg, uint64_t tid)
{
	struct round *r = arg;
	struct sample *sample = &r->samples[r->n];
	unsigned depth;
	struct ctp_proc_stat stat;
	if (!read_thread(r->s->proc.dir, tid, sample)) {
		r->blind = ctp_proc_stat_of(r->s->proc.dir, tid, &stat); /* it is there, but cannot be read */
		return !r->blind;
	}
	if (ctp_sampler_elsewhere(r->s))
		sample->tid = ctp_proc_stat_number_of(r->s->proc.dir, tid, &depth);
	r->n++;
	return true;
}

/* All threads or none: a thread that is missing could be taken for one that sleeps. */
static void take_round(struct ctp_sampler *s, uint64_t now_ns)
{
	struct round r = {.s = s};
	int threads = ctp_proc_state_threads(&s->proc, CTP_ROUND_THREADS, add_sample, &r);
	uint64_t cpu_ns = 0;
	bool blind = r.blind || s->proc.dir < 0;
	if (blind && !s->blind)
		ctp_notice_say(s->info, "the threads of process %d cannot be sampled: /proc does not show them", (int)s->pid);
	s->blind |= blind;
	if (threads <= 0 || !r.n)
		return;
	for (unsigned i = 0; i < r.n; i++) {
		put(s, now_ns, s->pid, &r.samples[i]);
		cpu_ns += r.samples[i].cpu_ns;
	}
	ctp_sampler_process(s, now_ns, now_ns, r.n, cpu_ns);
}

static uint64_t round_due_ns(const struct ctp_sampler *s)
{
	return !s->all_ns || s->rounds > 1 ? UINT64_MAX : (s->rounds ? s->round_ns : s->silent_ns) + SILENCE_MS * MS;
}

void ctp_sampler_rounds(struct ctp_sampler *s, uint64_t now_ns)
{
	if (s->all_ns > s->silent_ns) {
		s->silent_ns = s->all_ns;
		s->rounds = 0;
	}
	if (now_ns >= round_due_ns(s)) {
		take_round(s, now_ns);
		s->rounds++;
		s->round_ns = now_ns;
	}
}

bool ctp_sampler_between(const struct ctp_sampler *s)
{
	bool rounds = s->rounds == 1 && s->state == CTP_PROCESS_EXECUTING;
	return (rounds || ctp_sampler_fds_between(s)) && !s->gone_ns;
}

uint64_t ctp_sampler_threads_due_ns(const struct ctp_sampler *s)
{
	uint64_t round_ns = round_due_ns(s), runs_ns = s->runs_due_ns ? s->runs_due_ns : UINT64_MAX;
	uint64_t ready_ns = s->ready_ns ? s->ready_ns : UINT64_MAX;
	return ctp_least(ctp_least(round_ns, runs_ns), ready_ns);
}
