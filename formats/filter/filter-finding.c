/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-finding.c - makes a report, and looks up one of its findings. */
#include "filter/filter-finding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "common/split.h"

/* Where a section of the report is from. */
struct place {
	uint64_t section, origin;
};

struct ctp_filter_report {
	struct ctp_sink sink, counted; /* sink: of the origins; counted: of the stream, which gives to the other one. First */
	struct ctp_sink *split;
	struct ctp_analysis *analysis, *nameless; /* nameless: of anonymised records; null: not asked for */
	struct ctp_filter_anon *anon;
	struct ctp_section renamed; /* the section, without names */
	bool has_renamed;
	struct place at, places[CTP_REPORT_SECTIONS];
	uint32_t nplaces;
};

/* --- anonymous ------------------------------------------------------------------------------------------------------------ */

static enum ctp_status rename_section(struct ctp_filter_report *r, const struct ctp_section *sec, struct ctp_err *err)
{
	bool stays;
	if (r->has_renamed)
		ctp_section_fini(&r->renamed);
	ctp_section_init(&r->renamed);
	r->has_renamed = true;
	for (uint32_t i = 0; i < sec->nattrs; i++) {
		const char *value = ctp_filter_anon_attr(r->anon, &sec->attrs[i], &stays, err);
		if (!value)
			return CTP_FAILED;
		ctp_section_add(&r->renamed, sec->attrs[i].name, value);
	}
	ctp_analysis_section(r->nameless, &r->renamed);
	return CTP_OK;
}

/* Records without a text stay as they are, so runs of them are passed on as one batch. */
static enum ctp_status rename_records(struct ctp_filter_report *r, const struct ctp_batch *batch, struct ctp_err *err)
{
	for (uint32_t i = 0, upto; i < batch->n; i = upto) {
		struct ctp_record rec = batch->rec[i];
		upto = i + 1;
		while (!rec.cls->has_text && upto < batch->n && !batch->rec[upto].cls->has_text)
			upto++;
		if (rec.cls->has_text && !(rec.val = ctp_filter_anon_record(r->anon, &rec, err)))
			return CTP_FAILED;
		ctp_analysis_records(r->nameless, &(struct ctp_batch){upto > i + 1 ? &batch->rec[i] : &rec, upto - i, batch->late});
	}
	return CTP_OK;
}

/* --- the sink of the origins ---------------------------------------------------------------------------------------------- */

static enum ctp_status section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct ctp_filter_report *r = (struct ctp_filter_report *)sink;
	const char *origin = ctp_section_get(sec, "origin_number");
	r->at.origin = origin ? strtoull(origin, NULL, 10) : 0;
	r->analysis->input = sink->input;
	ctp_analysis_section(r->analysis, sec);
	return r->nameless ? rename_section(r, sec, err) : CTP_OK;
}

static enum ctp_status records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct ctp_filter_report *r = (struct ctp_filter_report *)sink;
	ctp_analysis_records(r->analysis, batch);
	return r->nameless ? rename_records(r, batch, err) : CTP_OK;
}

/* Rows of several runs become several sections of the report. */
static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	struct ctp_filter_report *r = (struct ctp_filter_report *)sink;
	ctp_analysis_end(r->analysis, how);
	if (r->nameless)
		ctp_analysis_end(r->nameless, how);
	while (r->nplaces < r->analysis->report.nsections)
		r->places[r->nplaces++] = r->at;
	return r->analysis->report.failed || (r->nameless && r->nameless->report.failed) ? ctp_err_memory(err) : CTP_OK;
}

static void stays(struct ctp_sink *sink) { (void)sink; }

/* --- the sink of the stream ----------------------------------------------------------------------------------------------- */

static struct ctp_filter_report *whole(struct ctp_sink *sink)
{
	return (struct ctp_filter_report *)(void *)((char *)sink - offsetof(struct ctp_filter_report, counted));
}

static enum ctp_status count_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct ctp_filter_report *r = whole(sink);
	r->at.section++;
	r->split->input = sink->input;
	return r->split->ops->section(r->split, sec, err);
}

static enum ctp_status pass_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct ctp_sink *to = whole(sink)->split;
	return to->ops->records(to, batch, err);
}

static enum ctp_status pass_end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	struct ctp_sink *to = whole(sink)->split;
	return to->ops->end(to, how, err);
}

struct ctp_sink *ctp_filter_report_sink(struct ctp_filter_report *r) { return &r->counted; }
const struct ctp_report *ctp_filter_report_of(const struct ctp_filter_report *r) { return &r->analysis->report; }

void ctp_filter_report_free(struct ctp_filter_report *r)
{
	if (!r)
		return;
	if (r->split)
		r->split->ops->free(r->split);
	ctp_analysis_free(r->analysis);
	ctp_analysis_free(r->nameless);
	if (r->has_renamed)
		ctp_section_fini(&r->renamed);
	free(r);
}

struct ctp_filter_report *ctp_filter_report_new(const struct ctp_analysis_options *options, struct ctp_filter_anon *anon,
                                                struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {.section = section, .records = records, .end = end, .free = stays};
	static const struct ctp_sink_ops counts = {.section = count_section, .records = pass_records, .end = pass_end, .free = stays};
	struct ctp_filter_report *r = ctp_err_calloc(err, sizeof *r);
	if (!r)
		return NULL;
	r->sink.ops = &ops;
	r->counted.ops = &counts;
	r->anon = anon;
	r->analysis = ctp_analysis_new(options, err);
	if (r->analysis && anon)
		r->nameless = ctp_analysis_new(options, err);
	if (r->analysis && (!anon || r->nameless) && (r->split = ctp_split_sink(&r->sink, NULL, err)))
		return r;
	ctp_filter_report_free(r);
	return NULL;
}

