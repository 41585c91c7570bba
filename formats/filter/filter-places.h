/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * filter-places.h - whether the place that a field refers to matches one of some patterns.
 *
 * A place has the text that reports show, FILE:LINE:FUNCTION. A pattern matches all of it, or some of its parts that follow each
 * other: server.cpp:212, handle, server.cpp.
 */
#ifndef CTP_FILTER_PLACES_H
#define CTP_FILTER_PLACES_H

#include "filter/filter.h"

struct ctp_filter_places;
struct ctp_filter_places *ctp_filter_places_new(const struct ctp_filter_options *options, struct ctp_err *err);
void ctp_filter_places_free(struct ctp_filter_places *p); /* null: nothing */
void ctp_filter_places_forget(struct ctp_filter_places *p); /* a section begins */

/* Is called with each record, in order, before it is asked for. */
void ctp_filter_places_learn(struct ctp_filter_places *p, const struct ctp_record *rec);

/* The place of the last record: that of its first site, or if that is 0, of its address. */
bool ctp_filter_places_match(struct ctp_filter_places *p, const struct ctp_filter_patterns *patterns, const struct ctp_record *rec);

/* Whether one of the patterns matches the text, as a whole; exact: no part of it will do. */
bool ctp_filter_matches(const struct ctp_filter_patterns *patterns, const char *text, bool exact);

#endif
