/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-seen.h - which sequence numbers of a buffer were seen, so that duplicates and gaps are found.
 *
 * ppt saves its whole ring again when there is no new frame: a file has duplicates, in the order of the ring's slots, and among
 * them can be frames that were missing before. So gaps are known only at the end. After 2^31 - 1 comes -2^31.
 *
 * Numbers are kept as runs. If there are more than CTP_PPT_RUNS_MAX, the oldest gap is closed, and a frame that would fill it is a
 * duplicate.
 *
 * A number that comes again with other bytes is another frame: two writers use the same numbers, as a process and its child do.
 * Checksums of the last CTP_PPT_SUMS numbers are kept, which is more than a ring is likely to have slots.
 */
#ifndef CTP_PPT_SEEN_H
#define CTP_PPT_SEEN_H

#include "ppt/ppt-frames.h"

enum { CTP_PPT_RUNS_MAX = 1024, CTP_PPT_TORN_MAX = 1024, CTP_PPT_SUMS = 1 << 18 };

struct ctp_ppt_run {
	int64_t first, last; /* numbers, without wrapping */
	uint64_t first_ns, last_ns;
};

struct ctp_ppt_seen {
	uint32_t nruns, ntorn;
	struct ctp_ppt_run *touched; /* by the last number */
	int64_t number;              /* the last */
	struct ctp_ppt_run runs[CTP_PPT_RUNS_MAX + 1]; /* in order, with gaps between them */
	int64_t torn[CTP_PPT_TORN_MAX];
	uint64_t sums[CTP_PPT_SUMS]; /* the number, its sum; 0: none. By the number, the last one stays. */
};

/*
 * It begins as zeros. False: the number was seen before. Else call ctp_ppt_seen_time, and if ctp_ppt_seen_full, ctp_ppt_seen_gap.
 */
bool ctp_ppt_seen_add(struct ctp_ppt_seen *s, int32_t seqno);
void ctp_ppt_seen_time(struct ctp_ppt_seen *s, uint64_t ts_ns);
static inline bool ctp_ppt_seen_full(const struct ctp_ppt_seen *s) { return s->nruns > CTP_PPT_RUNS_MAX; }

/* Keeps the checksum of a frame. */
void ctp_ppt_seen_sum(struct ctp_ppt_seen *s, int32_t seqno, const uint8_t *bytes, size_t len);

/* Whether a number that was seen before had other bytes. False also if that is not known any more. */
bool ctp_ppt_seen_differs(const struct ctp_ppt_seen *s, int32_t seqno, const uint8_t *bytes, size_t len);

/* A frame with this number was seen, and was not whole. */
void ctp_ppt_seen_torn(struct ctp_ppt_seen *s, int32_t seqno);

/* Whether this number would follow the last one. */
bool ctp_ppt_seen_next(const struct ctp_ppt_seen *s, int32_t seqno);

/* Takes the oldest gap. False: there is none. */
bool ctp_ppt_seen_gap(struct ctp_ppt_seen *s, struct ctp_ppt_loss *loss);

#endif