/* --- one finding ---------------------------------------------------------------------------------------------------------- */

static bool is_asked_for(const struct place *at, uint64_t section, uint64_t origin)
{
	return (!section || at->section == section) && (!origin || at->origin == origin);
}

/* The section of the report, from 1 on; 0: err says why there is none. A finding goes before a wait with the same number. */
static uint32_t choose(const struct ctp_filter_report *r, uint64_t number, uint64_t section, uint64_t origin, struct ctp_err *err)
{
	const struct ctp_report *report = &r->analysis->report;
	uint32_t found = 0, several = 0, asked = 0;
	bool merged = false, is_finding = false;
	for (uint32_t i = 0; i < r->nplaces; i++) {
		if (!is_asked_for(&r->places[i], section, origin))
			continue;
		asked++;
		bool finding = number <= report->sections[i].nfindings;
		if (!ctp_report_finding(&report->sections[i], number - 1) || (is_finding && !finding))
			continue;
		if (finding && !is_finding)
			found = several = 0;
		is_finding |= finding;
		merged = found && r->places[i].section == r->places[found - 1].section;
		found = i + 1;
		several++;
	}
	if (!asked && (section || origin))
		return (void)ctp_err_set(err, "--%s %" PRIu64 ": the trace has no such %s", origin ? "origin" : "section",
		                         origin ? origin : section,
		                         origin ? "origin" : "section"), 0;
	if (several > 1)
		return (void)ctp_err_set(err, "--finding %" PRIu64 ": several %s have %s; add --%s N", number,
		                         merged ? "origins" : "sections", is_finding ? "findings" : "waits that stand out",
		                         merged ? "origin" : "section"), 0;
	if (!found)
		return (void)ctp_err_set(err,
		                         "--finding %" PRIu64 ": the trace has fewer findings; ctp-report lists them with their numbers",
		                         number), 0;
	return found;
}

static void add(struct ctp_filter_finding *to, uint64_t id)
{
	for (size_t i = 0; i < to->ncoros; i++)
		if (to->coros[i] == id)
			return;
	if (id)
		to->coros[to->ncoros++] = id;
}

/* The holders of what a member waits for, as far as the report knows them. */
static void add_holders(struct ctp_filter_finding *to, const struct ctp_report_section *s, const struct ctp_report_member *m)
{
	for (uint32_t i = 0; i < m->nreasons; i++)
		for (uint32_t k = 0; k < s->nobjects; k++) {
			const struct ctp_report_object *o = &s->objects[k];
			bool is_it = o->at == m->reasons[i].at && o->pid == m->reasons[i].pid;
			for (uint32_t h = 0; is_it && h < o->nholders; h++)
				add(to, o->holders[h].id);
		}
}

enum { OF_MEMBER = 3 + CTP_REPORT_REASONS * CTP_REPORT_HOLDERS };

/* A member, the coroutine that woke it last, the one that it waits for, and those that hold what it waits for. */
static bool add_members(struct ctp_filter_finding *to, const struct ctp_report_section *s, const struct ctp_report_member *who,
                        uint32_t n)
{
	size_t room = to->ncoros + (size_t)OF_MEMBER * n + 1;
	uint64_t *more = realloc(to->coros, room * sizeof *more);
	if (!more)
		return false;
	to->coros = more;
	for (uint32_t i = 0; i < n; i++) {
		add(to, who[i].id);
		add(to, who[i].waker);
		add(to, who[i].waits_for);
		add_holders(to, s, &who[i]);
	}
	to->listed += n;
	return true;
}

static bool is_same(const struct ctp_report_member *a, uint32_t na, const struct ctp_report_member *b, uint32_t nb)
{
	bool same = na == nb;
	for (uint32_t i = 0; i < na && same; i++)
		same = a[i].id == b[i].id;
	return same;
}

/* The same finding in the other report, where the order of equal ones may be another. */
static const struct ctp_finding *same_finding(const struct ctp_report_section *s, const struct ctp_finding *f)
{
	const struct ctp_finding *g;
	for (uint32_t i = 0; (g = ctp_report_finding(s, i)); i++)
		if (g->rule == f->rule && g->members == f->members && is_same(g->who, g->nwho, f->who, f->nwho))
			return g;
	return NULL;
}

enum ctp_status ctp_filter_finding_get(struct ctp_filter_finding *to, const struct ctp_filter_report *r, uint64_t number,
                                       uint64_t section, uint64_t origin, struct ctp_err *err)
{
	uint32_t found = choose(r, number, section, origin, err);
	if (!found)
		return CTP_FAILED;
	const struct ctp_report_section *s = &r->analysis->report.sections[found - 1];
	const struct ctp_report_section *other = r->nameless && found <= r->nameless->report.nsections ?
	                                         &r->nameless->report.sections[found - 1] : s;
	const struct ctp_finding *f = ctp_report_finding(s, number - 1);
	*to = (struct ctp_filter_finding){.section = r->places[found - 1].section, .origin = r->places[found - 1].origin};
	to->finding = same_finding(other, f);
	to->members = f->members + (f->rule == CTP_RULE_NONE ? 0 : f->waiting);
	to->from_ns = s->start_ns + f->from_ns;
	to->to_ns = s->start_ns + f->to_ns;
	bool ok = add_members(to, s, f->who, f->nwho) && add_members(to, s, f->waiters, f->nwaiters);
	if (to->ncoros)
		return CTP_OK;
	ctp_filter_finding_fini(to);
	return ok ? ctp_err_set(err, "--finding %" PRIu64 ": is about the whole program, and lists no coroutine", number) :
	            ctp_err_memory(err);
}

void ctp_filter_finding_fini(struct ctp_filter_finding *f)
{
	free(f->coros);
	f->coros = NULL;
}
