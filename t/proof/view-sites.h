/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-sites.h - the places in the code where an order is chosen, each by the address of its call, and the orders that a mutant
 * gives them instead.
 */
#ifndef CTP_VIEW_SITES_H
#define CTP_VIEW_SITES_H

#include <stdbool.h>
#include <stdint.h>

enum view_kind { VIEW_LOAD, VIEW_STORE, VIEW_CHANGE, VIEW_FAILURE, VIEW_FENCE, VIEW_MEMBARRIER, VIEW_KINDS };
enum { VIEW_NONE = -1, VIEW_SITES = 4096 }; /* VIEW_NONE, of a fence or a membarrier: it is left out */

struct view_site {
	const void *at; /* the address after the call */
	enum view_kind kind;
	int order, now; /* as it is written, and as it is in this mutant */
	uint64_t worlds; /* that came here: a bit for each */
};
extern uint64_t view_world; /* the bit of the one that runs */
extern struct view_site view_sites[VIEW_SITES]; /* a hash table: at is null where there is none */

/* The order that an access at this place has now. */
int view_order(const void *at, enum view_kind kind, int order);

/* view-mutants.c: prints the places where an order is chosen; tries all mutants. Both need runs in all worlds before. */
struct view_budget {
	uint64_t steps;  /* in each world, until a mutant is taken for a survivor */
	const char *survivors; /* a file: those that are known to survive, and why; null: none */
	const char *program;
	const char *only; /* a part of the names of mutants; null: all */
};
void view_sites_print(const char *program);
int view_mutants(const struct view_budget *budget);

/* view-main.c: runs worlds whose bit is set until something fails, or that many steps each. Returns the failure, or null. */
struct view_kill {
	char world[32], reason[300];
	uint64_t seed, runs, failed;
};
bool view_try(uint64_t worlds, uint64_t steps, uint64_t seed, struct view_kill *kill);

#endif
