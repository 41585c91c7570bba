/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * bt2-event.c - a class of records as an event class of babeltrace2, a record as the payload of an event; see bt2.h.
 *
 * Names, order and meaning of the fields are those in the CTF of ctp-toctf, so that both look the same: the record's time is the
 * event's and no field, an address is hexadecimal, the state of a coroutine is suspended or running.
 */
#include "bt2/bt2.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/visible.h"
#include "common/escape.h"

enum form { FORM_UNSIGNED, FORM_SIGNED, FORM_BOOL, FORM_SINGLE, FORM_DOUBLE, FORM_TEXT, FORM_BYTES };

/* --- texts --------------------------------------------------------------------------------------------------------------- */

char *ctp_bt2_name(const char *name)
{
	size_t room = strlen(name) * CTP_VISIBLE_MAX + 1;
	char *copy = malloc(room);
	if (copy)
		ctp_visible(copy, room, name);
	return copy;
}

char *ctp_bt2_text(const char *text, size_t len)
{
	char *copy = malloc(CTP_ESCAPE_GROWTH * len + 1);
	if (copy)
		*ctp_escape(copy, text, len, false) = '\0';
	return copy;
}

/* If two fields would have the same name, the later one gets a longer name. False: no memory. */
static bool append_member(bt_field_class *payload, const char *before, const char *name, const char *suffix, bt_field_class *fc)
{
	char id[CTP_NAME_MAX + CTP_FIELDS_MAX + 16];
	const char *first = isdigit((unsigned char)*name) ? "_" : before;
	size_t len = (size_t)snprintf(id, CTP_NAME_MAX + 16, "%s%s%s", first, name, suffix);
	for (char *p = id; *p; p++)
		if (!isalnum((unsigned char)*p) || *p & 0x80)
			*p = '_';
	for (; bt_field_class_structure_borrow_member_by_name_const(payload, id); id[len] = 0)
		id[len++] = '_';
	return !bt_field_class_structure_append_member(payload, id, fc);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

static enum form form_of(const struct ctp_field *f)
{
	static const uint8_t forms[CTP_TYPE_COUNT] = { /* FORM_UNSIGNED but for these */
		[CTP_I8] = FORM_SIGNED, [CTP_I16] = FORM_SIGNED, [CTP_I32] = FORM_SIGNED, [CTP_I64] = FORM_SIGNED,
		[CTP_BOOL] = FORM_BOOL, [CTP_F32] = FORM_SINGLE, [CTP_F64] = FORM_DOUBLE, [CTP_STRING] = FORM_TEXT,
		[CTP_BYTES] = FORM_BYTES,
	};
	return f->type == CTP_BOOL && f->role == CTP_ROLE_STATE ? FORM_UNSIGNED : (enum form)forms[f->type];
}

/* Adds one mapping for all values with the name of labels[i], unless an earlier label has the name: mappings are unique. */
static bool map_label(bt_field_class *fc, const struct ctp_label *labels, uint32_t nlabels, uint32_t i)
{
	char *name = ctp_bt2_name(labels[i].name);
	if (name && bt_field_class_enumeration_unsigned_borrow_mapping_by_label_const(fc, name)) {
		free(name);
		return true;
	}
	bt_integer_range_set_unsigned *values = bt_integer_range_set_unsigned_create();
	bool good = name && values;
	for (uint32_t j = i; good && j < nlabels; j++)
		if (!strcmp(labels[j].name, labels[i].name))
			good = !bt_integer_range_set_unsigned_add_range(values, labels[j].value, labels[j].value);
	good = good && !bt_field_class_enumeration_unsigned_add_mapping(fc, name, values);
	bt_integer_range_set_unsigned_put_ref(values);
	free(name);
	return good;
}

static bt_field_class *make_enumeration(bt_trace_class *tc, const struct ctp_label *labels, uint32_t nlabels)
{
	bt_field_class *fc = bt_field_class_enumeration_unsigned_create(tc);
	for (uint32_t i = 0; fc && i < nlabels; i++)
		if (!map_label(fc, labels, nlabels, i)) {
			bt_field_class_put_ref(fc);
			return NULL;
		}
	return fc;
}

static bt_field_class *make_integer(bt_trace_class *tc, const struct ctp_field *f)
{
	static const struct ctp_label states[] = {{0, "suspended"}, {1, "running"}};
	static const uint8_t bits[CTP_TYPE_COUNT] = {
		[CTP_U8] = 8, [CTP_U16] = 16, [CTP_U32] = 32, [CTP_U64] = 64, [CTP_I8] = 8, [CTP_I16] = 16, [CTP_I32] = 32,
		[CTP_I64] = 64, [CTP_BOOL] = 8, [CTP_ENUM] = 64,
	};
	bt_field_class *fc = f->type == CTP_BOOL            ? make_enumeration(tc, states, 2) :
	                     f->nlabels                     ? make_enumeration(tc, f->labels, f->nlabels) :
	                     form_of(f) == FORM_SIGNED      ? bt_field_class_integer_signed_create(tc) :
	                                                      bt_field_class_integer_unsigned_create(tc);
	if (!fc)
		return NULL;
	bt_field_class_integer_set_field_value_range(fc, bits[f->type]);
	if (f->role == CTP_ROLE_ADDRESS || f->flags & CTP_FIELD_HEX)
		bt_field_class_integer_set_preferred_display_base(
			fc, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return fc;
}

/* A length and an array of bytes, as in CTF. */
static bool append_bytes(bt_trace_class *tc, bt_field_class *payload, const char *name)
{
	static const struct ctp_field byte = {.type = CTP_U8, .flags = CTP_FIELD_HEX}, count = {.type = CTP_U32};
	bt_field_class *element = make_integer(tc, &byte), *length = make_integer(tc, &count);
	bt_field_class *array = element && length ? bt_field_class_array_dynamic_create(tc, element, length) : NULL;
	bool good = array && append_member(payload, "_", name, "_length", length) &&
	            append_member(payload, "", name, "", array);
	bt_field_class_put_ref(array);
	bt_field_class_put_ref(length);
	bt_field_class_put_ref(element);
	return good;
}

static bool append_field(bt_trace_class *tc, bt_field_class *payload, const struct ctp_field *f)
{
	enum form form = form_of(f);
	if (form == FORM_BYTES)
		return append_bytes(tc, payload, f->name);
	bt_field_class *fc = form == FORM_BOOL   ? bt_field_class_bool_create(tc) :
	                     form == FORM_SINGLE ? bt_field_class_real_single_precision_create(tc) :
	                     form == FORM_DOUBLE ? bt_field_class_real_double_precision_create(tc) :
	                     form == FORM_TEXT   ? bt_field_class_string_create(tc) :
	                                           make_integer(tc, f);
	bool good = fc && append_member(payload, "", f->name, "", fc);
	bt_field_class_put_ref(fc);
	return good;
}

static bt_field_class *make_payload(bt_trace_class *tc, const struct ctp_class *cls, bool timed)
{
	bt_field_class *payload = bt_field_class_structure_create(tc);
	for (uint32_t i = 0; payload && i < cls->nfields; i++)
		if (((int)i != cls->time_field || timed) && !append_field(tc, payload, &cls->fields[i]))
			BT_FIELD_CLASS_PUT_REF_AND_RESET(payload);
	return payload;
}

bt_event_class *ctp_bt2_event_class(struct ctp_bt2_event *event, const struct ctp_class *cls, bool timed,
                                    bt_stream_class *stream_class)
{
	if (event->event_class[timed])
		return event->event_class[timed];
	bt_event_class *ec = bt_event_class_create(stream_class);
	bt_field_class *payload = make_payload(bt_stream_class_borrow_trace_class(stream_class), cls, timed);
	char *name = ctp_bt2_name(cls->name);
	if (!ec || !payload || !name || bt_event_class_set_name(ec, name) ||
	    bt_event_class_set_payload_field_class(ec, payload))
		BT_EVENT_CLASS_PUT_REF_AND_RESET(ec);
	bt_field_class_put_ref(payload);
	free(name);
	return event->event_class[timed] = ec;
}

struct ctp_bt2_event *ctp_bt2_event_get(struct ctp_bt2_event **list, const struct ctp_class *cls)
{
	struct ctp_bt2_event *e;
	for (e = *list; e; e = e->next)
		if (e->decl_bytes == cls->decl_bytes && !memcmp(e->decl, cls->decl, cls->decl_bytes))
			return e;
	e = calloc(1, sizeof *e + cls->nfields);
	if (!e || !(e->decl = malloc(cls->decl_bytes))) {
		free(e);
		return NULL;
	}
	memcpy(e->decl, cls->decl, e->decl_bytes = cls->decl_bytes);
	for (uint32_t i = 0; i < cls->nfields; i++)
		e->form[i] = (uint8_t)form_of(&cls->fields[i]);
	e->next = *list;
	return *list = e;
}

void ctp_bt2_event_free(struct ctp_bt2_event *list)
{
	while (list) {
		struct ctp_bt2_event *next = list->next;
		bt_event_class_put_ref(list->event_class[0]);
		bt_event_class_put_ref(list->event_class[1]);
		free(list->decl);
		free(list);
		list = next;
	}
}

/* --- values -------------------------------------------------------------------------------------------------------------- */

static bool set_text(bt_field *field, const struct ctp_str *s)
{
	if (!s || ctp_escape_is_plain(s->data, s->len))
		return !bt_field_string_set_value(field, s ? s->data : "");
	char *text = ctp_bt2_text(s->data, s->len);
	bool good = text && !bt_field_string_set_value(field, text);
	free(text);
	return good;
}

static bool set_bytes(bt_field *length, bt_field *field, const struct ctp_str *s)
{
	uint32_t len = s ? s->len : 0;
	bt_field_integer_unsigned_set_value(length, len);
	if (bt_field_array_dynamic_set_length(field, len))
		return false;
	for (uint32_t i = 0; i < len; i++)
		bt_field_integer_unsigned_set_value(bt_field_array_borrow_element_field_by_index(field, i),
		                                    (uint8_t)s->data[i]);
	return true;
}

bool ctp_bt2_event_fill(const struct ctp_bt2_event *event, const struct ctp_record *rec, bool timed, bt_field *payload)
{
	bool good = true;
	uint32_t skipped = timed ? UINT32_MAX : (uint32_t)rec->cls->time_field;
	for (uint32_t i = 0, member = 0; i < rec->cls->nfields; i++) {
		uint64_t v = rec->val[i];
		if (i == skipped)
			continue;
		bt_field *field = bt_field_structure_borrow_member_field_by_index(payload, member++);
		switch ((enum form)event->form[i]) {
		case FORM_UNSIGNED:
			bt_field_integer_unsigned_set_value(field, v);
			break;
		case FORM_SIGNED:
			bt_field_integer_signed_set_value(field, (int64_t)v);
			break;
		case FORM_BOOL:
			bt_field_bool_set_value(field, v != 0);
			break;
		case FORM_SINGLE:
			bt_field_real_single_precision_set_value(field, (float)ctp_val_double(CTP_F32, v));
			break;
		case FORM_DOUBLE:
			bt_field_real_double_precision_set_value(field, ctp_val_double(CTP_F64, v));
			break;
		case FORM_TEXT:
			good &= set_text(field, ctp_str_val(v));
			break;
		case FORM_BYTES:
			good &= set_bytes(field, bt_field_structure_borrow_member_field_by_index(payload, member++),
			                  ctp_str_val(v));
			break;
		}
	}
	return good;
}
