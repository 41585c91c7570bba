/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * bt2-iterator.c - a section of a stream as the messages of one port; see bt2.h.
 *
 * A section is a trace with one stream. Its events have the order of ctp_order. A late event gets the time of the event before,
 * because messages must not go back in time, and its own time as a field.
 *
 * A loss record also becomes a message of discarded events. CTF 1.8 can hold such a message only between two packets, from the end
 * of the one to the end of the other, and sink.ctf.fs refuses messages that CTF cannot hold. So the stream has packets, and a loss
 * record has a packet for itself:
 *
 *	packet end | discarded | packet begin | the loss record | packet end | packet begin ...
 *
 * All of these but the last have the time of the loss: CTF could not hold them if a time range began or ended between them. The
 * record itself says since when events are missing.
 */
#include "bt2/bt2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "common/meta.h"
#include "ctf/ctf-about.h"
#include "stream/order.h"
#include "stream/sink.h"

enum {
	PACKET_EVENTS = 1 << 16, /* of a packet: sink.ctf.fs keeps one in memory */
	NOTICES_SHOWN = 10,
};
static const uint64_t SECOND_NS = 1000000000;

struct iterator {
	bt_self_message_iterator *self;
	const struct ctp_bt2_place *place;
	bt_stream *stream;
	uint64_t limit; /* the last time that readers can show */
	struct ctp_bt2_event *events;

	/* reset when a seek begins again */
	struct ctp_input in;
	struct ctp_reader *reader;
	struct ctp_order *order;
	struct ctp_batch batch; /* the records at hand that are left */
	struct ctp_bt2_event *known[CTP_CLASSES_MAX]; /* by the class's id */

	enum { BEGINNING, MIDDLE, ENDING, OVER } phase;
	uint64_t last; /* time of the last event; 0 before the first */
	bt_packet *packet; /* the open one, or null */
	uint32_t packet_events;
	bool packet_full;
	bool discarded; /* the record at hand has had its message of discarded events */

	struct ctp_notice notice;
	uint64_t notices, said; /* since the beginning; said is not reset, so that a seek repeats no notice */
	bool muted;             /* the sections of other ports are being skipped */
	bool failed;
	struct ctp_err err;
};

/* A plugin cannot write to the library's log, but keeps to its level. */
static void say(void *arg, const char *text)
{
	struct iterator *it = arg;
	const bt_component *component = bt_self_component_as_component(bt_self_message_iterator_borrow_component(it->self));
	if (it->muted || bt_component_get_logging_level(component) > BT_LOGGING_LEVEL_WARNING || ++it->notices <= it->said)
		return;
	it->said = it->notices;
	if (it->said > NOTICES_SHOWN)
		text = "and more of these";
	if (it->said <= NOTICES_SHOWN + 1)
		fprintf(stderr, "source.ctp.fs: %s: %s\n", it->place->path, text);
}

static enum ctp_status no_memory(struct iterator *it)
{
	it->failed = true;
	return ctp_err_as(&it->err, CTP_ERR_MEMORY, "%s: out of memory", it->place->path);
}

/* --- the section --------------------------------------------------------------------------------------------------------- */

static void close_reading(struct iterator *it)
{
	ctp_order_free(it->order);
	ctp_reader_free(it->reader);
	ctp_input_close(&it->in);
	it->order = NULL;
	it->reader = NULL;
}

