/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judged.h - records made by hand (byhand.h) go to a report, and its findings are given as a line.
 */
#ifndef CTP_T_JUDGED_H
#define CTP_T_JUDGED_H

#include "analyse/analysis.h"
#include "byhand.h"
#include "tap.h"

enum { MS = 1000000, MAKER = 7, WAITS = 8, CHILDREN = 40, WAKER = 2, VICTIM = 1, THREAD = 5, OTHER = 6 };

static const uint64_t S = 1000 * MS;

static struct byhand h;
static struct ctp_analysis *analysis;
static struct ctp_section sec;
static char found[4096], why[4096], still[512], tree[512]; /* why, tree: of the first finding; still: what waits at the end */
static char suspected[1024], stands_out[1024], excuse[1024], also[1024]; /* "possible 12 and 3 of 478 ended"; the others: of the first */
static char title[1024], next[1024]; /* of the first finding; next: its first line */
static char roots[1024]; /* "never-woken 2, possible 1 because of 1": all, in the order of the outputs */
static char listed[512]; /* objects: "4096 for 1, held by 2, destroyed at 2000" */
static uint64_t judged_ns;

static void give(void *to, const struct ctp_batch *batch) { ctp_analysis_records(to, batch); }

static void begin_with(const struct ctp_analysis_options *options, const char *const *attrs)
{
	struct ctp_err err;
	byhand_init(&h, give, NULL);
	h.to = analysis = ctp_analysis_new(options, &err);
	if (!analysis)
		abort();
	ctp_section_init(&sec);
	for (; attrs && *attrs; attrs += 2)
		ctp_section_add(&sec, attrs[0], attrs[1]);
	ctp_analysis_section(analysis, &sec);
}

static const char *const one_process[] = {"pid", "100", NULL};

static inline void begin(void) { begin_with(NULL, one_process); }

static void list_roots(const struct ctp_report_section *s)
{
	const struct ctp_finding *f;
	roots[0] = '\0';
	for (uint32_t i = 0; (f = ctp_report_finding(s, i)) && strlen(roots) < sizeof roots - 100; i++) {
		sprintf(roots + strlen(roots), "%s%s %ju", i ? ", " : "", ctp_rule_name(f->rule), (uintmax_t)f->members);
		if (f->root)
			sprintf(roots + strlen(roots), " because of %u", f->root);
	}
}

/* The findings: "rule certainty members", by gravity, with commas between. */
static const char *end_so(bool complete, bool missing)
{
	char *p = found, *q = why;
	*p = *q = title[0] = next[0] = '\0';
	ctp_analysis_end(analysis, &(struct ctp_section_end){.complete = complete, .missing = missing});
	const struct ctp_report_section *s = analysis->report.sections;
	if (s->nfindings)
		snprintf(title, sizeof title, "%s", s->findings[0].title);
	if (s->nfindings && s->findings[0].next[0])
		snprintf(next, sizeof next, "%s", s->findings[0].next[0]);
	for (char *const *line = s->nfindings ? s->findings[0].evidence : (char *[]){NULL}; *line; line++)
		q += snprintf(q, (size_t)(why + sizeof(why) - q), "%s\n", *line);
	for (uint32_t i = 0; i < analysis->report.nsections; i++)
		for (uint32_t k = 0; k < analysis->report.sections[i].nfindings; k++) {
			const struct ctp_finding *f = &analysis->report.sections[i].findings[k];
			p += sprintf(p, "%s%s %s %ju", p > found ? ", " : "", ctp_rule_name(f->rule),
			             ctp_certainty_name(f->certainty), (uintmax_t)f->members);
		}
	list_roots(s);
	tree[0] = still[0] = '\0';
	for (uint32_t k = 0; s->nfindings && k < s->findings[0].nwaiters && k < 8; k++) {
		const struct ctp_report_member *m = &s->findings[0].waiters[k];
		sprintf(tree + strlen(tree), "%s%ju %s %ju", k ? ", " : "", (uintmax_t)m->id, m->awaits ? "awaits" : "needs", (uintmax_t)m->waits_for);
	}
	suspected[0] = stands_out[0] = excuse[0] = also[0] = '\0';
	for (uint32_t k = 0; k < s->nsuspects; k++)
		sprintf(suspected + strlen(suspected), "%s%s %ju and %ju of %ju ended", k ? ", " : "",
		        ctp_certainty_name(s->suspects[k].certainty), (uintmax_t)s->suspects[k].members,
		        (uintmax_t)s->suspects[k].waiting, (uintmax_t)s->suspects[k].ended);
	if (s->nsuspects)
		snprintf(stands_out, sizeof stands_out, "%s", s->suspects[0].title);
	if (s->nsuspects)
		snprintf(excuse, sizeof excuse, "%s", s->suspects[0].excuse);
	if (s->nsuspects && s->suspects[0].evidence[0])
		snprintf(also, sizeof also, "%s", s->suspects[0].evidence[0]);
	judged_ns = s->destroyed ? s->judged_ns : 0;
	for (uint32_t k = 0; k < s->nwaiting && k < 4; k++)
		sprintf(still + strlen(still), "%s%ju in findings %ju for %ju", k ? ", " : "", (uintmax_t)s->waiting[k].coroutines,
		        (uintmax_t)s->waiting[k].found, (uintmax_t)(s->waiting[k].longest_ns / MS));
	listed[0] = '\0';
	for (uint32_t k = 0; k < s->nobjects && k < 4; k++) {
		const struct ctp_report_object *o = &s->objects[k];
		sprintf(listed + strlen(listed), "%s%ju for %ju, held by %u", k ? "; " : "", (uintmax_t)o->at, (uintmax_t)o->waiters, o->nholders);
		if (o->closed)
			strcat(listed, ", closed");
		if (o->is_gone)
			sprintf(listed + strlen(listed), ", destroyed at %ju", (uintmax_t)((o->gone_ns + MS / 2) / MS));
	}
	ctp_analysis_free(analysis);
	ctp_section_fini(&sec);
	byhand_fini(&h);
	return found;
}

