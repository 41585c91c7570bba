/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * row-sort.h - records that wait to be put in order: a fixed number of rows, filled as they are found and left sorted by time.
 */
#ifndef CTP_ROW_SORT_H
#define CTP_ROW_SORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "stream/events.h"

enum { CTP_ROW_SORT_BITS = 13, CTP_ROW_SORT_ROWS = 1 << CTP_ROW_SORT_BITS };

/* As large as the class with the most fields has them; but for the end, which waits for nothing, and for the two of ctp-merge. */
union ctp_row_fields {
	char transition[CTP_TRANSITION_FIELDS], birth[CTP_BIRTH_FIELDS], death[CTP_DEATH_FIELDS], lost[CTP_LOST_FIELDS],
		thread[CTP_THREAD_FIELDS], mapping[CTP_MAPPING_FIELDS], untraced[CTP_UNTRACED_FIELDS],
		conflict[CTP_CONFLICT_FIELDS], wake[CTP_WAKE_FIELDS], name[CTP_NAME_FIELDS],
		place[CTP_SITE_FIELDS], missed[CTP_MISSED_FIELDS], await[CTP_AWAIT_FIELDS], function[CTP_FUNCTION_FIELDS],
		process[CTP_PROCESS_FIELDS], sample[CTP_SAMPLE_FIELDS], signal[CTP_SIGNAL_FIELDS], reason[CTP_REASON_FIELDS],
		object[CTP_OBJECT_FIELDS], object_name[CTP_OBJECT_NAME_FIELDS], hold[CTP_HOLD_FIELDS],
		wake_for[CTP_WAKE_FOR_FIELDS], descriptor[CTP_DESCRIPTOR_FIELDS], clock[CTP_CLOCK_FIELDS];
};
_Static_assert(CTP_EVENT_COUNT == 31, "each class of events.h is one of those, but for the end and what a filter or a merge writes");

/* One record, of whatever class. */
struct ctp_row {
	uint64_t val[sizeof(union ctp_row_fields)];
};

struct ctp_row_sort {
	uint32_t count;
	bool sorted;       /* after a sort: the rows are in order as they stand */
	struct ctp_row *rows;
	uint8_t *event;    /* enum ctp_event of each row */
	uint64_t *ts_ns;   /* time of each row */
	uint64_t *order;   /* after a sort, if they are not: their numbers, in the low CTP_ROW_SORT_BITS bits */
	uint64_t *scratch;
	uint32_t (*digits)[2048];
};

enum ctp_status ctp_row_sort_init(struct ctp_row_sort *sort, struct ctp_err *err);
void ctp_row_sort_fini(struct ctp_row_sort *sort);

/*
 * Finds the order by time; equal times keep the order in which they came. now_ns is about the time of the newest honest row:
 * what lies more than about 13 days from it is a wrong time, sorted as if it were that far.
 */
void ctp_row_sort_sort(struct ctp_row_sort *sort, uint64_t now_ns);

/* The row that is the i-th in order. */
static inline uint32_t ctp_row_sort_at(const struct ctp_row_sort *sort, uint32_t i)
{
	return sort->sorted ? i : sort->order[i] & (CTP_ROW_SORT_ROWS - 1);
}

#endif
