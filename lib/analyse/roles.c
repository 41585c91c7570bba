/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* roles.c - looks for the fields. */
#include "analyse/roles.h"

#include "stream/sink.h"

static int16_t number_field(const struct ctp_class *cls, int field)
{
	if (field < 0 || field > INT16_MAX)
		return CTP_ROLES_NONE;
	unsigned type = cls->fields[field].type;
	return ctp_type_is_text(type) || ctp_type_is_float(type) ? CTP_ROLES_NONE : (int16_t)field;
}

int16_t ctp_roles_named(const struct ctp_class *cls, const char *name) { return number_field(cls, ctp_class_field(cls, name)); }

static int16_t with_role(const struct ctp_class *cls, enum ctp_role role)
{
	return number_field(cls, ctp_class_role(cls, role));
}

/* Whether all fields that a transition needs are where the standard has them. */
static bool is_standard(const struct ctp_roles *roles)
{
	const struct ctp_roles *std = &ctp_roles_standard;
	return roles->kind == std->kind && roles->numbered && roles->id == std->id && roles->probe == std->probe &&
	       roles->ts == std->ts && roles->tid == std->tid && roles->addr == std->addr && roles->index == std->index && roles->active == std->active &&
	       roles->site == std->site;
}

void ctp_roles_learn(struct ctp_roles *roles, const struct ctp_class *cls)
{
	int text = ctp_class_role(cls, CTP_ROLE_NAME);
	*roles = (struct ctp_roles){
		.known = true,
		.kind = cls->kind,
		.missed = ctp_class_is_missed(cls),
		.id = with_role(cls, CTP_ROLE_COROUTINE),
		.probe = with_role(cls, CTP_ROLE_PROBE),
		.ts = (int16_t)cls->time_field,
		.tid = with_role(cls, CTP_ROLE_THREAD),
		.addr = with_role(cls, CTP_ROLE_ADDRESS),
		.index = ctp_roles_named(cls, "index"),
		.active = with_role(cls, CTP_ROLE_STATE),
		.site = with_role(cls, CTP_ROLE_SITE),
		.pid = with_role(cls, CTP_ROLE_PROCESS),
		.text = text >= 0 && cls->fields[text].type == CTP_STRING ? (int16_t)text : CTP_ROLES_NONE,
		.what = ctp_roles_named(cls, "for"),
#define NAMED(name) .name = ctp_roles_named(cls, #name),
		CTP_ROLES_NAMED(NAMED)
	};
	roles->numbered = roles->index != CTP_ROLES_NONE;
	if (!roles->numbered)
		roles->index = with_role(cls, CTP_ROLE_SEQUENCE);
	if (roles->id == CTP_ROLES_NONE)
		roles->id = roles->probe;
	roles->standard = is_standard(roles);
}