static inline const char *end(void) { return end_so(true, false); }

/* --- a scene -------------------------------------------------------------------------------------------------------------- */

/* It suspends there, is woken and resumed, within a millisecond. */
static void goes_round(uint64_t ts, uint64_t co, uint64_t by)
{
	suspends(&h, ts, co, 5, WAITS);
	is_woken(&h, ts + MS / 2, co, 6, by);
	resumes(&h, ts + MS, co, 5);
}

/* From 0 to 200 ms: many coroutines are spawned, wait several times at the same place, and end. The waker runs. */
static void healthy(void)
{
	is_born(&h, 1, WAKER, 0);
	resumes(&h, 1, WAKER, 6);
	suspends(&h, 2, WAKER, 6, 9);
	for (uint64_t co = 10; co < 10 + CHILDREN; co++) {
		uint64_t ts = (co - 10) * 5 * MS + 2;
		is_born(&h, ts, co, MAKER);
		resumes(&h, ts, co, 5);
		goes_round(ts + MS, co, WAKER);
		goes_round(ts + 3 * MS, co, WAKER);
		dies(&h, ts + 4 * MS + 1, co);
	}
	resumes(&h, 200 * MS, WAKER, 6);
}

/* After that, one more like them waits from 210 ms on; the waker runs until 1.9 s. */
static inline void with_victim(void)
{
	healthy();
	is_born(&h, 200 * MS, VICTIM, MAKER);
	resumes(&h, 201 * MS, VICTIM, 5);
	goes_round(202 * MS, VICTIM, WAKER);
	suspends(&h, 210 * MS, VICTIM, 5, WAITS);
}

static inline void waker_goes_on(void)
{
	for (uint64_t ts = 220 * MS; ts < 1900 * MS; ts += 5 * MS) {
		suspends(&h, ts, WAKER, 6, 9);
		is_woken(&h, ts + MS / 2, WAKER, 5, 0);
		resumes(&h, ts + MS, WAKER, 6);
	}
	dies(&h, 1900 * MS, WAKER);
}

/* Two rounds of samples of all threads. In the second, THREAD is in that state, with this much more CPU time. */
static inline void sampled_twice(uint64_t first, uint64_t second, uint64_t cpu, enum ctp_sample_state state)
{
	for (int i = 0; i < 2; i++) {
		uint64_t ts = i ? second : first;
		is_sampled(&h, ts, THREAD, 100 * MS + (i ? cpu : 0), 0, i ? state : CTP_SAMPLE_SLEEPING);
		is_sampled(&h, ts, OTHER, 10 * MS, 0, CTP_SAMPLE_SLEEPING);
		round_ends(&h, ts, 2);
	}
}

#endif
