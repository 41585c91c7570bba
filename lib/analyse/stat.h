/*
 * stat.h - what is in a stream: counted in one pass, in stream order, with bounded memory.
 */
#ifndef CTP_STAT_H
#define CTP_STAT_H

#include "analyse/ended.h"
#include "stream/sink.h"

enum { CTP_STAT_SECTIONS_MAX = 256 }; /* that are remembered one by one; the totals are of all */

/* Of a section, or of all of them. */
struct ctp_stat_counts {
	uint64_t events, lost, unverified, untraced, births, deaths, conflicts, late;
	uint64_t wakes, names;
	uint64_t missed;     /* such records, and others that are no transitions, that a thread could not write; not in lost */
	uint64_t sites;      /* different places in the source that are told of */
	uint64_t unseen;     /* events that the end record counts and that are not here: their packets are missing */
	uint64_t coroutines; /* births, or where there are none different ids of coroutines or else of probes, by sequence.h */
	uint64_t threads;
	bool at_least;       /* there were more ids than could be remembered: coroutines, threads or sites are more */
	uint64_t first_ns, last_ns, duration_ns; /* times of records; first > last: there was none */
	bool complete;
};

struct ctp_stat {
	struct ctp_stat_counts all; /* coroutines, threads, sites, durations: sums over the sections */
	struct ctp_reader_stats reader;
	bool harmed;        /* damaged, cut short, events were lost or coroutines untraced */
	uint64_t nsections; /* sections[] has the first CTP_STAT_SECTIONS_MAX of them */
	struct ctp_stat_section {
		struct ctp_section *who;
		struct ctp_stat_counts counts;
		struct ctp_ended ended;
	} sections[CTP_STAT_SECTIONS_MAX];
	uint32_t nclasses;
	struct ctp_stat_class { /* by name */
		char *name;
		uint64_t records;
	} classes[CTP_CLASSES_MAX];
};

struct ctp_stat *ctp_stat_new(struct ctp_err *err);
void ctp_stat_free(struct ctp_stat *stat);

/* Adds what one input holds. */
enum ctp_status ctp_stat_read(struct ctp_stat *stat, struct ctp_input *in, const struct ctp_notice *notice,
                              const struct ctp_tick *tick, struct ctp_err *err);

#endif