/* Opens the file and skips to the section. */
static enum ctp_status open_reading(struct iterator *it, const struct ctp_section **section, struct ctp_err *err)
{
	const struct ctp_bt2_place *place = it->place;
	struct ctp_item item;
	unsigned passed = 0;
	memset(it->known, 0, sizeof it->known);
	if (ctp_input_open(&it->in, place->path, err))
		return CTP_FAILED;
	while (it->in.offset < place->from && ctp_input_fill(&it->in, 1)) {
		uint64_t rest = place->from - it->in.offset;
		ctp_input_skip(&it->in, rest < it->in.avail ? (size_t)rest : it->in.avail);
	}
	it->reader = ctp_reader_new(&it->in, &it->notice, err);
	it->order = it->reader ? ctp_order_new(it->reader, 0, err) : NULL;
	if (!it->order)
		return CTP_FAILED;
	it->muted = place->skip;
	for (;;) {
		enum ctp_status status = ctp_reader_next(it->reader, &item, err);
		if (status == CTP_EOF)
			ctp_err_set(err, "%s: was changed while it was read", place->path);
		if (status)
			return CTP_FAILED;
		if (item.kind == CTP_ITEM_SECTION && passed++ == place->skip)
			break;
	}
	it->muted = false;
	it->batch.n = 0;
	*section = item.section;
	return CTP_OK;
}

/* --- the trace ----------------------------------------------------------------------------------------------------------- */

/* The section's own clock if it has a usable offset to wall time, else one of the component's. Null: no memory. */
static bt_clock_class *make_clock(const struct iterator *it, const struct ctp_section *sec)
{
	uint64_t offset = ctp_ctf_clock_offset(sec);
	if (!offset) {
		bt_clock_class *shared = sec->ordinal ? it->place->source->ordinal : it->place->source->clock;
		bt_clock_class_get_ref(shared);
		return shared;
	}
	const char *name = ctp_section_get(sec, "clock");
	char *text = ctp_bt2_name(name ? name : "monotonic");
	bt_clock_class *clock = bt_clock_class_create(bt_self_message_iterator_borrow_component(it->self));
	if (!text || !clock || bt_clock_class_set_name(clock, text))
		BT_CLOCK_CLASS_PUT_REF_AND_RESET(clock);
	else
		bt_clock_class_set_offset(clock, (int64_t)(offset / SECOND_NS), offset % SECOND_NS);
	free(text);
	return clock;
}

/* Frees text. False: no memory, also if text is null. */
static bool set_text(bt_trace *trace, const char *name, char *text)
{
	char *clean = text ? ctp_bt2_name(text) : NULL;
	bool good = clean && !bt_trace_set_environment_entry_string(trace, name, clean);
	free(clean);
	free(text);
	return good;
}

static bool set_environment(bt_trace *trace, const struct ctp_section *sec)
{
	const char *host = ctp_section_get(sec, "host"), *pid = ctp_section_get(sec, "pid");
	int major = 0, minor = 0, patch = 0;
	uint64_t number;
	size_t len;
	sscanf(CTP_VERSION, "%d.%d.%d", &major, &minor, &patch);
	bool good = set_text(trace, "tracer_name", strdup("ctptools")) &&
	            !bt_trace_set_environment_entry_integer(trace, "tracer_major", major) &&
	            !bt_trace_set_environment_entry_integer(trace, "tracer_minor", minor) &&
	            !bt_trace_set_environment_entry_integer(trace, "tracer_patch", patch);
	if (host)
		good = good && set_text(trace, "hostname", strdup(host));
	if (pid && ctp_parse_u64(pid, pid + strlen(pid), &number) && number <= INT64_MAX)
		good = good && !bt_trace_set_environment_entry_integer(trace, "pid", (int64_t)number);
	if (ctp_section_get(sec, "argv[]"))
		good = good && set_text(trace, "argv", ctp_ctf_argv(sec));
	if (ctp_section_get(sec, "filtered"))
		good = good && set_text(trace, "filtered", strdup(ctp_section_get(sec, "filtered")));
	return good && set_text(trace, "ctp_section", ctp_meta_attrs(sec, &len));
}

/* babeltrace2 orders events of equal times by the UUIDs of their traces, and complains if there are none. */
static void set_uuid(bt_trace *trace, uint64_t id, uint64_t number)
{
	uint8_t uuid[16];
	for (int i = 0; i < 8; i++) {
		uuid[i] = (uint8_t)(id >> 8 * i);
		uuid[15 - i] = (uint8_t)(number >> 8 * i);
	}
	uuid[6] = (uuid[6] & 0x0f) | 0x80; /* version 8: defined by the application */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
	bt_trace_set_uuid(trace, uuid);
}

