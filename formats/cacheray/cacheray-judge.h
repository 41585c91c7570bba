/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacheray-judge.h - which bytes of a Cacheray trace are records.
 *
 * The usual runtime writes each field by itself and takes no lock, so that records of two threads are mixed field by field. Nothing
 * in the format tells; what tells is that what follows makes no sense. Of a record
 *	- a tag of no record, flags on an add or a remove, a name longer than CTP_CACHERAY_NAME_MAX, and an access of nothing at the
 *	  address 0, as zeros have it, are bad;
 *	- a size that no access had so far (1, 2, 4, 8 and 16 are usual), a thread that can be made of another's id and some bytes or
 *	  is no number that a system gives, and a type without a name, with control characters or of no bytes are doubtful, and two
 *	  of them together bad;
 *	- an address that is not aligned to the access, which does not say so, or that no processor takes is doubtful the first time.
 * A doubtful record is taken where eight whole ones follow it, or whole ones up to the end: then it has the right length. This does
 * not hold for a type, whose name may contain records. If others follow, it is taken where no bad one follows within
 * CTP_CACHERAY_WINDOW bytes, or where its size or large thread comes again twice before that: then it is as the program wants it.
 * Else the damage begins with it. After many records whose threads are 0, as the usual runtime writes them, or numbers of a system, a
 * doubtful thread also has to come again, or others to come; and so has a name with control characters. So has always a size that is
 * not usual, up to the first that was taken.
 * cacheray-plan.h compares what follows with other ways to read it.
 */
#ifndef CTP_CACHERAY_JUDGE_H
#define CTP_CACHERAY_JUDGE_H

#include "base/distinct.h"
#include "cacheray/cacheray-bytes.h"

enum { CTP_CACHERAY_WINDOW = 64 << 10, CTP_CACHERAY_REST = 4096 /* zeros after which no record is expected */ };

/* What comes after the bytes at hand. */
enum ctp_cacheray_after { CTP_AFTER_MORE, CTP_AFTER_LATER /* nobody knows when */, CTP_AFTER_NOTHING };

/* Zeros and a spelling, to begin with. */
struct ctp_cacheray_judge {
	struct ctp_cacheray_spelling spelling;
	struct ctp_distinct threads;
	uint64_t taken;      /* records */
	uint64_t last;       /* thread of the record that was taken last */
	uint64_t sizes[4];   /* bits: unusual ones that were taken */
	bool odd_sizes;      /* there are such */
	bool misaligned;     /* accesses that are not aligned are not always flagged */
	bool large;          /* threads have other numbers than a system gives */
	bool odd_names;      /* names have control characters */
	bool wild;           /* addresses have something in their upper bits */
	uint64_t clean_upto; /* offset of a record up to which none is bad; 0: not known */
};

void ctp_cacheray_judge_init(struct ctp_cacheray_judge *j, struct ctp_cacheray_spelling spelling);
void ctp_cacheray_judge_fini(struct ctp_cacheray_judge *j);

/* A record of this thread was taken. */
bool ctp_cacheray_judge_knows(const struct ctp_cacheray_judge *j, uint64_t thread);

/* Of the record at p, of which that much is there. */
uint64_t ctp_cacheray_judge_thread(const struct ctp_cacheray_judge *j, const uint8_t *p);

/* The length of the record at p; 0: its tag or its name can be of none. *at_hand: all of it is there. */
size_t ctp_cacheray_judge_length(const struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail, bool *at_hand);

enum ctp_cacheray_verdict { CTP_RECORD_WHOLE, CTP_RECORD_DOUBTFUL, CTP_RECORD_BAD, CTP_RECORD_SHORT };

/* Of the record at p, of which avail > 0 bytes are at hand; bytes is its length, unless it is bad or short. */
enum ctp_cacheray_verdict ctp_cacheray_judge_record(const struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail,
                                                    size_t *bytes);

/* What is wrong with a record that is not whole. */
void ctp_cacheray_judge_why(const struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail, struct ctp_err *why);

enum ctp_cacheray_answer { CTP_ANSWER_YES, CTP_ANSWER_NO, CTP_ANSWER_WAIT };

/* Whether to take a doubtful record, which stands at this offset. */
enum ctp_cacheray_answer ctp_cacheray_judge_take(struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail, uint64_t offset,
                                                 enum ctp_cacheray_after after);

/* Whether records begin again at p, after damage. */
enum ctp_cacheray_answer ctp_cacheray_judge_resume(struct ctp_cacheray_judge *j, const uint8_t *p, size_t avail,
                                                   enum ctp_cacheray_after after);

/* The record at p was taken. */
void ctp_cacheray_judge_learn(struct ctp_cacheray_judge *j, const uint8_t *p);

/* The spelling by the first bytes of a trace: of those that `open` leaves open the one that makes most sense of them. */
struct ctp_cacheray_spelling ctp_cacheray_guess(struct ctp_cacheray_spelling open, const uint8_t *p, size_t avail);

#endif
