/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-plan.c - from the members of a frame to the fields of its class, and how each field is filled. */
#include "ppt/ppt-plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/record.h"

/* A class that is being made. */
struct draft {
	const struct ctp_ppt_plan_conf *conf;
	const struct ctp_ppt_frame *of;
	struct ctp_ppt_plan *plan;
	uint32_t masked;
	uint32_t reserved; /* places for fields that are added later and must have room */
	struct ctp_field fields[CTP_FIELDS_MAX];
	char names[CTP_FIELDS_MAX][CTP_NAME_MAX + 1];
};

static bool name_taken(const struct draft *d, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(d->names[i], name))
			return true;
	return false;
}

/*
 * Adds a field and the step that fills it. If the class has no room for it, ppt_raw keeps the whole frame. A field that is
 * predicted costs one bit of a mask with CTP_MASKED_MAX bits.
 */
static void add(struct draft *d, struct ctp_field field, struct ctp_ppt_step step)
{
	uint32_t n = d->plan->nsteps;
	assert(n + d->reserved <= CTP_FIELDS_MAX);
	bool must = step.op == CTP_PPT_OP_OWN_TIME || step.op == CTP_PPT_OP_PLACE || step.op == CTP_PPT_OP_PADDING ||
	            step.op == CTP_PPT_OP_RAW;
	if (!must && n + d->reserved == CTP_FIELDS_MAX) {
		d->plan->has_raw = d->plan->always_raw = true;
		return;
	}
	d->reserved -= must;
	char *name = d->names[n];
	snprintf(name, CTP_NAME_MAX - 8, "%s", field.name);
	size_t len = strlen(name);
	for (unsigned again = 2; name_taken(d, n, name); again++)
		snprintf(name + len, 8, "_%u", again);
	field.name = name;
	if (field.pred == CTP_PRED_PREV && ++d->masked > CTP_MASKED_MAX)
		field.pred = CTP_PRED_NONE;
	d->fields[n] = field;
	d->plan->steps[n] = step;
	d->plan->nsteps++;
}

/* "ev_page_faults": the member's name and the counter's, or the counter's number where that has no name. */
static const char *counter_name(const struct draft *d, const struct ctp_ppt_member *m, char *name, size_t size)
{
	if (m->counter < 0 && m->end == CTP_PPT_ALONE)
		return m->name;
	if (m->counter < 0 || (uint32_t)m->counter >= d->conf->ncounters) {
		snprintf(name, size, m->counter < 0 ? "%s_difference" : "%s_%d", m->base, m->counter);
		return name;
	}
	int len = snprintf(name, size, "%s_", m->base);
	snprintf(name + len, size - (size_t)len, "%s", d->conf->counters[m->counter]);
	for (char *p = name + len; *p; p++)
		*p = *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') ? *p : '_';
	return name;
}

static void add_time(struct draft *d, const struct ctp_ppt_member *m)
{
	struct ctp_ppt_plan *plan = d->plan;
	char name[CTP_NAME_MAX + 1];
	if (!plan->has_time) {
		plan->time = m->offset;
		add(d, (struct ctp_field){.name = m->name, .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME,
		                          .unit = "ns"},
		    (struct ctp_ppt_step){.op = CTP_PPT_OP_OWN_TIME, .offset = m->offset});
	} else {
		add(d, (struct ctp_field){.name = m->name, .type = CTP_I64, .pred = CTP_PRED_PREV, .unit = "ns"},
		    (struct ctp_ppt_step){.op = CTP_PPT_OP_TIME, .offset = m->offset});
	}
	plan->has_time = plan->has_raw = true;
	if (m->end != CTP_PPT_END || m->other < 0)
		return;
	snprintf(name, sizeof name, "%s_duration", m->base);
	add(d, (struct ctp_field){.name = name, .type = CTP_I64, .pred = CTP_PRED_NONE, .unit = "ns"},
	    (struct ctp_ppt_step){.op = CTP_PPT_OP_DURATION, .offset = m->offset, .other = d->of->members[m->other].offset});
}

static void add_counter(struct draft *d, const struct ctp_ppt_member *m)
{
	char name[CTP_NAME_MAX + 1];
	if (m->other < 0) {
		const char *alone = m->end == CTP_PPT_ALONE ? counter_name(d, m, name, sizeof name) : m->name;
		add(d, (struct ctp_field){.name = alone, .type = CTP_U64, .pred = CTP_PRED_PREV},
		    (struct ctp_ppt_step){.op = CTP_PPT_OP_UNSIGNED, .offset = m->offset, .size = m->size});
	} else if (m->end == CTP_PPT_BEGIN) {
		uint32_t end = d->of->members[m->other].offset;
		add(d, (struct ctp_field){.name = counter_name(d, m, name, sizeof name), .type = CTP_I64, .pred = CTP_PRED_PREV},
		    (struct ctp_ppt_step){.op = CTP_PPT_OP_DIFFERENCE, .offset = end, .other = m->offset});
		if (!d->conf->plain)
			add(d, (struct ctp_field){.name = m->name, .type = CTP_U64, .pred = CTP_PRED_PREV,
			                          .flags = CTP_FIELD_EXTRA},
			    (struct ctp_ppt_step){.op = CTP_PPT_OP_START, .offset = m->offset, .other = end});
	}
}

