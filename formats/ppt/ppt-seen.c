/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-seen.c - which sequence numbers of a buffer were seen. */
#include "ppt/ppt-seen.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/crc32c.h"

static struct ctp_ppt_run *last_run(struct ctp_ppt_seen *s) { return s->nruns ? &s->runs[s->nruns - 1] : NULL; }

/* The number without wrapping: of all that could be meant, the one nearest to the largest that was seen. */
static int64_t unwrap(struct ctp_ppt_seen *s, int32_t seqno)
{
	int64_t near = s->nruns ? last_run(s)->last : 0;
	return near + (int32_t)((uint32_t)seqno - (uint32_t)near);
}

/* The first run that ends at a number or after it. */
static uint32_t find_run(const struct ctp_ppt_seen *s, int64_t number)
{
	uint32_t i;
	CTP_ARRAY_FIRST(i, s->nruns, s->runs[i].last >= number);
	return i;
}

static void drop_run(struct ctp_ppt_seen *s, uint32_t i)
{
	memmove(&s->runs[i], &s->runs[i + 1], (s->nruns - i - 1) * sizeof *s->runs);
	s->nruns--;
}

/* A number that lies in no run, before run i. */
static void insert(struct ctp_ppt_seen *s, uint32_t i, int64_t number)
{
	struct ctp_ppt_run *before = i ? &s->runs[i - 1] : NULL, *after = i < s->nruns ? &s->runs[i] : NULL;
	s->number = number;
	if (before && before->last + 1 == number) {
		before->last = number;
		s->touched = before;
		if (after && after->first == number + 1) {
			before->last = after->last;
			before->last_ns = after->last_ns;
			drop_run(s, i);
		}
	} else if (after && after->first == number + 1) {
		after->first = number;
		s->touched = after;
	} else {
		memmove(&s->runs[i + 1], &s->runs[i], (s->nruns - i) * sizeof *s->runs);
		s->runs[i] = (struct ctp_ppt_run){.first = number, .last = number};
		s->touched = &s->runs[i];
		s->nruns++;
	}
}

bool ctp_ppt_seen_add(struct ctp_ppt_seen *s, int32_t seqno)
{
	int64_t number = unwrap(s, seqno);
	struct ctp_ppt_run *last = last_run(s);
	assert(!ctp_ppt_seen_full(s)); /* the caller has taken a gap then */
	if (last && number == last->last + 1) {
		s->number = last->last = number;
		s->touched = last;
		return true;
	}
	uint32_t i = find_run(s, number);
	if (i < s->nruns && s->runs[i].first <= number)
		return false;
	insert(s, i, number);
	return true;
}

void ctp_ppt_seen_time(struct ctp_ppt_seen *s, uint64_t ts_ns)
{
	assert(s->touched && s->touched->first <= s->number && s->touched->last >= s->number);
	if (s->touched->first == s->number)
		s->touched->first_ns = ts_ns;
	if (s->touched->last == s->number)
		s->touched->last_ns = ts_ns;
}

/* Never 0. */
static uint64_t sum_of(int32_t seqno, const uint8_t *bytes, size_t len)
{
	return (uint64_t)(uint32_t)seqno << 32 | ctp_crc32c(0, bytes, len) | 1;
}

void ctp_ppt_seen_sum(struct ctp_ppt_seen *s, int32_t seqno, const uint8_t *bytes, size_t len)
{
	s->sums[(uint32_t)seqno % CTP_PPT_SUMS] = sum_of(seqno, bytes, len);
}

bool ctp_ppt_seen_differs(const struct ctp_ppt_seen *s, int32_t seqno, const uint8_t *bytes, size_t len)
{
	uint64_t then = s->sums[(uint32_t)seqno % CTP_PPT_SUMS];
	return then && then >> 32 == (uint32_t)seqno && then != sum_of(seqno, bytes, len);
}

void ctp_ppt_seen_torn(struct ctp_ppt_seen *s, int32_t seqno)
{
	int64_t number = unwrap(s, seqno);
	for (uint32_t i = 0; i < s->ntorn; i++)
		if (s->torn[i] == number)
			return;
	if (s->ntorn < CTP_PPT_TORN_MAX)
		s->torn[s->ntorn++] = number;
}

bool ctp_ppt_seen_next(const struct ctp_ppt_seen *s, int32_t seqno)
{
	return s->nruns && (uint32_t)s->runs[s->nruns - 1].last + 1 == (uint32_t)seqno;
}

/* The torn frames with a number in [first, upto). They are forgotten, and so are earlier ones. */
static uint64_t take_torn(struct ctp_ppt_seen *s, int64_t first, int64_t upto)
{
	uint64_t n = 0;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->ntorn; i++) {
		n += s->torn[i] >= first && s->torn[i] < upto;
		if (s->torn[i] >= upto)
			s->torn[kept++] = s->torn[i];
	}
	s->ntorn = kept;
	return n;
}

bool ctp_ppt_seen_gap(struct ctp_ppt_seen *s, struct ctp_ppt_loss *loss)
{
	if (s->nruns < 2)
		return false;
	struct ctp_ppt_run *a = &s->runs[0], *b = &s->runs[1];
	*loss = (struct ctp_ppt_loss){
		.seqno = (int32_t)(uint32_t)(a->last + 1),
		.count = (uint64_t)(b->first - a->last - 1),
		.unverified = take_torn(s, a->last + 1, b->first),
		.after_ns = a->last_ns,
		.ts_ns = b->first_ns,
	};
	b->first = a->first;
	b->first_ns = a->first_ns;
	drop_run(s, 0);
	return true;
}
