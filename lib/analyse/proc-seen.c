/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* proc-seen.c - the stops, the samples and the rounds of samples. */
#include "analyse/proc-seen.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/roles.h"
#include "base/compare.h"
#include "stream/schema.h"

void ctp_proc_seen_clear(struct ctp_proc_seen *seen) { *seen = (struct ctp_proc_seen){.stops = seen->stops}; }

void ctp_proc_seen_fini(struct ctp_proc_seen *seen) { free(seen->stops); }

static const char *state_of(const struct ctp_record *rec)
{
	int field = ctp_class_field(rec->cls, "state");
	const char *label = field < 0 || rec->cls->fields[field].type != CTP_ENUM ? NULL :
	                    ctp_field_label(&rec->cls->fields[field], rec->val[field]);
	return label ? label : "";
}

static uint64_t number_of(const struct ctp_record *rec, const char *name)
{
	return ctp_roles_value(rec->val, ctp_roles_named(rec->cls, name));
}

/* --- stops ---------------------------------------------------------------------------------------------------------------- */

static void put_stop(struct ctp_proc_seen *seen, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns >= to_ns || (!seen->stops && !(seen->stops = calloc(CTP_PROC_SEEN_STOPS, sizeof *seen->stops))))
		return;
	seen->total_ns += to_ns - from_ns;
	if (seen->nstops == CTP_PROC_SEEN_STOPS)
		seen->stops[seen->nstops - 1].to_ns = to_ns;
	else
		seen->stops[seen->nstops++] = (struct ctp_proc_seen_stop){from_ns, to_ns};
}

void ctp_proc_seen_went_on(struct ctp_proc_seen *seen, uint64_t ts)
{
	uint64_t from_ns = seen->stopped_ns;
	seen->stopped_ns = 0;
	put_stop(seen, from_ns, ts);
}

uint64_t ctp_proc_seen_stopped_ns(const struct ctp_proc_seen *seen, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = 0;
	for (uint32_t i = seen->nstops; i-- && seen->stops[i].to_ns > from_ns;) {
		uint64_t a = seen->stops[i].from_ns > from_ns ? seen->stops[i].from_ns : from_ns;
		uint64_t b = seen->stops[i].to_ns < to_ns ? seen->stops[i].to_ns : to_ns;
		ns += b > a ? b - a : 0;
	}
	return ns;
}

/* --- what is known -------------------------------------------------------------------------------------------------------- */

/* A harvest comes before each look: it has all events up to the look before that. */
static void looked(struct ctp_proc_seen *seen, uint64_t ts)
{
	if (ts <= seen->looked_ns)
		return;
	seen->sure_ns = seen->looked_ns;
	seen->looked_ns = ts;
}

/* A round is over: the samples of all threads are there. */
static void close_round(struct ctp_proc_seen *seen, uint64_t ts, uint64_t threads)
{
	struct ctp_proc_seen_round *now = &seen->round, *before = &seen->before;
	if (now->ts_ns != ts || now->threads != threads)
		return;
	bool still = now->asleep && before->asleep && now->cpu_ns == before->cpu_ns && now->threads == before->threads;
	if (still) {
		seen->still_from_ns = seen->still_to_ns == before->ts_ns ? seen->still_from_ns : before->ts_ns;
		seen->still_to_ns = ts;
	}
	*before = *now;
	*now = (struct ctp_proc_seen_round){0};
}

uint64_t ctp_proc_seen_alive_ns(const struct ctp_record *rec, uint64_t ts)
{
	bool alive = !strcmp(state_of(rec), "executing") || !strcmp(state_of(rec), "stopped");
	uint64_t after_ns = number_of(rec, "after");
	return alive ? ts : after_ns < ts ? after_ns : ts;
}

void ctp_proc_seen_process(struct ctp_proc_seen *seen, const struct ctp_record *rec, uint64_t ts, uint64_t last_ns)
{
	bool stopped = !strcmp(state_of(rec), "stopped");
	looked(seen, ts);
	uint64_t after_ns = number_of(rec, "after"), threads = number_of(rec, "threads");
	/* The process stopped at some time after its last event, and after the last look that saw it executing. */
	if (stopped && !seen->stopped_ns)
		seen->stopped_ns = after_ns > last_ns ? (after_ns < ts ? after_ns : ts) : last_ns < ts ? last_ns : ts;
	else if (!stopped && seen->stopped_ns)
		ctp_proc_seen_went_on(seen, ts);
	if (threads)
		close_round(seen, ts, threads);
}

bool ctp_proc_seen_sample(struct ctp_proc_seen *seen, const struct ctp_record *rec, uint64_t ts, struct ctp_proc_seen_run *run,
                          struct ctp_proc_seen_delay *delay)
{
	const char *state = state_of(rec);
	bool asleep = !strcmp(state, "sleeping") || !strcmp(state, "blocked");
	const struct ctp_proc_seen_at now = {ts, number_of(rec, "cpu_ns"), number_of(rec, "delay_ns")};
	looked(seen, ts);
	if (seen->round.ts_ns != ts)
		seen->round = (struct ctp_proc_seen_round){.ts_ns = ts, .asleep = true};
	seen->round.threads++;
	seen->round.cpu_ns += now.cpu_ns;
	seen->round.asleep &= asleep;
	if (run && !run->samples)
		*run = (struct ctp_proc_seen_run){.before = delay ? delay->last : (struct ctp_proc_seen_at){0}, .first = now};
	if (run) {
		run->last = now;
		run->samples++;
		run->asleep += asleep;
	}
	if (!delay)
		return false;
	if (delay->samples++ && now.delay_ns > delay->last.delay_ns)
		delay->most_ns = ctp_most(delay->most_ns, now.delay_ns - delay->last.delay_ns);
	delay->last = now;
	return !strcmp(state, "running");
}
