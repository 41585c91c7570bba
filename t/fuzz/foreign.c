/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * foreign.c - any fields that libbabeltrace2 may give for a foreign trace: a class is made of them, and events become records of it.
 *
 * The input makes field classes, of every kind and nested, and two events with values. The parser of CTF is libbabeltrace2's own and
 * is left out: its errors are one message of ctp-fromctf.
 * Covers: formats/ctf/ctf-read.c formats/ctf/ctf-class.c formats/ctf/ctf-field.c formats/ctf/ctf-values.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "ctf/ctf-read.h"
#include "stream/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEPTH_MAX = 10, FIELDS_MAX = 300, EVENTS = 2, FILLS_MAX = 20000 };

/* --- the input ------------------------------------------------------------------------------------------------------------ */

static const uint8_t *at;
static size_t left;

static unsigned byte(void) { return left ? left--, *at++ : 0; }

static uint64_t number(void)
{
	unsigned how = byte();
	return how < 128 ? how : how < 192 ? UINT64_MAX - how % 64 : (uint64_t)byte() << how % 64;
}

static const char *text(void)
{
	static const char *const texts[] = {"a", "b", "", "ts", "tid", "a.b", "present", "_a", "seq", "addr", "a\nb", "\xff\xfe", "\xc2\x9bm",
	                                    "coro", "is_active", "cpu_id", "len", "__a_length"};
	static char longs[2000];
	unsigned which = byte();
	if (which < 240)
		return texts[which % (sizeof texts / sizeof *texts)];
	memset(longs, 'x', sizeof longs);
	longs[which % 2 ? CTP_NAME_MAX + (which & 2) : sizeof longs - 1] = '\0';
	return longs;
}

/* --- classes -------------------------------------------------------------------------------------------------------------- */

static unsigned nfields;
static bt_field_class *make_class(bt_trace_class *tc, unsigned depth);

static void add_labels(bt_field_class *fc, bool is_signed)
{
	for (unsigned n = byte() % 6; n; n--) {
		char label[2100];
		snprintf(label, sizeof label, "%s%u", text(), n); /* one of its own */
		uint64_t from = number(), more = number();
		int64_t low = (int64_t)from, high = (int64_t)(from + more);
		if (is_signed) {
			bt_integer_range_set_signed *set = bt_integer_range_set_signed_create();
			bt_integer_range_set_signed_add_range(set, low < high ? low : high, low < high ? high : low);
			must(!bt_field_class_enumeration_signed_add_mapping(fc, label, set), "no mapping");
			bt_integer_range_set_signed_put_ref(set);
		} else {
			bt_integer_range_set_unsigned *set = bt_integer_range_set_unsigned_create();
			bt_integer_range_set_unsigned_add_range(set, from, from > UINT64_MAX - more ? UINT64_MAX : from + more);
			must(!bt_field_class_enumeration_unsigned_add_mapping(fc, label, set), "no mapping");
			bt_integer_range_set_unsigned_put_ref(set);
		}
	}
}

static void add_members(bt_trace_class *tc, bt_field_class *fc, unsigned depth)
{
	for (unsigned i = 0, n = byte() % 8; i < n && nfields < FIELDS_MAX; i++) {
		char name[2100];
		snprintf(name, sizeof name, "%s", text());
		if (bt_field_class_structure_borrow_member_by_name_const(fc, name))
			snprintf(name + strlen(name), 8, "%u", i + 100);
		bt_field_class *member = make_class(tc, depth + 1);
		must(!bt_field_class_structure_append_member(fc, name, member), "no member");
		bt_field_class_put_ref(member);
	}
}

static void add_options(bt_trace_class *tc, bt_field_class *fc, unsigned depth)
{
	for (unsigned i = 0, n = 1 + byte() % 4; i < n; i++) {
		char name[2100];
		snprintf(name, sizeof name, "%s", text());
		if (bt_field_class_variant_borrow_option_by_name_const(fc, name))
			snprintf(name + strlen(name), 8, "%u", i + 100);
		bt_field_class *option = make_class(tc, depth + 1);
		must(!bt_field_class_variant_without_selector_append_option(fc, name, option), "no option");
		bt_field_class_put_ref(option);
	}
}

