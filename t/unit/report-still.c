/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-still: a coroutine that blocks all others is part of the finding, not of the list of those that still run.
 */
#include "analyse/analysis.h"
#include "byhand.h"
#include "tap.h"

enum { US = 1000, MS = 1000000, MAKER = 7, TURN = 8, LOCK = 9, POOL = 10, THREAD = 5, OTHER_THREAD = 6, BLOCKER = 3 };

static struct byhand h;
static struct ctp_analysis *analysis;
static struct ctp_section sec;

static void give(void *to, const struct ctp_batch *batch) { ctp_analysis_records(to, batch); }

static void round_of_samples(uint64_t ts)
{
	for (uint64_t tid = THREAD; tid <= OTHER_THREAD; tid++)
		BYHAND(&h, CTP_SAMPLE, [CTP_SAMPLE_TS] = ts, [CTP_SAMPLE_TID] = tid, [CTP_SAMPLE_PID] = BYHAND_PID, [CTP_SAMPLE_CPU] = 7 * MS,
		       [CTP_SAMPLE_STATE] = CTP_SAMPLE_SLEEPING);
	BYHAND(&h, CTP_PROCESS, [CTP_PROCESS_TS] = ts, [CTP_PROCESS_PID] = BYHAND_PID, [CTP_PROCESS_AFTER] = ts,
	       [CTP_PROCESS_THREADS] = 2, [CTP_PROCESS_CPU] = 14 * MS);
}

/* Two wake each other in turn; then a third one blocks its thread and holds what both need, and nothing happens any more. */
static void story(void)
{
	uint64_t t = 1000 * (uint64_t)MS;
	for (uint64_t co = 1; co <= BLOCKER; co++)
		is_born(&h, t, co, MAKER);
	for (uint64_t co = 1; co <= 2; co++) {
		resumes(&h, t += US, co, THREAD);
		suspends(&h, t += US, co, THREAD, TURN);
	}
	resumes(&h, t += US, BLOCKER, OTHER_THREAD);
	suspends(&h, t += US, BLOCKER, OTHER_THREAD, POOL);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t co = 1 + i % 2;
		is_woken(&h, t += US, co, THREAD, 3 - co);
		resumes(&h, t += US, co, THREAD);
		suspends(&h, t += US, co, THREAD, i < 98 ? TURN : LOCK);
	}
	is_woken(&h, t += US, BLOCKER, THREAD, 1);
	resumes(&h, t += US, BLOCKER, OTHER_THREAD);
	round_of_samples(t + 1000 * (uint64_t)MS);
	round_of_samples(t + 2100 * (uint64_t)MS);
	BYHAND(&h, CTP_END, [CTP_END_TS] = t + 3000 * (uint64_t)MS, [CTP_END_AFTER] = t + 3000 * (uint64_t)MS,
	       [CTP_END_BEFORE] = t + 3000 * (uint64_t)MS, [CTP_END_OUTCOME] = CTP_OUTCOME_RUNNING);
}

int main(void)
{
	struct ctp_err err;
	byhand_init(&h, give, NULL);
	h.to = analysis = ctp_analysis_new(NULL, &err);
	if (!analysis)
		abort();
	ctp_section_init(&sec);
	ctp_section_add(&sec, "pid", "100");
	ctp_analysis_section(analysis, &sec);
	story();
	ctp_analysis_end(analysis, &(struct ctp_section_end){.complete = true});
	const struct ctp_report_section *s = analysis->report.sections;
	const struct ctp_finding *f = s->nfindings ? &s->findings[0] : &(struct ctp_finding){0};
	is(s->nfindings ? ctp_rule_name(f->rule) : "none", "standstill", "the standstill is found");
	int line = 0;
	while (line < CTP_REPORT_LINES && f->evidence[line] && !strstr(f->evidence[line], "coroutine #3 is asleep on thread 6"))
		line++;
	ok(line < CTP_REPORT_LINES && f->evidence[line], "the evidence names the blocking coroutine");
	is_u64(s->nrunning, 1, "it is listed as running");
	is_u64(s->nrunning ? s->running[0].found : 0, 1, "it is marked as part of a finding");
	ctp_analysis_free(analysis);
	ctp_section_fini(&sec);
	byhand_fini(&h);
	return done_testing();
}
