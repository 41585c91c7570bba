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
		.parent = ctp_roles_named(cls, "parent"),
		.pid = with_role(cls, CTP_ROLE_PROCESS),
		.by = ctp_roles_named(cls, "by"),
		.text = text >= 0 && cls->fields[text].type == CTP_STRING ? (int16_t)text : CTP_ROLES_NONE,
		.code = ctp_roles_named(cls, "code"),
		.target = ctp_roles_named(cls, "target"),
		.after = ctp_roles_named(cls, "after"),
		.before = ctp_roles_named(cls, "before"),
		.transitions = ctp_roles_named(cls, "transitions"),
		.how = ctp_roles_named(cls, "how"),
		.joins = ctp_roles_named(cls, "joins"),
		.by_hand = ctp_roles_named(cls, "by_hand"),
		.what = ctp_roles_named(cls, "for"),
		.deadline = ctp_roles_named(cls, "deadline"),
		.fd = ctp_roles_named(cls, "fd"),
		.object = ctp_roles_named(cls, "object"),
		.count = ctp_roles_named(cls, "count"),
		.marks = ctp_roles_named(cls, "marks"),
		.available = ctp_roles_named(cls, "available"),
		.unread = ctp_roles_named(cls, "unread"),
		.unsent = ctp_roles_named(cls, "unsent"),
		.ended = ctp_roles_named(cls, "ended"),
		.type = ctp_roles_named(cls, "type"),
	};
	roles->numbered = roles->index != CTP_ROLES_NONE;
	if (!roles->numbered)
		roles->index = with_role(cls, CTP_ROLE_SEQUENCE);
	if (roles->id == CTP_ROLES_NONE)
		roles->id = roles->probe;
	roles->standard = is_standard(roles);
}