static bt_field_class *around(bt_trace_class *tc, unsigned kind, unsigned depth)
{
	bt_field_class *inner = make_class(tc, depth + 1), *fc;
	if (kind == 9)
		fc = bt_field_class_array_static_create(tc, inner, byte() % (depth < 3 ? 12 : 2)); /* or they fill all memory */
	else if (kind == 10)
		fc = bt_field_class_array_dynamic_create(tc, inner, NULL);
	else
		fc = bt_field_class_option_without_selector_create(tc, inner);
	bt_field_class_put_ref(inner);
	return fc;
}

static bt_field_class *make_class(bt_trace_class *tc, unsigned depth)
{
	unsigned how = byte(), kind = how % 14;
	bt_field_class *fc;
	nfields++;
	if (kind >= 9 && (depth >= DEPTH_MAX || nfields >= FIELDS_MAX))
		kind -= 9;
	switch (kind) {
	case 0: return bt_field_class_bool_create(tc);
	case 1: return bt_field_class_bit_array_create(tc, 1 + byte() % 64);
	case 2: fc = bt_field_class_integer_unsigned_create(tc); break;
	case 3: fc = bt_field_class_integer_signed_create(tc); break;
	case 4: add_labels(fc = bt_field_class_enumeration_unsigned_create(tc), false); return fc;
	case 5: add_labels(fc = bt_field_class_enumeration_signed_create(tc), true); return fc;
	case 6: return bt_field_class_real_single_precision_create(tc);
	case 7: return bt_field_class_real_double_precision_create(tc);
	case 8: return bt_field_class_string_create(tc);
	case 11: add_members(tc, fc = bt_field_class_structure_create(tc), depth); return fc;
	case 13: add_options(tc, fc = bt_field_class_variant_create(tc, NULL), depth); return fc;
	default: return around(tc, kind, depth);
	}
	bt_field_class_integer_set_field_value_range(fc, how & 16 ? 8 : 1 + byte() % 64);
	if (how & 32)
		bt_field_class_integer_set_preferred_display_base(fc, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return fc;
}

static bt_field_class *make_scope(bt_trace_class *tc)
{
	bt_field_class *fc = bt_field_class_structure_create(tc);
	add_members(tc, fc, 0);
	return fc;
}

/* --- events --------------------------------------------------------------------------------------------------------------- */

static unsigned nfills;
static void fill(bt_field *field);

static void fill_integer(bt_field *field, bool is_signed)
{
	uint64_t bits = bt_field_class_integer_get_field_value_range(bt_field_borrow_class_const(field)), value = number();
	if (is_signed)
		bt_field_integer_signed_set_value(field, (int64_t)(value << (64 - bits)) >> (64 - bits));
	else
		bt_field_integer_unsigned_set_value(field, value << (64 - bits) >> (64 - bits));
}

static void fill_array(bt_field *field)
{
	if (bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STATIC_ARRAY)
		must(!bt_field_array_dynamic_set_length(field, nfills < FILLS_MAX ? byte() % 40 : 0), "no array");
	for (uint64_t i = 0; i < bt_field_array_get_length(field); i++)
		fill(bt_field_array_borrow_element_field_by_index(field, i));
}

static void fill_struct(bt_field *field)
{
	uint64_t n = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(field));
	for (uint64_t i = 0; i < n; i++)
		fill(bt_field_structure_borrow_member_field_by_index(field, i));
}

static void fill_variant(bt_field *field)
{
	uint64_t n = bt_field_class_variant_get_option_count(bt_field_borrow_class_const(field));
	must(!bt_field_variant_select_option_by_index(field, byte() % n), "no option");
	fill(bt_field_variant_borrow_selected_option_field(field));
}

