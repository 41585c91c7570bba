/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-findings: each coroutine is listed once, with its process, and ignored findings are left out. */
#include "analyse/analysis.h"
#include "byhand.h"
#include "tap.h"

enum { MS = 1000000, MAKER = 7, WAITS = 8, THREAD = 5, OTHER_THREAD = 6 };

static struct byhand h;
static struct ctp_analysis *analysis;
static struct ctp_section sec;

static void give(void *to, const struct ctp_batch *batch) { ctp_analysis_records(to, batch); }

static void begin(const struct ctp_analysis_options *options)
{
	struct ctp_err err;
	byhand_init(&h, give, NULL);
	h.to = analysis = ctp_analysis_new(options, &err);
	if (!analysis)
		abort();
	ctp_section_init(&sec);
	ctp_section_add(&sec, "pid", "100");
	ctp_analysis_section(analysis, &sec);
}

/* "rule members, ...; ignored N" */
static const char *end(void)
{
	static char found[1024];
	found[0] = '\0';
	ctp_analysis_end(analysis, &(struct ctp_section_end){.complete = true});
	const struct ctp_report_section *s = analysis->report.sections;
	for (uint32_t i = 0; i < s->nfindings; i++)
		sprintf(found + strlen(found), "%s%s %ju", i ? ", " : "", ctp_rule_name(s->findings[i].rule),
		        (uintmax_t)s->findings[i].members);
	sprintf(found + strlen(found), "; ignored %ju", (uintmax_t)analysis->report.ignored);
	return found;
}

static void fini(void)
{
	ctp_analysis_free(analysis);
	ctp_section_fini(&sec);
	byhand_fini(&h);
}

static bool has_evidence(uint32_t finding, const char *line)
{
	const struct ctp_report_section *s = analysis->report.sections;
	for (int i = 0; finding < s->nfindings && i < CTP_REPORT_LINES && s->findings[finding].evidence[i]; i++)
		if (!strcmp(s->findings[finding].evidence[i], line))
			return true;
	return false;
}

/* --- each coroutine once -------------------------------------------------------------------------------------------------- */

static void cases(void)
{
	begin(NULL);
	is_born(&h, 1, 3, 0);
	is_born(&h, 1, 4, 0);
	resumes(&h, 2, 3, THREAD);
	resumes(&h, 3, 3, THREAD);
	resumes(&h, 4, 3, THREAD);
	resumes(&h, 5, 4, THREAD);
	resumes(&h, 6, 4, THREAD);
	is_over(&h, 10, CTP_OUTCOME_EXITED);
	is(end(), "double-resume 2; ignored 0", "a coroutine with two double resumes is listed once");
	ok(has_evidence(0, "3 times in all"), "the number of double resumes is given");
	is_u64(analysis->report.sections->findings[0].nwho, 2, "each coroutine is listed once");
	fini();
}

/* Many short runs, then two of 700 and 900 ms of the same coroutine, while another one waits. */
static void long_runs(void)
{
	uint64_t ts = MS;
	begin(NULL);
	for (uint64_t co = 3; co < 5; co++) {
		is_born(&h, ts, co, MAKER);
		resumes(&h, ts, co, THREAD);
		suspends(&h, ts + 10, co, THREAD, WAITS);
	}
	for (uint64_t n = 0; n < 300; n++, ts += 2 * MS) {
		is_woken(&h, ts + MS, 3, THREAD, 4);
		resumes(&h, ts + MS + 1, 3, THREAD);
		suspends(&h, ts + MS + 20, 3, THREAD, WAITS);
	}
	for (uint64_t ns = 700 * MS; ns <= 900 * MS; ns += 200 * MS, ts += 2000 * MS) {
		is_woken(&h, ts, 3, OTHER_THREAD, 0);
		resumes(&h, ts + 1, 3, THREAD);
		is_woken(&h, ts + 2, 4, OTHER_THREAD, 0);
		is_sampled(&h, ts + 600 * MS, THREAD, ts + 600 * MS, 0, CTP_SAMPLE_RUNNING);
		suspends(&h, ts + ns, 3, THREAD, WAITS);
		resumes(&h, ts + ns + 1, 4, THREAD);
		suspends(&h, ts + ns + 2, 4, THREAD, WAITS);
	}
	dies(&h, ts, 3);
	dies(&h, ts, 4);
	is_over(&h, ts + MS, CTP_OUTCOME_EXITED);
	is(end(), "long-run 1; ignored 0", "two long runs of one coroutine list it once");
	const struct ctp_finding *f = analysis->report.sections->findings;
	ok(f->nwho == 1 && f->who[0].for_ns / MS == 899, "its longest run is listed");
	ok(has_evidence(0, "2 times in all"), "the number of long runs is given");
	fini();
}

