/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-which.c - counts sections and origins. */
#include "report/report-which.h"

#include <stdio.h>
#include <string.h>

enum { NAMED = 8 };

/* Whether a section of the report is another origin of the merged section that the one before is from. */
static bool goes_on(const struct ctp_report *r, uint32_t i)
{
	return i && r->sections[i].origin_number && r->sections[i].origin_section == r->sections[i - 1].origin_section;
}

/* Sections of the stream. */
static uint64_t sections_of(const struct ctp_report *r)
{
	uint64_t n = r->sections_seen;
	for (uint32_t i = 0; i < r->nsections; i++)
		n -= goes_on(r, i);
	return n;
}

static bool is_one_merge(const struct ctp_report *r) { return r->nsections && r->sections[0].origin_number && sections_of(r) == 1; }

static uint32_t section_number(const struct ctp_report *r, uint32_t i)
{
	uint32_t number = 0;
	for (uint32_t k = 0; k <= i; k++)
		number += !goes_on(r, k);
	return number;
}

/* "origin 1 of 2"; of an origin that was merged more than once, "origin 11 (1 of 2)". */
static void put_origin(char *to, size_t size, const struct ctp_report *r, uint32_t i)
{
	uint64_t count = 0, at = 0, number = r->sections[i].origin_number;
	bool in_turn = true;
	for (uint32_t k = 0; k < r->nsections; k++)
		if (r->sections[k].origin_number && r->sections[k].origin_section == r->sections[i].origin_section) {
			in_turn &= r->sections[k].origin_number == ++count;
			at += k <= i;
		}
	snprintf(to, size, in_turn ? "rigin %ju of %ju" : "rigin %ju (%ju of %ju)", number, in_turn ? count : at, count);
}

const char *ctp_which_title(char to[CTP_PRINT_LINE_MAX], const struct ctp_report *r, uint32_t i)
{
	char origin[CTP_PRINT_LINE_MAX / 4];
	bool merged = r->sections[i].origin_number, one = is_one_merge(r);
	put_origin(origin, sizeof origin, r, i);
	if (r->sections_seen < 2)
		*to = '\0';
	else if (one)
		snprintf(to, CTP_PRINT_LINE_MAX, "O%s", origin);
	else
		snprintf(to, CTP_PRINT_LINE_MAX, "Section %u of %ju%s%s", section_number(r, i), (uintmax_t)sections_of(r),
		         merged ? ", o" : "",
		         merged ? origin : "");
	return to;
}

const char *ctp_which_all(char to[CTP_PRINT_LINE_MAX], const struct ctp_report *r)
{
	char n[CTP_PRINT_NUMBER_MAX];
	bool one = is_one_merge(r);
	snprintf(to, CTP_PRINT_LINE_MAX, "%s %s", ctp_print_count(n, one ? r->sections_seen : sections_of(r)),
	         one ? "origins" : "sections");
	return to;
}

/* Of several sections, some of which were merged: "1 (origin 2)". */
static int put_number(char *to, size_t size, const struct ctp_report *r, uint32_t i, bool one)
{
	uint64_t origin = r->sections[i].origin_number;
	if (one)
		return snprintf(to, size, "%ju", origin);
	return snprintf(to, size, origin ? "%u (origin %ju)" : "%u", section_number(r, i), origin);
}

const char *ctp_which_found(char to[CTP_PRINT_LINE_MAX], const struct ctp_report *r)
{
	unsigned named = 0, with = 0;
	bool one = is_one_merge(r);
	for (uint32_t i = 0; i < r->nsections; i++)
		with += r->sections[i].nfindings > 0;
	*to = '\0';
	if (with)
		snprintf(to, CTP_PRINT_LINE_MAX, "in %s%s ", one ? "origin" : "section", with > 1 ? "s" : "");
	for (uint32_t i = 0; i < r->nsections && named < NAMED; i++)
		if (r->sections[i].nfindings) {
			size_t len = strlen(to);
			if (named++)
				len += (size_t)snprintf(to + len, CTP_PRINT_LINE_MAX - len, ", ");
			put_number(to + len, CTP_PRINT_LINE_MAX - len, r, i, one);
		}
	if (with > named)
		strncat(to, " and others", CTP_PRINT_LINE_MAX - strlen(to) - 1);
	return to;
}
