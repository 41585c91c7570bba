/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * roles.h - the fields of a class by their meaning, found once by role and by name.
 */
#ifndef CTP_ROLES_H
#define CTP_ROLES_H

#include "stream/events.h"

enum { CTP_ROLES_NONE = -1 }; /* the class has no such field, or the field is no whole number */

/* Fields that are called as in the class. */
#define CTP_ROLES_NAMED(FIELD) \
	FIELD(parent) FIELD(by) FIELD(code) FIELD(target) FIELD(after) FIELD(transitions) FIELD(how) FIELD(joins) FIELD(by_hand) \
	FIELD(deadline) FIELD(fd) FIELD(object) FIELD(count) FIELD(marks) FIELD(available) FIELD(unread) FIELD(unsent) \
	FIELD(ended) FIELD(type) FIELD(side) FIELD(last)

struct ctp_roles {
	bool known, standard;
	uint8_t kind;
	bool numbered; /* index is the number of an event of its coroutine, not the sequence of a slot */
	bool missed;   /* ctp_class_is_missed */
	int16_t id, probe, ts, tid, addr, index, active, site, pid, text, what;
#define CTP_ROLES_FIELD(name) int16_t name;
	CTP_ROLES_NAMED(CTP_ROLES_FIELD)
#undef CTP_ROLES_FIELD
};

/* The transition that ctp-collect writes: a constant, so that the compiler leaves out what the class does not need. */
static const struct ctp_roles ctp_roles_standard = {
	.known = true,
	.kind = CTP_KIND_TRANSITION,
	.numbered = true,
	.id = CTP_TRANSITION_CORO,
	.probe = CTP_TRANSITION_PROBE,
	.ts = CTP_TRANSITION_TS,
	.tid = CTP_TRANSITION_TID,
	.addr = CTP_TRANSITION_ADDR,
	.index = CTP_TRANSITION_INDEX,
	.active = CTP_TRANSITION_ACTIVE,
	.site = CTP_TRANSITION_SITE,
};

void ctp_roles_learn(struct ctp_roles *roles, const struct ctp_class *cls);
int16_t ctp_roles_named(const struct ctp_class *cls, const char *name); /* the field of this name, if it is a whole number */

static inline uint64_t ctp_roles_value(const uint64_t *val, int16_t field) { return field == CTP_ROLES_NONE ? 0 : val[field]; }

#endif
