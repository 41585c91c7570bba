/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* tally-own.h - what tally.c, tally-table.c and tally-wakes.c use of each other. */
#ifndef CTP_TALLY_OWN_H
#define CTP_TALLY_OWN_H

#include "analyse/tally.h"

enum { CTP_TALLY_LATE_NS = 100000000 }; /* the shortest wait that can be late */

/* The entry of a place that has none yet, and that of a spawn place; where the table is full, the one of all others. */
struct ctp_tally_place *ctp_tally_place_new(struct ctp_tally *t, uint32_t place);
struct ctp_tally_spawn *ctp_tally_spawn_of(struct ctp_tally *t, uint32_t place);

/* Puts a case into the list, if it is worse than the mildest there. Returns its number + 1; 0: it is not in the list. */
uint32_t ctp_tally_put(struct ctp_tally *t, struct ctp_tally_list *l, const struct ctp_coroutine *co, struct ctp_tally_case c);

/* A coroutine was woken (tally-wakes.c). */
void ctp_tally_woken(struct ctp_tally *t, const struct ctp_change *ch);

#endif