/* --- in which process ----------------------------------------------------------------------------------------------------- */

static void thread_of(uint64_t pid, uint64_t tid)
{
	static const struct {
		uint32_t len;
		char data[2];
	} name = {1, "x"};
	BYHAND(&h, CTP_THREAD, [CTP_THREAD_TS] = 1, [CTP_THREAD_TID] = tid, [CTP_THREAD_PID] = pid,
	       [CTP_THREAD_NAME] = ctp_val_str((const struct ctp_str *)&name));
}

static void twice(uint64_t co, uint64_t tid)
{
	is_born(&h, 2, co, 0);
	resumes(&h, 3, co, tid);
	resumes(&h, 4, co, tid);
}

static void processes(void)
{
	begin(NULL);
	thread_of(BYHAND_PID, THREAD);
	twice(3, THREAD);
	is_over(&h, 10, CTP_OUTCOME_EXITED);
	is(end(), "double-resume 1; ignored 0", "a finding in one process is found");
	ok(!has_evidence(0, "in process 100"), "a finding in the only process does not name it");
	fini();

	begin(NULL);
	thread_of(BYHAND_PID, THREAD);
	thread_of(BYHAND_PID + 1, OTHER_THREAD);
	twice(3, OTHER_THREAD);
	is_over(&h, 10, CTP_OUTCOME_EXITED);
	end();
	ok(has_evidence(0, "in process 101"), "with two processes, a finding names its process");
	is_u64(analysis->report.sections->findings[0].who[0].pid, 101, "each member has its process");
	fini();

	begin(NULL);
	thread_of(BYHAND_PID, THREAD);
	thread_of(BYHAND_PID + 1, OTHER_THREAD);
	twice(3, THREAD);
	twice(4, OTHER_THREAD);
	is_over(&h, 10, CTP_OUTCOME_EXITED);
	end();
	ok(has_evidence(0, "in processes 100, 101") || has_evidence(0, "in processes 101, 100"),
	   "a finding in both processes names both");
	fini();
}

/* --- what is ignored ------------------------------------------------------------------------------------------------------ */

/* Work for 200 ms, then two coroutines await an ended one, and next to nothing happens for 1.8 s. */
static void collapse(const char *ignore, const char *want, const char *name)
{
	const struct ctp_analysis_options options = {.ignore = (const char *[]){ignore}, .nignore = !!ignore};
	begin(&options);
	for (uint64_t co = 10; co < 210; co++) {
		uint64_t ts = (co - 10) * MS + 2;
		is_born(&h, ts, co, MAKER);
		resumes(&h, ts, co, THREAD);
		suspends(&h, ts + MS / 4, co, THREAD, WAITS);
		is_woken(&h, ts + MS / 2, co, OTHER_THREAD, 0);
		resumes(&h, ts + MS / 2 + 1, co, THREAD);
		dies(&h, ts + MS / 2 + 2, co);
	}
	for (uint64_t co = 3; co < 6; co++)
		is_born(&h, 200 * MS, co, 0);
	for (uint64_t co = 3; co < 5; co++) {
		resumes(&h, 201 * MS + co * 10, co, THREAD);
		awaits(&h, 201 * MS + co * 10 + 1, co, 5);
		suspends(&h, 201 * MS + co * 10 + 2, co, THREAD, 9);
	}
	dies(&h, 202 * MS, 5);
	is_over(&h, (uint64_t)2000 * MS, CTP_OUTCOME_RUNNING);
	is(end(), want, name);
	fini();
}

/*
 * As above for 900 ms, and then only a heartbeat for 14 s, which is more than a hundredth of all resumes. Beside the two coroutines of the
 * finding, idle others wait. The result is the evidence about throughput, or "".
 */
