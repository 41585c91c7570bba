/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * v1-scan.h - stations that have no ring, as the original SDKs use them: all that is known of one is what it shows, so
 * they must be looked at, one by one, before their 8 slots are overwritten.
 */
#ifndef CTP_V1_SCAN_H
#define CTP_V1_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "collect/rows.h"
#include "collect/v1-station.h"
#include "shm/barrier.h"

enum { CTP_V1_SCAN_DOUBTS = 64 }; /* runs of rows in a group of those in doubt */

struct ctp_v1_scan {
	struct ctp_rows *rows;
	uint32_t used;      /* stations that were ever allocated, of either sort */
	struct ctp_budget *budget; /* null: no limit */
	bool annexed;       /* some may have rings: those are not ours */

	/* v1-scan.c's own */
	const struct ctp_shm_header *header;
	const struct ctp_shm_station *shm; /* max of each of these */
	struct ctp_v1_station *st;
	struct ctp_v1_station_seen *seen;
	struct ctp_hot *hot;
	uint32_t *ours;      /* stations that are ours, in buckets; count of them */
	uint64_t *passed_ns; /* when the sweep last began with this bucket */
	size_t map_bytes;
	uint32_t max, count, nhot, ncold;
	enum ctp_dialect dialect;
	uint64_t lives_ns;  /* when the last look at all lives began */
	uint64_t sweep_due, sweep_credit_ns; /* stations to look at; time it may take */
	uint32_t bucket;    /* the sweep's next */
	uint64_t untraced_said;
	enum ctp_proof proof;

	/* v1-doubt.c's own */
	struct ctp_barrier barrier;
	struct ctp_full {
		struct ctp_row rows[CTP_STATION_ROWS]; /* of a station that was full, while its doubt lasts */
		uint64_t look_ns;           /* when the look began that found them */
		uint64_t promise_ns;        /* what had been promised before */
		uint64_t barrier;           /* which is waited for; 0: none yet */
		uint64_t lived_ns, died_ns; /* bounds of its death, if that was seen */
		bool listed;
	} *full;
	uint32_t *doubted, ndoubted; /* stations that are listed */
	uint64_t doubt_ns;           /* the least promise of theirs */
	struct ctp_v1_doubt {
		struct ctp_v1_doubt_run { /* rows of one visit that are in doubt */
			uint64_t base, after_ns; /* number of the first event; time of the one before */
			uint32_t station, row, n;
		} runs[CTP_V1_SCAN_DOUBTS];
		uint32_t count;
		uint64_t full_ns; /* when the last was added */
	} doubt[2]; /* the older, the newer */
};

enum ctp_status ctp_v1_scan_init(struct ctp_v1_scan *scan, const struct ctp_harvest_conf *conf, struct ctp_rows *rows,
                                 struct ctp_err *err);
void ctp_v1_scan_fini(struct ctp_v1_scan *scan);

/*
 * These begin at rows->now_ns; before_ns: when the look before did. Both return what was found, and the most in one station.
 */
size_t ctp_v1_scan_some(struct ctp_v1_scan *scan, uint64_t before_ns, unsigned *busiest);
size_t ctp_v1_scan_all(struct ctp_v1_scan *scan, uint64_t before_ns, unsigned *busiest);

/* As the functions of ctp_harvest with these names. The last one returns how many stations it did not come to. */
void ctp_v1_scan_lives(struct ctp_v1_scan *scan);
uint32_t ctp_v1_scan_last(struct ctp_v1_scan *scan, bool gone);

/* When the longest ago was that one which lives was looked at; but not longer ago than a mark may be held back for it. */
uint64_t ctp_v1_scan_oldest_ns(const struct ctp_v1_scan *scan);

#endif