static void add_member(struct draft *d, const struct ctp_ppt_member *m)
{
	static const uint8_t ints[] = {[1] = CTP_I8, [2] = CTP_I16, [4] = CTP_I32, [8] = CTP_I64};
	struct ctp_field field = {.name = m->name, .pred = CTP_PRED_PREV};
	struct ctp_ppt_step step = {.offset = m->offset, .size = m->size};
	switch (m->type) {
	case CTP_PPT_TIME:
		add_time(d, m);
		return;
	case CTP_PPT_COUNTER:
		add_counter(d, m);
		return;
	case CTP_PPT_FLOAT:
	case CTP_PPT_DOUBLE:
		field.type = m->type == CTP_PPT_FLOAT ? CTP_F32 : CTP_F64;
		step.op = CTP_PPT_OP_FLOAT;
		d->plan->has_raw = true;
		break;
	case CTP_PPT_BYTE:
		field.type = m->size == 1 ? CTP_U8 : CTP_BYTES;
		step.op = m->size == 1 ? CTP_PPT_OP_UNSIGNED : CTP_PPT_OP_BYTES;
		break;
	default:
		field.type = ints[m->size];
	}
	add(d, field, step);
}

/* Finds the bytes of no member: padding, the bytes between members, and those after a frame that is smaller than the largest. */
static bool find_padding(struct draft *d)
{
	struct ctp_ppt_plan *plan = d->plan;
	uint32_t at = 0, size = d->conf->layout->size;
	plan->gaps = calloc(d->of->nmembers + 1, sizeof *plan->gaps);
	if (!plan->gaps)
		return false;
	for (uint32_t i = 0; i <= d->of->nmembers; i++) {
		const struct ctp_ppt_member *m = i < d->of->nmembers ? &d->of->members[i] : NULL;
		if (m && m->kind == CTP_PPT_PADDING)
			continue;
		uint32_t upto = m ? m->offset : size;
		if (upto > at) {
			plan->gaps[plan->ngaps++] = (struct ctp_ppt_gap){at, upto - at};
			plan->padding += upto - at;
		}
		at = m ? m->offset + m->size : size;
	}
	return true;
}

/* Gives each string of a record its offset, in step->other. The bytes that all of them take. */
static size_t place_strings(struct ctp_ppt_plan *plan, uint32_t frame_size)
{
	size_t room = 0;
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		struct ctp_ppt_step *s = &plan->steps[i];
		if (s->op == CTP_PPT_OP_PADDING)
			s->size = plan->padding;
		else if (s->op == CTP_PPT_OP_RAW)
			s->size = frame_size;
		else if (s->op != CTP_PPT_OP_BYTES)
			continue;
		s->other = (uint32_t)room;
		room += (sizeof(struct ctp_str) + s->size + 1 + 7) & ~(size_t)7;
	}
	return room;
}

static enum ctp_status make(struct draft *d, size_t *room, struct ctp_err *err)
{
	static const struct ctp_field seqno = {.name = "ppt_seqno", .type = CTP_I32, .role = CTP_ROLE_SEQUENCE,
	                                       .pred = CTP_PRED_KEY};
	struct ctp_field extra = {.name = "ppt_place", .type = CTP_I64, .pred = CTP_PRED_PREV, .flags = CTP_FIELD_EXTRA};
	const struct ctp_ppt_layout *l = d->conf->layout;
	struct ctp_ppt_plan *plan = d->plan;
	char name[CTP_NAME_MAX + 1];
	if (!find_padding(d))
		return ctp_err_memory(err);
	plan->front = d->of->members[d->of->front].offset;
	plan->back = d->of->members[d->of->back].offset;
	d->reserved = 4; /* the time and the extra fields */
	d->masked = 3;   /* the latter */
	add(d, seqno, (struct ctp_ppt_step){.op = CTP_PPT_OP_SIGNED, .offset = plan->front, .size = sizeof(int32_t)});
	for (uint32_t i = 0; i < d->of->nmembers; i++)
		if (d->of->members[i].kind == CTP_PPT_MEMBER)
			add_member(d, &d->of->members[i]);
	d->masked = 0;
	if (!d->conf->plain)
		add(d, extra, (struct ctp_ppt_step){.op = CTP_PPT_OP_PLACE});
	extra.type = CTP_BYTES;
	extra.name = "ppt_padding";
	if (plan->padding && !d->conf->plain)
		add(d, extra, (struct ctp_ppt_step){.op = CTP_PPT_OP_PADDING});
	extra.name = "ppt_raw";
	if (plan->always_raw || (plan->has_raw && !d->conf->plain))
		add(d, extra, (struct ctp_ppt_step){.op = CTP_PPT_OP_RAW});
	*room = place_strings(plan, l->size);
	snprintf(name, sizeof name, "ppt_%s_%s", l->buffer, d->of->name);
	plan->cls = ctp_class_new(name, CTP_KIND_OTHER, d->fields, plan->nsteps, err);
	return plan->cls ? CTP_OK : CTP_FAILED;
}

enum ctp_status ctp_ppt_plan_init(struct ctp_ppt_plan *plan, const struct ctp_ppt_plan_conf *conf, const struct ctp_ppt_frame *of,
                                  size_t *room, struct ctp_err *err)
{
	struct draft *d = calloc(1, sizeof *d);
	if (!d)
		return ctp_err_memory(err);
	d->conf = conf;
	d->of = of;
	d->plan = plan;
	enum ctp_status status = make(d, room, err);
	free(d);
	return status;
}

void ctp_ppt_plan_fini(struct ctp_ppt_plan *plan)
{
	ctp_class_free(plan->cls);
	free(plan->gaps);
}
