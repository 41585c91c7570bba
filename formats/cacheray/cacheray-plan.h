/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacheray-plan.h - which bytes of a part of a Cacheray trace are best taken for records, and which for damage.
 *
 * After damage, records of a wrong phase may follow each other for ever, none of them bad by itself. So all phases are compared over
 * many records. A record has a price in bits, the lower the more of it is known: its thread, its size, the place of its address, its
 * neighbour. A byte of damage costs 8, and so does each of its ends some. The plan is the cheapest way to read the part.
 */
#ifndef CTP_CACHERAY_PLAN_H
#define CTP_CACHERAY_PLAN_H

#include "cacheray/cacheray-judge.h"

enum {
	CTP_CACHERAY_PLAN = 32 << 10, /* bytes that a plan is made of, where they are there */
	CTP_CACHERAY_AHEAD = 12 << 10, /* of them after a byte that it is asked of */
	CTP_CACHERAY_PAGES = 4096,
	CTP_CACHERAY_AREAS = 256,
};

/* Zeros, to begin with, up to what there is of each byte. */
struct ctp_cacheray_plan {
	uint64_t page[CTP_CACHERAY_PAGES]; /* numbers from 1 on; 0: none */
	uint64_t area[CTP_CACHERAY_AREAS];
	uint64_t from, upto, end; /* offsets: it was made of [from, end), and is good up to upto */
	uint32_t record[CTP_CACHERAY_PLAN + 1]; /* price of the rest, if it begins with a record */
	uint32_t damage[CTP_CACHERAY_PLAN + 1]; /* or within damage */
	uint32_t name[CTP_CACHERAY_PLAN + 1];   /* of the bytes before, as those of a name */
	uint8_t mark[CTP_CACHERAY_PLAN];
};

/* Learns of the first bytes of a trace which threads it has, if any come again and again, so that its first record can be judged. */
void ctp_cacheray_plan_begin(struct ctp_cacheray_plan *plan, struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail);

/* An access of this address was taken. Some of many are enough. */
void ctp_cacheray_plan_learn(struct ctp_cacheray_plan *plan, uint64_t address);

/* There is a plan for the byte at this offset, which is p. False: not enough is at hand. */
bool ctp_cacheray_plan_make(struct ctp_cacheray_plan *plan, const struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail,
                            uint64_t offset, enum ctp_cacheray_after after);

/* Of a byte that there is a plan for: records go on there after damage; or a record there, after records, is damage. */
bool ctp_cacheray_plan_resumes(const struct ctp_cacheray_plan *plan, uint64_t offset);
bool ctp_cacheray_plan_breaks(const struct ctp_cacheray_plan *plan, uint64_t offset);

#endif
