/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Kinds of fields that CTF 1.8 does not have, but libbabeltrace2 gives for CTF 2: booleans, bit arrays, optional fields, alone and
 * within an array. A source component of our own makes two such events.
 */
#include "tap.h"

#if __has_include(<babeltrace2/babeltrace.h>)
#include "ctf/ctf-read.h"

enum { FLAG, BITS, OPTION, ARRAY };

/* --- the events ---------------------------------------------------------------------------------------------------------- */

static bt_field_class *payload_class(bt_trace_class *tc)
{
	bt_field_class *payload = bt_field_class_structure_create(tc), *inner = bt_field_class_structure_create(tc);
	bt_field_class *flag = bt_field_class_bool_create(tc), *bits = bt_field_class_bit_array_create(tc, 9);
	bt_field_class *number = bt_field_class_integer_signed_create(tc), *maybe = bt_field_class_bool_create(tc);
	bt_field_class *option = bt_field_class_option_without_selector_create(tc, inner);
	bt_field_class *element = bt_field_class_option_without_selector_create(tc, maybe);
	bt_field_class *array = bt_field_class_array_static_create(tc, element, 2);
	bt_field_class_structure_append_member(inner, "x", number);
	bt_field_class_structure_append_member(payload, "flag", flag);
	bt_field_class_structure_append_member(payload, "bits", bits);
	bt_field_class_structure_append_member(payload, "o", option);
	bt_field_class_structure_append_member(payload, "a", array);
	bt_field_class *all[] = {inner, flag, bits, number, maybe, option, element, array};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		bt_field_class_put_ref(all[i]);
	return payload;
}

static void fill(bt_event *event, bool present)
{
	bt_field *payload = bt_event_borrow_payload_field(event);
	bt_field *option = bt_field_structure_borrow_member_field_by_index(payload, OPTION);
	bt_field *array = bt_field_structure_borrow_member_field_by_index(payload, ARRAY);
	bt_field_bool_set_value(bt_field_structure_borrow_member_field_by_index(payload, FLAG), present);
	bt_field_bit_array_set_value_as_integer(bt_field_structure_borrow_member_field_by_index(payload, BITS), 0x1ff);
	bt_field_option_set_has_field(option, present);
	if (present)
		bt_field_integer_signed_set_value(
			bt_field_structure_borrow_member_field_by_index(bt_field_option_borrow_field(option), 0), -7);
	for (uint64_t i = 0; i < 2; i++) {
		bt_field *element = bt_field_array_borrow_element_field_by_index(array, i);
		bt_field_option_set_has_field(element, i == 0);
		if (i == 0)
			bt_field_bool_set_value(bt_field_option_borrow_field(element), BT_TRUE);
	}
}

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *it, bt_message_array_const msgs,
                                                         uint64_t capacity, uint64_t *count)
{
	static bool done;
	if (done || capacity < 4)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	done = true;
	bt_trace_class *tc = bt_trace_class_create(bt_self_message_iterator_borrow_component(it));
	bt_stream_class *sc = bt_stream_class_create(tc);
	bt_event_class *ec = bt_event_class_create(sc);
	bt_field_class *payload = payload_class(tc);
	bt_event_class_set_name(ec, "e");
	bt_event_class_set_payload_field_class(ec, payload);
	bt_trace *trace = bt_trace_create(tc);
	bt_stream *stream = bt_stream_create(sc, trace);
	msgs[0] = bt_message_stream_beginning_create(it, stream);
	for (unsigned i = 1; i <= 2; i++) {
		bt_message *msg = bt_message_event_create(it, ec, stream);
		fill(bt_message_event_borrow_event(msg), i == 1);
		msgs[i] = msg;
	}
	msgs[3] = bt_message_stream_end_create(it, stream);
	*count = 4;
	bt_field_class_put_ref(payload);
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
static unsigned events;

static void check_class(const struct ctp_class *cls)
{
	static const struct {
		const char *name;
		unsigned type;
	} want[] = {{"flag", CTP_BOOL}, {"bits", CTP_U64}, {"o.present", CTP_BOOL}, {"o.x", CTP_I64}, {"a", CTP_STRING}};
	ok(!strcmp(cls->name, "e") && cls->nfields == 5, "the class has its name, and five fields");
	for (uint32_t i = 0; i < 5 && i < cls->nfields; i++)
		ok(!strcmp(cls->fields[i].name, want[i].name) && cls->fields[i].type == want[i].type, "field %s is a %s",
		   want[i].name, ctp_type_name(want[i].type));
}

static void check_event(const bt_event *event)
{
	bool present = events++ == 0;
	const struct ctp_ctf_plan *plan = ctp_ctf_plan_of(&classes, bt_event_borrow_class_const(event));
	if (present)
		check_class(plan->cls);
	memset(values.val, 0xff, sizeof values.val);
	ok(ctp_ctf_event_take(&values, plan, event), "event %u is taken", events);
	const uint64_t *v = values.val;
	ok(v[0] == present && v[1] == 0x1ff && v[2] == present, "its flag, bits and presence are right");
	ok(v[3] == (present ? (uint64_t)-7 : 0), "an optional field has its value, or 0 if it is absent");
	ok(!strcmp(ctp_str_val(v[4])->data, "[true,null]"), "an array of optional fields is text: %s", ctp_str_val(v[4])->data);
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

int main(void)
{
	const bt_component_source *source;
	const bt_component_sink *sink;
	bt_graph *graph = bt_graph_create(0);
	bt_message_iterator_class *iterators = bt_message_iterator_class_create(next);
	bt_component_class_source *sources = bt_component_class_source_create("test", iterators);
	bt_component_class_source_set_initialize_method(sources, initialize);
	bool made = !bt_graph_add_source_component(graph, sources, "source", NULL, BT_LOGGING_LEVEL_NONE, &source) &&
	            !bt_graph_add_simple_sink_component(graph, "sink", NULL, consume, NULL, NULL, &sink) &&
	            !bt_graph_connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
	                                    bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
	ok(made && !bt_graph_run(graph), "the graph runs");
	ok(events == 2, "two events arrive");
	bt_graph_put_ref(graph);
	bt_component_class_source_put_ref(sources);
	bt_message_iterator_class_put_ref(iterators);
	ctp_ctf_classes_clear(&classes);
	ctp_ctf_values_fini(&values);
	return done_testing();
}
#else
int main(void) { skip_all("there is no libbabeltrace2"); }
#endif
