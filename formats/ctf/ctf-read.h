/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-read.h - CTF traces, read through libbabeltrace2.
 *
 * A trace that ctp-toctf wrote has the section and the classes in its env, and becomes the same stream again. In any other trace an
 * event class becomes a class, whose fields are
 *
 *	ts             the event's time, if its stream has a clock
 *	packet.X       of the packet's context (cpu_id)
 *	ctx.X          of the stream's and the event's own context
 *	X              of the payload
 *
 * A member b of a structure a is a.b. An array of bytes is bytes, any other array is one text, JSON. A variant v is an enum v,
 * whose label is the selected option, and the fields of all options, v.OPTION; fields of other options are 0 or empty.
 */
#ifndef CTP_CTF_READ_H
#define CTP_CTF_READ_H

#include <babeltrace2/babeltrace.h>

#include "ctf/ctf-values.h"
#include "stream/sink.h"

/* Reads each trace below a folder as a section. tool: the attribute of sections that the trace does not declare. */
struct ctp_source *ctp_ctf_source(const char *tool, struct ctp_err *err);

/* --- between the files --------------------------------------------------------------------------------------------------- */

enum ctp_ctf_take {
	CTP_TAKE_SKIP, CTP_TAKE_BOOL, CTP_TAKE_BITS, CTP_TAKE_UNSIGNED, CTP_TAKE_SIGNED, CTP_TAKE_F32, CTP_TAKE_F64,
	CTP_TAKE_STRING, CTP_TAKE_BYTES, CTP_TAKE_JSON, CTP_TAKE_STRUCT, CTP_TAKE_VARIANT, CTP_TAKE_OPTION,
};

/* How one field of an event is read. */
struct ctp_ctf_node {
	uint8_t step;
	uint32_t field;  /* of the record, for the value; of a variant or option, for the selected one. CTP_FIELDS_MAX: none */
	uint32_t member; /* of the structure above */
	uint32_t nnodes;
	struct ctp_ctf_node *nodes; /* of a structure: its members that are read; of a variant: all options; of an option: one */
};

/* How an event of one class becomes a record. */
struct ctp_ctf_plan {
	const bt_event_class *of;
	struct ctp_class *cls; /* null: there are too many classes, and these events are left out */
	int ts_field;          /* the field of the event's time; -1: none */
	bool sparse;           /* an event may leave fields unset */
	bool has_clock, plain_clock; /* plain: its cycles are the section's nanoseconds */
	struct ctp_ctf_node packet, common, specific, payload;
};

enum { CTP_CTF_PLANS_MAX = 4 * CTP_CLASSES_MAX };

/* The classes of a section. */
struct ctp_ctf_classes {
	const struct ctp_notice *notice;
	bool harmed;       /* a class or a field was left out */
	int64_t origin_ns; /* of the section's clock, from that of the trace's clocks */
	uint32_t nours, nclasses, nplans;
	struct ctp_class *ours[CTP_CLASSES_MAX]; /* as the env declares them, by number; in classes too */
	struct ctp_class *classes[CTP_CLASSES_MAX];
	struct ctp_ctf_plan plans[CTP_CTF_PLANS_MAX];
	struct ctp_ctf_plan *slots[2 * CTP_CTF_PLANS_MAX];
};

/* Takes the class over; returns it, or an equal one that is there already. Null: there are too many. */
struct ctp_class *ctp_ctf_classes_add(struct ctp_ctf_classes *classes, struct ctp_class *cls);
void ctp_ctf_classes_clear(struct ctp_ctf_classes *classes);

/* The plan of an event class, made when it is first seen. Null: there are too many. */
const struct ctp_ctf_plan *ctp_ctf_plan_of(struct ctp_ctf_classes *classes, const bt_event_class *ec);

/* How a field of this class is read, if it has one value; else CTP_TAKE_SKIP. */
enum ctp_ctf_take ctp_ctf_take_of(const bt_field_class *fc);

/* Fills in all fields of a record but its time. False: out of memory. */
bool ctp_ctf_event_take(struct ctp_ctf_values *v, const struct ctp_ctf_plan *plan, const bt_event *event);

#endif