static void fill_option(bt_field *field)
{
	bool present = byte() & 1;
	bt_field_option_set_has_field(field, present);
	if (present)
		fill(bt_field_option_borrow_field(field));
}

static void fill_bits(bt_field *field)
{
	uint64_t n = bt_field_class_bit_array_get_length(bt_field_borrow_class_const(field));
	bt_field_bit_array_set_value_as_integer(field, number() >> (64 - n));
}

static void fill(bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);
	nfills++;
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		fill_integer(field, false);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		fill_integer(field, true);
	else if (type == BT_FIELD_CLASS_TYPE_BOOL)
		bt_field_bool_set_value(field, byte() & 1);
	else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
		fill_bits(field);
	else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		bt_field_real_single_precision_set_value(field, byte() & 1 ? (float)number() : 1.0f / (float)(number() % 3));
	else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		bt_field_real_double_precision_set_value(field, byte() & 1 ? (double)number() : 0.0 / (double)(number() % 3));
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		must(!bt_field_string_set_value(field, text()), "no text");
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		fill_array(field);
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		fill_struct(field);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		fill_option(field);
	else
		fill_variant(field);
}

static bt_event_class *make_event_class(bt_trace_class *tc, bt_stream_class *sc)
{
	bt_event_class *ec;
	unsigned how = byte();
	bt_field_class *common = make_scope(tc), *specific = make_scope(tc), *payload = make_scope(tc);
	if (how & 1)
		bt_stream_class_set_event_common_context_field_class(sc, common);
	ec = bt_event_class_create(sc);
	bt_event_class_set_name(ec, text());
	if (how & 2)
		bt_event_class_set_specific_context_field_class(ec, specific);
	bt_event_class_set_payload_field_class(ec, payload);
	bt_field_class_put_ref(common);
	bt_field_class_put_ref(specific);
	bt_field_class_put_ref(payload);
	return ec;
}

static void fill_event(bt_event *event)
{
	bt_field *scopes[] = {bt_event_borrow_common_context_field(event), bt_event_borrow_specific_context_field(event),
	                      bt_event_borrow_payload_field(event)};
	for (unsigned i = 0; i < 3; i++)
		if (scopes[i])
			fill(scopes[i]);
}

