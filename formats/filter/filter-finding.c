/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-finding.c - makes a report, and looks up one of its findings. */
#include "filter/filter-finding.h"

#include <inttypes.h>
#include <stdlib.h>

struct reporting {
	struct ctp_sink sink; /* first */
	struct ctp_analysis *analysis;
};

static struct ctp_analysis *analysis_of(struct ctp_sink *sink) { return ((struct reporting *)sink)->analysis; }

static enum ctp_status section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	(void)err;
	analysis_of(sink)->input = sink->input;
	ctp_analysis_section(analysis_of(sink), sec);
	return CTP_OK;
}

static enum ctp_status records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	(void)err;
	ctp_analysis_records(analysis_of(sink), batch);
	return CTP_OK;
}

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	ctp_analysis_end(analysis_of(sink), how);
	return analysis_of(sink)->report.failed ? ctp_err_memory(err) : CTP_OK;
}

static void release(struct ctp_sink *sink) { free(sink); }

struct ctp_sink *ctp_filter_report_sink(struct ctp_analysis *a, struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {.section = section, .records = records, .end = end, .free = release};
	struct reporting *r = ctp_err_calloc(err, sizeof *r);
	if (!r)
		return NULL;
	*r = (struct reporting){.sink.ops = &ops, .analysis = a};
	return &r->sink;
}

/* The section; 0: err says why there is none. */
static uint32_t choose(const struct ctp_report *r, uint64_t number, uint64_t section, struct ctp_err *err)
{
	uint32_t found = 0, several = 0;
	for (uint32_t i = 0; i < r->nsections; i++)
		if (r->sections[i].nfindings) {
			found = i + 1;
			several++;
		}
	if (section > r->nsections)
		return (void)ctp_err_set(err, "--section %" PRIu64 ": the trace has %u sections", section, r->nsections), 0;
	if (!section && several > 1)
		return (void)ctp_err_set(err, "--finding %" PRIu64 ": several sections have findings; add --section N", number), 0;
	found = section ? (uint32_t)section : found;
	if (!found || number > r->sections[found - 1].nfindings)
		return (void)ctp_err_set(err, "--finding %" PRIu64 ": the trace has fewer findings; ctp-report lists them with their numbers",
		                         number), 0;
	return found;
}

/* A member, the coroutine that woke it last, and the one that it waits for. */
static void add_members(struct ctp_filter_finding *to, const struct ctp_report_member *who, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t ids[] = {who[i].id, who[i].waker, who[i].waits_for};
		for (size_t k = 0; k < sizeof ids / sizeof *ids; k++)
			if (ids[k])
				to->coros[to->ncoros++] = ids[k];
	}
}

enum ctp_status ctp_filter_finding_get(struct ctp_filter_finding *to, const struct ctp_report *r, uint64_t number, uint64_t section,
                                       struct ctp_err *err)
{
	uint32_t found = choose(r, number, section, err);
	if (!found)
		return CTP_FAILED;
	const struct ctp_report_section *s = &r->sections[found - 1];
	const struct ctp_finding *f = &s->findings[number - 1];
	*to = (struct ctp_filter_finding){.section = found, .from_ns = s->start_ns + f->from_ns, .to_ns = s->start_ns + f->to_ns,
	                                  .members = f->members + f->waiting};
	to->coros = calloc((size_t)3 * (f->nwho + f->nwaiters) + 1, sizeof *to->coros);
	if (!to->coros)
		return ctp_err_memory(err);
	add_members(to, f->who, f->nwho);
	add_members(to, f->waiters, f->nwaiters);
	if (to->ncoros)
		return CTP_OK;
	ctp_filter_finding_fini(to);
	return ctp_err_set(err, "--finding %" PRIu64 ": is about the whole program, and lists no coroutine", number);
}

void ctp_filter_finding_fini(struct ctp_filter_finding *f)
{
	free(f->coros);
	f->coros = NULL;
}
