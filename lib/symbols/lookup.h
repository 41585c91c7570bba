/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * lookup.h - asks module.h in a child process, with limits.
 *
 * Debug information comes from files that anybody may have made, and libdw trusts them: nested scopes overflow its stack, ranges
 * take it hours, a file that is truncated while it is mapped is a SIGBUS. So the parent never opens such a file. A child does, with
 * no descriptor but its socket, and with bounds on CPU time (CTP_LOOKUP_MODULE_S for a module, CTP_LOOKUP_TOTAL_S for all), on time
 * by the clock (CTP_CONFINED_CLOCK_S for a module, CTP_LOOKUP_TOTAL_S for all), on memory (CTP_LOOKUP_BYTES) and on time without
 * progress (CTP_CONFINED_STALL_S). When the child dies, nothing is known of the module
 * that was being looked at, then or later; the next module gets a new child, CTP_LOOKUP_DEATHS of them.
 *
 * The child is made by the first question and ends with the lookup, or when its parent has gone.
 */
#ifndef CTP_LOOKUP_H
#define CTP_LOOKUP_H

#include "symbols/module.h"

enum {
	CTP_LOOKUP_MODULES = 256,
	CTP_LOOKUP_MODULE_S = 10,
	CTP_LOOKUP_TOTAL_S = 120,
	CTP_LOOKUP_DEATHS = 16,
	CTP_LOOKUP_BYTES = 1 << 30,
	CTP_LOOKUP_PATH_MAX = 4096, /* of a module's path; a longer one is not looked up */
	CTP_LOOKUP_ID_MAX = 64,     /* of a build-id, likewise */
};

struct ctp_lookup;

struct ctp_lookup *ctp_lookup_new(void); /* null: out of memory */
void ctp_lookup_free(struct ctp_lookup *l); /* null: nothing */

/* The child ends and all modules are forgotten, dead ones too. */
void ctp_lookup_forget(struct ctp_lookup *l);

/*
 * ctp_module_find in the module of this number, below CTP_LOOKUP_MODULES. The caller says the same want with each question of a
 * number, and the same dirs with all of them.
 */
bool ctp_lookup_find(struct ctp_lookup *l, uint32_t number, const struct ctp_module_want *want, const struct ctp_module_at *at,
                     struct ctp_module_place *place);

#endif
