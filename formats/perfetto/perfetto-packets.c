/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto-packets.c - the form for Perfetto: TracePackets.
 *
 * A section is a sequence of its own, so that numbers of names begin anew. Most times are differences to the packet before, on the
 * clock DELTA. What is known late has a time on the clock LATE, as a difference to the late packet before; or on SINCE, counted
 * from the begin of the section, if that was later; or on MONOTONIC, if it is earlier than the section. A ClockSnapshot ties these
 * clocks to BOOTTIME, on which Perfetto has all times. It is not the machine's, but the same as the monotonic clock of the first
 * section; so times in SQL are those of the stream.
 *
 * Each byte counts, for there are several packets for an event of the stream. So only packets with new texts have the flag that
 * they need what came before: a file has all of it.
 *
 * Perfetto refuses snapshots that go back in time. The snapshot of a section that is older than one before has the time of that,
 * and all times of the section are on MONOTONIC.
 */
#include <stdlib.h>

#include "base/compare.h"
#include "perfetto/perfetto-form.h"
#include "perfetto/perfetto-proto.h"

enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6, DELTA = 64, SINCE = 65, LATE = 66 }; /* from 64 on they are a sequence's own */

/* Numbers of fields, of the messages of the same names. */
enum { TRACE_PACKET = 1 };
enum { PACKET_CLOCK_SNAPSHOT = 6, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_INTERNED = 12,
       PACKET_FLAGS = 13, PACKET_CLOCK = 58, PACKET_DEFAULTS = 59, PACKET_TRACK = 60 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS = 2 };
enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58, EVENT_DEFAULTS_COUNTERS = 31 };
enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_IS_DELTA = 3 };
enum { INTERNED_NAME = 2, INTERNED_KEY = 3, INTERNED_VALUE = 29, INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum { EVENT_ARG = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11, EVENT_COUNTERS = 12, EVENT_COUNTER = 30, EVENT_FLOW = 47,
       EVENT_FLOW_ENDS = 48, EVENT_CORRELATION = 52 };
enum { TYPE_COUNTER = 4 };
enum { ARG_KEY = 1, ARG_NUMBER = 3, ARG_TEXT = 6, ARG_VALUE = 17 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8,
       TRACK_ORDERING = 11, TRACK_RANK = 12, TRACK_MERGING = 15 };
enum { ORDER_BY_RANK = 3, NEVER_MERGE = 2 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

enum {
	EVENT_ROOM = 256 + CTP_PERFETTO_ARGS * (CTP_PERFETTO_TEXT_MAX + 3 * CTP_PROTO_HEAD_MAX),
	INTERNED_ROOM = (CTP_PERFETTO_ARGS + 1) * (CTP_PERFETTO_TEXT_MAX + 3 * CTP_PROTO_HEAD_MAX),
	PACKET_ROOM = EVENT_ROOM + INTERNED_ROOM + 256,
};

/* Of an event in place: see short_event. */
enum {
	SHORT_ARGS = 3,
	SHORT_EVENT_MAX = 2 + 6 + 6 + 12 + 10 + 11 + SHORT_ARGS * 15,
	SHORT_MAX = 2 + 6 + 11 + 3 + 2 + SHORT_EVENT_MAX,
};
_Static_assert(SHORT_EVENT_MAX < 0x80, "the length of a short event is one byte");

struct packets {
	struct ctp_perfetto_form form;
	uint32_t sequence, nnames, nvalues; /* nnames, nvalues: numbers that were given */
	bool begun, back; /* back: the section is older than snapshot_ns */
	uint64_t base_ns, last_ns, late_ns, snapshot_ns;
	bool counts;       /* the next event at counts_ns has a new value of runnable */
	uint64_t counts_ns, runnable, alive;
	uint32_t alive_uuid;
	struct ctp_proto event, interned, packet;
	uint8_t event_room[EVENT_ROOM], interned_room[INTERNED_ROOM], packet_room[PACKET_ROOM];
};

static void write_packet(struct packets *p)
{
	uint8_t room[CTP_PROTO_HEAD_MAX];
	struct ctp_proto head;
	ctp_proto_init(&head, room, sizeof room);
	ctp_proto_raw(&head, TRACE_PACKET << 3 | 2);
	ctp_proto_raw(&head, ctp_proto_bytes(&p->packet));
	ctp_output_put(p->form.out, head.start, ctp_proto_bytes(&head));
	ctp_output_put(p->form.out, p->packet.start, ctp_proto_bytes(&p->packet));
}

static void new_packet(struct packets *p)
{
	p->packet.p = p->packet.start;
	ctp_proto_number(&p->packet, PACKET_SEQUENCE, p->sequence);
}

/* --- sections ------------------------------------------------------------------------------------------------------------- */

static void put_clock(struct ctp_proto *snapshot, uint32_t id, uint64_t ns, bool delta)
{
	uint8_t room[64];
	struct ctp_proto clock;
	ctp_proto_init(&clock, room, sizeof room);
	ctp_proto_number(&clock, CLOCK_ID, id);
	ctp_proto_number(&clock, CLOCK_TIME, ns);
	if (delta)
		ctp_proto_number(&clock, CLOCK_IS_DELTA, 1);
	ctp_proto_message(snapshot, SNAPSHOT_CLOCK, &clock);
}

static void put_snapshot(struct packets *p, const struct ctp_perfetto_clock *clock)
{
	uint8_t room[256];
	struct ctp_proto snapshot;
	ctp_proto_init(&snapshot, room, sizeof room);
	put_clock(&snapshot, BOOTTIME, p->snapshot_ns, false);
	put_clock(&snapshot, MONOTONIC, p->snapshot_ns, false);
	if (clock->has_wall)
		put_clock(&snapshot, REALTIME, (uint64_t)clock->wall_ns + (p->snapshot_ns - clock->base_ns), false);
	put_clock(&snapshot, DELTA, 0, true);
	put_clock(&snapshot, SINCE, 0, false);
	put_clock(&snapshot, LATE, 0, true);
	new_packet(p);
	ctp_proto_message(&p->packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
	write_packet(p);
}

/* The defaults of the sequence, and the keys of all arguments. */
static void put_defaults(struct packets *p, const struct ctp_perfetto_clock *clock)
{
	uint8_t room[64], event_room[32], key_room[64];
	struct ctp_proto defaults, event, key;
	ctp_proto_init(&defaults, room, sizeof room);
	ctp_proto_init(&event, event_room, sizeof event_room);
	ctp_proto_number(&defaults, DEFAULTS_CLOCK, p->back ? MONOTONIC : DELTA);
	if (clock->runnable) {
		ctp_proto_number(&event, EVENT_DEFAULTS_COUNTERS, clock->runnable->uuid);
		ctp_proto_message(&defaults, DEFAULTS_EVENT, &event);
	}
	p->interned.p = p->interned.start;
	for (uint32_t i = 0; i < CTP_PERFETTO_KEYS; i++) {
		ctp_proto_init(&key, key_room, sizeof key_room);
		ctp_proto_number(&key, INTERNED_IID, i + 1);
		ctp_proto_text(&key, INTERNED_TEXT, ctp_perfetto_keys[i]);
		ctp_proto_message(&p->interned, INTERNED_KEY, &key);
	}
	new_packet(p);
	ctp_proto_number(&p->packet, PACKET_FLAGS, FLAG_CLEARED);
	ctp_proto_message(&p->packet, PACKET_DEFAULTS, &defaults);
	ctp_proto_message(&p->packet, PACKET_INTERNED, &p->interned);
	write_packet(p);
}

static void section(struct ctp_perfetto_form *form, const struct ctp_perfetto_clock *clock)
{
	struct packets *p = (struct packets *)form;
	p->back = p->begun && clock->base_ns < p->snapshot_ns;
	p->snapshot_ns = p->back ? p->snapshot_ns : clock->base_ns;
	p->begun = true;
	p->base_ns = p->last_ns = p->late_ns = clock->base_ns;
	p->sequence = clock->section;
	p->nnames = p->nvalues = 0;
	p->counts = false;
	p->runnable = p->alive = 0;
	p->alive_uuid = clock->alive ? clock->alive->uuid : 0;
	put_defaults(p, clock);
	put_snapshot(p, clock);
}

/* --- tracks --------------------------------------------------------------------------------------------------------------- */

static void put_track_of(struct ctp_proto *to, const struct ctp_perfetto_track *t, const char *name)
{
	uint8_t room[CTP_PERFETTO_TEXT_MAX + 64];
	struct ctp_proto m;
	ctp_proto_init(&m, room, sizeof room);
	if (t->kind == CTP_PERFETTO_PROCESS) {
		ctp_proto_number(&m, PROCESS_PID, (uint64_t)t->pid);
		ctp_proto_text(&m, PROCESS_NAME, name);
		ctp_proto_message(to, TRACK_PROCESS, &m);
	} else if (t->kind == CTP_PERFETTO_THREAD) {
		ctp_proto_number(&m, THREAD_PID, (uint64_t)t->pid);
		ctp_proto_number(&m, THREAD_TID, (uint64_t)t->tid);
		ctp_proto_text(&m, THREAD_NAME, name);
		ctp_proto_message(to, TRACK_THREAD, &m);
	} else {
		ctp_proto_text(to, TRACK_NAME, name);
		ctp_proto_number(to, TRACK_MERGING, NEVER_MERGE);
	}
	if (t->kind == CTP_PERFETTO_COUNTER)
		ctp_proto_message(to, TRACK_COUNTER, &m);
	else if (t->kind == CTP_PERFETTO_GROUP)
		ctp_proto_number(to, TRACK_ORDERING, ORDER_BY_RANK);
}

static void track(struct ctp_perfetto_form *form, const struct ctp_perfetto_track *t, const char *name)
{
	struct packets *p = (struct packets *)form;
	p->event.p = p->event.start;
	ctp_proto_number(&p->event, TRACK_UUID, t->uuid);
	if (t->parent && t->kind != CTP_PERFETTO_THREAD)
		ctp_proto_number(&p->event, TRACK_PARENT, t->parent);
	if (t->rank)
		ctp_proto_number(&p->event, TRACK_RANK, t->rank);
	put_track_of(&p->event, t, name);
	new_packet(p);
	ctp_proto_message(&p->packet, PACKET_TRACK, &p->event);
	write_packet(p);
}

/* --- events --------------------------------------------------------------------------------------------------------------- */

/* The number of a text, which is declared if it is new. */
static uint32_t intern(struct packets *p, uint32_t *number, uint32_t *count, uint32_t field, const char *text)
{
	if (*number)
		return *number;
	uint8_t room[CTP_PERFETTO_TEXT_MAX + 2 * CTP_PROTO_HEAD_MAX];
	struct ctp_proto entry;
	ctp_proto_init(&entry, room, sizeof room);
	*number = ++*count;
	ctp_proto_number(&entry, INTERNED_IID, *number);
	ctp_proto_text(&entry, INTERNED_TEXT, text);
	ctp_proto_message(&p->interned, field, &entry);
	return *number;
}

static void put_arg(struct packets *p, const struct ctp_perfetto_arg *a)
{
	uint8_t room[CTP_PERFETTO_TEXT_MAX + 3 * CTP_PROTO_HEAD_MAX];
	struct ctp_proto arg;
	ctp_proto_init(&arg, room, sizeof room);
	ctp_proto_number(&arg, ARG_KEY, a->key + 1);
	if (a->name)
		ctp_proto_number(&arg, ARG_VALUE, intern(p, &a->name->as_value, &p->nvalues, INTERNED_VALUE, a->name->text));
	else if (a->text)
		ctp_proto_text(&arg, ARG_TEXT, a->text);
	else
		ctp_proto_number(&arg, ARG_NUMBER, a->number);
	ctp_proto_message(&p->event, EVENT_ARG, &arg);
}

/* In time order, for then the event that changes the counter is the next. */
static void put_runnable(struct packets *p, uint64_t ts_ns)
{
	if (!p->counts || p->counts_ns != ts_ns)
		return;
	ctp_proto_number(&p->event, EVENT_COUNTERS, p->runnable);
	p->counts = false;
}

static inline uint8_t *short_varint(uint8_t *to, uint64_t v)
{
	for (; __builtin_expect(v >= 0x80, 0); v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	*to++ = (uint8_t)v;
	return to;
}

/* A field of type 0, with a number below 2048. */
static inline uint8_t *short_number(uint8_t *to, uint32_t field, uint64_t v)
{
	if (field >= 16)
		*to++ = (uint8_t)(field << 3 | 0x80);
	*to++ = (uint8_t)(field < 16 ? field << 3 : field >> 4);
	return short_varint(to, v);
}

/* Puts the time of a packet. */
static inline uint8_t *put_time(struct packets *p, uint8_t *to, uint64_t ts_ns)
{
	if (__builtin_expect(ts_ns >= p->last_ns && !p->back, 1)) {
		to = short_number(to, PACKET_TIMESTAMP, ts_ns - p->last_ns);
		p->last_ns = ts_ns;
		return to;
	}
	if (p->back)
		return short_number(to, PACKET_TIMESTAMP, ts_ns);
	uint32_t clock = ts_ns >= p->late_ns ? LATE : ts_ns >= p->base_ns ? SINCE : MONOTONIC;
	uint64_t zero_ns = clock == LATE ? p->late_ns : clock == SINCE ? p->base_ns : 0;
	p->late_ns = ctp_most(p->late_ns, ts_ns);
	return short_number(short_number(to, PACKET_TIMESTAMP, ts_ns - zero_ns), PACKET_CLOCK, clock);
}

static void put_packet_time(struct packets *p, uint64_t ts_ns)
{
	assert(p->packet.end - p->packet.p >= SHORT_MAX);
	p->packet.p = put_time(p, p->packet.p, ts_ns);
}

/*
 * Nearly all events are short, and have no text that is new: those are written in place, with lengths of one byte that are known
 * after what they count.
 */
static inline bool is_short(const struct ctp_perfetto_event *e)
{
	bool is = e->nargs <= SHORT_ARGS && (e->type == CTP_PERFETTO_END || !e->name || e->name->as_name);
	for (uint32_t i = 0; is && i < e->nargs; i++)
		is = e->args[i].name ? e->args[i].name->as_value : !e->args[i].text;
	return is;
}

static inline uint8_t *short_event(struct packets *p, uint8_t *to, const struct ctp_perfetto_event *e)
{
	to = short_number(to, EVENT_TYPE, e->type);
	to = short_number(to, EVENT_TRACK, e->track->uuid);
	if (e->type != CTP_PERFETTO_END) {
		if (e->name)
			to = short_number(to, EVENT_NAME, e->name->as_name);
		if (e->coro)
			to = short_number(to, EVENT_CORRELATION, e->coro);
	}
	if (e->flow) {
		uint64_t flow = htole64(e->flow);
		uint32_t field = e->flow_ends ? EVENT_FLOW_ENDS : EVENT_FLOW;
		*to++ = (uint8_t)(field << 3 | 1 | 0x80);
		*to++ = (uint8_t)(field >> 4);
		memcpy(to, &flow, sizeof flow);
		to += sizeof flow;
	}
	for (uint32_t i = 0; i < e->nargs; i++) {
		const struct ctp_perfetto_arg *a = &e->args[i];
		uint8_t *arg = to + 2, *end = short_number(arg, ARG_KEY, a->key + 1);
		end = short_number(end, a->name ? ARG_VALUE : ARG_NUMBER, a->name ? a->name->as_value : a->number);
		to[0] = EVENT_ARG << 3 | 2;
		to[1] = (uint8_t)(end - arg);
		to = end;
	}
	if (__builtin_expect(p->counts, 0) && p->counts_ns == e->ts_ns) {
		to = short_number(to, EVENT_COUNTERS, p->runnable);
		p->counts = false;
	}
	return to;
}

static void put_short(struct packets *p, const struct ctp_perfetto_event *e)
{
	uint8_t *start = (uint8_t *)ctp_output_reserve(p->form.out, SHORT_MAX), *packet = start + 2;
	uint8_t *to = short_number(packet, PACKET_SEQUENCE, p->sequence);
	to = put_time(p, to, e->ts_ns);
	uint8_t *inner = to + 2, *end = short_event(p, inner, e);
	to[0] = PACKET_EVENT << 3 | 2;
	to[1] = (uint8_t)(end - inner);
	assert(end - inner <= SHORT_EVENT_MAX && end - packet < 0x80 + 16);
	start[0] = TRACE_PACKET << 3 | 2;
	if (__builtin_expect(end - packet >= 0x80, 0)) {
		size_t len = (size_t)(end - packet);
		memmove(packet + 1, packet, len);
		packet[0] = (uint8_t)(len >> 7);
		start[1] = (uint8_t)(len | 0x80);
		end++;
	} else {
		start[1] = (uint8_t)(end - packet);
	}
	ctp_output_commit(p->form.out, (char *)end);
}

static void end_slice(struct ctp_perfetto_form *form, const struct ctp_perfetto_track *track, uint64_t ts_ns)
{
	struct packets *p = (struct packets *)form;
	if (__builtin_expect(p->counts, 0)) {
		put_short(p, &(struct ctp_perfetto_event){.type = CTP_PERFETTO_END, .track = track, .ts_ns = ts_ns});
		return;
	}
	uint8_t *start = (uint8_t *)ctp_output_reserve(p->form.out, SHORT_MAX), *packet = start + 2;
	uint8_t *to = put_time(p, short_number(packet, PACKET_SEQUENCE, p->sequence), ts_ns);
	uint8_t *end = short_number(short_number(to + 2, EVENT_TYPE, CTP_PERFETTO_END), EVENT_TRACK, track->uuid);
	to[0] = PACKET_EVENT << 3 | 2;
	to[1] = (uint8_t)(end - to - 2);
	start[0] = TRACE_PACKET << 3 | 2;
	start[1] = (uint8_t)(end - packet);
	ctp_output_commit(p->form.out, (char *)end);
}

static void event(struct ctp_perfetto_form *form, const struct ctp_perfetto_event *e)
{
	struct packets *p = (struct packets *)form;
	assert(e->nargs <= CTP_PERFETTO_ARGS);
	if (is_short(e)) {
		put_short(p, e);
		return;
	}
	p->event.p = p->event.start;
	p->interned.p = p->interned.start;
	ctp_proto_number(&p->event, EVENT_TYPE, e->type);
	ctp_proto_number(&p->event, EVENT_TRACK, e->track->uuid);
	if (e->type != CTP_PERFETTO_END) {
		if (e->name)
			ctp_proto_number(&p->event, EVENT_NAME,
			                 intern(p, &e->name->as_name, &p->nnames, INTERNED_NAME, e->name->text));
		if (e->coro)
			ctp_proto_number(&p->event, EVENT_CORRELATION, e->coro);
	}
	if (e->flow)
		ctp_proto_fixed64(&p->event, e->flow_ends ? EVENT_FLOW_ENDS : EVENT_FLOW, e->flow);
	for (uint32_t i = 0; i < e->nargs; i++)
		put_arg(p, &e->args[i]);
	put_runnable(p, e->ts_ns);
	new_packet(p);
	put_packet_time(p, e->ts_ns);
	if (ctp_proto_bytes(&p->interned)) {
		ctp_proto_number(&p->packet, PACKET_FLAGS, FLAG_NEEDS);
		ctp_proto_message(&p->packet, PACKET_INTERNED, &p->interned);
	}
	ctp_proto_message(&p->packet, PACKET_EVENT, &p->event);
	write_packet(p);
}

/* The next event has the counter that changes often. */
static void count(struct ctp_perfetto_form *form, uint64_t ts_ns, uint64_t runnable, uint64_t alive)
{
	struct packets *p = (struct packets *)form;
	p->counts |= runnable != p->runnable;
	p->counts_ns = ts_ns;
	p->runnable = runnable;
	if (alive == p->alive)
		return;
	p->alive = alive;
	p->event.p = p->event.start;
	ctp_proto_number(&p->event, EVENT_TYPE, TYPE_COUNTER);
	ctp_proto_number(&p->event, EVENT_TRACK, p->alive_uuid);
	ctp_proto_number(&p->event, EVENT_COUNTER, alive);
	new_packet(p);
	put_packet_time(p, ts_ns);
	ctp_proto_message(&p->packet, PACKET_EVENT, &p->event);
	write_packet(p);
}

static void finish(struct ctp_perfetto_form *form) { (void)form; }
static void free_packets(struct ctp_perfetto_form *form) { free(form); }

struct ctp_perfetto_form *ctp_perfetto_packets(struct ctp_output *out)
{
	static const struct ctp_perfetto_ops ops = {.section = section, .track = track, .event = event, .end = end_slice,
	                                            .count = count, .finish = finish, .free = free_packets};
	struct packets *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->form = (struct ctp_perfetto_form){.ops = &ops, .out = out};
	ctp_proto_init(&p->event, p->event_room, sizeof p->event_room);
	ctp_proto_init(&p->interned, p->interned_room, sizeof p->interned_room);
	ctp_proto_init(&p->packet, p->packet_room, sizeof p->packet_room);
	return &p->form;
}
