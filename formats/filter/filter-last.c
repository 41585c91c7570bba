/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-last.c - notes the last time of each section. */
#include "filter/filter-last.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/compare.h"

static enum ctp_status section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct ctp_filter_last *l = (struct ctp_filter_last *)sink;
	(void)sec;
	if (!CTP_ARRAY_RESERVE(l->ns, l->room, l->n + 1, CTP_FILTER_LAST_SECTIONS))
		return ctp_err_memory(err);
	l->ns[l->n++] = 0;
	return CTP_OK;
}

static enum ctp_status records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct ctp_filter_last *l = (struct ctp_filter_last *)sink;
	uint64_t *ns = &l->ns[l->n - 1];
	(void)err;
	for (uint32_t i = 0; i < batch->n; i++)
		*ns = ctp_most(*ns, batch->rec[i].ts_ns);
	return CTP_OK;
}

static void stays(struct ctp_sink *sink) { (void)sink; }

void ctp_filter_last_init(struct ctp_filter_last *l)
{
	static const struct ctp_sink_ops ops = {.section = section, .records = records, .free = stays};
	*l = (struct ctp_filter_last){.sink.ops = &ops};
}

void ctp_filter_last_fini(struct ctp_filter_last *l) { free(l->ns); }

struct ctp_filter_numbers ctp_filter_last_starts(struct ctp_filter_last *l, uint64_t before_ns)
{
	for (size_t i = 0; i < l->n; i++)
		l->ns[i] -= ctp_least(l->ns[i], before_ns);
	return (struct ctp_filter_numbers){l->ns, l->n};
}
