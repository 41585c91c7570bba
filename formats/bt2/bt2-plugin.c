/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * bt2-plugin.c - the component class source.ctp.fs, with which babeltrace2 opens raw streams; see bt2.h.
 *
 * The number of ports must be known before the first message, so the headers of all packets are read once at the start. A port
 * finds its section by the end of the last complete section, and the number of sections that begin after that.
 */
#include "bt2/bt2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "ctf/ctf-about.h"
#include "stream/packet.h"
#include "stream/reader.h"

#define FORCE_EPOCH "force-clock-class-origin-unix-epoch" /* the name of source.ctf.fs */

/* --- finding the sections ------------------------------------------------------------------------------------------------ */

static enum ctp_status add_port(bt_self_component_source *self, const struct ctp_bt2_place *place, struct ctp_err *err)
{
	struct ctp_bt2_source *src = place->source;
	struct ctp_bt2_place *copy = malloc(sizeof *copy);
	bool more = CTP_ARRAY_RESERVE(src->places, src->places_room, src->nplaces + 1, SIZE_MAX);
	char *path = ctp_bt2_text(place->path, strlen(place->path)), *name = NULL;
	enum ctp_status status = CTP_FAILED;
	if (copy && more && path && asprintf(&name, "%s section %zu", path, src->nplaces + 1) >= 0) {
		*copy = *place;
		src->places[src->nplaces++] = copy;
		copy->number = src->nplaces;
		status = bt_self_component_source_add_output_port(self, name, copy, NULL) ? CTP_FAILED : CTP_OK;
		copy = NULL;
	}
	if (status)
		ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", place->path);
	free(copy);
	free(path);
	free(name);
	return status;
}

/* Adds a port for each section that the reader finds. */
static enum ctp_status scan(bt_self_component_source *self, struct ctp_reader *reader, const struct ctp_input *in,
                            struct ctp_bt2_place place, struct ctp_err *err)
{
	struct ctp_item item;
	enum ctp_status status;
	ctp_reader_narrow(reader, UINT64_MAX, 0);
	while (!(status = ctp_reader_next(reader, &item, err))) {
		if (item.kind == CTP_ITEM_SECTION) {
			if (add_port(self, &place, err))
				return CTP_FAILED;
			place.source->has_wall |= item.section->has_wall;
			place.source->has_ordinal |= item.section->ordinal;
			place.source->has_clock |= !item.section->ordinal;
			place.skip++;
		} else if (item.kind == CTP_ITEM_END && item.end.complete) {
			place.from = in->offset;
			place.skip = 0;
		}
	}
	if (status == CTP_EOF && !ctp_reader_stats(reader)->packets)
		return ctp_err_set(err, "%s: is not a raw stream of ctptools, or nothing of it can be read", place.path);
	return status == CTP_EOF ? CTP_OK : status;
}

static enum ctp_status scan_file(bt_self_component_source *self, struct ctp_bt2_source *src, const char *path,
                                 struct ctp_err *err)
{
	struct ctp_input in;
	struct stat st;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return ctp_err_set(err, "%s: is not a regular file, and has to be read more than once", path);
	if (ctp_input_open(&in, path, err))
		return CTP_FAILED;
	struct ctp_reader *reader = ctp_reader_new(&in, NULL, err);
	struct ctp_bt2_place place = {.source = src, .path = path};
	enum ctp_status status = reader ? scan(self, reader, &in, place, err) : CTP_FAILED;
	ctp_reader_free(reader);
	ctp_input_close(&in);
	return status;
}

/* --- the component ------------------------------------------------------------------------------------------------------- */

static void free_source(struct ctp_bt2_source *src)
{
	for (size_t i = 0; i < src->nplaces; i++)
		free(src->places[i]);
	free(src->places);
	bt_clock_class_put_ref(src->clock);
	bt_clock_class_put_ref(src->ordinal);
	bt_value_put_ref(src->inputs);
	free(src);
}

