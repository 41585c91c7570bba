/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * filter.h - a stream that has a part of the records of another one, and is complete in itself.
 *
 * A record belongs to the coroutine in its field with the role coroutine. Options select coroutines, and records of those. What the
 * selected records refer to is written too, when the first of them does: sites, objects, and the birth and the name of other
 * coroutines, each with a record of the kind left_out, because nothing more of these is there. A section of which records may be
 * missing for this reason has the attribute `filtered`.
 *
 * One pass. Memory grows with the coroutines that are alive, those that are selected, the sites and the objects.
 */
#ifndef CTP_FILTER_H
#define CTP_FILTER_H

#include "analyse/report.h"
#include "filter/filter-anon.h"
#include "io/output.h"
#include "stream/sink.h"

/* A list of numbers or of patterns; patterns are those of fnmatch(3). n 0: the option was not given. */
struct ctp_filter_numbers {
	const uint64_t *list;
	size_t n;
};

struct ctp_filter_patterns {
	const char *const *list;
	size_t n;
};

enum { CTP_FILTER_RUNNING = 1, CTP_FILTER_SUSPENDED = 2 };

/* All zeros: everything is kept. What it points to is needed until the sink is freed. */
struct ctp_filter_options {
	/* A coroutine is selected if it matches each of these that is given. */
	struct ctp_filter_numbers coros, processes;
	struct ctp_filter_patterns spawns, names;
	bool descendants; /* and all that descend from a selected one */

	/* A record is selected if it matches each of these that is given, or has no such field. */
	struct ctp_filter_numbers threads;
	struct ctp_filter_patterns classes, places;
	uint8_t states; /* of transitions: bits */
	uint64_t since_ns, until_ns; /* from the first event of the section; until_ns 0: to its end */
	struct ctp_filter_numbers starts; /* instead of since_ns: by section, a time of its clock; needs absolute */

	uint64_t section; /* only the section with this number, from 1 on; 0: all */
	uint64_t origin;  /* of merged sections only what is from this one; 0: all */
	const struct ctp_finding *finding; /* becomes records of the section; null: none */
	struct ctp_filter_anon *anon; /* the caller's, with numbers of texts that it has used already; null: none */
	bool absolute;    /* since_ns and until_ns are times of the section's clock */
	bool anonymise;
	const char *said; /* the options, for the attribute `filtered`; null or "": nothing is left out */
	const char *const *debug_dirs; /* for the places of addresses */
	size_t ndebug_dirs;
	bool no_symbols;
};

/* For the tool to print; all zeros at first. */
struct ctp_filter_stats {
	uint64_t sections, taken, kept; /* taken, kept: records */
	uint64_t selected;        /* coroutines */
	uint64_t of_origin;       /* records of the origin that is asked for */
	bool of_class, of_place, of_thread; /* something is of what these options ask for */
	uint64_t unknown_parents; /* births whose parent is not known, if descendants are asked for */
	uint64_t unfollowed;      /* records of coroutines for which there was no room */
	uint64_t unheld;          /* records that others may have needed, for which there was no room */
	char attrs[300], classes[300]; /* what an anonymised stream still has: attributes; classes that are not ctp-collect's */
};

/* Writes to out and closes it. options and stats are the caller's. Null: err says why. */
struct ctp_sink *ctp_filter_sink(struct ctp_output *out, const struct ctp_filter_options *options, struct ctp_filter_stats *stats,
                                 struct ctp_err *err);

#endif
