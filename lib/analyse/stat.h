/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * stat.h - counts what a stream holds, in one pass, in stream order, with bounded memory.
 */
#ifndef CTP_STAT_H
#define CTP_STAT_H

#include "analyse/ended.h"
#include "analyse/spans.h"
#include "stream/sink.h"

enum {
	CTP_STAT_SECTIONS_MAX = 256, /* sections with counts of their own; the totals are of all */
	CTP_STAT_ENDS_MAX = 8,       /* different ends of the origins of a section */
};

/* Counts of a section, or of all sections. */
struct ctp_stat_counts {
	uint64_t events, lost, unverified, untraced, births, deaths, conflicts, late;
	uint64_t wakes, names;
	uint64_t missed;     /* wakes, names and such that a thread could not write; not in lost */
	uint64_t sites;      /* different places in the source */
	uint64_t unseen;     /* events that the end record counts and the stream lacks: their packets are missing */
	uint64_t coroutines; /* births; without births, different ids of coroutines, or of probes by sequence.h */
	uint64_t threads;
	bool at_least;       /* more ids than there was room for: coroutines, threads or sites are more */
	uint64_t first_ns, last_ns, duration_ns; /* times of records; first_ns > last_ns: no record has one */
	bool ordinal;        /* there is no duration, and first_ns and last_ns are numbers; of all: no section has a clock */
	bool complete;
};

struct ctp_stat {
	/* Sums over the sections; the duration and the times are of those with a clock, and what they share is counted once. */
	struct ctp_stat_counts all;
	struct ctp_spans spans;
	struct ctp_reader_stats reader;
	bool harmed;        /* the stream is damaged or cut short, or events were lost, or coroutines are untraced */
	uint64_t norigins;  /* of sections that were merged */
	uint64_t nfiltered; /* sections of which a filter has left out records: a number that is missing says nothing */
	uint64_t nsections; /* all; sections[] has the first CTP_STAT_SECTIONS_MAX */
	struct ctp_stat_section {
		struct ctp_section *who;
		struct ctp_stat_counts counts;
		uint64_t norigins; /* 0: it was not merged */
		uint32_t nends;
		struct ctp_stat_end { /* each different one; of a section that was not merged, only one */
			struct ctp_ended ended;
			uint64_t origins;
		} ends[CTP_STAT_ENDS_MAX];
		uint64_t other_ends; /* origins with ends that there was no room for */
	} sections[CTP_STAT_SECTIONS_MAX];
	uint32_t nclasses;
	struct ctp_stat_class { /* by name */
		char *name;
		uint64_t records;
	} classes[CTP_CLASSES_MAX];
};

struct ctp_stat *ctp_stat_new(struct ctp_err *err);
void ctp_stat_free(struct ctp_stat *stat);

/* How the program of the section ended, or all that were merged into it. Null: that is not known, or differs. */
const struct ctp_ended *ctp_stat_ended(const struct ctp_stat_section *s);

/* Adds the counts of one input. CTP_FAILED: it could not be read, or is no stream. */
enum ctp_status ctp_stat_read(struct ctp_stat *stat, struct ctp_input *in, const struct ctp_notice *notice,
                              const struct ctp_tick *tick, struct ctp_err *err);

#endif