static bool given;
static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *it, bt_message_array_const msgs,
                                                         uint64_t capacity, uint64_t *count)
{
	if (given || capacity < EVENTS + 2)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	given = true;
	bt_trace_class *tc = bt_trace_class_create(bt_self_message_iterator_borrow_component(it));
	bt_stream_class *sc = bt_stream_class_create(tc);
	bt_event_class *ec = make_event_class(tc, sc);
	bt_trace *trace = bt_trace_create(tc);
	bt_stream *stream = bt_stream_create(sc, trace);
	msgs[0] = bt_message_stream_beginning_create(it, stream);
	for (unsigned i = 1; i <= EVENTS; i++) {
		bt_message *msg = bt_message_event_create(it, ec, stream);
		fill_event(bt_message_event_borrow_event(msg));
		msgs[i] = msg;
	}
	msgs[EVENTS + 1] = bt_message_stream_end_create(it, stream);
	*count = EVENTS + 2;
	bt_event_class_put_ref(ec);
	bt_stream_class_put_ref(sc);
	bt_trace_class_put_ref(tc);
	bt_stream_put_ref(stream);
	bt_trace_put_ref(trace);
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status initialize(bt_self_component_source *self, bt_self_component_source_configuration *c,
                                                              const bt_value *params, void *data)
{
	(void)c, (void)params, (void)data;
	return (bt_component_class_initialize_method_status)bt_self_component_source_add_output_port(self, "out", NULL, NULL);
}

/* --- what becomes of them ------------------------------------------------------------------------------------------------- */

static struct ctp_ctf_classes classes;
static struct ctp_ctf_values values;
static struct ctp_writer *writer;
static size_t written;

static bool put(void *arg, const void *packet, size_t len) { return (void)arg, (void)packet, written += len, true; }

/* A declaration that a reader takes, and names that are found again. */
static void check_class(const struct ctp_class *cls)
{
	struct ctp_err err;
	struct ctp_class *again = ctp_class_parse(cls->decl, cls->decl_bytes, &err);
	must(again && again->nfields == cls->nfields, "a class that no reader takes");
	ctp_class_free(again);
	for (uint32_t i = 0; i < cls->nfields; i++)
		must(ctp_class_field(cls, cls->fields[i].name) == (int)i, "two fields of one name");
}

/* A class that no stream can have is reported. */
static char said[1024];
static void say(void *arg, const char *text) { (void)arg, snprintf(said, sizeof said, "%.1000s", text); }

static volatile unsigned sum;
static void check_event(const bt_event *event)
{
	const struct ctp_ctf_plan *plan = ctp_ctf_plan_of(&classes, bt_event_borrow_class_const(event));
	if (plan && !plan->cls)
		must(strstr(said, "usable name"), said); /* CTF has no field without one */
	if (!plan || !plan->cls)
		return;
	check_class(plan->cls);
	memset(values.val, 0xff, sizeof values.val);
	must(ctp_ctf_event_take(&values, plan, event), "no memory");
	for (uint32_t i = 0; i < plan->cls->nfields; i++) {
		const struct ctp_str *s = ctp_type_is_text(plan->cls->fields[i].type) ? ctp_str_val(values.val[i]) : NULL;
		must(!s || s->len <= CTP_STRING_MAX, "a text that is too long");
		for (uint32_t k = 0; s && k <= s->len; k++)
			sum += (unsigned char)s->data[k];
	}
	ctp_writer_record(writer, plan->cls, values.val);
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *it, void *arg)
{
	bt_message_array_const msgs;
	uint64_t n;
	bt_message_iterator_next_status status = bt_message_iterator_next(it, &msgs, &n);
	(void)arg;
	for (uint64_t i = 0; !status && i < n; i++) {
		if (bt_message_get_type(msgs[i]) == BT_MESSAGE_TYPE_EVENT)
			check_event(bt_message_event_borrow_event_const(msgs[i]));
		bt_message_put_ref(msgs[i]);
	}
	return (bt_graph_simple_sink_component_consume_func_status)status;
}

static bt_component_class_source *make_sources(void)
{
	bt_message_iterator_class *iterators = bt_message_iterator_class_create(next);
	bt_component_class_source *sources = bt_component_class_source_create("fuzz", iterators);
	struct ctp_err err;
	bt_component_class_source_set_initialize_method(sources, initialize);
	bt_message_iterator_class_put_ref(iterators);
	must((writer = ctp_writer_new(put, NULL, &err)) != NULL, "no writer");
	return sources;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bt_component_class_source *sources;
	static const struct ctp_notice notice = {say, NULL};
	const bt_component_source *source;
	const bt_component_sink *sink;
	struct ctp_section sec;
	sources = sources ? sources : make_sources();
	at = data;
	left = size;
	given = false;
	nfields = nfills = 0;
	said[0] = '\0';
	classes.notice = &notice;
	ctp_section_init(&sec);
	ctp_writer_begin(writer, &sec);
	ctp_section_fini(&sec);
	bt_graph *graph = bt_graph_create(0);
	bool made = !bt_graph_add_source_component(graph, sources, "source", NULL, BT_LOGGING_LEVEL_NONE, &source) &&
	            !bt_graph_add_simple_sink_component(graph, "sink", NULL, consume, NULL, NULL, &sink) &&
	            !bt_graph_connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
	                                    bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
	must(made && !bt_graph_run(graph), "the graph does not run");
	bt_graph_put_ref(graph);
	must(ctp_writer_end(writer, true), "a record that cannot be written");
	ctp_ctf_classes_clear(&classes);
	return 0;
}
