/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* about.h - a section as a record, for formats in which sections are a table like any other. */
#ifndef CTP_ABOUT_H
#define CTP_ABOUT_H

#include "stream/record.h"

enum { CTP_ABOUT_START, CTP_ABOUT_HAS_START, CTP_ABOUT_HOST, CTP_ABOUT_PID, CTP_ABOUT_ARGV, CTP_ABOUT_TOOL, CTP_ABOUT_CLOCK,
       CTP_ABOUT_HAS_WALL, CTP_ABOUT_WALL, CTP_ABOUT_INPUT, CTP_ABOUT_COMPLETE, CTP_ABOUT_ATTRS, CTP_ABOUT_FIELDS };

/* The fields of the class `sections`; a format may add its own. */
extern const struct ctp_field ctp_about_fields[CTP_ABOUT_FIELDS];

/*
 * The values, of which fini frees the texts. attrs: as ctp_meta_attrs has them. input: a path, or null. False: out of memory; the
 * fini is due all the same.
 */
bool ctp_about_fill(uint64_t val[CTP_ABOUT_FIELDS], const struct ctp_section *sec, const char *attrs, const char *input, bool complete);
void ctp_about_fini(uint64_t val[CTP_ABOUT_FIELDS]);

/*
 * When the section began, in seconds since 1970: as it says, or with its first record, which may be null. False: that is not known, or
 * not in the years 0 to 9999.
 */
bool ctp_about_began(const struct ctp_section *sec, const struct ctp_record *first, int64_t *wall_s);

#endif
