/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* diff-own.h - what the files that collect, join and compare share. */
#ifndef CTP_DIFF_OWN_H
#define CTP_DIFF_OWN_H

#include "diff/diff.h"

enum { CTP_DIFF_SITE_MAX = CTP_SITE_SPELLED_MAX + 1 };

/* A place as groups have it: FILE:LINE:FUNCTION without the line. Null: place 0. */
const char *ctp_diff_site(char to[CTP_DIFF_SITE_MAX], const char *place);

/* The part of a site after the last slash of its file. Null: the site has no function, and so its file is not known. */
const char *ctp_diff_base(const char *site);

/*
 * Fills same: of each text, the number of the text that it counts as. sides has a bit for each side that has the text as a site. A
 * site before a change may count as one after it, where the file is in another folder. False: out of memory.
 */
bool ctp_diff_find_moved(const struct ctp_text_table *texts, const uint8_t *sides, uint32_t *same);

/*
 * Fills now: the text by which a place, as the groups have it, is known for each side. It is that of its site, or has a line of the
 * runs after the change. site_of: the site of each place; same: of find_moved. False: out of memory.
 */
bool ctp_diff_find_lines(const struct ctp_diff *d, const uint32_t *site_of, const uint32_t *same,
                         uint32_t *const now[CTP_DIFF_SIDES]);

/* A name as groups have it, each group of digits as *; whether a name is such a one. */
void ctp_diff_name(char to[CTP_FOLLOW_NAME_MAX + 1], const char *name);
bool ctp_diff_is_named(const char *as, const char *name);

/* Adds a finding of a run, or counts it; and what another finding has, which then is gone. */
void ctp_diff_add_finding(struct ctp_diff *d, uint32_t run, const struct ctp_finding *f);

/* Makes groups and findings comparable, counts units, and sorts groups by key, then by run. False: out of memory. */
bool ctp_diff_join(struct ctp_diff *d);

#endif
