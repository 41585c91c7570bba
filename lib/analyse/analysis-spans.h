/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* analysis-spans.h - the spans that the tables of a report are made of, one by one. */
#ifndef CTP_ANALYSIS_SPANS_H
#define CTP_ANALYSIS_SPANS_H

#include "analyse/analysis.h"
#include "analyse/tally.h"

/* To be called before the first section. The last spans come at the end of a section, before the listener's end function. */
void ctp_analysis_spans(struct ctp_analysis *a, ctp_tally_span *span, void *arg);

#endif