static void finalize(bt_self_component_source *self)
{
	free_source(bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}

static enum ctp_status read_params(struct ctp_bt2_source *src, const bt_value *params, bool *force_epoch, struct ctp_err *err)
{
	const bt_value *force = bt_value_map_borrow_entry_value_const(params, FORCE_EPOCH);
	src->inputs = bt_value_map_borrow_entry_value_const(params, "inputs");
	bt_value_get_ref(src->inputs);
	bool good = src->inputs && bt_value_is_array(src->inputs) && bt_value_array_get_length(src->inputs) > 0;
	for (uint64_t i = 0; good && i < bt_value_array_get_length(src->inputs); i++)
		good = bt_value_is_string(bt_value_array_borrow_element_by_index_const(src->inputs, i));
	if (!good)
		return ctp_err_set(err, "the parameter `inputs` must be an array of one path or more");
	if (force && !bt_value_is_bool(force))
		return ctp_err_set(err, "the parameter `" FORCE_EPOCH "` must be a boolean");
	*force_epoch = force && bt_value_bool_get(force);
	if (bt_value_map_get_size(params) != 1u + !!force)
		return ctp_err_set(err, "there are no parameters but `inputs` and `" FORCE_EPOCH "`");
	return CTP_OK;
}

static enum ctp_status make_clocks(bt_self_component *self, struct ctp_bt2_source *src, struct ctp_err *err)
{
	src->clock = bt_clock_class_create(self);
	src->ordinal = bt_clock_class_create(self);
	if (!src->clock || !src->ordinal || bt_clock_class_set_name(src->clock, "monotonic") ||
	    bt_clock_class_set_name(src->ordinal, "ordinal") || bt_clock_class_set_description(src->ordinal, CTP_CTF_ORDINAL))
		return ctp_err_memory(err);
	return CTP_OK;
}

/*
 * babeltrace2 does not mix clocks with and without wall time: beside a section with wall time all must claim to have it. Of those
 * without, it mixes only such as have one UUID.
 */
static void relate_clocks(const struct ctp_bt2_source *src, bool epoch)
{
	static const uint8_t uuid[16] = {'c', 't', 'p', '-', 'n', 'o', 0x8d, 'c', 0x8c, 'k', '-', 'w', 'a', 'l', 'l', 0};
	bt_clock_class_set_origin_is_unix_epoch(src->clock, epoch);
	bt_clock_class_set_origin_is_unix_epoch(src->ordinal, epoch);
	if (!epoch && src->has_ordinal && src->has_clock) {
		bt_clock_class_set_uuid(src->clock, uuid);
		bt_clock_class_set_uuid(src->ordinal, uuid);
	}
}

static enum ctp_status start(bt_self_component_source *self, struct ctp_bt2_source *src, const bt_value *params,
                             struct ctp_err *err)
{
	bool force_epoch = false;
	if (read_params(src, params, &force_epoch, err))
		return CTP_FAILED;
	if (make_clocks(bt_self_component_source_as_self_component(self), src, err))
		return CTP_FAILED;
	for (uint64_t i = 0; i < bt_value_array_get_length(src->inputs); i++) {
		const bt_value *path = bt_value_array_borrow_element_by_index_const(src->inputs, i);
		if (scan_file(self, src, bt_value_string_get(path), err))
			return CTP_FAILED;
	}
	relate_clocks(src, force_epoch || src->has_wall);
	return CTP_OK;
}

static bt_component_class_initialize_method_status initialize(bt_self_component_source *self,
                                                              bt_self_component_source_configuration *config,
                                                              const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	struct ctp_bt2_source *src = calloc(1, sizeof *src);
	struct ctp_err err;
	(void)config, (void)data;
	if (!src)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	if (start(self, src, params, &err)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "%s", err.text);
		free_source(src);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(component, src);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* --- is this file one for us? -------------------------------------------------------------------------------------------- */

static bool is_stream(const char *path)
{
	struct ctp_input in;
	struct ctp_err err;
	struct stat st;
	size_t len = sizeof CTP_PACKET_MAGIC - 1;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || ctp_input_open(&in, path, &err))
		return false;
	bool found = ctp_input_fill(&in, len) >= len && !memcmp(in.ptr, CTP_PACKET_MAGIC, len);
	ctp_input_close(&in);
	return found;
}

/* One group: all files go to one component, and so sections without wall time share its clock. */
static bt_component_class_query_method_status support_info(const bt_value *params, const bt_value **result)
{
	const bt_value *type = bt_value_map_borrow_entry_value_const(params, "type");
	const bt_value *input = bt_value_map_borrow_entry_value_const(params, "input");
	bool found = type && bt_value_is_string(type) && !strcmp(bt_value_string_get(type), "file") && input &&
	             bt_value_is_string(input) && is_stream(bt_value_string_get(input));
	bt_value *map = bt_value_map_create();
	if (!map || bt_value_map_insert_real_entry(map, "weight", found ? 1 : 0) ||
	    (found && bt_value_map_insert_string_entry(map, "group", "ctp"))) {
		bt_value_put_ref(map);
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
	}
	*result = map;
	return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK;
}

static bt_component_class_query_method_status query(bt_self_component_class_source *self, bt_private_query_executor *executor,
                                                    const char *object, const bt_value *params, void *data,
                                                    const bt_value **result)
{
	(void)self, (void)executor, (void)data;
	if (strcmp(object, "babeltrace.support-info") || !bt_value_is_map(params))
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	return support_info(params, result);
}

static bt_message_iterator_class_can_seek_beginning_method_status can_seek_beginning(bt_self_message_iterator *self,
                                                                                     bt_bool *can)
{
	(void)self;
	*can = BT_TRUE;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}

/* --- what babeltrace2 sees ----------------------------------------------------------------------------------------------- */

/* The entry points of the plugin. */
#pragma GCC visibility push(default)
BT_PLUGIN_MODULE()
#pragma GCC visibility pop

BT_PLUGIN(ctp);
BT_PLUGIN_DESCRIPTION("Raw streams of ctptools: coroutine events");
BT_PLUGIN_AUTHOR("the ctptools authors");
BT_PLUGIN_LICENSE("MIT");
BT_PLUGIN_SOURCE_COMPONENT_CLASS(fs, ctp_bt2_iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(fs, "Read raw streams of ctptools from the file system.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(fs, "See the ctp-babeltrace2(1) manual page.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(fs, initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(fs, finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(fs, query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(fs, ctp_bt2_iterator_init);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(fs, ctp_bt2_iterator_fini);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(fs, ctp_bt2_iterator_seek_beginning,
                                                                               can_seek_beginning);
