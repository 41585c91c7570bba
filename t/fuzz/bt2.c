/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * bt2.c - any bytes as a raw stream that babeltrace2 opens with source.ctp.fs: the messages of all ports are taken, by a graph that is
 * made anew for each.
 *
 * The library ends the program when it is called against its rules, so that a wrong call is a find. The first byte says how the rest
 * is taken: as the file, or as payloads in packets (wrap.h).
 * Covers: formats/bt2
 */
#include <babeltrace2/babeltrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "must.h"
#include "wrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGES_MAX = 5000, PORTS_MAX = 3 };

static const bt_component_class_source *source_class;
static int file = -1;
static char path[64];

static void find_class(void)
{
	static const bt_plugin_set *set; /* is kept, and the class with it */
	must(!bt_plugin_find_all_from_static(BT_TRUE, &set), "no plugin");
	for (uint64_t i = 0; i < bt_plugin_set_get_plugin_count(set); i++) {
		const bt_plugin *plugin = bt_plugin_set_borrow_plugin_by_index_const(set, i);
		source_class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	}
	must(source_class, "no component class");
	file = memfd_create("trace", MFD_CLOEXEC);
	must(file >= 0, "no file");
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
}

/* --- the sink ------------------------------------------------------------------------------------------------------------- */

static struct {
	uint64_t messages;
	int64_t last_ns;
} taken;

static void touch(const bt_message *message)
{
	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return;
	int64_t ns;
	if (!bt_clock_snapshot_get_ns_from_origin(bt_message_event_borrow_default_clock_snapshot_const(message), &ns)) {
		must(ns >= taken.last_ns, "a time that goes backwards");
		taken.last_ns = ns;
	} else {
		bt_current_thread_clear_error();
	}
	const bt_event *event = bt_message_event_borrow_event_const(message);
	must(bt_event_class_get_name(bt_event_borrow_class_const(event)), "an event without a name");
	must(bt_event_borrow_payload_field_const(event), "an event without a payload");
}

static bt_graph_simple_sink_component_initialize_func_status sink_init(bt_message_iterator *iterator, void *data)
{
	(void)iterator, (void)data;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status sink_consume(bt_message_iterator *iterator, void *data)
{
	const bt_message **messages;
	uint64_t n = 0;
	(void)data;
	bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages, &n);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	if (status)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	for (uint64_t i = 0; i < n; i++) {
		touch(messages[i]);
		bt_message_put_ref(messages[i]);
	}
	taken.messages += n;
	return taken.messages > MESSAGES_MAX ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END :
	                                       BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* --- the graph ------------------------------------------------------------------------------------------------------------ */

static bt_value *params_of(void)
{
	bt_value *params = bt_value_map_create(), *inputs;
	must(params && !bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) &&
	     !bt_value_array_append_string_element(inputs, path), "no memory");
	return params;
}

/* One port. False: there is none of that number. */
static bool take_port(uint64_t number)
{
	bt_value *params = params_of();
	bt_graph *graph = bt_graph_create(0);
	const bt_component_source *source;
	const bt_component_sink *sink;
	bool made = !bt_graph_add_source_component(graph, source_class, "source", params, BT_LOGGING_LEVEL_NONE, &source);
	bool goes = made && number < bt_component_source_get_output_port_count(source);
	taken.last_ns = INT64_MIN;
	taken.messages = 0;
	if (goes) {
		must(!bt_graph_add_simple_sink_component(graph, "sink", sink_init, sink_consume, NULL, NULL, &sink), "no sink");
		const bt_port_output *from = bt_component_source_borrow_output_port_by_index_const(source, number);
		const bt_port_input *to = bt_component_sink_borrow_input_port_by_index_const(sink, 0);
		must(!bt_graph_connect_ports(graph, from, to, NULL), "no connection");
		bt_graph_run_status status = bt_graph_run(graph);
		if (status)
			must(status == BT_GRAPH_RUN_STATUS_ERROR, "the graph ends in an unexpected way");
	}
	const bt_error *error = bt_current_thread_take_error();
	must(made || error, "it failed without an error");
	if (error)
		bt_error_release(error);
	bt_graph_put_ref(graph);
	bt_value_put_ref(params);
	return goes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t packets[1 << 20];
	if (!source_class)
		find_class();
	if (size < 1 || wrap_room(size) > sizeof packets)
		return 0;
	bool raw = data[0] & 1;
	data++, size--;
	if (raw)
		memcpy(packets, data, size);
	else
		size = wrap(data, size, packets);
	must(!ftruncate(file, (off_t)size) && pwrite(file, packets, size, 0) == (ssize_t)size, "no file");
	for (uint64_t port = 0; port < PORTS_MAX && take_port(port);)
		port++;
	return 0;
}
