/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * filter-held.h - copies of records that are written only if another record needs them, in the order in which they came.
 *
 * Each has a slot, a number of the owner's. A list has few records, so a slot is found by looking at all of them.
 */
#ifndef CTP_FILTER_HELD_H
#define CTP_FILTER_HELD_H

#include "stream/record.h"

struct ctp_filter_held {
	struct ctp_filter_held *next;
	struct ctp_record rec; /* its values are in memory of this struct */
	uint64_t number;       /* counts all records that were ever held */
	uint8_t slot;
	uint32_t room;         /* bytes of values and texts */
	size_t *used;          /* the owner's: all bytes that are held */
	uint64_t val[];
};

struct ctp_filter_list {
	struct ctp_filter_held *first;
};

/*
 * Copies the record to the end of the list, and adds its bytes to *used until it is dropped. again: in place of one in the same
 * slot. False: out of memory.
 */
bool ctp_filter_hold(struct ctp_filter_list *l, const struct ctp_record *rec, uint8_t slot, bool again, uint64_t number,
                     size_t *used);

struct ctp_filter_held *ctp_filter_held_in(const struct ctp_filter_list *l, uint8_t slot); /* the first; or null */
void ctp_filter_drop(struct ctp_filter_list *l, uint32_t slots); /* those in the slots whose bits are set */
void ctp_filter_drop_all(struct ctp_filter_list *l);

#endif
