/* plain.c - coroTracer's own rows. */
#include "plain.h"

#include <string.h>

#include "events.h"

const struct ctp_field ctp_plain_fields[CTP_PLAIN_FIELDS] = {
	[CTP_PLAIN_PROBE] = {.name = "probe_id", .type = CTP_U64, .role = CTP_ROLE_PROBE, .pred = CTP_PRED_KEY},
	[CTP_PLAIN_TID] = {.name = "tid", .type = CTP_U64, .role = CTP_ROLE_THREAD, .pred = CTP_PRED_SAME},
	[CTP_PLAIN_ADDR] = {.name = "addr", .type = CTP_U64, .role = CTP_ROLE_ADDRESS, .pred = CTP_PRED_STATE,
	                    .flags = CTP_FIELD_HEX},
	[CTP_PLAIN_SEQ] = {.name = "seq", .type = CTP_U64, .role = CTP_ROLE_SEQUENCE, .pred = CTP_PRED_STEP},
	[CTP_PLAIN_ACTIVE] = {.name = "is_active", .type = CTP_BOOL, .role = CTP_ROLE_STATE, .pred = CTP_PRED_TOGGLE},
	[CTP_PLAIN_TS] = {.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME, .unit = "ns"},
};

struct ctp_class *ctp_plain_class(struct ctp_err *err)
{
	return ctp_class_new("transition", CTP_KIND_TRANSITION, ctp_plain_fields, CTP_PLAIN_FIELDS, err);
}

static bool has_these(const struct ctp_class *cls, const struct ctp_field *fields, uint32_t n)
{
	if (cls->nfields != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (ctp_class_field(cls, fields[i].name) < 0)
			return false;
	return true;
}

struct ctp_class *ctp_plain_known(const char *name, const struct ctp_field *fields, uint32_t n)
{
	struct ctp_err ignored;
	for (int event = -1; event < CTP_EVENT_COUNT; event++) {
		struct ctp_class *cls = event < 0 ? ctp_plain_class(&ignored) : ctp_event_class((enum ctp_event)event);
		if (cls && (!name || !strcmp(cls->name, name)) && has_these(cls, fields, n))
			return cls;
		ctp_class_free(cls);
	}
	return NULL;
}

bool ctp_plain_believable(const uint64_t *val)
{
	return val[CTP_PLAIN_PROBE] || (val[CTP_PLAIN_TS] && val[CTP_PLAIN_TID] && val[CTP_PLAIN_TID] <= UINT32_MAX);
}