static uint64_t load_from_ms; /* the work begins then */

static const char *heartbeat(uint64_t every_ms, uint64_t upto_ms, uint64_t idle)
{
	static char said[300];
	begin(NULL);
	for (uint64_t co = 2000; co < 2000 + idle; co++) {
		is_born(&h, 1, co, MAKER + 2);
		resumes(&h, 2, co, THREAD);
		suspends(&h, 3, co, THREAD, WAITS + 100);
	}
	is_born(&h, 1, 2, MAKER + 1);
	if (load_from_ms) {
		is_born(&h, 1, 1, MAKER + 3);
		resumes(&h, 2, 1, THREAD);
		suspends(&h, 3, 1, THREAD, WAITS + 200);
	}
	for (uint64_t co = 10 + load_from_ms; co < 910; co++) {
		uint64_t ts = (co - 10) * MS + 2;
		is_born(&h, ts, co, MAKER);
		resumes(&h, ts, co, THREAD);
		dies(&h, ts + MS / 2, co);
	}
	for (uint64_t co = 3; co < 6; co++)
		is_born(&h, 900 * MS, co, 0);
	for (uint64_t co = 3; co < 5; co++) {
		resumes(&h, 901 * MS + co * 10, co, THREAD);
		awaits(&h, 901 * MS + co * 10 + 1, co, 5);
		suspends(&h, 901 * MS + co * 10 + 2, co, THREAD, 9);
	}
	dies(&h, 902 * MS, 5);
	for (uint64_t ms = 1000; ms < upto_ms; ms += every_ms) {
		resumes(&h, ms * MS, 2, THREAD);
		suspends(&h, ms * MS + 1, 2, THREAD, WAITS);
		is_woken(&h, (ms + every_ms - 1) * MS, 2, OTHER_THREAD, 0);
	}
	is_over(&h, (uint64_t)15000 * MS, CTP_OUTCOME_RUNNING);
	end();
	const struct ctp_report_section *s = analysis->report.sections;
	const char *line = NULL;
	for (int i = 0; s->nfindings && i < CTP_REPORT_LINES && s->findings[0].evidence[i]; i++)
		line = strstr(s->findings[0].evidence[i], "throughput fell") ? s->findings[0].evidence[i] : line;
	snprintf(said, sizeof said, "%s", line ? line : "");
	unsigned ms = 0;
	if (sscanf(said, "after %u ms", &ms) != 1 || ms < 850 || ms > 950)
		said[0] = '\0';
	fini();
	return said;
}

static void heartbeats(void)
{
	ok(*heartbeat(500, 15000, 0), "throughput fell when work stopped, although a heartbeat goes on: %s", heartbeat(500, 15000, 0));
	ok(!strstr(heartbeat(500, 15000, 0), "the last resume"), "the heartbeat did not end");
	ok(*heartbeat(8, 15000, 0), "so it did if the heartbeat is a tenth of it, and most coroutines wait: %s", heartbeat(8, 15000, 0));
	is(heartbeat(8, 15000, 20), "", "but not if most coroutines are in no finding");
	ok(*heartbeat(500, 15000, 20), "it did if the heartbeat is far less than that");
	is(heartbeat(2, 15000, 0), "", "it did not if the heartbeat is half of it");
	ok(strstr(heartbeat(500, 1001, 0), "; the last resume was 1.00 s after the start"), "the evidence says when the heartbeat ended: %s",
	   heartbeat(500, 1001, 0));
	for (load_from_ms = 0; load_from_ms <= 700; load_from_ms += 350)
		ok(strstr(heartbeat(500, 1001, 0), "throughput fell from 1,0") || strstr(heartbeat(500, 1001, 0), "throughput fell from 9"),
		   "time before the load began is not averaged in, here %ju ms: %s", (uintmax_t)load_from_ms, heartbeat(500, 1001, 0));
}

int main(void)
{
	cases();
	heartbeats();
	long_runs();
	processes();
	collapse(NULL, "awaits-dead 2; ignored 0", "the loss of throughput is no finding of its own");
	collapse("awaits-dead", "; ignored 1", "it is none if its cause is ignored by its rule");
	collapse("site 9", "; ignored 1", "it is none if its cause is ignored by its site");
	return done_testing();
}