/* False: no memory. */
static bool make_stream(struct iterator *it, const struct ctp_section *sec)
{
	const char *slash = strrchr(it->place->path, '/');
	const char *file = slash ? slash + 1 : it->place->path;
	bt_clock_class *clock = make_clock(it, sec);
	bt_trace_class *tc = bt_trace_class_create(bt_self_message_iterator_borrow_component(it->self));
	bt_stream_class *sc = tc ? bt_stream_class_create(tc) : NULL;
	bt_trace *trace = tc ? bt_trace_create(tc) : NULL;
	char *name = ctp_bt2_text(file, strlen(file));
	if (clock && sc && trace && name && !bt_stream_class_set_default_clock_class(sc, clock) &&
	    !bt_trace_set_name(trace, name) && set_environment(trace, sec)) {
		set_uuid(trace, sec->id, it->place->number);
		bt_stream_class_set_supports_packets(sc, BT_TRUE, BT_TRUE, BT_TRUE);
		bt_stream_class_set_supports_discarded_events(sc, BT_TRUE, BT_TRUE);
		it->limit = ctp_ctf_time_max(sec);
		it->stream = bt_stream_create(sc, trace);
	}
	free(name);
	bt_trace_put_ref(trace);
	bt_stream_class_put_ref(sc);
	bt_trace_class_put_ref(tc);
	bt_clock_class_put_ref(clock);
	return it->stream;
}

/* --- messages ------------------------------------------------------------------------------------------------------------ */

/* Each function makes one message; null: no memory. */

static const bt_message *open_packet(struct iterator *it, uint64_t ts)
{
	it->packet = bt_packet_create(it->stream);
	it->packet_events = 0;
	it->packet_full = false;
	return it->packet ? bt_message_packet_beginning_create_with_default_clock_snapshot(it->self, it->packet, ts) : NULL;
}

static const bt_message *close_packet(struct iterator *it, uint64_t ts)
{
	const bt_message *end = bt_message_packet_end_create_with_default_clock_snapshot(it->self, it->packet, ts);
	BT_PACKET_PUT_REF_AND_RESET(it->packet);
	return end;
}

static const bt_message *discard(struct iterator *it, uint64_t lost, uint64_t since, uint64_t ts)
{
	bt_message *msg = bt_message_discarded_events_create_with_default_clock_snapshots(it->self, it->stream, since, ts);
	if (msg)
		bt_message_discarded_events_set_count(msg, lost);
	it->discarded = true;
	return msg;
}

/* The event class of a record; null: no memory. */
static bt_event_class *classify(struct iterator *it, const struct ctp_class *cls, bool timed)
{
	struct ctp_bt2_event *event = it->known[cls->id];
	if (!event && !(event = it->known[cls->id] = ctp_bt2_event_get(&it->events, cls)))
		return NULL;
	return ctp_bt2_event_class(event, cls, timed, bt_stream_borrow_class(it->stream));
}

static const bt_message *make_event(struct iterator *it, const struct ctp_record *rec, uint64_t ts, bool timed)
{
	bt_event_class *ec = classify(it, rec->cls, timed);
	if (!ec)
		return NULL;
	bt_message *msg = bt_message_event_create_with_packet_and_default_clock_snapshot(it->self, ec, it->packet, ts);
	if (msg) {
		bt_field *payload = bt_event_borrow_payload_field(bt_message_event_borrow_event(msg));
		if (!ctp_bt2_event_fill(it->known[rec->cls->id], rec, timed, payload))
			BT_MESSAGE_PUT_REF_AND_RESET(msg);
	}
	return msg;
}

/* The next message of the record at hand. The record's event is the last, and then the next record is at hand. */
static const bt_message *take_record(struct iterator *it)
{
	const struct ctp_record *rec = it->batch.rec;
	int at = rec->cls->time_field;
	uint64_t ts = at < 0 ? it->last : rec->val[at], lost = it->discarded ? 0 : ctp_record_lost(rec);
	bool timed = ts < it->last || ts > it->limit;
	if (timed)
		ts = it->last;
	uint64_t closed = it->packet_full ? it->last : ts; /* the packet of a loss ends at the loss's time */
	if (it->packet && (lost || it->packet_full))
		return close_packet(it, closed);
	if (lost)
		return discard(it, lost, closed, ts);
	if (!it->packet)
		return open_packet(it, ts);
	it->last = ts;
	it->packet_full = it->discarded || ++it->packet_events == PACKET_EVENTS;
	it->discarded = false;
	it->batch.rec++;
	it->batch.n--;
	return make_event(it, rec, ts, timed);
}

/* Reads the next records; if there are none, the section is ending. False: failed. */
static bool fill_batch(struct iterator *it)
{
	struct ctp_item item;
	enum ctp_status status = ctp_order_next(it->order, &item, &it->err);
	it->failed = status == CTP_FAILED;
	if (!status && item.kind == CTP_ITEM_RECORDS) {
		it->batch = item.batch;
	} else if (!it->failed) {
		it->phase = ENDING;
		if (it->in.harmed)
			say(it, it->in.err.text);
		close_reading(it);
	}
	return !it->failed;
}

static const bt_message *make_message(struct iterator *it)
{
	if (it->phase == BEGINNING) {
		it->phase = MIDDLE;
		return bt_message_stream_beginning_create(it->self, it->stream);
	}
	if (it->phase == MIDDLE)
		return take_record(it);
	if (it->packet)
		return close_packet(it, it->last);
	it->phase = OVER;
	return bt_message_stream_end_create(it->self, it->stream);
}

/* Null: the section is over, or failed. */
static const bt_message *next_message(struct iterator *it)
{
	if (it->phase == OVER || it->failed || (it->phase == MIDDLE && !it->batch.n && !fill_batch(it)))
		return NULL;
	const bt_message *msg = make_message(it);
	if (!msg)
		no_memory(it);
	return msg;
}

/* --- what babeltrace2 calls ---------------------------------------------------------------------------------------------- */

bt_message_iterator_class_next_method_status ctp_bt2_iterator_next(bt_self_message_iterator *self, bt_message_array_const msgs,
                                                                   uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	uint64_t n = 0;
	while (n < capacity && (msgs[n] = next_message(it)))
		n++;
	*count = n;
	if (n)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	if (!it->failed)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self, "%s", it->err.text);
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_seek_beginning_method_status ctp_bt2_iterator_seek_beginning(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	const struct ctp_section *sec;
	BT_PACKET_PUT_REF_AND_RESET(it->packet);
	close_reading(it);
	it->phase = BEGINNING;
	it->last = it->notices = 0;
	it->failed = it->packet_full = it->discarded = false;
	if (!open_reading(it, &sec, &it->err))
		return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
	it->failed = true;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self, "%s", it->err.text);
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_ERROR;
}

static void free_iterator(struct iterator *it)
{
	bt_packet_put_ref(it->packet);
	close_reading(it);
	ctp_bt2_event_free(it->events);
	bt_stream_put_ref(it->stream);
	free(it);
}

bt_message_iterator_class_initialize_method_status ctp_bt2_iterator_init(bt_self_message_iterator *self,
                                                                          bt_self_message_iterator_configuration *config,
                                                                          bt_self_component_port_output *port)
{
	struct iterator *it = calloc(1, sizeof *it);
	const struct ctp_section *sec;
	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	bt_self_message_iterator_configuration_set_can_seek_forward(config, BT_TRUE);
	it->self = self;
	it->place = bt_self_component_port_get_data(bt_self_component_port_output_as_self_component_port(port));
	it->notice = (struct ctp_notice){.say = say, .arg = it};
	if (open_reading(it, &sec, &it->err) || (!make_stream(it, sec) && no_memory(it))) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self, "%s", it->err.text);
		free_iterator(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void ctp_bt2_iterator_fini(bt_self_message_iterator *self) { free_iterator(bt_self_message_iterator_get_data(self)); }
